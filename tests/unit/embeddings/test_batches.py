"""Files of trained embeddings, and embeddings of any origin as unit vectors."""

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.embeddings.batches import read_training, read_trainings
from biaslab.embeddings.formats import FORMATS, write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import Vocabulary

WORDS = ["she", "he", "it"]
VOCABULARY = Vocabulary(WORDS, np.ones(3))
VECTORS = np.array([[3, 4], [0, -1e-30], [5e18, 5e18]], dtype=np.float32)
UNIT = np.array([[0.6, 0.8], [0, -1], [0.5**0.5, 0.5**0.5]])


def write_batch(path, replicates, W=None):
    if W is None:
        W = np.random.default_rng(replicates).normal(size=(len(replicates), 3, 2)).astype(np.float32)
    write_npz(path, replicates=np.array(replicates), W=W, words=np.array(VOCABULARY.digest))
    return W


@pytest.fixture
def batches(tmp_path):
    """Two files of the set baseline and one of another: paths and vectors."""
    paths = [
        tmp_path / name for name in ("baseline/batch-1.npz", "baseline/batch-0.npz", "random/batch-0.npz")
    ]
    return paths, [write_batch(path, ids) for path, ids in zip(paths, ([2], [0, 1], [0, 1, 2]), strict=True)]


def test_trainings_come_in_the_order_of_the_files(batches):
    paths, vectors = batches
    trainings = list(read_trainings(paths, VOCABULARY))
    keys = [("baseline", 2), ("baseline", 0), ("baseline", 1), *(("random", k) for k in range(3))]
    assert [(t.set, t.replicate) for t in trainings] == keys
    np.testing.assert_array_equal(trainings[2].W, vectors[1][1])
    np.testing.assert_array_equal(read_training(paths[1], 1, VOCABULARY).W, vectors[1][1])


def test_other_words_and_repeated_and_absent_trainings_are_refused(batches, monkeypatch):
    paths, _ = batches
    with pytest.raises(InputError, match=r"batch-1\.npz: W has 3 words and the vocabulary has 4;"):
        list(read_trainings(paths, Vocabulary([*WORDS, "more"], np.ones(4))))
    with pytest.raises(InputError, match=r"batch-1\.npz: replicate 2 of set 'baseline' is repeated"):
        list(read_trainings([*paths, paths[0]], VOCABULARY))
    with pytest.raises(InputError, match=r"no replicate 2; choose one of 0, 1"):
        read_training(paths[1], 2, VOCABULARY)
    monkeypatch.chdir(paths[0].parent)
    assert next(read_trainings(["batch-1.npz"], VOCABULARY)).set == "baseline"


@pytest.mark.parametrize(("replicates", "shape"), [([0], (3, 2)), ([0, 1, 2], (1, 3, 2)), ([[0]], (1, 3, 2))])
def test_arrays_that_do_not_fit_are_refused(tmp_path, replicates, shape):
    write_batch(tmp_path / "batch-0.npz", replicates, np.zeros(shape))
    with pytest.raises(InputError, match=r"batch-0\.npz: the shapes of replicates .* do not match"):
        list(read_trainings([tmp_path / "batch-0.npz"], VOCABULARY))


# --- unit vectors


@pytest.fixture
def batch(tmp_path):
    """Write trainings with their vocabulary as the workflow does; return the path of the batch."""

    def write(*trainings, folder="embeddings/baseline"):
        (tmp_path / "vocabulary.tsv").write_text("word\tcount\nshe\t3\nhe\t2\nit\t1\n")
        path = tmp_path / folder / "batch-0.npz"
        write_batch(path, range(5, 5 + len(trainings)), np.stack(trainings))
        return path

    return write


def changed(value):
    """Return the vectors with another one of the second word."""
    vectors = VECTORS.copy()
    vectors[1] = value
    return vectors


@pytest.mark.parametrize("format", FORMATS)
def test_files_of_other_tools(tmp_path, format):
    write_embedding(tmp_path / "vectors", WORDS, VECTORS, format)
    embedding = read_unit_embedding(tmp_path / "vectors")
    assert embedding.words == WORDS
    assert embedding.vectors.dtype == np.float32
    np.testing.assert_allclose(embedding.vectors, UNIT, rtol=1e-7)
    assert embedding.ids() == {"she": 0, "he": 1, "it": 2}


def test_batches_find_their_vocabulary(batch, tmp_path):
    path = batch(np.ones_like(VECTORS), VECTORS)
    np.testing.assert_allclose(read_unit_embedding(path, replicate=6).vectors, UNIT, rtol=1e-7)
    (tmp_path / "vocabulary.tsv").rename(tmp_path / "other.tsv")
    assert read_unit_embedding(path, vocabulary=tmp_path / "other.tsv", replicate=6).words == WORDS
    with pytest.raises(InputError, match="no replicate 0; choose one of 5, 6"):
        read_unit_embedding(path, vocabulary=tmp_path / "other.tsv")
    with pytest.raises(InputError, match=r"batch-0.npz: the folder and its parents have no vocabulary.tsv"):
        read_unit_embedding(path, replicate=6)
    with pytest.raises(InputError, match=r"no vocabulary.tsv"):  # one is there, but too far above
        read_unit_embedding(batch(VECTORS, folder="a/b/c/d"), replicate=5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(batch, value):
    with pytest.raises(InputError, match=r"the vector of 'he' is not finite \(word 2\)"):
        read_unit_embedding(batch(changed(value)), replicate=5)


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
    assert read_unit_embedding(batch(changed(0)), replicate=5).words == ["she", "it"]
    path.write_text("a 0 0\nb 0 -0\n")
    with pytest.raises(InputError, match=r"vectors.txt: all vectors are zero; give"):
        read_unit_embedding(path)
