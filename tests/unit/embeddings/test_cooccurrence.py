from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
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


def test_what_cannot_be_counted_or_subtracted_is_refused():
    tokens, offsets, n_words = random_corpus(seed=1)
    x = cooccurrence.count(tokens, offsets, n_words, 8)
    with pytest.raises(InputError, match="window: 0"):
        cooccurrence.count(tokens, offsets, n_words, 0)
    with pytest.raises(InputError, match="outside the vocabulary of 3 words"):
        cooccurrence.count(tokens, offsets, 3, 8)
    with pytest.raises(InputError, match="is not in the corpus"):
        without_documents(x, tokens, offsets, np.array([len(offsets)]))
    with pytest.raises(InputError, match="not part of this corpus"):
        cooccurrence.subtract(x, cooccurrence.count(*random_corpus(seed=2), 8))
    with pytest.raises(InputError, match="another vocabulary or window"):
        cooccurrence.subtract(x, cooccurrence.count(tokens, offsets, n_words, 7))


def test_texts_are_counted_as_their_word_ids_are():
    texts = [["b", "a", "b", "rare"], [], ["a", "b", "c", "a"]]
    x, vocabulary = cooccurrence.count_texts(iter(texts), window=2, min_count=2)
    assert vocabulary.words == ["a", "b"]  # three times each
    assert vocabulary.counts.tolist() == [3, 3]
    assert same(x, cooccurrence.count(*flat([[1, 0, 1], [], [0, 1, 0]]), 2, 2))


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ([["a"], "a b"], "text 2 is a string; give a list of its words"),
        ([["a", "b"]], "no word occurs 2 times"),
        ([], "no word occurs 2 times"),
    ],
)
def test_texts_that_cannot_be_counted_are_refused(texts, problem):
    with pytest.raises(InputError, match=problem):
        cooccurrence.count_texts(texts, window=2, min_count=2)


def test_a_sparse_matrix_becomes_counts():
    places = [0, 0, 1, 2, 2], [2, 1, 1, 1, 1]  # out of order, a zero, one twice
    matrix = scipy.sparse.coo_matrix(([2.0, 1.0, 0.0, 3.0, 1.0], places), shape=(3, 3))
    x = cooccurrence.from_sparse(matrix)
    assert as_dict(x) == {(0, 1): 1, (0, 2): 2, (2, 1): 4}
    assert (x.counts.dtype, x.indices.dtype, x.indptr.dtype) == (np.int64, np.int32, np.int64)
    assert matrix.nnz == 5  # the user's is left as it is


def test_fractions_of_a_sparse_matrix_are_kept():
    x = cooccurrence.from_sparse(scipy.sparse.csr_array([[0, 0.1], [0.5, 0]]))
    assert x.counts.tolist() == [0.1, 0.5]
    with pytest.raises(InputError, match="fractional counts cannot be subtracted exactly"):
        cooccurrence.subtract(x, x)


@pytest.mark.parametrize(
    ("matrix", "problem"),
    [
        (np.eye(2), "a ndarray is not a sparse matrix"),
        (scipy.sparse.csr_array(np.ones((2, 3))), r"the matrix of shape \(2, 3\) is not square"),
        (scipy.sparse.csr_array([[0, -1], [1, 0]]), "negative or non-finite"),
        (scipy.sparse.csr_array([[0, np.nan], [1, 0]]), "negative or non-finite"),
        (scipy.sparse.csr_array([[0, 1j], [1, 0]]), "negative or non-finite"),
    ],
)
def test_a_matrix_that_holds_no_counts_is_refused(matrix, problem):
    with pytest.raises(InputError, match=problem):
        cooccurrence.from_sparse(matrix)
