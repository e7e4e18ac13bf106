"""Compiled loops for the similarity of texts."""

import numpy as np

from biaslab.core.jit import parallel_kernel, prange

N_GRAM_ORDERS = 4


@parallel_kernel
def count_common_n_grams(original, changed, offsets, common):
    """Count the n-grams that changed texts share with the originals, at most as often as in the original.

    original, changed : (total,) int32, words of n texts each; a changed text is as long as its original
    common : (n, 4) int32, receives the counts for 1-grams to 4-grams
    """
    for i in prange(offsets.size - 1):
        common[i] = 0
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            before = np.zeros(N_GRAM_ORDERS, np.int32)
            there = np.zeros(N_GRAM_ORDERS, np.int32)
            for q in range(begin, end):
                for length in range(min(N_GRAM_ORDERS, end - max(p, q))):
                    if original[q + length] != changed[p + length]:
                        break
                    there[length] += 1
            for q in range(begin, p):
                for length in range(min(N_GRAM_ORDERS, end - p)):
                    if changed[q + length] != changed[p + length]:
                        break
                    before[length] += 1
            for length in range(N_GRAM_ORDERS):
                common[i, length] += before[length] < there[length]
