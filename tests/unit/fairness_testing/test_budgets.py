"""Testers at equal numbers of queries."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biaslab.classifiers.networks import save_network
from biaslab.core.io import write_npz
from biaslab.fairness_testing import cases, experiment
from biaslab.fairness_testing.experiment import Budgets as Effort
from biaslab.fairness_testing.names import COLUMNS
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.registry import TESTERS
from fairness_data import SCHEMA, make_case, random_network
from naive import fairness_testing as naive

EFFORT = Effort(queries=(200, 2000), hops=15, repetitions=2, seed=1)


def budget_case(columns=(1,), name="group"):
    return make_case(columns, name, random_network(21), n_seeds=60)


def test_budgets_are_kept_and_more_queries_find_more():
    counts = experiment.compare_at_budgets(budget_case(), EFFORT)
    assert list(counts) == list(COLUMNS["budgets"])
    assert (counts["n_queries"] <= counts["budget"]).all()
    assert (counts["n_queries"] > 0.9 * counts["budget"]).all()
    wide = counts.pivot(index=["tester", "mode", "repetition"], columns="budget", values="n_discriminatory")
    assert (wide[2000] > wide[200]).all()
    assert set(counts["tester"]) == {name for name, tester in TESTERS.items() if not tester.is_costly}
    pd.testing.assert_frame_equal(
        counts, experiment.compare_at_budgets(budget_case(), replace(EFFORT, queries=(2000, 200)))
    )


def test_who_runs_out_of_seeds_takes_them_again():
    case = replace(budget_case(), seeds=budget_case().seeds[:4])
    trail = experiment.spend(case, TESTERS["eidig-inf"], "paper", 2000, replace(EFFORT, hops=3))
    assert 1990 < trail.queries.sum() <= 2000
    assert trail.seed.max() >= 8
    rounds = [trail.take(trail.seed // 4 == number).samples.tolist() for number in (0, 1)]
    assert rounds[0] != rounds[1]


@pytest.mark.parametrize("name", ["adf", "random", "aequitas"])
def test_parts_do_not_matter_and_finds_are_counted_as_the_text_says(name, monkeypatch):
    case, effort = budget_case((1, 4), "group,sex"), replace(EFFORT, hops=5)
    trail = experiment.spend(case, TESTERS[name], "paper", 900, effort)
    task = experiment.task_of
    monkeypatch.setattr(experiment, "task_of", lambda *a: replace(task(*a), part_seeds=None))
    whole = experiment.spend(case, TESTERS[name], "paper", 900, effort)
    assert (trail.samples == whole.samples).all()
    assert trail.queries.sum() == whole.queries.sum() <= 900
    assert (np.diff(trail.seed) >= 0).all()  # seed by seed
    assert (trail.discriminatory == check(case.subject, trail.samples).discriminatory).all()
    n_samples, n_found = naive.count_trail(trail.samples.tolist(), trail.discriminatory, (1, 4))
    counted = experiment.count_trail(case, trail)
    assert (counted["n_samples"], counted["n_discriminatory"]) == (n_samples, n_found)
    assert counted["n_values"] == 6


def test_sets_of_protected_attributes(tmp_path):
    case = budget_case()
    save_network(tmp_path / "made/network.npz", case.subject.model)
    write_npz(tmp_path / "made/data.npz", X=case.X, y=case.X[:, 0].astype(np.int64), seeds=np.arange(9))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    found = list(cases.load_cases(tmp_path / "made", path, path, together=2))
    assert [one.attribute for one in found] == ["group", "sex", "group,sex"]
    assert [len(one.subject.protected.values) for one in found] == [3, 2, 6]
    assert [one.published_bounds for one in found] == [(0, 2), (0, 1), None]
    assert [one.attribute for one in cases.load_cases(tmp_path / "made", path)] == ["group", "sex"]
    path.write_text(SCHEMA.replace("low: 0, high: 2}", "low: 0, high: 600}"))
    found = list(cases.load_cases(tmp_path / "made", path, path, together=2))
    assert [one.attribute for one in found] == ["group", "sex"]  # 1,202 values together are too many
