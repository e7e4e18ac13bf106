"""Double-Hard Debias (Wang et al. 2020, "Double-Hard Debias", Algorithm 1).

Word frequency distorts the direction of the bias, so that one more direction is removed first:

    w~ = w - μ                                 for every word w, with μ the mean of all
    u_1, u_2, ... : principal components of the w~
    for each of the first i:   w' = w~ - (u_iᵀ w) u_i,   w'' = HardDebias(w'),
                               a_i = accuracy of two clusters of the words most biased before
    k = argmin a_i, and the result is HardDebias(w~ - (u_kᵀ w) u_k)

u_iᵀ w is the product with the word itself, not with w~, as in the algorithm and its authors' code; both
differ by the same vector for all words. HardDebias is that of this project, with its word lists, on unit
vectors; its direction is recomputed from the given vectors.
"""

import numpy as np

from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.remaining import cluster_accuracy, extreme_words
from biaslab.debiasing.subspace import find_subspace

N_COMPONENTS = 20
"""The number of tried components, as in the paper's figure."""
PER_SIDE = 500
"""The number of most biased words of each gender in the clusters (Section 3.2)."""


def debias_double_hard(experiment: Experiment) -> np.ndarray:
    """Return the vectors after Double-Hard Debias: float64 (V, d), of unit length."""
    components = principal_components(experiment.embedding.vectors)
    best, _ = find_frequency(experiment, components[:N_COMPONENTS])
    return _debias_without(experiment, components[best], np.arange(len(experiment.words)))


def find_frequency(experiment: Experiment, components: np.ndarray) -> tuple[int, np.ndarray]:
    """Find the component (n, d) whose removal makes hard debiasing hide the bias best.

    Return its row, the first if tied, and a_i of every component, (n,) float64.
    """
    words = extreme_words(experiment.bias, experiment.neutral, PER_SIDE)
    lists = experiment.lists
    in_lists = [row for rows in (*lists.defining.rows, *lists.equalize.rows) for row in rows]
    rows = np.union1d(words.rows, in_lists).astype(np.int64)  # only these words affect the clusters
    places = np.searchsorted(rows, words.rows)
    accuracies = [
        cluster_accuracy(
            _debias_without(experiment, component, rows)[places], words.labels, experiment.settings.seed
        )
        for component in components
    ]
    return int(np.argmin(accuracies)), np.array(accuracies)


def principal_components(vectors: np.ndarray) -> np.ndarray:
    """Return the principal components of vectors (V, d): orthonormal rows (d, d), largest variance first."""
    vectors = np.asarray(vectors, dtype=np.float64)
    centred = vectors - vectors.mean(axis=0)
    values, components = np.linalg.eigh(centred.T @ centred)
    components = components[:, np.argsort(values)[::-1]].T
    signs = np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])
    return components * signs[:, None]


def _debias_without(experiment: Experiment, direction: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Centre, remove a direction (d,), and hard-debias the words in rows, which include those of all sets."""
    vectors, lists = experiment.embedding.vectors, experiment.lists
    chosen = vectors[rows].astype(np.float64)
    purified = chosen - vectors.mean(axis=0, dtype=np.float64) - np.outer(chosen @ direction, direction)
    purified /= np.linalg.norm(purified, axis=1, keepdims=True)
    defining, equalize = (
        [np.searchsorted(rows, of_set).tolist() for of_set in sets]
        for sets in (lists.defining.rows, lists.equalize.rows)
    )
    basis = find_subspace(purified, defining, experiment.settings.components).basis
    neutral = np.flatnonzero(np.isin(rows, experiment.neutral))
    return hard_debias(purified, [experiment.words[row] for row in rows], basis, neutral, equalize)
