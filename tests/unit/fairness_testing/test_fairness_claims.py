"""The audit of fairness testing on tables, on made results: what can hold, and what must not."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from biaslab.audit.claims import CONDITION, EXEMPT_KINDS, Claim, read_claims
from biaslab.audit.measure import measure_claims
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.names import CONTROL, TEXT_PREFIX
from biaslab.run.area import TABLE
from biaslab.run.reports import write_report
from fairness_report_data import AUTHORS, OWN, units_of, write_results
from report_data import report_area

ROOT = Path(__file__).parents[3]
RESOURCES = ROOT / "workflow/resources"
REGISTRY = RESOURCES / "claims/fairness_testing.tsv"
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
AREA = report_area("fairness_testing")
TABLES = replace(AREA, items=[item for item in AREA.items if item.kind == TABLE])
TESTERS = ("adf", "aequitas", "symbolic")
PUBLISHED_NAMES = {"sex": "gender"}
VERDICTS = ("reproduced", "direction_only", "held_elsewhere")


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> dict[str, Claim]:
    """Return the claims that are not about texts, by name."""
    lines = REGISTRY.read_text(encoding="utf-8").splitlines()
    setup = lines[0].split("\t").index("setup")
    kept = [line for line in lines if not line.split("\t")[setup].startswith(TEXT_PREFIX)]
    path = tmp_path_factory.mktemp("registry") / REGISTRY.name
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return {claim.claim_id: claim for claim in read_claims([path], SCHEMA)}


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """Return made results of all classifiers with their tables."""
    folder = tmp_path_factory.mktemp("results")
    write_results(folder / "fairness_testing", AUTHORS | OWN)
    write_report(TABLES, units_of(AUTHORS | OWN), folder)
    return folder


@pytest.fixture
def folder(original, tmp_path) -> Path:
    """Return a copy of the made results, to change."""
    shutil.copytree(original, tmp_path / "results")
    return tmp_path / "results"


def measured(
    claims: dict[str, Claim],
    folder: Path,
    pattern: str = "",
    setups: Sequence[str] = (*AUTHORS,),
    at_any_budget: bool = False,
) -> pd.DataFrame:
    """Return the audit's rows of the claims whose names match, on their own setups, by name.

    `at_any_budget`: without the conditions that symbolic generation has the paper's budget.
    """
    if at_any_budget:
        claims = {name: _at_any_budget(claim, claims) for name, claim in claims.items()}
    chosen = {name for name in claims if re.search(pattern, name)}
    needed = chosen.union(*(claims[name].gates.split() for name in chosen))
    needed |= {name for name, claim in claims.items() if claim.kind == "identity"}
    kept = [claim for name, claim in claims.items() if name in needed]
    table = measure_claims(kept, folder, {"fairness_testing": [*setups]})
    table = table[table["claim_id"].isin(chosen) & ~table["setup"].isin([*OWN])]
    return table.set_index("claim_id")


def _at_any_budget(claim: Claim, claims: dict[str, Claim]) -> Claim:
    kept = [name for name in claim.gates.split() if claims[name].counts_as != CONDITION]
    return replace(claim, gates=" ".join(kept))


def change(folder: Path, name: str, edit: Callable[[pd.DataFrame, str], pd.DataFrame]) -> None:
    """Edit a file of each of the authors' classifiers."""
    for classifier in AUTHORS:
        path = folder / "fairness_testing" / classifier / f"{name}.tsv"
        write_tsv(path, edit(read_tsv(path), classifier))


def printed(claims: dict[str, Claim], pattern: str, table: pd.DataFrame, tester: str) -> list[float]:
    """Return what the paper prints for the setting of each row of a table."""
    names = table["protected"].replace(PUBLISHED_NAMES)
    return [
        claims[pattern.format(setting=f"{c}-{p}", tester=tester)].value
        for c, p in zip(table["classifier"], names, strict=True)
    ]


def as_printed(claims: dict[str, Claim], folder: Path, of: Callable[[str], str]) -> None:
    """Put the printed numbers of a tester in the place of what each tester found; `of` says whose."""

    def counts(table: pd.DataFrame, classifier: str) -> pd.DataFrame:
        columns = {
            "n_samples": "adf-table4-{setting}-{tester}-samples",
            "n_discriminatory": "adf-table4-{setting}-{tester}-discriminatory",
            "global_discriminatory": "adf-table6-{setting}-{tester}",
        }
        table = table.astype(dict.fromkeys(columns, float))
        table["n_seeds"] = claims[f"adf-seeds-{classifier}"].value
        for tester in table["tester"].unique():
            own = table["tester"] == tester
            for column, pattern in columns.items():
                whose = of(tester)
                if pattern.format(setting="census-age", tester=whose) in claims:
                    table.loc[own, column] = printed(claims, pattern, table[own], whose)
        return table

    def local(table: pd.DataFrame, classifier: str) -> pd.DataFrame:
        for tester in table["tester"].unique():
            own = table["tester"] == tester
            found = printed(claims, "adf-table7-{setting}-{tester}", table[own], of(tester))
            table.loc[own, "mean_discriminatory"] = [
                x * hops / 1000 for x, hops in zip(found, table.loc[own, "hops"], strict=True)
            ]
        return table

    change(folder, "counts", counts)
    change(folder, "local", local)


def test_every_claim_is_measured_or_says_why_not(claims, original):
    own = measured(claims, original, setups=(*AUTHORS, *OWN))
    assert len(own) == len(claims)
    unmeasured = {name for name, claim in claims.items() if not claim.measure}
    gated = {name: set(claims[name].gates.split()) for name in set(own.index) - unmeasured}
    conditions = {name for name, claim in claims.items() if claim.counts_as == CONDITION}
    assert not set(own.loc[list(conditions), "verdict"]) & {"reproduced", "not_attempted"}
    of_less_budget = {name for name, gates in gated.items() if gates & conditions}
    assert len(of_less_budget) > 20
    assert set(own.index[own["verdict"] == "not_attempted"]) == unmeasured | of_less_budget
    assert own.loc["adf-census-rows", "verdict"] == "reproduced"
    assert own.loc["adf-order-table6-census-age-adf-symbolic", "verdict"] == "reproduced"


def test_on_other_data_nothing_is_reproduced(claims, original):
    table = measure_claims(list(claims.values()), original, {"fairness_testing": [*AUTHORS, *OWN]})
    other = table[table["setup"].isin([*OWN])]
    assert set(other["setup"]) == set(OWN)
    assert not set(other["verdict"]) & {"reproduced", "direction_only", "not_reproduced"}


def test_claims_without_the_authors_data_are_not_attempted(claims, tmp_path):
    write_results(tmp_path / "fairness_testing", OWN)
    write_report(TABLES, units_of(OWN), tmp_path)
    own = measured(claims, tmp_path, setups=(*OWN,))
    assert set(own["verdict"]) == {"not_attempted"}
    assert len(own) == len(claims)


def test_what_the_paper_prints_is_reproduced(claims, folder):
    as_printed(claims, folder, lambda tester: tester)
    change(folder, "fairness", lambda table, _: table.assign(seed_share=0.01))
    own = measured(claims, folder, "^adf-table[467]-.*(?<!-paper)$")
    names = [n for n in own.index if "table7" not in n or not n.endswith("symbolic")]
    assert len(names) == 24 + 18 + 12
    assert set(own.loc[names, "verdict"]) == {"reproduced"}
    symbolic = own.filter(regex="^adf-table7-.*-symbolic$", axis=0)
    assert set(symbolic["verdict"]) == {"not_attempted"}  # of 100 hops, not of 1,000


@pytest.mark.parametrize("tester", TESTERS)
def test_equal_testers_reproduce_nothing(claims, folder, tester):
    as_printed(claims, folder, lambda _: tester if tester != "symbolic" else "aequitas")
    own = measured(claims, folder, "^adf-(order-|)table[4567]-|^adf-duplicates")
    is_compared = {n: "tester ==" in c.null and "seed_share" not in c.null for n, c in claims.items()}
    compared = [n for n in own.index if is_compared[n]]
    of_tester = [n for n in compared if n.startswith("adf-table4") and f"-{tester}-" in n]
    assert len(compared) == 24 + 12 + 6 + 18
    assert not set(own.loc[compared, "verdict"]) & set(VERDICTS)
    assert set(own.loc[of_tester, "verdict"]) <= {"inconclusive"}
    orders = own.filter(regex="^adf-(order-table[4567]|duplicates)", axis=0).query("counts_as != 'none'")
    assert "reproduced" not in set(orders["verdict"])


def test_a_search_that_does_nothing_reproduces_no_global_phase(claims, folder):
    as_printed(claims, folder, lambda tester: tester)
    for tester in ("adf", "symbolic"):

        def all_before(table: pd.DataFrame, classifier: str, tester: str = tester) -> pd.DataFrame:
            found = printed(claims, "adf-table6-{setting}-{tester}", table, tester)
            return table.assign(seed_share=[x / claims[f"adf-seeds-{classifier}"].value for x in found])

        change(folder, "fairness", all_before)
        own = measured(claims, folder, f"^adf-table6-.*-{tester}$")
        assert len(own) == 6
        assert set(own["verdict"]) == {"inconclusive"}


def test_retraining_that_changes_nothing_reproduces_nothing(claims, folder):
    rules = {n: c for n, c in claims.items() if n.startswith("adf-retrained-")}
    assert all(claim.null == "mean(100 * share_before)" for claim in rules.values())

    def idle(table: pd.DataFrame, _: str) -> pd.DataFrame:
        table = table[table["tester"] != CONTROL]
        names = table["protected"].replace(PUBLISHED_NAMES)
        keys = zip(table["classifier"], names, table["tester"], strict=True)
        after = [claims[f"adf-table12-{c}-{p}-{t}"].value / 100 for c, p, t in keys]
        return table.assign(share_before=after, share_after=after)

    change(folder, "retraining", idle)
    own = measured(claims, folder, "^adf-retrained-", at_any_budget=True)
    assert set(own.loc[list(rules), "verdict"]) == {"inconclusive"}
    change(folder, "retraining", lambda table, _: table.assign(share_after=table["share_before"].mean()))
    change(folder, "retraining", lambda table, _: table.assign(share_before=table["share_after"]))
    pattern = "^adf-(retraining-improves|order-improvement|order-table12)"
    improves = measured(claims, folder, pattern, at_any_budget=True)
    assert len(improves) == 18 + 2 + 12
    assert not set(improves["verdict"]) & set(VERDICTS)


def test_averages_of_equal_testers_reproduce_nothing(claims, folder):
    names = [n for n, c in claims.items() if c.null.startswith("max(mean")]
    assert len(names) == 4
    for name in names:
        path = folder / "fairness_testing/tables/averages.tsv"
        table = read_tsv(path)
        is_success = table["measure"].str.startswith("success_")
        columns = ["mean", "ci_low", "ci_high"]
        table.loc[is_success, columns] = claims[name].value
        write_tsv(path, table)
        own = measured(claims, folder, f"^{name}$", at_any_budget=True)
        assert own.loc[name, "verdict"] == "inconclusive"


def test_the_share_of_the_greater_class_is_no_accuracy(claims, folder):
    for classifier in AUTHORS:
        accuracy = claims[f"adf-table3-{classifier}"].value / 100

        def idle(table: pd.DataFrame, name: str, at: str = classifier, x: float = accuracy) -> pd.DataFrame:
            return table.assign(accuracy=x, positives=1 - x) if name == at else table

        change(folder, "classifiers", idle)
    own = measured(claims, folder, "^adf-table3-")
    assert set(own["verdict"]) == {"inconclusive"}


def test_success_rates_of_chance_reproduce_nothing(claims, folder):
    for tester in ("adf", "symbolic"):

        def rates(table: pd.DataFrame, _: str, tester: str = tester) -> pd.DataFrame:
            found = printed(claims, "adf-table5-{setting}-{tester}", table, tester)
            return table.assign(n_samples=100.0, n_discriminatory=found)

        change(folder, "counts", rates)
        own = measured(claims, folder, f"^adf-table5-.*-{tester}$", at_any_budget=True)
        assert len(own) == 6
        assert set(own["verdict"]) == {"inconclusive"}


def test_every_formula_of_a_null_result_is_tried_above_or_below(claims):
    tried = r"^adf-(table[34567]-|retrained-|average-success-|success-500|example-)"
    formulas = [name for name, claim in claims.items() if re.search("[a-z]", claim.null)]
    assert len(formulas) > 100
    assert [name for name in formulas if not re.search(tried, name)] == []


def test_the_examples_hold_step_by_step(claims, folder):
    own = measured(claims, folder, "^adf-example")
    assert set(own["verdict"]) == {"reproduced"}

    def idle(table: pd.DataFrame, _: str) -> pd.DataFrame:
        still = {"partner": table["start"], "moved": table["start"], "moved_found": table["start_found"]}
        same = 1 / table["attribute"].nunique()
        return table.assign(**still, direction=0, probability=same, lower_found="yes", upper_found="yes")

    change(folder, "steps", idle)
    own = measured(claims, folder, "^adf-example")
    zeros = own.index.str.startswith("adf-example-direction") & (own["value"] == 0)
    held = own[(own["verdict"] == "reproduced") & (own["kind"] != "setting") & ~zeros]
    assert set(held.index) == {"adf-example-seed-fair"}  # which is about the seed, not about a step


@pytest.mark.parametrize("what", ["weights", "data"])
def test_another_network_or_other_data_reproduce_nothing(claims, folder, what):
    as_printed(claims, folder, lambda tester: tester)
    change(folder, "fairness", lambda table, _: table.assign(seed_share=0.01))
    change(folder, "classifiers", lambda table, _: table.assign(**{what: "f" * 64}))
    own = measured(claims, folder)
    results = own[~own["kind"].isin(EXEMPT_KINDS)]
    assert "reproduced" not in set(results["verdict"])
    assert len(results.query("verdict == 'held_elsewhere'")) > 50


@pytest.mark.parametrize(
    ("name", "column", "pattern"),
    [
        ("counts", "n_seeds", "^adf-table[46]-"),
        ("local", "hops", "^adf-table[47]-"),
        ("classifiers", "n_layers", "^adf-table3-"),
    ],
)
def test_other_settings_reproduce_nothing(claims, folder, name, column, pattern):
    as_printed(claims, folder, lambda tester: tester)
    change(folder, name, lambda table, _: table.assign(**{column: table[column] // 2}))
    own = measured(claims, folder, pattern)
    assert len(own) >= 3
    assert "reproduced" not in set(own["verdict"])


def test_queries_never_stand_for_seconds(claims):
    cells = [c for c in claims.values() if c.item in ("Table V", "Table X") and c.is_counted]
    assert len(cells) == 24 + 18
    assert not any(claim.measure for claim in cells)
    queries = [claim for claim in claims.values() if "n_queries" in claim.measure]
    assert queries
    assert all(c.counts_as == "none" and c.caveat.startswith("weaker than printed") for c in queries)


def test_no_label_rule_stands_for_the_paper(claims):
    after = [c for n, c in claims.items() if n.startswith("adf-table12-") and not n.endswith("before")]
    assert len(after) == 18
    assert not any(claim.measure for claim in after)
    retrained = [
        c for c in claims.values() if c.measure and "retraining.tsv" in c.file and "share_after" in c.measure
    ]
    assert all(claim.caveat.startswith("tuned on this") for claim in retrained)


def test_levels_have_no_direction_and_orders_of_cells_are_not_counted(claims):
    for claim in claims.values():
        if claim.counts_as == "cell":
            assert not claim.direction, claim.claim_id
        if claim.claim_id.startswith("adf-order-table"):
            assert not claim.is_counted, claim.claim_id


def test_the_formula_of_the_example_has_the_printed_sample(claims):
    claim = claims["adf-example-seed"]
    parts = claim.measure.split(" + ")
    values = [int(part.rsplit("== ", 1)[1].rstrip(")")) for part in parts]
    assert str(values) == claim.published
