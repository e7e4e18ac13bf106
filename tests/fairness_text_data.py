"""Tiny differentiable classifiers of texts, made-up words, and texts with values of a feature in them."""

import numpy as np

from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.text.words import Texts

N_WORDS, DIMENSION, HIDDEN = 60, 6, 5
VALUES = np.array([3, 17, 10, 41, 30], np.int32)
WITHOUT_NEIGHBOURS = np.arange(54, 60)


class TanhModel:
    """Softmax of C · tanh(B · Σ_t tanh(A x_t + b) / (1 + t)): the order of words matters, batches do not."""

    def __init__(self, seed, scale=1.5):
        rng = np.random.default_rng(seed)
        self.vectors = rng.normal(size=(N_WORDS, DIMENSION)).astype(np.float32)
        self.A = rng.normal(size=(DIMENSION, HIDDEN))
        self.b = rng.normal(size=HIDDEN)
        self.B = rng.normal(size=(HIDDEN, HIDDEN))
        self.C = scale * rng.normal(size=(HIDDEN, 2))

    def _forward(self, texts):
        x = self.vectors[texts.ids].astype(np.float64)
        weights = 1 / (1 + np.arange(len(texts.ids)) - np.repeat(texts.offsets[:-1], texts.lengths))
        first = np.tanh(_product(x, self.A) + self.b)
        rows = np.repeat(np.arange(len(texts)), texts.lengths)
        columns = (first * weights[:, None]).T
        sums = np.stack([np.bincount(rows, column, minlength=len(texts)) for column in columns], axis=1)
        second = np.tanh(_product(sums, self.B))
        z = _product(second, self.C)
        exponentials = np.exp(z - z.max(axis=1, keepdims=True))
        return first, weights, second, exponentials / exponentials.sum(axis=1, keepdims=True)

    def probabilities(self, texts):
        return self._forward(texts)[-1]

    def gradients(self, texts, labels):
        first, weights, second, outputs = self._forward(texts)
        error = _product(_product(outputs - np.eye(2)[labels], self.C.T) * (1 - second**2), self.B.T)
        by_word = np.repeat(error, texts.lengths, axis=0) * weights[:, None]
        return _product(by_word * (1 - first**2), self.A.T).astype(np.float32)


class AnsweringModel(TanhModel):
    """Answers with given functions in place of its own."""

    def __init__(self, probabilities=None, gradients=None):
        super().__init__(1)
        self.probabilities = probabilities or self.probabilities
        self.gradients = gradients or self.gradients


def _product(x, matrix):
    """Multiply rows by a matrix, each in the same way whatever the others are."""
    return sum(x[:, j, None] * row for j, row in enumerate(matrix))


def neighbours_of(vectors, k=4):
    """The k words of the largest dot product, no values, and some words without any or with one alone."""
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    scores[:, VALUES] = -np.inf
    neighbours = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
    neighbours[WITHOUT_NEIGHBOURS] = -1
    neighbours[::7, 1:] = -1
    return neighbours


def small_subject(seed=1, model=None):
    model = model or TanhModel(seed)
    return TextSubject(model, VALUES, neighbours_of(model.vectors))


def random_texts(n, seed, longest=9):
    """Texts of 0 to `longest` words, about a quarter of which are values of the feature."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        row = rng.integers(0, N_WORDS, rng.integers(0, longest + 1))
        row[rng.random(len(row)) < 0.2] = rng.choice(VALUES)
        rows.append(row)
    return Texts.of(rows)


def draws(n, steps, seed=5):
    return np.random.default_rng(seed).random((n, steps, 2))
