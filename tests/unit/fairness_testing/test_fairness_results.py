"""Tables, figures and claims of fairness testing, on small made results."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.plotting import FIGURE_SUFFIXES
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.core.tables import TABLE_SUFFIXES
from biaslab.fairness_testing import area as plan
from biaslab.fairness_testing.names import COLUMNS, SETTING
from biaslab.fairness_testing.report import averages, figures, results, tables

ROOT = Path(__file__).parents[3]
CLAIMS = ROOT / "workflow/resources/claims/fairness_testing.tsv"
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
CAPTIONS = ROOT / "workflow/report"

AUTHORS = {"census": ["age", "race", "sex"], "bank": ["age"], "credit": ["age", "sex"]}
OWN = {"adult": ["age", "race", "sex"], "german": ["age", "sex"]}
SIZES = {"census": (32561, 13), "bank": (45211, 16), "credit": (600, 20)}
FOUND = {"random": 0.02, "aequitas": 0.1, "symbolic": 0.3, "adf": 0.6}
"""Share of the seeds that each tester's global phase finds in the made results."""
SWITCHES = ["published", "metropolis", "stuck_seeds", "paper"]
RETRAININGS = [*((tester, "majority") for tester in ("aequitas", "symbolic", "adf")), ("adf", "model")]
N_REPETITIONS = 3


def make_results(folder: Path, classifiers: dict[str, list[str]]) -> None:
    """Write the files of every classifier, with numbers drawn at random around plausible ones."""
    for classifier, names in classifiers.items():
        n_rows, n_attributes = SIZES.get(classifier, (100, 5))
        one = [classifier, n_rows, n_attributes, 3, 0.25, 0.9, "no" if classifier in AUTHORS else "yes"]
        frames = {name: [] for name in COLUMNS}
        frames["classifiers"].append(pd.DataFrame([one], columns=COLUMNS["classifiers"]))
        for protected in names:
            for name, rows in make_setting(classifier, protected).items():
                rows = [[classifier, protected, *row] for row in rows]
                frames[name].append(pd.DataFrame(rows, columns=COLUMNS[name]))
        for name, parts in frames.items():
            write_tsv(folder / classifier / f"{name}.tsv", pd.concat(parts))


def make_setting(classifier: str, protected: str) -> dict[str, list[list]]:
    """Return the rows of one setting by file, without the setting itself."""
    rng = stream(7, "made results", classifier, protected)
    rows = {name: [] for name in ("counts", "local", "curves", "ablation", "fairness", "retraining")}
    rows["fairness"].append([20000, 0.1, 0.096, 0.104, 0.3])
    for tester, share in FOUND.items():
        for mode in ("published", "paper"):
            n_samples = int(800_000 * share * (1.0 if mode == "published" else 1.2))
            for repetition in range(N_REPETITIONS):
                k = rng.normal(1, 0.03)
                found = [int(1000 * share * k), int(n_samples * k), int(n_samples * k * (0.1 + 0.5 * share))]
                rows["counts"].append([tester, mode, repetition, 1000, *found, 2_500_000, 0])
                if tester != "random":
                    rows["local"].append([tester, mode, repetition, 40, 1000, 600 * k, 700 * share * k])
            rows["curves"] += make_curve(tester, mode, n_samples)
    for repetition in range(N_REPETITIONS):
        for place, switch in enumerate(SWITCHES):
            k = rng.normal(1 + 0.2 * place, 0.03)
            rows["ablation"].append(
                ["adf", switch, repetition, *(int(n * k) for n in (600, 480_000, 200_000))]
            )
        for tester, rule in RETRAININGS:
            after = 0.1 * (1 - FOUND[tester]) * rng.normal(1, 0.1)
            rows["retraining"].append([tester, rule, repetition, 900, 0.9, 0.88, 0.1, after, 0.3, 0.2])
    return rows


def make_curve(tester: str, mode: str, n_samples: int) -> list[list]:
    """Return a curve that is straight for ADF and flattens for the others."""
    at = np.linspace(0.02, 1, 50)
    shape = at if tester == "adf" else np.sqrt(at)
    return [
        [tester, mode, int(1000 * x), int(n_samples * y), int(0.4 * n_samples * y), int(2_500_000 * x)]
        for x, y in zip(at, shape, strict=True)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the area's results with all tables and figures."""
    folder = tmp_path_factory.mktemp("results") / "fairness_testing"
    make_results(folder, AUTHORS | OWN)
    tables.write_tables(folder, CLAIMS)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """Return the results of two settings with all tables and figures."""
    folder = tmp_path_factory.mktemp("small")
    make_results(folder, {"census": ["race"], "adult": ["sex"]})
    tables.write_tables(folder, CLAIMS)
    figures.write_figures(folder)
    return folder


def test_every_item_of_the_plan_is_written(small):
    expected = {f"{item.stem}{suffix}" for item in plan.TABLES for suffix in TABLE_SUFFIXES}
    expected |= {f"{item.stem}{suffix}" for item in plan.FIGURES for suffix in FIGURE_SUFFIXES}
    paths = [*small.glob("tables/*"), *small.glob("figures/*")]
    assert {path.relative_to(small).as_posix() for path in paths} == expected


def test_every_item_has_its_caption():
    assert all((CAPTIONS / f"{item.caption}.rst").is_file() for item in (*plan.TABLES, *plan.FIGURES))


def test_results_are_read_with_the_authors_classifiers_first(folder):
    assert results.read_results(folder, "classifiers")["classifier"].tolist() == [*AUTHORS, *OWN]


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


def test_averages_are_means_of_ratios_over_the_settings(folder):
    counts = results.read_results(folder, "counts").query("mode == 'published'")
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


def test_averages_leave_out_what_some_setting_lacks(folder):
    files = {n: results.read_results(folder, n) for n in ("counts", "local", "retraining", "curves")}
    files["counts"] = files["counts"].query("not (classifier == 'bank' and tester == 'symbolic')")
    found = averages.averages(**files)
    measures = found[found["classifier"] == "census"]["measure"].tolist()
    assert "samples_ratio_aequitas" in measures
    assert "samples_ratio_symbolic" not in measures
    assert "samples_ratio_symbolic" in found[found["classifier"] == "adult"]["measure"].tolist()


def test_local_phases_are_compared_at_equally_many_hops(folder):
    files = {n: results.read_results(folder, n) for n in ("counts", "local", "retraining", "curves")}
    local = files["local"]
    files["local"] = local.assign(hops=local["hops"].where(local["tester"] != "symbolic", 50))
    measures = set(averages.averages(**files)["measure"])
    assert "local_increase_aequitas" in measures
    assert "local_increase_symbolic" not in measures


def test_averages_come_in_one_order_and_all_have_a_name(folder):
    found = read_tsv(folder / "tables/averages.tsv")
    for _, part in found.groupby("classifier"):
        assert part["measure"].drop_duplicates().tolist() == list(averages.MEASURES)


@pytest.mark.parametrize(
    ("curve", "expected"), [([10, 20, 30, 40], 1), ([10, 20, 25, 25], 0.25), ([0, 0, 3, 4], math.nan)]
)
def test_growth_compares_the_halves_of_the_seeds(curve, expected):
    table = pd.DataFrame({"n_seeds": [1, 2, 3, 4], "n_samples": curve})
    assert averages.growth(table, "n_samples") == pytest.approx(expected, nan_ok=True)


def test_tables_show_what_is_printed(folder):
    shown = (folder / "tables/table6_global.md").read_text()
    line = next(line for line in shown.splitlines() if line.startswith("| census | sex | ADF"))
    printed = tables.printed_numbers(CLAIMS)["adf-table6-census-gender-adf"]
    assert line.endswith(f"| {printed} |")
    own = next(line for line in shown.splitlines() if line.startswith("| adult | sex | ADF"))
    assert own.endswith("| – |")


def test_every_printed_number_of_the_tables_is_shown(folder):
    printed = tables.printed_numbers(CLAIMS)
    pages = "".join(path.read_text() for path in (folder / "tables").glob("*.md"))
    shown = re.compile(r"adf-(table(3|4|5|6|7|10|12)|average)-")
    numbers = [text for name, text in printed.items() if shown.match(name)]
    assert len(numbers) > 100
    missing = [text for text in numbers if f"| {text} |" not in pages]
    assert missing == []


def test_counts_are_shown_with_their_interval(folder):
    counts = results.read_results(folder, "counts")
    table = tables.aequitas(counts, {})
    part = counts.query("classifier == 'census' and protected == 'age' and tester == 'adf'")
    part = part.query("mode == 'published'")
    row = table.data.query("classifier == 'census' and protected == 'age' and tester == 'adf'").iloc[0]
    assert row["n_samples"] == part["n_samples"].mean()
    half = (row["n_samples_ci_high"] - row["n_samples_ci_low"]) / 2
    assert table.shown["Samples (#GDiff)"][1] == f"{row['n_samples']:,.0f} ± {half:,.0f}"
    assert table.shown["Printed #ID"].unique().tolist() == ["–"]


def test_a_single_repetition_has_no_interval(folder):
    counts = results.read_results(folder, "counts").query("repetition == 0")
    table = tables.global_phase(counts, {})
    assert not table.shown["Discriminatory"].str.contains("±").any()


def test_worth_of_a_switch_is_the_change_against_the_same_repetition_as_published(folder):
    ablation = results.read_results(folder, "ablation")
    found = tables.worths(ablation).set_index([*SETTING, "tester", "switch"])
    row = found.loc[("bank", "age", "adf", "metropolis")]
    own = ablation.query("classifier == 'bank' and tester == 'adf'").set_index(["switch", "repetition"])
    samples = own["n_samples"]
    changes = [100 * (samples["metropolis", r] / samples["published", r] - 1) for r in range(N_REPETITIONS)]
    assert row["n_samples_change"] == pytest.approx(np.mean(changes))
    ends = row[["n_samples_change_ci_low", "n_samples_change_ci_high"]].tolist()
    assert ends == pytest.approx(mean_interval(changes))
    assert math.isnan(found.loc[("bank", "age", "adf", "published"), "n_samples_change"])


def test_a_switch_without_effect_changes_nothing_for_sure(folder):
    ablation = results.read_results(folder, "ablation").query("switch == 'published'")
    both = pd.concat([ablation, ablation.assign(switch="idle")])
    found = tables.worths(both).query("switch == 'idle'")
    assert (found.filter(regex="_change").to_numpy() == 0).all()


def test_retraining_table_has_the_shares_before_and_after(folder):
    data = tables.retraining(
        results.read_results(folder, "retraining"), results.read_results(folder, "fairness"), {}
    )
    after = results.read_results(folder, "retraining").query("classifier == 'bank' and label_rule == 'model'")
    row = data.data.query("classifier == 'bank' and label_rule == 'model'").iloc[0]
    assert row["share_after"] == pytest.approx(after["share_after"].mean())
    assert data.shown["Before (%)"][0] == "10.00 (9.60 to 10.40)"


def test_averages_over_some_of_the_authors_data_have_no_printed_number(small):
    found = read_tsv(small / "tables/averages.tsv")
    assert set(found["data"]) == {"census", "adult"}
    assert found["printed"].isna().all()


def test_testers_that_were_not_run_are_left_out(tmp_path):
    make_results(tmp_path, {"german": ["age"]})
    for name in ("counts", "local", "curves", "retraining"):
        path = tmp_path / "german" / f"{name}.tsv"
        write_tsv(path, read_tsv(path).query("tester == 'adf'"))
    tables.write_tables(tmp_path, CLAIMS)
    assert read_tsv(tmp_path / "tables/table5_symbolic.tsv")["tester"].tolist() == ["adf"]
    measures = read_tsv(tmp_path / "tables/averages.tsv")["measure"].tolist()
    assert "success_adf" in measures
    assert "samples_ratio_aequitas" not in measures


@pytest.mark.filterwarnings("error")
def test_a_fair_classifier_has_tables_and_figures(tmp_path):
    make_results(tmp_path, {"german": ["age"]})
    for name in ("counts", "curves", "ablation", "local", "retraining"):
        path = tmp_path / "german" / f"{name}.tsv"
        table = read_tsv(path)
        none = {c: 0 for c in ("global_discriminatory", "n_discriminatory") if c in table}
        write_tsv(path, table[:0] if name in ("local", "retraining") else table.assign(**none))
    tables.write_tables(tmp_path, CLAIMS)
    figures.write_figures(tmp_path)
    shown = read_tsv(tmp_path / "tables/table10_cost.tsv")
    assert shown["queries_per_1000"].isna().all()
    assert len(read_tsv(tmp_path / "figures/retraining.tsv")) == 1


def test_figures_hold_the_data_they_draw(small):
    curves = results.read_results(small, "curves").query("mode == 'published'")
    drawn = read_tsv(small / "figures/figure7_local.tsv")
    assert len(drawn) == len(curves.query("tester in ('aequitas', 'adf')"))
    after = read_tsv(small / "figures/retraining.tsv")
    share = results.read_results(small, "retraining").query("classifier == 'adult' and tester == 'adf'")
    sd = share.query("label_rule == 'majority'")["share_after"].std()
    at = after.query("classifier == 'adult' and tester == 'adf' and label_rule == 'majority'")
    assert at["sd"].tolist() == pytest.approx([sd])


def test_a_folder_without_classifiers_is_refused(tmp_path):
    with pytest.raises(InputError, match="no results of a classifier; run the fairness tests first"):
        tables.write_tables(tmp_path, CLAIMS)
    with pytest.raises(InputError, match="no results of a classifier"):
        figures.write_figures(tmp_path)


def test_a_missing_file_is_refused(tmp_path):
    make_results(tmp_path, {"german": ["age"]})
    (tmp_path / "german/curves.tsv").unlink()
    with pytest.raises(InputError, match=r"curves\.tsv: no such file"):
        figures.write_figures(tmp_path)


def test_a_registry_of_another_area_is_refused(tmp_path):
    (tmp_path / "other.tsv").write_text("claim_id\tpublished\nx\t1\n")
    with pytest.raises(InputError, match="name the registry of the fairness testing claims"):
        tables.printed_numbers(tmp_path / "other.tsv")


def test_every_claim_is_measured_or_says_why_not(folder):
    claims = read_claims([CLAIMS], SCHEMA)
    setups = {"fairness_testing": [*AUTHORS, *OWN]}
    table = measure_claims(claims, folder.parent, setups)
    own = table[~table["setup"].isin(OWN)].set_index("claim_id")
    assert len(own) == len(claims)
    unmeasured = {claim.claim_id for claim in claims if not claim.measure}
    assert set(own.index[own["verdict"] == "not_attempted"]) == unmeasured
    assert own.loc["adf-census-rows", "verdict"] == "reproduced"
    assert own.loc["adf-order-table6-census-age-adf-symbolic", "verdict"] == "reproduced"
    other = table[table["setup"].isin(OWN)]
    assert set(other["verdict"]) <= {"direction_only", "not_reproduced"}
    assert set(other["setup"]) == set(OWN)


def test_claims_without_the_authors_data_are_not_attempted(tmp_path):
    make_results(tmp_path / "fairness_testing", OWN)
    tables.write_tables(tmp_path / "fairness_testing", CLAIMS)
    claims = read_claims([CLAIMS], SCHEMA)
    table = measure_claims(claims, tmp_path, {"fairness_testing": list(OWN)})
    authors = table[~table["setup"].isin(OWN)]
    assert set(authors["verdict"]) == {"not_attempted"}
    assert len(authors) == len(claims)


@pytest.mark.parametrize(("otherwise", "text"), [([], ""), (["adult", "german"], " (or else adult, german)")])
def test_summary_says_what_is_searched(otherwise, text):
    testing = {"run": ["census", "bank"], "otherwise": otherwise}
    (line,) = plan.summaries({"fairness_testing": testing | {"seeds": 1000, "hops": 500, "repetitions": 5}})
    assert line == (
        f"four testers search census, bank{text} for discriminatory samples: 1,000 seeds,"
        " 500 hops from each find, 5 repetitions"
    )
