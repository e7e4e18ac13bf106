"""The positive pointwise mutual information (PPMI) representation of a corpus (Levy et al. 2015).

The vector of a word is its row of

    PPMI_ij = max(0, log(X_ij N / (r_i c_j)))    with r_i = sum_j X_ij, c_j = sum_i X_ij, N = sum_ij X_ij

and 0 if X_ij = 0. X is symmetric, so r = c.
"""

import numpy as np
import scipy  # imports its submodules lazily

from biaslab.embeddings.cooccurrence import Cooccurrence

__all__ = ["ppmi_rows", "row_sums"]

_ROUNDING = 1e-12  # error of the logarithms: smaller values count as 0, so that a zero row is recognised


def row_sums(x: Cooccurrence) -> np.ndarray:
    """Return the sum of every row of X in units of 1 / `x.unit`.

    Parameters
    ----------
    x : Cooccurrence

    Returns
    -------
    (V,) int64 or float64
        Same dtype as the counts; int64 sums have no rounding error.
    """
    sums = np.zeros(x.n_words, x.counts.dtype)
    filled = np.diff(x.indptr) > 0
    if filled.any():
        sums[filled] = np.add.reduceat(x.counts, x.indptr[:-1][filled])
    return sums


def ppmi_rows(x: Cooccurrence, words: np.ndarray, sums: np.ndarray) -> "scipy.sparse.csr_array":
    """Return the PPMI vectors of the given words.

    Parameters
    ----------
    x : Cooccurrence
        The counts.
    words : numpy.ndarray
        (m,) int64, word ids.
    sums : numpy.ndarray
        (V,) int64, the result of :func:`row_sums`.

    Returns
    -------
    scipy.sparse.csr_array
        (m, V) float64, columns ascending in each row, without stored zeros.
    """
    lengths = x.indptr[words + 1] - x.indptr[words]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(x.indptr[words] - starts[:-1], lengths) + np.arange(starts[-1])
    columns = x.indices[places]
    logs = np.log(np.where(sums > 0, sums, 1))
    information = np.log(x.counts[places]) - logs[columns] - np.repeat(logs[words], lengths)
    values = information + np.log(max(int(sums.sum()), 1))
    values[values < _ROUNDING] = 0.0
    rows = scipy.sparse.csr_array((values, columns, starts), shape=(len(words), x.n_words))
    rows.eliminate_zeros()
    return rows
