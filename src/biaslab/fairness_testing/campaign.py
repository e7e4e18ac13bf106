"""A tester's campaign against one classifier of the user's, and its finds in words."""

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import decode
from biaslab.classifiers.schema import Schema
from biaslab.fairness_testing.cases import N_CLUSTERS, cluster, take_turns
from biaslab.fairness_testing.names import PAPER
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.testers import random_search, trails
from biaslab.fairness_testing.testers.contract import Task, Tester, collect
from biaslab.fairness_testing.testers.discrimination import discriminatory_share, find_partners
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases

N_UNIFORM = 10_000
"""Uniform samples that the fairness is estimated with."""


def search(subject: Subject, X: np.ndarray, tester: Tester, campaign: Campaign) -> Phases:
    """Let a tester search, as the paper prints it.

    A tester starts from so many rows of the data, in turn from their clusters, or from so many uniform
    samples; one that explores samples explores so many, and one that does nothing but draw draws as many as
    walks from all seeds would visit.
    """
    seeds, n_seeds = X[:0], campaign.seeds
    if not tester.draws_seeds:
        n_different = len(np.unique(X, axis=0))
        clusters = cluster(X, min(N_CLUSTERS, n_different))
        seeds = X[take_turns(clusters, campaign.seeds)]
        n_seeds = len(seeds)
    task = Task(
        subject=subject,
        data=X,
        seeds=seeds,
        n_seeds=n_seeds,
        hops=campaign.hops,
        n_explored=campaign.seeds,
        n_drawn=campaign.seeds * (campaign.hops + 1),
        seed=campaign.seed,
    )
    return collect(tester.search(task, tester.settings(PAPER)))


def summarize(
    subject: Subject, X: np.ndarray, tester: Tester, campaign: Campaign, outcome: Phases
) -> dict[str, object]:
    """Count what was found, and measure how fair the classifier is in the domain and on the data."""
    counts = trails.count(outcome.joined(), subject.protected)
    share, low, high = random_search.uniform_fairness(subject, n=N_UNIFORM, seed=campaign.seed)
    return {
        "tester": tester.name,
        "n_seeds": campaign.seeds if tester.draws_seeds else min(campaign.seeds, len(X)),
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
