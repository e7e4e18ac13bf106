"""The first step: what it writes, and what a folder reads of it."""

import json
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("tokenizers")

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech.corpus import COLUMNS, Source, draw_evenly, read_probes, read_splits
from hate_speech_experiment_data import EXAMPLE, NEWS_FILE, TERMS, example_folder, write_hatecheck

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


def test_news_without_one_of_the_identifiers_are_refused():
    with pytest.raises(
        InputError, match=r"example_news.jsonl: no text contains an identifier; .* null for none$"
    ):
        read_probes({"news": NEWS_FILE}, {}, ["bakers"], None, 1)


def test_all_sets_have_the_same_columns_and_nothing_where_nothing_is_known(tmp_path):
    files = {"news": NEWS_FILE, "hatecheck": write_hatecheck(tmp_path / "cases.csv")}
    other = Source("table", EXAMPLE)
    found = read_probes(files, {"other": other}, TERMS, None, 1)
    for table in found.values():
        assert tuple(table) == COLUMNS
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


SIZES = {
    "one large stratum": [100, *[1] * 50],
    "news": [500, 500, 127, 90, 432, 3],
    "single rows": [1] * 30,
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
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
