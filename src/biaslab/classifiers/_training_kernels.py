"""Compiled kernels for training networks: the weight gradients of a batch, and steps of Adam.

The samples of a block are stored side by side as in `_kernels`; these kernels use its forward and backward
passes. A training runs in one thread, so that sums have a fixed order.
"""

import math

import numpy as np

from biaslab.classifiers._kernels import BLOCK, LANES, backward_block, forward_block
from biaslab.core._adam_kernels import adam_step
from biaslab.core.jit import kernel, reassociating_kernel


@reassociating_kernel
def add_weight_gradients(sizes, activations, errors, weight_gradients, bias_gradients):
    """Add a block's gradients, outer products of errors and lower activations, to the sums over a batch."""
    below, w, b = 0, 0, 0
    for layer in range(sizes.size - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        for j in range(n_out):
            error = errors[below + n_in + j]
            total = np.float32(0.0)
            for s in range(BLOCK):
                total += error[s]
            bias_gradients[b + j] += total
            for i in range(0, n_in, LANES):
                a0, a1 = activations[below + i], activations[below + i + 1]
                a2, a3 = activations[below + i + 2], activations[below + i + 3]
                g0 = g1 = g2 = g3 = np.float32(0.0)
                for s in range(BLOCK):
                    g0 += error[s] * a0[s]
                    g1 += error[s] * a1[s]
                    g2 += error[s] * a2[s]
                    g3 += error[s] * a3[s]
                weight_gradients[w + i] += g0
                weight_gradients[w + i + 1] += g1
                weight_gradients[w + i + 2] += g2
                weight_gradients[w + i + 3] += g3
            w += n_in
        below, b = below + n_in, b + n_out


@reassociating_kernel
def softmax_errors(logits, labels, start, n_classes, scale, errors):
    """Fill `errors` with the derivatives of the cross entropy by the logits, times `scale`.

    The labels of the block's samples begin at `start`; columns beyond the last sample get zeros.
    """
    errors[:] = 0.0
    for s in range(min(BLOCK, labels.size - start)):
        largest = logits[0, s]
        for j in range(1, n_classes):
            largest = max(largest, logits[j, s])
        total = np.float32(0.0)
        for j in range(n_classes):
            errors[j, s] = np.exp(logits[j, s] - largest)
            total += errors[j, s]
        for j in range(n_classes):
            errors[j, s] *= scale / total
        errors[labels[start + s], s] -= scale


@reassociating_kernel
def batch_gradients(X, labels, n_classes, sizes, weights, biases, weight_gradients, bias_gradients):
    """Fill the gradients of the mean cross entropy of a batch, in the layout of weights and biases."""
    n_units = np.sum(sizes)
    n_in, first = sizes[0], n_units - sizes[-1]
    activations = np.empty((n_units, BLOCK), np.float32)
    errors = np.empty((n_units, BLOCK), np.float32)
    weight_gradients[:] = 0.0
    bias_gradients[:] = 0.0
    scale = np.float32(1.0 / X.shape[0])
    for start in range(0, X.shape[0], BLOCK):
        forward_block(X, start, sizes, weights, biases, activations)
        softmax_errors(activations[first:], labels, start, n_classes, scale, errors[first:])
        # Errors of the inputs are not needed: propagate back to the first layer only, through its ReLU.
        if sizes.size > 2:
            inside, above = activations[n_in:], errors[n_in:]
            backward_block(sizes[1:], weights[n_in * sizes[1] :], inside, above)
            for j in range(sizes[1]):
                for s in range(BLOCK):
                    above[j, s] = above[j, s] if inside[j, s] > 0.0 else np.float32(0.0)
        add_weight_gradients(sizes, activations, errors, weight_gradients, bias_gradients)


@kernel
def train_batches(
    X,
    labels,
    order,
    batch,
    n_classes,
    sizes,
    weights,
    biases,
    moments,
    step,
    learning_rate,
    beta1,
    beta2,
    epsilon,
):
    """Take one step of Adam for each batch of `order`, rows of `X`, in place; the last batch may be shorter.

    `moments` has the decaying means of gradients and squares: shaped as weights, weights, biases, biases.
    """
    weight_means, weight_squares, bias_means, bias_squares = moments
    weight_gradients, bias_gradients = np.empty_like(weights), np.empty_like(biases)
    samples = np.empty((batch, X.shape[1]), np.float32)
    sample_labels = np.empty(batch, np.int64)
    for start in range(0, order.size, batch):
        n = min(batch, order.size - start)
        for k in range(n):
            row = order[start + k]
            sample_labels[k] = labels[row]
            for i in range(X.shape[1]):
                samples[k, i] = X[row, i]
        batch_gradients(
            samples[:n],
            sample_labels[:n],
            n_classes,
            sizes,
            weights,
            biases,
            weight_gradients,
            bias_gradients,
        )
        step += 1
        rate = np.float32(learning_rate * math.sqrt(1.0 - beta2**step) / (1.0 - beta1**step))
        b1, b2, e = np.float32(beta1), np.float32(beta2), np.float32(epsilon)
        adam_step(weights, weight_gradients, weight_means, weight_squares, rate, b1, b2, e)
        adam_step(biases, bias_gradients, bias_means, bias_squares, rate, b1, b2, e)
    return step
