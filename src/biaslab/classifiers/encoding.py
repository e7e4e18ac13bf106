"""Encode tables of samples as integers by a schema, and decode them into the words of the schema.

Encoding rounds numbers if the schema has bins, divides or clips. A classifier that was fitted on the columns
of the file therefore reads `Rows`, the original rows. A variant of a row keeps all values of the row except
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

CHUNK_ROWS = 2**14  # number of rows of text in memory at a time
MAX_GROUPS = 20  # maximum number of groups or values that a line names

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
        Labels, as positions among the classes.
    n_outside : int
        Number of rows with a value outside the domain, which the schema keeps.
    n_missing : int
        Number of rows that are left out because a value is missing.
    lines : (n,) int64
        Line of each row in the file.
    outside, clipped : (n,) bool
        Whether a row has a value outside the domain, and whether an attribute's `clip` moved a number.
    left_out : (n_missing, d) int64
        Codes of the rows that are left out; `MISSING` for missing values.
    n_trimmed : int
        Number of rows with blanks around a value, which are trimmed.
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
        The meaning of its columns.

    Returns
    -------
    Data
        Encoded samples and labels, and the rows with values outside the domain or missing values.

    Raises
    ------
    InputError
        With the first line of a problem and the number of further lines: a value that is no number, is not in
        the schema, or is outside the domain (if the schema refuses it). Also if the file is missing, not
        text, empty, has lines of another length, or lacks a column.
    """
    trimmed: list[int] = []
    rows = read_rows(Path(path), schema.separator, schema.comment, schema.last_line_open, trimmed)
    names = column_names(rows, schema, path)
    encoders = [_Encoder(attribute, schema) for attribute in (*schema.attributes, schema.label)]
    places = [_place(encoder.attribute.column, names, path, schema.separator) for encoder in encoders]
    problems: dict[tuple[int, int], list] = {}  # the first line, its problem, and the number of lines
    parts, numbers, moved = [], [], []
    while chunk := list(itertools.islice(rows, CHUNK_ROWS)):
        lines, texts = zip(*chunk, strict=True)
        _check_lengths(lines, texts, len(names), path)
        columns = list(zip(*texts, strict=True))
        pairs = [(encoder, columns[place]) for encoder, place in zip(encoders, places, strict=True)]
        encoded = [
            np.fromiter(map(encoder.__getitem__, words), np.int64, len(words)) for encoder, words in pairs
        ]
        for place, (encoder, words) in enumerate(pairs):
            for number, is_bad in enumerate(encoder.find_problems(encoded[place])):
                if is_bad.any():
                    first = int(is_bad.argmax())
                    problem = encoder.describe_problem(words[first].strip(), int(encoded[place][first]))
                    problems.setdefault((place, number), [lines[first], problem, 0])[2] += int(is_bad.sum())
        parts.append(np.stack(encoded, axis=1))
        numbers.append(np.array(lines, np.int64))
        moved.append(np.zeros(len(lines), bool))
        for encoder, words in pairs:
            if encoder.clipped:
                moved[-1] |= np.fromiter(map(encoder.clipped.__contains__, words), bool, len(words))
    if problems:
        line, problem, count = min(problems.values(), key=lambda entry: entry[0])
        more = f" and {count - 1} more" if count > 1 else ""
        raise InputError(f"{path}, line {line}{more}: {problem}")
    if not parts:
        raise InputError(f"{path}: the file has no rows; write one sample per line")
    all_codes, all_lines, clipped = (np.concatenate(chunks) for chunks in (parts, numbers, moved))
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
        all_lines[present],
        outside=outside,
        clipped=clipped[present],
        left_out=codes[~present],
        n_trimmed=int(np.isin(trimmed, all_lines).sum()),
    )


def describe_trimmed(n: int) -> list[str]:
    """Return a line on the rows with blanks around a value, if there are any."""
    rows = "1 row has" if n == 1 else f"{n:,} rows have"
    return [f"{rows} blanks around a value, which are trimmed."] if n else []


def count_by_group(is_counted: np.ndarray, groups: np.ndarray) -> str:
    """Return the counted and all rows of each group, such as "a 1 of 3, b 0 of 2"; "" for many groups."""
    counts = pd.Series(is_counted).groupby(groups).agg(["sum", "size"])
    texts = [f"{group} {row['sum']:,} of {row['size']:,}" for group, row in counts.iterrows()]
    return ", ".join(texts) if len(texts) <= MAX_GROUPS else ""


def decode(X: np.ndarray, schema: Schema) -> pd.DataFrame:
    """Decode samples into the words of the schema.

    Parameters
    ----------
    X : (n, d) int32
    schema : Schema

    Returns
    -------
    pandas.DataFrame
        One text column for each attribute, by its name: the name of a value, a number, or a range of numbers
        such as 30-39.
    """
    words = {}
    for column, attribute in zip(X.T, schema.attributes, strict=True):
        codes, places = np.unique(column, return_inverse=True)
        words[attribute.name] = np.array([attribute.word(int(c)) for c in codes], object)[places]
    return pd.DataFrame(words, dtype=str)


def as_table(X: np.ndarray, schema: Schema) -> pd.DataFrame:
    """Convert encoded samples, rounded and clipped, to the columns of their table.

    Columns have the numbers and words of the file; a range of numbers becomes its lowest number.
    """
    columns = {}
    for codes, attribute in zip(np.rint(X).astype(np.int64).T, schema.attributes, strict=True):
        inside = codes if isinstance(attribute, Integer) else codes.clip(attribute.low, attribute.high)
        distinct, places = np.unique(inside, return_inverse=True)
        cells = pd.Series([attribute.cell(int(code)) for code in distinct])
        if {str(cell).lower() for cell in cells} <= {"false", "true"}:  # as pandas reads them
            cells = cells.astype(str).str.lower() == "true"
        columns[attribute.column] = cells.take(places).reset_index(drop=True)
    return pd.DataFrame(columns)


class _Encoder(dict):
    """The code of every text of a column; each text is parsed once."""

    def __init__(self, attribute: Attribute, schema: Schema) -> None:
        super().__init__()
        self.attribute, self._schema = attribute, schema
        self.clipped: set[str] = set()

    def __missing__(self, text: str) -> int:
        try:
            code = self.attribute.code(text.strip())
            code = code if _INT32.min <= code <= _INT32.max else _UNREADABLE
        except ValueError:
            code = MISSING if text.strip() in self._schema.missing else _UNREADABLE
        self[text] = code
        is_number = code not in (MISSING, _UNREADABLE)
        if is_number and isinstance(self.attribute, Integer) and self.attribute.clips(text.strip()):
            self.clipped.add(text)
        return code

    def find_problems(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which codes are unreadable, and which are outside the domain and refused, (n,) bool each."""
        attribute, unreadable = self.attribute, codes == _UNREADABLE
        outside = ((codes < attribute.low) | (codes > attribute.high)) & ~unreadable & (codes != MISSING)
        is_refused = attribute is self._schema.label or self._schema.outside == REFUSE
        return unreadable, outside & is_refused

    def describe_problem(self, text: str, code: int) -> str:
        name, low, high = self.attribute.name, self.attribute.low, self.attribute.high
        if code == _UNREADABLE:
            problem = "is too large for a 32-bit integer"
            try:
                self.attribute.code(text)
            except ValueError as error:
                problem = str(error)
            return f"{name} '{text}' {problem}; correct the file or the schema"
        if self.attribute is self._schema.label:
            return f"{name} '{text}' is not one of the {high + 1} classes (0 to {high}); correct the file"
        encoded = "" if text == str(code) else f", encoded {code},"
        return (
            f"{name} '{text}'{encoded} is outside {low} to {high}; correct the file, widen the domain, or"
            " write outside: keep in the schema"
        )


def read_rows(
    path: Path,
    separator: str,
    comment: str = "",
    last_line_open: bool = False,
    trimmed: list[int] | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """Yield every line that is neither blank nor a comment; `trimmed` collects lines with blanks."""
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
    """Yield the line number and the fields of every line, and whether a field has blanks around it."""
    if separator == WHITESPACE:
        for line, text in enumerate(file, start=1):
            yield line, text.split(), False
    else:
        texts: list[str] = []
        begins_blank = re.compile(rf"(?:^|{re.escape(separator)}) ", re.MULTILINE)

        def keep_texts() -> Iterator[str]:
            for text in file:
                texts.append(text)
                yield text

        # The reader drops blanks before a field, and consumes only the lines of the next row.
        reader = csv.reader(keep_texts(), delimiter=separator, skipinitialspace=True, strict=True)
        while True:
            begin = reader.line_num + 1
            try:
                fields = next(reader, None)
            except csv.Error as error:  # an unclosed quote; report the line where the row begins
                raise csv.Error(f"line {begin}: {error}") from error
            if fields is None:
                return
            text = _QUOTED.sub("", "".join(texts))
            texts.clear()
            has_blanks = bool(begins_blank.search(text)) or any(field != field.strip() for field in fields)
            yield begin, fields, has_blanks


def column_names(rows: Iterator[tuple[int, list[str]]], schema: Schema, path: str | os.PathLike) -> list[str]:
    """Return the names of the columns; consume the header of the rows, if the file has one."""
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
    """The rows of a file and their encoded samples."""

    frame: pd.DataFrame  # all columns of the file, with the types inferred by `pandas.read_csv`
    X: np.ndarray  # (n, d) int32
    schema: Schema

    @classmethod
    def read(cls, path: str | os.PathLike, schema: Schema, X: np.ndarray, lines: np.ndarray) -> "Rows":
        """Read the rows on `lines` of a file, which are encoded as `X`."""
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

    def variants(self, own: pd.DataFrame, protected: Protected, positions: np.ndarray) -> pd.DataFrame:
        """Return n rows of a table with every combination of protected values, grouped by row.

        The combination of a row itself, in `positions`, keeps the row's own values. Other combinations have
        the usual values.
        """
        n, m = len(own), len(protected.values)
        table = own.loc[np.repeat(own.index, m)].reset_index(drop=True)
        others = np.tile(np.arange(m), n) != np.repeat(positions, m)
        for place, values in zip(protected.columns, protected.values.T, strict=True):
            attribute = self.schema.attributes[place]
            usual = pd.Series([self.usual(place, int(code)) for code in values])
            column = table[attribute.column].astype(object)
            column[others] = usual.astype(object).to_numpy()[np.tile(np.arange(m), n)[others]]
            table[attribute.column] = column.infer_objects()
        return table

    def draw(self, X: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
        """Return rows of a table for samples: values of the file with their codes, or else of the schema."""
        columns = {}
        for place, attribute in enumerate(self.schema.attributes):
            values, codes = self.frame[attribute.column], self.X[:, place]
            drawn = np.empty(len(X), object)
            for code in np.unique(X[:, place]):
                alike, is_wanted = np.flatnonzero(codes == code), X[:, place] == code
                if len(alike):
                    drawn[is_wanted] = values.to_numpy(object)[rng.choice(alike, int(is_wanted.sum()))]
                else:
                    drawn[is_wanted] = self._written(attribute, int(code))
            columns[attribute.column] = pd.Series(drawn).infer_objects()
        return pd.DataFrame(columns)

    def usual(self, place: int, code: int) -> object:
        """Return the most frequent value of the file with a code, or else the value of the schema."""
        attribute = self.schema.attributes[place]
        values = self.frame[attribute.column][self.X[:, place] == code].mode()
        return values.iloc[0] if len(values) else self._written(attribute, code)

    def _written(self, attribute: Attribute, code: int) -> object:
        """Return the value of the schema for a code, with the type of its column."""
        cell, dtype = attribute.cell(code), self.frame[attribute.column].dtype
        return str(cell).lower() == "true" if pd.api.types.is_bool_dtype(dtype) else cell


def rounded_attributes(schema: Schema) -> list[str]:
    """Return the names of the attributes with codes that stand for several numbers of the file."""
    return [
        a.name
        for a in schema.attributes
        if isinstance(a, Bins) or (isinstance(a, Integer) and not a.coded and (a.divide_by > 1 or a.clip))
    ]
