"""Where a search starts: rows of the data in turn from clusters (the published code of Zhang et al. 2021)."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from biaslab.core.errors import InputError

N_CLUSTERS = 4
RANDOM_STATE = 2019
N_INIT = 10


def cluster(X: np.ndarray, n_clusters: int = N_CLUSTERS) -> np.ndarray:
    """Return the k-means clusters of the rows of a data set, on raw values, (n,) int64.

    The order of the clusters matters for `take_turns`; k-means has none, so they are numbered as they first
    appear. The constants are those of the authors' published code.
    """
    if len(X) < n_clusters:
        raise InputError(f"{len(X)} rows cannot make {n_clusters} clusters; give more rows")
    with threadpool_limits(1):  # sums are regrouped among threads
        found = KMeans(n_clusters, n_init=N_INIT, random_state=RANDOM_STATE).fit_predict(X.astype(float))
    present, first, numbers = np.unique(found, return_index=True, return_inverse=True)
    order = np.empty(len(present), np.int64)
    order[np.argsort(first)] = np.arange(len(present))
    return order[numbers]


def take_turns(clusters: np.ndarray, n: int) -> np.ndarray:
    """Return rows taken in turn from the clusters: the first of each, the second of each, and so on.

    Clusters take turns in the order of their numbers, rows within one in the order of the data; a cluster
    without rows left is passed over (the authors' published code). Fewer than `n` where there are no more
    rows; each at most once.
    """
    if n < 1 or not len(clusters):
        raise InputError(
            f"cannot take {n} seeds from {len(clusters)} rows; take at least one from at least one"
        )
    by_cluster = np.argsort(clusters, kind="stable")
    sizes = np.unique(clusters, return_counts=True)[1]
    turns = np.empty(len(clusters), np.int64)
    turns[by_cluster] = np.arange(len(clusters)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.lexsort((clusters, turns))[:n]
