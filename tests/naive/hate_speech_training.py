"""Slow, literal oracles of training (Kennedy et al. 2020, A.3, and the authors' code)."""

import math

import numpy as np


def warmup_linear(step, budget):
    """Up for a tenth of the planned steps, then down to zero at their end."""
    x = step / budget
    if x < 0.1:
        return x / 0.1
    return max((x - 1) / (0.1 - 1), 0)


def clip(gradient):
    """One tensor's gradient with a norm of at most 1."""
    norm = math.sqrt(sum(float(g) ** 2 for g in np.ravel(gradient)))
    factor = 1 / (norm + 1e-6)
    return gradient * factor if factor < 1 else gradient


def bert_adam(parameters, gradients, rates, decay=0.01):
    """Parameters after as many steps as there are rates; no bias correction, decay apart from the gradient.

    `parameters` are arrays by name; `gradients` is a list, for every step, of arrays by name.
    """
    theta = {name: np.array(value, np.float64) for name, value in parameters.items()}
    m = {name: np.zeros_like(value) for name, value in theta.items()}
    v = {name: np.zeros_like(value) for name, value in theta.items()}
    for rate, step_gradients in zip(rates, gradients, strict=True):
        for name in theta:
            g = clip(np.array(step_gradients[name], np.float64))
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.999 * v[name] + 0.001 * g * g
            update = m[name] / (np.sqrt(v[name]) + 1e-6)
            if "bias" not in name and "LayerNorm" not in name:
                update = update + decay * theta[name]
            theta[name] = theta[name] - rate * update
    return theta


def adamw(parameters, gradients, rates, decay=0.01):
    """As `bert_adam`, but with bias correction and the gradient of all tensors clipped together."""
    theta = {name: np.array(value, np.float64) for name, value in parameters.items()}
    m = {name: np.zeros_like(value) for name, value in theta.items()}
    v = {name: np.zeros_like(value) for name, value in theta.items()}
    for t, (rate, step_gradients) in enumerate(zip(rates, gradients, strict=True), start=1):
        norm = math.sqrt(sum(float(g) ** 2 for a in step_gradients.values() for g in np.ravel(a)))
        for name in theta:
            g = np.array(step_gradients[name], np.float64) * min(1, 1 / (norm + 1e-6))
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.999 * v[name] + 0.001 * g * g
            if "bias" not in name and "LayerNorm" not in name:
                theta[name] = theta[name] - rate * decay * theta[name]
            corrected = np.sqrt(v[name] / (1 - 0.999**t)) + 1e-8
            theta[name] = theta[name] - rate * (m[name] / (1 - 0.9**t)) / corrected
    return theta


def early_stop(scores, countdown):
    """What becomes of validations: rates relative to the first, the last one made, the best one."""
    best_f1, best, rate, rates = -1, None, 1.0, []
    for i, f1 in enumerate(scores):
        if f1 > best_f1:
            best_f1, best = f1, i
        else:
            rate /= 2
            countdown -= 1
        rates.append(rate)
        if countdown == 0:
            break
    return rates, i, best


def weighted_cross_entropy(logits, labels, negative_weight):
    """The weighted mean of −log softmax(logits) at the labels."""
    total = weights = 0.0
    for z, label in zip(logits, labels, strict=True):
        weight = 1.0 if label else negative_weight
        total += weight * (math.log(sum(math.exp(float(value)) for value in z)) - float(z[label]))
        weights += weight
    return total / weights


def attention_entropy(attentions, lengths):
    """Attanasio et al. 2022: for every sentence the sum over layers of its tokens' mean entropy; their mean.

    `attentions` is a list, for every layer, of arrays (n, heads, L, L).
    """
    of_sentences = []
    for s, length in enumerate(lengths):
        total = 0.0
        for layer in attentions:
            entropies = []
            for i in range(length):
                a = [sum(float(head[i, j]) for head in layer[s]) / len(layer[s]) for j in range(length)]
                normalizer = sum(math.exp(value) for value in a)
                softmax = [math.exp(value) / normalizer for value in a]
                entropies.append(-sum(p * math.log(p) for p in softmax))
            total += sum(entropies) / len(entropies)
        of_sentences.append(total)
    return sum(of_sentences) / len(of_sentences)
