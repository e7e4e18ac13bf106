"""Fit logistic regression to bags of WordPieces (Kennedy et al. 2020, Section 4.1, A.1).

Texts are read as in the authors' published code: the WordPieces, including [CLS] and [SEP], are joined by
spaces and passed to scikit-learn's vectorizer. Its default token pattern drops pieces of one character,
strips the ``##`` of a continuation piece, and keeps "cls" and "sep" as features of every text.
Features are binary, as in their code; the paper states TF-IDF (A.1). Word removal (WR) applies
`Tokens.without` first, in training and in test.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.metrics import measure

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokens

_SOLVER = {"solver": "newton-cg", "tol": 1e-8, "max_iter": 1000}
# The objective is scikit-learn's default (l2, C = 1, free intercept). The default solver stops with scores
# about 0.05 from the optimum; this solver reaches the optimum in the same time.


@dataclass(frozen=True)
class Linear:
    """A linear classifier of texts."""

    vectorizer: CountVectorizer
    model: LogisticRegression

    @property
    def terms(self) -> np.ndarray:
        """The features, (f,) str, in the order of their names."""
        return self.vectorizer.get_feature_names_out()

    @property
    def weights(self) -> np.ndarray:
        """Weight of each feature in a score, (f,) float64."""
        return self.model.coef_[0]

    def scores(self, documents: Sequence[str]) -> np.ndarray:
        """Return the logit of every document, (n,) float64; above 0 means positive."""
        return self.model.decision_function(self.vectorizer.transform(documents))


def documents(tokens: "Tokens", vocabulary: Sequence[str]) -> list[str]:
    """Return the texts as the authors' code passes them to a vectorizer: WordPieces joined by spaces."""
    pieces = np.asarray(vocabulary, dtype=object)[tokens.ids].tolist()
    ends = tokens.offsets.tolist()
    return [" ".join(pieces[start:end]) for start, end in pairwise(ends)]


def fit_linear(documents: Sequence[str], labels: np.ndarray, negative_weight: float = 1.0) -> Linear:
    """Fit logistic regression to the bag of words of `documents`, with labels (n,) 1 or 0.

    The loss weights a negative text by `negative_weight` and a positive text by 1. The paper uses 0.1 for GHC
    and 0.125 for Stormfront (Section A.3). The classifier does not depend on the number of threads.
    """
    vectorizer = CountVectorizer(binary=True)
    try:
        X = vectorizer.fit_transform(documents)
    except ValueError as error:  # no texts, or an empty vocabulary
        raise InputError("no training text has a word of two or more letters; supply more texts") from error
    return Linear(vectorizer, fit_logistic(X, labels, negative_weight))


def fit_logistic(X: scipy.sparse.csr_array, labels: np.ndarray, negative_weight: float) -> LogisticRegression:
    """Fit the logistic regression of `fit_linear` to features, (n, f) sparse."""
    labels = np.asarray(labels)
    for label, name in enumerate(("negative", "positive")):
        if not np.any(labels == label):
            raise InputError(f"no training text is {name}; supply texts of both classes")
    model = LogisticRegression(class_weight={0: negative_weight, 1: 1.0}, **_SOLVER)
    with threadpool_limits(1):  # more threads change the order of summation
        return model.fit(X, labels)


def weights_table(linear: Linear, identifiers: Collection[str], n_top: int | None = None) -> pd.DataFrame:
    """Return the `n_top` features with the largest weights, and all identifiers, by rank.

    The paper chose its identifiers from the top of this list (Section 4.2, Tables 3 and 4). Rank 1 has the
    largest weight; equal weights are ranked alphabetically. Identifiers in no training text come last, with
    missing weight and rank.
    """
    order = np.argsort(-linear.weights, kind="stable")
    table = pd.DataFrame({"term": linear.terms[order], "weight": linear.weights[order]})
    table["rank"] = pd.array(np.arange(1, len(table) + 1), "Int64")
    absent = sorted(set(identifiers) - set(table["term"]))
    table = pd.concat([table, pd.DataFrame({"term": absent})], ignore_index=True)
    table["is_identifier"] = table["term"].isin(identifiers)
    table["n_features"] = len(linear.terms)
    if n_top is not None:
        table = table[table["is_identifier"] | (table["rank"] <= n_top).fillna(False)]
    return table[list(COLUMNS["linear_weights"])].reset_index(drop=True)


class Part(NamedTuple):
    """Texts of one split: n tokenized texts, labels (n,) int and, for news, identifiers (n,) str."""

    tokens: "Tokens"
    labels: np.ndarray
    identifiers: np.ndarray | None = None


class _Bag(NamedTuple):
    """Binary features of texts, (n, f) sparse, and the part that vanishes if all identifiers are removed."""

    full: scipy.sparse.csr_array
    lost: scipy.sparse.csr_array

    def without(self, columns: Sequence[int]) -> scipy.sparse.csr_array:
        """Return the features after removing the identifiers of `columns`."""
        is_removed = np.zeros(self.full.shape[1])
        is_removed[columns] = 1
        left = (self.full - self.lost @ scipy.sparse.diags_array(is_removed)).tocsr()
        left.eliminate_zeros()
        return left


def removal_curve(
    train: Part,
    test: Part,
    news: Part,
    vocabulary: Sequence[str],
    identifier_ids: Mapping[str, int],
    negative_weight: float,
    seed: int,
    n_subsets: int,
) -> pd.DataFrame:
    """Return F1 on `test` and accuracy on `news` after removing k identifiers, for every k.

    News are negative and carry the identifier for which each was drawn. The features are binary. At most
    `n_subsets` distinct subsets are drawn for every k, fewer if fewer exist.
    """
    ids = np.array(list(identifier_ids.values()), dtype=np.int64)
    vectorizer = CountVectorizer(binary=True)
    vectorizer.fit(documents(train.tokens, vocabulary))
    bags = [_bag(part, vectorizer, vocabulary, ids) for part in (train, test, news)]
    columns = _columns(vectorizer, vocabulary, identifier_ids)
    rows = []
    for n_removed in range(len(ids) + 1):
        rng = stream(seed, "removal", n_removed)
        for subset, removed in enumerate(_subsets(len(ids), n_removed, n_subsets, rng)):
            X, *others = (bag.without([columns[i] for i in removed if i in columns]) for bag in bags)
            model = fit_logistic(X, train.labels, negative_weight)
            on_test, on_news = (
                measure(model.decision_function(other), part.labels, part.identifiers)
                for other, part in zip(others, (test, news), strict=True)
            )
            rows.append((n_removed, subset, on_test.precision, on_test.recall, on_test.f1, *on_news[-2:]))
    names = "n_removed", "subset", "precision", "recall", "f1", "news_accuracy", "news_macro_accuracy"
    return pd.DataFrame(rows, columns=names)


def _bag(part: Part, vectorizer: CountVectorizer, vocabulary: Sequence[str], ids: np.ndarray) -> _Bag:
    full, removed = (
        vectorizer.transform(documents(tokens, vocabulary)).astype(np.float64)
        for tokens in (part.tokens, part.tokens.without(ids))
    )
    return _Bag(full, full - removed)


def _columns(
    vectorizer: CountVectorizer, vocabulary: Sequence[str], identifier_ids: Mapping[str, int]
) -> dict[int, int]:
    """Return the feature of each identifier by its position; omit identifiers that are no feature."""
    words = vectorizer.build_analyzer()
    columns, holders = {}, {}
    for place, (name, i) in enumerate(identifier_ids.items()):
        for word in words(vocabulary[i]):
            if word in holders:
                raise InputError(f"identifiers '{holders[word]}' and '{name}' are one feature; remove one")
            holders[word] = name
            if word in vectorizer.vocabulary_:
                columns[place] = vectorizer.vocabulary_[word]
    return columns


def _subsets(n: int, size: int, n_subsets: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return up to `n_subsets` distinct random subsets of 0 to n - 1, fewer if fewer exist."""
    subsets: dict[tuple[int, ...], None] = {}
    while len(subsets) < min(n_subsets, math.comb(n, size)):
        subsets[tuple(sorted(rng.choice(n, size, replace=False).tolist()))] = None
    return list(subsets)
