"""Analogies of retrained embeddings against those of the baselines."""

import math

import pandas as pd
import pytest

from biaslab.origins.checks.retraining.report.quality import compare_analogies
from naive import bias as naive

SAMPLES = {"random-5-0": [0.2, 0.25, 0.3], "baseline": [0.3, 0.31, 0.35, 0.3], "weat1-decrease-5": [0.4]}


@pytest.fixture
def analogies():
    rows = [(name, accuracy) for name, values in SAMPLES.items() for accuracy in values]
    return pd.DataFrame(rows, columns=["set", "accuracy"])


def test_every_set_is_compared_with_the_baseline(analogies):
    table = compare_analogies(analogies).set_index("set")
    assert table.index.tolist() == ["baseline", "random-5-0", "weat1-decrease-5"]
    assert table["n_embeddings"].tolist() == [4, 3, 1]
    for name, sample in SAMPLES.items():
        assert table.loc[name, "accuracy_mean"] == pytest.approx(naive.mean(sample))
    t, p = naive.welch(SAMPLES["random-5-0"], SAMPLES["baseline"])
    row = table.loc["random-5-0"]
    assert row["accuracy_sd"] == pytest.approx(math.sqrt(naive.variance(SAMPLES["random-5-0"])))
    assert row["accuracy_change"] == pytest.approx(0.25 - 0.315)
    assert (row["welch_t"], row["welch_p"]) == pytest.approx((t, p))


def test_what_cannot_be_tested_is_missing(analogies):
    table = compare_analogies(analogies).set_index("set")
    assert table.loc["weat1-decrease-5", ["accuracy_sd", "welch_t", "welch_p"]].isna().all()
    assert table.loc["baseline", ["accuracy_change", "welch_t", "welch_p"]].isna().all()


def test_embeddings_without_an_answerable_question_have_no_test(analogies):
    table = compare_analogies(analogies.assign(accuracy=math.nan))
    assert table["welch_p"].isna().all()
