"""Tables, figures and claims of fairness testing, on small made results."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.report import averages, figures, results, tables
from biaslab.fairness_testing.settings import SETTING
from biaslab.run.area import TABLE, load_area
from biaslab.run.plan.reports import Results, open_unit, write_report
from fairness_report_data import AUTHORS, N_REPETITIONS, OWN, units_of, write_results

AREA = load_area("fairness_testing")
TABLES = replace(AREA, items=[item for item in AREA.items if item.kind == TABLE])
FILES = ("counts", "local", "retraining", "curves")


def opened(folder: Path, classifiers: Iterable[str]) -> list[Results]:
    return [open_unit(AREA, unit, folder.parent) for unit in units_of(classifiers)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the area's results with all tables."""
    folder = tmp_path_factory.mktemp("results") / "fairness_testing"
    write_results(folder, AUTHORS | OWN)
    write_report(TABLES, units_of(AUTHORS | OWN), folder.parent)
    return folder


@pytest.fixture(scope="module")
def units(folder) -> list[Results]:
    """Return the classifiers, opened."""
    return opened(folder, AUTHORS | OWN)


def test_the_authors_classifiers_come_first_then_the_others_by_name(folder):
    shuffled = opened(folder, ["german", "credit", "adult", "bank", "census"])
    assert results.read_all(shuffled, "classifiers")["classifier"].tolist() == [*AUTHORS, *OWN]


def test_summary_of_repetitions():
    data = pd.DataFrame({"a": ["x", "x", "y"], "v": [1.0, 3.0, 5.0]})
    found = results.summarize(data, ["a"], ["v"]).set_index("a")
    assert found["v"].to_dict() == {"x": 2.0, "y": 5.0}
    assert found["n_repetitions"].to_dict() == {"x": 2, "y": 1}
    half = 12.706204736432095  # Student's t with one degree of freedom; the standard error is 1
    assert found.loc["x", ["v_ci_low", "v_ci_high"]].tolist() == pytest.approx([2 - half, 2 + half])
    assert found.loc["y", ["v_ci_low", "v_ci_high"]].isna().all()


def test_rates_of_a_search_that_finds_nothing():
    counts = pd.DataFrame({"n_samples": [200, 200], "n_discriminatory": [50, 0], "n_queries": [1000, 1000]})
    found = results.with_rates(counts)
    assert found["success"].tolist() == [25, 0]
    assert found["samples_per_1000"].tolist() == [200, 200]
    assert found["discriminatory_per_1000"].tolist() == [50, 0]
    assert found["queries_per_1000"].tolist() == pytest.approx([20000, math.nan], nan_ok=True)


def test_averages_are_means_of_ratios_over_the_settings(folder, units):
    counts = results.read_all(units, "counts").query("mode == 'published'")
    counts = counts.set_index(["repetition", "classifier", "protected", "tester"])["n_samples"].to_dict()
    settings = [(classifier, protected) for classifier, names in AUTHORS.items() for protected in names]
    ratios = [
        np.mean([counts[r, *setting, "adf"] / counts[r, *setting, "aequitas"] for setting in settings])
        for r in range(N_REPETITIONS)
    ]
    found = read_tsv(folder / "tables/averages.tsv").query("measure == 'samples_ratio_aequitas'")
    authors = found[found["classifier"] == "bank"].iloc[0]
    assert authors["data"] == "census+bank+credit"
    assert authors[["n_settings", "n_repetitions"]].tolist() == [6, N_REPETITIONS]
    assert authors["mean"] == pytest.approx(np.mean(ratios))
    assert authors["ci_high"] > authors["mean"] > authors["ci_low"]
    assert found.set_index("classifier")["n_settings"].to_dict() == {
        "census": 6, "bank": 6, "credit": 6, "adult": 3, "german": 2
    }  # fmt: skip


@pytest.fixture
def files(units):
    """Return the tables of which averages are taken; a test may change them."""
    return {name: results.read_all(units, name) for name in FILES}


def test_averages_leave_out_what_some_setting_lacks(files):
    files["counts"] = files["counts"].query("not (classifier == 'bank' and tester == 'symbolic')")
    measures = averages.averages(**files).groupby("classifier")["measure"].agg(set)
    assert "samples_ratio_aequitas" in measures["census"]
    assert "samples_ratio_symbolic" in measures["adult"] - measures["census"]


def test_local_phases_are_compared_at_one_budget(files):
    found = averages.averages(**files)
    found = found[found["classifier"] == "census"].set_index("measure")["mean"]
    # In the made results AEQUITAS finds a sixth of what ADF does and SG a half, whatever the budget.
    assert found["local_increase_aequitas"] == pytest.approx(500, rel=0.1)
    assert found["local_increase_symbolic"] == pytest.approx(100, rel=0.2)
    files["local"] = files["local"].query("not (tester == 'adf' and budget == 'shared')")
    measures = set(averages.averages(**files)["measure"])
    assert "local_increase_aequitas" in measures
    assert "local_increase_symbolic" not in measures


def test_the_improvement_is_the_share_that_retraining_removes(files):
    query = "classifier == 'adult' and label_rule == 'model'"
    rows = files["retraining"].query(query)
    removed = 100 * (1 - rows["share_after"] / rows["share_before"])
    found = averages.averages(**files).query(f"{query} and measure == 'improvement_adf'")
    assert found["mean"].tolist() == pytest.approx([removed.mean()])


@pytest.mark.parametrize(
    ("curve", "expected"), [([10, 20, 30, 40], 1), ([10, 20, 25, 25], 0.25), ([0, 0, 3, 4], math.nan)]
)
def test_growth_compares_the_halves_of_the_seeds(curve, expected):
    table = pd.DataFrame({"n_seeds": [1, 2, 3, 4], "n_samples": curve})
    assert averages.growth(table, "n_samples") == pytest.approx(expected, nan_ok=True)


def test_every_printed_number_of_the_tables_is_shown(folder, units):
    printed = units[0].printed()
    pages = "".join(path.read_text() for path in (folder / "tables").glob("*.md"))
    shown = re.compile(r"adf-(table(3|4|5|6|7|10|12)|average)-")
    numbers = [text for name, text in printed.items() if shown.match(name)]
    assert len(numbers) > 100
    assert [text for text in numbers if f"| {text} |" not in pages] == []
    lines = (folder / "tables/table6_global.md").read_text().splitlines()
    (own,) = (line for line in lines if line.startswith("| adult | sex | ADF"))
    assert own.endswith("| – |")


def test_worth_of_a_switch_is_the_change_against_the_same_repetition_as_published(units):
    ablation = results.read_all(units, "ablation")
    found = tables.worths(ablation).set_index([*SETTING, "tester", "switch"])
    row = found.loc[("bank", "age", "adf", "metropolis")]
    own = ablation.query("classifier == 'bank' and tester == 'adf'").set_index(["switch", "repetition"])
    samples = own["n_samples"]
    changes = [100 * (samples["metropolis", r] / samples["published", r] - 1) for r in range(N_REPETITIONS)]
    assert row["n_samples_change"] == pytest.approx(np.mean(changes))
    ends = row[["n_samples_change_ci_low", "n_samples_change_ci_high"]].tolist()
    assert ends == pytest.approx(mean_interval(changes))
    assert math.isnan(found.loc[("bank", "age", "adf", "published"), "n_samples_change"])


def test_averages_over_some_of_the_authors_data_have_no_printed_number(folder):
    found = tables.average_table(opened(folder, ["census", "adult"])).data
    assert set(found["data"]) == {"census", "adult"}
    assert found["printed"].isna().all()


@pytest.mark.filterwarnings("error")
def test_a_fair_classifier_has_tables_and_figures(tmp_path):
    folder = tmp_path / "fairness_testing"
    write_results(folder, {"german": ["age"]})
    for name in ("counts", "curves", "ablation"):
        path = folder / "german" / f"{name}.tsv"
        table = read_tsv(path)
        none = {c: 0 for c in ("global_discriminatory", "n_discriminatory") if c in table}
        write_tsv(path, table.assign(**none))
    for name in ("local", "retraining"):
        path = folder / "german" / f"{name}.tsv"
        write_tsv(path, read_tsv(path)[:0])
    write_report(AREA, units_of(["german"]), tmp_path)
    shown = read_tsv(folder / "tables/table10_cost.tsv")
    assert shown["queries_per_1000"].isna().all()
    assert len(read_tsv(folder / "figures/retraining.tsv")) == 1


def made_counts():
    """Two repetitions: a tester finds half as much again as ADF in one, twice as much in the other."""
    found = {("adf", 0): 10, ("adf", 1): 20, ("eidig-5", 0): 15, ("eidig-5", 1): 40, ("random", 0): 1}
    rows = [["made", "sex", tester, "paper", r, 100, 99, n] for (tester, r), n in found.items()]
    columns = ["classifier", "protected", "tester", "mode", "repetition", "budget", "n_queries"]
    return pd.DataFrame(rows, columns=[*columns, "n_discriminatory"])


def test_testers_are_compared_with_adf_in_the_same_repetition():
    data = tables.relative(made_counts()).set_index("tester")
    assert data.loc["eidig-5", "of_adf"] == pytest.approx((150 + 200) / 2)
    interval = data.loc["eidig-5", ["of_adf_ci_low", "of_adf_ci_high"]].tolist()
    assert interval == pytest.approx(mean_interval([150, 200]))
    assert data.loc["random", "of_adf"] == pytest.approx(10)
    assert pd.isna(data.loc["adf", "of_adf"])
    nothing = made_counts()
    nothing.loc[nothing["tester"] == "adf", "n_discriminatory"] = 0
    assert tables.relative(nothing)["of_adf"].isna().all()


def test_table_has_a_column_for_each_budget_and_a_figure_the_largest(tmp_path):
    classifiers = {"census": ["race", "age,race"]}
    write_results(tmp_path / "fairness_testing", classifiers)
    units = opened(tmp_path / "fairness_testing", classifiers)
    table = tables.budgets(units)
    names = {"1,000 queries", "% of ADF's at 1,000", "5,000 queries", "% of ADF's at 5,000"}
    assert names <= set(table.shown)
    assert len(table.shown) == 2 * 8
    figures.draw_budgets(units, tmp_path / "budgets")
    data = read_tsv(tmp_path / "budgets.tsv")
    assert set(data["budget"]) == {5000}
    assert "adf" not in set(data["tester"])
