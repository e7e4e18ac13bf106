"""All testers at equal true queries on the six settings of Zhang et al. 2021: networks, forests, boosting.

A query is a row that the classifier is asked about: a gradient of a network is one, a numerical one 2 d rows,
an explanation all its neighbours. Called with a file, the table goes there. At most 15 minutes of one core.
"""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from biaslab.classifiers.adapters import CallableModel
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.networks import load_network
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.budgets import Effort, task_of, until_spent
from biaslab.fairness_testing.cases import Case
from biaslab.fairness_testing.names import PAPER
from biaslab.fairness_testing.seeds import take_turns
from biaslab.fairness_testing.testers import trails
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.registry import TESTERS
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.run import datasets

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

REPOSITORY = Path(__file__).resolve().parents[1]
REPETITIONS, HOPS, SEEDS = 5, 100, 1000
BUDGETS = {"network": 20_000, "forest": 5_000, "boosting": 5_000}
"""Queries of each tester; trees, which answer row by row, get fewer for the time they take."""
DATA = ("census", "bank", "credit")
N_TREES, N_BOOSTED = 10, 50
DRAWN = 20
"""Samples that AEQUITAS draws at a time; who has spent less then draws and walks again."""
FEW_NEIGHBOURS = 500
"""Neighbours of an explanation beside the 5,000 of the authors, by which little is left of the budget."""


def entrants():
    """Yield the testers as their commands run them: a name, the tester and its settings."""
    for tester in TESTERS.values():
        settings = tester.settings(PAPER)
        yield tester.title, tester, settings
        if tester.is_costly:
            few = replace(settings, n_neighbours=FEW_NEIGHBOURS)
            yield f"{tester.title}, {FEW_NEIGHBOURS} neighbours", tester, few


def forest_function(forest):
    """Return what a forest's ``predict_proba`` does, without what scikit-learn checks at each call."""
    trees = [tree.tree_ for tree in forest.estimators_]

    def probabilities(X):
        X = X.astype(np.float32)
        return sum(tree.predict(X) for tree in trees) / len(trees)

    return probabilities


def boosting_function(boosting):
    """Return what ``predict_proba`` of boosted trees does, without the checks."""
    trees = [tree.tree_ for tree in boosting.estimators_[:, 0]]
    begin = float(boosting.init_.class_prior_[1])
    begin = np.log(begin / (1 - begin))

    def probabilities(X):
        X = X.astype(np.float32)
        z = begin + boosting.learning_rate * sum(tree.predict(X)[:, 0] for tree in trees)
        p = 1 / (1 + np.exp(-z))
        return np.column_stack([1 - p, p])

    return probabilities


def load(name):
    """Return the schema, samples, labels, seeds and the network of one of the authors' tables."""
    registry = datasets.load_registry(REPOSITORY / "workflow/resources/datasets.tsv")
    mirror = os.environ.get("BIASLAB_MIRROR")
    files = [
        datasets.resolve(f"adf-{name}{part}", registry, None, mirror).location
        for part in ("", "-network", "-clusters")
    ]
    schema = load_schema(REPOSITORY / f"workflow/resources/classifiers/{name}.yaml")
    table = read_table(files[0], schema)
    clusters = np.loadtxt(files[2], skiprows=1, dtype=np.int64)
    seeds = table.X[take_turns(clusters, min(SEEDS, len(table.X)))]
    return schema, table.X, table.y, seeds, load_network(files[1])


def fit_trees(name, schema, X, y):
    """Return a forest and boosted trees, fitted to the same table."""
    forest = RandomForestClassifier(N_TREES, min_samples_leaf=5, random_state=1).fit(X, y)
    boosting = GradientBoostingClassifier(n_estimators=N_BOOSTED, learning_rate=0.2, random_state=1).fit(X, y)
    d, k, models = schema.domain.n_attributes, len(schema.classes), {}
    for classifier, function in ((forest, forest_function(forest)), (boosting, boosting_function(boosting))):
        kind = "forest" if classifier is forest else "boosting"
        models[kind] = CallableModel(function, d, k)
        if not np.allclose(models[kind].probabilities(X[:1000]), classifier.predict_proba(X[:1000])):
            raise InputError(f"{kind} of {name} does not answer as scikit-learn's does; mend the function")
    return models


def find(case, tester, settings, seed, budget):
    """Return how many different discriminatory samples a tester finds in its queries."""
    task = task_of(case, tester, budget, Effort((budget,), HOPS, REPETITIONS, seed))
    if tester.name == "aequitas":  # it walks from all that it draws before it can be cut
        task = replace(task, n_seeds=DRAWN)
    if tester.is_costly:
        task = replace(task, n_seeds=max(1, budget // (2 * settings.n_neighbours)), hops=budget)
    if tester.search_globally:
        trail = longest(task, tester, settings, budget)
    else:
        trail = until_spent(task, tester, settings, budget)
    return trails.count(trail, case.subject.protected).n_discriminatory


def longest(task, tester, settings, budget):
    """Return the longest search of a tester that cannot be cut for which the budget is enough."""
    task = replace(task, n_seeds=len(task.seeds))
    least, most, best = 0, budget // settings.n_neighbours, trails.empty(task.subject.domain.n_attributes)
    while least < most:
        middle = (least + most + 1) // 2
        phases = collect(tester.search(replace(task, n_explored=middle), settings))
        if phases.n_queries > budget:
            most = middle - 1
        else:
            least, best = middle, phases.joined()
    return best


def by_thousand(found, budget):
    """Write the mean of counts for 1,000 queries with half the width of its 95% interval (Student's t)."""
    rates = 1000 * np.array(found) / budget
    low, high = mean_interval(rates)
    return f"{rates.mean():.1f} ± {(high - low) / 2:.1f}"


def main():
    """Let all testers search all settings, and print or write the table."""
    set_threads(1)
    began, rows = time.process_time(), []
    for name in DATA:
        schema, X, y, seeds, network = load(name)
        models = {"network": network} | fit_trees(name, schema, X, y)
        for kind, model in models.items():
            print(f"{name}, {kind}: right on {np.mean(model.labels(X) == y):.1%} of its data", flush=True)
        for attribute in schema.protected:
            for title, tester, settings in entrants():
                row = {"data": name, "protected": attribute, "tester": title}
                for kind, model in models.items():
                    subject = Subject(model, schema.domain, schema.protect([attribute]))
                    case = Case(name, attribute, subject, X, seeds)
                    budget, runs = BUDGETS[kind], range(1, REPETITIONS + 1)
                    found = [find(case, tester, settings, seed, budget) for seed in runs]
                    row[kind] = by_thousand(found, budget)
                rows.append(row)
                print(*row.values(), f"{time.process_time() - began:.0f} s", sep="\t", flush=True)
    if len(sys.argv) > 1:
        write_tsv(Path(sys.argv[1]), pd.DataFrame(rows))


if __name__ == "__main__":
    main()
