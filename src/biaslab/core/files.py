"""Write files atomically, fill HTML templates, and read text, YAML, JSON and tables."""

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
"""Exceptions of zipfile for an archive that is damaged, encrypted, or packed by an unknown method."""
MAX_YAML_BYTES = 2**24  # maximum size of a YAML file
MAX_YAML_VALUES = 10**6
"""Maximum number of values in a YAML file; a value counts once for each reference to it."""
MAX_LINE_CHARACTERS = 2**24  # maximum length of a line of a table
CUT = "the last line has no end, so that it may be cut; get the whole file, or end that line"
"""Message for a table whose last field may be truncated."""

csv.field_size_limit(MAX_LINE_CHARACTERS)

_HEAD_BYTES = 4096  # bytes
_PARTIAL = ".partial"
_kept: set[tuple[int, int]] = set()  # device and inode number of the files that must not be overwritten


@contextlib.contextmanager
def keep_files(paths: Iterable[Path]) -> Iterator[None]:
    """Make `atomic_path` refuse to overwrite these files, under any name, inside the context."""
    before = set(_kept)
    _kept.update((status.st_dev, status.st_ino) for status in map(os.stat, paths))
    try:
        yield
    finally:
        _kept.clear()
        _kept.update(before)


def _check_target(path: Path) -> int | None:
    """Refuse a target that must not be overwritten; return the permissions of a replaced file."""
    try:
        status = path.stat()
    except OSError:
        return None
    if (status.st_dev, status.st_ino) in _kept:
        raise InputError(f"cannot write {path}: it is among the files that are read; choose another name")
    if not path.is_file():
        raise InputError(f"cannot write {path}: it is a folder or a device; name a file")
    return stat.S_IMODE(status.st_mode)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path next to `path`; on success flush it to disk and rename it over `path`.

    Its suffix is that of `path`, for writers that choose a format by suffix. A missing folder is created. A
    new file gets the permissions of the umask, and a replaced file keeps its permissions.
    """
    path = Path(path)
    mode = _check_target(path)
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{_PARTIAL}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = stat.S_IMODE(temporary.stat().st_mode) if mode is None else mode
        temporary.chmod(mode | stat.S_IWUSR | stat.S_IRUSR)  # the writer reopens it
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; free space or choose another folder"
        ) from error
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)  # some libraries replace the temporary file by their own
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}; free space or choose another folder"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_partial_files(folder: Path) -> None:
    """Remove temporary files of `atomic_path` that killed processes left in a folder tree."""
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
    """Fill a Jinja template; escape text, and raise an error for a missing value."""
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
    """Parse a JSON text; refuse duplicate keys, of which the standard parser would keep the last."""
    return json.loads(text, object_pairs_hook=_mapping)


def parse_json_object(line: str, where: str, keys: str = "") -> dict[str, Any]:
    """Return the object in a line of a file; error messages name the place `where` and the needed `keys`."""
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error}); write one object a line") from error
    if not isinstance(record, dict):
        needed = f" with {keys}" if keys else ""
        raise InputError(f"{where}: not a JSON object; write one object a line{needed}")
    return record


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f"the key '{next(key for key in keys if keys.count(key) > 1)}' occurs more than once"
        )
    return mapping


def read_json_rows(path: Path, keys: Collection[str], what: str) -> list[dict[str, Any]]:
    """Read a list of objects from a JSON file that a step wrote."""
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
    """A YAML loader for plain values that refuses duplicate keys, of which YAML would keep the last."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """Return a mapping as written, before merge keys are applied."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (name := (key.tag, key.value)) in seen:
                    raise yaml.composer.ComposerError(
                        None, None, f"the key '{key.value}' occurs more than once", key.start_mark
                    )
                seen.add(name)
        return node


def check_whole(path: str | os.PathLike) -> None:
    """Refuse a table that is not text, or that may be truncated because its last line has no end."""
    try:
        with open(path, "rb") as file:
            first = file.read(_HEAD_BYTES)
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            last = file.read(1)
    except OSError:
        return
    if b"\0" in first or first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path}: binary, or text in UTF-16; save it as text in UTF-8")
    if last not in b"\r\n":
        raise InputError(f"{path}: {CUT}")


def separator_hint(names: Sequence[str], separator: str) -> str:
    """Return a hint for a header that is a single field with other separators in it, else ""."""
    separator_names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
    for candidate, name in separator_names.items():
        if len(names) == 1 and candidate != separator and candidate in names[0]:
            return f"; its fields seem to be separated by {name}, which this reader was not told to expect"
    return ""


def read_text(path: str | os.PathLike, what: str) -> str:
    """Read a UTF-8 text file without its byte order mark; error messages call the file `what`."""
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


def _n_values(value: object, counts: dict[int, float]) -> float:
    """Return the number of values after expansion of all references; infinity for a circular reference."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if id(value) not in counts:
        counts[id(value)] = math.inf  # a value that contains itself is infinite
        counts[id(value)] = 1 + sum(_n_values(child, counts) for child in children)
    return counts[id(value)]


def bounded_lines(file: TextIO, path: str | os.PathLike) -> Iterator[str]:
    """Yield the lines of a text file with their ends; refuse a line that could fill the memory."""
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
    """Return the rows of a tab-separated table as text, each with the number of its last line."""
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


def line_of_row(path: Path, row: int, delimiter: str) -> int | None:
    """Return the first line of a row of a table, counted from 0 below the header; None if there is none."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader, number = csv.reader(file, delimiter=delimiter), -1  # 0 is the header
        while number <= row:
            line = reader.line_num + 1
            if (fields := next(reader, None)) is None:
                return None
            number += bool(fields)
    return line


def locate(file: str, root: Path) -> Path:
    """Return the path of a file or folder in the working directory if it exists there, else below `root`."""
    return Path(file) if Path(file).exists() else root / file


def not_found(file: str, root: Path, or_folder: bool = False) -> str:
    """Return the problem with a path that `locate` does not find, in one clause; "" if it exists."""
    path = locate(file, root)
    if path.is_file() or (or_folder and file and path.is_dir()):
        return ""
    return f"no such file: {file} (looked in {Path.cwd()} and in {root.resolve()}); correct the path"
