"""Tied scores: means over all orders, and nothing that depends on the order of the file."""

import itertools

import numpy as np
import pandas as pd
import pytest

from biaslab.ranking.auditing import audit_file
from biaslab.ranking.lists import Columns, ListFile
from biaslab.ranking.report.audited import answer

COLUMNS = Columns("score", ("sex",), "query", unknown=("?",))


def read(folder, table):
    table.to_csv(folder / "in.csv", index=False)
    return ListFile(folder / "in.csv", COLUMNS)


def audited(folder, table, k=3, desired="observed"):
    return audit_file(read(folder, table), desired, k, "det_greedy")


@pytest.fixture
def table():
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


def test_the_order_of_the_file_changes_nothing(tmp_path, table):
    first = audited(tmp_path, table)
    text = answer(first, read(tmp_path, table), "observed", 3, "det_greedy").lines
    assert any("candidates tie for the last" in line for line in text)
    assert first.p_value <= 1
    again = table.sample(frac=1, random_state=0).sort_values("query", kind="stable")
    second = audited(tmp_path, again)
    for name in ("values", "selection", "tests", "measures"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name), rtol=1e-9, atol=1e-9)
    assert answer(second, read(tmp_path, again), "observed", 3, "det_greedy").lines == text
    untied = table.assign(score=np.random.default_rng(0).permutation(27))
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
