"""Files of trained embeddings."""

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.embeddings.batches import read_training, read_trainings
from biaslab.embeddings.vocabulary import Vocabulary

N_WORDS, N_DIMENSIONS = 4, 3
WORDS = ["the", "of", "2004", "été"]
VOCABULARY = Vocabulary(WORDS, np.ones(N_WORDS))
LARGER = Vocabulary([*WORDS, "more"], np.ones(N_WORDS + 1))


def write_batch(path, replicates):
    n = len(replicates)
    rng = np.random.default_rng(replicates)
    arrays = {
        "replicates": np.array(replicates, dtype=np.int64),
        "W": rng.normal(size=(n, N_WORDS, N_DIMENSIONS)).astype(np.float32),
        "words": np.array(VOCABULARY.digest),
    }
    write_npz(path, **arrays)
    return arrays


@pytest.fixture
def batches(tmp_path):
    """Two files of the set baseline and one of another: paths and arrays."""
    paths = [tmp_path / "baseline" / "batch-1.npz", tmp_path / "baseline" / "batch-0.npz"]
    paths.append(tmp_path / "random-10-0" / "batch-0.npz")
    return paths, [write_batch(path, ids) for path, ids in zip(paths, ([2], [0, 1], [0, 1, 2]), strict=True)]


def test_trainings_come_in_the_order_of_the_files(batches):
    paths, arrays = batches
    trainings = list(read_trainings(paths, VOCABULARY))
    assert [(t.set, t.replicate) for t in trainings] == [
        ("baseline", 2),
        ("baseline", 0),
        ("baseline", 1),
        ("random-10-0", 0),
        ("random-10-0", 1),
        ("random-10-0", 2),
    ]
    np.testing.assert_array_equal(trainings[2].W, arrays[1]["W"][1])
    np.testing.assert_array_equal(read_training(paths[1], 1, VOCABULARY).W, arrays[1]["W"][1])


def test_other_words_and_repeated_and_absent_trainings_are_refused(batches, monkeypatch):
    paths, _ = batches
    with pytest.raises(InputError, match=r"batch-1\.npz: W has 4 words and the vocabulary has 5;"):
        list(read_trainings(paths, LARGER))
    with pytest.raises(InputError, match=r"batch-1\.npz: replicate 2 of set 'baseline' is repeated"):
        list(read_trainings([*paths, paths[0]], VOCABULARY))
    with pytest.raises(InputError, match=r"no replicate 2; choose one of 0, 1"):
        read_training(paths[1], 2, VOCABULARY)
    monkeypatch.chdir(paths[0].parent)
    assert next(read_trainings(["batch-1.npz"], VOCABULARY)).set == "baseline"


@pytest.mark.parametrize(
    "changes",
    [
        {"W": np.zeros((N_WORDS, N_DIMENSIONS))},
        {"replicates": np.arange(3)},
        {"replicates": np.zeros((1, 1), dtype=np.int64)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, changes):
    path = tmp_path / "batch-0.npz"
    write_npz(path, **{"replicates": np.array([0]), "W": np.zeros((1, 4, 3)), **changes})
    with pytest.raises(InputError, match=r"batch-0\.npz: the shapes of replicates .* do not match"):
        list(read_trainings([path], VOCABULARY))
