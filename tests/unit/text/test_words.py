"""Texts as words with vectors, and sequences of unequal length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.text.words import Lexicon, Texts, build_lexicon, concatenate, split_words
from properties import examples

rows = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8)


def rows_and_indexes():
    return rows.flatmap(
        lambda some: st.tuples(
            st.just(some), st.lists(st.integers(0, len(some) - 1), max_size=8) if some else st.just([])
        )
    )


def listed(texts):
    return [row.tolist() for row in texts]


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The bakers, and THE pilots!", ["the", "bakers", "and", "the", "pilots"]),
        ("guinea-bissau's well-diggers", ["guinea-bissau's", "well-diggers"]),
        ("baha'i and baha’i", ["baha'i", "and", "baha'i"]),
        ("'quoted' -dash- a--b a_b", ["quoted", "dash", "a", "b", "a", "b"]),
        ("Café №5, 3.14 naïve", ["café", "5", "3", "14", "naïve"]),
        ("... !?", []),
    ],
)
def test_words_are_letters_and_digits_with_hyphens_and_apostrophes_inside(text, words):
    assert split_words(text) == words


@examples(30)
@given(st.text(max_size=40))
def test_words_of_words_are_themselves(text):
    words = split_words(text)
    assert split_words(" ".join(words)) == words
    assert all(word.strip("-'") == word != "" and word.split() == [word] for word in words)


# Texts


@examples(30)
@given(rows_and_indexes())
def test_texts_are_their_rows_in_order(case):
    some, indexes = case
    texts = Texts.of(some)
    assert (texts.ids.dtype, texts.offsets.dtype) == (np.int32, np.int64)
    assert len(texts) == len(some)
    assert listed(texts) == some
    assert texts.lengths.tolist() == [len(row) for row in some]
    assert listed(texts.take(indexes)) == [some[i] for i in indexes]
    assert listed(Texts.of_arrays(texts.arrays("seeds"), "seeds")) == some


@examples(30)
@given(st.lists(rows, max_size=4))
def test_concatenated_texts_are_all_texts_in_order(parts):
    whole = concatenate([Texts.of(part) for part in parts])
    assert listed(whole) == [row for part in parts for row in part]
    assert (whole.ids.dtype, whole.offsets.dtype) == (np.int32, np.int64)


# Lexicon

VECTORS = np.array([[1, 2], [3, -4], [5, 5]], np.float64)


def lexicon():
    return build_lexicon(["the", "baker", "bakes"], VECTORS, [["zebra", "the"], ["apple", "zebra"]])


def test_words_without_a_vector_follow_in_order_with_the_mean_vector():
    found = lexicon()
    assert found.words == ("the", "baker", "bakes", "apple", "zebra")
    assert found.is_known.tolist() == [True, True, True, False, False]
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [*VECTORS.tolist(), [3, 1], [3, 1]]


def test_what_is_decoded_is_what_was_encoded():
    texts = [["the", "zebra"], [], ["baker", "the", "baker"]]
    encoded = lexicon().encode(texts)
    assert listed(encoded) == [[0, 4], [], [1, 0, 1]]
    assert [lexicon().decode(row) for row in encoded] == texts
    with pytest.raises(InputError, match="'sailor' is not in the lexicon"):
        lexicon().encode([["the", "sailor"]])


def test_a_saved_lexicon_is_loaded_as_it_was(tmp_path):
    lexicon().save(tmp_path / "l.npz")
    loaded = Lexicon.load(tmp_path / "l.npz")
    assert loaded.words == lexicon().words
    assert np.array_equal(loaded.vectors, lexicon().vectors)
    assert np.array_equal(loaded.is_known, lexicon().is_known)
    lexicon().save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "l.npz").read_bytes()


def test_a_file_that_is_no_lexicon_is_refused(tmp_path):
    path = tmp_path / "l.npz"
    with pytest.raises(InputError, match="no such file"):
        Lexicon.load(path)
    np.savez(path, words=np.zeros(3, np.uint8), vectors=np.zeros((3, 2)))
    with pytest.raises(InputError, match="array 'is_known' is missing"):
        Lexicon.load(path)
    found = lexicon()
    Lexicon(found.words[:-1], found.vectors, found.is_known).save(path)
    with pytest.raises(InputError, match="not a lexicon of one vector per word"):
        Lexicon.load(path)
