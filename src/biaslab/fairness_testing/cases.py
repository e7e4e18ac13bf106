"""Inputs of the tests of a classifier: data, network and seeds, prepared once for all searches."""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.networks import load_network, save_network
from biaslab.classifiers.schema import MAX_PROTECTED_VALUES, load_schema
from biaslab.classifiers.training import train
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table
from biaslab.core.io import read_npz, write_npz, write_tsv
from biaslab.fairness_testing.settings import COLUMNS
from biaslab.fairness_testing.testers.contract import Subject, Task

NETWORK, DATA, SUMMARY = "network.npz", "data.npz", "classifiers.tsv"
"""The files of a classifier that `prepare` writes."""
N_CLUSTERS = 4
RANDOM_STATE = 2019
N_INIT = 10


def cluster(X: np.ndarray, n_clusters: int = N_CLUSTERS) -> np.ndarray:
    """Return the k-means clusters of rows, (n,) int64, with the constants of the authors' published code.

    Clusters are numbered by first appearance, because `take_turns` depends on their order.
    """
    if len(X) < n_clusters:
        raise InputError(f"{len(X)} rows cannot form {n_clusters} clusters; give at least {n_clusters} rows")
    with threadpool_limits(1):  # threads change the order of sums
        labels = KMeans(n_clusters, n_init=N_INIT, random_state=RANDOM_STATE).fit_predict(X.astype(float))
    return pd.factorize(labels)[0]


def read_clusters(path: Path, n_rows: int) -> np.ndarray:
    """Return the clusters of the rows of a data set from a file, (n,) int64."""
    rows = read_text_table(path, ("cluster",))
    for line, row in rows:
        if not row["cluster"].isdecimal():
            text = row["cluster"]
            raise InputError(f"{path}, line {line}: the cluster '{text}' is not a whole number; correct it")
    if len(rows) != n_rows:
        raise InputError(
            f"{path}: expected the clusters of {n_rows} rows, found {len(rows)}; name the right file"
        )
    return np.array([int(row["cluster"]) for _, row in rows], np.int64)


def take_turns(clusters: np.ndarray, n: int) -> np.ndarray:
    """Return at most `n` rows, the first of each cluster, then the second, and so on (the published code)."""
    turns = pd.Series(clusters).groupby(clusters).cumcount()
    return np.lexsort((clusters, turns))[:n]


@dataclass(frozen=True)
class Case:
    """A classifier and the attributes that vary within a pair of samples."""

    classifier: str
    attribute: str  # the protected attribute, or several separated by commas
    subject: Subject
    X: np.ndarray  # (N, d) int32, the data
    seeds: np.ndarray  # (n, d) int32, rows of the data from which searches start
    # First and last value of the protected attribute in the authors' code, if different from the domain's.
    published_bounds: tuple[int, int] | None = None

    def task(self, **options: Any) -> Task:
        """Return the task of a search from the seeds."""
        seeds = options.pop("seeds", self.seeds)
        return Task(self.subject, self.X, seeds, len(seeds), **options)

    def named(self, table: pd.DataFrame, file: str) -> pd.DataFrame:
        """Return a table of the case with the columns of a result file."""
        names = {"classifier": self.classifier, "protected": self.attribute}
        return table.assign(**names).reindex(columns=COLUMNS[file])


def prepare(
    folder: Path,
    data: Path,
    schema: Path,
    seeds: int,
    training_epochs: int,
    seed: int,
    network: Path | None = None,
    clusters: Path | None = None,
) -> None:
    """Read or train a classifier, encode its data and choose the seeds; the folder is named after it."""
    described = load_schema(schema)
    table = read_table(data, described)
    n_classes = len(described.classes)
    if network is None:
        classifier = train(table.X, table.y, n_classes, epochs=training_epochs, seed=seed)
    else:
        classifier = load_network(network)
    sizes, expected = (classifier.n_attributes, classifier.n_classes), (table.X.shape[1], n_classes)
    if sizes != expected:
        raise InputError(
            f"{network}: the network has {sizes[0]} attributes and {sizes[1]} classes, but {described.name}"
            f" has {expected[0]} and {expected[1]}; name files of the same data"
        )
    numbers = read_clusters(clusters, len(table.X)) if clusters else cluster(table.X)
    save_network(folder / NETWORK, classifier)
    write_npz(folder / DATA, X=table.X, y=table.y, seeds=take_turns(numbers, seeds))
    layers = zip(classifier.weights, classifier.biases, strict=True)
    row = {
        "classifier": folder.name,
        "n_rows": len(table.X),
        "n_attributes": table.X.shape[1],
        "n_outside": table.n_outside,
        "positives": float(np.mean(table.y == 1)),
        "n_layers": len(classifier.weights),
        "accuracy": classifier.accuracy(table.X, table.y),
        "trained": "yes" if network is None else "no",
        # Digests identify the authors' files.
        "data": _digest([table.X.astype("<i4"), table.y.astype("<i8")]),
        "weights": _digest([array.astype("<f4") for layer in layers for array in layer]),
    }
    write_tsv(folder / SUMMARY, pd.DataFrame([row]))


def _digest(arrays: Sequence[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def load_cases(folder: Path, schema: Path, bounds: Path | None = None, together: int = 1) -> Iterator[Case]:
    """Yield a classifier with each of its protected attributes, and with at most `together` of them jointly.

    `bounds` is another schema, with the bounds of a single protected attribute in the mode ``published``.
    """
    described, network = load_schema(schema), load_network(folder / NETWORK)
    arrays, domain = read_npz(folder / DATA), described.domain
    other = load_schema(bounds).domain if bounds else None
    rows = arrays["X"][arrays["seeds"]]
    for size in range(1, together + 1):
        for names in itertools.combinations(described.protected, size):
            columns, published_bounds = list(domain.columns(names)), None
            n_values = int(np.prod((domain.high - domain.low + 1)[columns], dtype=object))
            if size > 1 and (n_values > MAX_PROTECTED_VALUES or size == domain.n_attributes):
                continue  # too many joint values, or no other attribute to perturb
            if other and size == 1:
                if columns[0] >= other.n_attributes:
                    size = f"the schema has {other.n_attributes} attributes"
                    raise InputError(f"{bounds}: {size}; name one with {columns[0] + 1}")
                published_bounds = int(other.low[columns[0]]), int(other.high[columns[0]])
            subject = Subject(network, domain, described.protect(names))
            yield Case(folder.name, ",".join(names), subject, arrays["X"], rows, published_bounds)


def save_found(file: Path, finds: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write samples, (n, d) int32 each, by protected attribute and tester."""
    arrays = {f"{name}:{tester}": X for name, of_name in finds.items() for tester, X in of_name.items()}
    write_npz(file, **arrays)


def load_found(file: Path, attribute: str, testers: Iterable[str]) -> dict[str, np.ndarray]:
    """Read the samples of one protected attribute, by tester."""
    keys = {tester: f"{attribute}:{tester}" for tester in testers}
    arrays = read_npz(file, tuple(keys.values()))
    return {tester: arrays[key] for tester, key in keys.items()}
