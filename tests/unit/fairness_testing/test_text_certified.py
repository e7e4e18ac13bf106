from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from sklearn.metrics import f1_score

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text import certified
from biaslab.fairness_testing.text.certified import (
    CertifiedSettings,
    certified_share,
    margin_bounds,
    train_certified,
)
from biaslab.text.recurrent import Recurrent, initial_recurrent
from biaslab.text.words import Texts
from naive import certified as naive

N_WORDS, WIDTH = 14, 5
VALUES = np.array([2, 5, 11], np.int32)
IS_VALUE = np.isin(np.arange(N_WORDS), VALUES)
KINDS = ("lstm", "gru")


@pytest.fixture(autouse=True)
def torch_as_it_was():
    """Compute with one thread, and give back the threads and algorithms that training took."""
    n, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n)
    torch.use_deterministic_algorithms(deterministic)


def random_network(kind, seed, scale=2.0):
    """A network whose weights are large enough for gates to saturate and signs to mix."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_WORDS, WIDTH)).astype(np.float32)
    start = initial_recurrent(kind, vectors, seed, 4, 3)
    layers = [tuple(scale * array for array in layer) for layer in start.layers]
    return Recurrent(kind, vectors, layers, scale * start.W_out, start.b_out)


def random_texts(seed, n=30, most=8):
    """Texts with and without values, one of them empty."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, N_WORDS, rng.integers(1, most)) for _ in range(n)]
    return Texts.of([*rows, []])


def margins(model, texts):
    logits = np.asarray(model.logits(texts), np.float64)
    return logits[:, 1] - logits[:, 0]


def substituted(texts, rng):
    """The same texts with any values in the places of values, drawn independently."""
    ids = np.where(IS_VALUE[texts.ids], rng.choice(VALUES, len(texts.ids)), texts.ids)
    return Texts(ids.astype(np.int32), texts.offsets)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_whatever_values_words_have(kind, seed):
    model, texts, rng = random_network(kind, seed), random_texts(seed), np.random.default_rng(seed)
    lower, upper = margin_bounds(model, texts, IS_VALUE, VALUES).T
    reached = np.stack([margins(model, substituted(texts, rng)) for _ in range(200)])
    assert (lower - 1e-4 <= reached).all()
    assert (reached <= upper + 1e-4).all()
    assert (np.ptp(reached, axis=0) > 1e-3).sum() > 5


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_the_replacements_that_discrimination_means(kind):
    model, texts = random_network(kind, 7), random_texts(8)
    lower, upper = margin_bounds(model, texts, IS_VALUE, VALUES).T
    for word in VALUES:
        for value in VALUES:
            ids = np.where(texts.ids == word, value, texts.ids).astype(np.int32)
            reached = margins(model, Texts(ids, texts.offsets))
            assert (lower - 1e-4 <= reached).all()
            assert (reached <= upper + 1e-4).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_bounds_equal_plain_intervals(kind, epsilon):
    model, texts = random_network(kind, 9), random_texts(10)
    network = certified._Network(model, torch.float64)
    with torch.no_grad():
        found = network.bounds(texts, IS_VALUE, VALUES, epsilon).numpy()
    parts = (model.vectors, model.layers, model.W_out, model.b_out)
    expected = [naive.margin_range(kind, *parts, row, VALUES, epsilon) for row in texts]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_bounds_without_reach_are_the_answer(kind, dtype, tolerance):
    model, texts = random_network(kind, 11), random_texts(12)
    network = certified._Network(model, dtype)
    with torch.no_grad():
        answers = network.margins(texts).numpy()
        bounds = network.bounds(texts, IS_VALUE, VALUES, 0.0).numpy()
    np.testing.assert_allclose(bounds, np.stack([answers, answers], axis=1), atol=tolerance)
    np.testing.assert_allclose(answers, margins(model, texts), atol=1e-4)
    of_one = network.bounds(texts, IS_VALUE & False, VALUES, 1.0).detach().numpy()
    np.testing.assert_allclose(of_one, bounds, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_inside_those_of_a_box_of_vectors(kind):
    model, texts = random_network(kind, 13), random_texts(14)
    of_values = np.ptp(margin_bounds(model, texts, IS_VALUE, VALUES), axis=1)
    least, largest = model.vectors[VALUES].min(0), model.vectors[VALUES].max(0)
    corners = np.array(np.meshgrid(*zip(least, largest, strict=True))).reshape(WIDTH, -1).T
    vectors = np.concatenate([model.vectors, corners]).astype(np.float32)
    boxed = Recurrent(kind, vectors, model.layers, model.W_out, model.b_out)
    is_value = np.concatenate([IS_VALUE, np.ones(len(corners), bool)])
    of_box = np.ptp(margin_bounds(boxed, texts, is_value, np.flatnonzero(is_value)), axis=1)
    assert (of_values <= of_box + 1e-9).all()
    assert (of_values < 0.9 * of_box).any()


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_do_not_depend_on_the_batch(kind):
    model, texts = random_network(kind, 15), random_texts(16)
    whole = margin_bounds(model, texts, IS_VALUE, VALUES)
    np.testing.assert_allclose(margin_bounds(model, texts, IS_VALUE, VALUES, batch=4), whole, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_the_loss_equal_finite_differences(kind):
    model, texts = random_network(kind, 17, scale=1.0), random_texts(18)
    labels = np.arange(len(texts)) % 2
    network = certified._Network(model, torch.float64)
    settings = CertifiedSettings(kappa=0.6, negative_weight=0.3)
    objective = certified._Objective(network, IS_VALUE, VALUES, settings, 0.7)
    objective(texts, labels).backward()
    rng, step, compared = np.random.default_rng(19), 1e-6, 0
    for parameter in network.parameters():
        flat, gradient = parameter.detach().view(-1), parameter.grad.view(-1)
        for i in rng.choice(len(flat), 2, replace=False):
            values = []
            for shift in (step, -2 * step):
                flat[i] += shift
                values.append(objective(texts, labels).item())
            flat[i] += step
            expected = (values[0] - values[1]) / (2 * step)
            assert gradient[i].item() == pytest.approx(expected, rel=1e-3, abs=1e-6)
            compared += abs(expected) > 1e-4
    assert compared > 10


@pytest.mark.parametrize("kind", KINDS)
def test_loss_is_the_mean_of_clean_and_worst_cross_entropies(kind):
    model, texts = random_network(kind, 20), random_texts(21)
    labels = np.arange(len(texts)) % 2
    network = certified._Network(model, torch.float64)
    settings = CertifiedSettings(kappa=0.6, negative_weight=0.3)
    total = weight = 0.0
    for i, row in enumerate(texts):
        low, high = margin_bounds(model, texts.take([i]), IS_VALUE, VALUES)[0]
        clean = network.margins(texts.take([i])).item()
        worst = low if labels[i] else high
        ours = 1.0 if labels[i] else 0.3
        sign = 2 * labels[i] - 1
        losses = [np.log1p(np.exp(-sign * m)) for m in (clean, worst if IS_VALUE[row].any() else clean)]
        total, weight = total + ours * (0.4 * losses[0] + 0.6 * losses[1]), weight + ours
    found = certified._Objective(network, IS_VALUE, VALUES, settings, 1.0)(texts, labels).item()
    assert found == pytest.approx(total / weight, rel=1e-9)


def test_certified_share_counts_texts_with_values_alone():
    model, texts = random_network("lstm", 23), random_texts(23)
    holds = np.array([IS_VALUE[row].any() for row in texts])
    lower, upper = margin_bounds(model, texts, IS_VALUE, VALUES)[holds].T
    share = certified_share(model, texts, IS_VALUE, VALUES)
    assert share == np.mean((lower > 1e-4) | (upper < -1e-4))
    assert 0 < share < 1
    without = texts.take(np.flatnonzero(~holds))
    assert np.isnan(certified_share(model, without, IS_VALUE, VALUES))
    vectors = model.vectors.copy()
    vectors[VALUES] = vectors[VALUES[0]]
    blind = Recurrent("lstm", vectors, model.layers, model.W_out, model.b_out)
    assert certified_share(blind, texts, IS_VALUE, VALUES) == 1.0


def biased_corpus(n, seed):
    """Texts labelled by word 0 against word 1, half of them with a value that pushes the label as well."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        row, score = rng.choice([6, 7, 8, 9], rng.integers(3, 6)), 0.0
        kind = rng.integers(2)
        row[0], score = kind, 1.0 - 2 * kind
        if rng.random() < 0.5:
            value = rng.choice(VALUES)
            row[-1], score = value, score + (1.2 if value == VALUES[0] and rng.random() < 0.7 else 0)
        rows.append(row)
        labels.append(int(score > 0))
    return Texts.of(rows), np.array(labels)


def corpus_start(kind):
    vectors = np.random.default_rng(24).normal(size=(N_WORDS, 12)).astype(np.float32)
    return initial_recurrent(kind, vectors, 25, 6, 2)


SETTINGS = CertifiedSettings(epochs=14, ramp=0.5, batch=50, learning_rate=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_training_certifies_what_plain_training_does_not(kind):
    texts, labels = biased_corpus(600, 26)
    test, test_labels = biased_corpus(300, 27)
    plain, _ = train_certified(
        corpus_start(kind), texts, labels, IS_VALUE, VALUES, replace(SETTINGS, kappa=0.0), 1
    )
    model, table = train_certified(
        corpus_start(kind), texts, labels, IS_VALUE, VALUES, SETTINGS, 1, (test, test_labels)
    )
    assert certified_share(plain, test, IS_VALUE, VALUES) < 0.6
    assert certified_share(model, test, IS_VALUE, VALUES) > 0.9
    assert np.mean(model.probabilities(test).argmax(axis=1) == test_labels) > 0.8
    assert np.ptp(model.probabilities(test)[:, 1]) > 0.5
    assert tuple(table.columns) == certified.COLUMNS
    assert table["is_kept"].sum() == 1
    kept = table[table["is_kept"]].iloc[0]
    full = table[table["epsilon"] == 1]
    assert kept["validation_loss"] == full["validation_loss"].min()
    labels_of_model = model.probabilities(test).argmax(axis=1)
    assert kept["validation_f1"] == pytest.approx(f1_score(test_labels, labels_of_model))
    assert kept["validation_certified"] == certified_share(model, test, IS_VALUE, VALUES)
    assert table["epsilon"].is_monotonic_increasing
    assert table["epsilon"].iloc[0] == pytest.approx(1 / 8)
    assert (table["epsilon"] == 1).sum() == 7
    assert table["kappa"].iloc[-1] == SETTINGS.kappa


def test_training_repeats_and_leaves_its_start_alone():
    texts, labels = biased_corpus(150, 28)
    start, settings = corpus_start("gru"), replace(SETTINGS, epochs=2, ramp=0.5)
    before = [array.copy() for layer in start.layers for array in layer]
    first, table = train_certified(start, texts, labels, IS_VALUE, VALUES, settings, 3)
    torch.set_num_threads(2)
    second, _ = train_certified(start, texts, labels, IS_VALUE, VALUES, settings, 3)
    assert torch.get_num_threads() == 1
    other, _ = train_certified(start, texts, labels, IS_VALUE, VALUES, settings, 4)
    assert table["is_kept"].tolist() == [False, True]
    assert table["validation_loss"].isna().all()
    for ours, theirs in zip(first.layers, second.layers, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))
    assert first.W_out.tobytes() == second.W_out.tobytes() != other.W_out.tobytes()
    assert all((a == b).all() for a, b in zip(before, (x for y in start.layers for x in y), strict=True))


def test_no_epoch_is_kept_before_bounds_reach_every_value():
    texts, labels = biased_corpus(60, 30)
    still = replace(SETTINGS, epochs=5, learning_rate=1e-12)
    _, table = train_certified(
        corpus_start("lstm"), texts, labels, IS_VALUE, VALUES, still, 3, (texts, labels)
    )
    assert table["validation_loss"].nunique() == 1
    assert table["epoch"][table["is_kept"]].item() == table["epoch"][table["epsilon"] == 1].min() == 3


def test_bad_input_is_refused():
    texts, labels = biased_corpus(20, 29)
    start = corpus_start("lstm")
    for bad_texts, bad_labels, message in (
        (texts, labels[1:], r"20 texts and labels \(19,\): give one label a text"),
        (texts, labels + 1, "a label is 2; write 0 or 1"),
        (texts.take([]), labels[:0], "there is no text to train with; give texts of label 0 and 1"),
        (Texts.of([[N_WORDS]]), labels[:1], "texts have the words 14 to 14, but there are 14 vectors; .*"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            train_certified(start, bad_texts, bad_labels, IS_VALUE, VALUES, SETTINGS, 0)
        with pytest.raises(InputError, match=f"^{message}$"):
            train_certified(start, texts, labels, IS_VALUE, VALUES, SETTINGS, 0, (bad_texts, bad_labels))
    with pytest.raises(
        InputError, match=r"^ramp 1: no epoch is left after it; give a number from 0 to below 1$"
    ):
        CertifiedSettings(ramp=1)
    endless = replace(SETTINGS, epochs=9, ramp=0.0, learning_rate=3e37)
    with pytest.raises(InputError, match=r"^certified training diverged; lower the learning rate$"):
        train_certified(start, texts, labels, IS_VALUE, VALUES, endless, 0)
