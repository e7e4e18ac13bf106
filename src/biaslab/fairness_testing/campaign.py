"""A tester's campaign against one classifier of the user's, and its finds in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import decode
from biaslab.classifiers.schema import Schema
from biaslab.fairness_testing.cases import N_CLUSTERS, cluster, take_turns
from biaslab.fairness_testing.names import PAPER
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.testers import random_search, trails
from biaslab.fairness_testing.testers.contract import Task, collect
from biaslab.fairness_testing.testers.discrimination import Subject, discriminatory_share, find_partners
from biaslab.fairness_testing.testers.registry import find_tester
from biaslab.fairness_testing.testers.trails import Phases

N_UNIFORM = 10_000
"""Uniform samples that the fairness is estimated with."""


@dataclass(frozen=True, kw_only=True)
class Plan(Campaign):
    """How much is searched, by which of `registry.TESTERS`, each as the paper prints it.

    A tester starts from so many rows of the data, or from so many uniform samples; one that explores samples
    explores so many, and one that does nothing but draw draws as many as walks from all seeds would visit.
    """

    tester: str

    def __post_init__(self) -> None:
        find_tester(self.tester)


def search(subject: Subject, X: np.ndarray, plan: Plan) -> Phases:
    """Let a tester search; rows of the data are taken in turn from their clusters."""
    tester = find_tester(plan.tester)
    seeds, n_seeds = X[:0], plan.seeds
    if not tester.draws_seeds:
        n_different = len(np.unique(X, axis=0))
        clusters = cluster(X, min(N_CLUSTERS, n_different))
        seeds = X[take_turns(clusters, plan.seeds)]
        n_seeds = len(seeds)
    task = Task(
        subject=subject,
        data=X,
        seeds=seeds,
        n_seeds=n_seeds,
        hops=plan.hops,
        n_explored=plan.seeds,
        n_drawn=plan.seeds * (plan.hops + 1),
        seed=plan.seed,
    )
    return collect(tester.search(task, tester.settings(PAPER)))


def summarize(subject: Subject, X: np.ndarray, plan: Plan, outcome: Phases) -> dict[str, object]:
    """Count what was found, and measure how fair the classifier is in the domain and on the data."""
    counts = trails.count(outcome.joined(), subject.protected)
    share, low, high = random_search.uniform_fairness(subject, n=N_UNIFORM, seed=plan.seed)
    return {
        "tester": plan.tester,
        "n_seeds": plan.seeds if find_tester(plan.tester).draws_seeds else min(plan.seeds, len(X)),
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "share": counts.n_discriminatory / counts.n_samples if counts.n_samples else np.nan,
        "n_queries": outcome.n_queries,
        "n_uniform": N_UNIFORM,
        "uniform_share": share,
        "ci_low": low,
        "ci_high": high,
        "data_share": discriminatory_share(subject, X),
    }


def found_pairs(subject: Subject, outcome: Phases, schema: Schema) -> pd.DataFrame:
    """Show every different discriminatory sample with another member of its pair."""
    X = trails.distinct_discriminatory(outcome.joined(), subject.protected)
    others, labels, other_labels = find_partners(subject, X)
    classes = np.array(schema.classes, object)
    other_values = decode(others, schema).iloc[:, list(subject.protected.columns)].to_numpy(object)
    more = {
        "other_value": [", ".join(values) for values in other_values],
        "label": classes[labels],
        "other_label": classes[other_labels],
    }
    return pd.concat([decode(X, schema), pd.DataFrame(more, dtype=str)], axis=1)
