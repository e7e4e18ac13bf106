"""Slow, literal oracles of WordPiece and of the language model of Kennedy et al. 2020 (published code)."""

import itertools
import math

# WordPiece, word by word: the longest piece that the vocabulary has, again and again, or [UNK] for all.


def wordpiece(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:stop]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = stop
    return pieces


# One direction of the language model, as nested lists: `weights` has embedding, go (a row of it), w_ih, w_hh,
# b_ih, b_hh (rows of the gates reset, update, new) and the softmax w_out, b_out.


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def affine(matrix, bias, x):
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(matrix, bias, strict=True)]


def gru_step(weights, x, h):
    """Cho et al. 2014 as torch has it: the reset gate acts on the transformed state."""
    n = len(h)
    from_input = affine(weights["w_ih"], weights["b_ih"], x)
    from_state = affine(weights["w_hh"], weights["b_hh"], h)
    new_state = []
    for j in range(n):
        reset = sigmoid(from_input[j] + from_state[j])
        update = sigmoid(from_input[n + j] + from_state[n + j])
        new = math.tanh(from_input[2 * n + j] + reset * from_state[2 * n + j])
        new_state.append((1 - update) * new + update * h[j])
    return new_state


def softmax(logits):
    exponentials = [math.exp(x - max(logits)) for x in logits]
    return [e / sum(exponentials) for e in exponentials]


def state_after(weights, sequence):
    """The state once GO and then `sequence` (rows of the embedding) were read."""
    h = [0.0] * (len(weights["w_hh"]) // 3)
    for token in (weights["go"], *sequence):
        h = gru_step(weights, weights["embedding"][token], h)
    return h


def next_token(weights, sequence, excluded=()):
    """p(· | sequence), where excluded tokens have probability zero."""
    p = softmax(affine(weights["w_out"], weights["b_out"], state_after(weights, sequence)))
    p = [0.0 if i in excluded else q for i, q in enumerate(p)]
    return [q / sum(p) for q in p]


def sequence_probability(weights, sequence, before=(), excluded=()):
    """p(sequence | before), token by token in the order in which the direction reads."""
    probability = 1.0
    for i, token in enumerate(sequence):
        probability *= next_token(weights, (*before, *sequence[:i]), excluded)[token]
    return probability


def all_sequences(n_tokens, length):
    return list(itertools.product(range(n_tokens), repeat=length))


def negative_log_likelihood(forwards, backwards, sequence):
    """A token's, in nats, mean of both directions."""
    p_forward = sequence_probability(forwards, sequence)
    p_backward = sequence_probability(backwards, sequence[::-1])
    return -(math.log(p_forward) + math.log(p_backward)) / (2 * len(sequence))


def score(model, ids, mask):
    """s(x) of padded sentences: the second logit less the first one, by the model itself."""
    logits = model(ids, mask)
    return logits[:, 1] - logits[:, 0]
