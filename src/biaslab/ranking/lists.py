"""Lists of candidates in files: read as a stream of whole lists, written atomically, CSV, TSV or Parquet."""

import contextlib
import csv
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from tqdm import tqdm

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import atomic_path, check_whole, separator_hint
from biaslab.core.values import check_values, find_doubtful
from biaslab.ranking.pools import UNKNOWN

CHUNK_BYTES = 2**21
"""How much of a text file is read at once (a line must be shorter); some tens of chunks are read ahead."""

SEPARATOR = "|"
"""What joins the values of crossed attributes: ``female|senior``."""

MAX_VALUES = 1000
"""The most values that the (crossed) attribute may have in one chunk."""

MAX_NUMBER = 1e100
"""The greatest score or place, so that no sum or product of some is infinite."""

RANK, OLD_RANK = "rank", "old_rank"
"""Columns of the output: the new place in the list, and the place by score."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
_PARQUET_ROW_BYTES = 64  # a batch of Parquet has a row for so many bytes of a chunk
_WRITTEN_ROWS = 2**16  # at once, so that no buffer of text gets too long
_OPEN_QUOTE = 'a quote is left open; close it, or write "" for a quote inside a field'
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True)
class Columns:
    """Which columns of a file mean what."""

    score: str | None  # larger is better
    attributes: tuple[str, ...]  # several are crossed
    query: str | None = None  # names the list of each row; without it the file is one list
    qualified: str | None = None  # whether a candidate is qualified: 1, true, yes, 0, false or no
    rank: str | None = None  # place in the list; lower is better
    # What an attribute says of a candidate whose value is unknown; "" for an empty field.
    unknown: tuple[str, ...] = ()
    exact: bool = False  # keep doubtful values (`core.values`) as they are written

    @property
    def all(self) -> list[str]:
        """Every column that is named."""
        named = (self.score, *self.attributes, self.query, self.qualified, self.rank)
        return [column for column in named if column is not None]


@dataclass(frozen=True)
class Lists:
    """Some whole lists of candidates, one after the other: n rows."""

    table: pa.Table  # the rows with all columns of the file
    first_row: int  # its number in the file, from 0
    offsets: np.ndarray  # (n_lists + 1,) int64: where each list begins and ends
    queries: list[str]  # name of each list; "" where the file is one list
    scores: np.ndarray | None  # (n,) float64, finite
    values: np.ndarray  # (n,) int64: indices into `names`; `UNKNOWN` where one of the crossed attributes is
    names: list[str]  # the known values in these rows, sorted
    qualified: np.ndarray | None  # (n,) bool
    ranks: np.ndarray | None = None  # (n,) float64: places


class ListFile:
    """A file of candidates whose columns are there and have a meaning.

    A ``.csv`` (commas), ``.tsv`` (tabs) or ``.parquet`` file with a header, in which the rows of a list
    follow each other. Results do not depend on how much is read at once.
    """

    def __init__(self, path: str | os.PathLike, columns: Columns, chunk_bytes: int = CHUNK_BYTES):
        self.path, self.columns, self._chunk_bytes = Path(path), columns, chunk_bytes
        self._seen: set[str] = set()  # values of the (crossed) attribute, so far
        self._delimiter = _DELIMITERS.get(check_suffix(self.path))
        if self._delimiter is not None:
            check_whole(self.path)
        with self._readable():
            self.schema = self._read_schema()
        self._check_columns()

    def lists(self) -> Iterator[Lists]:
        """Yield all lists, as many whole ones at a time as a chunk has; a list must fit into memory."""
        seen: set[str] = set()
        first_row = 0
        for table in _whole_lists(self.tables(), self.columns.query):
            yield self._parse(table, first_row, seen)
            first_row += len(table)

    def count_values(self) -> dict[str, int]:
        """Return the number of candidates with each known value of the (crossed) attribute in the file."""
        counts: dict[str, int] = {}
        first_row = 0
        for table in self.tables(self.columns.attributes):
            values, names = self._values(table, first_row)
            found = np.bincount(values[values != UNKNOWN], minlength=len(names)).tolist()
            for name, count in zip(names, found, strict=True):
                counts[name] = counts.get(name, 0) + count
            first_row += len(table)
        return dict(sorted(counts.items()))

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the file (all its columns, or those named) in chunks; columns of a text file stay text."""
        chunks = self._parquet_chunks if self._delimiter is None else self._text_chunks
        empty = True
        with self._readable():
            for table in chunks(columns):
                if len(table):
                    empty = False
                    yield table
        if empty:
            raise InputError(f"{self.path}: has no candidates; write one a line below the header")

    def where(self, row: int) -> str:
        """Name the place of a row (from 0): the line of a text file, the row of a Parquet file."""
        if self._delimiter is None:
            return f"{self.path}, row {row + 1}"
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            lines, number = csv.reader(file, delimiter=self._delimiter), -1  # 0 is the header
            while number <= row:
                begin = lines.line_num + 1
                if (fields := next(lines, None)) is None:
                    return str(self.path)
                number += bool(fields)
        return f"{self.path}:{begin}"

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what the readers say into one line."""
        try:
            yield
        except FileNotFoundError as error:
            raise InputError(f"{self.path}: no such file; check the path") from error
        except pa.ArrowException as error:
            raise InputError(self._explain(str(error))) from error
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise InputError(f"{self.path}: cannot be read ({reason}); check the file") from error

    def _explain(self, message: str) -> str:
        problem = message.splitlines()[0]
        if problem == "Empty CSV file":
            return f"{self.path}: the file is empty; write a header and one candidate a line"
        if "straddling" in problem:
            return (
                f"{self.path}: a line is longer than {self._chunk_bytes} bytes; leave out long texts, or"
                " close the quote that is left open"
            )
        _, has_row, rest = problem.partition("Row #")
        number, _, reason = rest.partition(": ")
        if has_row and number.isdigit() and message.count('"') % 2:
            return f"{self.where(int(number) - 2)}: {_OPEN_QUOTE}"
        if has_row and number.isdigit():
            return f"{self.where(int(number) - 2)}: {reason}; repair this line"
        return f"{self.path}: not a readable table ({problem}); check the file"

    def _read_schema(self) -> pa.Schema:
        if self._delimiter is None:
            return pq.read_schema(self.path)
        with pacsv.open_csv(self.path, *self._text_options()) as reader:
            return pa.schema([(name, pa.string()) for name in reader.schema.names])

    def _check_columns(self) -> None:
        names = self.schema.names
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise InputError(f"{self.path}: the column '{twice}' is there twice; rename one")
        for column in self.columns.all:
            if column not in names:
                near = separator_hint(names, self._delimiter or "") or suggest(column, names)
                raise InputError(
                    f"{self.path}: there is no column '{column}' (it has {', '.join(names)}){near}"
                )
        if self.columns.rank is not None and self.columns.rank == self.columns.score:
            raise InputError(
                f"{self.path}: '{self.columns.rank}' is named as the place and as the score; the best place"
                " is the lowest, the best score the highest"
            )
        if len(set(self.columns.attributes)) < len(self.columns.attributes):
            raise InputError(f"{self.path}: an attribute is named twice; name each once")

    def _text_options(self, names: Sequence[str] = (), columns: Sequence[str] | None = None) -> tuple:
        """Return how to read: the columns `names` as text, and of them only `columns`."""
        return (
            pacsv.ReadOptions(block_size=self._chunk_bytes, use_threads=False),
            pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=columns,
                strings_can_be_null=False,
            ),
        )

    def _text_chunks(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        size = self.path.stat().st_size
        with (
            self.path.open("rb") as file,
            tqdm(total=size, unit="B", unit_scale=True, desc=self.path.name, disable=None) as progress,
            pacsv.open_csv(file, *self._text_options(self.schema.names, columns)) as reader,
        ):
            n_rows = 0
            for batch in reader:
                progress.update(file.tell() - progress.n)
                n_rows += len(batch)
                self._check_end(batch, n_rows)
                yield pa.Table.from_batches([batch])

    def _check_end(self, batch: pa.RecordBatch, n_rows: int) -> None:
        """Refuse a last row that goes on to the end of the file, because a quote is left open in it."""
        if not len(batch) or not batch.num_columns:
            return
        last = batch.column(batch.num_columns - 1)[len(batch) - 1].as_py()
        if last.endswith(("\n", "\r")) and not _ends_with_quote(self.path):
            raise InputError(f"{self.where(n_rows - 1)}: {_OPEN_QUOTE}")

    def _parquet_chunks(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        rows = max(1, self._chunk_bytes // _PARQUET_ROW_BYTES)
        with pq.ParquetFile(self.path, buffer_size=2**20) as file:
            total = file.metadata.num_rows
            with tqdm(
                total=total, unit=" rows", unit_scale=True, desc=self.path.name, disable=None
            ) as progress:
                for batch in file.iter_batches(rows, columns=columns):
                    progress.update(len(batch))
                    yield pa.Table.from_batches([batch])

    def _parse(self, table: pa.Table, first_row: int, seen: set[str]) -> Lists:
        offsets, queries = self._split(table, first_row, seen)
        values, names = self._values(table, first_row)
        return Lists(
            table=table,
            first_row=first_row,
            offsets=offsets,
            queries=queries,
            scores=self._numbers(table, self.columns.score, first_row),
            values=values,
            names=names,
            qualified=self._qualified(table, first_row),
            ranks=self._numbers(table, self.columns.rank, first_row),
        )

    def _split(self, table: pa.Table, first_row: int, seen: set[str]) -> tuple[np.ndarray, list[str]]:
        """Return where the lists begin and end, and their names, which go into `seen`."""
        column = self.columns.query
        if column is None:
            return np.array([0, len(table)]), [""]
        text = self._text(table, column, first_row)
        starts = np.append(0, _changes(text))
        queries = text.take(pa.array(starts)).to_pylist()
        for start, query in zip(starts.tolist(), queries, strict=True):
            if query in seen:
                raise InputError(
                    f"{self.where(first_row + start)}: the list '{query}' goes on after another one began;"
                    f" sort the file by '{column}'"
                )
            seen.add(query)
        return np.append(starts, len(table)), queries

    def _numbers(self, table: pa.Table, column: str | None, first_row: int) -> np.ndarray | None:
        """Return a column of finite numbers, None for no column."""
        if column is None:
            return None
        scores = table[column]
        if pa.types.is_string(scores.type):
            scores = pc.utf8_trim_whitespace(scores)
        try:
            numbers = pc.fill_null(scores.cast(pa.float64()), np.nan).to_numpy()
        except pa.ArrowInvalid:
            bad = next(i for i, text in enumerate(scores.to_pylist()) if not _is_number(text))
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"{self.path}: the column '{column}' holds no numbers ({scores.type})"
            ) from error
        else:
            usable = np.abs(numbers) <= MAX_NUMBER
            if usable.all():
                return numbers
            bad = int(usable.argmin())
        shown = scores[bad].as_py()
        raise InputError(
            f"{self.where(first_row + bad)}: the {column} '{shown}' is not a finite number of at most"
            f" {MAX_NUMBER:g}; correct it, or remove the line"
        )

    def _values(self, table: pa.Table, first_row: int) -> tuple[np.ndarray, list[str]]:
        """Return the value of each row as an index into the sorted names of the values."""
        parts = [self._text(table, c, first_row, self.columns.unknown) for c in self.columns.attributes]
        joined = self._join(parts, first_row).dictionary_encode()
        names = np.array(joined.dictionary.to_pylist(), dtype=object)
        if len(names) > MAX_VALUES:
            raise InputError(
                f"{self.path}: {' x '.join(self.columns.attributes)} has more than {MAX_VALUES} values;"
                " name an attribute with few values"
            )
        self._check_doubtful(names.tolist())
        order = np.argsort(names)
        place = np.full(len(names) + 1, UNKNOWN, dtype=np.int64)  # the last one is that of a missing value
        place[order] = np.arange(len(names))
        return place[pc.fill_null(joined.indices, len(names)).to_numpy()], names[order].tolist()

    def _join(self, parts: Sequence[pa.Array], first_row: int) -> pa.Array:
        """Return the values of crossed attributes; missing where one of them is unknown."""
        if len(parts) > 1:
            self._check_separator(parts, first_row)
        if self.columns.unknown:
            unknown = pa.array(self.columns.unknown)
            parts = [pc.if_else(pc.is_in(text, unknown), None, text) for text in parts]
        return pc.binary_join_element_wise(*parts, SEPARATOR)

    def _check_doubtful(self, names: Sequence[str]) -> None:
        """Refuse doubtful values among those so far; the message names all of the file."""
        if self.columns.exact or self._seen.issuperset(names):
            return
        self._seen.update(names)
        crossed = len(self.columns.attributes) > 1
        values = zip(*(name.split(SEPARATOR) if crossed else [name] for name in self._seen), strict=True)
        for column, of_column in zip(self.columns.attributes, values, strict=True):
            if find_doubtful(of_column):
                check_values(f"{self.path}: {column}", self._distinct(column), "--unknown")

    def _distinct(self, column: str) -> set[str]:
        """Return the values of an attribute in the entire file, but for those named as unknown."""
        values: set[str] = set()
        for table in self.tables([column]):
            text = pc.fill_null(table[column].cast(pa.string()), "")
            values.update(pc.unique(text).to_pylist())
        return values.difference(self.columns.unknown)

    def _check_separator(self, parts: Sequence[pa.Array], first_row: int) -> None:
        for column, text in zip(self.columns.attributes, parts, strict=True):
            row = pc.index(pc.match_substring(text, SEPARATOR), True).as_py()
            if row >= 0:
                raise InputError(
                    f"{self.where(first_row + row)}: the {column} '{text[row]}' contains '{SEPARATOR}', which"
                    " joins the values of several attributes; replace it"
                )

    def _qualified(self, table: pa.Table, first_row: int) -> np.ndarray | None:
        column = self.columns.qualified
        if column is None:
            return None
        text = self._text(table, column, first_row).dictionary_encode()
        truth = [_TRUTH.get(value.strip().lower()) for value in text.dictionary.to_pylist()]
        if None in truth:
            row = pc.index(text.indices, truth.index(None)).as_py()
            raise InputError(
                f"{self.where(first_row + row)}: the {column} '{text[row].as_py()}' is neither yes nor no;"
                f" write one of {', '.join(_TRUTH)}"
            )
        return np.array(truth, dtype=bool)[text.indices.to_numpy()]

    def _text(
        self, table: pa.Table, column: str, first_row: int, unknown: Sequence[str] | None = None
    ) -> pa.Array:
        """Return a column as text in which nothing is missing, unless that is how the unknown is written.

        Only a column of an attribute has a list of `unknown` values.
        """
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
            raise InputError(f"{self.where(first_row + row)}: the {column} is missing; {remedy}")
        return text


def _ends_with_quote(path: Path) -> bool:
    """Tell whether the last line of a file ends with a quote."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4))
        return file.read().rstrip(b"\r\n").endswith(b'"')


@contextlib.contextmanager
def open_output(path: str | os.PathLike, source: ListFile) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that appends rows with the columns of `source`, then rank and old rank.

    The ``.csv``, ``.tsv`` or ``.parquet`` file appears when the context ends without an error. In Parquet the
    columns keep the types of a Parquet source; of a text source, the score becomes a number.
    """
    path = Path(path)
    _check_new_columns(source)
    schema = _output_schema(source)
    if check_suffix(path) in _DELIMITERS:
        _check_text(path, schema)
    with _open_table(path, schema) as write:
        yield write


def write_lists(path: str | os.PathLike, table: pa.Table) -> None:
    """Write a table as a ``.csv``, ``.tsv`` or ``.parquet`` file, atomically."""
    with _open_table(Path(path), table.schema) as write:
        write(table)


@contextlib.contextmanager
def _open_table(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that appends rows to a file, which appears at the end."""
    delimiter = _DELIMITERS.get(check_suffix(path))
    with atomic_path(path) as temporary:
        if delimiter is None:
            with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
                yield lambda table: writer.write_table(table.cast(schema))
        else:
            header = pa.table([[name] for name in schema.names], names=[str(i) for i in range(len(schema))])
            with temporary.open("wb") as file:
                _write_text(file, header, delimiter)
                yield lambda table: _write_text(file, table, delimiter)


def _output_schema(source: ListFile) -> pa.Schema:
    """Return the columns of the re-ranked file, with the types that they have in Parquet."""
    schema = source.schema
    score = schema.get_field_index(source.columns.score)
    if pa.types.is_string(schema.field(score).type):
        schema = schema.set(score, pa.field(source.columns.score, pa.float64()))
    return schema.append(pa.field(RANK, pa.int64())).append(pa.field(OLD_RANK, pa.int64()))


def _check_new_columns(source: ListFile) -> None:
    taken = next((name for name in (RANK, OLD_RANK) if name in source.schema.names), None)
    if taken is not None:
        raise InputError(f"{source.path}: the column '{taken}' would be written twice; rename it")


def _check_text(path: Path, schema: pa.Schema) -> None:
    """Refuse lists, structures and the like before anything is read."""
    for field in schema:
        try:
            pa.array([], field.type).cast(pa.string())
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"{path}: the column '{field.name}' cannot be written as text ({field.type}); write .parquet"
            ) from error


def check_suffix(path: str | os.PathLike) -> str:
    """Return the suffix of a file, or refuse one that does not tell the format."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*_DELIMITERS, _PARQUET):
        raise InputError(f"{path}: unknown kind of file; name a .csv, .tsv or .parquet file")
    return suffix


def _whole_lists(tables: Iterator[pa.Table], query: str | None) -> Iterator[pa.Table]:
    """Recut a stream of tables, so that no list is cut."""
    pending: list[pa.Table] = []
    for table in tables:
        # The list that the last chunk began may go on in this one, and this one's last list in the next.
        start = _last_start([*pending[-1:], table], query)
        if start is not None:
            yield pa.concat_tables([*pending, table[:start]])
            pending = []
        pending.append(table[start or 0 :])
    yield pa.concat_tables(pending)


def _last_start(tables: Sequence[pa.Table], query: str | None) -> int | None:
    """Return the row of the last table in which a list begins, or None when none does."""
    if query is None:
        return None
    *before, last = (table[query].combine_chunks() for table in tables)
    if len(changes := _changes(last)):
        return int(changes[-1])
    return 0 if before and before[0][-1] != last[0] else None


def _changes(column: pa.Array) -> np.ndarray:
    """Return the indices at which a value differs from the one before it; missing ones equal each other."""
    text = pc.fill_null(column.cast(pa.string()), "")
    return np.flatnonzero(pc.not_equal(text[1:], text[:-1]).to_numpy(zero_copy_only=False)) + 1


def _is_number(text: object) -> bool:
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _write_text(file: BinaryIO, table: pa.Table, delimiter: str) -> None:
    """Write the rows of a table as UTF-8 lines, with quotes only where a value needs them."""
    for batch in table.to_batches(max_chunksize=_WRITTEN_ROWS):
        columns = [_quoted(column.cast(pa.string()), delimiter) for column in batch.columns]
        lines = pc.binary_join_element_wise(*columns, delimiter)
        _, _, text = pc.binary_join_element_wise(lines, "", "\n").buffers()
        file.write(text)


def _quoted(column: pa.Array, delimiter: str) -> pa.Array:
    """Quote the values that hold a delimiter, a quote or the end of a line; a missing value becomes empty."""
    column = pc.fill_null(column, "")
    special = pc.match_substring_regex(column, f'["\r\n{delimiter}]')
    if not pc.any(special).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), column)
