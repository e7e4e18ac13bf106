"""Compiled loops of the search for the nearest words."""

import numpy as np

from biaslab.core.jit import parallel_kernel, prange

STRIDE = 128
"""Screened cosines that are passed over together, in vector lanes, when none of them is large enough."""


@parallel_kernel
def merge_nearest(screened, margin, rows, columns, vectors, norms, nearest, cosines):
    """Merge some words into the nearest words of others, by exact cosines where screened ones let them.

    screened : (r, c) float32, cosines of the words `rows` and `columns`, off by less than `margin`
    rows : (r,) int64, words whose neighbours are sought
    columns : (c,) int64, words that may be neighbours, rising, and larger than those of earlier calls
    vectors : (V, d) float32
    norms : (V,) float64, their lengths; not zero for `rows` and `columns`
    nearest : (r, k) int32, the nearest words so far, most similar first; -1 where there are no more
    cosines : (r, k) float64, theirs, rounded to 1e-9; -inf where there are no more
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
