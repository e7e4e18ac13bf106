"""A new tester needs a module and a row: a made one is searched, counted and retrained with as others are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing import experiment, names, retraining
from biaslab.fairness_testing.cases import Case
from biaslab.fairness_testing.experiment import load_found, save_found
from biaslab.fairness_testing.testers import contract, registry
from biaslab.fairness_testing.testers.contract import Task, collect
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.trails import Phases, Trail, distinct_discriminatory, empty
from fairness_data import make_subject, make_task, random_network

EFFORT = experiment.Effort(
    hops=3, ablation_hops=2, repetitions=2, explanations=20, uniform_samples=100, local_seeds=3, seed=1
)


@dataclass(frozen=True)
class Step:
    """The one switch of the made tester."""

    upwards: bool


def look(task: Task, X: np.ndarray, numbers: np.ndarray) -> Trail:
    found = check(task.subject, X)
    return Trail(X, found.discriminatory, numbers.astype(np.int32), found.queries)


def climb(task: Task, settings: Step) -> Iterator[Phases]:
    """Look at the seeds, and at their neighbours with more or less income."""
    for part in task.parts():
        numbers = np.arange(part.first, part.first + part.n_seeds)
        around = climb_around(part, settings)
        local = replace(around, seed=around.seed + np.int32(part.first))
        yield Phases(look(part, part.seeds, numbers), local)


def climb_around(task: Task, settings: Step) -> Trail:
    step = np.zeros(task.subject.domain.n_attributes, np.int32)
    step[0] = 1 if settings.upwards else -1
    hops = np.arange(1, task.hops + 1, dtype=np.int32)[:, None] * step
    X = task.subject.domain.clip((task.seeds[:, None] + hops).reshape(-1, len(step)))
    return look(task, X, np.repeat(np.arange(task.n_seeds), task.hops)) if len(X) else empty(len(step))


TOY = contract.Tester(
    name="toy",
    title="TOY",
    modes={names.PUBLISHED: Step(upwards=True), names.PAPER: Step(upwards=False)},
    search=climb,
    search_around=climb_around,
)


@pytest.fixture
def toy(monkeypatch):
    """The made tester in the registry."""
    monkeypatch.setitem(registry.TESTERS, "toy", TOY)
    return TOY


def make_case():
    subject = make_subject(random_network(2), (1,))
    X = subject.domain.draw(200, np.random.default_rng(1))
    return Case("made", "group", subject, X, X[:25])


@pytest.mark.usefixtures("toy")
def test_a_row_is_all_that_an_experiment_needs(tmp_path, monkeypatch):
    case = make_case()
    tables, found = experiment.search_case(case, EFFORT)
    for name in ("counts", "local"):
        rows = tables[name][tables[name]["tester"] == "toy"]
        assert set(rows["mode"]) == {"published", "paper"}
    assert "toy" in set(tables["curves"]["tester"])
    first = tables["counts"].query("tester == 'toy' and mode == 'published' and repetition == 0").iloc[0]
    task = make_task(case.subject, case.seeds, hops=EFFORT.hops)
    trail = collect(climb(task, Step(upwards=True))).joined()
    assert first["n_discriminatory"] == len(found["toy"]) > 0
    assert (found["toy"] == distinct_discriminatory(trail, case.subject.protected)).all()
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
    assert runs.to_dict() == {
        ("none", ""): 2,
        ("aequitas", "majority"): 2,
        ("symbolic", "majority"): 2,
        ("toy", "majority"): 2,
        ("adf", "majority"): 2,
        ("adf", "model"): 2,
        ("adf", "ensemble"): 2,
    }


@pytest.mark.usefixtures("toy")
def test_names_that_are_not_known():
    message = r"there is no tester 'toi' \(known: adf, aequitas, symbolic, random, eidig-5, eidig-inf, toy\)"
    with pytest.raises(InputError, match=message):
        registry.find_tester("toi")


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
