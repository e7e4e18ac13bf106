"""Methods of debiasing, and what remains of a bias after them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.svm import SVC

from biaslab.core.rng import stream
from biaslab.debiasing import comparison, methods, remaining
from biaslab.debiasing.benchmarks import Benchmarks
from biaslab.debiasing.experiment import Experiment, read_lists
from biaslab.debiasing.methods import METHODS, debias
from biaslab.debiasing.remaining import cluster_accuracy, extreme_words
from biaslab.debiasing.report import figures
from biaslab.debiasing.settings import COMPARED, Settings, Sizes
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from debiasing_data import write_lists
from naive import debiasing as naive
from refusals import refused

N_WORDS, DIMENSION = 400, 16
PAIRS = [("she", "he"), ("her", "his"), ("woman", "man"), ("mother", "father"), ("aunt", "uncle")]
OCCUPATIONS = [f"work{i}" for i in range(20)]
WORDS = [*(word for pair in PAIRS for word in pair), *OCCUPATIONS, *(f"word{i}" for i in range(N_WORDS))]
LISTS = {
    "defining": {"sets": [list(pair) for pair in PAIRS[:4]]},
    "equalize": {"sets": [list(pair) for pair in PAIRS]},
    "occupations": {"words": OCCUPATIONS},
    "gender_specific": {"words": [word for pair in PAIRS for word in pair]},
}


def vectors(linked: bool):
    """Return word vectors with a bias in the first dimension; `linked` words hold it in others as well."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(len(WORDS), DIMENSION))
    X[:10:2, 0], X[1:10:2, 0] = 4, -4
    X[1:10:2, 1:] = X[:10:2, 1:] + rng.normal(scale=0.05, size=(5, DIMENSION - 1))
    if linked:
        X[10:, 1:5] += 2 * np.sign(X[10:, [0]])
    return X.astype(np.float32)


def make(folder, linked):
    write_embedding(folder / "vectors.txt", WORDS, vectors(linked), "word2vec")
    embedding = read_unit_embedding(folder / "vectors.txt")
    ids = embedding.ids().exact
    return Experiment(embedding, read_lists(*write_lists(folder, LISTS), ids), ids, Settings(seed=3))


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    return make(tmp_path_factory.mktemp("linked"), linked=True)


@pytest.fixture(scope="module")
def lone(tmp_path_factory):
    return make(tmp_path_factory.mktemp("lone"), linked=False)


SIZES = Sizes(40, 100, 15, 4)


# --- methods


def test_all_methods_return_unit_vectors_and_leave_the_embedding_as_it_is(linked):
    before = linked.embedding.vectors.copy()
    for name in METHODS:
        made = debias(name, linked)
        assert made.shape == before.shape
        assert made.dtype == np.float64
        np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(linked.embedding.vectors, before)


def test_an_unknown_method_is_refused():
    with refused(r"unknown method of debiasing 'hardd'.*did you mean 'hard'"):
        debias("hardd", None)


def test_principal_components_are_those_of_the_covariance(linked):
    X = linked.embedding.vectors.astype(float)
    components = methods.principal_components(X)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(components @ components.T, np.eye(DIMENSION), atol=1e-12)
    variances = ((centred @ components.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(variances, np.linalg.svd(centred)[1] ** 2, rtol=1e-9)


def test_double_hard_removes_the_component_and_the_bias(linked):
    components = methods.principal_components(linked.embedding.vectors)
    best, accuracies = methods.find_frequency(linked, components)
    assert accuracies[best] == accuracies.min()
    expected = naive.double_hard_component(linked.embedding.vectors, best)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    made = methods.debias_double_hard(linked)
    basis = np.linalg.svd(made[linked.neutral])[2]
    assert np.linalg.svd(made[linked.neutral])[1][-1] < 1e-8  # a direction is empty: that of the bias
    neutral = expected[linked.neutral] - np.outer(expected[linked.neutral] @ basis[-1], basis[-1])
    neutral /= np.linalg.norm(neutral, axis=1, keepdims=True)
    np.testing.assert_allclose(made[linked.neutral], neutral, atol=1e-6)


def test_double_hard_clusters_the_words_as_if_all_were_debiased(linked):
    components = methods.principal_components(linked.embedding.vectors)[:4]
    everything = np.arange(len(linked.words))
    words = extreme_words(linked.bias, linked.neutral, methods.PER_SIDE)
    debiased = [methods._debias_without(linked, component, everything) for component in components]
    expected = [cluster_accuracy(of[words.rows], words.labels, linked.settings.seed) for of in debiased]
    _, accuracies = methods.find_frequency(linked, components)
    np.testing.assert_array_equal(accuracies, expected)
    assert len(set(accuracies)) > 1


def test_nullspace_projection_is_that_of_gram_schmidt():
    weights = np.random.default_rng(1).normal(size=(4, 9))
    weights = np.concatenate([weights, weights[:1] * 2])  # a row that adds nothing
    made = methods.nullspace_projection(weights)
    np.testing.assert_allclose(made, naive.intersection_of_nullspaces(weights), atol=1e-12)
    np.testing.assert_allclose(weights @ made, 0, atol=1e-12)
    np.testing.assert_allclose(methods.nullspace_projection(np.zeros((2, 3))), np.eye(3))


def test_inlp_ends_at_chance(linked):
    projection, accuracies = methods.find_projection(linked)
    labels = methods.choose_examples(linked).test_labels
    most_frequent = np.unique(labels, return_counts=True)[1].max() / len(labels)
    assert accuracies[0] > most_frequent + 0.15
    assert accuracies[-1] <= most_frequent
    assert len(accuracies) < methods.N_ROUNDS
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-10)
    np.testing.assert_allclose(projection, projection.T, atol=1e-12)


def test_inlp_removes_nothing_where_labels_are_chance(linked, monkeypatch):
    examples = methods.choose_examples(linked)
    rng = np.random.default_rng(0)
    shuffled = examples._replace(
        train_labels=rng.permutation(examples.train_labels), test_labels=rng.permutation(examples.test_labels)
    )
    monkeypatch.setattr(methods, "choose_examples", lambda experiment: shuffled)
    monkeypatch.setattr(methods, "_fit", lambda *given: (np.ones((3, DIMENSION)), 0.2))
    projection, accuracies = methods.find_projection(linked)
    np.testing.assert_array_equal(projection, np.eye(DIMENSION))
    assert accuracies == [0.2]


def test_examples_of_inlp_are_balanced_and_disjoint(linked):
    examples = methods.choose_examples(linked)
    rows = np.concatenate([examples.train, examples.test])
    assert len(set(rows)) == len(rows)
    labels = np.concatenate([examples.train_labels, examples.test_labels])
    bias = linked.bias[rows]
    assert (bias[labels == 1] > 0).all()
    assert (bias[labels == -1] < 0).all()
    assert (np.abs(bias[labels == 0]) < methods.NEUTRAL_COSINE).all()


# --- what remains


def test_extreme_words_are_the_ends_and_never_the_middle():
    bias = np.array([0.5, -0.2, 0.1, -0.9, 0.0, 0.3, -0.1, 0.2])
    words = extreme_words(bias, range(8), 2)
    assert words.rows.tolist() == [0, 5, 3, 1]
    assert words.labels.tolist() == [1, 1, 0, 0]
    assert extreme_words(bias, range(8), 100).rows.tolist() == [0, 5, 3, 1]  # a quarter of each end
    with refused("fewer than two at an end"):
        extreme_words(np.abs(bias), range(8), 2)


def test_clusters_and_a_classifier_tell_separated_words_and_not_mixed_ones():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], 200)
    apart = rng.normal(size=(400, 5)) + 10 * labels[:, None]
    assert cluster_accuracy(apart, labels) == 1
    assert cluster_accuracy(rng.normal(size=(400, 5)), labels) < 0.6
    mixed = rng.normal(size=(400, 5)) + 2 * labels[:, None]
    found = KMeans(2, n_init=remaining.N_STARTS, random_state=1).fit_predict(mixed)
    assert cluster_accuracy(mixed, labels) == pytest.approx(naive.best_alignment(found, labels))
    words = remaining.ExtremeWords(np.arange(400), labels)
    case = remaining.Case(labels, np.arange(400), words.rows, words, words, 10, 1)
    assert remaining.measure_classifier(case, apart).value == 1
    mixed = remaining.measure_classifier(case, rng.normal(size=(400, 5)))
    assert abs(mixed.value - 0.5) < 0.07
    assert mixed.ci_low < mixed.value < mixed.ci_high


def test_the_classifier_is_scikit_learns(linked):
    words = extreme_words(linked.bias, linked.neutral, 100)
    points = linked.embedding.vectors.astype(float)[words.rows]
    train = remaining._training_rows(words.labels, stream(1, "leftover-classifier", 0))
    expected = SVC().fit(points[train], words.labels[train]).score(points[~train], words.labels[~train])
    assert remaining.split_accuracy(points, words.labels) == pytest.approx(expected, abs=1e-12)
    assert train.sum() == 2 * round(remaining.TRAIN_SHARE * len(train) / 2)


def test_neighbour_shares_are_those_of_the_definition(linked):
    X, bias = linked.embedding.vectors.astype(float), linked.bias
    X[30] = X[31]  # two words at the same place
    rows = linked.lists.neutral_occupations
    made = remaining.neighbour_shares(X, rows, bias, linked.neutral, 15)
    expected = [naive.neighbour_share(X, row, bias, linked.neutral, 15) for row in rows]
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_a_correlation_of_constant_shares_is_not_a_number():
    bias, rows = np.arange(1.0, 6.0), np.arange(5)  # all neighbours are of one gender
    case = remaining.Case(bias, rows, rows, None, None, 2, 1)
    found = remaining.measure_neighbours(case, np.eye(5))
    assert np.isnan([found.value, found.ci_low, found.ci_high]).all()
    assert found.n == 5


# --- side by side


def value(table, method, measure):
    return table.set_index(["method", "measure"]).loc[(method, measure), "value"]


def compared(experiment):
    return comparison.compare_methods(experiment, SIZES, COMPARED, [], Benchmarks({}, {}))


@pytest.fixture(scope="module")
def held(linked):
    return compared(linked)


@pytest.fixture(scope="module")
def gone(lone):
    return compared(lone)


def test_what_remains_is_told_from_what_is_removed(held, gone):
    for table in (held, gone):
        assert value(table, "none", "direct_bias") > 0.1
        assert value(table, "hard", "direct_bias") < 1e-6
    assert value(held, "hard", "cluster_accuracy") > 0.9
    assert value(gone, "hard", "cluster_accuracy") < 0.7
    assert value(held, "hard", "classifier_accuracy") > 0.9
    assert abs(value(gone, "hard", "classifier_accuracy") - 0.5) < 0.15
    assert value(held, "inlp", "classifier_accuracy") < value(held, "hard", "classifier_accuracy")


def test_random_directions_leave_nothing_where_words_are_noise(lone, gone):
    rows = gone[gone["method"].isin(comparison.CHANCE)]
    assert set(rows["measure"]) == {"cluster_accuracy", "classifier_accuracy", "neighbour_correlation"}
    assert (rows["ci_low"] < rows["value"]).all()
    assert (rows["value"] < 0.75).all()
    case = comparison.make_case(lone, SIZES)
    assert comparison.measure_chance(lone, case, comparison.CHANCE[0], 0) == []


def test_the_same_seed_gives_the_same_numbers(linked, held):
    pd.testing.assert_frame_equal(compared(linked), held)


# --- table and figures


def test_quality_kept_is_the_mean_score_in_percent():
    rows = [("none", "rg65", 50.0), ("none", "msr", 100.0), ("hard", "rg65", 25.0), ("hard", "msr", 50.0)]
    rows += [("none", "wordsim353", 10.0), ("hard", "wordsim353", np.nan), ("hard", "moved", 3.0)]
    kept = figures.quality_kept(pd.DataFrame(rows, columns=["method", "measure", "value"]))
    assert kept.to_dict() == {"none": 100.0, "hard": 50.0}
