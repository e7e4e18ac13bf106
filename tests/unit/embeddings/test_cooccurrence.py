"""Co-occurrences, and the PPMI rows of them."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array

from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.ppmi import ppmi_rows, row_sums
from biaslab.embeddings.retraining import without_documents
from naive import embeddings as naive

N_WORDS = 6
corpora = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=20), min_size=1, max_size=8)


def flat(documents):
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return np.array([t for d in documents for t in d], np.int32), offsets


def as_dict(x):
    return {
        (i, int(x.indices[k])): Fraction(int(x.counts[k]), x.unit)
        for i in range(x.n_words)
        for k in range(x.indptr[i], x.indptr[i + 1])
    }


def same(a, b):
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in ("indptr", "indices", "counts"))


@given(corpora, st.integers(1, 9))
def test_counts_are_exact(documents, window):
    x = cooccurrence.count(*flat(documents), N_WORDS, window)
    assert as_dict(x) == naive.cooccurrence(documents, window)
    for i in range(N_WORDS):
        assert np.all(np.diff(x.indices[x.indptr[i] : x.indptr[i + 1]]) > 0)


@given(corpora, st.data())
def test_subtracting_documents_equals_recounting_the_pruned_corpus(documents, data):
    numbers = range(len(documents))
    removed = sorted(data.draw(st.sets(st.sampled_from(numbers))))
    tokens, offsets = flat(documents)
    x = cooccurrence.count(tokens, offsets, N_WORDS, 8)
    kept = [documents[k] for k in numbers if k not in removed]
    recounted = cooccurrence.count(*flat(kept), N_WORDS, 8)
    assert same(without_documents(x, tokens, offsets, np.array(removed, np.int64)), recounted)


def random_corpus(n_words=300, n_tokens=20_000, seed=0):
    rng = np.random.default_rng(seed)
    tokens = np.minimum(rng.zipf(1.3, n_tokens) - 1, n_words - 1).astype(np.int32)
    cuts = np.unique(np.concatenate([[0, n_tokens], rng.integers(0, n_tokens, 50)]))
    return tokens, cuts.astype(np.int64), n_words


def test_threads_and_passes_do_not_change_the_counts(monkeypatch):
    corpus = random_corpus()
    whole = cooccurrence.count(*corpus, 8, threads=1)
    assert same(whole, cooccurrence.count(*corpus, 8, threads=2))
    monkeypatch.setattr(cooccurrence, "_ROOM", 1000)
    assert same(whole, cooccurrence.count(*corpus, 8))


def test_file_round_trip(tmp_path):
    x = cooccurrence.count(*random_corpus(), 5)
    cooccurrence.write(tmp_path / "x.npz", x)
    again = cooccurrence.read(tmp_path / "x.npz")
    assert same(x, again)
    assert (again.unit, again.window) == (60, 5)


def test_texts_are_counted_as_their_word_ids_are():
    texts = [["b", "a", "b", "rare"], [], ["a", "b", "c", "a"]]
    x, vocabulary = cooccurrence.count_texts(iter(texts), window=2, min_count=2)
    assert vocabulary.words == ["a", "b"]  # three times each
    assert vocabulary.counts.tolist() == [3, 3]
    assert same(x, cooccurrence.count(*flat([[1, 0, 1], [], [0, 1, 0]]), 2, 2))


def test_a_sparse_matrix_becomes_counts():
    places = [0, 0, 1, 2, 2], [2, 1, 1, 1, 1]  # out of order, a zero, one twice
    matrix = coo_matrix(([2.0, 1.0, 0.0, 3.0, 1.0], places), shape=(3, 3))
    x = cooccurrence.from_sparse(matrix)
    assert as_dict(x) == {(0, 1): 1, (0, 2): 2, (2, 1): 4}
    assert (x.counts.dtype, x.indices.dtype, x.indptr.dtype) == (np.int64, np.int32, np.int64)
    assert matrix.nnz == 5  # the user's is left as it is


FRACTIONS = cooccurrence.from_sparse(csr_array([[0, 0.1], [0.5, 0]]))


def test_fractions_of_a_sparse_matrix_are_kept():
    assert FRACTIONS.counts.tolist() == [0.1, 0.5]


def counted(seed=1, window=8):
    return cooccurrence.count(*random_corpus(seed=seed), window)


@pytest.mark.parametrize(
    ("refuse", "problem"),
    [
        (lambda: counted(window=0), "window: 0"),
        (lambda: cooccurrence.count(*random_corpus()[:2], 3, 8), "outside the vocabulary of 3 words"),
        (lambda: without_documents(counted(), *random_corpus()[:2], np.array([99])), "is not in the corpus"),
        (lambda: cooccurrence.subtract(counted(), counted(seed=2)), "not part of this corpus"),
        (lambda: cooccurrence.subtract(counted(), counted(window=7)), "another vocabulary or window"),
        (lambda: cooccurrence.subtract(FRACTIONS, FRACTIONS), "fractional counts cannot be subtracted"),
        (
            lambda: cooccurrence.count_texts([["a"], "a b"], 2, 2),
            "text 2 is a string; give a list of its words",
        ),
        (lambda: cooccurrence.count_texts([["a", "b"]], 2, 2), "no word occurs 2 times"),
        (lambda: cooccurrence.count_texts([], 2, 2), "no word occurs 2 times"),
        (lambda: cooccurrence.from_sparse(np.eye(2)), "a ndarray is not a sparse matrix"),
        (lambda: cooccurrence.from_sparse(csr_array(np.ones((2, 3)))), r"of shape \(2, 3\) is not square"),
        (lambda: cooccurrence.from_sparse(csr_array([[0, -1], [1, 0]])), "negative or non-finite"),
        (lambda: cooccurrence.from_sparse(csr_array([[0, np.nan], [1, 0]])), "negative or non-finite"),
        (lambda: cooccurrence.from_sparse(csr_array([[0, 1j], [1, 0]])), "negative or non-finite"),
    ],
)
def test_what_cannot_be_counted_subtracted_or_imported_is_refused(refuse, problem):
    with pytest.raises(InputError, match=problem):
        refuse()


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
