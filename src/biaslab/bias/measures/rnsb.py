"""The relative negative sentiment bias (RNSB) of Sweeney and Najafian 2019, Section 4.

A logistic classifier learns which words are negative, here the attributes B, and which are positive, A. With
its probability f*(w) that a word is negative, for words k_1, ..., k_t of all groups, here the targets S and T
together,

    P = {f*(k_1) / Σ_i f*(k_i), ..., f*(k_t) / Σ_i f*(k_i)}
    RNSB(P) = D_KL(P ‖ U),    U the uniform distribution:

0 where all words are equally negative. There is no sign. The classifier is that of WEFE, trained by all words
(``holdout=False``): with x̃ = (x, 1), y = 1 for A and -1 for B, and f*(x) = 1 / (1 + exp(θ · x̃)),

    θ = argmin |θ|² / 2 + Σ_{x in A and B} log(1 + exp(-y θ · x̃)).

The vectors keep their lengths. The minimum is unique, and moves with the vectors by the implicit function
theorem: dθ = -H⁻¹ dg, where g is the derivative of the sum by θ and H its second derivative.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors, unit_vectors
from biaslab.bias.word_sets import WeatIndices

__all__ = ["relative_negative_sentiment"]

_TOLERANCE = 1e-11
"""Of the derivative of the sum, which is of the order of a vector's length."""


class _Fitted(NamedTuple):
    """A classifier, and what trained it."""

    weights: np.ndarray  # θ, (D + 1,)
    x: np.ndarray  # x̃, (n, D + 1)
    signs: np.ndarray  # y, (n,)


def relative_negative_sentiment(
    vectors: np.ndarray,
    targets: Sequence[int],
    positive: Sequence[int],
    negative: Sequence[int],
    name: str = "RNSB",
) -> float:
    """Return RNSB of words of any groups.

    Parameters
    ----------
    vectors : (V, D) array of any float dtype
        Word vectors, which keep their lengths; computed with in float64.
    targets : sequence of int
        Rows of the words of all groups.
    positive, negative : sequence of int
        Rows of the words that train the classifier.
    name : str
        What messages begin with.

    Returns
    -------
    float
        In nats; 0 where all targets are equally negative.

    Raises
    ------
    InputError
        When a word has a zero or non-finite vector.
    """
    sets = [unit_vectors(vectors, np.asarray(ids, np.int64), name) for ids in (targets, positive, negative)]
    words, good, bad = (norms[:, None] * unit for norms, unit in sets)
    share = _negative(_fit(good, bad), words)
    share /= share.sum()
    return float(share @ np.log(len(share) * share))


def value(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return RNSB; vectors (V, D)."""
    return relative_negative_sentiment(vectors, [*weat.S, *weat.T], weat.A, weat.B, weat.name)


def gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64.

    With z_i = θ · k̃_i, F the sum of all f*, and R = RNSB: dR/dz_i = -(log(n P_i) - R) f_i (1 - f_i) / F.
    Through θ, with q = H⁻¹ Σ_i dR/dz_i k̃_i, and p_j the probability of the other class of a word x_j that
    trains the classifier: dR/dx_j = y_j p_j q - p_j (1 - p_j) (q · x̃_j) θ.
    """
    words = UnitVectors(vectors, weat)
    rows = words.norms[:, None] * words.unit
    fitted = _fit(rows[words.A], rows[words.B])
    targets = _extended(rows[words.targets])
    negative = _negative(fitted, rows[words.targets])
    logs = np.log(len(negative) * negative / negative.sum())
    slopes = -(logs - negative @ logs / negative.sum()) * negative * (1 - negative) / negative.sum()
    wrong = expit(-fitted.signs * (fitted.x @ fitted.weights))
    curvature = wrong * (1 - wrong)
    hessian = np.eye(fitted.x.shape[1]) + (fitted.x.T * curvature) @ fitted.x
    q = np.linalg.solve(hessian, slopes @ targets)
    through = np.outer(fitted.signs * wrong, q) - np.outer(curvature * (fitted.x @ q), fitted.weights)
    found = np.zeros_like(rows)
    found[words.targets] += np.outer(slopes, fitted.weights[:-1])
    found[np.concatenate([words.A, words.B])] += through[:, :-1]
    return found


def _fit(positive: np.ndarray, negative: np.ndarray) -> _Fitted:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    x = _extended(np.concatenate([positive, negative]))
    signs = np.repeat([1.0, -1.0], [len(positive), len(negative)])
    classifier = LogisticRegression(solver="newton-cholesky", fit_intercept=False, tol=_TOLERANCE)
    with threadpool_limits(1):  # sums are regrouped among threads
        return _Fitted(classifier.fit(x, signs).coef_[0], x, signs)


def _extended(rows: np.ndarray) -> np.ndarray:
    """Return x̃ = (x, 1)."""
    return np.column_stack([rows, np.ones(len(rows))])


def _negative(fitted: _Fitted, rows: np.ndarray) -> np.ndarray:
    """Return f*, (n,), of vectors (n, D)."""
    return expit(-_extended(rows) @ fitted.weights)


MEASURE = Measure("rnsb", value, gradient)
