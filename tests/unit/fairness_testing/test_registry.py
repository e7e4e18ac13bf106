"""A new tester needs a module and a row: a made one is searched, counted and retrained with as others are."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing import experiment, retraining
from biaslab.fairness_testing.experiment import load_found, save_found
from biaslab.fairness_testing.testers import registry
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.discrimination import check
from fairness_data import make_case, make_task

EFFORT = experiment.Effort(
    hops=3, ablation_hops=2, repetitions=2, explanations=20, uniform_samples=100, local_seeds=3, seed=1
)


def test_a_row_is_all_that_an_experiment_needs(tmp_path, monkeypatch):
    toy = replace(registry.TESTERS["aequitas"], name="toy", title="TOY")
    monkeypatch.setitem(registry.TESTERS, "toy", toy)
    case = make_case()
    tables, found = experiment.search_case(case, EFFORT)
    for name in ("counts", "local", "curves"):
        by_tester = tables[name].set_index("tester")
        assert by_tester.loc["toy"].to_csv(index=False) == by_tester.loc["aequitas"].to_csv(index=False)
    assert (found["toy"] == found["aequitas"]).all()
    assert set(tables["ablation"]["tester"]) == {"adf"}

    save_found(tmp_path / "found.npz", {"group": found})
    monkeypatch.setattr(retraining, "DEFAULT", replace(retraining.DEFAULT, steps=20))
    effort = retraining.Effort(retrainings=2, share=0.1, uniform_samples=200, seed=1)
    y = case.subject.model.labels(case.X)
    nothing = [retraining.Retrained("", k, 0, case.subject.model) for k in range(2)]
    finds = load_found(tmp_path / "found.npz", "group")
    table = retraining.retrain_case(case, y, finds, effort, nothing)
    runs = table.groupby(["tester", "label_rule"], sort=False).size()
    assert set(table.loc[table["tester"] == "none", "n_added"]) == {0}
    names = ("aequitas", "symbolic", "toy", "adf")
    assert runs.to_dict() == {
        ("none", ""): 2,
        **{(name, "majority"): 2 for name in names},
        ("adf", "model"): 2,
        ("adf", "ensemble"): 2,
    }


def test_an_unknown_tester_is_refused():
    with pytest.raises(InputError, match=r"unknown tester 'adv' \(known: adf, aequitas, symbolic, "):
        registry.find_tester("adv")


def test_every_tester_keeps_the_contract():
    """It finds what it says, from the seeds that it says, and around given ones."""
    case = make_case()
    seeds = case.seeds[check(case.subject, case.seeds).discriminatory][:3]
    task = make_task(case.subject, case.seeds, data=case.X, hops=5, n_explored=10, n_drawn=50)
    every = [(tester, mode) for tester in registry.TESTERS.values() for mode in tester.modes]
    for tester, mode in every:
        settings = tester.settings(mode)
        trail = collect(tester.search(task, settings)).joined()
        assert (trail.discriminatory == check(case.subject, trail.samples).discriminatory).all()
        if tester.search_around:
            around = tester.search_around(replace(task, seeds=seeds, n_seeds=len(seeds)), settings)
            assert 0 in around.seed
            assert set(around.seed) <= {0, 1, 2}
        else:
            assert tester.name == "random"


def test_found_samples_of_one_attribute_are_read(tmp_path):
    arrays = {tester: np.full((k, 2), k, np.int32) for k, tester in enumerate(registry.paper_testers())}
    file = tmp_path / "found.npz"
    save_found(file, {"age": arrays, "sex": {tester: X + 10 for tester, X in arrays.items()}})
    for attribute, more in (("age", 0), ("sex", 10)):
        found = load_found(file, attribute)
        assert list(found) == list(registry.paper_testers())
        assert all((found[tester] == X + more).all() for tester, X in arrays.items())
    with pytest.raises(InputError, match=r"found.npz: array 'race:adf' is missing"):
        load_found(file, "race")
