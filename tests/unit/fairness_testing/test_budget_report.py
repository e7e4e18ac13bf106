"""The table and the figure of equal budgets."""

import pandas as pd
import pytest

from biaslab.core.io import read_tsv
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.report import budgets
from biaslab.run.reports import open_unit
from fairness_report_data import units_of, write_results
from report_data import report_area

AREA = report_area("fairness_testing")


@pytest.fixture
def units(tmp_path):
    classifiers = {"census": ["race", "age,race"]}
    write_results(tmp_path / "fairness_testing", classifiers)
    return [open_unit(AREA, unit, tmp_path) for unit in units_of(classifiers)]


def counts():
    """Two repetitions: a tester finds half as much again as ADF in one, twice as much in the other."""
    found = {("adf", 0): 10, ("adf", 1): 20, ("eidig-5", 0): 15, ("eidig-5", 1): 40, ("random", 0): 1}
    rows = [["made", "sex", tester, "paper", r, 100, 99, n] for (tester, r), n in found.items()]
    columns = ["classifier", "protected", "tester", "mode", "repetition", "budget", "n_queries"]
    return pd.DataFrame(rows, columns=[*columns, "n_discriminatory"])


def test_testers_are_compared_with_adf_in_the_same_repetition():
    data = budgets.relative(counts()).set_index("tester")
    assert data.loc["eidig-5", "of_adf"] == pytest.approx((150 + 200) / 2)
    low, high = data.loc["eidig-5", ["of_adf_ci_low", "of_adf_ci_high"]]
    assert (low, high) == pytest.approx(mean_interval([150, 200]))
    assert data.loc["random", "of_adf"] == pytest.approx(10)
    assert pd.isna(data.loc["adf", "of_adf"])


def test_nothing_is_compared_with_nothing():
    data = counts()
    data.loc[data["tester"] == "adf", "n_discriminatory"] = 0
    assert budgets.relative(data)["of_adf"].isna().all()


def test_table_has_a_column_for_each_budget(units):
    table = budgets.budget_table(units)
    assert {"1,000 queries", "% of ADF's at 1,000", "5,000 queries", "% of ADF's at 5,000"} <= set(
        table.shown
    )
    row = table.shown.iloc[0]
    means = budgets.relative(units[0].table("budgets")).iloc[0]
    assert (row["Classifier"], row["Protected"], row["Tester"]) == ("census", "race", "AEQUITAS")
    assert row["1,000 queries"].startswith(f"{means['n_discriminatory']:,.0f} ±")
    assert len(table.shown) == 2 * 8


def test_figure_shows_the_largest_budget(units, tmp_path):
    budgets.draw_budgets(units, tmp_path / "budgets")
    data = read_tsv(tmp_path / "budgets.tsv")
    assert set(data["budget"]) == {5000}
    assert "adf" not in set(data["tester"])
    assert {path.suffix for path in tmp_path.glob("budgets.*")} == {".svg", ".pdf", ".png", ".tsv"}
