"""Compiled loops that compute PPMI effect sizes without each document: arrays in, arrays out, no options.

A *place* is an entry of the rows of X of the words of a bias test, numbered row after row. Counts and their
sums are whole numbers, in units that cancel.
"""

import math

import numpy as np

from biaslab.core.jit import parallel_reassociating_kernel, prange, reassociating_kernel

_LANES = 64
_ROUNDING = 1e-12  # smaller spreads and PPMI count as 0, as in biaslab.bias.weat and embeddings.ppmi


@reassociating_kernel
def unscaled_row(first, last, columns, log_x, log_sums, shift, values):
    """Write the PPMI of the places first..last to `values`; return the square of the row's length."""
    square = 0.0
    for k in range(last - first):
        value = log_x[first + k] - log_sums[columns[first + k]] + shift
        value = value if value > _ROUNDING else 0.0
        values[k] = value
        square += value * value
    return square


@reassociating_kernel
def effect_size(
    words, starts, columns, log_x, log_sums, log_total, targets, n_first, attribute_weights, direction, values
):
    """Return Eq. 4 on the PPMI rows; NaN if a word has a zero row or the associations have no spread.

    words (m,) int64; starts (m + 1,) int64; columns (nnz,) int32; log_x (nnz,), log_sums (V,) float64;
    targets (n,) int64, row numbers, S first; attribute_weights (m,) float64, 1/|A| in A, -1/|B| in B;
    direction (V,) and values (longest row,) float64, work space.
    """
    direction[:] = 0.0
    for i in range(words.shape[0]):
        if attribute_weights[i] != 0.0:
            first, last = starts[i], starts[i + 1]
            shift = log_total - log_sums[words[i]]
            square = unscaled_row(first, last, columns, log_x, log_sums, shift, values)
            if square == 0.0:
                return math.nan
            scale = attribute_weights[i] / math.sqrt(square)
            for k in range(last - first):
                direction[columns[first + k]] += scale * values[k]
    n = targets.shape[0]
    g = np.empty(n)
    mean = 0.0
    difference = 0.0
    for t in range(n):
        i = targets[t]
        first, last = starts[i], starts[i + 1]
        shift = log_total - log_sums[words[i]]
        square = unscaled_row(first, last, columns, log_x, log_sums, shift, values)
        if square == 0.0:
            return math.nan
        total = 0.0
        for k in range(last - first):
            total += values[k] * direction[columns[first + k]]
        g[t] = total / math.sqrt(square)
        mean += g[t] / n
        difference += g[t] / n_first if t < n_first else -g[t] / (n - n_first)
    square = 0.0
    for t in range(n):
        square += (g[t] - mean) * (g[t] - mean)
    spread = math.sqrt(square / (n - 1))
    return difference / spread if spread > _ROUNDING else math.nan


@reassociating_kernel
def find(columns, first, last, column):
    """Return the position of `column`, which must exist, among the ascending columns at first..last."""
    while last - first > 1:
        middle = (first + last) // 2
        if columns[middle] <= column:
            first = middle
        else:
            last = middle
    return first


@parallel_reassociating_kernel
def effect_sizes_without(
    tokens, offsets, weights, reach, slot_of, words, starts, columns, counts, log_x, sums, log_sums, total,
    targets, n_first, attribute_weights, longest_row, out,
):  # fmt: skip
    """Write the effect size without each document to `out` (n_documents,) float64.

    A lane computes every 64th document. It keeps the logarithms of X and of its sums, updates those that the
    document changes (sums of its words, entries of the test's rows) from the exact counts, and restores them.
    tokens (n,) int32; offsets (n_documents + 1,) int64; weights, reach (window + 1,) int64, the weight of a
    neighbour by distance (unit / distance), and its cumulative sum; slot_of (V,) int32, row number or -1;
    counts (nnz,), sums (V,), total: int64, X, its row sums and their sum; longest_row: places of the longest
    row. Other arguments as for `effect_size`.
    """
    n_documents = out.shape[0]
    window = weights.shape[0] - 1
    longest = 0
    for document in range(n_documents):
        longest = max(longest, offsets[document + 1] - offsets[document])
    for lane in prange(min(_LANES, n_documents)):
        left, log_left = counts.copy(), log_x.copy()
        sums_left, log_sums_left = sums.copy(), log_sums.copy()
        direction, values = np.empty(sums.shape[0]), np.empty(longest_row)
        touched = np.empty(2 * window * longest, np.int64)
        for document in range(lane, n_documents, _LANES):
            begin, end = offsets[document], offsets[document + 1]
            total_left = total
            n_touched = 0
            for p in range(begin, end):
                taken = reach[min(window, p - begin)] + reach[min(window, end - 1 - p)]
                sums_left[tokens[p]] -= taken
                total_left -= taken
                slot = slot_of[tokens[p]]
                if slot >= 0:
                    for q in range(max(begin, p - window), min(end, p + window + 1)):
                        if q != p:
                            place = find(columns, starts[slot], starts[slot + 1], tokens[q])
                            left[place] -= weights[abs(q - p)]
                            touched[n_touched] = place
                            n_touched += 1
            for p in range(begin, end):  # a word without context is in no remaining column
                log_sums_left[tokens[p]] = math.log(max(sums_left[tokens[p]], 1))
            for k in range(n_touched):
                place = touched[k]
                log_left[place] = math.log(left[place]) if left[place] > 0 else -math.inf
            out[document] = effect_size(
                words, starts, columns, log_left, log_sums_left, math.log(max(total_left, 1)), targets,
                n_first, attribute_weights, direction, values,
            )  # fmt: skip
            for p in range(begin, end):
                sums_left[tokens[p]] = sums[tokens[p]]
                log_sums_left[tokens[p]] = log_sums[tokens[p]]
            for k in range(n_touched):
                left[touched[k]] = counts[touched[k]]
                log_left[touched[k]] = log_x[touched[k]]
