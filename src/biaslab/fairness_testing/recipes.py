"""Recipes of registered data sets: the clusters of rows, and the table of COMPAS scores (ProPublica 2016).

A k-means clustering of scikit-learn, pickled by joblib, is read without importing any name in the pickle. The
few required names are mapped to passive classes of this module, which only store their arguments. Any other
name is refused.

The COMPAS table has only columns for tests of fairness. Its rows are those of ProPublica's analysis:
screening within 30 days of the arrest, known outcome, not only an ordinary traffic offence, and a score.
Names, dates of birth and case numbers are left out.
"""

import csv
import io
import math
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.core.errors import InputError

_KINDS = ("f8", "i4")


class _Stored:
    """Store the arguments and the state from the stream."""

    def __init__(self, *arguments: Any):
        self.arguments, self.state = arguments, None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Clustering(_Stored):
    pass


class _DataType(_Stored):
    pass


class _Reader(pickle.Unpickler):
    """Read a stream in which the bytes of an array follow its description."""

    def __init__(self, data: bytes):
        stream = io.BytesIO(data)
        self.rest = stream.read

        class Array(_Stored):
            def __setstate__(self, state: dict[str, Any]) -> None:
                self.values = _numbers(state, stream)

        class Exactly:  # without `peek`, so that no byte is read ahead
            read, readline = stream.read, stream.readline

        super().__init__(Exactly())
        self._classes = {
            "sklearn.cluster.k_means_ KMeans": _Clustering,
            "sklearn.externals.joblib.numpy_pickle NumpyArrayWrapper": Array,
            "numpy dtype": _DataType,
            "numpy.core.multiarray scalar": _Stored,
            "numpy ndarray": _Stored,
        }

    def find_class(self, module: str, name: str) -> type:
        """Return the class for an allowed name; refuse other names."""
        if f"{module} {name}" not in self._classes:
            raise pickle.UnpicklingError(f"the name {f'{module} {name}'[:80]!r} is not allowed")
        return self._classes[f"{module} {name}"]


def write_labels(files: Sequence[Path], target: Path) -> None:
    """Write the cluster of every row, one a line after the header ``cluster``, without running the pickle."""
    (path,) = files
    try:
        reader = _Reader(path.read_bytes())
        clustering = reader.load()
        if reader.rest(1):
            raise ValueError("data follow the end")
        if not (isinstance(clustering, _Clustering) and isinstance(clustering.state, dict)):
            raise ValueError("the file contains no clustering")
        labels = getattr(clustering.state.get("labels_"), "values", None)
        if not (isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype == np.dtype("<i4")):
            raise ValueError("labels_ is not a list of integers")
    except Exception as error:  # a damaged stream raises various exceptions
        reason = " ".join(str(error).split())  # pickle breaks lines in some messages
        raise InputError(f"{path}: not a pickled k-means clustering ({reason}); refused") from error
    lines = ["cluster", *map(str, labels), ""]
    target.write_text("\n".join(lines), encoding="ascii", newline="\n")


def _numbers(state: dict[str, Any], stream: io.BytesIO) -> np.ndarray:
    """Read the numbers of an array from the stream."""
    shape, kind = state["shape"], state["dtype"]
    if not all(type(length) is int and length >= 0 for length in shape) or state["order"] not in ("C", "F"):
        raise ValueError("an array has an unexpected form")
    if not isinstance(kind, _DataType) or kind.arguments[0] not in _KINDS or kind.state[1] != "<":
        raise ValueError("an array has an unexpected number type")
    dtype = np.dtype(f"<{kind.arguments[0]}")
    data = stream.read(math.prod(shape) * dtype.itemsize)
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array is cut off")
    return np.frombuffer(data, dtype).reshape(shape, order=state["order"])


COMPAS_COLUMNS = (
    *("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    *("c_charge_degree", "decile_score", "two_year_recid"),
)
_DAYS = 30
_READ = (*COMPAS_COLUMNS, "days_b_screening_arrest", "is_recid", "score_text")


def write_compas(files: Sequence[Path], target: Path) -> None:
    """Write the selected rows and columns unchanged; for duplicate columns, the first."""
    (path,) = files
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            header, rows = next(reader, []), []
            for row in reader:
                if len(row) != len(header):
                    n, line = f"{len(header)} fields, found {len(row)}", reader.line_num
                    raise InputError(f"{path}, line {line}: expected {n}; download the file again")
                rows.append(row)
            if missing := [name for name in _READ if name not in header]:
                raise InputError(f"{path}: has no column '{missing[0]}'; get compas-scores-two-years.csv")
            places = {name: header.index(name) for name in _READ}
            kept = [[row[places[name]] for name in COMPAS_COLUMNS] for row in rows if _is_kept(row, places)]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not ProPublica's table ({error}); download it again") from error
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COMPAS_COLUMNS, *kept])


def _is_kept(row: Sequence[str], places: dict[str, int]) -> bool:
    days = row[places["days_b_screening_arrest"]]
    return (
        days != ""
        and abs(int(days)) <= _DAYS
        and row[places["is_recid"]] != "-1"
        and row[places["c_charge_degree"]] != "O"
        and row[places["score_text"]] != "N/A"
    )
