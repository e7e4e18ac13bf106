"""Compiled loops of the differential bias: arrays in, arrays out, no options.

Symbols as in Brunet et al. 2019, Section 4.2. A *place* is an entry of the rows of X of the words of a bias
test, numbered row after row. A *unit* is a document or a set of documents to remove.
"""

import math
from typing import NamedTuple

import numpy as np

from biaslab.core.jit import kernel, parallel_reassociating_kernel, prange, reassociating_kernel

INFLUENCE, NEWTON, GRADIENT = ESTIMATORS = range(3)
# A Hessian is singular if a pivot is at most this multiple of its largest diagonal entry.
_LEAST_PIVOT = 1e-10
_LEAST_PIVOT_PERTURBED = 1e-9


class Removals(NamedTuple):
    """The counts that the removal of each unit subtracts from the rows of a bias test."""

    unit_starts: np.ndarray  # (n_units + 1,) int64, the start of each unit's changed rows in `slots`
    slots: np.ndarray  # (n_pairs,) int32, the numbers of the changed rows
    entry_starts: np.ndarray  # (n_pairs + 1,) int64, the start of each changed row's entries
    places: np.ndarray  # (n_entries,) int64, the changed entries
    counts: np.ndarray  # (n_entries,) int64, the subtracted counts, in units of 1 / `Loss.unit`

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.unit_starts) - 1


class Loss(NamedTuple):
    """The loss around the trained vectors of the m words of a test."""

    columns: np.ndarray  # (nnz,) int32, the context word of each place
    counts: np.ndarray  # (nnz,) int64, X_ij in units of 1 / unit
    unit: int
    x_max: float  # parameters x_max and alpha of the weighting f (below Eq. 1)
    alpha: float
    f: np.ndarray  # (nnz,) float64, f(X_ij)
    log_x: np.ndarray  # (nnz,) float64, log X_ij
    fit: np.ndarray  # (nnz,) float64, w_i.u_j + b_i + c_j
    U: np.ndarray  # (V, D) float64, the context vectors
    H: np.ndarray  # (m, D, D) float64, the Hessians
    inverse: np.ndarray  # (m, D, D) float64, their inverses
    Z: np.ndarray  # (nnz, D) float64, H_w_i^-1 u_j
    bias_gradient: np.ndarray  # (nnz,) float64, dB/dX_ij


class TestVectors(NamedTuple):
    """The word vectors of a test; symbols as in biaslab.bias.weat."""

    W: np.ndarray  # (m, D) float64
    unit_vectors: np.ndarray  # (m, D) float64
    direction: np.ndarray  # (D,) float64
    targets: np.ndarray  # (n,) int64, the row numbers of the targets, S first
    n_first: int  # |S|
    attribute_weights: np.ndarray  # (m,) float64, 1/|A| in A, -1/|B| in B


@kernel
def find_removals(
    tokens, offsets, slot_of, starts, columns, weights, unit_starts, slots, entry_starts, places, counts
):
    """List the contributions of each document to the rows of a bias test; return (pairs, entries).

    tokens (n,) int32; offsets (n_documents + 1,) int64; slot_of (V,) int32, row number or -1; starts (m + 1,)
    and columns (nnz,) int32, the rows; weights (window + 1,) int64, unit / distance. Out, at least these
    sizes: unit_starts (n_documents + 1,) int64; slots (pairs,) int32; entry_starts (pairs + 1,); places,
    counts (entries,) int64.
    """
    n_words = slot_of.shape[0]
    window = weights.shape[0] - 1
    n_pairs = 0
    n_entries = 0
    unit_starts[0] = 0
    entry_starts[0] = 0
    for document in range(offsets.shape[0] - 1):
        begin, end = offsets[document], offsets[document + 1]
        n_neighbours = 0
        for p in range(begin, end):
            if slot_of[tokens[p]] >= 0:
                n_neighbours += min(end, p + window + 1) - max(begin, p - window) - 1
        keys = np.empty(n_neighbours, np.int64)
        k = 0
        for p in range(begin, end):
            slot = np.int64(slot_of[tokens[p]])
            if slot >= 0:
                for q in range(max(begin, p - window), min(end, p + window + 1)):
                    if q != p:
                        keys[k] = (slot * n_words + tokens[q]) * (window + 1) + abs(q - p)
                        k += 1
        keys.sort()
        pair, slot, place = np.int64(-1), np.int64(-1), np.int64(0)
        for k in range(n_neighbours):
            entry = keys[k] // (window + 1)
            weight = weights[keys[k] % (window + 1)]
            if entry == pair:
                counts[n_entries - 1] += weight
                continue
            pair = entry
            if entry // n_words != slot:
                slot = entry // n_words
                place = starts[slot]
                slots[n_pairs] = slot
                n_pairs += 1
            while columns[place] != entry % n_words:
                place += 1
            places[n_entries] = place
            counts[n_entries] = weight
            n_entries += 1
            entry_starts[n_pairs] = n_entries
        unit_starts[document + 1] = n_pairs
    return n_pairs, n_entries


@reassociating_kernel
def add_outer_products(scales, columns, U, A):
    """Add ``sum_e scales[e] u_e u_e^T``, with u_e = U[columns[e]], to the lower triangle of A (D, D).

    Four products are added at a time, so that each entry of A is loaded and stored once per four products.
    """
    dimension = A.shape[0]
    n = scales.shape[0]
    for e in range(0, n, 4):
        e1, e2, e3 = min(e + 1, n - 1), min(e + 2, n - 1), min(e + 3, n - 1)
        u0, u1, u2, u3 = U[columns[e]], U[columns[e1]], U[columns[e2]], U[columns[e3]]
        s0 = scales[e]
        s1 = scales[e1] if e + 1 < n else 0.0
        s2 = scales[e2] if e + 2 < n else 0.0
        s3 = scales[e3] if e + 3 < n else 0.0
        for a in range(dimension):
            t0, t1, t2, t3 = s0 * u0[a], s1 * u1[a], s2 * u2[a], s3 * u3[a]
            row = A[a]
            for b in range(a + 1):
                row[b] += t0 * u0[b] + t1 * u1[b] + t2 * u2[b] + t3 * u3[b]


@parallel_reassociating_kernel
def hessians(starts, columns, f, U, damping, H):
    """Compute H_w_i = sum_j 2 f(X_ij) u_j u_j^T (below Eq. 7) plus ``damping`` on the diagonal, for all i.

    starts (m + 1,) int64; columns (nnz,) int32; f (nnz,) float64; U (V, D) float64; H (m, D, D) float64, out.
    """
    for i in prange(H.shape[0]):
        block = H[i]
        block[:] = 0.0
        row = slice(starts[i], starts[i + 1])
        add_outer_products(2.0 * f[row], columns[row], U, block)
        for a in range(block.shape[0]):
            block[a, a] += damping
            for b in range(a):
                block[b, a] = block[a, b]


@reassociating_kernel
def cholesky(A, n, least):
    """Replace the lower triangle of A[:n, :n] by its Cholesky factor; return whether all pivots > `least`."""
    for i in range(n):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / A[j, j]
        pivot = A[i, i]
        for k in range(i):
            pivot -= A[i, k] * A[i, k]
        if not pivot > least:
            return False
        A[i, i] = math.sqrt(pivot)
    return True


@reassociating_kernel
def solve_cholesky(L, n, x):
    """Replace x[:n] by the solution of L L^T y = x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@parallel_reassociating_kernel
def inverses(H, inverse, regular):
    """Invert every H[i] (m, D, D) into `inverse`; `regular` (m,) bool marks positive definite H[i]."""
    dimension = H.shape[1]
    for i in prange(H.shape[0]):
        L = H[i].copy()
        largest = 0.0
        for a in range(dimension):
            largest = max(largest, L[a, a])
        regular[i] = cholesky(L, dimension, _LEAST_PIVOT * largest)
        if regular[i]:
            for a in range(dimension):
                inverse[i, a] = 0.0
                inverse[i, a, a] = 1.0
                solve_cholesky(L, dimension, inverse[i, a])


@parallel_reassociating_kernel
def prepare_places(rows, columns, U, W, b, c, inverse, by_word, fit, Z, projected):
    """Compute fit = w_i.u_j + b_i + c_j, Z = H_w_i^-1 u_j and grad_w_i B . Z at every place.

    rows, columns (nnz,) int32, the row number and the context word; U (V, D), W (m, D) float64; b (m,), c
    (V,); inverse (m, D, D); by_word (m, D), grad_w_i B; out: fit (nnz,), Z (nnz, D), projected (nnz,)
    float64.
    """
    dimension = U.shape[1]
    for place in prange(rows.shape[0]):
        i = rows[place]
        u = U[columns[place]]
        z = Z[place]
        z[:] = 0.0
        for a in range(dimension):
            scale = u[a]
            row = inverse[i, a]
            for d in range(dimension):
                z[d] += scale * row[d]
        total = b[i] + c[columns[place]]
        projection = 0.0
        for d in range(dimension):
            total += W[i, d] * u[d]
            projection += by_word[i, d] * z[d]
        fit[place] = total
        projected[place] = projection


@reassociating_kernel
def gradient_change(loss, entries, removed, drops, change):
    """Compute [grad L(X~_i) - grad L(X_i)] / V (Eq. 8) and the decrease of H_w_i from the changed entries.

    entries (k,) places; removed (k,) int64; out: drops (k,) = 2 (f(X) - f(X~)), the decrease of the Hessian's
    coefficient of u_j u_j^T; change (D,).
    """
    change[:] = 0.0
    for e in range(entries.shape[0]):
        place = entries[e]
        left = loss.counts[place] - removed[e]
        after = 0.0
        f_after = 0.0
        if left > 0:
            x = left / loss.unit
            f_after = (x / loss.x_max) ** loss.alpha if x < loss.x_max else 1.0
            after = f_after * (loss.fit[place] - math.log(x))
        drops[e] = 2.0 * (loss.f[place] - f_after)
        coefficient = 2.0 * (after - loss.f[place] * (loss.fit[place] - loss.log_x[place]))
        u = loss.U[loss.columns[place]]
        for d in range(change.shape[0]):
            change[d] += coefficient * u[d]


@reassociating_kernel
def influence_step(inverse, change, step):
    """Compute the step of Eq. 8, -H^-1 change."""
    for a in range(step.shape[0]):
        total = 0.0
        for b in range(step.shape[0]):
            total += inverse[a, b] * change[b]
        step[a] = -total


@reassociating_kernel
def newton_step_wide(entries, drops, columns, U, H, change, step):
    """Compute the step -H~^-1 change with the Hessian at X~; return False, without a step, if H~ is singular.

    H~ = H - U^T diag(drops) U over the entries (k,) with a changed weight.
    """
    dimension = step.shape[0]
    A = H.copy()
    largest = 0.0
    for d in range(dimension):
        largest = max(largest, A[d, d])
    add_outer_products(-drops, columns[entries], U, A)
    if not cholesky(A, dimension, _LEAST_PIVOT_PERTURBED * largest):
        return False
    for d in range(dimension):
        step[d] = -change[d]
    solve_cholesky(A, dimension, step)
    return True


@reassociating_kernel
def newton_step_narrow(entries, drops, columns, U, Z, step):
    """Convert the step of Eq. 8 to that of `newton_step_wide`, in k dimensions instead of D.

    With R = diag(sqrt(drops)) and G = U H^-1 U^T over the entries, the Woodbury identity gives
    step~ = step + Z^T R (1 - R G R)^-1 R U step.
    """
    k = entries.shape[0]
    root = np.sqrt(drops)
    A = np.empty((k, k))
    right = np.empty(k)
    for e in range(k):
        u = U[columns[entries[e]]]
        total = 0.0
        for d in range(step.shape[0]):
            total += u[d] * step[d]
        right[e] = root[e] * total
        for g in range(0, e + 1, 4):  # four products at a time: each u[d] is loaded once per four
            g1, g2, g3 = min(g + 1, e), min(g + 2, e), min(g + 3, e)
            z0, z1, z2, z3 = Z[entries[g]], Z[entries[g1]], Z[entries[g2]], Z[entries[g3]]
            t0 = t1 = t2 = t3 = 0.0
            for d in range(step.shape[0]):
                t0 += u[d] * z0[d]
                t1 += u[d] * z1[d]
                t2 += u[d] * z2[d]
                t3 += u[d] * z3[d]
            A[e, g], A[e, g1], A[e, g2], A[e, g3] = t0, t1, t2, t3
        for g in range(e + 1):
            A[e, g] *= -root[e] * root[g]
        A[e, e] += 1.0
    if not cholesky(A, k, _LEAST_PIVOT_PERTURBED):
        return False
    solve_cholesky(A, k, right)
    for e in range(k):
        z = Z[entries[e]]
        scale = root[e] * right[e]
        for d in range(step.shape[0]):
            step[d] += scale * z[d]
    return True


@reassociating_kernel
def perturbed_effect_size(slots, steps, test):
    """Return Eq. 4 after moving the words `slots` (k,) by `steps` (k, D)."""
    dimension = test.W.shape[1]
    h = test.direction.copy()
    moved = np.empty_like(steps)
    where = np.full(test.W.shape[0], -1, np.int64)
    for k in range(slots.shape[0]):
        i = slots[k]
        where[i] = k
        square = 0.0
        for d in range(dimension):
            moved[k, d] = test.W[i, d] + steps[k, d]
            square += moved[k, d] * moved[k, d]
        scale = 1.0 / math.sqrt(square)
        for d in range(dimension):
            moved[k, d] *= scale
            h[d] += test.attribute_weights[i] * (moved[k, d] - test.unit_vectors[i, d])
    n = test.targets.shape[0]
    g = np.empty(n)
    difference = 0.0
    mean = 0.0
    for t in range(n):
        i = test.targets[t]
        vector = moved[where[i]] if where[i] >= 0 else test.unit_vectors[i]
        total = 0.0
        for d in range(dimension):
            total += vector[d] * h[d]
        g[t] = total
        mean += total / n
        difference += total / test.n_first if t < test.n_first else -total / (n - test.n_first)
    square = 0.0
    for t in range(n):
        square += (g[t] - mean) * (g[t] - mean)
    return difference / math.sqrt(square / (n - 1))


@reassociating_kernel
def unit_steps(first, last, removals, loss, influence, newton):
    """Compute the steps of the words of a unit's changed rows; return its `gradient` score and its fallbacks.

    first, last : bounds of its changed rows in `slots`; influence, newton : (last - first, D) float64, out,
    the steps by either estimator. The score is in units of X.
    """
    dimension = loss.U.shape[1]
    score = 0.0
    fallbacks = 0
    for k in range(last - first):
        slot = removals.slots[first + k]
        low, high = removals.entry_starts[first + k], removals.entry_starts[first + k + 1]
        entries, taken = removals.places[low:high], removals.counts[low:high]
        drops, change = np.empty(high - low), np.empty(dimension)
        gradient_change(loss, entries, taken, drops, change)
        influence_step(loss.inverse[slot], change, influence[k])
        for d in range(dimension):
            newton[k, d] = influence[k, d]
        changed = drops > 0.0  # above x_max the weight, and so the Hessian, is constant
        places, lost = entries[changed], drops[changed]
        if places.shape[0] < dimension:
            regular = newton_step_narrow(places, lost, loss.columns, loss.U, loss.Z, newton[k])
        else:
            regular = newton_step_wide(places, lost, loss.columns, loss.U, loss.H[slot], change, newton[k])
        fallbacks += not regular
        for e in range(high - low):
            score += loss.bias_gradient[entries[e]] * taken[e]
    return score, fallbacks


@parallel_reassociating_kernel
def steps(removals, loss, influence, newton, scores, fallbacks):
    """Compute `unit_steps` of consecutive units, for a measure of bias that the caller evaluates.

    influence, newton : (changed rows of these units, D) float64, out; scores : (n_units,) float64, out;
    fallbacks : (n_units,) int64, out.
    """
    begin = removals.unit_starts[0]
    for p in prange(scores.shape[0]):
        first, last = removals.unit_starts[p], removals.unit_starts[p + 1]
        mine = slice(first - begin, last - begin)
        score, fallbacks[p] = unit_steps(first, last, removals, loss, influence[mine], newton[mine])
        scores[p] = score / loss.unit


@parallel_reassociating_kernel
def differential_bias(removals, loss, test, out, fallbacks):
    """Compute B(w) - B(w~) (Eq. 5) for the removal of every unit, by the three estimators; B is Eq. 4.

    out : (n_units, 3) float64; fallbacks : (n_units,) int64, number of words whose Hessian at X~ is not
    positive definite; their `newton` step is that of Eq. 8.
    """
    dimension = test.W.shape[1]
    before = perturbed_effect_size(np.empty(0, np.int32), np.empty((0, dimension)), test)
    for p in prange(out.shape[0]):
        first, last = removals.unit_starts[p], removals.unit_starts[p + 1]
        influence, newton = np.empty((2, last - first, dimension))
        score, fallbacks[p] = unit_steps(first, last, removals, loss, influence, newton)
        words = removals.slots[first:last]
        out[p, INFLUENCE] = out[p, NEWTON] = 0.0
        if last > first:
            out[p, INFLUENCE] = before - perturbed_effect_size(words, influence, test)
            out[p, NEWTON] = before - perturbed_effect_size(words, newton, test)
        out[p, GRADIENT] = score / loss.unit
