"""Splits, cuts and files of a corpus."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("tokenizers")

from biaslab.core.errors import InputError
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import Source, Texts, load_sets, read_splits, save_sets, split, tokenize
from biaslab.text import corpora
from biaslab.text.tokens import Tokenizer
from hate_speech_experiment_data import EXAMPLE, WORDS
from text_data import tiny_vocabulary

STORMFRONT = Source(corpus.STORMFRONT, "made.tar.gz")
N_SENTENCES, N_POSITIVE = 10_944, 1_437  # as many as the archive has


@pytest.fixture
def made(monkeypatch):
    """Give Stormfront sentences of their own, five of each post; return what the reader was asked for."""
    asked = []

    def read(path, positive="not-nohate"):
        asked.append((path, positive))
        rng = np.random.default_rng(1)
        labels = np.zeros(N_SENTENCES, np.int8)
        labels[rng.permutation(N_SENTENCES)[:N_POSITIVE]] = 1
        rows = np.arange(N_SENTENCES)
        texts = [f"sentence {row}" for row in rows]
        return pd.DataFrame({"text": texts, "label": labels, "group": (rows // 5).astype(str), "row": rows})

    monkeypatch.setitem(corpora.READERS, "stormfront", read)
    return asked


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return Tokenizer.load(tiny_vocabulary(tmp_path_factory.mktemp("encoder"), WORDS))


def rows_of(splits):
    return {name: set(table["row"]) for name, table in splits.items()}


def assert_disjoint(splits):
    assert tuple(splits) == ("train", "validation", "test")
    train, validation, test = rows_of(splits).values()
    assert len(train | validation | test) == len(train) + len(validation) + len(test)
    assert [len(rows) for rows in (train, validation, test)] == [len(table) for table in splits.values()]


def table_file(path, n):
    lines = [f"a text {i},{int(i % 4 == 0)}" for i in range(n)]
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return path


def test_the_random_split_has_the_sizes_of_the_paper_and_no_overlap(made):
    splits = read_splits(STORMFRONT, seed=1)
    assert_disjoint(splits)
    counts = {name: (len(table), int(table["label"].sum())) for name, table in splits.items()}
    assert counts == {"train": (7896, 1059), "validation": (979, 122), "test": (1998, 246)}
    assert made == [("made.tar.gz", "not-nohate")]
    assert all((table["text"] == "sentence " + table["row"].astype(str)).all() for table in splits.values())


def test_equal_seeds_and_numbers_split_alike_and_others_do_not(made):
    first, again = (rows_of(read_splits(STORMFRONT, 1)) for _ in range(2))
    assert first == again
    for seed, number in ((1, 1), (2, 0)):
        other = set(split(STORMFRONT.read(), STORMFRONT, seed, number)[2])
        # two random fifths of the sentences have a fifth of their sentences in common
        assert len(other & first["test"]) / 1998 == pytest.approx(0.18, abs=0.06)


def test_a_released_split_is_left_as_it_is(tmp_path):
    files = [table_file(tmp_path / f"{n}.csv", n) for n in (40, 12, 16)]
    source = Source("table", *files)
    splits = read_splits(source, seed=1)
    assert source.is_released_split
    assert {name: len(table) for name, table in splits.items()} == {"train": 40, "validation": 12, "test": 16}
    assert all((table["row"] == np.arange(len(table))).all() for table in splits.values())


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda f: Source("table", table_file(f, 40), test=f), "for test are named, but none for validation"),
        (
            lambda f: Source("table", table_file(f, 40), validation=f),
            "named, but none for test",
        ),
        (lambda f: Source("table", table_file(f, 4)), "1 of 4 examples is positive; add some"),
    ],
)
def test_what_cannot_be_split_is_refused_by_the_name_of_its_file(tmp_path, make, problem):
    with pytest.raises(InputError, match=problem) as error:
        read_splits(make(tmp_path / "mine.csv"), seed=1)
    assert "mine." in str(error.value)
    assert "\n" not in str(error.value)


def test_texts_keep_labels_and_rows(tokenizer):
    table = read_splits(Source("table", EXAMPLE), seed=1)["test"]
    texts = tokenize(table, tokenizer, max_length=8)
    assert texts.labels.dtype == np.int8
    assert texts.rows.dtype == np.int64
    assert texts.labels.tolist() == table["label"].tolist()
    assert texts.rows.tolist() == table["row"].tolist()
    for i, text in enumerate(table["text"]):
        pieces = ["[CLS]", *tokenizer.pieces(text)[:6], "[SEP]"]
        assert [tokenizer.vocabulary[token] for token in texts.tokens.row(i)] == pieces
    some = texts.take(np.array([5, 2]))
    assert some.rows.tolist() == [texts.rows[5], texts.rows[2]]
    assert some.tokens.row(0).tolist() == texts.tokens.row(5).tolist()
    assert len(some) == 2
    assert tokenize(table.drop(columns="row"), tokenizer, 8).rows.tolist() == list(range(len(table)))


def test_sets_are_read_as_they_were_written(tokenizer, tmp_path):
    table = read_splits(Source("table", EXAMPLE), seed=1)["test"]
    one = tokenize(table, tokenizer, 8)
    sets = {"z": one, "a_labels": one.take(np.array([3, 1])), "a": one.take(np.array([], np.int64))}
    save_sets(tmp_path / "sets.npz", sets, train_used=np.arange(3))
    found = load_sets(tmp_path / "sets.npz")
    assert list(found) == ["z", "a_labels", "a"]
    for name, texts in sets.items():
        assert isinstance(found[name], Texts)
        for part in ("labels", "rows"):
            np.testing.assert_array_equal(getattr(found[name], part), getattr(texts, part), strict=True)
        for part in ("ids", "offsets", "words"):
            np.testing.assert_array_equal(
                getattr(found[name].tokens, part), getattr(texts.tokens, part), strict=True
            )
    save_sets(tmp_path / "none.npz", {})
    assert load_sets(tmp_path / "none.npz") == {}
