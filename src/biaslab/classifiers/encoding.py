"""Tables of samples: read by a schema into whole numbers, and shown in the words of the schema again."""

import csv
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.classifiers.schema import CLIP, REFUSE, WHITESPACE, Attribute, Integer, Schema
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import bounded_lines, check_whole, separator_hint

__all__ = ["Data", "Samples", "decode", "read_samples", "read_table"]

CHUNK_ROWS = 2**14
"""Rows of text in memory at a time."""

_UNREADABLE, _MISSING = np.iinfo(np.int64).min, np.iinfo(np.int64).min + 1
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Data:
    """A table of encoded samples.

    Attributes
    ----------
    X : (n, d) int32
        Samples.
    y : (n,) int64
        Labels, as places among the classes.
    n_outside : int
        Rows with a value outside the domain, kept or clipped as the schema says.
    n_missing : int
        Rows that were left out because a value is missing.
    lines : (n,) int64
        The lines of the file that the rows stand in.
    """

    X: np.ndarray
    y: np.ndarray
    n_outside: int
    n_missing: int
    lines: np.ndarray


@dataclass(frozen=True)
class Samples:
    """Encoded samples without labels.

    Attributes
    ----------
    X : (n, d) int32
    lines : (n,) int64
        The lines of the file that they stand in.
    n_outside, n_missing : int
        As of `Data`.
    """

    X: np.ndarray
    lines: np.ndarray
    n_outside: int
    n_missing: int


def read_table(path: str | os.PathLike, schema: Schema) -> Data:
    """Read a table of samples, a chunk of lines at a time.

    Parameters
    ----------
    path : path-like
        A text file (UTF-8), one row a line.
    schema : Schema
        What its columns mean.

    Returns
    -------
    Data
        Encoded samples and labels, and how many rows were outside the domain or missing a value.

    Raises
    ------
    InputError
        Naming the first line at fault and how many others are like it: a number that is none, a value or
        class that the schema lacks, a value outside its domain where the schema refuses it; or when the
        file is missing, not text, empty, has lines of another length, or lacks a column.
    """
    codes, lines = _codes(path, schema, [*schema.attributes, schema.label])
    read = _samples(codes[:, :-1], codes[:, -1:], lines, schema, path)
    return Data(read.X, codes[_present(codes), -1].copy(), read.n_outside, read.n_missing, read.lines)


def read_samples(path: str | os.PathLike, schema: Schema) -> Samples:
    """Read a table of samples that need no label, as `read_table` does.

    Parameters
    ----------
    path : path-like
        A text file (UTF-8), one row a line, with the columns of the attributes; others are passed over.
    schema : Schema
        What its columns mean.

    Returns
    -------
    Samples
        Encoded samples, and how many rows were outside the domain or missing a value.

    Raises
    ------
    InputError
        As `read_table`.
    """
    codes, lines = _codes(path, schema, list(schema.attributes))
    return _samples(codes, codes[:, :0], lines, schema, path)


def decode(X: np.ndarray, schema: Schema) -> pd.DataFrame:
    """Show encoded samples in the words of the schema.

    Parameters
    ----------
    X : (n, d) int32
    schema : Schema

    Returns
    -------
    pandas.DataFrame
        One text column an attribute, by its name: the value's name, the number, or the range of numbers that
        the encoded number stands for, as in 30-39.
    """
    words = {}
    for column, attribute in zip(X.T, schema.attributes, strict=True):
        codes, places = np.unique(column, return_inverse=True)
        words[attribute.name] = np.array([attribute.word(int(c)) for c in codes], object)[places]
    return pd.DataFrame(words, dtype=str)


def as_table(X: np.ndarray, schema: Schema) -> pd.DataFrame:
    """Show encoded samples, perhaps not whole numbers, as the columns of the table that they are read from.

    They are rounded, and categories and bins put into their domain. Columns have the numbers and words of the
    file; for a range of numbers its lowest.
    """
    codes = np.rint(X).astype(np.int64)
    columns = {}
    for of_column, attribute in zip(codes.T, schema.attributes, strict=True):
        inside = (
            of_column if isinstance(attribute, Integer) else of_column.clip(attribute.low, attribute.high)
        )
        known, places = np.unique(inside, return_inverse=True)
        cells = pd.Series([attribute.cell(int(code)) for code in known])
        if {str(cell).lower() for cell in cells} <= {"false", "true"}:  # as pandas reads them
            cells = cells.astype(str).str.lower() == "true"
        columns[attribute.column] = cells.take(places).reset_index(drop=True)
    return pd.DataFrame(columns)


def _codes(
    path: str | os.PathLike, schema: Schema, fields: Sequence[Attribute]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of some columns, (n, number of them) int64, and the lines, (n,) int64."""
    rows = read_rows(Path(path), schema.separator, schema.comment, schema.last_line_open)
    names = column_names(rows, schema, path)
    encoders = [_Encoder(one, schema.missing) for one in fields]
    places = [_place(one.column, names, path, schema.separator) for one in fields]
    problems = _Problems(str(path), schema)
    parts, numbers = [], []
    while chunk := list(itertools.islice(rows, CHUNK_ROWS)):
        lines, texts = zip(*chunk, strict=True)
        _check_lengths(lines, texts, len(names), path)
        columns = list(zip(*texts, strict=True))
        codes = [encoder.codes(columns[place]) for encoder, place in zip(encoders, places, strict=True)]
        codes = np.stack(codes, axis=1)
        problems.note(codes, lines, [columns[place] for place in places], encoders)
        parts.append(codes)
        numbers.append(np.array(lines, np.int64))
    problems.raise_first()
    if not parts:
        raise InputError(f"{path}: has no rows; write one sample a line")
    return np.concatenate(parts), np.concatenate(numbers)


class _Encoder(dict):
    """The number of every text of a column; each text is read once."""

    def __init__(self, attribute: Attribute, missing: frozenset[str]) -> None:
        super().__init__()
        self.attribute, self._missing = attribute, missing

    def __missing__(self, text: str) -> int:
        self[text] = self._code(text.strip())
        return self[text]

    def _code(self, text: str) -> int:
        try:
            code = self.attribute.code(text)
        except ValueError:
            return _MISSING if text in self._missing else _UNREADABLE
        return code if _INT32.min <= code <= _INT32.max else _UNREADABLE

    def codes(self, texts: Sequence[str]) -> np.ndarray:
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))

    def reason(self, text: str) -> str:
        try:
            self.attribute.code(text.strip())
        except ValueError as error:
            return str(error)
        return "is too large for a whole number of 32 bits"


@dataclass
class _Problems:
    """The first problem of each kind in each column, with how many lines have it."""

    path: str
    schema: Schema
    found: dict[tuple[int, str], list] = field(default_factory=dict)

    def note(
        self, codes: np.ndarray, lines: Sequence[int], columns: list[Sequence[str]], encoders: list[_Encoder]
    ) -> None:
        """Take up the problems of a chunk: codes (n, number of encoders) int64."""
        for place, (encoder, texts) in enumerate(zip(encoders, columns, strict=True)):
            column, attribute = codes[:, place], encoder.attribute
            is_label = attribute is self.schema.label
            unreadable = column == _UNREADABLE
            outside = (
                ((column < attribute.low) | (column > attribute.high)) & ~unreadable & (column != _MISSING)
            )
            if unreadable.any():
                first = int(unreadable.argmax())
                reason = f"{encoder.reason(texts[first])}; correct the file or the schema"
                found = f"{attribute.name} '{texts[first].strip()}' {reason}"
                self._add((place, "unreadable"), lines[first], found, int(unreadable.sum()))
            if outside.any() and (is_label or self.schema.outside == REFUSE):
                first = int(outside.argmax())
                found = _outside(texts[first].strip(), int(column[first]), attribute, is_label)
                self._add((place, "outside"), lines[first], found, int(outside.sum()))

    def _add(self, key: tuple[int, str], line: int, problem: str, count: int) -> None:
        self.found.setdefault(key, [line, problem, 0])[2] += count

    def raise_first(self) -> None:
        if self.found:
            line, problem, count = min(self.found.values(), key=lambda entry: entry[0])
            more = f" and {count - 1} more" if count > 1 else ""
            raise InputError(f"{self.path}, line {line}{more}: {problem}")


def _outside(text: str, code: int, attribute: Attribute, is_label: bool) -> str:
    field = f"{attribute.name} '{text}'"
    if is_label:
        return (
            f"{field} is none of the {attribute.high + 1} classes (0 to {attribute.high}); correct the file"
        )
    encoded = "" if text == str(code) else f", encoded {code},"
    return (
        f"{field}{encoded} is outside {attribute.low} to {attribute.high}; correct the file, widen the"
        " domain, or write outside: keep or outside: clip in the schema"
    )


def _present(codes: np.ndarray) -> np.ndarray:
    return (codes != _MISSING).all(axis=1)


def _samples(
    codes: np.ndarray, label: np.ndarray, lines: np.ndarray, schema: Schema, path: str | os.PathLike
) -> Samples:
    """Leave out rows with a missing value, count those outside the domain."""
    present = _present(np.hstack([codes, label]))
    if not present.any():
        raise InputError(f"{path}: a value is missing in every row; correct 'missing' in {schema.name}")
    X = np.ascontiguousarray(codes[present], np.int32)
    n_outside = int((~schema.domain.contains(X)).sum())
    if schema.outside == CLIP:
        X = schema.domain.clip(X)
    return Samples(X, lines[present], n_outside, int((~present).sum()))


def read_rows(
    path: Path, separator: str, comment: str = "", last_line_open: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of every line that is neither blank nor a comment."""
    if not last_line_open:
        check_whole(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, fields in _split(bounded_lines(file, path), separator):
                is_blank = not fields or (len(fields) == 1 and not fields[0].strip())
                if not (is_blank or (comment and fields[0].startswith(comment))):
                    yield line, fields
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error}); check separator and quotes") from error


def _split(file: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator == WHITESPACE:
        for line, text in enumerate(file, start=1):
            yield line, text.split()
    else:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        while True:
            begin = reader.line_num + 1
            try:
                fields = next(reader, None)
            except csv.Error as error:  # a quote that is not closed, where it begins
                raise csv.Error(f"line {begin}: {error}") from error
            if fields is None:
                return
            yield begin, fields


def column_names(rows: Iterator[tuple[int, list[str]]], schema: Schema, path: str | os.PathLike) -> list[str]:
    """Return the names of the columns; take the header off the rows where the file has one."""
    if not schema.header:
        return list(schema.columns)
    line, header = next(rows, (0, None))
    if header is None:
        raise InputError(f"{path}: the file is empty; write a header and one sample a line")
    if schema.columns:
        _check_lengths([line], [header], len(schema.columns), path)
        return list(schema.columns)
    return [name.strip() for name in header]


def _place(column: str, names: list[str], path: str | os.PathLike, separator: str) -> int:
    if names.count(column) > 1:
        raise InputError(f"{path}: the column '{column}' is there twice; rename one")
    if column not in names:
        near = separator_hint(names, separator) or suggest(column, names)
        raise InputError(f"{path}: there is no column '{column}' (it has {', '.join(names)}){near}")
    return names.index(column)


def _check_lengths(
    lines: Sequence[int], rows: Sequence[list[str]], n_columns: int, path: str | os.PathLike
) -> None:
    for line, fields in zip(lines, rows, strict=True):
        if len(fields) != n_columns:
            raise InputError(
                f"{path}, line {line}: has {len(fields)} fields and not {n_columns}; correct the line, or the"
                " schema's separator, header or columns"
            )
