"""A tester's campaign against one classifier, in chunks of seeds up to limits, and its finds in words."""

import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.classifiers.encoding import decode
from biaslab.classifiers.schema import Schema
from biaslab.core.errors import InputError, suggest
from biaslab.fairness_testing import seeds as seeding
from biaslab.fairness_testing.effort import Campaign
from biaslab.fairness_testing.names import MODES
from biaslab.fairness_testing.testers import random_search, trails
from biaslab.fairness_testing.testers.contract import Part, Task, Tester, collect
from biaslab.fairness_testing.testers.discrimination import discriminatory_share, find_partners
from biaslab.fairness_testing.testers.registry import find_tester
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Trail

CHUNK_SEEDS = 100
"""Seeds between two looks at the limits."""
N_UNIFORM = 10_000
"""Uniform samples that the fairness is estimated with."""


@dataclass(frozen=True, kw_only=True)
class Plan(Campaign):
    """How much is searched, by which of `registry.TESTERS` in which of `MODES`.

    A tester starts from so many rows of the data, or from so many uniform samples; one that explores samples
    explores so many, and one that does nothing but draw draws as many as walks from all seeds would visit.
    """

    tester: str
    mode: str

    def __post_init__(self) -> None:
        find_tester(self.tester)
        if self.mode not in MODES:
            known = f"known: {', '.join(MODES)}"
            raise InputError(f"there is no mode '{self.mode}' ({known}){suggest(self.mode, MODES)}")


@dataclass(frozen=True)
class Outcome:
    """What a tester tried, and how it ended."""

    trail: Trail  # all of both phases
    n_seeds: int
    n_queries: int  # samples that the model was asked about
    # (n, d) int32: the sample that each seed is, where a tester keeps to its numbers.
    starts: np.ndarray | None
    stopped: str  # which limit ended it before all seeds were taken; empty where none did


def search(subject: Subject, X: np.ndarray, plan: Plan) -> Outcome:
    """Let a tester search until it is through or meets a limit, looked at every `CHUNK_SEEDS` seeds."""
    tester = find_tester(plan.tester)
    task = _task(subject, X, plan, tester)
    parts, n_seeds, stopped = [], 0, ""

    def n_samples() -> int:
        return trails.count(collect(parts).joined(), subject.protected).n_samples

    began = time.monotonic()
    with tqdm(total=task.n_seeds, desc=plan.tester, unit=" seeds", disable=None) as progress:
        for part in tester.search(task, tester.settings(plan.mode)):
            parts.append(part)
            progress.update(part.n_seeds)
            n_seeds += part.n_seeds
            stopped = "" if n_seeds == task.n_seeds else plan.limit_met(began, n_samples, "samples")
            if stopped:
                break
    phases = collect(parts)
    return Outcome(phases.joined(), n_seeds, phases.n_queries, _starts(parts), stopped)


def summarize(subject: Subject, X: np.ndarray, plan: Plan, outcome: Outcome) -> dict[str, object]:
    """Count what was found, and measure how fair the classifier is in the domain and on the data."""
    counts = trails.count(outcome.trail, subject.protected)
    share, low, high = random_search.uniform_fairness(subject, n=N_UNIFORM, seed=plan.seed)
    return {
        "tester": plan.tester,
        "mode": plan.mode if find_tester(plan.tester).has_switches else "",
        "n_seeds": outcome.n_seeds,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "share": counts.n_discriminatory / counts.n_samples if counts.n_samples else np.nan,
        "n_queries": outcome.n_queries,
        "n_uniform": N_UNIFORM,
        "uniform_share": share,
        "ci_low": low,
        "ci_high": high,
        "data_share": discriminatory_share(subject, X),
        "stopped": outcome.stopped,
    }


def found_pairs(subject: Subject, outcome: Outcome, schema: Schema) -> pd.DataFrame:
    """Show every different discriminatory sample with another member of its pair."""
    X = trails.distinct_discriminatory(outcome.trail, subject.protected)
    others, labels, other_labels = find_partners(subject, X)
    classes = np.array(schema.classes, object)
    other_values = decode(others, schema).iloc[:, list(subject.protected.columns)].to_numpy(object)
    more = {
        "other_value": [", ".join(values) for values in other_values],
        "label": classes[labels],
        "other_label": classes[other_labels],
        "outside": np.where(subject.domain.contains(X), "no", "yes"),
    }
    return pd.concat([decode(X, schema), pd.DataFrame(more, dtype=str)], axis=1)


def changed_attributes(subject: Subject, outcome: Outcome) -> pd.DataFrame:
    """Return how often each attribute differs between a find and the seed that led to it, the most first."""
    columns = subject.free
    found = trails.first_visits(outcome.trail, subject.protected)[1]
    if outcome.starts is None or not found.any():
        return pd.DataFrame({"attribute": np.empty(0, str), "share": np.empty(0)})
    starts = outcome.starts[outcome.trail.seed[found]]
    shares = (outcome.trail.samples[found] != starts)[:, columns].mean(axis=0)
    table = pd.DataFrame({"attribute": [subject.domain.names[c] for c in columns], "share": shares})
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _task(subject: Subject, X: np.ndarray, plan: Plan, tester: Tester) -> Task:
    """Return what the tester is to search; rows of the data are taken in turn from their clusters."""
    seeds, n_seeds = X[:0], plan.seeds
    if not tester.draws_seeds:
        n_different = len(np.unique(X, axis=0))
        clusters = seeding.cluster(X, min(seeding.N_CLUSTERS, n_different))
        seeds = X[seeding.take_turns(clusters, plan.seeds)]
        n_seeds = len(seeds)
    return Task(
        subject=subject,
        data=X,
        seeds=seeds,
        n_seeds=n_seeds,
        hops=plan.hops,
        n_explored=plan.seeds,
        n_drawn=plan.seeds * (plan.hops + 1),
        seed=plan.seed,
        part_seeds=CHUNK_SEEDS,
    )


def _starts(parts: list[Part]) -> np.ndarray | None:
    starts = [part.starts for part in parts if part.starts is not None]
    return np.concatenate(starts) if starts else None
