import numpy as np
import scipy.sparse

from biaslab.embeddings import cooccurrence
from biaslab.embeddings.ppmi import ppmi_rows, row_sums
from naive import embeddings as naive


def test_rows_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    documents = [rng.integers(0, 12, 30).tolist() for _ in range(4)]
    offsets = np.arange(5, dtype=np.int64) * 30
    x = cooccurrence.count(np.concatenate(documents).astype(np.int32), offsets, 14, 5)
    sums, words = row_sums(x), np.array([2, 9, 13])
    assert sums[12:].tolist() == [0, 0]  # words that never occur
    rows = ppmi_rows(x, words, sums)
    np.testing.assert_allclose(rows.toarray(), naive.ppmi(documents, 14, 5)[words], rtol=0, atol=1e-13)
    assert (rows.data > 0).all()


def test_fractions_have_the_rows_of_the_whole_numbers_that_they_are_tenths_of():
    whole = scipy.sparse.csr_array([[0, 3, 1], [3, 0, 0], [1, 0, 2]])
    tenths, wholes = (cooccurrence.from_sparse(matrix) for matrix in (whole / 10, whole))
    words = np.arange(3)
    rows = [ppmi_rows(x, words, row_sums(x)).toarray() for x in (tenths, wholes)]
    np.testing.assert_allclose(*rows, rtol=0, atol=1e-13)


def test_an_empty_corpus_has_empty_rows():
    x = cooccurrence.count(np.empty(0, np.int32), np.zeros(2, np.int64), 3, 5)
    assert ppmi_rows(x, np.array([0, 2]), row_sums(x)).nnz == 0
