"""Splits, cuts and files of a corpus."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("tokenizers")


from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import (
    Source,
    Texts,
    draw_evenly,
    load_sets,
    read_probes,
    read_splits,
    save_sets,
    split,
    tokenize,
)
from biaslab.text import corpora
from biaslab.text.tokens import Tokenizer
from hate_speech_experiment_data import EXAMPLE, NEWS_FILE, TERMS, WORDS, example_folder, write_hatecheck
from refusals import refused
from text_data import tiny_vocabulary

STORMFRONT = Source(corpus.STORMFRONT, "made.tar.gz")
N_SENTENCES, N_POSITIVE = 10_944, 1_437  # as many as the archive has


@pytest.fixture
def made(monkeypatch):
    """Give Stormfront sentences of their own, five of each post; return what the reader was asked for."""
    asked = []

    def read(path, left_out, positive="not-nohate"):
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


def table_file(path, n):
    lines = [f"a text {i},{int(i % 4 == 0)}" for i in range(n)]
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return path


def test_the_random_split_has_the_sizes_of_the_paper_and_no_overlap(made):
    splits = read_splits(STORMFRONT, seed=1)
    assert tuple(splits) == ("train", "validation", "test")
    assert not pd.concat(splits.values())["row"].duplicated().any()
    counts = {name: (len(table), int(table["label"].sum())) for name, table in splits.items()}
    assert counts == {"train": (7896, 1059), "validation": (979, 122), "test": (1998, 246)}
    assert made == [("made.tar.gz", "not-nohate")]
    assert all((table["text"] == "sentence " + table["row"].astype(str)).all() for table in splits.values())


def test_equal_seeds_and_numbers_split_alike_and_others_do_not(made):
    first, again = (pd.concat(read_splits(STORMFRONT, 1))["row"] for _ in range(2))
    assert first.equals(again)
    for seed, number in ((1, 1), (2, 0)):
        other = set(split(STORMFRONT.read(), STORMFRONT, seed, number)[2])
        # two random fifths of the sentences have a fifth of their sentences in common
        assert first["test"].isin(other).mean() == pytest.approx(0.18, abs=0.06)


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
        (lambda f: Source("table", table_file(f, 40), validation=f), "named, but none for test"),
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
    texts = tokenize(table, tokenizer)
    assert texts.labels.dtype == np.int8
    assert texts.rows.dtype == np.int64
    assert texts.labels.tolist() == table["label"].tolist()
    assert texts.rows.tolist() == table["row"].tolist()
    for i, text in enumerate(table["text"]):
        pieces = ["[CLS]", *tokenizer.pieces(text), "[SEP]"]
        assert [tokenizer.vocabulary[token] for token in texts.tokens.row(i)] == pieces
    some = texts.take(np.array([5, 2]))
    assert some.rows.tolist() == [texts.rows[5], texts.rows[2]]
    assert some.tokens.row(0).tolist() == texts.tokens.row(5).tolist()
    assert len(some) == 2
    assert tokenize(table.drop(columns="row"), tokenizer).rows.tolist() == list(range(len(table)))


def test_sets_are_read_as_they_were_written(tokenizer, tmp_path):
    table = read_splits(Source("table", EXAMPLE), seed=1)["test"]
    one = tokenize(table, tokenizer)
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


LIMITS = (50, 12, 30, 10)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    others = {"other": Source("table", EXAMPLE)}
    return example_folder(tmp_path_factory.mktemp("whole"), probes=("news", "hatecheck"), others=others)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return example_folder(tmp_path_factory.mktemp("small"), probes=("news", "hatecheck"), limits=LIMITS)


def words_of(text):
    return text.lower().replace(".", " ").replace(",", " ").split()


def test_the_table_of_the_corpus_counts_sentences_and_identifiers(whole):
    counts = read_tsv(whole.path / "corpus.tsv").set_index("split")
    for name, table in read_splits(Source("table", EXAMPLE), 3).items():
        held = [sum(word in TERMS for word in words_of(text)) for text in table["text"]]
        assert counts.loc[name].to_dict() == {
            "n": len(table),
            "n_positive": int(table["label"].sum()),
            "n_with_identifier": sum(n > 0 for n in held),
            "n_occurrences": sum(held),
            "n_before_cut": len(table),
        }
    assert counts["n_occurrences"].min() > 0


def test_limits_cut_what_is_used_but_linear_models_keep_all(small, whole):
    counts = read_tsv(small.path / "corpus.tsv").set_index("split")
    before = [len(whole.splits[name]) for name in ("train", "validation", "test")]
    assert counts["n_before_cut"].tolist() == before
    assert counts["n"].tolist() == [50, 12, 30]
    assert len(small.splits["train"]) == before[0]
    assert len(small.train) == 50
    assert set(small.train.rows) <= set(small.splits["train"].rows)
    assert counts.loc["train", "n_positive"] == small.train.labels.sum()
    for name in ("validation", "test"):
        assert set(small.splits[name].rows) < set(whole.splits[name].rows)
        assert len(small.splits[name]) == counts.loc[name, "n"]
    assert [len(texts) for texts in small.tested.values()] == [30, 10, 10]


def test_what_is_known_of_a_text_stands_beside_its_tokens(whole, small):
    lines = [json.loads(line) for line in NEWS_FILE.read_text(encoding="utf-8").splitlines()]
    for folder in (whole, small):
        news, names = folder.tested["news"], folder.column("identifier", "news")
        assert len(news) == len(names)
        for i, row in enumerate(news.rows):
            assert names[i] == lines[row]["identifier"]
            pieces = [folder.tokenizer.vocabulary[token] for token in news.tokens.row(i)[1:-1]]
            assert pieces == folder.tokenizer.pieces(lines[row]["text"])
            assert folder.ids[names[i]] in news.tokens.row(i)
        cases, functions = folder.tested["hatecheck"], folder.column("functionality", "hatecheck")
        assert ((functions == "complaint") == (cases.labels == 1)).all()
        assert ((folder.column("target", "hatecheck") == "") == (functions == "object")).all()
    assert list(whole.tested) == ["test", "news", "hatecheck", "other"]
    assert (whole.column("identifier", "other") == "").all()


def written(path, column):
    return [json.loads(line)[column] for line in path.read_text(encoding="utf-8").splitlines()]


def test_news_of_other_identifiers_are_left_out():
    news = read_probes({"news": NEWS_FILE}, {}, ["musicians", "tourists"], None, 1)["news"]
    named = written(NEWS_FILE, "identifier")
    wanted = [i for i, name in enumerate(named) if name in ("musicians", "tourists")]
    assert 0 < len(wanted) < len(named)
    assert news["row"].tolist() == wanted
    assert news["identifier"].tolist() == [named[i] for i in wanted]
    assert news["text"].tolist() == [written(NEWS_FILE, "text")[i] for i in wanted]
    with refused(r"example_news.jsonl: no text contains an identifier; .* null for none$"):
        read_probes({"news": NEWS_FILE}, {}, ["bakers"], None, 1)


def test_all_sets_have_the_same_columns_and_nothing_where_nothing_is_known(tmp_path):
    files = {"news": NEWS_FILE, "hatecheck": write_hatecheck(tmp_path / "cases.csv")}
    other = Source("table", EXAMPLE)
    found = read_probes(files, {"other": other}, TERMS, None, 1)
    for table in found.values():
        assert list(table) == ["text", "label", "row", "identifier", "functionality", "target"]
        assert not table.isna().any(axis=None)
    assert found["hatecheck"]["functionality"].unique().tolist() == ["complaint", "thanks", "object"]
    assert set(found["hatecheck"]["target"]) == {"", *TERMS}
    test = read_splits(other, 1)["test"]
    assert found["other"][["row", "text"]].equals(test[["row", "text"]].reset_index(drop=True))
    assert (found["other"][["identifier", "functionality", "target"]] == "").all(axis=None)
    assert read_probes({}, {}, TERMS, 10, 1) == {}


def test_a_limit_keeps_identifiers_functionalities_and_labels(tmp_path):
    files = {"news": NEWS_FILE, "hatecheck": write_hatecheck(tmp_path / "cases.csv", n=20)}
    others = {"other": Source("table", EXAMPLE)}
    found, again, other = (read_probes(files, others, TERMS, 30, seed) for seed in (1, 1, 2))
    counts = Counter(found["news"]["identifier"])
    assert set(counts) == set(TERMS)
    assert set(counts.values()) <= {7, 8}
    assert set(Counter(found["hatecheck"]["functionality"]).values()) == {10}
    share = read_splits(others["other"], 1)["test"]["label"].mean()
    assert abs(found["other"]["label"].sum() - 30 * share) < 1
    for name, table in found.items():
        assert len(table) == 30
        assert (np.diff(table["row"]) > 0).all()
        assert table.equals(again[name])
    assert found["news"]["row"].tolist() != other["news"]["row"].tolist()


@pytest.mark.parametrize("sizes", [[100, *[1] * 50], [500, 500, 127, 90, 432, 3], [1] * 30])
def test_every_stratum_keeps_its_share_to_one_row(sizes):
    rng = np.random.default_rng(1)
    strata = rng.permutation(np.repeat([f"s{i}" for i in range(len(sizes))], sizes)).astype(object)
    for n in (1, 10, len(strata) * 2 // 5, len(strata) - 1, len(strata)):
        rows = draw_evenly(strata, n, stream(1, "draw", n))
        assert len(set(rows.tolist())) == n
        assert (np.diff(rows) > 0).all()
        drawn = Counter(strata[rows])
        for i, size in enumerate(sizes):
            assert abs(drawn[f"s{i}"] - n * size / len(strata)) < 1


def test_all_rows_are_drawn_equally_often():
    strata = np.array(["a"] * 12 + ["b"] * 8, dtype=object)
    times = np.zeros(20)
    for number in range(400):
        times[draw_evenly(strata, 5, stream(1, "draw", number))] += 1
    # each with probability 1/4: 100 times, with a standard deviation of 8.7
    assert times.sum() == 2000
    assert times.min() > 65
    assert times.max() < 135
