"""Compiled steps of AEQUITAS' local walk, and the entire walk for networks.

A hop uses four numbers drawn from [0, 1): for the attribute, its direction, its direction at a bound, and
whether the walk continues from the new sample.
"""

from typing import NamedTuple

import numpy as np

from biaslab.classifiers._kernels import BLOCK, forward_block
from biaslab.core.jit import kernel

CHANGE = 0.001
"""The amount by which one hop raises or lowers a probability."""


class Walk(NamedTuple):
    """A walk of h hops and its learned probabilities; filled and changed in place."""

    samples: np.ndarray  # (h + 1, d) int32: visited samples; the first is the start
    discriminatory: np.ndarray  # (h + 1,) bool
    draws: np.ndarray  # (h, 4) float64
    probabilities: np.ndarray  # (d,) float64: of perturbing each attribute; every hop changes them
    directions: np.ndarray  # (d,) float64: of lowering the perturbed attribute; every hop changes them


class Rules(NamedTuple):
    """The constants of all walks; the switches are those of `aequitas.Settings`."""

    low: np.ndarray  # (d,) int32, as high: bounds of the domain
    high: np.ndarray
    columns: np.ndarray  # (p,) int64: the protected attributes
    values: np.ndarray  # (m, p) int32: the combinations of their values
    metropolis: bool
    falsy_energy: bool


class Stand(NamedTuple):
    """The state of a walk."""

    visit: int  # the next visit; earlier visits are complete
    here: int  # the visit with the sample from which the next hop starts
    energy: bool  # of this sample
    success: bool  # whether the last hop was successful


@kernel
def perturb(x, low, high, draws, probabilities, directions):
    """Move one attribute of `x`, (d,) int32, by one unit within its bounds; return it and -1 or 1."""
    attribute, total = 0, 0.0
    for i in range(x.size):
        if probabilities[i] > 0.0:
            attribute = i  # the last attribute, if rounding leaves the total below the drawn number
            total += probabilities[i]
            if draws[0] < total:
                break
    direction = -1 if draws[1] < directions[attribute] else 1
    if x[attribute] == low[attribute] or x[attribute] == high[attribute]:
        direction = -1 if draws[2] < 0.5 else 1
    x[attribute] = min(max(x[attribute] + direction, low[attribute]), high[attribute])
    return attribute, direction


@kernel
def learn(attribute, direction, success, probabilities, directions):
    """Update both distributions, (d,) float64, in place, by the success of a hop."""
    if success == (direction == -1):
        directions[attribute] = min(directions[attribute] + CHANGE, 1.0)
    else:
        directions[attribute] = max(directions[attribute] - CHANGE, 0.0)
    if success:
        probabilities[attribute] += CHANGE
    else:
        probabilities[attribute] = max(probabilities[attribute] - CHANGE, 0.0)
    total = 0.0
    for i in range(probabilities.size):
        total += probabilities[i]
    for i in range(probabilities.size):
        probabilities[i] /= total


@kernel
def first_partner(labels):
    """Return the first combination with another label than the sample, whose label is last; -1 for none."""
    own = labels.size - 1
    for v in range(own):
        if labels[v] != labels[own]:
            return v
    return -1


@kernel
def is_falsy(x, partner, columns, values):
    """Return whether the partner's protected values, or without a partner the values of `x`, are all 0."""
    for c in range(columns.size):
        value = values[partner, c] if partner >= 0 else x[columns[c]]
        if value != 0:
            return False
    return True


@kernel
def accepts(new, old, draw):
    """Return whether the Metropolis rule at temperature 1 accepts a new energy, 0 or 1 (bool)."""
    return not new or old or draw <= np.exp(-1.0)


@kernel
def guess_visits(walk, stand, end, rules):
    """Fill the samples up to `end`, as if every hop is accepted and succeeds or fails like the last."""
    samples, _, draws, probabilities, directions = walk
    low, high = rules.low, rules.high
    probabilities, directions, here = probabilities.copy(), directions.copy(), stand.here
    for visit in range(stand.visit, end):
        if visit > 0:
            for k in range(samples.shape[1]):
                samples[visit, k] = samples[here, k]
            attribute, direction = perturb(
                samples[visit], low, high, draws[visit - 1], probabilities, directions
            )
            learn(attribute, direction, stand.success, probabilities, directions)
        here = visit


@kernel
def take_visits(walk, stand, end, labels, rules):
    """Process guessed visits up to `end`, or to the first wrong guess, and learn from each.

    `labels`, (n, m + 1) int64, are the labels of the visits from `stand.visit` on, with each combination of
    protected values and with the sample's own values (last).
    """
    samples, discriminatory, draws, probabilities, directions = walk
    low, high, columns, values, metropolis, falsy_energy = rules
    first, here, here_energy, success = stand
    visit = first
    x = np.empty(samples.shape[1], np.int32)
    while visit < end:
        attribute, direction = 0, 0
        if visit > 0:
            for k in range(x.size):
                x[k] = samples[here, k]
            attribute, direction = perturb(x, low, high, draws[visit - 1], probabilities, directions)
            if np.any(x != samples[visit]):
                break
        partner = first_partner(labels[visit - first])
        discriminatory[visit] = partner >= 0
        if visit > 0:
            success = partner >= 0
            learn(attribute, direction, success, probabilities, directions)
        energy = is_falsy(samples[visit], partner, columns, values) if falsy_energy else partner < 0
        if visit == 0 or not metropolis or accepts(energy, here_energy, draws[visit - 1, 3]):
            here, here_energy = visit, energy
        visit += 1
    return Stand(visit, here, here_energy, success)


@kernel
def label_variants(X, columns, values, n_classes, sizes, weights, biases, variants, activations, labels):
    """Fill `labels`, (n, m + 1): with each combination of protected values, and with the values of `X`."""
    n, n_variants = X.shape[0], labels.shape[1]
    for row in range(n * n_variants):
        variants[row] = X[row // n_variants]
        v = row % n_variants
        if v < n_variants - 1:
            for c in range(columns.size):
                variants[row, columns[c]] = values[v, c]
    first_logit = activations.shape[0] - sizes[-1]
    for start in range(0, n * n_variants, BLOCK):
        forward_block(variants, start, sizes, weights, biases, activations)
        for s in range(min(BLOCK, n * n_variants - start)):
            best = 0
            for j in range(1, n_classes):
                if activations[first_logit + j, s] > activations[first_logit + best, s]:
                    best = j
            labels[(start + s) // n_variants, (start + s) % n_variants] = best


@kernel
def walk_network(walk, stand, rules, n_classes, sizes, weights, biases):
    """Walk to the end with a network.

    Probabilities change slowly, so that the next visits can be guessed: a block of visits is labelled at
    once, and again after the first wrong guess. The walk is identical to a walk hop by hop.
    """
    n_visits, d = walk.samples.shape
    n_variants = rules.values.shape[0] + 1
    labels = np.empty((max(1, BLOCK // n_variants), n_variants), np.int64)
    variants = np.empty((labels.size, d), np.int32)
    activations = np.empty((np.sum(sizes), BLOCK), np.float32)
    while stand.visit < n_visits:
        end = min(stand.visit + labels.shape[0], n_visits)
        guess_visits(walk, stand, end, rules)
        label_variants(
            walk.samples[stand.visit : end],
            rules.columns,
            rules.values,
            n_classes,
            sizes,
            weights,
            biases,
            variants,
            activations,
            labels,
        )
        stand = take_visits(walk, stand, end, labels, rules)
