"""The steps on one classifier of tables, one after the other, as their rules call them."""

import json

import numpy as np
import pandas as pd
import pytest

from biaslab.classifiers.networks import save_network
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_tsv
from biaslab.fairness_testing.names import COLUMNS
from biaslab.run.steps import run_step
from fairness_data import SCHEMA, random_network, small_domain

SEARCH = {"hops": 3, "ablation_hops": 2, "repetitions": 2, "explanations": 2, "local_seeds": 2}


@pytest.fixture
def step(tmp_path, monkeypatch):
    """Call a step on a table of 120 rows in the current folder."""
    monkeypatch.chdir(tmp_path)
    X = small_domain().draw(120, np.random.default_rng(1))
    table = pd.DataFrame(X, columns=list(small_domain().names))
    table["sex"] = np.array(["male", "female"])[X[:, 4]]
    table["label"] = np.array(["no", "yes"])[random_network(21).labels(X)]
    table.to_csv("data.csv", index=False)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    save_network("weights.npz", random_network(21))
    (tmp_path / "made").mkdir()

    def call(name, **given):
        given = {"folder": "made", "schema": "schema.yaml"} | given
        run_step(f"fairness-testing.{name}", json.dumps(given), 1, print)

    return call


def test_steps_take_what_their_rules_tell_them(step):
    step("prepare-classifier", data="data.csv", network="weights.npz", seeds=10, training_epochs=1, seed=1)
    summary = read_tsv("made/classifiers.tsv").iloc[0]
    assert (summary["classifier"], summary["n_rows"], summary["trained"]) == ("made", 120, "no")
    assert summary["accuracy"] == 1
    assert len(read_npz("made/data.npz")["seeds"]) == 10

    effort = SEARCH | {"uniform_samples": 100, "seed": 1}
    step("search-discrimination", effort=effort, found="made/found.npz", published_bounds="schema.yaml")
    for name in ("counts", "curves", "local", "ablation", "fairness", "steps"):
        table = read_tsv(f"made/{name}.tsv")
        assert list(table) == list(COLUMNS.get(name, table))
        assert set(table["protected"]) == {"group", "sex"}

    effort = {"retrainings": 2, "share": 1, "uniform_samples": 100, "seed": 1}
    step("retrain-classifier", effort=effort, found="made/found.npz", retraining="made/retraining.tsv")
    assert set(read_tsv("made/retraining.tsv")["protected"]) == {"group", "sex"}


def test_budgets_are_taken_from_the_least(step):
    step("prepare-classifier", data="data.csv", network="weights.npz", seeds=10, training_epochs=1, seed=1)
    effort = {"hops": 3, "repetitions": 2, "seed": 1}
    for number, queries in enumerate([[300, 200], [200, 300]]):
        counts = f"made/budgets{number}.tsv"
        step("compare-at-budgets", effort=effort | {"queries": queries}, counts=counts)
    first, second = (read_tsv(f"made/budgets{number}.tsv") for number in (0, 1))
    assert first.equals(second)
    assert set(first["protected"]) == {"group", "sex", "group,sex"}


def test_a_network_for_other_columns_is_refused(step):
    save_network("weights.npz", random_network(1, (4, 3, 2)))
    with pytest.raises(InputError, match="takes 4 attributes and gives 2 classes"):
        step("prepare-classifier", data="data.csv", network="weights.npz", seeds=5, training_epochs=1, seed=1)
