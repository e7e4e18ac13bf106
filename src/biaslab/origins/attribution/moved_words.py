"""What a measure of bias says before and after the words of a test moved, unit by unit.

The effect size (Eq. 4 of Brunet et al. 2019) is evaluated inside the compiled loop over the units. Any other
measure gets the moved vectors from it, and is evaluated here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from biaslab.bias.measures import measure_bias
from biaslab.bias.word_sets import WeatIndices
from biaslab.origins.attribution import _kernels
from biaslab.origins.attribution._kernels import Loss, Removals, TestVectors
from biaslab.origins.attribution.removals import places_in_test

_UNITS_AT_A_TIME = 256  # bounds the memory that their steps take


def by_effect_size(
    removals: Removals, loss: Loss, words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return differential bias (n_units, 3) and fallbacks (n_units,) of every unit, compiled.

    `words` (m,) are the ids of the words of the test, `vectors` (V, D) what the bias is measured in.
    """
    values, fallbacks = _room(removals)
    W = vectors[words].astype(np.float64)
    unit_vectors = W / np.linalg.norm(W, axis=1, keepdims=True)
    targets, attribute_weights = places_in_test(words, weat)
    direction = attribute_weights @ unit_vectors
    test = TestVectors(W, unit_vectors, direction, targets, len(weat.S), attribute_weights)
    _kernels.differential_bias(removals, loss, test, values, fallbacks)
    return values, fallbacks


def by_measure(
    removals: Removals, loss: Loss, words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differential bias of every unit by the measure of the test; as `by_effect_size`."""
    values, fallbacks = _room(removals)
    moving = vectors.astype(np.float64)
    before = measure_bias(moving, weat)
    for made in steps_of_units(removals, loss, moving.shape[1]):
        begin, end = made.begin, made.begin + len(made.scores)
        values[begin:end, _kernels.GRADIENT], fallbacks[begin:end] = made.scores, made.fallbacks
        for p in range(begin, end):
            first, last = removals.unit_starts[p : p + 2]
            moved = words[removals.slots[first:last]]
            for estimator, steps in ((_kernels.INFLUENCE, made.influence), (_kernels.NEWTON, made.newton)):
                change = steps[first - made.first_row : last - made.first_row]
                values[p, estimator] = before - _after(moving, moved, change, weat) if last > first else 0.0
    return values, fallbacks


class Steps(NamedTuple):
    """How far words move when each of some consecutive units is removed."""

    begin: int  # the first unit
    first_row: int  # the first of their touched rows
    influence: np.ndarray  # (touched rows, D) float64, the steps
    newton: np.ndarray
    scores: np.ndarray  # (n_units,) float64, the estimates by `gradient`
    fallbacks: np.ndarray  # (n_units,) int64


def steps_of_units(removals: Removals, loss: Loss, dimension: int) -> Iterator[Steps]:
    """Yield the steps of all units, some at a time; arguments as for `by_effect_size`, and D."""
    for begin in range(0, removals.n_units, _UNITS_AT_A_TIME):
        starts = removals.unit_starts[begin : begin + _UNITS_AT_A_TIME + 1]
        influence, newton = np.empty((2, starts[-1] - starts[0], dimension))
        scores, fallbacks = np.empty(len(starts) - 1), np.empty(len(starts) - 1, np.int64)
        some = removals._replace(unit_starts=starts)
        _kernels.steps(some, loss, influence, newton, scores, fallbacks)
        yield Steps(begin, int(starts[0]), influence, newton, scores, fallbacks)


def _after(vectors: np.ndarray, moved: np.ndarray, steps: np.ndarray, weat: WeatIndices) -> float:
    """Return the bias with some words' vectors (V, D) moved by `steps`, and move them back."""
    kept = vectors[moved]
    vectors[moved] = kept + steps
    try:
        return measure_bias(vectors, weat)
    finally:
        vectors[moved] = kept


def _room(removals: Removals) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((removals.n_units, len(_kernels.ESTIMATORS))), np.empty(removals.n_units, np.int64)
