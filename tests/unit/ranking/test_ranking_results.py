"""Tables, figures and claims of the ranking, on a small simulation; the verbs that make them."""

import math
import sys
from pathlib import Path

import pytest

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.plotting import FIGURE_SUFFIXES
from biaslab.core.tables import TABLE_SUFFIXES
from biaslab.ranking import area as plan
from biaslab.ranking.report import tables
from biaslab.ranking.report.worked_example import worked_example

ROOT = Path(__file__).parents[3]
CLAIMS = ROOT / "workflow/resources/claims/ranking.tsv"
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
FILES = ("measures", "simulation"), ("feasibility", "feasibility"), ("differences", "differences")


def biaslab(*arguments) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["biaslab", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
    return stop.value.code or 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the area's results of a small simulation, by the commands."""
    folder = tmp_path_factory.mktemp("results") / "ranking"
    options = ["--attribute-values", "2,4", "--distributions", 50, "--candidates", 10, "--top", 10]
    outputs = [part for option, name in FILES for part in (f"--{option}", folder / f"{name}.tsv")]
    assert biaslab("ranking", "simulate", *options, "--seed", 1, "--threads", 1, *outputs) == 0
    search = ["--values", 4, "--denominator", 8, "--sort-values", 2, "--sort-denominator", 4]
    outputs = ["--summary", folder / "enumeration.tsv", "--out", folder / "counterexamples.tsv"]
    assert biaslab("ranking", "counterexamples", *search, *outputs) == 0
    assert biaslab("ranking", "tables", folder, "--claims", CLAIMS) == 0
    assert biaslab("ranking", "figures", folder) == 0
    return folder


def test_every_item_of_the_plan_is_written(folder):
    expected = {f"{item.stem}{suffix}" for item in plan.TABLES for suffix in TABLE_SUFFIXES}
    expected |= {f"{item.stem}{suffix}" for item in plan.FIGURES for suffix in FIGURE_SUFFIXES}
    found = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    assert found == expected


def test_simulation_table_has_a_row_for_each_algorithm(folder):
    data = read_tsv(folder / "simulation.tsv")
    shown = tables.simulation(data).shown
    assert shown["|A|"].tolist() == ["2"] * 5 + ["4"] * 5
    greedy = data.query("n_values == 4 and algorithm == 'det_greedy'").set_index("measure")
    half = (greedy.loc["ndcg", "ci_high"] - greedy.loc["ndcg", "ci_low"]) / 2
    assert shown["Algorithm"][6] == "DetGreedy"
    assert shown["NDCG"][6] == f"{greedy.loc['ndcg', 'mean']:.4g} ± {half:.2g}"
    assert shown["Lists at −∞"][6] == str(greedy.loc["min_skew", "n_infinite"])


def test_counterexamples_show_the_smallest_of_each_denominator(folder):
    data = read_tsv(folder / "counterexamples.tsv")
    table = tables.counterexamples(data)
    assert len(table.data) == len(data)
    assert table.shown["Denominator"].tolist() == [str(d) for d in sorted(data["denominator"].unique())]
    smallest = data.iloc[0]
    assert table.shown["Shares times denominator"][0] == smallest["numerators"]
    assert table.shown["Must have"][0] == str(smallest["floor"])


def test_a_search_that_finds_nothing_gives_an_empty_table(folder):
    table = tables.counterexamples(read_tsv(folder / "counterexamples.tsv").iloc[:0])
    assert table.shown.empty


def test_enumeration_counts_what_was_searched(folder):
    table = tables.enumeration(read_tsv(folder / "enumeration.tsv"))
    greedy = table.shown[table.shown["Algorithm"] == "DetGreedy"]
    assert greedy["|A|"].tolist() == ["2", "3", "4"]
    assert (greedy["Infeasible"] != "0").tolist() == [False, False, True]


def test_figure_shows_means_and_shares(folder):
    data = read_tsv(folder / "figures/simulation.tsv")
    assert set(data["measure"]) == {"infeasible_index", "infeasible", "min_skew", "max_skew", "ndkl", "ndcg"}
    share = data.query("measure == 'infeasible' and algorithm == 'det_greedy'")["mean"].tolist()
    assert share == read_tsv(folder / "feasibility.tsv").query("algorithm == 'det_greedy'")["share"].tolist()


def test_worked_example_has_both_logarithms():
    rows = worked_example().set_index("value")
    for column, log in (("skew", math.log), ("skew_log10", math.log10)):
        assert rows[column].to_dict() == pytest.approx({"male": log(0.5), "female": log(4 / 3)})


def test_worked_example_shows_what_is_printed(folder):
    page = (folder / "tables/worked_example.md").read_text()
    assert all(text in page for text in tables.printed_skews(CLAIMS).values())


def test_registry_without_the_printed_numbers_is_refused(tmp_path):
    (tmp_path / "other.tsv").write_text("claim_id\tpublished\nx\t1\n")
    with pytest.raises(InputError, match="there is no claim 'slides-skew-male'; name the registry"):
        tables.printed_skews(tmp_path / "other.tsv")


def test_every_claim_is_measured_or_says_why_not(folder):
    claims = read_claims([CLAIMS], SCHEMA)
    table = measure_claims(claims, folder.parent, {"ranking": ["ranking"]}).set_index("claim_id")
    assert len(table) == len(claims)
    assert table.loc["slides-skew-male", "verdict"] == "reproduced"
    assert table.loc["slides-skew-female", "verdict"] == "direction_only"
    assert table.loc["slides-skew-label", "verdict"] == "not_reproduced"
    assert table.loc["sim-distributions", "verdict"] == "not_reproduced"
    assert table.loc["feasible-det-const-sort-4", "verdict"] == "reproduced"
    theory = table[table.index.str.startswith("theory-")]
    assert (theory["verdict"] == "reproduced").all()
    untold = table[table["verdict"] == "not_attempted"]
    assert not untold.empty
    unmeasured = {claim.claim_id for claim in claims if not claim.measure}
    sizes = {name for name in untold.index if name.rsplit("-", 1)[-1] in {"3", *"56789", "10"}}
    assert set(untold.index) == unmeasured | sizes


def test_claims_of_an_area_that_is_not_run_are_not_attempted():
    claims = read_claims([CLAIMS], SCHEMA)
    table = measure_claims(claims, Path("nowhere"), {"origins": ["sample"]})
    assert set(table["verdict"]) == {"not_attempted"}
    measured = [claim.measure != "" for claim in claims]
    assert set(table["reason"][measured]) == {"area ranking not run"}


@pytest.mark.parametrize("verb", ["tables", "figures"])
def test_missing_results_end_with_one_line(verb, tmp_path, capsys):
    write_tsv(tmp_path / "simulation.tsv", worked_example())
    options = ["--claims", CLAIMS] if verb == "tables" else []
    assert biaslab("ranking", verb, tmp_path, *options) == 2
    error = capsys.readouterr().err
    assert error.startswith("biaslab: ")
    assert error.count("\n") == 1


def test_wrong_numbers_of_values_end_with_one_line(tmp_path, capsys):
    outputs = [part for option, name in FILES for part in (f"--{option}", tmp_path / name)]
    options = ["--attribute-values", "2,two", "--distributions", 5, "--candidates", 5, "--top", 5]
    assert biaslab("ranking", "simulate", *options, "--seed", 1, "--threads", 1, *outputs) == 2
    error = "biaslab: numbers of values '2,two': write whole numbers from 2 on, separated by commas\n"
    assert capsys.readouterr().err == error
    assert not list(tmp_path.iterdir())


def test_summary_says_how_many_lists():
    ranking = {"attribute_values": [2, 3], "distributions": 5000, "candidates": 9, "top": 8}
    (line,) = plan.summaries({"ranking": ranking})
    assert line.startswith("simulation of 10,000 lists: 5,000 desired distributions each")
