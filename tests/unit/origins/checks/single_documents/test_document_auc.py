import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_parquet, write_tsv
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.single_documents.auc import (
    ALL,
    RANDOM,
    WITH_WORDS,
    area_under_curve,
    score_documents,
    write_scores,
)
from biaslab.origins.checks.single_documents.report.auc import auc_table, draw_auc
from naive.origins import area_under_curve as oracle
from origins_data import copy_setup, make_setups


def documents(observed, estimates, kind=RANDOM):
    """Single documents with the same estimate by all estimators."""
    table = pd.DataFrame({"weat": "w", "kind": kind, "document": range(len(observed)), "observed": observed})
    return table.assign(**dict.fromkeys(ESTIMATORS, estimates))


def by_ppmi(values):
    return pd.DataFrame({"document": range(len(values)), "ppmi": values})


def score(table, ppmi=None):
    ppmi = np.zeros(len(table)) if ppmi is None else ppmi
    return score_documents(table, by_ppmi(ppmi), 1).set_index(["among", "estimator"])


def test_areas_are_shares_of_pairs():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 6, (50, 17)).astype(float)  # many draws
    positive = rng.random((50, 17)) < 0.3
    positive[:, :2] = [True, False]
    expected = [oracle(s, p) for s, p in zip(scores, positive, strict=True)]
    np.testing.assert_allclose(area_under_curve(scores, positive), expected)
    assert area_under_curve(scores[0], positive[0]) == pytest.approx(expected[0])


def test_a_curve_that_a_library_draws():
    """scikit-learn's example of roc_auc_score: 0.75."""
    assert area_under_curve(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])) == 0.75


def test_who_knows_has_one_who_errs_has_zero_and_who_says_nothing_a_half():
    observed = np.random.default_rng(2).normal(size=30)
    table = documents(observed, observed).assign(newton=-observed, gradient=0.0)
    found = score(table, 3 * observed).loc[RANDOM]
    assert found.loc[["influence", "newton", "gradient", "ppmi"], "auc"].tolist() == [1, 0, 0.5, 1]
    assert found.loc["influence", ["auc_ci_low", "auc_ci_high"]].tolist() == [1, 1]
    assert found.loc["gradient", ["auc_ci_low", "auc_ci_high"]].tolist() == [0.5, 0.5]
    assert found.loc["ppmi", ["n_documents", "n_lower", "n_raise"]].tolist() == [
        30,
        (observed > 0).sum(),
        (observed < 0).sum(),
    ]


def test_random_estimates_have_intervals_with_a_half():
    """Of 60 runs on random numbers about one in twenty has an interval without 0.5."""
    rng, outside, areas = np.random.default_rng(3), 0, []
    for _ in range(60):
        row = score(documents(rng.normal(size=40), rng.normal(size=40))).loc[(RANDOM, "newton")]
        outside += not row["auc_ci_low"] <= 0.5 <= row["auc_ci_high"]
        areas.append(row["auc"])
    assert outside <= 9
    assert abs(np.mean(areas) - 0.5) < 0.04


def test_documents_that_an_estimator_chose_do_not_count_among_the_random_ones():
    chosen = documents([1.0, 2.0, -1.0], [5.0, 4.0, -3.0], ["decrease", "decrease", "increase"])
    random = documents([0.1, -0.2, 0.3, -0.4, 0.0], [0.0, 1.0, -1.0, 2.0, 9.0])
    random["document"] += 3
    found = score(pd.concat([chosen, random], ignore_index=True))["auc"]
    assert found[(ALL, "influence")] == oracle([5, 4, -3, 0, 1, -1, 2], [1, 1, 0, 1, 0, 1, 0])
    assert found[(RANDOM, "influence")] == 0
    table = score(pd.concat([chosen, random], ignore_index=True))
    assert table["n_documents"].groupby("among").first().to_dict() == {ALL: 7, RANDOM: 4, WITH_WORDS: 3}


def test_one_kind_alone_has_no_area_and_no_documents_no_rows():
    table = score(documents([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], "increase"))
    assert table.loc[ALL, ["auc", "auc_ci_low", "auc_ci_high"]].isna().all(axis=None)
    assert table.loc[ALL, "n_raise"].tolist() == [0] * 4
    assert table.loc[RANDOM, "n_documents"].tolist() == [0] * 4
    assert score(documents([], [])).empty


def test_a_document_that_ppmi_does_not_know_is_named_and_an_undefined_one_counts_as_zero():
    table = documents([0.1, -0.2, 0.3], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="document 2 has no row in the table of PPMI"):
        score_documents(table, by_ppmi([0.1, 0.2]), 1)
    assert score(table, [np.nan, -1.0, -2.0]).loc[(RANDOM, "ppmi"), "auc"] == 0.5


def test_without_ppmi_all_others_are_scored():
    table = documents(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))
    found = score_documents(table, None, 1)
    assert set(found["estimator"]) == set(ESTIMATORS)


def test_step_table_and_figure(tmp_path):
    observed = np.linspace(-1, 1, 10)
    write_tsv(tmp_path / "documents.tsv", documents(observed, observed))
    write_parquet(tmp_path / "w.parquet", by_ppmi(-observed))
    write_scores(tmp_path / "documents.tsv", 1, tmp_path / "auc.tsv", tmp_path / "w.parquet")
    assert read_tsv(tmp_path / "auc.tsv")["auc"].tolist() == [1, 1, 1, 0] * 3
    setup = make_setups(tmp_path, {"wiki": {}})[0]
    assert set(auc_table(setup).shown["Documents"]) == {ALL, RANDOM, WITH_WORDS}
    draw_auc(setup, tmp_path / "drawn")
    assert len(pd.read_csv(tmp_path / "drawn.tsv", sep="\t")) == 12
    (tmp_path / "none").mkdir()
    empty = copy_setup(setup, tmp_path / "none")
    path = empty.folder / "single_documents" / "auc.tsv"
    write_tsv(path, read_tsv(path).head(0))
    assert "no single documents" in auc_table(empty).note
    draw_auc(empty, tmp_path / "empty")
