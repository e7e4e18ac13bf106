"""Files that are whole or absent: atomic writing, pages of HTML, reading of text, YAML, JSON and tables."""

import codecs
import contextlib
import csv
import json
import math
import os
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import yaml

from biaslab.core.errors import InputError, suggest

DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError, ValueError)
"""What zipfile raises for an archive that is damaged, encrypted or packed in an unknown way."""
MAX_YAML_BYTES = 2**24
"""The largest YAML file that is read."""
MAX_YAML_VALUES = 10**6
"""The most values in it, each counted as often as it is referred to."""
MAX_LINE_CHARACTERS = 2**24
"""The longest line of a table that is read."""
CUT = "the last line has no end, so that it may be cut; get the whole file, or end that line"
"""What is said of a table whose last field may lack characters."""

csv.field_size_limit(MAX_LINE_CHARACTERS)

_LOOKED_AT = 4096  # bytes
_PARTIAL = ".partial"
_kept: set[tuple[int, int]] = set()
"""Device and number of the files that are not to be written over."""


@contextlib.contextmanager
def keep_files(paths: Iterable[Path]) -> Iterator[None]:
    """Let `atomic_path` refuse to write over these files, by whatever name, until the context ends."""
    before = set(_kept)
    _kept.update((status.st_dev, status.st_ino) for status in map(os.stat, paths))
    try:
        yield
    finally:
        _kept.clear()
        _kept.update(before)


def _check_target(path: Path) -> int | None:
    """Refuse what must not be written over; return the permissions of a file that is replaced."""
    try:
        status = path.stat()
    except OSError:
        return None
    if (status.st_dev, status.st_ino) in _kept:
        raise InputError(f"cannot write {path}: it is among the files that are read; choose another name")
    if not path.is_file():
        raise InputError(f"cannot write {path}: it is a folder or a device; name a file")
    return stat.S_IMODE(status.st_mode)


def _create(path: Path, mode: int | None) -> tuple[Path, int]:
    """Create an empty file of another name next to `path`; return it with the permissions it is to have.

    These are `mode`, or else what the umask leaves.
    """
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{_PARTIAL}{path.suffix}")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    if mode is None:
        return temporary, stat.S_IMODE(temporary.stat().st_mode)
    temporary.chmod(mode | stat.S_IWUSR | stat.S_IRUSR)  # the writer opens it again
    return temporary, mode


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success flush it to disk and rename it over `path`.

    Its suffix is that of `path`, for writers that choose a format by it. A missing folder is made. A new file
    has the permissions that the umask leaves, and a file that is replaced keeps its own.
    """
    path = Path(path)
    mode = _check_target(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary, mode = _create(path, mode)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; free space or choose another folder"
        ) from error
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)  # some libraries put a file of their own in its place
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}; free space or choose another folder"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_partial_files(folder: Path) -> None:
    """Remove what killed processes have left of `atomic_path` in a folder and below it."""
    for path in folder.rglob(f".*{_PARTIAL}*"):
        path.unlink(missing_ok=True)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: str | os.PathLike, value: object) -> None:
    """Write `value` as indented JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def render(template: Path, **values: object) -> str:
    """Fill a Jinja template: text is escaped, a value that is missing is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(values)


def parse_json(text: str) -> Any:
    """Return what a text in JSON says; no key may be there twice, of which JSON would take the last one."""
    return json.loads(text, object_pairs_hook=_mapping)


def parse_json_object(line: str, where: str, keys: str = "") -> dict[str, Any]:
    """Return the object in a line of a file; a refusal names the place, and the `keys` that it needs."""
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); write one object a line") from error
    if not isinstance(record, dict):
        needed = f" with {keys}" if keys else ""
        raise InputError(f"{where}: not a JSON object; write one object a line{needed}")
    return record


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(key for key in keys if keys.count(key) > 1)}' is there twice")
    return found


def read_json_rows(path: Path, keys: Collection[str], what: str) -> list[dict[str, Any]]:
    """Read a JSON file that a step wrote: a list of objects."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; run the step that makes it first") from error
    except ValueError as error:
        raise InputError(
            f"{path}: not readable as JSON ({error}); run the step that makes it again"
        ) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(keys) <= set(row) for row in rows):
        raise InputError(f"{path}: no list of {what} ({', '.join(keys)}); run the step that makes it again")
    return rows


class _YamlLoader(yaml.SafeLoader):
    """Plain values alone, and no key twice, of which YAML would take the last one."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """Return a mapping as it is written, before what it is merged with."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (name := (key.tag, key.value)) in seen:
                    raise yaml.composer.ComposerError(
                        None, None, f"the key '{key.value}' is there twice", key.start_mark
                    )
                seen.add(name)
        return node


def check_whole(path: str | os.PathLike) -> None:
    """Refuse a table that is no text, or that ends inside a line, so that its last field may be cut."""
    try:
        with open(path, "rb") as file:
            first = file.read(_LOOKED_AT)
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            last = file.read(1)
    except OSError:
        return
    if b"\0" in first or first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path}: binary, or text in UTF-16; save it as text in UTF-8")
    if last not in b"\r\n":
        raise InputError(f"{path}: {CUT}")


def separator_hint(names: Sequence[str], separator: str) -> str:
    """Return what to say of a header that is one field with other separators in it; "" for any other."""
    others = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
    for other, called in others.items():
        if len(names) == 1 and other != separator and other in names[0]:
            return f"; its fields seem to be separated by {called}, which this reader was not told to expect"
    return ""


def read_text(path: str | os.PathLike, what: str) -> str:
    """Return a file of UTF-8 text, which should be `what`; a byte order mark is left out."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name an existing {what}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_size > MAX_YAML_BYTES:
                raise InputError(f"{path}: larger than {MAX_YAML_BYTES} bytes; name another file")
            value = yaml.load(file, _YamlLoader)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name an existing YAML file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "unreadable"
        raise InputError(f"{path}{line}: not valid YAML ({problem}); fix this line") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: holds no mapping; write lines of the form 'key: value'")
    if _n_values(value, {}) > MAX_YAML_VALUES:
        raise InputError(f"{path}: refers to itself, or grows to too many values; write what '*' stands for")
    return value


def _n_values(value: object, known: dict[int, float]) -> float:
    """Return how many values there are where references are written out; infinity for a circle."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if id(value) not in known:
        known[id(value)] = math.inf  # until it is known: what is met again inside itself has no end
        known[id(value)] = 1 + sum(_n_values(child, known) for child in children)
    return known[id(value)]


def bounded_lines(file: TextIO, path: str | os.PathLike) -> Iterator[str]:
    """Yield the lines of a text file with their ends, never one that could fill the memory."""
    number = 0
    while line := file.readline(MAX_LINE_CHARACTERS + 1):
        number += 1
        if len(line) > MAX_LINE_CHARACTERS:
            raise InputError(
                f"{path}:{number}: the line is longer than {MAX_LINE_CHARACTERS} characters; break it"
            )
        yield line


def read_text_table(
    path: str | os.PathLike, columns: Iterable[str], exactly: bool = False
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a tab-separated table as they are written, each with the line on which it ends."""
    path, columns = Path(path), list(columns)
    try:
        check_whole(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(bounded_lines(file, path), delimiter="\t")
            lines = [(reader.line_num, fields) for fields in reader]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not a tab-separated UTF-8 table ({error})") from error
    header = lines[0][1] if lines else []
    for name in columns:
        if name not in header:
            raise InputError(
                f"{path}: column '{name}' is missing (it has {', '.join(header) or 'none'})"
                f"{separator_hint(header, chr(9))}"
            )
    for name in header if exactly else ():
        if name not in columns:
            raise InputError(
                f"{path}: column '{name}' is unknown{suggest(name, columns)}; remove or rename it"
            )
    for line, fields in lines[1:]:
        if len(fields) != len(header):
            raise InputError(
                f"{path}, line {line}: {len(fields)} fields for {len(header)} columns; fix its tabs"
            )
    return [(line, dict(zip(header, fields, strict=True))) for line, fields in lines[1:]]


def locate(file: str, root: Path) -> Path:
    """Return the path of a file or folder: as it is where the working directory has it, or in the package."""
    return Path(file) if Path(file).exists() else root / file


def not_found(file: str, root: Path, or_folder: bool = False) -> str:
    """Return what is wrong with what `locate` does not find, in one clause; "" when it is there."""
    found = locate(file, root)
    if found.is_file() or (or_folder and file and found.is_dir()):
        return ""
    return f"no such file: {file} (looked in {Path.cwd()} and in {root.resolve()}); correct the path"
