"""A tester's campaign against one classifier, in chunks of seeds up to limits, and its finds in words."""

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.encoding import decode
from biaslab.classifiers.models import Model
from biaslab.classifiers.schema import Schema
from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.fairness_testing import seeds as seeding
from biaslab.fairness_testing.experiment import SETTINGS
from biaslab.fairness_testing.names import ADF, AEQUITAS, MODES, PUBLISHED, RANDOM, SYMBOLIC, TESTERS
from biaslab.fairness_testing.testers import adf, aequitas, random_search, symbolic, trails
from biaslab.fairness_testing.testers.discrimination import discriminatory_share, find_partners
from biaslab.fairness_testing.testers.trails import Phases, Trail

CHUNK_SEEDS = 100
"""Seeds between two looks at the limits."""
N_UNIFORM = 10_000
"""Uniform samples that the fairness is estimated with."""


@dataclass(frozen=True)
class Plan:
    """How much is searched.

    Attributes
    ----------
    tester, mode : str
        Of `TESTERS` and `MODES`; random search is the same in all modes.
    n_seeds : int
        ADF starts from so many rows of the data, AEQUITAS from so many uniform samples; symbolic generation
        explores so many samples; random search draws as many samples as ADF would at most visit.
    hops : int
        Steps of a walk.
    seed : int
        Of the random numbers.
    time_limit : float, optional
        Seconds after which no chunk of seeds begins.
    sample_limit : int, optional
        Different samples after which no chunk of seeds begins.

    Raises
    ------
    InputError
        For an unknown tester or mode.
    """

    tester: str
    mode: str
    n_seeds: int
    hops: int
    seed: int
    time_limit: float | None = None
    sample_limit: int | None = None

    def __post_init__(self) -> None:
        for value, known, what in ((self.tester, TESTERS, "tester"), (self.mode, MODES, "mode")):
            if value not in known:
                raise InputError(
                    f"there is no {what} '{value}' (known: {', '.join(known)}){suggest(value, known)}"
                )

    @property
    def settings(self) -> object:
        """The tester's settings in this mode; None for random search."""
        module = SETTINGS.get(self.tester)
        return module and (module.PUBLISHED if self.mode == PUBLISHED else module.PAPER)


@dataclass(frozen=True)
class Outcome:
    """What a tester tried, and how it ended.

    Attributes
    ----------
    trail : Trail
        All of both phases.
    n_seeds : int
        Seeds searched from.
    starts : (n, d) int32 or None
        The sample that each seed of the trail is, where a tester keeps to its numbers.
    stopped : str
        Which limit ended it before all seeds were taken; empty where none did.
    """

    trail: Trail
    n_seeds: int
    starts: np.ndarray | None
    stopped: str


def search(model: Model, X: np.ndarray, domain: Domain, protected: Protected, plan: Plan) -> Outcome:
    """Let a tester search until it is through or meets a limit, with a progress bar.

    The limits are looked at after every `CHUNK_SEEDS` seeds; AEQUITAS, whose walks learn from each other, and
    symbolic generation search in one go. Without a time limit, the outcome is the same in every run.

    Parameters
    ----------
    model : Model
    X : (N, d) int32
        The data.
    domain : Domain
    protected : Protected
    plan : Plan

    Raises
    ------
    InputError
        As the tester and the model raise it.
    """
    seeds = _choose_seeds(X, plan)
    total = plan.n_seeds if seeds is None else len(seeds)
    chunks, n_seeds, n_samples, stopped = [], 0, 0, ""
    began = time.monotonic()
    with tqdm(total=total, desc=plan.tester, unit=" seeds", disable=None) as progress:
        for phases, taken in _chunks(model, X, seeds, domain, protected, plan):
            chunks.append(phases)
            progress.update(taken)
            n_seeds += taken
            if plan.sample_limit is not None:
                n_samples = trails.count(_joined(chunks), protected).n_samples
            stopped = _limit_met(plan, time.monotonic() - began, n_samples) if n_seeds < total else ""
            if stopped:
                break
    starts = chunks[0].global_.samples if plan.tester == AEQUITAS else seeds
    known = plan.tester in (ADF, AEQUITAS)
    return Outcome(_joined(chunks), n_seeds, starts if known else None, stopped)


def summarize(
    model: Model, X: np.ndarray, domain: Domain, protected: Protected, plan: Plan, outcome: Outcome
) -> dict[str, object]:
    """Count what was found, and measure how fair the classifier is in the domain and on the data.

    Returns
    -------
    dict
        tester, mode, n_seeds, n_samples and n_discriminatory (different ones), share (of the samples),
        n_queries, n_uniform, uniform_share (of uniform samples that are discriminatory), ci_low, ci_high
        (95%), data_share (of the rows of the data), stopped.
    """
    counts = trails.count(outcome.trail, protected)
    options = {"n": N_UNIFORM, "seed": plan.seed}
    share, low, high = random_search.uniform_fairness(model, domain, protected, **options)
    return {
        "tester": plan.tester,
        "mode": "" if plan.tester == RANDOM else plan.mode,
        "n_seeds": outcome.n_seeds,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "share": counts.n_discriminatory / counts.n_samples if counts.n_samples else np.nan,
        "n_queries": counts.n_queries,
        "n_uniform": N_UNIFORM,
        "uniform_share": share,
        "ci_low": low,
        "ci_high": high,
        "data_share": discriminatory_share(model, X, protected),
        "stopped": outcome.stopped,
    }


def found_pairs(model: Model, outcome: Outcome, protected: Protected, schema: Schema) -> pd.DataFrame:
    """Show every different discriminatory sample with another member of its pair.

    Returns
    -------
    pandas.DataFrame
        A text column for each attribute, in the words of the schema; other_value, what the other member has
        in place of the protected value; label and other_label, what the classifier calls the two; outside,
        whether the sample is outside the domain (yes or no).
    """
    X = trails.distinct_discriminatory(outcome.trail, protected)
    others, labels, other_labels = find_partners(model, X, protected)
    classes = np.array(schema.classes, object)
    other_values = decode(others, schema).iloc[:, list(protected.columns)].to_numpy(object)
    more = {
        "other_value": [", ".join(values) for values in other_values],
        "label": classes[labels],
        "other_label": classes[other_labels],
        "outside": np.where(schema.domain.contains(X), "no", "yes"),
    }
    return pd.concat([decode(X, schema), pd.DataFrame(more, dtype=str)], axis=1)


def changed_attributes(outcome: Outcome, domain: Domain, protected: Protected) -> pd.DataFrame:
    """Say how often each attribute differs between a discriminatory sample and the seed that led to it.

    Returns
    -------
    pandas.DataFrame
        Columns attribute (all but the protected ones) and share (of the different discriminatory samples),
        the most frequent first; no rows where the tester does not keep to the numbers of its seeds.
    """
    columns = protected.others(domain.n_attributes)
    found = trails.first_visits(outcome.trail, protected)[1]
    if outcome.starts is None or not found.any():
        return pd.DataFrame({"attribute": np.empty(0, str), "share": np.empty(0)})
    starts = outcome.starts[outcome.trail.seed[found]]
    shares = (outcome.trail.samples[found] != starts)[:, columns].mean(axis=0)
    table = pd.DataFrame({"attribute": [domain.names[c] for c in columns], "share": shares})
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _chunks(
    model: Model,
    X: np.ndarray,
    seeds: np.ndarray | None,
    domain: Domain,
    protected: Protected,
    plan: Plan,
) -> Iterator[tuple[Phases, int]]:
    """Yield what the tester tried, and how many seeds it took for that."""
    options = {"seed": plan.seed, "settings": plan.settings}
    match plan.tester:
        case "adf":
            for first in range(0, len(seeds), CHUNK_SEEDS):
                part = seeds[first : first + CHUNK_SEEDS]
                yield (
                    adf.search(model, part, domain, protected, hops=plan.hops, first=first, **options),
                    len(part),
                )
        case "aequitas":
            options |= {"n_global": plan.n_seeds, "hops": plan.hops}
            yield aequitas.search(model, domain, protected, **options), plan.n_seeds
        case "symbolic":
            yield (
                symbolic.search(model, X, seeds, domain, protected, limit=plan.n_seeds, **options),
                len(seeds),
            )
        case "random":
            yield from _random_chunks(model, domain, protected, plan)


def _random_chunks(
    model: Model, domain: Domain, protected: Protected, plan: Plan
) -> Iterator[tuple[Phases, int]]:
    """Yield random search with as many samples for each seed as ADF would visit."""
    rng = stream(plan.seed, "random search")
    first = 0
    for begin in range(0, plan.n_seeds, CHUNK_SEEDS):
        taken = min(CHUNK_SEEDS, plan.n_seeds - begin)
        samples = random_search.draw(model, domain, taken * (plan.hops + 1), rng)
        trail = random_search.visit(model, samples, protected)
        trail = dataclasses.replace(trail, seed=trail.seed + np.int32(first))
        first += len(samples)
        yield Phases(trail, trail.part(slice(0))), taken


def _choose_seeds(X: np.ndarray, plan: Plan) -> np.ndarray | None:
    """Return rows of the data, in turn from their clusters; None where the tester takes none."""
    if plan.tester not in (ADF, SYMBOLIC):
        return None
    n_different = len(np.unique(X, axis=0))
    clusters = seeding.cluster(X, min(seeding.N_CLUSTERS, n_different))
    return X[seeding.take_turns(clusters, plan.n_seeds)]


def _limit_met(plan: Plan, seconds: float, n_samples: int) -> str:
    if plan.time_limit is not None and seconds >= plan.time_limit:
        return f"the time limit of {plan.time_limit:g} s"
    if plan.sample_limit is not None and n_samples >= plan.sample_limit:
        return f"the limit of {plan.sample_limit} samples"
    return ""


def _joined(chunks: list[Phases]) -> Trail:
    """Return all global phases, then all local ones: as if there had been one chunk."""
    return trails.join([phases.global_ for phases in chunks] + [phases.local for phases in chunks])
