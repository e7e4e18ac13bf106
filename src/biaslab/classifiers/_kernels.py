"""Compiled kernels for fully connected networks: many samples side by side, each with its own sums.

The samples of a block are stored along the innermost axis, so that one weight multiplies an entire block. A
block is always full (padded with zeros), so that every sample passes the same instructions in the same order,
independently of the rest of the batch. The units of a layer are padded to a multiple of `LANES` with units
that are always zero, so that sums over units are unrolled without remainders.
"""

import numpy as np

from biaslab.core.jit import parallel_reassociating_kernel, prange, reassociating_kernel

BLOCK = 64
"""Number of samples in a block."""
LANES = 4
"""Units that are summed at a time, and sums that are computed at a time."""


@reassociating_kernel
def add_products(weights, w, step, next_unit, rows, first, sums, above):
    """Add to four rows of `sums` four rows of `rows`, times their weights; both may be the same array.

    The first weight is at `w`. The distance to the weight of the next row is `step`, and to that of the next
    sum `next_unit`. Every value is read once for four sums, and every sum is written once for four products.
    """
    v, u, t = w + next_unit, w + 2 * next_unit, w + 3 * next_unit
    w0, w1, w2, w3 = weights[w], weights[w + step], weights[w + 2 * step], weights[w + 3 * step]
    v0, v1, v2, v3 = weights[v], weights[v + step], weights[v + 2 * step], weights[v + 3 * step]
    u0, u1, u2, u3 = weights[u], weights[u + step], weights[u + 2 * step], weights[u + 3 * step]
    t0, t1, t2, t3 = weights[t], weights[t + step], weights[t + 2 * step], weights[t + 3 * step]
    for s in range(BLOCK):
        r0, r1, r2, r3 = rows[first, s], rows[first + 1, s], rows[first + 2, s], rows[first + 3, s]
        sums[above, s] += (w0 * r0 + w1 * r1) + (w2 * r2 + w3 * r3)
        sums[above + 1, s] += (v0 * r0 + v1 * r1) + (v2 * r2 + v3 * r3)
        sums[above + 2, s] += (u0 * r0 + u1 * r1) + (u2 * r2 + u3 * r3)
        sums[above + 3, s] += (t0 * r0 + t1 * r1) + (t2 * r2 + t3 * r3)


@reassociating_kernel
def forward_block(X, start, sizes, weights, biases, activations):
    """Fill the activations of all layers for the block of samples `X`, (n, d), that begins at `start`.

    sizes : (L + 1,) int64, numbers of units of the input and of each layer, padded
    weights : (sum of in * out,) float32, the layers' matrices one after the other, each by output unit, then
        by input unit
    biases : (sum of out,) float32
    activations : (sum of sizes, BLOCK) float32, filled with the inputs, then each layer after its ReLU; the
        last layer has the logits
    """
    count = min(BLOCK, X.shape[0] - start)
    activations[: sizes[0]] = 0.0
    for s in range(count):
        for i in range(X.shape[1]):
            activations[i, s] = X[start + s, i]
    below, above, w, b = 0, sizes[0], 0, 0
    n_layers = sizes.size - 1
    for layer in range(n_layers):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        for j in range(0, n_out, LANES):
            for lane in range(j, j + LANES):
                activations[above + lane] = biases[b + lane]
            for i in range(0, n_in, LANES):
                add_products(
                    weights, w + j * n_in + i, 1, n_in, activations, below + i, activations, above + j
                )
        if layer < n_layers - 1:
            for j in range(above, above + n_out):
                for s in range(BLOCK):
                    activations[j, s] = max(activations[j, s], np.float32(0.0))
        below, above, w, b = above, above + n_out, w + n_in * n_out, b + n_out


@reassociating_kernel
def backward_block(sizes, weights, activations, errors):
    """Propagate the derivatives by the logits back to the inputs, in place, after `forward_block`.

    errors : (sum of sizes, BLOCK) float32, derivatives of the loss by the units; the last layer is the input,
    other layers are filled.
    """
    n_layers = sizes.size - 1
    above = np.sum(sizes) - sizes[n_layers]
    w = weights.size
    for layer in range(n_layers - 1, -1, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        below = above - n_in
        w -= n_in * n_out
        for i in range(0, n_in, LANES):
            errors[below + i : below + i + LANES] = 0.0
            for j in range(0, n_out, LANES):
                add_products(weights, w + j * n_in + i, n_in, 1, errors, above + j, errors, below + i)
        if layer > 0:
            for i in range(below, below + n_in):
                for s in range(BLOCK):
                    errors[i, s] = errors[i, s] if activations[i, s] > 0.0 else np.float32(0.0)
        above = below


@parallel_reassociating_kernel
def network_logits(X, sizes, weights, biases, out):
    """Fill `out`, (n, k) float32, with the logits of the samples `X`, (n, d) int32."""
    n, n_units, n_classes = X.shape[0], np.sum(sizes), out.shape[1]
    for block in prange((n + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        activations = np.empty((n_units, BLOCK), np.float32)
        forward_block(X, start, sizes, weights, biases, activations)
        for s in range(min(BLOCK, n - start)):
            for j in range(n_classes):
                out[start + s, j] = activations[n_units - sizes[-1] + j, s]


@parallel_reassociating_kernel
def network_input_gradients(X, labels, n_classes, sizes, weights, biases, out):
    """Fill `out`, (n, d) float32, with the gradients of the cross entropy of `labels`, (n,) int64."""
    n, n_units = X.shape[0], np.sum(sizes)
    first = n_units - sizes[-1]
    for block in prange((n + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        activations = np.empty((n_units, BLOCK), np.float32)
        errors = np.zeros((n_units, BLOCK), np.float32)
        forward_block(X, start, sizes, weights, biases, activations)
        for s in range(min(BLOCK, n - start)):
            largest = activations[first, s]
            for j in range(1, n_classes):
                largest = max(largest, activations[first + j, s])
            total = np.float32(0.0)
            for j in range(n_classes):
                errors[first + j, s] = np.exp(activations[first + j, s] - largest)
                total += errors[first + j, s]
            for j in range(n_classes):
                errors[first + j, s] /= total
            errors[first + labels[start + s], s] -= np.float32(1.0)
        backward_block(sizes, weights, activations, errors)
        for s in range(min(BLOCK, n - start)):
            for i in range(X.shape[1]):
                out[start + s, i] = errors[i, s]
