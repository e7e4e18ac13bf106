"""The words that may replace a word, and how similar changed texts are to their originals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive.text_similarity as naive
from biaslab.core.jit import at_most_threads
from biaslab.text import similarity
from biaslab.text.similarity import bleu, changed_words, jaccard, nearest_words, vector_distance
from biaslab.text.words import Lexicon, Texts, build_lexicon
from properties import examples

N_WORDS = 6
VECTORS = np.random.default_rng(3).normal(size=(N_WORDS, 4)).astype(np.float32)

word = st.integers(0, N_WORDS - 1)
pair = st.lists(st.tuples(word, word), min_size=1, max_size=14)
pairs = st.lists(pair, min_size=1, max_size=6)


def sides(rows):
    """Return the originals and the changed texts, as lists and as `Texts`."""
    lists = tuple([[words[side] for words in row] for row in rows] for side in (0, 1))
    return lists, tuple(Texts.of(side) for side in lists)


def random_pairs(n=200, longest=40):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, longest, n)
    original = Texts.of([rng.integers(0, 30, length) for length in lengths])
    is_changed = rng.random(len(original.ids)) < 0.3
    other = rng.integers(0, 30, len(original.ids)).astype(np.int32)
    return original, Texts(np.where(is_changed, other, original.ids), original.offsets)


@examples(40)
@given(pairs)
def test_measures_equal_their_definitions(rows):
    (originals, others), (original, changed) = sides(rows)
    both = list(zip(originals, others, strict=True))
    assert changed_words(original, changed).tolist() == [naive.changed_words(*p) for p in both]
    distances = [naive.vector_distance(*p, VECTORS) for p in both]
    assert vector_distance(original, changed, VECTORS) == pytest.approx(distances, abs=1e-12)
    assert jaccard(original, changed) == pytest.approx([naive.jaccard(*p) for p in both], abs=1e-15)
    assert bleu(original, changed) == pytest.approx([naive.bleu(*p) for p in both], abs=1e-12)


def test_bleu_is_that_of_sacrebleu():
    from sacrebleu.metrics import BLEU

    metric = BLEU(tokenize="none", smooth_method="exp", effective_order=True)
    original, changed = random_pairs()
    expected = [
        metric.sentence_score(" ".join(map(str, second)), [" ".join(map(str, first))]).score / 100
        for first, second in zip(original, changed, strict=True)
    ]
    assert bleu(original, changed) == pytest.approx(expected, abs=1e-12)
    assert np.std(expected) > 0


def test_equal_texts_are_as_similar_as_can_be_and_empty_ones_are_allowed():
    texts = Texts.of([[1, 2, 1], [], [4]])
    assert changed_words(texts, texts).tolist() == [0, 0, 0]
    assert vector_distance(texts, texts, VECTORS).tolist() == [0, 0, 0]
    assert jaccard(texts, texts).tolist() == [1, 1, 1]
    assert bleu(texts, texts).tolist() == [1, 0, 1]
    none = Texts.of([])
    for values in (changed_words(none, none), jaccard(none, none), bleu(none, none)):
        assert values.shape == (0,)
    assert vector_distance(none, none, VECTORS).shape == (0,)


def test_a_pair_has_the_same_values_in_any_company_and_on_any_number_of_threads():
    original, changed = random_pairs()
    vectors = np.random.default_rng(2).normal(size=(30, 50)).astype(np.float32)
    measures = (changed_words, jaccard, bleu, lambda a, b: vector_distance(a, b, vectors))
    order = np.random.default_rng(4).permutation(len(original))[:70]
    for measure in measures:
        whole = measure(original, changed)
        with at_most_threads(1):
            assert np.array_equal(measure(original, changed), whole)
        assert np.array_equal(measure(original.take(order), changed.take(order)), whole[order])


def test_texts_of_unequal_length_are_no_pair():
    for measure in (changed_words, jaccard, bleu, lambda a, b: vector_distance(a, b, VECTORS)):
        with pytest.raises(ValueError, match="as many words"):
            measure(Texts.of([[1, 2]]), Texts.of([[1]]))


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
    monkeypatch.setattr(similarity, "BLOCK", (37, 29))
    assert np.array_equal(nearest_words(lexicon, 10, [1, 2]), whole)


def test_a_lexicon_without_candidates_has_no_neighbours():
    lexicon = Lexicon(("a", "b"), np.ones((2, 3), np.float32), np.zeros(2, bool))
    assert (nearest_words(lexicon, 2) == -1).all()
    assert (nearest_words(lexicon_of(np.eye(3)), 2, [0, 1, 2]) == -1).all()
