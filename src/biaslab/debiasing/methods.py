"""Methods of debiasing, from Bolukbasi et al. 2016 and later work, with a common interface: `debias`.

*Double-Hard Debias* (Wang et al. 2020, "Double-Hard Debias", Algorithm 1).

Word frequency distorts the direction of the bias, so that one more direction is removed first:

    w~ = w - μ                                 for every word w, with μ the mean of all
    u_1, u_2, ... : principal components of the w~
    for each of the first i:   w' = w~ - (u_iᵀ w) u_i,   w'' = HardDebias(w'),
                               a_i = accuracy of two clusters of the words most biased before
    k = argmin a_i, and the result is HardDebias(w~ - (u_kᵀ w) u_k)

u_iᵀ w is the product with the word itself, not with w~, as in the algorithm and its authors' code; both
differ by the same vector for all words. HardDebias is that of this project, with its word lists, on unit
vectors; its direction is recomputed from the given vectors.

*Iterative nullspace projection, INLP* (Ravfogel et al. 2020, "Null It Out", Algorithm 1).

A linear classifier learns which words are female, male or neutral; its weights W span the separating
directions, and all words are projected onto the nullspace of W. This is repeated on the projected words:

    P = I
    for i = 1, 2, ...:   W_i = classifier of P x,   P = projection onto the intersection of the nullspaces
                                                        of W_1, ..., W_i

The classifier, its data and the 35 rounds are from the paper's experiment on word embeddings (Section 6.1): a
linear support vector machine without intercept on the words nearest to both ends of the bias direction and as
many random words with a cosine below 0.03; 49% of them are for training and 21% for testing. Two things are
ours. A class has at most a tenth of the vocabulary, because the paper has 7,500 words of 150,000. The rounds
end when a classifier is no better on held-out words than guessing their most frequent class, because the
nullspace of chance is not that of the bias.
"""

from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.remaining import cluster_accuracy, extreme_words
from biaslab.debiasing.subspace import find_subspace

N_COMPONENTS = 20  # the number of tried components, as in the paper's figure
PER_SIDE = 500  # the number of most biased words of each gender in the clusters (Section 3.2)

N_ROUNDS = 35
PER_CLASS = 7500
SHARE_OF_VOCABULARY = 0.1
NEUTRAL_COSINE = 0.03
TRAIN_SHARE, TEST_SHARE = 0.49, 0.21
_RANK = 1e-10


class Examples(NamedTuple):
    """Words of three classes, split into training and test words of a classifier."""

    train: np.ndarray  # rows, (n,) int64
    test: np.ndarray
    train_labels: np.ndarray  # 1 for the female end, -1 for the male end, 0 for neutral words
    test_labels: np.ndarray


def debias(name: str, experiment: Experiment) -> np.ndarray:
    """Return the vectors after a method: unit vectors, float64 (V, d)."""
    if name not in METHODS:
        raise InputError(
            f"unknown method of debiasing '{name}' (known: {', '.join(METHODS)}){suggest(name, METHODS)}"
        )
    return METHODS[name](experiment)


def debias_double_hard(experiment: Experiment) -> np.ndarray:
    """Return the vectors after Double-Hard Debias: float64 (V, d), of unit length."""
    components = principal_components(experiment.embedding.vectors)
    best, _ = find_frequency(experiment, components[:N_COMPONENTS])
    return _debias_without(experiment, components[best], np.arange(len(experiment.words)))


def find_frequency(experiment: Experiment, components: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the row of the best component (n, d) to remove first, and a_i of every component, (n,)."""
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


def debias_inlp(experiment: Experiment) -> np.ndarray:
    """Return the vectors after INLP of all words: float64 (V, d), of unit length."""
    projection, _ = find_projection(experiment)
    vectors = experiment.embedding.vectors.astype(np.float64) @ projection
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (lengths > _RANK).all():
        word = experiment.words[int(lengths.argmin())]
        raise InputError(
            f"INLP leaves nothing of the vector of '{word}': {vectors.shape[1]} dimensions are too few;"
            " use an embedding with more"
        )
    return vectors / lengths


def find_projection(experiment: Experiment) -> tuple[np.ndarray, list[float]]:
    """Return the projection P (d, d) that removes the separating directions, and each round's accuracy."""
    vectors = experiment.embedding.vectors.astype(np.float64)
    examples = choose_examples(experiment)
    most_frequent = np.unique(examples.test_labels, return_counts=True)[1].max() / len(examples.test)
    dimension = vectors.shape[1]
    projection, spanned, accuracies = np.eye(dimension), np.empty((0, dimension)), []
    for _ in range(N_ROUNDS):
        weights, accuracy = _fit(vectors @ projection, examples, experiment.settings.seed)
        accuracies.append(accuracy)
        if accuracy <= most_frequent:
            break
        spanned = np.concatenate([spanned, weights])
        projection = nullspace_projection(spanned)
    return projection, accuracies


def nullspace_projection(weights: np.ndarray) -> np.ndarray:
    """Return the orthogonal projection onto the nullspace of weights (n, d): float64 (d, d)."""
    _, sizes, rows = np.linalg.svd(weights, full_matrices=False)
    span = rows[sizes > _RANK * sizes[0]] if sizes[0] > 0 else rows[:0]
    return np.eye(weights.shape[1]) - span.T @ span


def choose_examples(experiment: Experiment) -> Examples:
    """Choose the words of the three classes by their bias before debiasing, and split them."""
    bias = experiment.bias
    per_class = min(PER_CLASS, int(SHARE_OF_VOCABULARY * len(bias)))
    rng = stream(experiment.settings.seed, "inlp")
    ends = extreme_words(bias, np.arange(len(bias)), per_class)
    undecided = np.setdiff1d(np.flatnonzero(np.abs(bias) < NEUTRAL_COSINE), ends.rows)
    per_class = min(len(ends.rows) // 2, len(undecided))
    if per_class < 10:
        raise InputError(
            f"INLP finds {per_class} words a class among {len(bias)} words and needs 10;"
            " use an embedding of more words"
        )
    neutral = np.sort(rng.choice(undecided, per_class, replace=False))
    female, male = ends.rows[ends.labels == 1][:per_class], ends.rows[ends.labels == 0][:per_class]
    rows = np.concatenate([female, male, neutral])
    labels = np.repeat([1, -1, 0], per_class)
    order = rng.permutation(len(rows))
    n_train, n_test = int(TRAIN_SHARE * len(rows)), int(TEST_SHARE * len(rows))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    return Examples(rows[train], rows[test], labels[train], labels[test])


def _fit(vectors: np.ndarray, examples: Examples, seed: int) -> tuple[np.ndarray, float]:
    from sklearn.svm import LinearSVC
    from threadpoolctl import threadpool_limits

    machine = LinearSVC(dual=False, fit_intercept=False, random_state=seed)
    with threadpool_limits(1):  # threads change the order of sums
        machine.fit(vectors[examples.train], examples.train_labels)
    return machine.coef_, float(machine.score(vectors[examples.test], examples.test_labels))


METHODS = {
    "none": lambda experiment: experiment.embedding.vectors.astype(np.float64),
    "hard": Experiment.hard,
    "soft": lambda experiment: next(experiment.soft([experiment.penalty]))[1],
    "double_hard": debias_double_hard,
    "inlp": debias_inlp,
}
"""The function of each method; `settings.METHODS` has their titles."""
