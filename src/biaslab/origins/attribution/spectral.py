"""Influence functions of a training that stops: no direction of a Hessian moves farther than there was time.

Half the loss of a word's row is a quadratic with the Hessian A = H / 2 (Equation 7 of Brunet et al. 2019). In
the direction of an eigenvector with eigenvalue a, gradient descent of T epochs at a learning rate η goes the
share 1 - exp(-ηTa) of the way to the minimum. So the step of Equation 8 is taken with

    Q diag((1 - exp(-ηTa)) / 2a) Qᵀ    in place of    H⁻¹ = Q diag(1 / 2a) Qᵀ.

That is unrolled differentiation of Bae et al. 2024, Section 3, with one segment: the Hessian of the end
stands for that of the whole training. As ηTa = h / damping with a damping of 2 / (ηT), it is told ηT by the
number that the ridge form takes, whose share is z / (1 + z), z = ηTa. AdaGrad divides η by roots that stay
near 1 in such trainings (docs/beyond/origins.md); they are left out.

A set as a whole is estimated with the Hessian of what is left without it.
"""

from collections.abc import Sequence

import numpy as np

from biaslab.bias.measures.registry import measure_bias
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.jit import set_threads
from biaslab.embeddings.glove import weighting
from biaslab.embeddings.word_maps import WordMaps
from biaslab.origins.attribution import _kernels
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import (
    WeatRows,
    removals_of_documents,
    removals_of_sets,
    shorten,
)
from biaslab.origins.attribution.scanner import Scanner


def of_documents(name: str, scanner: Scanner, weat: WeatIndices, maps: WordMaps | None) -> Estimates:
    """Return the estimates of every document."""
    made = scanner.documents(weat, maps, spectral=True)
    values = np.stack([of.values[:, _kernels.INFLUENCE] for of in made])
    return from_values(np.array([of.baseline for of in made]), values)


def of_sets(name: str, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return the estimates of whole sets."""
    set_threads(scanner.threads)
    rows = scanner.rows(weat)
    removals = removals_of_sets(rows, removals_of_documents(rows, scanner.tokens, scanner.offsets), sets)
    bias, values = [], []
    for _, embedding in scanner.embeddings():
        vectors = embedding["W"].astype(np.float64)
        bias.append(measure_bias(vectors, weat))
        left = []
        for unit in range(removals.n_units):
            moved = vectors.copy()
            for pair in range(removals.unit_starts[unit], removals.unit_starts[unit + 1]):
                some = slice(removals.entry_starts[pair], removals.entry_starts[pair + 1])
                row = removals.slots[pair]
                step = _step(
                    rows,
                    row,
                    removals.places[some],
                    removals.counts[some],
                    embedding,
                    scanner.parameters.damping,
                )
                moved[rows.words[row]] += step
            left.append(measure_bias(moved, weat))
        values.append(bias[-1] - np.array(left))
    return from_values(np.array(bias), np.stack(values))


def _step(rows: WeatRows, row: int, places, taken, embedding, damping: float) -> np.ndarray:
    """Return how far a word moves when `taken` is taken from some places of its row, (D,) float64."""
    of_row = slice(rows.starts[row], rows.starts[row + 1])
    counts = rows.counts[of_row].copy()
    counts[places - rows.starts[row]] -= taken
    U = embedding["U"][rows.columns[of_row]].astype(np.float64)
    word = rows.words[row]
    fit = U @ embedding["W"][word].astype(np.float64) + float(embedding["b"][word])
    fit += embedding["c"][rows.columns[of_row]]
    before, (f, after) = _pull(rows.x[of_row], rows, fit)[1], _pull(counts / rows.unit, rows, fit)
    return -shorten(2 * (U.T * f) @ U, damping) @ (2 * U.T @ (after - before))


def _pull(x: np.ndarray, rows: WeatRows, fit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f(x) and f(x) (fit - log x), 0 where x is."""
    f = weighting(x, rows.x_max, rows.alpha)
    return f, f * (fit - np.log(np.where(x > 0, x, 1.0)))
