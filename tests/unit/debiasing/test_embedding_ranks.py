"""Embeddings ranked by many tests: planted bias, equal embeddings, omitted tests and words."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.measures import measure_bias
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.debiasing import embedding_ranks
from biaslab.debiasing.embedding_ranks import rank_embeddings, words_of_tests
from biaslab.debiasing.report.audited import ranking_lines
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding

GROUPS = {"female": ["she", "woman", "her", "mother"], "male": ["he", "man", "his", "father"]}
JOBS = {"these": [f"job{i}" for i in range(0, 12, 2)], "those": [f"job{i}" for i in range(1, 12, 2)]}
WORDS = [word for words in (*GROUPS.values(), *JOBS.values()) for word in words]
TEST = WordSets("jobs", "Jobs", "made up", JOBS, GROUPS)
SAME = dataclasses.replace(TEST, name="jobs_same", measure="same")


def embedding(path, lean, seed, words=WORDS):
    """Groups differ along the first axis, and jobs by turns lean along it."""
    vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 20)) / 4
    vectors[:4, 0] += 1
    vectors[4:8, 0] -= 1
    vectors[8:14, 0] += lean
    vectors[14:, 0] -= lean
    chosen = [WORDS.index(word) for word in words]
    write_embedding(path, words, vectors[chosen].astype(np.float32), "word2vec")
    return path


def ranked(files, tests):
    units = [read_unit_embedding(file) for file in files]
    words = [words_of_tests(unit, unit.ids(), tests) for unit in units]
    return rank_embeddings(files, words, tests, seed=1)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(embedding_ranks, "N_DRAWS", 200)


@pytest.fixture
def files(tmp_path):
    return [
        embedding(tmp_path / f"{name}.txt", lean, 1)
        for name, lean in (("much", 1), ("some", 0.2), ("none", 0))
    ]


def test_a_planted_bias_comes_last_and_values_are_those_of_the_measures(files):
    found = ranked(files, [TEST, SAME])
    assert list(found.ranking["embedding"]) == ["none.txt", "some.txt", "much.txt"]
    little, plainly = found.ranking["before_next"][:2]
    assert 0.7 < little < plainly  # a little bias is not always more than none
    assert plainly > 0.99
    for file in files:
        unit = read_unit_embedding(file)
        expected = measure_bias(unit.vectors, in_vocabulary(TEST, unit.ids()))
        row = found.values.query("embedding == @file.name and weat == 'jobs'").iloc[0]
        assert row["value"] == pytest.approx(expected)
        assert row["value_low"] < row["value"] < row["value_high"]
    assert found.values["rank"].tolist() == [3, 2, 1] * 2


def test_two_embeddings_without_bias_are_not_told_apart(tmp_path):
    """Which of two is first is chance over draws of whole embeddings; a share near 0 or 1 is rare."""
    shares = []
    for seed in range(8):
        pair = [embedding(tmp_path / f"{seed}-{k}.txt", 0, 10 * seed + k) for k in (1, 2)]
        shares.append(ranked(pair, [TEST]).ranking["before_next"][0])
    assert 0.5 < np.mean(shares) < 0.9
    assert sum(share >= 0.95 for share in shares) <= 2


def test_a_measure_without_bias_at_one_ranks_by_the_distance_from_it(files):
    ect = dataclasses.replace(TEST, measure="ect")
    found = ranked(files, [ect]).values
    assert found["bias"].to_numpy() == pytest.approx(np.abs(found["value"] - 1))


def test_equal_embeddings_share_a_rank(tmp_path):
    same = [embedding(tmp_path / f"{name}.txt", 0.5, 1) for name in "ab"]
    found = ranked(same, [TEST]).ranking
    assert found["mean_rank"].tolist() == [1.5, 1.5]
    assert found["before_next"][0] == 0.5


def test_words_that_one_lacks_are_left_out_of_all(tmp_path, files):
    few = embedding(tmp_path / "few.txt", 0.5, 1, [word for word in WORDS if word not in ("she", "job3")])
    found = ranked([files[0], few], [TEST])
    assert found.lost == {"jobs": ["job3", "she"]}
    unit = read_unit_embedding(files[0])
    expected = measure_bias(unit.vectors, in_vocabulary(found.tests[0], unit.ids()))
    assert found.values["value"][0] == pytest.approx(expected)
    none = embedding(tmp_path / "none2.txt", 0.5, 1, WORDS[3:])
    found = ranked([files[0], none], [TEST])
    assert re.search(r"share 1 of the 4 words of set 'female'.*none2.txt lacks 3", found.left_out["jobs"])
    assert found.ranking.empty
    assert found.values.empty
    (line,) = ranking_lines(found)
    assert line.startswith("jobs is omitted from the ranking: the embeddings share 1")


def test_a_test_without_a_value_in_one_embedding_is_left_out(files, tmp_path):
    flat = embedding(tmp_path / "flat.txt", 0, 1)
    rows = flat.read_text().splitlines()
    alike = rows[9].partition(" ")[2]  # of the first job
    flat.write_text("\n".join([*rows[:9], *(f"{row.partition(' ')[0]} {alike}" for row in rows[9:])]) + "\n")
    found = ranked([files[0], flat], [TEST, dataclasses.replace(SAME, measure="ripa")])
    assert "weat of flat.txt is undefined" in found.left_out["jobs"]
    assert [test.name for test in found.tests] == ["jobs_same"]


def test_the_same_seed_gives_the_same_table(files):
    first, second = (ranked(files, [TEST]) for _ in range(2))
    pd.testing.assert_frame_equal(first.values, second.values)
    pd.testing.assert_frame_equal(first.ranking, second.ranking)
