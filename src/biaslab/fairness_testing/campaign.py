"""A tester's campaign against a user's classifier, and its finds as texts."""

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import decode
from biaslab.classifiers.schema import Schema
from biaslab.fairness_testing.auditing import N_UNIFORM
from biaslab.fairness_testing.cases import N_CLUSTERS, cluster, take_turns
from biaslab.fairness_testing.names import PAPER
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.testers.contract import (
    Phases,
    Subject,
    Task,
    Tester,
    collect,
    discriminatory_share,
    find_partners,
    uniform_fairness,
)


def search(subject: Subject, X: np.ndarray, tester: Tester, campaign: Campaign) -> Phases:
    """Search with a tester as printed in the paper, from rows in turn from the clusters of the data."""
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
    """Count the finds, and measure the fairness of the classifier in the domain and on the data."""
    counts = outcome.joined().count(subject.protected)
    share, low, high = uniform_fairness(subject, n=N_UNIFORM, seed=campaign.seed)
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
    """Return every distinct discriminatory sample with another member of its pair."""
    X = outcome.joined().distinct_discriminatory(subject.protected)
    others, labels, other_labels = find_partners(subject, X)
    classes = np.array(schema.classes, object)
    other_values = decode(others, schema).iloc[:, list(subject.protected.columns)].to_numpy(object)
    partner_columns = {
        "other_value": [", ".join(values) for values in other_values],
        "label": classes[labels],
        "other_label": classes[other_labels],
    }
    return pd.concat([decode(X, schema), pd.DataFrame(partner_columns, dtype=str)], axis=1)
