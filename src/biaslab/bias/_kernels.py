"""Compiled loops of the permutation test."""

import numpy as np

from biaslab.core.jit import kernel


@kernel
def count_subsets(values, size, threshold):
    """Count the subsets of `size` values whose sum reaches a threshold, over all subsets."""
    n = values.size
    chosen = np.arange(size)
    count = 0
    while True:
        total = 0.0
        for i in range(size):
            total += values[chosen[i]]
        if total >= threshold:
            count += 1
        last = size - 1  # next subset in lexicographic order: raise the last index that can rise
        while last >= 0 and chosen[last] == n - size + last:
            last -= 1
        if last < 0:
            return count
        chosen[last] += 1
        for i in range(last + 1, size):
            chosen[i] = chosen[i - 1] + 1


@kernel
def count_random_subsets(values, size, threshold, draws, rng):
    """Count the subsets of `size` values whose sum reaches a threshold, over uniformly random subsets.

    `rng` is advanced by ``draws * size`` integers.
    """
    shuffled = values.copy()
    count = 0
    for _ in range(draws):
        total = 0.0
        for i in range(size):  # the first `size` steps of a Fisher-Yates shuffle draw a random subset
            j = rng.integers(i, shuffled.size)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
            total += shuffled[i]
        if total >= threshold:
            count += 1
    return count
