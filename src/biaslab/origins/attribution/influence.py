"""Differential bias without retraining: influence functions on GloVe (Brunet et al. 2019, Section 4.2).

Three estimators of the movement of the words of a bias test by a removal of documents. All parameters except
their vectors w_i are held constant:

``influence``
    Eq. 8: one Newton step with the Hessian at X (the paper's estimator).
``newton``
    The same step with the Hessian at the perturbed X~. The loss is quadratic in w_i, so this is the exact
    minimiser of the perturbed loss when w_i minimises the unperturbed one.
``gradient``
    First order in X (Appendix A): the scalar product of the bias gradient with the removed counts.

The bias B is the measure of the test, by default the effect size of the paper. It can be any measure of
`biaslab.bias.measures`, with a value and a gradient by the word vectors. The compiled loop over the units
evaluates the effect size (Eq. 4). For other measures, the loop returns the moved vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biaslab.bias.measures import MEASURES, measure_bias, measure_gradient
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WEAT, WeatIndices
from biaslab.core.errors import InputError
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import weighting
from biaslab.origins.attribution.settings import Damping

if TYPE_CHECKING:
    from biaslab.origins.attribution._kernels import Loss, Removals

_UNITS_AT_A_TIME = 256  # limits the memory for their steps


@dataclass(frozen=True)
class WeatRows:
    """The rows of X of the m words of a bias test, and their weights f (below Eq. 1)."""

    words: np.ndarray  # (m,) int64, ascending word ids
    starts: np.ndarray  # (m + 1,) int64, the start of each row; a place is a position in the next two
    columns: np.ndarray  # (nnz,) int32, context words, ascending in each row
    counts: np.ndarray  # (nnz,) int64, X_ij in units of 1 / unit
    unit: int
    x_max: float
    alpha: float
    n_words: int  # V
    window: int

    @property
    def x(self) -> np.ndarray:
        """X_ij at every place, (nnz,) float64."""
        return self.counts / self.unit

    @property
    def f(self) -> np.ndarray:
        """f(X_ij) at every place, (nnz,) float64."""
        return weighting(self.x, self.x_max, self.alpha)

    @property
    def rows(self) -> np.ndarray:
        """The row number of every place, (nnz,) int32."""
        return np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True)
class DifferentialBias:
    """Estimates of B(w) - B(w~) (Eq. 5)."""

    values: np.ndarray  # (n_units, 3) float64, columns `INFLUENCE`, `NEWTON`, `GRADIENT` of the kernels
    fallbacks: np.ndarray  # (n_units,) int64, number of words whose Hessian at X~ is not positive definite;
    # their `newton` step is that of Eq. 8
    baseline: float  # B(w)


def rows_of(x: Cooccurrence, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the starts, columns and counts of the rows of X of `words` (ascending ids)."""
    starts = np.concatenate([[0], np.cumsum(x.indptr[words + 1] - x.indptr[words])]).astype(np.int64)
    pieces = [slice(x.indptr[i], x.indptr[i + 1]) for i in words]
    return (
        starts,
        np.concatenate([x.indices[p] for p in pieces]),
        np.concatenate([x.counts[p] for p in pieces]),
    )


def slots_of(words: Sequence[int], n_words: int) -> np.ndarray:
    """Return the row number of each word, -1 without a row: (n_words,) int32."""
    slot_of = np.full(n_words, -1, np.int32)
    slot_of[words] = np.arange(len(words))
    return slot_of


def distance_weights(window: int, unit: int) -> np.ndarray:
    """Return the weight of a pair by its distance, (window + 1,) int64, in units of 1 / `unit`."""
    return np.concatenate([[0], unit // np.arange(1, window + 1)])


def places_in_test(words: np.ndarray, weat: WeatIndices) -> tuple[np.ndarray, np.ndarray]:
    """Return the row numbers of the targets, S first, and the weight of each row: 1/|A| in A, -1/|B| in B."""
    attribute_weights = np.zeros(len(words))
    for ids, sign in ((weat.A, 1), (weat.B, -1)):
        attribute_weights[np.searchsorted(words, ids)] += sign / len(ids)
    return np.searchsorted(words, np.concatenate([weat.S, weat.T])), attribute_weights


def weat_rows(x: Cooccurrence, words: np.ndarray, x_max: float, alpha: float) -> WeatRows:
    """Extract the rows of `words` (ascending ids) from X."""
    return WeatRows(words, *rows_of(x, words), x.unit, x_max, alpha, x.n_words, x.window)


def removals_of_documents(rows: WeatRows, tokens: np.ndarray, offsets: np.ndarray) -> "Removals":
    """Return the contributions of every document of the corpus of X to the rows of a test."""
    from biaslab.origins.attribution import _kernels

    slot_of = slots_of(rows.words, rows.n_words)
    weights = distance_weights(rows.window, rows.unit)
    n_occurrences = int((slot_of >= 0)[tokens].sum())
    room = 2 * rows.window * n_occurrences
    unit_starts = np.empty(len(offsets), np.int64)
    slots, entry_starts = np.empty(n_occurrences, np.int32), np.empty(n_occurrences + 1, np.int64)
    places, counts = np.empty(room, np.int64), np.empty(room, np.int64)
    outputs = unit_starts, slots, entry_starts, places, counts
    n_pairs, n_entries = _kernels.find_removals(
        tokens, offsets, slot_of, rows.starts, rows.columns, weights, *outputs
    )
    return _kernels.Removals(
        unit_starts,
        slots[:n_pairs].copy(),
        entry_starts[: n_pairs + 1].copy(),
        places[:n_entries].copy(),
        counts[:n_entries].copy(),
    )


def removals_of_sets(rows: WeatRows, documents: "Removals", sets: Sequence[np.ndarray]) -> "Removals":
    """Sum the contributions of the documents of each set (int64), for joint removal."""
    from biaslab.origins.attribution._kernels import Removals

    unit_starts, slots, entry_starts, places, counts = [0], [], [np.zeros(1, np.int64)], [], []
    n_entries = 0
    for members in sets:
        pairs = _ranges(documents.unit_starts[members], documents.unit_starts[members + 1])
        entries = _ranges(documents.entry_starts[pairs], documents.entry_starts[pairs + 1])
        total = np.zeros(len(rows.columns), np.int64)
        np.add.at(total, documents.places[entries], documents.counts[entries])
        touched = np.flatnonzero(total)
        ends = np.searchsorted(touched, rows.starts)
        touched_rows = np.flatnonzero(np.diff(ends))
        unit_starts.append(unit_starts[-1] + len(touched_rows))
        slots.append(touched_rows.astype(np.int32))
        entry_starts.append(n_entries + ends[touched_rows + 1])
        places.append(touched)
        counts.append(total[touched])
        n_entries += len(touched)
    return Removals(
        np.array(unit_starts, np.int64), *(np.concatenate(a) for a in (slots, entry_starts, places, counts))
    )


def _ranges(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the concatenated integers of all ranges begins[k]..ends[k]."""
    lengths = ends - begins
    first = np.repeat(begins - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return first + np.arange(lengths.sum())


def differential_bias(
    rows: WeatRows,
    removals: "Removals",
    weat: WeatIndices,
    embedding: dict[str, np.ndarray],
    damping: float = Damping.damping,
    words: Sequence[str] | None = None,
    threads: int = 1,
) -> DifferentialBias:
    """Estimate the differential bias of every unit (Algorithm 1) from one trained embedding.

    `embedding` has ``W``, ``U`` (V, D) and ``b``, ``c`` (V,), the parameters of Eq. 1, of any float dtype.
    `damping` is added to the diagonal of every Hessian (0 in the paper). `words` is the vocabulary, for error
    messages. The result does not depend on `threads`.
    """
    from biaslab.core.jit import set_threads

    set_threads(threads)
    loss = local_loss(rows, weat, embedding, damping, words)
    baseline = measure_bias(embedding["W"], weat)
    evaluate = by_effect_size if weat.measure == WEAT else by_measure
    values, fallbacks = evaluate(removals, loss, rows.words, weat, embedding["W"])
    if math.isnan(baseline):
        values[:] = math.nan
    return DifferentialBias(values, fallbacks, baseline)


def by_effect_size(
    removals: "Removals", loss: "Loss", words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return differential bias (n_units, 3) and fallbacks (n_units,) of every unit, by compiled code."""
    from biaslab.origins.attribution import _kernels

    values = np.empty((removals.n_units, len(_kernels.ESTIMATORS)))
    fallbacks = np.empty(removals.n_units, np.int64)
    W = vectors[words].astype(np.float64)
    unit_vectors = W / np.linalg.norm(W, axis=1, keepdims=True)
    targets, attribute_weights = places_in_test(words, weat)
    direction = attribute_weights @ unit_vectors
    test = _kernels.TestVectors(W, unit_vectors, direction, targets, len(weat.S), attribute_weights)
    _kernels.differential_bias(removals, loss, test, values, fallbacks)
    return values, fallbacks


def by_measure(
    removals: "Removals", loss: "Loss", words: np.ndarray, weat: WeatIndices, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return differential bias by the measure of the test; see `by_effect_size`."""
    from biaslab.origins.attribution import _kernels

    values = np.empty((removals.n_units, len(_kernels.ESTIMATORS)))
    fallbacks = np.empty(removals.n_units, np.int64)
    moving = vectors.astype(np.float64)
    before = measure_bias(moving, weat)
    for begin in range(0, removals.n_units, _UNITS_AT_A_TIME):
        starts = removals.unit_starts[begin : begin + _UNITS_AT_A_TIME + 1]
        end = begin + len(starts) - 1
        influence, newton = np.empty((2, starts[-1] - starts[0], moving.shape[1]))
        scores = np.empty(end - begin)
        block = removals._replace(unit_starts=starts)
        _kernels.steps(block, loss, influence, newton, scores, fallbacks[begin:end])
        values[begin:end, _kernels.GRADIENT] = scores
        for unit, first, last in zip(range(begin, end), starts[:-1], starts[1:], strict=True):
            moved = words[removals.slots[first:last]]
            original = moving[moved]
            for estimator, steps in ((_kernels.INFLUENCE, influence), (_kernels.NEWTON, newton)):
                moving[moved] = original + steps[first - starts[0] : last - starts[0]]
                values[unit, estimator] = before - measure_bias(moving, weat) if last > first else 0.0
            moving[moved] = original
    return values, fallbacks


def local_loss(rows, weat, embedding, damping, words) -> "Loss":
    """Return the loss around the trained vectors of the words of a test; arguments as `differential_bias`.

    dB/dX_ij = -(grad_w_i B . H^-1 u_j) 2 [f'(X_ij) (fit - log X_ij) - f(X_ij) / X_ij]
    """
    from biaslab.origins.attribution import _kernels

    if not np.array_equal(rows.words, weat_words(weat)):
        raise ValueError("the rows differ from the words of the bias test; give the rows of these words")
    U, W = embedding["U"].astype(np.float64), embedding["W"][rows.words].astype(np.float64)
    H, inverse = _hessians(rows, U, damping, weat.name, words)
    n_places = len(rows.columns)
    fit, projected, Z = np.empty(n_places), np.empty(n_places), np.empty((n_places, U.shape[1]))
    b, c = embedding["b"][rows.words].astype(np.float64), embedding["c"].astype(np.float64)
    by_word = by_words(embedding["W"], weat)
    _kernels.prepare_places(rows.rows, rows.columns, U, W, b, c, inverse, by_word, fit, Z, projected)
    x, f, log_x = rows.x, rows.f, np.log(rows.x)
    slope = np.where(x < rows.x_max, rows.alpha * f / x, 0.0)
    gradient = -2 * projected * (slope * (fit - log_x) - f / x)
    return _kernels.Loss(
        rows.columns,
        rows.counts,
        rows.unit,
        rows.x_max,
        rows.alpha,
        f,
        log_x,
        fit,
        U,
        H,
        inverse,
        Z,
        gradient,
    )


def by_words(W: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of a bias by the vectors of ``weat_words(weat)``."""
    gradient = measure_gradient(W, weat)
    if weat.measure != WEAT and np.isnan(gradient).any():
        undefined = MEASURES[weat.measure].undefined
        raise InputError(f"{weat.name}: {weat.measure} is undefined: {undefined}; use other words")
    return gradient


def _hessians(rows, U, damping, test, words):
    """Return the Hessians of all rows and their inverses; raise InputError for a singular Hessian."""
    from biaslab.origins.attribution import _kernels

    dimension = U.shape[1]
    H, inverse = np.empty((2, len(rows.words), dimension, dimension))
    regular = np.empty(len(rows.words), bool)
    _kernels.hessians(rows.starts, rows.columns, rows.f, U, damping, H)
    _kernels.inverses(H, inverse, regular)
    contexts = np.diff(rows.starts)
    for i in np.flatnonzero(~regular | ((contexts < dimension) & (damping == 0))):
        name = words[rows.words[i]] if words is not None else f"with id {rows.words[i]}"
        raise InputError(
            f"{test}: the Hessian of the word '{name}' is singular: the word has {contexts[i]} contexts for"
            f" {dimension} dimensions; use a smaller dimension, a larger corpus, or a positive damping"
        )
    return H, inverse
