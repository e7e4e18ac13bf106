"""Lists of candidates in files: CSV, TSV or Parquet, read at once and written atomically."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import atomic_path, check_whole, line_of_row, separator_hint
from biaslab.core.values import check_values
from biaslab.ranking.pools import UNKNOWN

BLOCK_BYTES = 2**21  # block size for parsing a text file; a line must be shorter

SEPARATOR = "|"  # separator of the values of crossed attributes: ``female|senior``

MAX_VALUES = 1000  # the largest number of values of the (crossed) attribute

MAX_NUMBER = 1e100  # the largest absolute score or place, so that no sum or product is infinite

RANK, OLD_RANK = "rank", "old_rank"
"""Columns of the output: the new place in the list, and the place by score."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
_WRITTEN_ROWS = 2**16  # per batch, to bound the length of text buffers
_OPEN_QUOTE = 'a quote is not closed; close it, or write "" for a quote inside a field'
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True)
class Columns:
    """The meaning of the columns of a file."""

    score: str | None  # larger is better
    attributes: Sequence[str]  # several are crossed
    query: str | None = None  # names the list of each row; without a query, the file is one list
    qualified: str | None = None  # whether a candidate is qualified: 1, true, yes, 0, false or no
    rank: str | None = None  # place in the list; lower is better
    # Texts of an attribute that mark an unknown value; "" for an empty field.
    unknown: Sequence[str] | None = None
    exact: bool = False  # keep doubtful values (`core.values`) unchanged

    @property
    def all(self) -> list[str]:
        """All named columns."""
        named = (self.score, *self.attributes, self.query, self.qualified, self.rank)
        return [column for column in named if column is not None]


@dataclass(frozen=True)
class Lists:
    """Lists of candidates, one after the other: n rows."""

    table: pa.Table  # all columns of the file; columns of a text file stay text
    offsets: np.ndarray  # (n_lists + 1,) int64: where each list begins and ends
    queries: list[str]  # name of each list; "" if the file is one list
    scores: np.ndarray | None  # (n,) float64, finite
    values: np.ndarray  # (n,) int64: indices into `names`; `UNKNOWN` if a crossed attribute is unknown
    names: list[str]  # the known values, sorted
    qualified: np.ndarray | None  # (n,) bool
    ranks: np.ndarray | None = None  # (n,) float64: places


class ListFile:
    """A .csv, .tsv or .parquet file of candidates with checked columns; the rows of a list are adjacent."""

    def __init__(self, path: str | os.PathLike, columns: Columns):
        self.path, self.columns = Path(path), columns
        self._delimiter = _DELIMITERS.get(check_suffix(self.path))
        if self._delimiter is not None:
            check_whole(self.path)
        with self._readable():
            if self._delimiter is None:
                self.schema = pq.read_schema(self.path)
            else:
                with pacsv.open_csv(self.path, *self._text_options()) as reader:
                    self.schema = pa.schema([(name, pa.string()) for name in reader.schema.names])
        self._check_columns()

    @cached_property
    def lists(self) -> Lists:
        """All lists of the file."""
        with self._readable():
            table = self._read_table()
        if not len(table):
            raise InputError(f"{self.path}: the file has no candidates; write one per line below the header")
        offsets, queries = self._split(table)
        values, names = self._values(table)
        return Lists(
            table=table,
            offsets=offsets,
            queries=queries,
            scores=self._numbers(table, self.columns.score),
            values=values,
            names=names,
            qualified=self._qualified(table),
            ranks=self._numbers(table, self.columns.rank),
        )

    def where(self, row: int) -> str:
        """Name the position of a row (from 0): the line of a text file, the row of a Parquet file."""
        if self._delimiter is None:
            return f"{self.path}, row {row + 1}"
        line = line_of_row(self.path, row, self._delimiter)
        return f"{self.path}:{line}" if line else str(self.path)

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise InputError(f"{self.path}: the file does not exist; check the path") from error
        except pa.ArrowException as error:
            raise InputError(self._explain(str(error))) from error
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise InputError(f"{self.path}: the file cannot be read ({reason}); check the file") from error

    def _explain(self, message: str) -> str:
        summary = message.splitlines()[0]
        if summary == "Empty CSV file":
            return f"{self.path}: the file is empty; write a header and one candidate per line"
        if "straddling" in summary:
            return (
                f"{self.path}: a line is longer than {BLOCK_BYTES} bytes; remove long texts, or"
                " close the open quote"
            )
        _, has_row, rest = summary.partition("Row #")
        number, _, reason = rest.partition(": ")
        if has_row and number.isdigit() and message.count('"') % 2:
            return f"{self.where(int(number) - 2)}: {_OPEN_QUOTE}"
        if has_row and number.isdigit():
            return f"{self.where(int(number) - 2)}: {reason}; repair this line"
        return f"{self.path}: the file is not a readable table ({summary}); check the file"

    def _check_columns(self) -> None:
        names = self.schema.names
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise InputError(f"{self.path}: the column '{twice}' is repeated; rename one")
        for column in self.columns.all:
            if column not in names:
                near = separator_hint(names, self._delimiter or "") or suggest(column, names)
                raise InputError(
                    f"{self.path}: the column '{column}' is missing (columns: {', '.join(names)}){near}"
                )
        if self.columns.rank is not None and self.columns.rank == self.columns.score:
            raise InputError(
                f"{self.path}: '{self.columns.rank}' is named as the place and as the score; the best place"
                " is the lowest and the best score is the highest; name two columns"
            )
        if len(set(self.columns.attributes)) < len(self.columns.attributes):
            raise InputError(f"{self.path}: an attribute is named twice; name each once")

    def _text_options(self, names: Sequence[str] = ()) -> tuple:
        return (
            pacsv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )

    def _read_table(self) -> pa.Table:
        if self._delimiter is None:
            with pq.ParquetFile(self.path) as file:
                return file.read()
        with self.path.open("rb") as file:
            table = pacsv.read_csv(file, *self._text_options(self.schema.names))
        self._check_end(table)
        return table

    def _check_end(self, table: pa.Table) -> None:
        """Refuse a last row that extends to the end of the file because of an unclosed quote."""
        if not len(table) or not table.num_columns:
            return
        last = table.column(table.num_columns - 1)[len(table) - 1].as_py()
        if not last.endswith(("\n", "\r")):
            return
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - 4))
            if not file.read().rstrip(b"\r\n").endswith(b'"'):
                raise InputError(f"{self.where(len(table) - 1)}: {_OPEN_QUOTE}")

    def _split(self, table: pa.Table) -> tuple[np.ndarray, list[str]]:
        """Return where the lists begin and end, and their names."""
        column = self.columns.query
        if column is None:
            return np.array([0, len(table)]), [""]
        text = self._text(table, column)
        is_new = pc.not_equal(text[1:], text[:-1]).to_numpy(zero_copy_only=False)
        starts = np.append(0, np.flatnonzero(is_new) + 1)
        queries = text.take(pa.array(starts)).to_pylist()
        names: set[str] = set()
        for start, query in zip(starts.tolist(), queries, strict=True):
            if query in names:
                raise InputError(
                    f"{self.where(start)}: the list '{query}' continues after another list began;"
                    f" sort the file by '{column}'"
                )
            names.add(query)
        return np.append(starts, len(table)), queries

    def _numbers(self, table: pa.Table, column: str | None) -> np.ndarray | None:
        if column is None:
            return None
        scores = table[column]
        if pa.types.is_string(scores.type):
            scores = pc.utf8_trim_whitespace(scores)
        try:
            numbers = pc.fill_null(scores.cast(pa.float64()), np.nan).to_numpy()
        except pa.ArrowInvalid:
            row = next(i for i, text in enumerate(scores.to_pylist()) if not _is_number(text))
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"{self.path}: the column '{column}' has no numbers ({scores.type}); name a numeric column"
            ) from error
        else:
            usable = np.abs(numbers) <= MAX_NUMBER
            if usable.all():
                return numbers
            row = int(usable.argmin())
        text_ = scores[row].as_py()
        raise InputError(
            f"{self.where(row)}: the {column} '{text_}' is not a finite number of at most"
            f" {MAX_NUMBER:g}; correct it, or remove the line"
        )

    def _values(self, table: pa.Table) -> tuple[np.ndarray, list[str]]:
        """Return the value of each row as an index into the sorted names of the values."""
        attributes = self.columns.attributes
        parts = [self._text(table, column, self.columns.unknown or ()) for column in attributes]
        for column, text in zip(attributes, parts, strict=True) if len(parts) > 1 else ():
            row = pc.index(pc.match_substring(text, SEPARATOR), True).as_py()
            if row >= 0:
                raise InputError(
                    f"{self.where(row)}: the {column} '{text[row]}' contains '{SEPARATOR}', which"
                    " joins the values of several attributes; replace it"
                )
        known_parts = parts
        if self.columns.unknown:  # a crossed value is missing if a part is unknown
            unknown = pa.array(self.columns.unknown)
            known_parts = [pc.if_else(pc.is_in(text, unknown), None, text) for text in parts]
        joined = pc.binary_join_element_wise(*known_parts, SEPARATOR).dictionary_encode()
        names = np.array(joined.dictionary.to_pylist(), dtype=object)
        if len(names) > MAX_VALUES:
            raise InputError(
                f"{self.path}: {' x '.join(attributes)} has more than {MAX_VALUES} values;"
                " name an attribute with few values"
            )
        if not self.columns.exact:  # refuse doubtful values, except those named as unknown
            for column, text in zip(attributes, parts, strict=True):
                values = set(pc.unique(text).to_pylist()).difference(self.columns.unknown or ())
                check_values(f"{self.path}: {column}", values, "--unknown")
        order = np.argsort(names)
        place = np.full(len(names) + 1, UNKNOWN, dtype=np.int64)  # the last entry is for a missing value
        place[order] = np.arange(len(names))
        return place[pc.fill_null(joined.indices, len(names)).to_numpy()], names[order].tolist()

    def _qualified(self, table: pa.Table) -> np.ndarray | None:
        column = self.columns.qualified
        if column is None:
            return None
        text = self._text(table, column).dictionary_encode()
        truth = [_TRUTH.get(value.strip().lower()) for value in text.dictionary.to_pylist()]
        if None in truth:
            row = pc.index(text.indices, truth.index(None)).as_py()
            raise InputError(
                f"{self.where(row)}: the {column} '{text[row].as_py()}' is neither yes nor no;"
                f" write one of {', '.join(_TRUTH)}"
            )
        return np.array(truth, dtype=bool)[text.indices.to_numpy()]

    def _text(self, table: pa.Table, column: str, unknown: Sequence[str] | None = None) -> pa.Array:
        """Return a column as text; refuse empty fields, except unknown values of an attribute."""
        try:
            text = table[column].cast(pa.string()).combine_chunks()
        except pa.ArrowException as error:
            raise InputError(
                f"{self.path}: the column '{column}' cannot be read as text ({table[column].type})"
            ) from error
        text = pc.fill_null(text, "")
        row = pc.index(pc.equal(text, ""), True).as_py()
        if row >= 0 and "" not in (unknown or ()):
            remedy = (
                "fill it in, or remove the line" if unknown is None else "fill it in, or add --unknown ''"
            )
            raise InputError(f"{self.where(row)}: the {column} is missing; {remedy}")
        return text


def check_output(path: str | os.PathLike, source: ListFile) -> None:
    """Refuse an output file that cannot store the re-ranked lists of `source`."""
    conflict = next((name for name in (RANK, OLD_RANK) if name in source.schema.names), None)
    if conflict is not None:
        raise InputError(
            f"{source.path}: the column '{conflict}' would appear twice in the output; rename it"
        )
    for field in _output_schema(source) if check_suffix(path) in _DELIMITERS else ():
        try:
            pa.array([], field.type).cast(pa.string())
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"{path}: the column '{field.name}' cannot be written as text ({field.type}); write .parquet"
            ) from error


def write_ranked(path: str | os.PathLike, table: pa.Table, source: ListFile) -> None:
    """Write rows with the columns of `source`, rank and old rank to .csv, .tsv or .parquet, atomically.

    Parquet keeps the column types of a Parquet source; for a text source, the score becomes a number.
    """
    delimiter = _DELIMITERS.get(check_suffix(path))
    with atomic_path(path) as temporary:
        if delimiter is None:
            pq.write_table(table.cast(_output_schema(source)), temporary, compression="zstd")
            return
        names = table.column_names
        header = pa.table([[name] for name in names], names=[str(i) for i in range(len(names))])
        with temporary.open("wb") as file:
            _write_text(file, header, delimiter)
            _write_text(file, table, delimiter)


def _output_schema(source: ListFile) -> pa.Schema:
    """Return the columns of the re-ranked file with their types in Parquet."""
    schema = source.schema
    score = schema.get_field_index(source.columns.score)
    if pa.types.is_string(schema.field(score).type):
        schema = schema.set(score, pa.field(source.columns.score, pa.float64()))
    return schema.append(pa.field(RANK, pa.int64())).append(pa.field(OLD_RANK, pa.int64()))


def check_suffix(path: str | os.PathLike) -> str:
    """Return the suffix of a file; refuse an unknown format."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*_DELIMITERS, _PARQUET):
        raise InputError(f"{path}: unknown file type; name a .csv, .tsv or .parquet file")
    return suffix


def _is_number(text: object) -> bool:
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _write_text(file: BinaryIO, table: pa.Table, delimiter: str) -> None:
    """Write the rows of a table as UTF-8 lines; missing values become empty."""
    for batch in table.to_batches(max_chunksize=_WRITTEN_ROWS):
        columns = []
        for column in batch.columns:
            column = pc.fill_null(column.cast(pa.string()), "")
            special = pc.match_substring_regex(column, f'["\r\n{delimiter}]')
            if pc.any(special).as_py():
                quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
                column = pc.if_else(special, quoted, column)
            columns.append(column)
        lines = pc.binary_join_element_wise(*columns, delimiter)
        _, _, text = pc.binary_join_element_wise(lines, "", "\n").buffers()
        file.write(text)
