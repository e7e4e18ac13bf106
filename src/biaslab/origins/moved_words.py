"""What a measure of bias says before and after the words of a test moved, unit by unit.

The effect size (Eq. 4 of Brunet et al. 2019) is evaluated inside the compiled loop over the units. Any other
measure gets the moved vectors from it, and is evaluated here.
"""

import numpy as np

from biaslab.bias.measures.registry import measure_bias
from biaslab.bias.word_sets import WeatIndices
from biaslab.origins import _kernels
from biaslab.origins.grid import ESTIMATORS
from biaslab.origins.removals import Removals

_UNITS_AT_A_TIME = 256  # bounds the memory that their steps take


def by_effect_size(
    removals: Removals, loss: tuple, words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differential bias of every unit by the effect size, compiled.

    Parameters
    ----------
    removals : Removals
        The units.
    loss : tuple
        What `biaslab.origins._kernels.unit_steps` takes after them.
    words : numpy.ndarray
        (m,) int64, the words of the test.
    weat : WeatIndices
        The test.
    vectors : numpy.ndarray
        (V, D), what the bias is measured in.

    Returns
    -------
    values : numpy.ndarray
        (n_units, 3) float64.
    fallbacks : numpy.ndarray
        (n_units,) int64.
    """
    values, fallbacks = _room(removals)
    W = vectors[words].astype(np.float64)
    unit_vectors = W / np.linalg.norm(W, axis=1, keepdims=True)
    targets = np.searchsorted(words, np.concatenate([weat.S, weat.T]))
    attribute_weights = np.zeros(len(words))
    for ids, sign in ((weat.A, 1), (weat.B, -1)):
        attribute_weights[np.searchsorted(words, ids)] += sign / len(ids)
    direction = attribute_weights @ unit_vectors
    words_of_test = (W, unit_vectors, direction, targets, len(weat.S), attribute_weights)
    _kernels.differential_bias(*removals.parts, *loss, *words_of_test, values, fallbacks)
    return values, fallbacks


def by_measure(
    removals: Removals, loss: tuple, words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differential bias of every unit by the measure of the test; as `by_effect_size`."""
    values, fallbacks = _room(removals)
    moving = vectors.astype(np.float64)
    before = measure_bias(moving, weat)
    for begin in range(0, len(values), _UNITS_AT_A_TIME):
        end = min(begin + _UNITS_AT_A_TIME, len(values))
        starts = removals.unit_starts[begin : end + 1]
        by_estimator = np.empty((2, starts[-1] - starts[0], moving.shape[1]))
        scores = np.empty(end - begin)
        _kernels.steps(starts, *removals.parts[1:], *loss, *by_estimator, scores, fallbacks[begin:end])
        values[begin:end, _kernels.GRADIENT] = scores
        for p in range(begin, end):
            first, last = removals.unit_starts[p : p + 2]
            moved = words[removals.slots[first:last]]
            for estimator, steps in zip((_kernels.INFLUENCE, _kernels.NEWTON), by_estimator, strict=True):
                change = steps[first - starts[0] : last - starts[0]]
                values[p, estimator] = before - _after(moving, moved, change, weat) if last > first else 0.0
    return values, fallbacks


def _after(vectors: np.ndarray, moved: np.ndarray, steps: np.ndarray, weat: WeatIndices) -> float:
    """Return the bias with some words' vectors (V, D) moved by `steps`, and move them back."""
    kept = vectors[moved]
    vectors[moved] = kept + steps
    try:
        return measure_bias(vectors, weat)
    finally:
        vectors[moved] = kept


def _room(removals: Removals) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((len(removals), len(ESTIMATORS))), np.empty(len(removals), np.int64)
