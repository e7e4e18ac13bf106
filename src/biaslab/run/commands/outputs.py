"""Mark options for outputs of a command, and check all options before the command starts."""

import enum
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import typer

from biaslab.core.errors import InputError
from biaslab.core.files import keep_files

MAX_NUMBER, MAX_SEED = 2**31 - 1, 2**63 - 1
"""Largest integers for options: greater numbers exceed the memory or 64 bits."""

_SUFFIXES = (".svg", ".pdf", ".png", ".html", ".json", ".tsv", ".md", ".tex")


class To(enum.Enum):
    """The type of output that an option names; part of the option's annotation."""

    FILE = enum.auto()
    FOLDER = enum.auto()
    STEM = enum.auto()  # the common beginning of several file names with different suffixes


def guard_outputs(app: typer.Typer) -> None:
    """Make all commands of an app refuse outputs that would overwrite inputs, and excessive numbers."""
    for command in app.registered_commands:
        command.callback = _guarded(command.callback)
    for group in app.registered_groups:
        guard_outputs(group.typer_instance)


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    hints = get_type_hints(command, include_extras=True).items()
    kinds = {
        name: kind
        for name, hint in hints
        for kind in getattr(hint, "__metadata__", ())
        if isinstance(kind, To)
    }

    @functools.wraps(command)
    def run(**values: object) -> None:
        check_numbers(values)
        with keep_files(check_outputs(values, kinds)):
            command(**values)

    return run


def check_numbers(values: Mapping[str, object]) -> None:
    """Refuse integers that are too large for arrays and loops."""
    for name, value in values.items():
        limit = MAX_SEED if name == "seed" else MAX_NUMBER
        for number in value if isinstance(value, list | tuple) else [value]:
            if isinstance(number, int) and abs(number) > limit:
                raise InputError(
                    f"--{name.replace('_', '-')} {number}: beyond {limit:,}; give a smaller number"
                )


def check_outputs(values: Mapping[str, object], kinds: Mapping[str, To]) -> list[Path]:
    """Refuse outputs that are unwritable, inputs, or of equal name; return the files to protect."""
    inputs = [path for name, value in values.items() if name not in kinds for path in _files(value)]
    taken: dict[Path, str] = {}
    for name, kind in kinds.items():
        if not isinstance(path := values[name], Path):
            continue
        option = f"--{name.replace('_', '-')} {path}"
        _check_place(option, path, kind)
        files = [path] if kind is To.FILE else []
        if kind is To.STEM:
            files = [path.with_name(path.name + suffix) for suffix in _SUFFIXES]
        for file in files:
            same = next((i for i in inputs if file.exists() and file.samefile(i)), None)
            if same is not None:
                raise InputError(f"{option}: would overwrite the input {same}; choose another name")
            if (other := taken.setdefault(Path(os.path.realpath(file)), name)) != name:
                raise InputError(
                    f"{option}: --{other.replace('_', '-')} has the same name; choose another for one of them"
                )
    return [path for path in inputs if path.is_file()]


def _check_place(option: str, path: Path, kind: To) -> None:
    above = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if kind is To.FILE and path.is_dir():
        raise InputError(f"{option}: is a folder; name a file")
    if not above.is_dir() and (above != path or kind is To.FOLDER):
        raise InputError(f"{option}: {above} is a file, not a folder; choose another name")


def _files(value: Any) -> Iterator[Path]:
    """Yield the existing files in a value: a path, a text that is a path, NAME=FILE, or several of them."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _files(part)
    elif hasattr(value, "__dataclass_fields__"):
        for part in vars(value).values():
            yield from _files(part)
    elif isinstance(value, str | Path) and value:
        text = str(value)
        for path in {text, text.partition("=")[2] or text}:
            if "\0" not in path and len(path) < 4096 and os.path.exists(path):
                yield Path(path)
