"""Embeddings of any origin as unit vectors."""

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.embeddings.formats import FORMATS, write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import digest_words

WORDS = ["she", "he", "it"]
VECTORS = np.array([[3, 4], [0, -1e-30], [5e18, 5e18]], dtype=np.float32)
TRAININGS = np.stack([np.ones_like(VECTORS), VECTORS])
UNIT = np.array([[0.6, 0.8], [0, -1], [0.5**0.5, 0.5**0.5]])


@pytest.fixture
def batch(tmp_path):
    """Write trainings with their vocabulary as the workflow does; return the path of the batch."""

    def write(W=TRAININGS, folder="embeddings/baseline"):
        (tmp_path / "vocabulary.tsv").write_text("word\tcount\nshe\t3\nhe\t2\nit\t1\n")
        path = tmp_path / folder / "batch-0.npz"
        path.parent.mkdir(parents=True)
        write_npz(path, replicates=np.arange(5, 5 + len(W)), W=W, words=digest_words(WORDS))
        return path

    return write


@pytest.mark.parametrize("format", FORMATS)
def test_files_of_other_tools(tmp_path, format):
    write_embedding(tmp_path / "vectors", WORDS, VECTORS, format)
    embedding = read_unit_embedding(tmp_path / "vectors")
    assert embedding.words == WORDS
    assert embedding.vectors.dtype == np.float32
    np.testing.assert_allclose(embedding.vectors, UNIT, rtol=1e-7)
    assert embedding.ids() == {"she": 0, "he": 1, "it": 2}


def test_batches_find_their_vocabulary(batch, tmp_path):
    path = batch()
    np.testing.assert_allclose(read_unit_embedding(path, replicate=6).vectors, UNIT, rtol=1e-7)
    (tmp_path / "vocabulary.tsv").rename(tmp_path / "other.tsv")
    named = read_unit_embedding(path, vocabulary=tmp_path / "other.tsv", replicate=6)
    assert named.words == WORDS
    with pytest.raises(InputError, match="no replicate 0; choose one of 5, 6"):
        read_unit_embedding(path, vocabulary=tmp_path / "other.tsv")
    with pytest.raises(InputError, match=r"batch-0.npz: the folder and its parents have no vocabulary.tsv"):
        read_unit_embedding(path, replicate=6)
    with pytest.raises(InputError, match=r"no vocabulary.tsv"):  # one is there, but too far above
        read_unit_embedding(batch(folder="a/b/c/d"), replicate=5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(batch, value):
    W = VECTORS.copy()
    W[1] = value
    with pytest.raises(InputError, match=r"the vector of 'he' is not finite \(word 2\)"):
        read_unit_embedding(batch(W[None]), replicate=5)


def test_zero_vectors_are_left_out_and_counted(tmp_path, batch):
    path = tmp_path / "vectors.txt"
    path.write_text("a 3 4\nb 0 -0\nc 0 2\nD 0 0\n")
    embedding = read_unit_embedding(path)
    assert embedding.words == ["a", "c"]
    np.testing.assert_allclose(embedding.vectors, [[0.6, 0.8], [0, 1]], rtol=1e-7)
    np.testing.assert_array_equal(embedding.lengths, [5, 2])
    assert embedding.notes == (
        f"{path}: 2 words omitted, because the vectors are zero and have no direction ('b', 'D')",
    )
    ids = embedding.ids()
    assert [word for word in ("a", "b", "d", "e") if word in ids] == ["a"]
    assert list(ids.undirected) == ["b", "d"]
    W = VECTORS.copy()
    W[1] = 0
    assert read_unit_embedding(batch(W[None]), replicate=5).words == ["she", "it"]
    path.write_text("a 0 0\nb 0 -0\n")
    with pytest.raises(InputError, match=r"vectors.txt: all vectors are zero; give"):
        read_unit_embedding(path)
