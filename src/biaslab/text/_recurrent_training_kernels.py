"""Compiled kernels for training recurrent networks: the weight gradients of a batch, and steps of Adam.

The texts of a block are stored side by side as in `_recurrent_kernels`; these kernels use its forward and
backward passes. A training runs in one thread, so that sums have a fixed order. Each distinct word of a batch
is multiplied with the first layer once, and its derivatives are summed before they are multiplied.
"""

import math

import numpy as np

from biaslab.core._adam_kernels import adam_step
from biaslab.core.jit import kernel, reassociating_kernel
from biaslab.text._recurrent_kernels import (
    BLOCK,
    TILE,
    backward_block,
    block_errors,
    block_logits,
    fill_table_block,
    forward_block,
    spread,
    sum_biases,
    take_block,
)


@kernel
def take_batch(ids, offsets, order, numbers):
    """Return the texts of a batch by their lengths, their words renumbered.

    order : (b,) int64, the texts of the batch
    numbers : (V,) int64, buffer for the new number of each word; -1 everywhere before and after the call

    The results are `order` with shorter texts first, the distinct words by their new numbers, and
    ids and offsets of the batch with these numbers.
    """
    lengths = offsets[order + 1] - offsets[order]
    texts = order[np.argsort(lengths, kind="mergesort")]
    batch_ids, batch_offsets = np.empty(np.sum(lengths), np.int32), np.zeros(order.size + 1, np.int64)
    words, count, place = np.empty(batch_ids.size, np.int64), 0, 0
    for k in range(texts.size):
        for i in range(offsets[texts[k]], offsets[texts[k] + 1]):
            word = ids[i]
            if numbers[word] < 0:
                numbers[word] = count
                words[count] = word
                count += 1
            batch_ids[place] = numbers[word]
            place += 1
        batch_offsets[k + 1] = place
    words = words[:count]
    numbers[words] = -1
    return texts, words, batch_ids, batch_offsets


@reassociating_kernel
def line_up(stored, layer, first, lined):
    """Copy a layer of `stored`, (slots, L, n, BLOCK), from slot `first` on, into lines, (n, T * BLOCK)."""
    for t in range(lined.shape[1] // BLOCK):
        for u in range(lined.shape[0]):
            row, line = stored[first + t, layer, u], lined[u, t * BLOCK : (t + 1) * BLOCK]
            for s in range(BLOCK):
                line[s] = row[s]


@reassociating_kernel
def add_outer_products(errors, values, gradients):
    """Add to `gradients`, (n, k), the sums over N of `errors`, (n, N), times `values`, (k, N)."""
    for j in range(errors.shape[0]):
        error = errors[j]
        for i in range(0, values.shape[0], TILE):
            v0, v1, v2, v3, v4 = values[i], values[i + 1], values[i + 2], values[i + 3], values[i + 4]
            g0 = g1 = g2 = g3 = g4 = np.float32(0.0)
            for k in range(error.size):
                g0 += error[k] * v0[k]
                g1 += error[k] * v1[k]
                g2 += error[k] * v2[k]
                g3 += error[k] * v3[k]
                g4 += error[k] * v4[k]
            gradients[j, i] += g0
            gradients[j, i + 1] += g1
            gradients[j, i + 2] += g2
            gradients[j, i + 3] += g3
            gradients[j, i + 4] += g4


@reassociating_kernel
def add_row_sums(errors, gradients):
    """Add to `gradients`, (n,), the sums of `errors`, (n, N)."""
    for j in range(errors.shape[0]):
        error, total = errors[j], np.float32(0.0)
        for k in range(error.size):
            total += error[k]
        gradients[j] += total


@reassociating_kernel
def add_out_gradients(errors, states, gradients):
    """Add the gradients of the last weights: `errors`, (2, BLOCK), and last `states`, (H, BLOCK)."""
    for j in range(2):
        for u in range(states.shape[0]):
            total = np.float32(0.0)
            for s in range(BLOCK):
                total += errors[j, s] * states[u, s]
            gradients.out[j, u] += total
        total = np.float32(0.0)
        for s in range(BLOCK):
            total += errors[j, s]
        gradients.out_bias[j] += total


@reassociating_kernel
def add_layer_gradients(shift, gates, states, gradients):
    """Add the gradients of all layers except the first weights, from the results of `backward_block`."""
    n_steps, n_layers, n_gates, _ = gates.shape
    n, n_units = gradients.states.shape[1], states.shape[2]
    errors = np.empty((n_gates, n_steps * BLOCK), np.float32)
    before = np.empty((n_units, n_steps * BLOCK), np.float32)
    below = np.empty((n_units, n_steps * BLOCK), np.float32)
    for layer in range(n_layers):
        line_up(gates, layer, 0, errors)
        line_up(states, layer, 0, before)
        add_outer_products(errors[shift : shift + n], before, gradients.states[layer])
        add_row_sums(errors[shift : shift + n], gradients.state_biases[layer])
        add_row_sums(errors[:n], gradients.input_biases[layer])
        if layer > 0:
            line_up(states, layer - 1, 1, below)
            add_outer_products(errors[:n], below, gradients.inputs[layer - 1])


@reassociating_kernel
def add_word_errors(ids, begins, lengths, gates, word_errors):
    """Add to each word's column, (G H, u), the derivatives by its products with the first layer."""
    words, n_steps = np.empty(BLOCK, np.int64), gates.shape[0]
    for t in range(n_steps):
        for s in range(BLOCK):
            place = t - (n_steps - lengths[s])
            words[s] = ids[begins[s] + place] if place >= 0 else 0  # adds zeros
        for j in range(word_errors.shape[0]):
            row, line = gates[t, 0, j], word_errors[j]
            for s in range(BLOCK):
                line[words[s]] += row[s]


@reassociating_kernel
def block_loss(logits, labels, scales):
    """Return the sum of the scaled cross entropies of the texts; see `block_errors`."""
    loss = 0.0
    for s in range(BLOCK):
        gap = np.float64(logits[labels[s], s]) - np.float64(logits[1 - labels[s], s])
        loss += scales[s] * (max(-gap, 0.0) + math.log1p(math.exp(-abs(gap))))
    return loss


@reassociating_kernel
def batch_gradients(
    vectors, ids, offsets, labels, weights, order, numbers, shift, parameters, flat_gradients, gradients
):
    """Fill the gradients of a batch's mean cross entropy, weighted by text; return this mean.

    vectors : (V, d) float32
    ids, offsets : all texts, see `words.Texts`
    labels : (n,) int64
    weights : (n,) float64, above 0
    order, numbers : as in `take_batch`
    flat_gradients : (p,) float32, filled
    """
    texts, words, batch_ids, batch_offsets = take_batch(ids, offsets, order, numbers)
    n_layers, n, n_units = parameters.states.shape
    word_vectors, bias_rows = vectors[words], spread(sum_biases(parameters, shift))
    n_blocks = words.size // BLOCK + 1  # at least one word, used before a text begins
    table = np.zeros((n_blocks * BLOCK, 4 * n_units), np.float32)
    inputs = np.zeros((n_blocks, 1, parameters.first.shape[1], BLOCK), np.float32)
    for block in range(n_blocks):
        rows, sums = inputs[block, 0], np.empty_like(bias_rows[0])
        fill_table_block(word_vectors, block * BLOCK, parameters.first, bias_rows[0], rows, sums, table)
    flat_gradients[:] = 0.0
    word_errors = np.zeros((n, n_blocks * BLOCK), np.float32)
    places, loss, total = np.arange(order.size), 0.0, np.sum(weights[texts])
    begins, lengths, skips = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.zeros_like(places)
    logits, errors = np.empty((2, BLOCK), np.float32), np.empty((2, BLOCK), np.float32)
    for start in range(0, order.size, BLOCK):
        n_steps = take_block(batch_offsets, skips, places, start, begins, lengths)
        gates = np.empty((n_steps, n_layers, 4 * n_units, BLOCK), np.float32)
        cells = np.empty((n_steps + 1, n_layers, n_units, BLOCK), np.float32)
        states = np.empty((n_steps + 1, n_layers, n_units, BLOCK), np.float32)
        block_labels, scales = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.float32)
        for s in range(min(BLOCK, order.size - start)):
            block_labels[s] = labels[texts[start + s]]
            scales[s] = weights[texts[start + s]] / total
        forward_block(
            parameters, shift, bias_rows, table, batch_ids, begins, lengths, n_steps, gates, cells, states
        )
        block_logits(parameters, states[n_steps, n_layers - 1], logits)
        loss += block_loss(logits, block_labels, scales)
        block_errors(logits, block_labels, scales, errors)
        add_out_gradients(errors, states[n_steps, n_layers - 1], gradients)
        backward_block(parameters, shift, lengths, n_steps, errors, gates, cells, states)
        add_layer_gradients(shift, gates, states, gradients)
        add_word_errors(batch_ids, begins, lengths, gates, word_errors)
    lined = np.empty((inputs.shape[2], n_blocks * BLOCK), np.float32)
    line_up(inputs, 0, 0, lined)
    add_outer_products(word_errors, lined, gradients.first)
    return loss


@kernel
def train_batches(
    vectors,
    ids,
    offsets,
    labels,
    weights,
    order,
    batch,
    shift,
    flat,
    parameters,
    flat_gradients,
    gradients,
    means,
    squares,
    step,
    learning_rate,
    beta1,
    beta2,
    epsilon,
):
    """Take one step of Adam for each batch of `order`, in place; return steps so far and mean cross entropy.

    The last batch may be shorter. The mean is weighted by text; each loss is taken before its own step.

    flat : (p,) float32, changed
    means, squares : (p,) float32, decaying means of gradients and of their squares; changed
    Other arguments are as in `batch_gradients`.
    """
    numbers, loss, total = np.full(len(vectors), -1), 0.0, 0.0
    for start in range(0, order.size, batch):
        texts = order[start : start + batch]
        mean = batch_gradients(
            vectors,
            ids,
            offsets,
            labels,
            weights,
            texts,
            numbers,
            shift,
            parameters,
            flat_gradients,
            gradients,
        )
        weight = np.sum(weights[texts])
        loss += weight * mean
        total += weight
        step += 1
        # Adam's Algorithm 1 adds epsilon after both corrections; here the second correction multiplies it.
        correction = math.sqrt(1.0 - beta2**step)
        rate = np.float32(learning_rate * correction / (1.0 - beta1**step))
        b1, b2, e = np.float32(beta1), np.float32(beta2), np.float32(epsilon * correction)
        adam_step(flat, flat_gradients, means, squares, rate, b1, b2, e)
    return step, loss / total
