"""Compiled loops of the search for the nearest words."""

import numpy as np

from biaslab.core.jit import parallel_kernel, prange


@parallel_kernel
def select_nearest(screened, margin, rows, columns, vectors, norms, nearest):
    """Write the nearest words of a few words by exact cosines, screened by rounded ones.

    Parameters
    ----------
    screened : (r, c) float32
        Cosines of the words `rows` and `columns`, each off by less than half of `margin`.
    margin : float
    rows : (r,) int64
        Words that neighbours are sought for.
    columns : (c,) int64
        Words that may be neighbours, rising.
    vectors : (V, d) float32
    norms : (V,) float64
        Their lengths; not zero for `rows` and `columns`.
    nearest : (r, k) int32
        Receives words, most similar first, by cosines rounded to 1e-9; -1 where there are no more.
    """
    k = nearest.shape[1]
    for i in prange(rows.size):
        word = rows[i]
        largest = np.full(k, -np.inf, np.float32)  # of the screened cosines, falling
        for j in range(columns.size):
            value = screened[i, j]
            if value > largest[k - 1] and columns[j] != word:
                place = k - 1
                while place > 0 and value > largest[place - 1]:
                    largest[place] = largest[place - 1]
                    place -= 1
                largest[place] = value
        least = largest[k - 1] - margin
        cosines = np.full(k, -np.inf)
        nearest[i] = -1
        for j in range(columns.size):
            other = columns[j]
            if screened[i, j] < least or other == word:
                continue
            product = 0.0
            for a in range(vectors.shape[1]):
                product += np.float64(vectors[word, a]) * np.float64(vectors[other, a])
            cosine = np.rint(product / (norms[word] * norms[other]) * 1e9)
            place = k
            while place > 0 and cosine > cosines[place - 1]:
                if place < k:
                    cosines[place] = cosines[place - 1]
                    nearest[i, place] = nearest[i, place - 1]
                place -= 1
            if place < k:
                cosines[place] = cosine
                nearest[i, place] = other
