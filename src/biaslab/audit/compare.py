"""Comparison of two runs: equal results and changed verdicts."""

import filecmp
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table
from biaslab.core.io import read_npz, read_parquet, read_tsv
from biaslab.run.record.manifest import CLAIMS, MANIFEST, VARIABLE_KEY
from biaslab.run.travel.crate.reading import opened_run

BYTE_EQUAL = "byte_equal"
NUMERICALLY_EQUAL = "numerically_equal"
DIFFERENT = "different"
ONLY_IN_A = "only_in_a"
ONLY_IN_B = "only_in_b"
STATUSES = (BYTE_EQUAL, NUMERICALLY_EQUAL, DIFFERENT, ONLY_IN_A, ONLY_IN_B)

ABSENT = "absent"
DEFAULT_RTOL = 1e-9
_DASH = "-"  # placeholder in an archived run for a text that no claim needs


@dataclass(frozen=True)
class FileComparison:
    """A file of two runs: status, largest relative difference (NaN: unknown) and position."""

    path: str
    status: str
    difference: float = math.nan
    where: str = ""


@dataclass(frozen=True)
class VerdictChange:
    """A claim whose verdict differs between two runs; `ABSENT` if a run has no row for the claim."""

    claim_id: str
    setup: str
    verdict_a: str
    verdict_b: str


@dataclass(frozen=True)
class Comparison:
    """The files of two runs and the changed verdicts."""

    files: list[FileComparison]
    verdicts: list[VerdictChange]
    is_of_record: bool = False
    """Whether a run is archived, with only the files and columns that the audit reads."""

    @property
    def counts(self) -> Counter:
        """The number of files of each status."""
        return Counter(file.status for file in self.files)

    @property
    def is_equal(self) -> bool:
        """Whether every file is byte-equal or numerically equal."""
        return all(file.status in (BYTE_EQUAL, NUMERICALLY_EQUAL) for file in self.files)

    def table(self) -> pd.DataFrame:
        """Return the files as a table: path, status, difference, where."""
        return pd.DataFrame(
            [vars(file) for file in self.files], columns=["path", "status", "difference", "where"]
        )


class _MismatchError(Exception):
    """Two values without a relative difference; the message names their position."""


def compare_runs(a: Path, b: Path, rtol: float = DEFAULT_RTOL) -> Comparison:
    """Compare two runs (results folders or crates) file by file.

    Compare tables, arrays and JSON by content if their bytes differ: numbers are equal up to a relative
    difference of `rtol`. Compare all other files by bytes, and files outside a crate by the digests in the
    crate. Ignore logs, benchmarks, hidden files, and the environment and output digests in the manifest. Of
    an archived run (`docs/records`), compare only the files and columns that it contains.
    """
    with opened_run(a, takes_record=True) as first, opened_run(b, takes_record=True) as second:
        in_a, in_b = set(first.files()), set(second.files())
        if not in_a | in_b:
            raise InputError(f"{a} and {b} contain no results; name two folders of results")
        files = []
        is_of_record = first.is_record or second.is_record
        for path in sorted(in_a | in_b):
            if path not in in_a or path not in in_b:
                if not (second if path in in_a else first).is_record:
                    files.append(FileComparison(path, ONLY_IN_A if path in in_a else ONLY_IN_B))
            elif path not in first.elsewhere and path not in second.elsewhere:
                files.append(compare_files(path, first.folder, second.folder, rtol, is_of_record))
            elif first.sha256(path) == second.sha256(path):
                files.append(FileComparison(path, BYTE_EQUAL, 0.0))
            else:
                reason = "only its sha256 is in a crate"
                files.append(FileComparison(path, DIFFERENT, math.nan, reason))
        verdicts = _verdict_changes(first.folder / CLAIMS, second.folder / CLAIMS)
        return Comparison(files, verdicts, is_of_record)


def compare_files(path: str, a: Path, b: Path, rtol: float, is_part: bool = False) -> FileComparison:
    """Compare the file `path` of two folders; for an archived run (`is_part`), only the shared columns."""
    first, second = a / path, b / path
    if filecmp.cmp(first, second, shallow=False):
        return FileComparison(path, BYTE_EQUAL, 0.0)
    reader = _READERS.get(first.suffix)
    if reader is None:
        return FileComparison(path, DIFFERENT, math.nan, "this kind of file is compared by bytes alone")
    try:
        x, y = reader(first), reader(second)
        difference, where = _largest(*(_shared(x, y) if is_part else (x, y)))
    except _MismatchError as mismatch:
        return FileComparison(path, DIFFERENT, math.nan, str(mismatch))
    if difference <= rtol:
        return FileComparison(path, NUMERICALLY_EQUAL, difference, where)
    return FileComparison(path, DIFFERENT, difference, where)


def relative_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``|x - y| / max(|x|, |y|)``: 0 for equal numbers or two NaN, infinite for a single NaN."""
    same = (x == y) | (pd.isna(x) & pd.isna(y))
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = np.abs(x - y) / np.maximum(np.abs(x), np.abs(y))
    return np.where(same, 0.0, np.where(np.isnan(ratio), np.inf, ratio))


def _shared(
    x: Mapping[str, np.ndarray], y: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the columns of both tables, without texts that an archived run replaces by a dash."""
    first, second = {}, {}
    for name in (name for name in x if name in y):
        first[name], second[name] = x[name], y[name]
        if x[name].shape == y[name].shape:
            columns = (column for column in (x[name], y[name]) if column.dtype == object)
            kept = np.logical_and.reduce(
                [np.ones(x[name].shape, bool), *(values != _DASH for values in columns)]
            )
            if not kept.all():
                first[name], second[name] = x[name][kept], y[name][kept]
    if not first:
        raise _MismatchError("no column is in both")
    return first, second


def _largest(x: Mapping[str, np.ndarray], y: Mapping[str, np.ndarray]) -> tuple[float, str]:
    """Return the largest relative difference of named arrays, and its position."""
    lone = sorted(set(x) ^ set(y))
    if lone:
        raise _MismatchError(f"{lone[0]} is only in {'A' if lone[0] in x else 'B'}")
    largest, where = 0.0, ""
    for name in x:
        first, second = x[name], y[name]
        if first.shape != second.shape:
            shapes = (" x ".join(map(str, part.shape)) or "a single number" for part in (first, second))
            raise _MismatchError("{}: shape {} in A, {} in B".format(name, *shapes))
        if not first.size:
            continue
        is_numeric = all(np.issubdtype(part.dtype, np.number) for part in (first, second))
        if is_numeric:
            difference = relative_difference(first, second)
        else:
            difference = ~((first == second) | (pd.isna(first) & pd.isna(second)))
        index = np.unravel_index(int(np.argmax(difference)), first.shape)
        place = f"{name}[{', '.join(map(str, index))}]" if index else name
        if not is_numeric and difference[index]:
            raise _MismatchError(f"{place}: '{first[index]}' in A, '{second[index]}' in B")
        if difference[index] > largest:
            largest = float(difference[index])
            where = f"{place}: {first[index]!s} in A, {second[index]!s} in B"
    return largest, where


def _table_arrays(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the columns of a table as arrays: numbers stay numbers, other values become objects."""
    return {
        str(name): column.to_numpy()
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        else column.to_numpy(dtype=object, na_value=None)
        for name, column in table.items()
    }


def _json_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the leaves of a JSON file by path; of a manifest, only the keys that every run must repeat."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable JSON ({error})") from error
    if path.parts[-2:] == tuple(MANIFEST.split("/")) and isinstance(value, dict):
        value = {key: part for key, part in value.items() if key not in (VARIABLE_KEY, "outputs")}
    return {
        name: np.asarray(leaf, np.float64 if type(leaf) in (int, float) else object)
        for name, leaf in _leaves("", value)
    }


def _leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the scalars, empty lists and empty mappings of a JSON value with their paths."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _leaves(f"{name}.{key}" if name else key, part)
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from _leaves(f"{name}[{index}]", part)
    else:
        yield name, str(value) if isinstance(value, dict | list) else value


_READERS = {
    ".tsv": lambda path: _table_arrays(read_tsv(path)),
    ".parquet": lambda path: _table_arrays(read_parquet(path)),
    ".npz": read_npz,
    ".json": _json_arrays,
}


def _verdict_changes(a: Path, b: Path) -> list[VerdictChange]:
    """Return the claims with different verdicts; an empty list if a run has no audit."""
    if not (a.is_file() and b.is_file()):
        return []
    x, y = (
        {
            (row["claim_id"], row["setup"]): row["verdict"]
            for _, row in read_text_table(path, ("claim_id", "setup", "verdict"))
        }
        for path in (a, b)
    )
    pairs = [(key, x.get(key, ABSENT), y.get(key, ABSENT)) for key in {**x, **y}]
    return [VerdictChange(*key, first, second) for key, first, second in pairs if first != second]
