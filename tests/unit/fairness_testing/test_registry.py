"""Every tester, and a made one, keeps the contract: it is searched, counted and charged as others are."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.classifiers.adapters import CallableModel
from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.fairness_testing import experiment, own_tables, retraining
from biaslab.fairness_testing.cases import load_found, save_found
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.testers import registry
from biaslab.fairness_testing.testers.contract import check, collect
from biaslab.fairness_testing.testers.registry import TESTERS
from fairness_data import blind, make_case, make_subject, make_task, random_network, small_domain

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
    monkeypatch.setattr(retraining, "STEPS", 20)
    effort = retraining.Effort(retrainings=2, share=0.1, uniform_samples=200, seed=1)
    y = case.subject.model.labels(case.X)
    nothing = [("", k, 0, case.subject.model) for k in range(2)]
    finds = load_found(tmp_path / "found.npz", "group", registry.paper_testers())
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
        found = load_found(file, attribute, arrays)
        assert all((found[tester] == X + more).all() for tester, X in arrays.items())
    with pytest.raises(InputError, match=r"found.npz: array 'race:adf' is missing"):
        load_found(file, "race", arrays)


RUNS = [(name, mode) for name, tester in TESTERS.items() for mode in tester.modes]


class CountedNetwork:
    """A network that is no `Network`, so that nothing is asked behind its back; a gradient is one row."""

    n_gradient_queries = 1

    def __init__(self, network):
        self._network, self.n_asked = network, 0
        self.n_attributes, self.n_classes = network.n_attributes, network.n_classes

    def __getattr__(self, name):
        method = getattr(self._network, name)

        def ask(X, *labels):
            self.n_asked += len(X)
            return method(X, *labels)

        return ask


class CountedFunction(CallableModel):
    """A function of the user's, with numerical gradients."""

    def __init__(self, network):
        self.n_asked = 0

        def function(X):
            self.n_asked += len(X)
            return network.probabilities(X)

        super().__init__(function, network.n_attributes, network.n_classes)


def outside(seeds):
    """Values that the domain does not have, as in the census data; of the protected attribute, too."""
    seeds[::4, 0] = 100
    seeds[2::4, 1] = 7
    return seeds


def make(model, columns, n_seeds=16, **changes):
    seeds = outside(small_domain().draw(n_seeds, np.random.default_rng(3)))
    data = small_domain().draw(60, np.random.default_rng(4))
    rest = {"hops": 7, "n_explored": 6, "n_drawn": 50} | changes
    return make_task(make_subject(model, columns), seeds, data=data, **rest)


def settings_of(tester, mode, columns):
    """The settings of a mode, with the bounds of other data, as the published code takes them."""
    settings = tester.settings(mode, (0, 5) if len(columns) == 1 else None)
    return replace(settings, n_neighbours=30) if hasattr(settings, "n_neighbours") else settings


@pytest.mark.parametrize(
    ("kind", "columns", "hops"),
    [(CountedNetwork, (1,), 7), (CountedFunction, (1, 4), 7), (CountedFunction, (1,), 0)],
)
@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_queries_are_the_rows_that_the_model_was_asked(name, mode, columns, kind, hops):
    tester, model = TESTERS[name], kind(random_network(21))
    phases = collect(tester.search(make(model, columns, hops=hops), settings_of(tester, mode, columns)))
    assert phases.n_queries == model.n_asked > 0
    assert len(phases.joined())


@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_what_leads_to_no_visit_is_counted_too(name, mode):
    """No tester finds anything in a model that looks at no attribute, and some do not even try a sample."""
    tester, model = TESTERS[name], CountedFunction(blind(random_network(21), range(5)))
    phases = collect(tester.search(make(model, (1,)), settings_of(tester, mode, (1,))))
    assert phases.n_queries == model.n_asked > 0
    assert not phases.joined().discriminatory.any()


@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_trails_depend_on_the_seed_and_neither_on_threads_nor_on_parts(name, mode):
    tester = TESTERS[name]
    task, settings = make(random_network(25), (1,), 31, n_drawn=20_000), settings_of(tester, mode, (1,))
    if tester.draws_seeds:
        task = replace(task, n_seeds=6_000)

    def search(threads=2, **changes):
        set_threads(threads)
        phases = collect(tester.search(replace(task, **changes), settings))
        return [array.tobytes() for part in (phases.global_, phases.local) for array in vars(part).values()]

    assert search(1) == search() != search(seed=2)
    for size in (1, 7, 100):
        assert search(part_seeds=size) == search()


def test_a_campaign_reports_them():
    model, X = CountedFunction(random_network(21)), small_domain().draw(40, np.random.default_rng(1))
    subject = make_subject(model, (1,))
    effort = Campaign(seeds=20, hops=3, seed=1)
    outcome = own_tables.search(subject, X, TESTERS["adf"], effort)
    n_asked = model.n_asked
    assert own_tables.summarize(subject, X, TESTERS["adf"], effort, outcome)["n_queries"] == n_asked > 0
