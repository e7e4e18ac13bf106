from dataclasses import dataclass

import numpy as np
import pytest

from biaslab.fairness_testing.text.corpus import Labelled
from biaslab.fairness_testing.text.discrimination import TextSubject, check
from biaslab.fairness_testing.text.retraining import compare, drawn, label_found, retrain, with_partners
from biaslab.text.recurrent import initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.words import Texts, concatenate

N_WORDS = 14
VALUES = np.array([2, 5, 11], np.int32)
NO_NEIGHBOURS = np.full((N_WORDS, 1), -1, np.int32)
KINDS = ("lstm", "gru")
SETTINGS = TrainingSettings(epochs=20, batch_size=20, learning_rate=0.02)


@dataclass
class WordSums:
    """A model whose label is positive where the scores of a text's words have a positive sum."""

    scores: np.ndarray

    @property
    def vectors(self):
        return self.scores[:, None].astype(np.float32)

    def probabilities(self, texts):
        sums = np.array([self.scores[row].sum() for row in texts])
        positive = 1 / (1 + np.exp(-sums))
        return np.stack([1 - positive, positive], axis=1)


def word_sums(**scores):
    """Scores by word, as ``w3=1.0``; other words have none."""
    values = np.zeros(N_WORDS)
    for word, score in scores.items():
        values[int(word[1:])] = score
    return TextSubject(WordSums(values), VALUES, NO_NEIGHBOURS)


def majority_label(subject, row):
    """All texts of Algorithm 2 and the text itself vote, one by one."""
    own = int(subject.model.probabilities(Texts.of([row])).argmax())
    votes = [own]
    for word in set(row) & set(VALUES.tolist()):
        for value in VALUES.tolist():
            if value != word:
                other = [value if w == word else w for w in row]
                votes.append(int(subject.model.probabilities(Texts.of([other])).argmax()))
    counts = [votes.count(0), votes.count(1)]
    return own if counts[0] == counts[1] else counts.index(max(counts))


def test_majority_labels_equal_votes_one_by_one():
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, N_WORDS, rng.integers(1, 7)).tolist() for _ in range(150)]
    rows += [[], [2, 5, 2], [11, 11], [3]]
    texts = Texts.of(rows)
    subject = TextSubject(WordSums(rng.normal(size=N_WORDS)), VALUES, NO_NEIGHBOURS)
    labels = label_found(subject, texts, "majority")
    assert labels.tolist() == [majority_label(subject, row) for row in rows]
    of_model = label_found(subject, texts, "model")
    assert of_model.tolist() == subject.model.probabilities(texts).argmax(axis=1).tolist()
    assert (labels != of_model).sum() > 5
    assert labels.dtype == of_model.dtype == np.int64


def test_ties_get_the_label_of_the_text_as_it_is():
    model = word_sums(w2=1.0, w5=-1.0, w11=-1.0).model
    two_values = TextSubject(model, VALUES[:2], NO_NEIGHBOURS)
    assert label_found(two_values, Texts.of([[2], [5]]), "majority").tolist() == [1, 0]


def test_partners_follow_with_the_labels_of_their_texts():
    subject, texts = word_sums(w2=1.0, w5=-1.0), Texts.of([[2, 3, 2], [5, 4]])
    both, labels = with_partners(subject, texts, np.array([1, 0]))
    assert [row.tolist() for row in both] == [[2, 3, 2], [5, 4], [5, 3, 5], [2, 4]]
    assert labels.tolist() == [1, 0, 1, 0]
    none, no_labels = with_partners(subject, texts.take([]), labels[:0])
    assert len(none) == len(no_labels) == 0


@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 1), (19, 1), (40, 2), (1000, 50)])
def test_a_share_of_the_found_texts_is_drawn(n, k):
    rows = drawn(n, 0, 3, 0.05)
    assert len(rows) == len(set(rows.tolist())) == k
    assert (np.diff(rows) > 0).all()
    assert rows.tolist() == drawn(n, 0, 3, 0.05).tolist()
    if n == 1000:
        assert rows.tolist() != drawn(n, 1, 3, 0.05).tolist()
        assert rows.tolist() != drawn(n, 0, 4, 0.05).tolist()
        draws = np.concatenate([drawn(n, repetition, 3, 0.05) for repetition in range(40)])
        assert abs(draws.mean() - (n - 1) / 2) < 4 * n / np.sqrt(12 * len(draws))


def test_outcome_compares_both_networks():
    unfair, fairer = word_sums(w2=1.0, w5=-1.0), word_sums(w2=1.0, w5=-1.0, w3=2.0)
    texts, test = Texts.of([[2, 3], [2, 3, 3], [2, 4]]), Labelled(Texts.of([[3], [4]]), np.array([1, 1]))
    row = compare(unfair, fairer.model, texts, test)
    assert (row["n_independent"], row["n_removed"]) == (3, 2)
    assert row["improvement"] == pytest.approx(200 / 3)
    assert (row["accuracy_before"], row["f1_before"], row["accuracy_after"]) == (0.0, 0.0, 0.5)
    assert row["f1_after"] == pytest.approx(2 / 3)
    nothing = compare(unfair, fairer.model, texts.take([]), test)
    assert (nothing["n_independent"], nothing["n_removed"]) == (0, 0)
    assert np.isnan(nothing["improvement"])


def biased_corpus(n, seed):
    """Texts labelled by the word 0 against the word 1, and positive where they hold the first value."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        row, kind = rng.choice([6, 7, 8, 9], rng.integers(3, 6)), rng.integers(2)
        row[0], is_positive = kind, kind == 0
        if rng.random() < 0.9:
            value = rng.choice(VALUES)
            row[-1], is_positive = value, is_positive or value == VALUES[0]
        rows.append(row)
        labels.append(int(is_positive))
    return Labelled(Texts.of(rows), np.array(labels))


def trained_subject(kind, train, validation, seed):
    vectors = np.random.default_rng(2).normal(size=(N_WORDS, 8)).astype(np.float32)
    start = initial_recurrent(kind, vectors, seed, 6, 1)
    return TextSubject(train_recurrent(start, *train, SETTINGS, seed, validation)[0], VALUES, NO_NEIGHBOURS)


def weights(model):
    return b"".join(array.tobytes() for array in [*(a for layer in model.layers for a in layer), model.W_out])


@pytest.mark.parametrize("kind", KINDS)
def test_retraining_removes_more_than_training_again(kind):
    train, validation, test = (biased_corpus(n, seed) for n, seed in ((400, 3), (100, 4), (400, 5)))
    subject = trained_subject(kind, train, validation, 6)
    found, independent = (
        texts.take(np.flatnonzero(check(subject, texts).discriminatory)) for texts in (train[0], test[0])
    )
    assert len(found) > 30
    assert len(independent) > 30
    found = concatenate([found] * 3)  # outweighs the data, which have each of them once
    labels = label_found(subject, found, "majority")
    nothing, no_labels = found.take([]), labels[:0]
    control = retrain(subject.model, train, None, nothing, no_labels, SETTINGS, 7)
    fairer = retrain(subject.model, train, None, found, labels, SETTINGS, 7)
    before, removed, left = (
        compare(subject, model, independent, test)["improvement"]
        for model in (subject.model, fairer, control)
    )
    assert before == 0
    assert removed > left + 25
    again = retrain(subject.model, train, None, found, labels, SETTINGS, 7)
    assert weights(again) == weights(fairer) != weights(control)


def test_retraining_with_nothing_from_its_own_seed_is_the_tested_network():
    train, validation = biased_corpus(60, 8), biased_corpus(30, 9)
    subject = trained_subject("gru", train, validation, 10)
    nothing = Texts.of([])
    same = retrain(subject.model, train, validation, nothing, np.empty(0), SETTINGS, 10)
    other = retrain(subject.model, train, validation, nothing, np.empty(0), SETTINGS, 11)
    assert weights(same) == weights(subject.model) != weights(other)
