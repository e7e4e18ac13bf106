"""Compiled loops for the nearest words of a word, and for the similarity of texts."""

import numpy as np

from biaslab.core.jit import parallel_kernel, prange

STRIDE = 128
"""Number of screened cosines skipped together, in vector lanes, if none is large enough."""


@parallel_kernel
def merge_nearest(screened, margin, rows, columns, vectors, norms, nearest, cosines):
    """Merge candidates into the nearest words, by exact cosines if the screened cosines are large enough.

    screened : (r, c) float32, cosines of the words `rows` and `columns`, with an error below `margin`
    rows : (r,) int64, words to find neighbours of
    columns : (c,) int64, candidate words, ascending, and larger than those of earlier calls
    vectors : (V, d) float32
    norms : (V,) float64, lengths of the vectors; not zero for `rows` and `columns`
    nearest : (r, k) int32, the nearest words so far, most similar first; filled up with -1
    cosines : (r, k) float64, their cosines, rounded to 1e-9; filled up with -inf
    """
    k = nearest.shape[1]
    for i in prange(rows.size):
        word = rows[i]
        for begin in range(0, columns.size, STRIDE):
            end = min(begin + STRIDE, columns.size)
            least = np.float32(cosines[i, k - 1] - margin)
            n_large = 0
            for value in screened[i, begin:end]:
                n_large += value >= least
            if n_large == 0:
                continue
            for j in range(begin, end):
                other = columns[j]
                if screened[i, j] < least or other == word:
                    continue
                product = 0.0
                for a in range(vectors.shape[1]):
                    product += np.float64(vectors[word, a]) * np.float64(vectors[other, a])
                cosine = np.rint(product / (norms[word] * norms[other]) * 1e9) / 1e9
                place = k
                while place > 0 and cosine > cosines[i, place - 1]:
                    if place < k:
                        cosines[i, place] = cosines[i, place - 1]
                        nearest[i, place] = nearest[i, place - 1]
                    place -= 1
                if place < k:
                    cosines[i, place] = cosine
                    nearest[i, place] = other
                    least = np.float32(cosines[i, k - 1] - margin)


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
