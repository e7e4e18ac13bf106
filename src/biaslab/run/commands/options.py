"""Define options that several commands share, and commands with groups of options."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from annotated_types import Ge, Le

from biaslab.core.files import locate
from biaslab.core.settings import Seed as SeedSetting
from biaslab.core.settings import default_of, fields_of, key_of, setting_of, validate
from biaslab.run.commands.outputs import To
from biaslab.run.root import repository

Threads = Annotated[int, typer.Option(help="Threads; the result does not depend on this number.", min=1)]
Out = Annotated[Path, typer.Option(help="Output file."), To.FILE]
AnswerOut = Annotated[
    Path, typer.Option(help="Output path without suffix: a page (.html) and all numbers (.json)."), To.STEM
]

# Corpora
CorpusSource = Annotated[
    Path, typer.Argument(help="Corpus: a file (.gz, .bz2 and .zst are allowed) or a folder of files.")
]


@dataclasses.dataclass(frozen=True)
class Masking:
    """The options of commands that show words which may be slurs."""

    masked_words: Annotated[
        Path | None,
        typer.Option(
            help="Digests of the words to mask (SHA-256, one per line); by default those of the project."
        ),
    ] = None
    unmask: Annotated[bool, typer.Option("--unmask", help="Show all words as they are.")] = False

    def digests(self, project: str) -> Path | None:
        """Return the file of the digests, by default `project`; None if no word is masked."""
        return None if self.unmask else self.masked_words or locate(project, repository())


_KEYWORD = inspect.Parameter.KEYWORD_ONLY  # allows an option with a default before an option without


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Expand groups of options of a command: parameters annotated with a dataclass.

    In the signature for Typer, the fields of the dataclass replace such a parameter, with the values of the
    parameter's default as defaults. The command itself receives an instance.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    groups = {
        name: _fields(hint, parameters[name].default)
        for name, hint in hints.items()
        if dataclasses.is_dataclass(hint)
    }
    alone = {name: [parameter.replace(kind=_KEYWORD)] for name, parameter in parameters.items()}
    options = [option for parts in (alone | groups).values() for option in parts]

    @functools.wraps(command)
    def run(**values: object) -> None:
        instances = {
            name: validate(hints[name], {key_of(field.name): values.pop(field.name) for field in fields})
            for name, fields in groups.items()
        }
        command(**values, **instances)

    run.__signature__ = inspect.Signature(options)
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def option(group: type, name: str, flag: str = "") -> Any:
    """Return the Typer annotation for a field of a dataclass, from the description of the setting."""
    key = key_of(name)
    kind = fields_of(group)[key]
    if not setting_of(kind).about:
        return kind
    return _option(kind, flag or f"--{key.replace('_', '-')}")


def _option(kind: Any, flag: str) -> Any:
    setting = setting_of(kind)
    text = setting.about.removeprefix("list of ")
    if not setting.choices:
        text = text[:1].upper() + text[1:]
    if setting.kind is tuple:
        choices = setting_of(get_args(setting.type)[0]).choices
        text += f"; {', '.join(choices)}" * bool(choices) + "; may be repeated"
    limits = {"min": setting.limit(Ge), "max": setting.limit(Le)}
    return Annotated[_plain(kind), typer.Option(flag, help=f"{text}.", **limits)]


def _plain(kind: Any) -> Any:
    """Return a type that Typer supports: text for choices, a list for any sequence."""
    setting = setting_of(kind)
    plain = str if setting.choices else setting.type
    if setting.kind is tuple:
        plain = list[_plain(get_args(setting.type)[0])]
    return plain | None if setting.has_null else plain


def _fields(group: type, default: Any) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as parameters; values of an instance replace their defaults."""
    return [
        inspect.Parameter(
            field.name,
            _KEYWORD,
            default=_default(field) if default is inspect.Parameter.empty else getattr(default, field.name),
            annotation=option(group, field.name),
        )
        for field in dataclasses.fields(group)
    ]


def _default(field: dataclasses.Field) -> Any:
    default = default_of(field)
    return inspect.Parameter.empty if default is dataclasses.MISSING else default


Seed = _option(SeedSetting, "--seed")
