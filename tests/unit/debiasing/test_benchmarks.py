"""Benchmarks under every treatment of unknown words."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from biaslab.debiasing.analogies import solve_analogies
from biaslab.debiasing.benchmarks import (
    Benchmarks,
    read_pairs,
    read_questions,
    score_answerable,
    score_pairs,
    score_questions,
)
from debiasing_data import unit_vectors
from refusals import assert_file_refused, refused

WORDS = ["good", "better", "dollar", "dollars", "cat", "cats", "dog", "dogs", "sun", "moon"]
INDEX = {word: row for row, word in enumerate(WORDS)}


def rated(*rows):
    return pd.DataFrame(rows, columns=["first", "second", "rating"])


PAIRS = rated(
    ("good", "better", 3.0),
    ("cat", "dog", 2.0),
    ("sun", "moon", 2.5),
    ("cat", "star", 1.0),
    ("planet", "star", 3.5),
    ("dogs", "dollars", 0.5),
)


def expected_correlation(vectors, unknown, rescale):
    def vector(word):
        v = vectors[INDEX[word]] if word in INDEX else unknown
        return v / np.linalg.norm(v) if rescale else v

    similarities = [vector(a) @ vector(b) for a, b in zip(PAIRS["first"], PAIRS["second"], strict=True)]
    return 100 * scipy.stats.spearmanr(similarities, PAIRS["rating"]).statistic


def test_pairs_are_scored_under_every_convention():
    vectors = unit_vectors(0, 10, 4, 0.5)
    table = score_pairs(vectors, INDEX, PAIRS)
    scores = dict(zip(table["convention"], table["score"], strict=True))
    known = PAIRS.iloc[[0, 1, 2, 5]]
    cosines = [vectors[INDEX[a]] @ vectors[INDEX[b]] for a, b, _ in known.itertuples(index=False)]
    answerable = 100 * scipy.stats.spearmanr(cosines, known["rating"]).statistic
    assert scores["answerable"] == pytest.approx(answerable)
    assert scores["scaled"] == pytest.approx(answerable * 4 / 6)
    assert scores["zero"] == pytest.approx(expected_correlation(vectors, np.zeros(4), rescale=False))
    assert scores["mean-product"] == pytest.approx(expected_correlation(vectors, vectors.mean(axis=0), False))
    assert scores["mean-cosine"] == pytest.approx(expected_correlation(vectors, vectors.mean(axis=0), True))
    assert table[["answerable", "total", "lost_words"]].drop_duplicates().values.tolist() == [
        [4, 6, "planet,star"]
    ]
    assert np.isnan(score_pairs(vectors, INDEX, PAIRS.iloc[[0, 3, 4]])["score"][0])  # of too few


def test_questions_are_scored_under_every_convention():
    vectors = unit_vectors(324, 10, 4, 0.5)  # by which some known and some unknown questions are answered
    questions = [
        ["cat", "cats", "dog", "dogs"],
        ["dog", "dogs", "dollar", "dollars"],
        ["cat", "cats", "dollar", "dollar's"],
        ["good", "better", "bad", "worse"],
        ["good", "better", "bad", "cat"],
    ]
    table = score_questions(vectors, INDEX, questions).set_index(["convention", "method"])
    mean = vectors.mean(axis=0)
    for method in ("add", "multiply"):
        ids = np.array([[INDEX.get(word.replace("'", ""), -1) for word in q] for q in questions])
        answers = solve_analogies(vectors, ids[:, :3], method, mean)
        right = answers == ids[:, 3]
        if method == "add":
            added = right
        assert table.loc[("answerable", method), "score"] == pytest.approx(100 * right[:2].mean())
        assert table.loc[("wrong", method), "score"] == pytest.approx(100 * right[:2].sum() / 5)
        assert table.loc[("mean", method), "score"] == pytest.approx(100 * right[[0, 1, 4]].sum() / 5)
        assert table.loc[("mean-letters", method), "score"] == pytest.approx(100 * right.mean())
    known = Benchmarks({"pairs": PAIRS}, {"questions": [*questions, questions[0]]})
    scores = score_answerable(vectors, INDEX, known)
    assert scores["questions"] == pytest.approx((100 * added[[0, 1, 0]].mean(), 3))
    assert scores["pairs"] == pytest.approx((score_pairs(vectors, INDEX, PAIRS)["score"][0], 4))
    assert set(table.loc["mean", "lost_words"]) == {"bad,dollar's,worse"}
    assert set(table.loc["mean-letters", "lost_words"]) == {"bad,worse"}
    assert table.loc["answerable", "answerable"].tolist() == [2, 2]
    assert table.loc["mean-letters", "answerable"].tolist() == [3, 3]
    none = score_questions(vectors, INDEX, questions[3:4]).set_index("convention")["score"]
    assert none.isna().groupby("convention").all().to_dict()["answerable"]
    assert set(none.drop("answerable")) == {0.0}
    lost = score_answerable(vectors, INDEX, Benchmarks({}, {"q": questions[3:4]}))
    assert lost["q"] == pytest.approx((np.nan, 0), nan_ok=True)


def test_pairs_and_questions_are_read_in_lower_case(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("# a comment\nMars\t\tscientist\t5.63\ncat\tdog\t2\n\nsun moon 3\n")
    assert read_pairs(file).values.tolist() == [
        ["mars", "scientist", 5.63],
        ["cat", "dog", 2.0],
        ["sun", "moon", 3.0],
    ]
    file.write_text(": one\nAthens Greece Oslo Norway\n\n: two\na b c d\n")
    assert read_questions(file) == [["athens", "greece", "oslo", "norway"], ["a", "b", "c", "d"]]
    with refused("name an existing file of analogy questions"):
        read_questions(tmp_path / "none.txt")


def test_our_copy_of_rg65_is_whole():
    pairs = read_pairs(Path(__file__).parents[3] / "workflow/resources/benchmarks/rg65.tsv")
    assert len(pairs) == 65
    assert pairs["rating"].is_monotonic_increasing  # the order of the published table
    assert pairs["rating"].agg(["min", "max"]).tolist() == [0.02, 3.94]
    assert len({*pairs["first"], *pairs["second"]}) == 48
    assert not pairs[["first", "second"]].apply(frozenset, axis=1).duplicated().any()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cat dog 1\ncat 2\n", r"line 2: 2 fields; give two words and their rating"),
        (b"cat dog high\n", r"line 1: the rating 'high' is not a number"),
        (b"cat dog 1\nsun moon 2\n", r"2 rated word pairs are too few"),
        (b"cat dog nan\nsun moon 2\ncat sun 1\n", r"line 1: the rating 'nan' is not a finite number"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
    ],
)
def test_bad_pairs_are_refused(tmp_path, content, message):
    assert_file_refused(tmp_path / "pairs.tsv", content, message, read_pairs)
    with refused("name an existing file of rated word pairs"):
        read_pairs(tmp_path / "none.tsv")
