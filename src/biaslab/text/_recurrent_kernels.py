"""Compiled kernels for recurrent networks: many texts side by side, each with its own states.

The texts of a block are stored along the innermost axis and end together: a shorter text starts later, and
its states are zero until then. A block is always full (padded with empty texts), so that every text passes
the same instructions in the same order, independently of the rest of the batch.

Rows of gates, for H hidden units: i, f, o, g of an LSTM; W_in x, r, z, W_hn h of a GRU. Products of an input
go to the rows from 0, products of the previous state to the rows from `shift`: 0 for an LSTM, H for a GRU.
Hidden units are padded to a multiple of `TILE` with units that are always zero.
"""

from typing import NamedTuple

import numpy as np

from biaslab.core.jit import kernel, parallel_reassociating_kernel, prange, reassociating_kernel

BLOCK = 32
"""Number of texts in a block."""
SHARED = 2
"""Minimum length of a shared prefix that is read only once."""
TILE = 5
"""Rows that are summed at a time, and rows that sums are made of at a time."""

# tanh(x) = x P(x^2) / Q(x^2): the least maximum error on [-8.5, 8.5], 1.1e-8; beyond, tanh is 1 up to 8e-8.
_LIMIT = np.float32(8.5)
_P0, _P1, _P2 = np.float32(0.99999994), np.float32(0.13406205), np.float32(0.0035258187)
_P3, _P4 = np.float32(2.1121564e-05), np.float32(1.4099245e-08)
_Q1, _Q2 = np.float32(0.46739516), np.float32(0.025991132)
_Q3, _Q4 = np.float32(0.00033356895), np.float32(8.0736174e-07)
S1, S2, S3, S4 = BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK
_ONE, _HALF = np.float32(1.0), np.float32(0.5)


class Parameters(NamedTuple):
    """All weights of a network of L layers of H units (padded) that reads vectors of d numbers, float32.

    G is 4 for an LSTM and 3 for a GRU.
    """

    first: np.ndarray  # (G H, d), from the vector of a word to the first layer
    inputs: np.ndarray  # (L - 1, G H, H), from the states of the layer below to each further layer
    states: np.ndarray  # (L, G H, H), from the previous states of each layer
    input_biases: np.ndarray  # (L, G H)
    state_biases: np.ndarray  # (L, G H)
    out: np.ndarray  # (2, H), from the last layer's states to the logits
    out_bias: np.ndarray  # (2,)


@reassociating_kernel
def tanh(x):
    """Return the hyperbolic tangent of a float32, without a branch; the error is below 3e-7."""
    x = min(max(x, -_LIMIT), _LIMIT)
    y = x * x
    p = (((_P4 * y + _P3) * y + _P2) * y + _P1) * y + _P0
    q = (((_Q4 * y + _Q3) * y + _Q2) * y + _Q1) * y + _ONE
    return x * p / q


@reassociating_kernel
def sigmoid(x):
    """Return the logistic function of a float32, without a branch; the error is below 2e-7."""
    return _HALF + _HALF * tanh(_HALF * x)


@reassociating_kernel
def add_products(weights, rows, sums):
    """Add to all `sums`, (n_sums, BLOCK), the `rows`, (n_rows, BLOCK), times `weights`, (n_sums, n_rows).

    Both numbers are multiples of `TILE`. Every value of a row is read once for five sums, and every sum is
    written once for five products. Five rows form one flat slice, so that the compiler knows their distance.
    """
    all_rows, all_sums = rows.reshape(rows.size), sums.reshape(sums.size)
    for j in range(0, weights.shape[0], TILE):
        y = all_sums[j * BLOCK : (j + TILE) * BLOCK]
        for i in range(0, weights.shape[1], TILE):
            x = all_rows[i * BLOCK : (i + TILE) * BLOCK]
            a, b, c, d, e = weights[j], weights[j + 1], weights[j + 2], weights[j + 3], weights[j + 4]
            a0, a1, a2, a3, a4 = a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4]
            b0, b1, b2, b3, b4 = b[i], b[i + 1], b[i + 2], b[i + 3], b[i + 4]
            c0, c1, c2, c3, c4 = c[i], c[i + 1], c[i + 2], c[i + 3], c[i + 4]
            d0, d1, d2, d3, d4 = d[i], d[i + 1], d[i + 2], d[i + 3], d[i + 4]
            e0, e1, e2, e3, e4 = e[i], e[i + 1], e[i + 2], e[i + 3], e[i + 4]
            for s in range(BLOCK):
                x0, x1, x2, x3, x4 = x[s], x[S1 + s], x[S2 + s], x[S3 + s], x[S4 + s]
                y[s] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4
                y[S1 + s] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4
                y[S2 + s] += c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3 + c4 * x4
                y[S3 + s] += d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3 + d4 * x4
                y[S4 + s] += e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3 + e4 * x4


@kernel
def find_prefixes(ids, offsets, skips, starts, saves):
    """Find texts with the same prefix as an earlier text, so that the prefix is read only once.

    A text shares its longest common prefix with the latest text without a shared prefix, unless it has a
    longer prefix in common with the text just before it. This suits variants of one text that follow each
    other. For n texts of m words, the function fills

    skips : (n,) int64, length of the shared prefix of a text
    starts : (n,) int64, the row with the states after the prefix, or -1
    saves : (m,) int64, the row for the states after each word, or -1
    """
    skips[:], starts[:], saves[:] = 0, -1, -1
    leader, n_rows = 0, 0
    for i in range(1, skips.size):
        n_shared = count_shared(ids, offsets, leader, i)
        if n_shared < SHARED or n_shared < count_shared(ids, offsets, i - 1, i):
            leader = i
        else:
            place = offsets[leader] + n_shared - 1
            if saves[place] < 0:
                saves[place] = n_rows
                n_rows += 1
            skips[i], starts[i] = n_shared, saves[place]
    return n_rows


@kernel
def count_shared(ids, offsets, i, j):
    """Return the length of the common prefix of two texts."""
    most = min(offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j])
    n = 0
    while n < most and ids[offsets[i] + n] == ids[offsets[j] + n]:
        n += 1
    return n


@reassociating_kernel
def take_block(offsets, skips, order, start, begins, lengths):
    """Fill starts and numbers of words of a block's texts, ``order[start:]``; return the largest number.

    Text i has the words ``offsets[i]`` to ``offsets[i + 1] - 1`` without the first ``skips[i]`` words. A text
    that pads the block has no words.

    begins, lengths : (BLOCK,) int64
    """
    begins[:] = 0
    lengths[:] = 0
    for s in range(min(BLOCK, order.size - start)):
        text = order[start + s]
        begins[s] = offsets[text] + skips[text]
        lengths[s] = offsets[text + 1] - begins[s]
    return np.max(lengths)


@reassociating_kernel
def load_states(saved, starts, lengths, n_steps, t, cells, states):
    """Load the states, (L, H, BLOCK), of texts that continue at step `t` from rows of `saved`."""
    for s in range(BLOCK):
        if t == n_steps - lengths[s] and starts[s] >= 0:
            for layer in range(states.shape[0]):
                for u in range(states.shape[1]):
                    cells[layer, u, s] = saved[starts[s], 0, layer, u]
                    states[layer, u, s] = saved[starts[s], 1, layer, u]


@reassociating_kernel
def save_states(saved, saves, begins, lengths, n_steps, t, cells, states):
    """Save the states, (L, H, BLOCK), after step `t` of the texts with a prefix that other texts share."""
    for s in range(BLOCK):
        place = t - (n_steps - lengths[s])
        row = saves[begins[s] + place] if place >= 0 else -1
        if row >= 0:
            for layer in range(states.shape[0]):
                for u in range(states.shape[1]):
                    saved[row, 0, layer, u] = cells[layer, u, s]
                    saved[row, 1, layer, u] = states[layer, u, s]


@reassociating_kernel
def mark_inside(lengths, n_steps, t, is_inside):
    """Fill 1 for each text of a block that has begun by step `t`, else 0."""
    for s in range(BLOCK):
        is_inside[s] = _ONE if t >= n_steps - lengths[s] else np.float32(0.0)


@reassociating_kernel
def sum_biases(parameters, shift):
    """Return the biases of all gates, (L, 4 H) float32."""
    n_layers, n, n_units = parameters.states.shape
    biases = np.zeros((n_layers, 4 * n_units), np.float32)
    for layer in range(n_layers):
        for j in range(n):
            biases[layer, j] += parameters.input_biases[layer, j]
            biases[layer, shift + j] += parameters.state_biases[layer, j]
    return biases


@reassociating_kernel
def spread(values):
    """Return values, (L, n), as rows, (L, n, BLOCK) float32."""
    rows = np.empty((*values.shape, BLOCK), np.float32)
    for layer in range(values.shape[0]):
        for j in range(values.shape[1]):
            rows[layer, j] = values[layer, j]
    return rows


@reassociating_kernel
def copy_rows(rows, out):
    """Copy rows, (n, BLOCK)."""
    all_rows, all_out = rows.reshape(rows.size), out.reshape(out.size)
    for k in range(all_rows.size):
        all_out[k] = all_rows[k]


@reassociating_kernel
def fill_table_block(vectors, start, first, biases, inputs, sums, table):
    """Fill the contributions of a block of words to the gates of the first layer; all arrays are float32.

    vectors : (V, d)
    first : (G H, d padded)
    biases : (4 H, BLOCK), biases of the first layer
    inputs : (d padded, BLOCK), filled with the words' vectors; padding rows are zero
    sums : (4 H, BLOCK), buffer for the results
    table : (>= V, 4 H)
    """
    count = min(BLOCK, vectors.shape[0] - start)
    for s in range(count):
        for i in range(vectors.shape[1]):
            inputs[i, s] = vectors[start + s, i]
    copy_rows(biases, sums)
    add_products(first, inputs, sums[: first.shape[0]])
    for s in range(count):
        for j in range(sums.shape[0]):
            table[start + s, j] = sums[j, s]


@parallel_reassociating_kernel
def fill_table(parameters, shift, vectors, table):
    """Fill `table`, (V, 4 H): each word's contribution to the first layer's gates, including biases."""
    biases = spread(sum_biases(parameters, shift))
    for block in prange((vectors.shape[0] + BLOCK - 1) // BLOCK):
        inputs = np.zeros((parameters.first.shape[1], BLOCK), np.float32)
        sums = np.empty_like(biases[0])
        fill_table_block(vectors, block * BLOCK, parameters.first, biases[0], inputs, sums, table)


@reassociating_kernel
def fill_first(table, ids, begins, lengths, n_steps, t, gates):
    """Fill the gates, (4 H, BLOCK), of the first layer from the rows of each text's word at step `t`."""
    all_gates = gates.reshape(gates.size)
    for s in range(BLOCK):
        place = t - (n_steps - lengths[s])
        row = table[ids[begins[s] + place] if place >= 0 else 0]  # not begun: row 0, without effect
        for j in range(row.size):
            all_gates[j * BLOCK + s] = row[j]


@reassociating_kernel
def step_lstm(gates, is_inside, cells_before, cells, states):
    """Compute the gates i, f, o, g from their sums, then the cells and states, (H, BLOCK) each."""
    n = cells.shape[0]
    for j in range(3 * n):
        for s in range(BLOCK):
            gates[j, s] = sigmoid(gates[j, s])
    for j in range(3 * n, 4 * n):
        for s in range(BLOCK):
            gates[j, s] = tanh(gates[j, s])
    for u in range(n):
        i, f, g = gates[u], gates[n + u], gates[3 * n + u]
        for s in range(BLOCK):
            cells[u, s] = is_inside[s] * (f[s] * cells_before[u, s] + i[s] * g[s])
    for u in range(n):
        o = gates[2 * n + u]
        for s in range(BLOCK):
            states[u, s] = o[s] * tanh(cells[u, s])


@reassociating_kernel
def step_gru(gates, is_inside, states_before, states):
    """Compute the gates n, r, z from their sums, then the states, (H, BLOCK); the row W_hn h stays a sum."""
    n = states.shape[0]
    for j in range(n, 3 * n):
        for s in range(BLOCK):
            gates[j, s] = sigmoid(gates[j, s])
    for u in range(n):
        new, r, of_state = gates[u], gates[n + u], gates[3 * n + u]
        for s in range(BLOCK):
            new[s] = tanh(new[s] + r[s] * of_state[s])
    for u in range(n):
        new, z = gates[u], gates[2 * n + u]
        for s in range(BLOCK):
            states[u, s] = is_inside[s] * (new[s] + z[s] * (states_before[u, s] - new[s]))


@reassociating_kernel
def step_block(
    parameters,
    shift,
    biases,
    table,
    ids,
    begins,
    lengths,
    n_steps,
    t,
    gates,
    cells_before,
    cells,
    states_before,
    states,
):
    """Propagate the texts of a block through all layers for step `t` of the longest text's `n_steps`.

    shift : the first row of gates that receives products of states
    biases : (L, 4 H, BLOCK) float32, the sums of biases of all gates
    table : (V, 4 H) float32, for each word its vector times ``parameters.first``, and the layer's biases
    ids : (m,) integer, rows of `table`
    begins, lengths : (BLOCK,) int64, as `take_block` fills them
    gates : (L, 4 H, BLOCK) float32, filled
    cells_before, cells, states_before, states : (L, H, BLOCK) float32; `cells` (LSTM only) and `states` are
        filled with the values after the step
    """
    is_inside = np.empty(BLOCK, np.float32)
    n = parameters.states.shape[1]
    mark_inside(lengths, n_steps, t, is_inside)
    for layer in range(states.shape[0]):
        sums = gates[layer]
        if layer == 0:
            fill_first(table, ids, begins, lengths, n_steps, t, sums)
        else:
            copy_rows(biases[layer], sums)
            add_products(parameters.inputs[layer - 1], states[layer - 1], sums)
        add_products(parameters.states[layer], states_before[layer], sums[shift : shift + n])
        if shift == 0:
            step_lstm(sums, is_inside, cells_before[layer], cells[layer], states[layer])
        else:
            step_gru(sums, is_inside, states_before[layer], states[layer])


@reassociating_kernel
def forward_block(parameters, shift, biases, table, ids, begins, lengths, n_steps, gates, cells, states):
    """Propagate the texts of a block through all layers and steps by `step_block`, and keep all values.

    gates : (T, L, 4 H, BLOCK) float32, filled
    cells, states : (T + 1, L, H, BLOCK) float32, filled; slot t + 1 has the values after step t
    """
    states[0] = 0.0
    cells[0] = 0.0
    for t in range(n_steps):
        step_block(
            parameters,
            shift,
            biases,
            table,
            ids,
            begins,
            lengths,
            n_steps,
            t,
            gates[t],
            cells[t],
            cells[t + 1],
            states[t],
            states[t + 1],
        )


@reassociating_kernel
def block_logits(parameters, states, logits):
    """Fill the logits, (2, BLOCK), from the last layer's states, (H, BLOCK)."""
    for j in range(2):
        for s in range(BLOCK):
            logits[j, s] = parameters.out_bias[j]
        for u in range(states.shape[0]):
            weight = parameters.out[j, u]
            for s in range(BLOCK):
                logits[j, s] += weight * states[u, s]


@reassociating_kernel
def block_errors(logits, labels, scales, errors):
    """Fill the derivatives of each text's cross entropy by its logits, (2, BLOCK), times its scale.

    For a text of label y, ∂J/∂z is -p for the logit of y and p for the other logit, where p is the other
    label's probability. A text that pads the block has the scale 0.
    """
    for s in range(BLOCK):
        y = labels[s]
        gap = np.float64(logits[y, s]) - np.float64(logits[1 - y, s])
        p = scales[s] * np.float32(1.0 / (1.0 + np.exp(gap)))
        errors[y, s] = -p
        errors[1 - y, s] = p


@reassociating_kernel
def step_back_lstm(gates, is_inside, cells_before, cells, by_cells, by_states):
    """Replace the gates i, f, o, g of a step by the derivatives by their sums.

    by_cells, by_states : (H, BLOCK), derivatives by cells and states after the step. `by_cells` becomes the
    derivatives before the step. `by_states` becomes zero; add the products of the gates' derivatives to it.
    """
    n = cells.shape[0]
    for u in range(n):
        i, f, o, g = gates[u], gates[n + u], gates[2 * n + u], gates[3 * n + u]
        before, c, by_c, by_h = cells_before[u], cells[u], by_cells[u], by_states[u]
        for s in range(BLOCK):
            squashed = tanh(c[s])
            error = by_c[s] + by_h[s] * o[s] * (_ONE - squashed * squashed)
            by_c[s] = is_inside[s] * error * f[s]
            error *= is_inside[s]
            by_o = is_inside[s] * by_h[s] * squashed
            by_i, by_f, by_g = error * g[s], error * before[s], error * i[s]
            i[s] = by_i * i[s] * (_ONE - i[s])
            f[s] = by_f * f[s] * (_ONE - f[s])
            o[s] = by_o * o[s] * (_ONE - o[s])
            g[s] = by_g * (_ONE - g[s] * g[s])
            by_h[s] = 0.0


@reassociating_kernel
def step_back_gru(gates, is_inside, states_before, by_states):
    """Replace the gates n, r, z and the sum W_hn h of a step by the derivatives by their sums.

    by_states : (H, BLOCK), derivatives by the states after the step. They become the derivatives before the
    step, to which the products of the gates' derivatives must be added.
    """
    n = by_states.shape[0]
    for u in range(n):
        new, r, z, of_state = gates[u], gates[n + u], gates[2 * n + u], gates[3 * n + u]
        before, by_h = states_before[u], by_states[u]
        for s in range(BLOCK):
            error = is_inside[s] * by_h[s]
            by_new = error * (_ONE - z[s]) * (_ONE - new[s] * new[s])
            by_z = error * (before[s] - new[s])
            by_h[s] = error * z[s]
            new[s] = by_new
            z[s] = by_z * z[s] * (_ONE - z[s])
            by_r = by_new * of_state[s]
            of_state[s] = by_new * r[s]
            r[s] = by_r * r[s] * (_ONE - r[s])


@reassociating_kernel
def backward_block(parameters, shift, lengths, n_steps, errors, gates, cells, states):
    """Propagate derivatives by the logits, (2, BLOCK), back through all layers and steps of `forward_block`.

    The gates become the derivatives by their sums, which are zero for a text that has not begun.
    """
    is_inside = np.empty(BLOCK, np.float32)
    n_layers, n = states.shape[1], parameters.states.shape[1]
    by_cells, by_states = np.zeros_like(states[0]), np.zeros_like(states[0])
    for j in range(2):
        for u in range(states.shape[2]):
            for s in range(BLOCK):
                by_states[n_layers - 1, u, s] += parameters.out[j, u] * errors[j, s]
    for t in range(n_steps - 1, -1, -1):
        mark_inside(lengths, n_steps, t, is_inside)
        for layer in range(n_layers - 1, -1, -1):
            sums, below, above = gates[t, layer], states[t, layer], by_states[layer]
            if shift == 0:
                cells_before, cells_after = cells[t, layer], cells[t + 1, layer]
                step_back_lstm(sums, is_inside, cells_before, cells_after, by_cells[layer], above)
            else:
                step_back_gru(sums, is_inside, below, above)
            add_products(parameters.states[layer].T, sums[shift : shift + n], above)
            if layer > 0:
                add_products(parameters.inputs[layer - 1].T, sums[:n], by_states[layer - 1])


@parallel_reassociating_kernel
def recurrent_logits(parameters, shift, table, ids, offsets, skips, starts, saves, saved, order, out):
    """Fill the logits, (n, 2), of the texts `order`, which form blocks in this order; sort them by length.

    skips, starts, saves : as `find_prefixes` fills them
    saved : (rows, 2, L, H) float32, cells and states after shared prefixes: read for texts with a shared
        prefix, filled by the other texts
    Other arguments are as in `step_block`.
    """
    n_layers, n_units = parameters.states.shape[0], parameters.states.shape[2]
    biases = spread(sum_biases(parameters, shift))
    for block in prange((order.size + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        begins, lengths = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
        n_steps = take_block(offsets, skips, order, start, begins, lengths)
        block_starts = np.full(BLOCK, -1)
        for s in range(min(BLOCK, order.size - start)):
            block_starts[s] = starts[order[start + s]]
        gates = np.empty((1, n_layers, 4 * n_units, BLOCK), np.float32)
        cells = np.zeros((2, n_layers, n_units, BLOCK), np.float32)
        states = np.zeros((2, n_layers, n_units, BLOCK), np.float32)
        logits = np.empty((2, BLOCK), np.float32)
        for t in range(n_steps + 1):
            before, after = t % 2, (t + 1) % 2
            load_states(saved, block_starts, lengths, n_steps, t, cells[before], states[before])
            if t < n_steps:
                step_block(
                    parameters,
                    shift,
                    biases,
                    table,
                    ids,
                    begins,
                    lengths,
                    n_steps,
                    t,
                    gates[0],
                    cells[before],
                    cells[after],
                    states[before],
                    states[after],
                )
                save_states(saved, saves, begins, lengths, n_steps, t, cells[after], states[after])
        block_logits(parameters, states[n_steps % 2, n_layers - 1], logits)
        for s in range(min(BLOCK, order.size - start)):
            out[order[start + s], 0] = logits[0, s]
            out[order[start + s], 1] = logits[1, s]


@reassociating_kernel
def put_vector_gradients(first, begins, lengths, gates, gradients, out):
    """Fill the gradients `out`, (m, d), by the vectors of a block's words, from gates of `backward_block`.

    first : (G H, d padded); gradients : (d padded, BLOCK), buffer for one step.
    """
    n_steps, n, d = gates.shape[0], first.shape[0], out.shape[1]
    all_gradients = gradients.reshape(gradients.size)
    for t in range(n_steps):
        all_gradients[:] = 0.0
        add_products(first.T, gates[t, 0, :n], gradients)
        for s in range(BLOCK):
            place = t - (n_steps - lengths[s])
            if place >= 0:
                row = out[begins[s] + place]
                for i in range(d):
                    row[i] = all_gradients[i * BLOCK + s]


@parallel_reassociating_kernel
def recurrent_gradients(parameters, shift, table, ids, offsets, order, labels, out):
    """Fill the gradients, (m, d), of each text's cross entropy by the vectors of its words, in `ids`' order.

    order : (n,), all texts in the order of blocks; other arguments are as in `step_block`.
    """
    n_layers, n_units = parameters.states.shape[0], parameters.states.shape[2]
    biases, skips = spread(sum_biases(parameters, shift)), np.zeros(labels.size, np.int64)
    for block in prange((order.size + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        begins, lengths = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
        n_steps = take_block(offsets, skips, order, start, begins, lengths)
        gates = np.empty((n_steps, n_layers, 4 * n_units, BLOCK), np.float32)
        cells = np.empty((n_steps + 1, n_layers, n_units, BLOCK), np.float32)
        states = np.empty((n_steps + 1, n_layers, n_units, BLOCK), np.float32)
        logits, errors = np.empty((2, BLOCK), np.float32), np.empty((2, BLOCK), np.float32)
        block_labels, scales = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.float32)
        gradients = np.empty((parameters.first.shape[1], BLOCK), np.float32)
        for s in range(min(BLOCK, order.size - start)):
            block_labels[s] = labels[order[start + s]]
            scales[s] = 1.0
        forward_block(parameters, shift, biases, table, ids, begins, lengths, n_steps, gates, cells, states)
        block_logits(parameters, states[n_steps, n_layers - 1], logits)
        block_errors(logits, block_labels, scales, errors)
        backward_block(parameters, shift, lengths, n_steps, errors, gates, cells, states)
        put_vector_gradients(parameters.first, begins, lengths, gates, gradients, out)
