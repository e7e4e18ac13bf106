"""The experiment on one classifier and one protected attribute: every tester, every mode, repeated."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import decode
from biaslab.classifiers.schema import Schema, load_schema
from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.fairness_testing.cases import Case, load_cases
from biaslab.fairness_testing.columns import COLUMNS
from biaslab.fairness_testing.first_steps import show_first_steps
from biaslab.fairness_testing.found import save_found
from biaslab.fairness_testing.names import FULL, OWN, PAPER, PUBLISHED, SHARED
from biaslab.fairness_testing.testers import random_search, trails
from biaslab.fairness_testing.testers.contract import Task, Tester, collect
from biaslab.fairness_testing.testers.discrimination import (
    are_discriminatory,
    check,
    discriminatory_share,
    find_partners,
)
from biaslab.fairness_testing.testers.registry import paper_testers, runs
from biaslab.fairness_testing.testers.trails import Phases, Trail

N_POINTS = 50
"""Points of a curve."""


@dataclass(frozen=True)
class Effort:
    """How much is searched; see the section ``fairness_testing`` of the configuration."""

    hops: int
    ablation_hops: int
    repetitions: int
    explanations: int
    uniform_samples: int
    local_seeds: int
    seed: int


def search_classifier(
    folder: Path,
    schema: Path,
    effort: Effort,
    found: Path,
    published_bounds: Path | None = None,
    threads: int = 1,
) -> None:
    """Search a classifier with every tester: the tables of `search_case`, and the samples found."""
    set_threads(threads)
    described, searched, samples = load_schema(schema), [], {}
    for case in load_cases(folder, schema, published_bounds):
        tables, samples[case.attribute] = search_case(case, described, effort)
        searched.append(tables)
    for name in searched[0]:
        together = pd.concat([tables[name] for tables in searched], ignore_index=True)
        write_tsv(folder / f"{name}.tsv", together)
    save_found(found, samples)


def search_case(
    case: Case, schema: Schema, effort: Effort
) -> tuple[dict[str, pd.DataFrame], dict[str, np.ndarray]]:
    """Search a case with every tester: all tables but those of retraining, and what `count_finds` found."""
    counts, curves, found = count_finds(case, effort)
    tables = {"counts": counts, "curves": curves, "local": compare_local(case, effort)}
    tables |= {"ablation": ablate(case, effort), "fairness": estimate_fairness(case, effort)}
    tables["steps"] = show_first_steps(case)
    return tables | {"pairs": show_pairs(case, schema, found)}, found


def count_finds(case: Case, effort: Effort) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, np.ndarray]]:
    """Let every tester search in every mode, several times, and count its finds (Tables IV to VI, Figure 7).

    Of a tester that mixes its phases, global_discriminatory is counted in the published mode alone, by a
    search of its own. n_outside: discriminatory samples that are outside the domain, or whose partners all
    are. The curves, cumulative, and the samples found, (n, d) int32 by tester in the mode ``published``, are
    of the first repetition.
    """
    protected = case.subject.protected
    counts, curves, found = [], [], {}
    starts = case.seeds[:0]
    for tester, mode in runs():
        run, settings = {"tester": tester.name, "mode": mode}, tester.settings(mode, case.published_bounds)
        is_wider = mode == PUBLISHED and tester.with_bounds is not None and _has_wider_bounds(case)
        for repetition in range(effort.repetitions):
            task = _task(case, effort, repetition)
            phases = collect(tester.search(task, settings))
            row = run | {"repetition": repetition} | _count(case, phases, is_wider)
            if tester.search_globally:
                alone = tester.search_globally(task, settings) if mode == PUBLISHED else None
                row["global_discriminatory"] = (
                    trails.count(alone, protected).n_discriminatory if alone is not None else math.nan
                )
            counts.append(row)
            if repetition == 0:
                curves.append(_curve(case, phases).assign(**run, start=OWN))
                if mode == PUBLISHED:
                    found[tester.name] = trails.distinct_discriminatory(phases.joined(), protected)
                    if tester.is_proposed:
                        starts = trails.distinct_discriminatory(phases.global_, protected)
    curves += grow_from_same_seeds(case, effort, starts)
    table = _named(case, pd.concat(curves, ignore_index=True)).reindex(columns=COLUMNS["curves"])
    return _named(case, pd.DataFrame(counts)), table, found


def grow_from_same_seeds(case: Case, effort: Effort, starts: np.ndarray) -> list[pd.DataFrame]:
    """Return the curves of cheap testers' local phases from the same samples, (k, d) int32 (Figure 7)."""
    task = replace(_task(case, effort, 0), seeds=starts, n_seeds=len(starts))
    curves = []
    for tester, mode in runs():
        if mode == PUBLISHED and tester.search_around is not None and not tester.is_costly and len(starts):
            trail = tester.search_around(task, tester.settings(mode, case.published_bounds))
            curve = _curve(case, Phases(trail.part(slice(0)), trail))
            curves.append(curve.assign(tester=tester.name, mode=mode, start=SHARED))
    return curves


def ablate(case: Case, effort: Effort) -> pd.DataFrame:
    """Repair the quirks of the published code of the paper's own tester one at a time."""
    effort = replace(effort, hops=effort.ablation_hops)
    rows = [
        {"tester": tester.name, "switch": name, "repetition": repetition}
        | _count(case, collect(tester.search(_task(case, effort, repetition), settings)))
        for tester in paper_testers().values()
        if tester.is_proposed
        for name, settings in variants(case, tester).items()
        for repetition in range(effort.repetitions)
    ]
    return _named(case, pd.DataFrame(rows)).reindex(columns=COLUMNS["ablation"])


def variants(case: Case, tester: Tester) -> dict[str, Any]:
    """Return the published settings, those with each field in turn as in the paper's, and the paper's."""
    published, paper = (tester.settings(mode, case.published_bounds) for mode in (PUBLISHED, PAPER))
    switched = {
        field.name: replace(published, **{field.name: getattr(paper, field.name)})
        for field in dataclasses.fields(published)
        if getattr(published, field.name) != getattr(paper, field.name)
    }
    return {PUBLISHED: published, **switched, PAPER: paper}


def compare_local(case: Case, effort: Effort) -> pd.DataFrame:
    """Let the local phases of all testers start from the same discriminatory seeds (Table VII).

    A tester that is costly has fewer seeds (`Effort.repetitions`), which share its samples
    (`Effort.explanations`), and one repetition. The others are run from these seeds with as many hops, too,
    so that all can be compared. mean_samples and mean_discriminatory count different ones around a seed, on
    average over the seeds.
    """
    seeds = discriminatory_rows(case, effort.local_seeds)
    costly_seeds = seeds[: effort.repetitions]
    costly_hops = max(1, effort.explanations // max(1, len(costly_seeds)))
    rows = []
    for tester, mode in runs():
        if tester.search_around is None or not len(seeds):
            continue
        settings = tester.settings(mode, case.published_bounds)
        budgets = [(SHARED, costly_seeds, costly_hops)]
        if not tester.is_costly:
            budgets.insert(0, (FULL, seeds, effort.hops))
        for budget, starts, hops in budgets:
            for repetition in range(1 if tester.is_costly else effort.repetitions):
                task = replace(_task(case, effort, repetition), seeds=starts, n_seeds=len(starts), hops=hops)
                trail = tester.search_around(task, settings)
                row = {"tester": tester.name, "mode": mode, "repetition": repetition, "budget": budget}
                rows.append(row | {"hops": hops} | _count_around(case, trail, len(starts)))
    return _named(case, pd.DataFrame(rows)).reindex(columns=COLUMNS["local"])


def estimate_fairness(case: Case, effort: Effort) -> pd.DataFrame:
    """Estimate the share of the domain that is discriminatory, and measure that of the data (Table XII)."""
    n = effort.uniform_samples
    share, low, high = random_search.uniform_fairness(case.subject, n=n, seed=effort.seed)
    row = {"n_uniform": n, "share": share, "ci_low": low, "ci_high": high}
    row["data_share"] = discriminatory_share(case.subject, case.X)
    row["seed_share"] = discriminatory_share(case.subject, case.seeds)
    return _named(case, pd.DataFrame([row]))


def show_pairs(case: Case, schema: Schema, found: Mapping[str, np.ndarray], n: int = 3) -> pd.DataFrame:
    """Write discriminatory pairs of every tester in the words of the data, a row for each attribute."""
    tables = []
    for tester, samples in found.items():
        chosen = (
            samples[np.unique(np.linspace(0, len(samples) - 1, n).astype(int))] if len(samples) else samples
        )
        others, labels, other_labels = find_partners(case.subject, chosen)
        for member, (X, of_X) in enumerate([(chosen, labels), (others, other_labels)], start=1):
            words = decode(X, schema).assign(label=[schema.classes[label] for label in of_X])
            words = words.assign(example=range(1, len(X) + 1)).melt(
                ["example", "label"], var_name="attribute", ignore_index=False
            )
            tables.append(words.assign(tester=tester, member=member))
    columns = list(COLUMNS["pairs"][2:])
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    order = table.sort_values(["tester", "example", "member"], kind="stable", ignore_index=True)
    return _named(case, order[columns])


def discriminatory_rows(case: Case, n: int) -> np.ndarray:
    """Return the first `n` seeds that are discriminatory as they are, (n, d) int32, perhaps fewer."""
    return case.seeds[check(case.subject, case.seeds).discriminatory][:n]


def _task(case: Case, effort: Effort, repetition: int) -> Task:
    return Task(
        subject=case.subject,
        data=case.X,
        seeds=case.seeds,
        n_seeds=len(case.seeds),
        hops=effort.hops,
        n_explored=effort.explanations,
        n_drawn=effort.uniform_samples,
        seed=effort.seed + repetition,
    )


def _has_wider_bounds(case: Case) -> bool:
    """Tell whether the published code enumerates protected values that the domain does not have."""
    if case.published_bounds is None:
        return False
    values, (low, high) = case.subject.protected.values, case.published_bounds
    return low < values.min() or high > values.max()


def _count(case: Case, phases: Phases, is_wider: bool = False) -> dict[str, int]:
    """Count a search; `is_wider`: its finds may have no partner in the domain."""
    protected, both = case.subject.protected, phases.joined()
    counts = trails.count(both, protected)
    found = trails.distinct_discriminatory(both, protected)
    inside = case.subject.domain.contains(found)
    if is_wider:
        inside[inside] = are_discriminatory(case.subject, found[inside])
    return {
        "n_seeds": len(case.seeds),
        "global_discriminatory": trails.count(phases.global_, protected).n_discriminatory,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "n_queries": phases.n_queries,
        "n_outside": int((~inside).sum()),
    }


def _count_around(case: Case, trail: Trail, n_seeds: int) -> dict[str, float]:
    around = [trails.count(trail.of_seed(number), case.subject.protected) for number in range(n_seeds)]
    return {
        "n_seeds": n_seeds,
        "mean_samples": np.mean([counts.n_samples for counts in around]),
        "mean_discriminatory": np.mean([counts.n_discriminatory for counts in around]),
    }


def _curve(case: Case, phases: Phases) -> pd.DataFrame:
    """Return what both phases together have found after equal steps along the trail."""
    both = phases.joined()
    new, new_discriminatory = trails.first_visits(both, case.subject.protected)
    places = np.unique(np.linspace(0, len(both) - 1, N_POINTS + 1).astype(int)) if len(both) else []
    # The global phase takes all seeds before the local one begins with the first of them.
    explored = np.concatenate([np.zeros(len(phases.global_), np.int64), _explored(phases.local.seed)])
    return pd.DataFrame(
        {
            "n_seeds": explored[places],
            "n_samples": np.cumsum(new)[places],
            "n_discriminatory": np.cumsum(new_discriminatory)[places],
            "n_queries": np.cumsum(both.queries)[places],
        }
    )


def _explored(seeds: np.ndarray) -> np.ndarray:
    """Return how many different seeds a trail has met up to each place, (n,) int64."""
    first = np.zeros(len(seeds), np.int64)
    first[np.unique(seeds, return_index=True)[1]] = 1
    return np.cumsum(first)


def _named(case: Case, table: pd.DataFrame) -> pd.DataFrame:
    """Put the names of the case in front."""
    names = {"classifier": case.classifier, "protected": case.attribute}
    return table.assign(**names)[[*names, *table.columns]]
