"""Tables of samples: read by a schema into whole numbers, and shown in the words of the schema again.

Encoded samples round numbers where the schema has bins, divides or clips. A classifier that was fitted on the
columns of the file is asked about `Rows`, the rows themselves: a variant has all of a row's own values except
the protected ones.
"""

import csv
import io
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.schema import REFUSE, WHITESPACE, Attribute, Bins, Integer, Schema
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import bounded_lines, check_whole, separator_hint

__all__ = ["Data", "decode", "read_table"]

CHUNK_ROWS = 2**14
"""Rows of text in memory at a time."""

_UNREADABLE, MISSING = np.iinfo(np.int64).min, np.iinfo(np.int64).min + 1
_INT32 = np.iinfo(np.int32)
_QUOTED = re.compile(r'"[^"]*"')


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
        Rows with a value outside the domain, which the schema keeps.
    n_missing : int
        Rows that were left out because a value is missing.
    lines : (n,) int64
        The lines of the file that the rows stand in.
    outside, clipped : (n,) bool
        Which rows have a value outside the domain, and which a number that an attribute's `clip` moved.
    left_out : (n_missing, d) int64
        The codes of the rows that were left out, `MISSING` where a value is.
    n_trimmed : int
        Rows of the file with blanks around a value, which are no part of it.
    """

    X: np.ndarray
    y: np.ndarray
    n_outside: int
    n_missing: int
    lines: np.ndarray
    outside: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    clipped: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    left_out: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    n_trimmed: int = 0


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
    fields = [*schema.attributes, schema.label]
    trimmed: list[int] = []
    rows = read_rows(Path(path), schema.separator, schema.comment, schema.last_line_open, trimmed)
    names = column_names(rows, schema, path)
    encoders = [_Encoder(one, schema.missing) for one in fields]
    places = [_place(one.column, names, path, schema.separator) for one in fields]
    problems = _Problems(schema)
    parts, numbers, moved = [], [], []
    while chunk := list(itertools.islice(rows, CHUNK_ROWS)):
        lines, texts = zip(*chunk, strict=True)
        _check_lengths(lines, texts, len(names), path)
        whole = list(zip(*texts, strict=True))
        columns = [whole[place] for place in places]
        pairs = list(zip(encoders, columns, strict=True))
        parts.append(np.stack([encoder.codes(column) for encoder, column in pairs], axis=1))
        problems.note(parts[-1], lines, columns, encoders)
        numbers.append(np.array(lines, np.int64))
        moved.append(np.any([encoder.is_clipped(column) for encoder, column in pairs], axis=0))
    if problems.found:
        line, problem, count = min(problems.found.values(), key=lambda entry: entry[0])
        more = f" and {count - 1} more" if count > 1 else ""
        raise InputError(f"{path}, line {line}{more}: {problem}")
    if not parts:
        raise InputError(f"{path}: the file has no rows; write one sample per line")
    all_codes, lines, clipped = (np.concatenate(of_chunks) for of_chunks in (parts, numbers, moved))
    codes, present = all_codes[:, :-1], (all_codes != MISSING).all(axis=1)
    if not present.any():
        raise InputError(f"{path}: a value is missing in every row; correct 'missing' in {schema.name}")
    X = np.ascontiguousarray(codes[present], np.int32)
    outside = ~schema.domain.contains(codes[present])
    return Data(
        X,
        all_codes[present, -1].copy(),
        int(outside.sum()),
        int((~present).sum()),
        lines[present],
        outside=outside,
        clipped=clipped[present],
        left_out=codes[~present],
        n_trimmed=int(np.isin(trimmed, lines).sum()),
    )


def describe_trimmed(n: int) -> list[str]:
    """Return a line on rows with blanks around a value, if there are any."""
    rows = "1 row has" if n == 1 else f"{n:,} rows have"
    return [f"{rows} blanks around a value, which are trimmed."] if n else []


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


class _Encoder(dict):
    """The number of every text of a column; each text is read once."""

    def __init__(self, attribute: Attribute, missing: frozenset[str]) -> None:
        super().__init__()
        self.attribute, self._missing = attribute, missing
        self._clipped: set[str] = set()

    def __missing__(self, text: str) -> int:
        try:
            code = self.attribute.code(text.strip())
            code = code if _INT32.min <= code <= _INT32.max else _UNREADABLE
        except ValueError:
            code = MISSING if text.strip() in self._missing else _UNREADABLE
        self[text] = code
        is_number = isinstance(self.attribute, Integer) and code not in (MISSING, _UNREADABLE)
        if is_number and self.attribute.clips(text.strip()):
            self._clipped.add(text)
        return code

    def is_clipped(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([text in self._clipped for text in texts] if self._clipped else [False] * len(texts))

    def codes(self, texts: Sequence[str]) -> np.ndarray:
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))

    def reason(self, text: str) -> str:
        try:
            self.attribute.code(text.strip())
        except ValueError as error:
            return str(error)
        return "is too large for a 32-bit integer"


@dataclass
class _Problems:
    """The first problem of each kind in each column, with how many lines have it."""

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
                ((column < attribute.low) | (column > attribute.high)) & ~unreadable & (column != MISSING)
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


def _outside(text: str, code: int, attribute: Attribute, is_label: bool) -> str:
    field = f"{attribute.name} '{text}'"
    if is_label:
        return (
            f"{field} is none of the {attribute.high + 1} classes (0 to {attribute.high}); correct the file"
        )
    encoded = "" if text == str(code) else f", encoded {code},"
    return (
        f"{field}{encoded} is outside {attribute.low} to {attribute.high}; correct the file, widen the"
        " domain, or write outside: keep in the schema"
    )


def read_rows(
    path: Path,
    separator: str,
    comment: str = "",
    last_line_open: bool = False,
    trimmed: list[int] | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of every line that is neither blank nor a comment.

    `trimmed` collects the lines with blanks around a field.
    """
    if not last_line_open:
        check_whole(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, fields, has_blanks in _split(bounded_lines(file, path), separator):
                is_blank = not fields or (len(fields) == 1 and not fields[0].strip())
                if not (is_blank or (comment and fields[0].startswith(comment))):
                    if has_blanks and trimmed is not None:
                        trimmed.append(line)
                    yield line, fields
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error}); check the separator and the quotes") from error


def _split(file: Iterator[str], separator: str) -> Iterator[tuple[int, list[str], bool]]:
    """Yield line number and fields of every line, and whether blanks stand around a field."""
    if separator == WHITESPACE:
        for line, text in enumerate(file, start=1):
            yield line, text.split(), False
    else:
        texts: list[str] = []
        begins_blank = re.compile(rf"(?:^|{re.escape(separator)}) ", re.MULTILINE)
        # The reader drops blanks before a field, and appends no line to texts but those of the next row.
        numbered = (texts.append(text) or text for text in file)
        reader = csv.reader(numbered, delimiter=separator, skipinitialspace=True, strict=True)
        while True:
            begin = reader.line_num + 1
            try:
                fields = next(reader, None)
            except csv.Error as error:  # a quote that is not closed, where it begins
                raise csv.Error(f"line {begin}: {error}") from error
            if fields is None:
                return
            text = _QUOTED.sub("", "".join(texts))
            texts.clear()
            has_blanks = bool(begins_blank.search(text)) or any(one != one.strip() for one in fields)
            yield begin, fields, has_blanks


def column_names(rows: Iterator[tuple[int, list[str]]], schema: Schema, path: str | os.PathLike) -> list[str]:
    """Return the names of the columns; take the header off the rows where the file has one."""
    if not schema.header:
        return list(schema.columns)
    line, header = next(rows, (0, None))
    if header is None:
        raise InputError(f"{path}: the file is empty; write a header and one sample per line")
    if schema.columns:
        _check_lengths([line], [header], len(schema.columns), path)
        return list(schema.columns)
    return [name.strip() for name in header]


def _place(column: str, names: list[str], path: str | os.PathLike, separator: str) -> int:
    if names.count(column) > 1:
        raise InputError(f"{path}: the column '{column}' appears twice; rename one")
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
                f"{path}, line {line}: expected {n_columns} fields, found {len(fields)}; correct the line,"
                " or the schema's separator, header or columns"
            )


@dataclass(frozen=True)
class Rows:
    """The rows of a file and their encoded samples.

    Attributes
    ----------
    frame : pandas.DataFrame
        All columns of the file, with the types that `pandas.read_csv` gives them.
    X : (n, d) int32
        The same rows, encoded by the schema.
    schema : Schema
    """

    frame: pd.DataFrame
    X: np.ndarray
    schema: Schema

    @classmethod
    def read(cls, path: str | os.PathLike, schema: Schema, X: np.ndarray, lines: np.ndarray) -> "Rows":
        """Read the rows that stand in some lines of a file and are encoded as `X`."""
        rows = read_rows(Path(path), schema.separator, schema.comment, schema.last_line_open)
        text, numbers = io.StringIO(), []
        writer = csv.writer(text)
        writer.writerow(column_names(rows, schema, path))
        for line, fields in rows:
            writer.writerow(field.strip() for field in fields)
            numbers.append(line)
        text.seek(0)
        frame = pd.read_csv(text, skip_blank_lines=False)[np.isin(numbers, lines)]
        return cls(frame.reset_index(drop=True).infer_objects(), X, schema)

    def variants(self, rows: slice, protected: Protected) -> pd.DataFrame:
        """Return some rows with every combination of protected values, those of a row together.

        The combination that a row has itself keeps the row's own values. Another one has what the file
        writes most often for it, or what the schema does where the file has none.
        """
        m = len(protected.values)
        own = self.frame[rows]
        return self.combine(own, self.X[rows], protected, np.repeat(protected.positions(self.X[rows]), m))

    def combine(
        self, own: pd.DataFrame, X: np.ndarray, protected: Protected, positions: np.ndarray
    ) -> pd.DataFrame:
        """Return rows of a table, encoded as `X`, with every combination of protected values.

        `positions` (n * m,) is the combination that each row has itself, which keeps its values.
        """
        n, m = len(own), len(protected.values)
        table = own.loc[np.repeat(own.index, m)].reset_index(drop=True)
        others = np.tile(np.arange(m), n) != positions
        for place, values in zip(protected.columns, protected.values.T, strict=True):
            attribute = self.schema.attributes[place]
            usual = pd.Series([self.usual(place, int(code)) for code in values])
            column = table[attribute.column].astype(object)
            column[others] = usual.astype(object).to_numpy()[np.tile(np.arange(m), n)[others]]
            table[attribute.column] = column.infer_objects()
        return table

    def draw(self, X: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
        """Return rows of a table for encoded samples, (n, d) int32.

        Each value is drawn from those that the file has for its code, or is what the schema writes for it.
        """
        columns = {}
        for place, attribute in enumerate(self.schema.attributes):
            values, codes = self.frame[attribute.column], self.X[:, place]
            drawn = np.empty(len(X), object)
            for code in np.unique(X[:, place]):
                alike, wanted = np.flatnonzero(codes == code), X[:, place] == code
                if len(alike):
                    drawn[wanted] = values.to_numpy(object)[rng.choice(alike, int(wanted.sum()))]
                else:
                    drawn[wanted] = self._written(attribute, int(code))
            columns[attribute.column] = pd.Series(drawn).infer_objects()
        return pd.DataFrame(columns)

    def usual(self, place: int, code: int) -> object:
        """Return the value that the file has most often among those encoded so."""
        attribute = self.schema.attributes[place]
        values = self.frame[attribute.column][self.X[:, place] == code].mode()
        return values.iloc[0] if len(values) else self._written(attribute, code)

    def _written(self, attribute: Attribute, code: int) -> object:
        """Return what the schema writes for an encoded number, with the type of its column."""
        cell, dtype = attribute.cell(code), self.frame[attribute.column].dtype
        return str(cell).lower() == "true" if pd.api.types.is_bool_dtype(dtype) else cell


def rounded_attributes(schema: Schema) -> list[str]:
    """Return the names of the attributes whose encoded number stands for several numbers of the file."""
    return [
        one.name
        for one in schema.attributes
        if isinstance(one, Bins)
        or (isinstance(one, Integer) and not one.coded and (one.divide_by > 1 or one.clip))
    ]
