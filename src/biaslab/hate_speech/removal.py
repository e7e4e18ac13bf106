"""What it costs a linear classifier to ignore group identifiers (Kennedy et al. 2020, Section 4.3, Figure 2).

Random subsets of the identifiers, of every size, are removed from training and test texts, and a classifier
is trained on what is left. The texts are vectorized twice only, with all identifiers and without any: an
identifier is a feature of its own, so what a text loses with a subset are the subset's columns of the
difference.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.linear import documents, fit_logistic
from biaslab.hate_speech.metrics import measure

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokens

N_SUBSETS = 5
"""Subsets of each size (Section 4.3)."""


class Part(NamedTuple):
    """Texts of one split: n tokenized texts, their labels (n,) int and, of news, identifiers (n,) str."""

    tokens: "Tokens"
    labels: np.ndarray
    identifiers: np.ndarray | None = None


class _Bag(NamedTuple):
    """Texts as binary features, (n, f) sparse, and what they lose with all identifiers."""

    full: scipy.sparse.csr_array
    lost: scipy.sparse.csr_array

    def without(self, columns: Sequence[int]) -> scipy.sparse.csr_array:
        """Return the features when the identifiers of these columns are removed."""
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
    n_subsets: int = N_SUBSETS,
) -> pd.DataFrame:
    """Return F1 on `test` and accuracy on `news` when k identifiers are removed, for every k.

    News are negative and tell the identifier each was drawn for; the features are binary. Fewer subsets than
    `n_subsets` are taken where there are no more that differ.
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
    full, none = (
        vectorizer.transform(documents(tokens, vocabulary)).astype(np.float64)
        for tokens in (part.tokens, part.tokens.without(ids))
    )
    return _Bag(full, full - none)


def _columns(
    vectorizer: CountVectorizer, vocabulary: Sequence[str], identifier_ids: Mapping[str, int]
) -> dict[int, int]:
    """Return the feature of each identifier by its place; those that are no feature are left out."""
    words = vectorizer.build_analyzer()
    columns, holders = {}, {}
    for place, (name, i) in enumerate(identifier_ids.items()):
        for word in words(vocabulary[i]):
            if word in holders:
                raise InputError(f"identifiers '{holders[word]}' and '{name}' are one feature; leave one out")
            holders[word] = name
            if word in vectorizer.vocabulary_:
                columns[place] = vectorizer.vocabulary_[word]
    return columns


def _subsets(n: int, size: int, n_subsets: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return random subsets of 0 to n - 1 that differ, as many as there are up to `n_subsets`."""
    subsets: dict[tuple[int, ...], None] = {}
    while len(subsets) < min(n_subsets, math.comb(n, size)):
        subsets[tuple(sorted(rng.choice(n, size, replace=False).tolist()))] = None
    return list(subsets)
