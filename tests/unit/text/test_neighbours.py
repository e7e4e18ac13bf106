"""The words that may replace a word."""

import numpy as np
import pytest

import naive.text_similarity as naive
from biaslab.text import neighbours
from biaslab.text.neighbours import nearest_words
from biaslab.text.words import Lexicon, build_lexicon


def lexicon_of(vectors, n_unknown=0):
    words = [f"w{i}" for i in range(len(vectors))]
    return build_lexicon(words, np.array(vectors, np.float32), [[f"x{i}" for i in range(n_unknown)]])


def random_lexicon(seed, n_words=40, dimension=5):
    """Vectors with small whole numbers: many equal cosines, a few zero vectors, multiples and copies."""
    return lexicon_of(np.random.default_rng(seed).integers(-2, 3, (n_words, dimension)), n_unknown=3)


@pytest.mark.parametrize("k", [1, 4, 60])
def test_neighbours_are_those_of_the_definition(k):
    lexicon, excluded = random_lexicon(1), [3, 7, 20]
    found = nearest_words(lexicon, k, excluded)
    assert found.dtype == np.int32
    for word, row in enumerate(found.tolist()):
        assert row == naive.nearest_words(lexicon.vectors, lexicon.is_known, k, excluded, word)


def test_equal_cosines_are_ordered_by_id_even_where_rounding_tells_them_apart():
    direction = np.array([0.1, 0.7, -0.3], np.float32)
    scales = [1.0, 3.0, 1 / 3, 7.1, 0.013, 911.0, 1e-20, 1e20]
    found = nearest_words(lexicon_of([direction * s for s in scales]), 7)
    assert found[0].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert found[4].tolist() == [0, 1, 2, 3, 5, 6, 7]


def test_close_cosines_are_told_apart_below_single_precision():
    angles = np.array([0.0, 3e-4, 2e-4, 1e-4, 4e-4])  # cosines differ from the 8th decimal on
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert nearest_words(lexicon_of(vectors), 4)[0].tolist() == [3, 2, 1, 4]


def test_blocks_do_not_change_neighbours(monkeypatch):
    rng = np.random.default_rng(5)
    lexicon = lexicon_of(rng.normal(size=(300, 17)), n_unknown=5)
    whole = nearest_words(lexicon, 10, [1, 2])
    monkeypatch.setattr(neighbours, "BLOCK", (37, 29))
    assert np.array_equal(nearest_words(lexicon, 10, [1, 2]), whole)


def test_a_lexicon_without_candidates_has_no_neighbours():
    lexicon = Lexicon(("a", "b"), np.ones((2, 3), np.float32), np.zeros(2, bool))
    assert (nearest_words(lexicon, 2) == -1).all()
    assert (nearest_words(lexicon_of(np.eye(3)), 2, [0, 1, 2]) == -1).all()
