import dataclasses

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.embeddings.word_maps import WordMaps, read_word_maps, write_word_maps

N_WORDS, D = 5, 3


@pytest.fixture
def maps():
    rng = np.random.default_rng(1)
    return WordMaps(
        replicates=np.array([0, 4]),
        linear=rng.normal(size=(2, 2, D, D)),
        kinds=np.array([0, 1, 1, 0, 1]),
        words=np.array([1, 3]),
        constants=rng.normal(size=(2, 2, D)),
    )


def test_every_word_has_its_own_map(maps):
    vectors = np.random.default_rng(2).normal(size=(N_WORDS, D)).astype(np.float32)
    found = maps.of(4).apply(vectors)
    for word in range(N_WORDS):
        expected = maps.linear[1, maps.kinds[word]] @ vectors[word].astype(float)
        expected += {1: maps.constants[1, 0], 3: maps.constants[1, 1]}.get(word, 0)
        np.testing.assert_allclose(found[word], expected, rtol=1e-12)
    np.testing.assert_array_equal(maps.of(0).matrices(np.array([2, 3])), maps.linear[0, [1, 0]])


def test_maps_are_read_as_they_were_written(maps, tmp_path):
    write_word_maps(tmp_path / "maps.npz", maps)
    read = read_word_maps(tmp_path / "maps.npz", N_WORDS)
    for name, value in vars(maps).items():
        np.testing.assert_array_equal(getattr(read, name), value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kinds": np.zeros(4, np.int64)}, "maps of 4 words, but the vocabulary has 5"),
        ({"constants": np.zeros((2, 1, D))}, "do not fit each other"),
        ({"linear": np.zeros((1, 2, D, D))}, "do not fit each other"),
        ({"linear": np.full((2, 2, D, D), np.nan)}, "not finite"),
    ],
)
def test_wrong_maps_are_refused(maps, tmp_path, changes, message):
    write_word_maps(tmp_path / "maps.npz", dataclasses.replace(maps, **changes))
    with pytest.raises(InputError, match=rf"maps\.npz: .*{message}"):
        read_word_maps(tmp_path / "maps.npz", N_WORDS)


def test_training_without_maps(maps):
    with pytest.raises(InputError, match="no maps of words for training 1; there are some for 0, 4"):
        maps.of(1)
