"""The user's texts become words with vectors, and only what a text can hold replaces a word."""

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text.own_texts import choose_features, prepare
from refusals import refused

WORDS = ["the", ",", "Bread", "bread", "lamp", "garden", "</s>", "boat"]
VECTORS = np.arange(16, dtype=np.float32).reshape(8, 2)
TERMS = {"trade": ("bakers", "sailors"), "place": ("park", "garden")}
DATA = ["The bakers sang.", "?!", "A boat near the garden"]


def test_candidates_are_the_first_plain_words_and_those_in_use():
    own = prepare(DATA, WORDS, VECTORS, TERMS, n_candidates=2)
    known = [word for word, is_known in zip(own.lexicon.words, own.lexicon.is_known, strict=True) if is_known]
    assert known == ["the", "bread", "garden", "boat"]
    np.testing.assert_array_equal(own.lexicon.vectors[1], VECTORS[3])
    np.testing.assert_array_equal(
        own.lexicon.vectors[own.lexicon.ids["bakers"]], VECTORS[[0, 3, 5, 7]].mean(0)
    )
    assert "lamp" in prepare(DATA, WORDS, VECTORS, TERMS, n_candidates=3).lexicon.words
    assert not {",", "Bread", "</s>"} & set(prepare(DATA, WORDS, VECTORS, TERMS, 99).lexicon.words)


def test_texts_keep_their_rows():
    own = prepare(DATA, WORDS, VECTORS, TERMS, 2)
    assert own.rows.tolist() == [0, 2]
    assert own.n_wordless == 1
    assert own.lexicon.decode(own.texts.row(1)) == ["a", "boat", "near", "the", "garden"]
    assert own.describe(True).endswith("; 50.0% of the words have a vector of their own")


@pytest.mark.parametrize(
    ("data", "words", "message"),
    [
        (["?!", "..."], WORDS, "the 2 texts contain no word"),
        (DATA, ["lamp"], "no word of the texts has a vector"),
    ],
)
def test_texts_that_cannot_be_tested(data, words, message):
    with pytest.raises(InputError, match=message):
        prepare(data, words, VECTORS[: len(words)], TERMS, 99)


def test_features_that_texts_mention():
    assert choose_features(TERMS, [], DATA, "texts.csv") == TERMS
    assert choose_features(TERMS, ["place"], DATA, "texts.csv") == {"place": TERMS["place"]}
    assert list(choose_features(TERMS, [], DATA[:2], "texts.csv")) == ["trade"]


@pytest.mark.parametrize(
    ("names", "data", "message"),
    [
        (["trades"], DATA, "--feature trades: unknown feature; did you mean 'trade'"),
        (["x"], DATA, r"--feature x: unknown feature \(known: trade, place\)"),
        (["trade", "trade"], DATA, "--feature trade: the feature is repeated"),
        (
            ["trade", "place"],
            DATA[:1],
            "texts.csv: no text contains a sensitive word, a value of the feature 'place'",
        ),
        ([], DATA[1:2], r"texts.csv: .* any feature \(trade, place\)"),
    ],
)
def test_features_that_cannot_be_tested(names, data, message):
    with refused(message):
        choose_features(TERMS, names, data, "texts.csv")
