"""Tables and claims of the ranking, on a small simulation."""

from pathlib import Path

import pytest

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.core.io import read_tsv, write_tsv
from biaslab.ranking.feasibility import write_search
from biaslab.ranking.report import tables
from biaslab.ranking.simulation import write_simulation
from biaslab.run.area import Unit, load_area
from biaslab.run.plan.reports import open_unit, write_report
from refusals import refused

ROOT = Path(__file__).parents[3]
CLAIMS = ROOT / "workflow/resources/claims/ranking.tsv"
UNIT = Unit("ranking", files={"claims": str(CLAIMS)})
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
AREA = load_area("ranking")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "ranking"
    files = [folder / f"{name}.tsv" for name in ("simulation", "feasibility", "differences")]
    write_simulation([2, 4], 50, 10, 10, 1, *files)
    write_search(folder / "enumeration.tsv", (4, 8), (2, 4))
    write_report(AREA, [UNIT], folder.parent, ["worked_example"])
    return folder


def test_simulation_table_has_a_row_for_each_algorithm(folder):
    data = read_tsv(folder / "simulation.tsv")
    shown = tables.simulation([open_unit(AREA, UNIT, folder.parent)]).shown
    assert shown["|A|"].tolist() == ["2"] * 5 + ["4"] * 5
    greedy = data.query("n_values == 4 and algorithm == 'det_greedy'").set_index("measure")
    half = (greedy.loc["ndcg", "ci_high"] - greedy.loc["ndcg", "ci_low"]) / 2
    assert shown["Algorithm"][6] == "DetGreedy"
    assert shown["NDCG"][6] == f"{greedy.loc['ndcg', 'mean']:.4g} ± {half:.2g}"
    assert shown["Lists at −∞"][6] == str(greedy.loc["min_skew", "n_infinite"])


def test_registry_without_the_printed_numbers_is_refused(tmp_path):
    (tmp_path / "other.tsv").write_text("claim_id\tpublished\nx\t1\n")
    unit = Unit("ranking", files={"claims": str(tmp_path / "other.tsv")})
    with refused("the claim 'slides-skew-male' is missing; name the registry"):
        write_report(AREA, [unit], tmp_path, ["worked_example"])


def test_a_second_experiment_is_refused(folder):
    with refused(r"one experiment, but --units names several \(ranking, other\)"):
        write_report(AREA, [UNIT, Unit("other")], folder.parent)


def test_every_claim_is_measured_or_says_why_not(folder):
    claims = read_claims([CLAIMS], SCHEMA)
    table = measure_claims(claims, folder.parent, {"ranking": ["ranking"]}).set_index("claim_id")
    assert len(table) == len(claims)
    assert table.loc["slides-skew-male", "verdict"] == "reproduced"
    contradicted = ["slides-skew-female", "slides-skew-label", "sim-distributions"]
    assert set(table.loc[contradicted, "verdict"]) == {"not_reproduced"}
    theory = table[table.index.str.startswith("theory-") & table["rule"].ne("")]
    assert (theory["verdict"] == "reproduced").all()
    unmeasured = {claim.claim_id for claim in claims if not claim.measure}
    lacking = {claim.claim_id for claim in claims if claim.min_rows > 1}
    assert set(table.index[table["verdict"] == "not_attempted"]) == unmeasured | lacking
    assert "needs" in table.loc["feasible-det-const-sort", "reason"]


def test_missing_column_is_refused(tmp_path):
    write_tsv(tmp_path / "ranking/simulation.tsv", tables.worked_example())
    with refused(r"simulation\.tsv: column 'n_values' is missing"):
        write_report(AREA, [UNIT], tmp_path, ["simulation"])
