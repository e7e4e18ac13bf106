"""Compiled loops of co-occurrence counting and GloVe training: arrays in, arrays out, no options."""

import math

import numpy as np

from biaslab.core.jit import (
    kernel,
    parallel_kernel,
    parallel_reassociating_kernel,
    prange,
    prefetch,
    reassociating_kernel,
)

CACHE_LINE = 16  # float32 values


@kernel
def invert_tokens(tokens, starts, positions):
    """Write the positions of each word, word by word, in corpus order, to `positions`.

    tokens : (n,) int32; starts : (V + 1,) int64, cumulative word counts; positions : (n,) int64, out.
    """
    cursor = starts[:-1].copy()
    for p in range(tokens.shape[0]):
        word = tokens[p]
        positions[cursor[word]] = p
        cursor[word] += 1


def _count_rows(first, tokens, begins, ends, starts, positions, weights, capacity, indices, counts, sizes):
    """Count the neighbours of the words first, first + 1, ...; exactly one thread computes each row.

    A dense vector sums a row. A bitmap marks its nonzero entries; reading the bitmap from left to right
    yields sorted columns without sorting. Words are sorted by frequency, so each lane counts every 64th row,
    which balances the lanes.

    tokens : (n,) int32; begins, ends : (n,) int64, bounds of the document that contains a position;
    starts : (V + 1,) int64; positions : (n,) int64; weights : (window + 1,) int64, unit / distance;
    capacity : (rows + 1,) int64, bounds of output rows; indices, counts : out; sizes : (rows,) int64, out.
    """
    n_words = starts.shape[0] - 1
    n_rows = sizes.shape[0]
    window = weights.shape[0] - 1
    n_lanes = 64
    for lane in prange(n_lanes):
        total = np.zeros(n_words, np.int64)
        touched = np.zeros((n_words + 63) // 64, np.uint64)
        for r in range(lane, n_rows, n_lanes):
            word = first + r
            for o in range(starts[word], starts[word + 1]):
                p = positions[o]
                for q in range(max(begins[p], p - window), p):
                    j = tokens[q]
                    total[j] += weights[p - q]
                    touched[j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                for q in range(p + 1, min(ends[p], p + window + 1)):
                    j = tokens[q]
                    total[j] += weights[q - p]
                    touched[j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            k = capacity[r]
            for block in range(touched.shape[0]):
                bits = touched[block]
                j = block << 6
                while bits != 0:
                    if bits & np.uint64(1):
                        indices[k] = j
                        counts[k] = total[j]
                        total[j] = 0
                        k += 1
                    bits >>= np.uint64(1)
                    j += 1
                touched[block] = 0
            sizes[r] = k - capacity[r]


def _compact_rows(capacity, targets, indices, counts, out_indices, out_counts):
    """Copy the filled part of every row to its final place: row r to targets[r]..targets[r + 1].

    capacity, targets : (rows + 1,) int64.
    """
    for r in prange(targets.shape[0] - 1):
        source = capacity[r]
        for k in range(targets[r + 1] - targets[r]):
            out_indices[targets[r] + k] = indices[source + k]
            out_counts[targets[r] + k] = counts[source + k]


def _subtract_rows(indptr, indices, counts, removed_indptr, removed_indices, removed_counts, out):
    """Write ``counts - removed`` to `out`; if `removed` has an additional entry, set ``out[0] = -1``.

    Both matrices are CSR with sorted columns and int64 counts; `out` is shaped like `counts`.
    """
    for row in prange(indptr.shape[0] - 1):
        k = indptr[row]
        end = indptr[row + 1]
        for r in range(removed_indptr[row], removed_indptr[row + 1]):
            column = removed_indices[r]
            while k < end and indices[k] < column:
                out[k] = counts[k]
                k += 1
            if k == end or indices[k] != column:
                out[0] = -1
                break
            out[k] = counts[k] - removed_counts[r]
            k += 1
        while k < end:
            out[k] = counts[k]
            k += 1


# Serial code gives the same integers and compiles in a fraction of the time.
COUNT_ROWS = {False: kernel(_count_rows), True: parallel_kernel(_count_rows)}
COMPACT_ROWS = {False: kernel(_compact_rows), True: parallel_kernel(_compact_rows)}
SUBTRACT_ROWS = {False: kernel(_subtract_rows), True: parallel_kernel(_subtract_rows)}


@reassociating_kernel
def train_block(rows_of, columns_of, rows, columns, log_x, f_x, low, high, rates_w, rates_u):
    """Visit the records low..high once (AdaGrad on Eq. 1 of Brunet et al. 2019); return their summed loss.

    Row i of `rows_of` (V, 2 * width) float32 holds ``[w_i, b_i, 1, 0...]``, then the sums of squared
    gradients of these parameters; row j of `columns_of` holds ``[u_j, 1, c_j, 0...]`` in the same layout. One
    dot product is therefore w_i.u_j + b_i + c_j. `rates_w`, `rates_u` (width,) float32 hold the learning rate
    of each parameter: 1 for the biases, as in the reference code, and 0 for the constants and the padding.
    Unsigned indices avoid a test for negative indices in the loops.
    """
    half = np.float32(0.5)
    clip = np.float32(100)
    width = np.uint64(rates_w.shape[0])
    loss = 0.0
    for k in range(np.uint64(low), np.uint64(high)):
        ahead = min(k + np.uint64(1), np.uint64(high) - np.uint64(1))
        for line in range(0, rows_of.shape[1], CACHE_LINE):
            prefetch(rows_of, np.intp(rows[ahead]), np.intp(line))
            prefetch(columns_of, np.intp(columns[ahead]), np.intp(line))
        w = rows_of[np.uint64(rows[k])]
        u = columns_of[np.uint64(columns[k])]
        dot = np.float32(0)
        for d in range(width):
            dot += w[d] * u[d]
        difference = dot - log_x[k]
        gradient = f_x[k] * difference
        loss += half * gradient * difference
        for d in range(width):
            sum_w = w[width + d]
            sum_u = u[width + d]
            step_w = min(max(gradient * u[d], -clip), clip) * rates_w[d]
            step_u = min(max(gradient * w[d], -clip), clip) * rates_u[d]
            w[d] -= step_w / math.sqrt(sum_w)
            u[d] -= step_u / math.sqrt(sum_u)
            w[width + d] = sum_w + step_w * step_w
            u[width + d] = sum_u + step_u * step_u
    return loss


@parallel_reassociating_kernel
def train_round(rows_of, columns_of, rows, columns, log_x, f_x, starts, blocks, rates_w, rates_u, losses):
    """Train blocks that share no row and no column; the result does not depend on their order."""
    for g in prange(blocks.shape[0]):
        block = blocks[g]
        losses[block] = train_block(
            rows_of, columns_of, rows, columns, log_x, f_x, starts[block], starts[block + 1], rates_w, rates_u
        )


@kernel
def train_epoch(rows_of, columns_of, rows, columns, log_x, f_x, starts, schedule, rates_w, rates_u, losses):
    """Visit every record once, round by round; `schedule` (B, B) int64 contains the blocks of each round."""
    for r in range(schedule.shape[0]):
        train_round(
            rows_of, columns_of, rows, columns, log_x, f_x, starts, schedule[r], rates_w, rates_u, losses
        )
