import numpy as np
import pytest

pytest.importorskip("tokenizers")

from biaslab.text.tokens import SPECIAL, Tokenizer
from naive.text import wordpiece
from refusals import assert_file_refused
from text_data import tiny_vocabulary

WORDS = ["the", "baker", "##s", "and", "garden", "##er", "bread", "ride", "un", "##known"]
TEXTS = ["The bakers and the gardeners", "", "Bread, bread!", "the quixotic baker"]


@pytest.fixture
def tokenizer(tmp_path) -> Tokenizer:
    return Tokenizer.load(tiny_vocabulary(tmp_path, WORDS))


def spelled(tokenizer: Tokenizer, ids: np.ndarray) -> list[str]:
    return [tokenizer.vocabulary[i] for i in ids]


def test_pieces_are_the_longest_that_match():
    letters = ["a", "b", "c", "ab", "abc", "bc", "##a", "##b", "##ab", "##ca", "##cab"]
    tokenizer = Tokenizer([*SPECIAL, *letters])
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abc"), n)) for n in rng.integers(1, 9, 300)]
    expected = [wordpiece(word, letters) for word in words]
    assert ["[UNK]"] in expected
    assert max(map(len, expected)) > 3
    assert [tokenizer.pieces(word) for word in words] == expected
    tokens = tokenizer.encode([" ".join(words[:40])])
    assert spelled(tokenizer, tokens.row(0)[1:-1]) == [piece for pieces in expected[:40] for piece in pieces]


def test_every_piece_knows_its_word(tokenizer):
    tokens = tokenizer.encode(TEXTS)
    for i, text in enumerate(TEXTS):
        words = tokenizer.words(text)
        at = tokens.words[tokens.offsets[i] : tokens.offsets[i + 1]]
        assert at[0] == at[-1] == -1
        assert sorted(set(at[1:-1])) == list(range(len(words)))
        pieces = [piece for word in words for piece in tokenizer.pieces(word)]
        assert pieces == spelled(tokenizer, tokens.row(i)[1:-1])
    assert list(tokens.words[: tokens.offsets[1]]) == [-1, 0, 1, 1, 2, 3, 4, 4, 4, -1]
    assert spelled(tokenizer, tokens.row(3)) == ["[CLS]", "the", "[UNK]", "baker", "[SEP]"]
    assert (tokens.ids.dtype, tokens.offsets.dtype, tokens.words.dtype) == (np.int32, np.int64, np.int32)


def test_words_are_lower_case_without_accents_and_punctuation_stands_apart(tokenizer):
    assert tokenizer.words("Café-goers don't\tQUEUE 茶。") == [
        "cafe", "-", "goers", "don", "'", "t", "queue", "茶", "。"
    ]  # fmt: skip


def test_a_text_that_spells_a_special_token_gets_ordinary_ones(tokenizer):
    ids = tokenizer.encode(["the [SEP] [CLS] [MASK] [PAD] [unused0] baker"]).row(0)[1:-1]
    special = {tokenizer.pad, tokenizer.cls, tokenizer.sep, tokenizer.mask}
    assert not special & set(ids.tolist())


def test_long_texts_are_cut_and_keep_sep(tokenizer):
    tokens = tokenizer.encode(["the baker " * 100, "bread"], max_length=6)
    assert spelled(tokenizer, tokens.row(0)) == ["[CLS]", "the", "baker", "the", "baker", "[SEP]"]
    assert list(tokens.lengths) == [6, 3]


def test_padded_rows_and_their_mask(tokenizer):
    tokens = tokenizer.encode(TEXTS)
    ids, mask = tokens.padded([2, 0, 1], tokenizer.pad)
    assert ids.shape == mask.shape == (3, 10)
    assert (ids.dtype, mask.dtype) == (np.int64, np.bool_)
    for k, i in enumerate([2, 0, 1]):
        assert ids[k, : mask[k].sum()].tolist() == tokens.row(i).tolist()
        assert (ids[k, mask[k].sum() :] == tokenizer.pad).all()
        assert not mask[k, mask[k].sum() :].any()
    assert tokens.padded([], tokenizer.pad)[0].shape == (0, 0)
    taken, again = tokens.take([3, 0, 3]), tokenizer.encode([TEXTS[3], TEXTS[0], TEXTS[3]])
    assert all(np.array_equal(getattr(taken, a), getattr(again, a)) for a in ("ids", "offsets", "words"))


def test_word_removal_drops_tokens_and_nothing_else(tokenizer):
    tokens = tokenizer.encode(TEXTS)
    removed = {tokenizer.vocabulary.index(w) for w in ("baker", "bread")}
    kept = tokens.without(removed)
    for i in range(len(tokens)):
        assert kept.row(i).tolist() == [t for t in tokens.row(i).tolist() if t not in removed]
    assert list(kept.words[: kept.offsets[1]]) == [-1, 0, 1, 2, 3, 4, 4, 4, -1]  # the baker's ##s stays
    assert kept.without([]).ids.tolist() == kept.ids.tolist()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nbaker\n", r"\[MASK\] is missing"),
        ("\n".join([*SPECIAL, "a", "b", "a"]).encode(), "line 8: 'a' is also on line 6"),
        ("\n".join([*SPECIAL, "", "b"]).encode(), "line 6: empty"),
        ("\n".join([*SPECIAL, "a", "Baker"]).encode(), "line 7: 'Baker' has a capital"),
        (b"[PAD]\n\xff\xfe", "not UTF-8"),
    ],
)
def test_a_vocabulary_that_is_none_is_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "vocab.txt", content, problem, Tokenizer.load)
