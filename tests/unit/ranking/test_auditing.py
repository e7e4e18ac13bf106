"""The audit of ranked lists: rates, bounds, corrected tests, and what would be a false all-clear."""

import itertools
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import pages
from biaslab.ranking import geyik, registry
from biaslab.ranking.auditing import audit_file, selection_rates
from biaslab.ranking.comparison import compare
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.pools import Groups, Pools, top
from biaslab.ranking.report.audited import answer
from naive import ranking_selection as naive
from refusals import refused

COLUMNS = Columns("score", ("sex",), "query", unknown=("?",))
EQUAL_FILE = Path(__file__).parents[2] / "equal_measures.tsv"
EQUAL = pd.read_csv(EQUAL_FILE, sep="\t", comment="#").set_index("measure")["value"]
CANDIDATES = "Ada f .91;Ben m .96;Chen m .95;Dara f .82;Eli m .94;Finn m .90;Gwen f .79;Hugo m .89"


def table_of(rng, n_lists, size=7, unknown=0.2):
    sexes = rng.choice(["f", "m", "?"], n_lists * size, p=[(1 - unknown) / 2, (1 - unknown) / 2, unknown])
    scores = rng.permutation(n_lists * size) / 100
    return pd.DataFrame({"query": np.repeat(np.arange(n_lists), size), "sex": sexes, "score": scores})


def audited(folder, table, k=3, columns=COLUMNS, **how):
    table.to_csv(folder / "in.csv", index=False)
    how = {"desired": "observed", "algorithm": "det_greedy"} | how
    return audit_file(ListFile(folder / "in.csv", columns), k=k, **how)


def lists_of(table, k):
    found = []
    for _, rows in table.groupby("query", sort=False):
        top = set(rows.sort_values("score", ascending=False, kind="stable").head(k).index)
        found.append([(None if s == "?" else s, i in top) for i, s in rows["sex"].items()])
    return found


@pytest.mark.parametrize(("n_lists", "unknown"), [(1, 0.0), (1, 0.25), (5, 0.0), (2, 0.3)])
@pytest.mark.parametrize("seed", range(2))
def test_rates_ratios_and_bounds_are_those_of_the_oracle(tmp_path, n_lists, unknown, seed):
    table = table_of(np.random.default_rng(seed), n_lists, unknown=unknown)
    found = audited(tmp_path, table)
    rows = found.selection[found.selection["ranking"] == "before"].set_index("value")
    lists, reference = lists_of(table, 3), found.reference
    for value, row in rows.iterrows():
        assert row["rate"] == pytest.approx(float(naive.rate(lists, value)))
        share, rate, ratio = naive.bounds(lists, value, reference)
        assert_allclose(row[["share_least", "share_most"]].astype(float), np.array(share, float))
        assert_allclose(row[["rate_least", "rate_most"]].astype(float), np.array(rate, float))
        if value != reference:
            assert_allclose(row[["ratio_least", "ratio_most"]].astype(float), np.array(ratio, float))
            bounds = np.clip(naive.ratio_interval(lists, value, reference), 0.02, 50)
            ends = row[["ratio_low", "ratio_high"]].astype(float)
            assert_allclose(np.clip(ends, 0.02, 50), bounds, rtol=0.01)
    assert rows["rate"].max() == rows.loc[reference, "rate"]


@pytest.mark.parametrize("n_lists", [1, 30])
def test_the_interval_of_the_ratio_covers_equal_rates(n_lists):
    """A null: everybody has the same chance, so that about 95% of the intervals hold 1."""
    rng, covered = np.random.default_rng(1), []
    for _ in range(120):
        rows = []
        for number in range(n_lists):
            sexes = rng.permutation(["f"] * 20 + ["m"] * 20)
            chosen = rng.permutation(40) < 15
            rows += [(number, v, (sexes == v).sum(), (chosen & (sexes == v)).sum()) for v in "fm"]
        counts = pd.DataFrame(rows, columns=["list", "value", "n", "x"])
        table = selection_rates(counts, "x", 0, 0, 15 * n_lists)
        row = table[~table["is_reference"]].iloc[0]
        covered.append(row["ratio_low"] <= 1 <= row["ratio_high"])
    assert 0.92 <= np.mean(covered) <= 1


def test_a_small_value_is_not_what_others_are_compared_with():
    rows = pd.DataFrame({"list": 0, "value": ["a", "b", "c"], "n": [1, 60, 60], "x": [1, 30, 20]})
    table = selection_rates(rows, "x", 0, 0, 51).set_index("value")
    assert table["is_reference"].tolist() == [False, True, False]
    assert table.loc["a", "ratio"] == 2


def test_measures_are_equal_to_those_of_other_packages(tmp_path):
    rows = [person.split() for person in CANDIDATES.split(";")]
    table = pd.DataFrame(rows, columns=["name", "sex", "score"])
    found = audited(tmp_path, table, 5, Columns("score", ("sex",)))
    row = found.selection[found.selection["ranking"] == "before"].set_index("value").loc["f"]
    assert row["ratio"] == pytest.approx(EQUAL["impact ratio"], rel=1e-12)
    table.sort_values("score", ascending=False).to_csv(tmp_path / "in.csv", index=False)
    lists = ListFile(tmp_path / "in.csv", Columns(None, ("sex",))).lists
    desired = np.bincount(lists.values) / 8
    groups = Groups(
        np.array([0, 2]), lists.names, np.arange(2), lists.values, np.bincount(lists.values), desired
    )
    whole = registry.measure(top(Pools(lists.offsets, groups), 8, np.arange(8)))
    assert row["rate"] - 0.8 == pytest.approx(EQUAL["difference of selection rates"], rel=1e-12)
    assert whole["exposure_ratio"].item() == pytest.approx(EQUAL["exposure ratio"], rel=1e-12)
    assert whole["ndkl"].item() == pytest.approx(EQUAL["NDKL"], rel=1e-5)  # theirs is smoothed


@pytest.mark.parametrize(
    ("changes", "k", "problem"),
    [
        ({"sex": "f"}, 3, "sex has one value, 'f'; where all are alike"),
        ({"sex": "?"}, 3, "sex has no known value"),
        ({}, 7, "the top includes all candidates .* set a smaller --top"),
    ],
)
def test_a_false_all_clear_is_refused(tmp_path, changes, k, problem):
    table = table_of(np.random.default_rng(0), 2).assign(**changes)
    with refused(problem):
        audited(tmp_path, table, k)
    with refused("one candidate"):
        audited(tmp_path, table_of(np.random.default_rng(0), 1, size=1, unknown=0), 1)


def test_the_order_is_that_of_the_rank_then_of_the_score_then_of_the_file(tmp_path):
    table = pd.DataFrame({"sex": list("ffmm"), "score": [1, 2, 3, 4], "place": [1, 2, 3, 4]})

    def share_of_f(columns):
        found = audited(tmp_path, table, 2, columns)
        before = found.values[found.values["ranking"] == "before"]
        return before.set_index("value").loc["f", "share"], found

    assert share_of_f(Columns("score", ("sex",), rank="place"))[0] == 1
    assert share_of_f(Columns("score", ("sex",)))[0] == 0
    share, found = share_of_f(Columns(None, ("sex",)))
    assert share == 1
    assert set(found.values["ranking"]) == {"before"}


def test_the_answer_counts_the_tests_before_and_after_they_are_corrected(tmp_path):
    rows = [(query, "m" if place < 6 else "f", -place) for query in range(6) for place in range(12)]
    found = audited(tmp_path, pd.DataFrame(rows, columns=["query", "sex", "score"]), 5)
    said = answer(found, ListFile(tmp_path / "in.csv", COLUMNS), "observed", 5, "det_greedy")
    (section,) = (section for section in said.sections if section.title == "FA*IR's test for too few places")
    shown = section.table.set_index("Value").loc["f"]
    assert (shown["Lists tested"], shown["p ≤ .05"], shown["corrected p ≤ .05"]) == ("6", "6", "0")


def test_the_command_writes_a_page_and_numbers_and_keeps_files_of_others(tmp_path, monkeypatch, biaslab):
    monkeypatch.chdir(tmp_path)
    table = table_of(np.random.default_rng(0), 3, unknown=0).replace({"sex": {"f": "<b>$f$</b>"}})
    table.to_csv("in.csv", index=False)
    run = partial(biaslab, "ranking", "audit", "in.csv", "--attribute", "sex", "--query", "query")
    options = ["--score", "score", "--top", 3]
    code, output, _ = run(*options)
    assert code == 0
    assert output.splitlines()[-1] == "The page: ranking-audit.html; all numbers: ranking-audit.json"
    page = Path("ranking-audit.html").read_text()
    assert all(link.startswith("data:") for link in pages.Page(page).links)
    assert "<b>" not in page
    assert "&lt;b&gt;$f$&lt;/b&gt;" in page
    numbers = json.loads(Path("ranking-audit.json").read_text())
    assert numbers["command"] == "biaslab ranking audit"
    assert {row["value"] for row in numbers["selection"]} == {"m", "<b>$f$</b>"}
    first = Path("ranking-audit.json").read_bytes(), page
    run(*options)
    assert first == (Path("ranking-audit.json").read_bytes(), Path("ranking-audit.html").read_text())
    Path("ranking-audit.json").write_text("mine")
    code, _, error = run(*options)
    assert code == 2
    assert error.startswith("biaslab: ranking-audit.json: is there, and no answer of biaslab; choose")
    assert Path("ranking-audit.json").read_text() == "mine"


# --- tied scores: means over all orders, and nothing that depends on the order of the file


@pytest.fixture
def tied():
    rng = np.random.default_rng(2)
    sexes = rng.choice(["f", "m", "x", "?"], 27, p=[0.4, 0.3, 0.2, 0.1])
    return pd.DataFrame({"query": np.repeat(list("abc"), 9), "sex": sexes, "score": rng.integers(1, 4, 27)})


def test_selected_and_exposure_are_the_means_of_all_orders(tmp_path):
    table = pd.DataFrame({"query": "q", "sex": list("ffmmfm"), "score": [3, 2, 2, 2, 2, 1]})
    orders = [[0, *middle, 5] for middle in itertools.permutations([1, 2, 3, 4])]
    female = np.array([[table["sex"][i] == "f" for i in order] for order in orders])
    found = audited(tmp_path, table)
    rates = found.selection.query("ranking == 'before'").set_index("value").loc["f"]
    chosen = female[:, :3].sum(axis=1)
    assert rates["n_selected"] == pytest.approx(chosen.mean())
    assert (rates["n_selected_least"], rates["n_selected_most"]) == (chosen.min(), chosen.max())
    values = found.values.query("ranking == 'before'").set_index("value").loc["f"]
    assert values["share"] == pytest.approx(chosen.mean() / 3)
    attention = 1 / np.log2(np.arange(2, 5))
    assert values["exposure"] == pytest.approx((female[:, :3] * attention).sum(axis=1).mean() / 3)
    assert found.n_tied == (4, 2, 1)


def test_the_order_of_the_file_changes_nothing(tmp_path, tied):
    first = audited(tmp_path, tied)
    text = answer(first, ListFile(tmp_path / "in.csv", COLUMNS), "observed", 3, "det_greedy").lines
    assert any("candidates tie for the last" in line for line in text)
    assert first.p_value <= 1
    again = tied.sample(frac=1, random_state=0).sort_values("query", kind="stable")
    second = audited(tmp_path, again)
    for name in ("values", "selection", "tests", "measures"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name), rtol=1e-9, atol=1e-9)
    assert answer(second, ListFile(tmp_path / "in.csv", COLUMNS), "observed", 3, "det_greedy").lines == text
    untied = tied.assign(score=np.random.default_rng(0).permutation(27))
    assert audited(tmp_path, untied).n_tied == (0, 0, 0)


def test_measures_are_near_the_mean_of_all_orders(tmp_path):
    table = pd.DataFrame({"query": "q", "sex": list("fmmf"), "score": [2, 2, 2, 1]})
    keys = ["measure", "ranking"]
    found = audited(tmp_path, table, desired="uniform").measures.set_index(keys)["mean"]
    exact = []
    for order in itertools.permutations(range(3)):
        untied = table.assign(score=[*(5 - np.argsort(order) / 10), 1])
        exact.append(audited(tmp_path, untied, desired="uniform").measures.set_index(keys)["mean"])
    for name in ("ndkl", "exposure_ratio", "infeasible_count"):
        mean, spread = (of([one.loc[name] for one in exact], axis=0) for of in (np.mean, np.std))
        assert (abs(found.loc[name] - mean) <= 0.4 * spread + 1e-9).all(), name


def test_a_list_without_a_value_counts_as_a_share_of_0(tmp_path):
    """No interval leaves 0 to 1."""
    rows = [("ab"[q > 3] + str(q), "f", 10 - i) for q in range(6) for i in range(3)]
    rows += [(f"a{q}", "f", i) for q in range(4) for i in range(3)]
    rows += [(f"b{q}", "m", 20 + i) for q in (4, 5) for i in range(3)]
    table = pd.DataFrame(rows, columns=["query", "sex", "score"]).sort_values("query", kind="stable")
    values = audited(tmp_path, table).values.query("ranking == 'before'").set_index("value")
    assert values["share"].to_dict() == pytest.approx({"f": 2 / 3, "m": 1 / 3})
    assert values["desired"].to_dict() == pytest.approx({"f": 5 / 6, "m": 1 / 6})
    assert (values[["share_low", "desired_low"]] >= 0).all(axis=None)
    assert (values[["share_high", "attention_high"]] <= 1).all(axis=None)


# --- one row of the registry adds a measure or an algorithm


@pytest.fixture
def small(tmp_path):
    table = pd.DataFrame({"query": list("aaabb"), "score": [3, 2, 1, 2, 1], "sex": list("mfmfm")})
    table.to_csv(tmp_path / "c.csv", index=False)
    return ListFile(tmp_path / "c.csv", Columns("score", ("sex",), "query"))


def test_a_new_row_is_in_every_table(monkeypatch, small):
    last = registry.Measure("Places", 0, lambda rankings: rankings.n_places.astype(float))
    copy = registry.Algorithm("As by score", partial(geyik.rank_pools, "score_only"))
    monkeypatch.setitem(registry.MEASURES, "places", last)
    monkeypatch.setitem(registry.ALGORITHMS, "by_score", copy)
    audited = audit_file(small, "uniform", 2, "by_score")
    assert audited.measures.set_index("title").loc["Places", "mean"].tolist() == [2.0, 2.0]
    compared = compare([2], 3, 4, 4, 1)
    assert (compared["algorithm"] == "by_score").sum() == len(registry.MEASURES)
    assert compared.query("measure == 'places'")["mean"].eq(4).all()
