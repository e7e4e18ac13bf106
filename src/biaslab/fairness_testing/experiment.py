"""The experiment on a classifier and a protected attribute: every tester, every mode, repeated."""

import dataclasses
import itertools
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.cases import Case, load_cases, save_found
from biaslab.fairness_testing.settings import FULL, PAPER, PUBLISHED, SHARED
from biaslab.fairness_testing.testers import adf
from biaslab.fairness_testing.testers.adf import Walks, attribute_weights, choose_steps
from biaslab.fairness_testing.testers.contract import (
    Phases,
    Task,
    Tester,
    Trail,
    are_discriminatory,
    check,
    collect,
    discriminatory_share,
    uniform_fairness,
)
from biaslab.fairness_testing.testers.registry import TESTERS, paper_testers, runs

TOGETHER = 2  # the largest number of protected attributes that vary jointly
N_POINTS = 50  # the number of points of a curve
N_SEEDS = 4  # the number of seeds in the table: one of each cluster
_WORDS = np.array(["no", "yes"], object)


@dataclass(frozen=True)
class Effort:
    """The effort of a search; see the section ``fairness_testing`` of the configuration."""

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
    """Search a classifier with every tester; write the tables of `search_case` and the found samples."""
    set_threads(threads)
    searched, samples = [], {}
    for case in load_cases(folder, schema, published_bounds):
        tables, samples[case.attribute] = search_case(case, effort)
        searched.append(tables)
    for name in searched[0]:
        table = pd.concat([tables[name] for tables in searched], ignore_index=True)
        write_tsv(folder / f"{name}.tsv", table)
    save_found(found, samples)


def search_case(case: Case, effort: Effort) -> tuple[dict[str, pd.DataFrame], dict[str, np.ndarray]]:
    """Search a case with every tester; return all tables except retraining, and samples of `count_finds`."""
    counts, curves, finds = count_finds(case, effort)
    tables = {"counts": counts, "curves": curves, "local": compare_local(case, effort)}
    tables |= {"ablation": ablate(case, effort), "fairness": estimate_fairness(case, effort)}
    return tables | {"steps": show_first_steps(case)}, finds


def count_finds(case: Case, effort: Effort) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, np.ndarray]]:
    """Run every tester in every mode, several times, and count its finds (Tables IV to VI, Figure 7).

    Curves and found samples, (n, d) int32 by tester, are from the first search in the mode ``published``.
    """
    protected = case.subject.protected
    counts, finds = [], {}
    starts = case.seeds[:0]
    for tester, mode in runs():
        run, settings = {"tester": tester.name, "mode": mode}, tester.settings(mode, case.published_bounds)
        for repetition in range(effort.repetitions):
            task = _task(case, effort, repetition)
            phases = collect(tester.search(task, settings))
            row = run | {"repetition": repetition} | _count(case, phases)
            if tester.search_globally and mode == PUBLISHED:
                alone = tester.search_globally(task, settings)
                row["global_discriminatory"] = alone.count(protected).n_discriminatory
            elif tester.search_globally:
                row["global_discriminatory"] = math.nan
            counts.append(row)
            if repetition == 0 and mode == PUBLISHED:
                finds[tester.name] = phases.joined().distinct_discriminatory(protected)
                if tester.is_proposed:
                    starts = phases.global_.distinct_discriminatory(protected)
    return case.named(pd.DataFrame(counts), "counts"), grow_from_same_seeds(case, effort, starts), finds


def grow_from_same_seeds(case: Case, effort: Effort, starts: np.ndarray) -> pd.DataFrame:
    """Return the curves of fast testers' local phases from the same samples (Figure 7)."""
    task = _task(case, effort, 0, seeds=starts)
    curves = []
    for tester in paper_testers().values():
        if tester.search_around is not None and not tester.is_costly and len(starts):
            trail = tester.search_around(task, tester.settings(PUBLISHED, case.published_bounds))
            curves.append(_curve(case, trail).assign(tester=tester.name))
    table = pd.concat(curves, ignore_index=True) if curves else pd.DataFrame()
    return case.named(table, "curves")


def ablate(case: Case, effort: Effort) -> pd.DataFrame:
    """Replace one quirk of the published code at a time by the paper's version, for the paper's tester."""
    effort = replace(effort, hops=effort.ablation_hops)
    rows = [
        {"tester": tester.name, "switch": name, "repetition": repetition}
        | _count(case, collect(tester.search(_task(case, effort, repetition), settings)))
        for tester in paper_testers().values()
        if tester.is_proposed
        for name, settings in variants(case, tester).items()
        for repetition in range(effort.repetitions)
    ]
    return case.named(pd.DataFrame(rows), "ablation")


def variants(case: Case, tester: Tester) -> dict[str, Any]:
    """Return the published settings, variants with one field as in the paper, and the paper's settings."""
    published, paper = (tester.settings(mode, case.published_bounds) for mode in (PUBLISHED, PAPER))
    switched = {
        field.name: replace(published, **{field.name: getattr(paper, field.name)})
        for field in dataclasses.fields(published)
        if getattr(published, field.name) != getattr(paper, field.name)
    }
    return {PUBLISHED: published, **switched, PAPER: paper}


def compare_local(case: Case, effort: Effort) -> pd.DataFrame:
    """Run the local phases of all testers from the same discriminatory seeds (Table VII).

    A costly tester has fewer seeds (`Effort.repetitions`), which share its samples (`Effort.explanations`),
    and one repetition. For comparison, all other testers also run from these seeds with as many hops.
    """
    seeds = case.seeds[check(case.subject, case.seeds).discriminatory][: effort.local_seeds]
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
                trail = tester.search_around(
                    _task(case, effort, repetition, seeds=starts, hops=hops), settings
                )
                row = {"tester": tester.name, "mode": mode, "repetition": repetition, "budget": budget}
                of_seeds = [trail.take(trail.seed == number) for number in range(len(starts))]
                around = [visits.count(case.subject.protected) for visits in of_seeds]
                row |= {"n_seeds": len(starts), "hops": hops}
                for name in ("n_samples", "n_discriminatory"):
                    row[f"mean_{name[2:]}"] = np.mean([getattr(counts, name) for counts in around])
                rows.append(row)
    return case.named(pd.DataFrame(rows), "local")


def estimate_fairness(case: Case, effort: Effort) -> pd.DataFrame:
    """Estimate the discriminatory share of the domain, and measure that of the data (Table XII)."""
    n = effort.uniform_samples
    share, low, high = uniform_fairness(case.subject, n=n, seed=effort.seed)
    row = {"n_uniform": n, "share": share, "ci_low": low, "ci_high": high}
    row["data_share"] = discriminatory_share(case.subject, case.X)
    row["seed_share"] = discriminatory_share(case.subject, case.seeds)
    return case.named(pd.DataFrame([row]), "fairness")


def _task(case: Case, effort: Effort, repetition: int, **changes: Any) -> Task:
    scope = {"hops": effort.hops, "n_explored": effort.explanations, "n_drawn": effort.uniform_samples}
    return case.task(**scope | {"seed": effort.seed + repetition} | changes)


def _count(case: Case, phases: Phases) -> dict[str, int]:
    protected = case.subject.protected
    found_globally = phases.global_.count(protected).n_discriminatory
    counts = vars(phases.joined().count(protected)) | {"n_queries": phases.n_queries}
    return {"n_seeds": len(case.seeds), "global_discriminatory": found_globally} | counts


def _curve(case: Case, trail: Trail) -> pd.DataFrame:
    """Return the finds of a local phase after equal steps along its trail."""
    new, new_discriminatory = trail.first_visits(case.subject.protected)
    explored = np.zeros(len(trail), np.int64)
    explored[np.unique(trail.seed, return_index=True)[1]] = 1
    columns = {"n_seeds": explored, "n_samples": new, "n_discriminatory": new_discriminatory}
    places = np.unique(np.linspace(0, len(trail) - 1, N_POINTS + 1).astype(int)) if len(trail) else []
    return pd.DataFrame({name: np.cumsum(column)[places] for name, column in columns.items()})


def show_first_steps(case: Case) -> pd.DataFrame:
    """Return ADF's first step from the first seeds and the next local steps (Examples 4.3 and 4.5).

    The mode is ``published``, with the bounds of the domain. Without information from gradients, the first
    attribute increases.
    """
    subject, X = case.subject, case.seeds[:N_SEEDS]
    settings = adf.TESTER.settings(PUBLISHED)
    start = check(subject, X, with_outputs=True)
    partners, agreed, steps = choose_steps(subject, X, start, np.zeros((len(X), 2)), settings)
    moved = subject.domain.clip(X + steps)
    arrived = check(subject, moved)
    values = subject.protected.values[arrived.partners]
    walks = Walks(moved, arrived.labels, arrived.variant_labels, arrived.discriminatory, values)
    tables = []
    for number in range(len(X)):
        table = {
            "seed": number + 1,
            "attribute": subject.domain.names,
            "start": X[number],
            "partner": partners[number],
            "direction": agreed[number],
            "moved": moved[number],
            "start_found": _WORDS[int(start.discriminatory[number])],
            "moved_found": _WORDS[int(arrived.discriminatory[number])],
        }
        if arrived.discriminatory[number]:
            (weights,), _ = attribute_weights(subject, walks.take(np.array([number])), settings)
            probabilities = np.zeros(subject.domain.n_attributes)  # 0 for protected attributes
            probabilities[subject.free] = weights / weights.sum()
            table["probability"] = probabilities
            for name, step in (("lower_found", -1), ("upper_found", 1)):
                neighbours = subject.domain.clip(
                    moved[number] + step * np.eye(len(moved[number]), dtype=np.int32)
                )
                table[name] = _WORDS[are_discriminatory(subject, neighbours).astype(int)]
        tables.append(pd.DataFrame(table))
    return case.named(pd.concat(tables, ignore_index=True), "steps")


@dataclass(frozen=True)
class Budgets:
    """The effort of a comparison at equal budgets; see `query_budgets` in the configuration."""

    queries: tuple[int, ...]  # the budgets
    hops: int  # steps of a walk
    repetitions: int  # searches with seeds in another order and other random numbers
    seed: int


def write_budgets(
    folder: Path,
    schema: Path,
    effort: Budgets,
    counts: Path,
    published_bounds: Path | None = None,
    threads: int = 1,
) -> None:
    """Compare testers on each set of protected attributes; write the table."""
    set_threads(threads)
    cases = load_cases(folder, schema, published_bounds, together=TOGETHER)
    write_tsv(counts, pd.concat([compare_at_budgets(case, effort) for case in cases], ignore_index=True))


def compare_at_budgets(case: Case, effort: Budgets) -> pd.DataFrame:
    """Count the finds of every tester, except costly testers, within equal budgets."""
    rows, protected = [], case.subject.protected
    for repetition in range(effort.repetitions):
        effort_ = replace(effort, seed=effort.seed + repetition)
        for tester in TESTERS.values():
            for mode, budget in itertools.product(tester.modes, sorted(effort.queries)):
                if not tester.is_costly:
                    trail = spend(case, tester, mode, budget, effort_)
                    run = {"tester": tester.name, "mode": mode, "repetition": repetition, "budget": budget}
                    run |= {"n_values": len(protected.values), "n_seeds": len(np.unique(trail.seed))}
                    rows.append(run | vars(trail.count(protected)))
    return case.named(pd.DataFrame(rows), "budgets")


def spend(case: Case, tester: Tester, mode: str, budget: int, effort: Budgets) -> Trail:
    """Return the visits of a tester within a budget; each seed's walk ends before the next seed."""
    n_values = len(case.subject.protected.values)
    # Each part spends about half of the queries if walks follow from all its seeds.
    part_seeds = max(1, budget // (2 * effort.hops * n_values))
    task = case.task(
        seeds=case.seeds[stream(effort.seed, "budgets").permutation(len(case.seeds))],
        hops=effort.hops,
        n_drawn=budget // n_values + 1,
        seed=effort.seed,
        part_seeds=None if tester.draws_seeds else part_seeds,
    )
    settings = tester.settings(mode, case.published_bounds)
    parts, n_queries, number = [], 0, 0
    while n_queries < budget:
        seed = int(stream(task.seed, "budgets", "round", number).integers(2**31)) if number else task.seed
        for part in tester.search(replace(task, seed=seed), settings):
            # The visits of both phases from a seed precede the visits from the next seed.
            both = part.joined()
            trail = both.take(np.argsort(both.seed, kind="stable"))
            parts.append(replace(trail, seed=trail.seed + np.int32(number * task.n_seeds)))
            n_queries += int(trail.queries.sum())
            if n_queries >= budget:
                break
        number += 1
    trail = Trail.join(parts)
    return trail.take(np.cumsum(trail.queries) <= budget)
