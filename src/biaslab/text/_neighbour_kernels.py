"""Compiled loops for the search for the nearest words."""

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
