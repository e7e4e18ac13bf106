"""Linear classifiers: a bag of WordPieces and logistic regression (Kennedy et al. 2020, Section 4.1, A.1).

As the authors' published code reads a text: its WordPieces, [CLS] and [SEP] among them, joined by blanks, go
through scikit-learn's vectorizers with their own pattern of a word. That pattern drops pieces of one
character, strips the ``##`` of a piece that continues a word, and keeps "cls" and "sep" as features of every
text. Features are binary, as in their code; the paper writes TF-IDF (A.1). Word removal (WR) is
`Tokens.without` beforehand, in training and in test.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from biaslab.core.errors import InputError
from biaslab.hate_speech.columns import COLUMNS

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokens

_SOLVER = {"solver": "newton-cg", "tol": 1e-8, "max_iter": 1000}
# The objective is scikit-learn's default (l2, C = 1, free intercept). Its default solver stops while scores
# are still some 0.05 from the optimum; this one reaches it in the same time.


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
        """What each feature adds to a score, (f,) float64."""
        return self.model.coef_[0]

    def scores(self, documents: Sequence[str]) -> np.ndarray:
        """Return the logit of every document, (n,) float64: it is classified positive when above 0."""
        return self.model.decision_function(self.vectorizer.transform(documents))


def documents(tokens: "Tokens", vocabulary: Sequence[str]) -> list[str]:
    """Return the texts as the authors' code hands them to a vectorizer: WordPieces joined by blanks."""
    pieces = np.asarray(vocabulary, dtype=object)[tokens.ids].tolist()
    ends = tokens.offsets.tolist()
    return [" ".join(pieces[start:end]) for start, end in pairwise(ends)]


def fit_linear(documents: Sequence[str], labels: np.ndarray, negative_weight: float = 1.0) -> Linear:
    """Fit logistic regression to a bag of words: which pieces `documents` have, labels (n,) 1 or 0.

    A negative text has `negative_weight` in the loss where a positive one has 1; the paper's is 0.1 for GHC
    and 0.125 for Stormfront (Section A.3). Equal arguments give the same classifier at any number of threads.
    """
    vectorizer = CountVectorizer(binary=True)
    try:
        X = vectorizer.fit_transform(documents)
    except ValueError as error:  # of no text, or of an empty vocabulary
        raise InputError("no training text has a word of two or more letters; give more texts") from error
    return Linear(vectorizer, fit_logistic(X, labels, negative_weight))


def fit_logistic(X: scipy.sparse.csr_array, labels: np.ndarray, negative_weight: float) -> LogisticRegression:
    """Fit the logistic regression of `fit_linear` to features, (n, f) sparse."""
    labels = np.asarray(labels)
    for label, name in enumerate(("negative", "positive")):
        if not np.any(labels == label):
            raise InputError(f"no training text is {name}; give texts of both classes")
    model = LogisticRegression(class_weight={0: negative_weight, 1: 1.0}, **_SOLVER)
    with threadpool_limits(1):  # sums are regrouped among threads
        return model.fit(X, labels)


def weights_table(linear: Linear, identifiers: Collection[str], n_top: int | None = None) -> pd.DataFrame:
    """Return the features that speak most for the positive class, and where the identifiers are among them.

    The paper chose its identifiers from the top of this list (Section 4.2, Tables 3 and 4). `n_top` features
    are listed beside the identifiers, by rank: 1 for the largest weight; of equal weights for the first in
    the alphabet. Identifiers that no training text holds come last, with missing weight and rank.
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
