"""The first step: what it writes, and what a folder reads of it."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("tokenizers")

from biaslab.core.io import read_tsv
from biaslab.hate_speech.corpus import Source, read_splits
from biaslab.hate_speech.folder import Folder
from hate_speech_experiment_data import EXAMPLE, IDENTIFIERS, NEWS_FILE, TERMS, example_folder

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
    assert len(small.train) == len(small.used) == 50
    assert small.train.rows.tolist() == small.splits["train"].rows[small.used].tolist()
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
    assert (whole.column("identifier", "other") == "").all()


def test_the_test_set_comes_first_and_the_others_as_they_were_named(whole):
    assert list(whole.tested) == ["test", "news", "hatecheck", "other"]
    assert whole.tested["test"] is whole.splits["test"]
    other = whole.tested["other"]
    np.testing.assert_array_equal(other.tokens.ids, whole.splits["test"].tokens.ids)
    np.testing.assert_array_equal(other.rows, whole.splits["test"].rows)


def test_identifiers_are_those_of_the_list_in_its_order(whole):
    assert tuple(whole.ids) == TERMS
    assert [whole.tokenizer.vocabulary[token] for token in whole.ids.values()] == list(TERMS)


def test_without_further_test_sets_their_files_are_empty(tmp_path):
    folder = example_folder(tmp_path)
    assert list(folder.tested) == ["test"]
    assert folder.probes.empty
    assert folder.column("identifier", "news").tolist() == []


def test_equal_seeds_write_equal_bytes(small, tmp_path):
    again = example_folder(tmp_path, probes=("news", "hatecheck"), limits=LIMITS)
    for name in ("texts.npz", "probes.npz", "probes.tsv", "corpus.tsv"):
        assert (again.path / name).read_bytes() == (small.path / name).read_bytes()


def test_a_folder_that_was_opened_again_reads_the_same(whole):
    again = Folder(whole.path, whole.encoder, IDENTIFIERS)
    pd.testing.assert_frame_equal(again.probes, whole.probes)
    np.testing.assert_array_equal(again.used, np.arange(len(again.splits["train"])))
