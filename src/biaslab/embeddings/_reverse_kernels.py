"""Compiled loops that reverse a GloVe training: arrays in, arrays out, no options.

Symbols and layout as in `biaslab.embeddings._kernels.train_block`. A *bar* of a parameter or of a sum of
squared gradients is the derivative of the final measure by its current value.
"""

import math

import numpy as np

from biaslab.core.jit import parallel_reassociating_kernel, prange, reassociating_kernel


@reassociating_kernel
def reverse_steps(
    gradient, w, u, sums_w, sums_u, rates_w, rates_u, bar_w, bar_u, sum_bar_w, sum_bar_u, by_w, by_u
):
    """Reverse the step of each parameter of one record; return the derivative by its `gradient`.

    All except `gradient` are (width,): parameters and sums of squared gradients before the step, and the bars
    of parameters and sums. The bars of the sums are updated to before the step. by_w, by_u : out, the
    derivatives by ``gradient * u`` and ``gradient * w``.
    """
    half, one, two = np.float32(0.5), np.float32(1), np.float32(2)
    clip = np.float32(100)
    by_gradient = 0.0
    for d in range(np.uint64(w.shape[0])):
        gradient_w = gradient * u[d]
        gradient_u = gradient * w[d]
        free_w = rates_w[d] if abs(gradient_w) < clip else np.float32(0)
        free_u = rates_u[d] if abs(gradient_u) < clip else np.float32(0)
        step_w = min(max(gradient_w, -clip), clip) * rates_w[d]
        step_u = min(max(gradient_u, -clip), clip) * rates_u[d]
        scale_w = one / math.sqrt(sums_w[d])
        scale_u = one / math.sqrt(sums_u[d])
        found_w = free_w * (two * step_w * sum_bar_w[d] - scale_w * bar_w[d])
        found_u = free_u * (two * step_u * sum_bar_u[d] - scale_u * bar_u[d])
        sum_bar_w[d] += half * step_w * scale_w * scale_w * scale_w * bar_w[d]
        sum_bar_u[d] += half * step_u * scale_u * scale_u * scale_u * bar_u[d]
        by_gradient += found_w * u[d] + found_u * w[d]
        by_w[d] = found_w
        by_u[d] = found_u
    return by_gradient


@reassociating_kernel
def reverse_block(
    rows_of,
    columns_of,
    rows,
    columns,
    log_x,
    f_x,
    low,
    high,
    rates_w,
    rates_u,
    row_bars,
    column_bars,
    by_f,
    by_product,
    met,
    by_w,
    by_u,
):
    """Train on the records low..high as `train_block` does, store the parameters before each, and reverse.

    rows_of, columns_of : parameters before the block, after it on return; row_bars, column_bars :
    (V, 2 * width) float64, bars after the block, before it on return; by_f, by_product : (nnz,) float64, to
    which the derivatives by f(X_ij) and by f(X_ij) log X_ij of each record are added. Work space: met
    (high - low or more, 4 * width + 2) float32, the stored parameters; by_w, by_u (width,) float64.
    """
    clip = np.float32(100)
    width = np.uint64(rates_w.shape[0])
    n = np.uint64(high - low)
    first = np.uint64(low)
    for k in range(n):
        record = first + k
        w = rows_of[np.uint64(rows[record])]
        u = columns_of[np.uint64(columns[record])]
        kept = met[k]
        dot = np.float32(0)
        for d in range(width):
            dot += w[d] * u[d]
        gradient = f_x[record] * (dot - log_x[record])
        for d in range(2 * width):
            kept[d] = w[d]
            kept[2 * width + d] = u[d]
        for d in range(width):
            sum_w = w[width + d]
            sum_u = u[width + d]
            step_w = min(max(gradient * u[d], -clip), clip) * rates_w[d]
            step_u = min(max(gradient * w[d], -clip), clip) * rates_u[d]
            w[d] -= step_w / math.sqrt(sum_w)
            u[d] -= step_u / math.sqrt(sum_u)
            w[width + d] = sum_w + step_w * step_w
            u[width + d] = sum_u + step_u * step_u
        kept[4 * width] = dot
        kept[4 * width + 1] = gradient
    for back in range(n):
        k = n - np.uint64(1) - back
        record = first + k
        kept = met[k]
        w, u = kept[:width], kept[2 * width : 3 * width]
        dot, gradient = kept[4 * width], kept[4 * width + 1]
        row, column = np.uint64(rows[record]), np.uint64(columns[record])
        bar_w, bar_u = row_bars[row, :width], column_bars[column, :width]
        by_gradient = reverse_steps(
            gradient,
            w,
            u,
            kept[width : 2 * width],
            kept[3 * width : 4 * width],
            rates_w,
            rates_u,
            bar_w,
            bar_u,
            row_bars[row, width:],
            column_bars[column, width:],
            by_w,
            by_u,
        )
        by_dot = f_x[record] * by_gradient
        for d in range(width):
            bar_w[d] += by_dot * u[d] + gradient * by_u[d]
            bar_u[d] += by_dot * w[d] + gradient * by_w[d]
        by_f[record] += by_gradient * dot
        by_product[record] -= by_gradient


@parallel_reassociating_kernel
def reverse_round(
    rows_of,
    columns_of,
    rows,
    columns,
    log_x,
    f_x,
    starts,
    blocks,
    rates_w,
    rates_u,
    row_bars,
    column_bars,
    by_f,
    by_product,
    met,
    by_w,
    by_u,
):
    """Reverse blocks that share no row and no column; the result does not depend on their order.

    met : (lanes, records of the largest block, 4 * width + 2), by_w, by_u : (lanes, width), work space for as
    many concurrent blocks.
    """
    lanes = met.shape[0]
    for lane in prange(lanes):
        for g in range(lane, blocks.shape[0], lanes):
            low, high = starts[blocks[g]], starts[blocks[g] + 1]
            reverse_block(
                rows_of,
                columns_of,
                rows,
                columns,
                log_x,
                f_x,
                low,
                high,
                rates_w,
                rates_u,
                row_bars,
                column_bars,
                by_f,
                by_product,
                met[lane],
                by_w[lane],
                by_u[lane],
            )
