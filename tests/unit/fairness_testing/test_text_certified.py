from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import recurrent_data
from biaslab.core.errors import InputError
from biaslab.fairness_testing.text import certified
from biaslab.fairness_testing.text.certified import CertifiedSettings, train_certified
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.text.recurrent import initial_recurrent
from biaslab.text.words import Texts, concatenate
from naive import certified as naive
from recurrent_data import random_recurrent

N_WORDS, WIDTH = 14, 5
VALUES = np.array([2, 5, 11], np.int32)
IS_VALUE = np.isin(np.arange(N_WORDS), VALUES)
KINDS = ("lstm", "gru")


@pytest.fixture(autouse=True)
def _one_thread(torch_as_it_was):
    torch.set_num_threads(1)


def random_network(kind, seed, scale=0.7):
    return random_recurrent(kind, seed, 4, 3, WIDTH, N_WORDS, scale)


def random_texts(seed):
    """Texts with and without values, one of them empty."""
    return concatenate([recurrent_data.random_texts(seed, 30, 7, N_WORDS), Texts.of([[]])])


def subject_of(model):
    return TextSubject(model, VALUES, np.empty((N_WORDS, 0), np.int32))


def margins(model, texts):
    logits = np.asarray(model.logits(texts), np.float64)
    return logits[:, 1] - logits[:, 0]


def margin_bounds(model, texts):
    """Bounds of O_1 - O_0, (n, 2), over all values of all sensitive words."""
    with torch.no_grad():
        return certified._Network(model, torch.float64).bounds(texts, IS_VALUE, VALUES, 1.0).numpy()


def certified_share(model, texts):
    """The share of the texts with a value whose label no value can change, provably."""
    rows = [i for i, row in enumerate(texts) if IS_VALUE[row].any()]
    lower, upper = margin_bounds(model, texts.take(rows)).T
    return np.mean((lower > 1e-4) | (upper < -1e-4))


def substituted(texts, rng):
    """The same texts with any values in the places of values, drawn independently."""
    ids = np.where(IS_VALUE[texts.ids], rng.choice(VALUES, len(texts.ids)), texts.ids)
    return Texts(ids.astype(np.int32), texts.offsets)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_bounds_hold_whatever_values_words_have(kind, seed):
    model, texts, rng = random_network(kind, seed), random_texts(seed), np.random.default_rng(seed)
    lower, upper = margin_bounds(model, texts).T
    reached = np.stack([margins(model, substituted(texts, rng)) for _ in range(100)])
    assert (lower - 1e-4 <= reached).all()
    assert (reached <= upper + 1e-4).all()
    assert (np.ptp(reached, axis=0) > 1e-3).sum() > 5


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
    if not epsilon:
        answers = network.margins(texts).detach().numpy()
        np.testing.assert_allclose(found, np.stack([answers, answers], axis=1), atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_the_loss_equal_finite_differences(kind):
    model, texts = random_network(kind, 17, scale=0.4), random_texts(18)
    labels = np.arange(len(texts)) % 2
    network = certified._Network(model, torch.float64)
    settings = CertifiedSettings(kappa=0.6, negative_weight=0.3)

    def mean_loss():
        losses, weights = certified._losses(network, texts, labels, subject_of(model), settings, 0.7)
        return losses.sum() / weights.sum()

    mean_loss().backward()
    rng, step, compared = np.random.default_rng(19), 1e-6, 0
    for parameter in network.parameters():
        flat, gradient = parameter.detach().view(-1), parameter.grad.view(-1)
        for i in rng.choice(len(flat), 2, replace=False):
            values = []
            for shift in (step, -2 * step):
                flat[i] += shift
                values.append(mean_loss().item())
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
        low, high = margin_bounds(model, texts.take([i]))[0]
        clean = network.margins(texts.take([i])).item()
        worst = low if labels[i] else high
        ours = 1.0 if labels[i] else 0.3
        sign = 2 * labels[i] - 1
        losses = [np.log1p(np.exp(-sign * m)) for m in (clean, worst if IS_VALUE[row].any() else clean)]
        total, weight = total + ours * (0.4 * losses[0] + 0.6 * losses[1]), weight + ours
    found, weights = certified._losses(network, texts, labels, subject_of(model), settings, 1.0)
    assert (found.sum() / weights.sum()).item() == pytest.approx(total / weight, rel=1e-9)


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
    train, test = biased_corpus(400, 26), biased_corpus(200, 27)
    plain, model = (
        train_certified(subject_of(corpus_start(kind)), train, test, replace(SETTINGS, kappa=kappa), 1)
        for kappa in (0.0, SETTINGS.kappa)
    )
    texts, labels = test
    assert certified_share(plain, texts) < 0.6
    assert certified_share(model, texts) > 0.9
    assert np.mean(model.probabilities(texts).argmax(axis=1) == labels) > 0.8
    assert np.ptp(model.probabilities(texts)[:, 1]) > 0.5


def test_training_repeats_and_leaves_its_start_alone():
    corpus, start, settings = biased_corpus(80, 28), corpus_start("gru"), replace(SETTINGS, epochs=2)
    before = [array.copy() for layer in start.layers for array in layer]
    first = train_certified(subject_of(start), corpus, corpus, settings, 3)
    torch.set_num_threads(2)
    second = train_certified(subject_of(start), corpus, corpus, settings, 3)
    assert torch.get_num_threads() == 1
    other = train_certified(subject_of(start), corpus, corpus, settings, 4)
    for ours, theirs in zip(first.layers, second.layers, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))
    assert first.W_out.tobytes() == second.W_out.tobytes() != other.W_out.tobytes()
    assert all((a == b).all() for a, b in zip(before, (x for y in start.layers for x in y), strict=True))


def test_the_epoch_of_the_least_validation_loss_at_full_reach_is_kept(monkeypatch):
    assert [SETTINGS.reached(epoch) for epoch in (0, 6, 7, 13)] == pytest.approx([1 / 8, 7 / 8, 1, 1])
    corpus, start = biased_corpus(60, 30), corpus_start("lstm")

    def train(losses, ramp):
        """Train one epoch a loss; the first is before all values are reached."""
        given, settings = iter(losses), replace(SETTINGS, epochs=len(losses), ramp=ramp)
        monkeypatch.setattr(certified, "_validation_loss", lambda *_: next(given))
        return train_certified(subject_of(start), corpus, corpus, settings, 3).W_out.tobytes()

    assert train([0, 5, 4, 6], 0.25) == train([0, 5, 4], 0.34) != train([0, 5, 4, 3], 0.25)


def test_training_that_diverges_is_refused():
    corpus, endless = biased_corpus(20, 29), replace(SETTINGS, epochs=9, ramp=0.0, learning_rate=3e37)
    with pytest.raises(InputError, match=r"^certified training diverged; lower the learning rate$"):
        train_certified(subject_of(corpus_start("lstm")), corpus, corpus, endless, 0)
