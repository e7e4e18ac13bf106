"""What a tester reports as queries is what the model was asked: a counting one sees every row."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.classifiers.adapters import CallableModel
from biaslab.fairness_testing import campaign
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.registry import TESTERS
from fairness_data import blind, make_subject, make_task, random_network, small_domain

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


def test_a_campaign_reports_them():
    model, X = CountedFunction(random_network(21)), small_domain().draw(40, np.random.default_rng(1))
    subject = make_subject(model, (1,))
    effort = Campaign(seeds=20, hops=3, seed=1)
    outcome = campaign.search(subject, X, TESTERS["adf"], effort)
    n_asked = model.n_asked
    assert campaign.summarize(subject, X, TESTERS["adf"], effort, outcome)["n_queries"] == n_asked > 0
