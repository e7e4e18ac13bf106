"""The experiment on a classifier and a protected attribute: every tester, every mode, repeated."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.io import read_npz, write_npz, write_tsv
from biaslab.core.jit import set_threads
from biaslab.fairness_testing.cases import Case, load_cases
from biaslab.fairness_testing.first_steps import show_first_steps
from biaslab.fairness_testing.names import COLUMNS, FULL, PAPER, PUBLISHED, SHARED
from biaslab.fairness_testing.testers import random_search, trails
from biaslab.fairness_testing.testers.contract import Task, Tester, collect
from biaslab.fairness_testing.testers.discrimination import check, discriminatory_share
from biaslab.fairness_testing.testers.registry import paper_testers, runs
from biaslab.fairness_testing.testers.trails import Phases, Trail

N_POINTS = 50
"""The number of points of a curve."""


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


def save_found(file: Path, found: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write samples, (n, d) int32 each, by protected attribute and tester."""
    arrays = {_key(name, tester): X for name, of_name in found.items() for tester, X in of_name.items()}
    write_npz(file, **arrays)


def load_found(file: Path, attribute: str) -> dict[str, np.ndarray]:
    """Read the samples of one protected attribute, by tester."""
    arrays = read_npz(file, tuple(_key(attribute, tester) for tester in paper_testers()))
    return {tester: arrays[_key(attribute, tester)] for tester in paper_testers()}


def _key(attribute: str, tester: str) -> str:
    return f"{attribute}:{tester}"


def search_case(case: Case, effort: Effort) -> tuple[dict[str, pd.DataFrame], dict[str, np.ndarray]]:
    """Search a case with every tester; return all tables except retraining, and samples of `count_finds`."""
    counts, curves, found = count_finds(case, effort)
    tables = {"counts": counts, "curves": curves, "local": compare_local(case, effort)}
    tables |= {"ablation": ablate(case, effort), "fairness": estimate_fairness(case, effort)}
    return tables | {"steps": show_first_steps(case)}, found


def count_finds(case: Case, effort: Effort) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, np.ndarray]]:
    """Run every tester in every mode, several times, and count its finds (Tables IV to VI, Figure 7).

    For a tester that mixes its phases, a separate search counts global_discriminatory, only in the published
    mode. The curves and the found samples, (n, d) int32 by tester in the mode ``published``, are from the
    first repetition.
    """
    protected = case.subject.protected
    counts, found = [], {}
    starts = case.seeds[:0]
    for tester, mode in runs():
        run, settings = {"tester": tester.name, "mode": mode}, tester.settings(mode, case.published_bounds)
        for repetition in range(effort.repetitions):
            task = _task(case, effort, repetition)
            phases = collect(tester.search(task, settings))
            row = run | {"repetition": repetition} | _count(case, phases)
            if tester.search_globally:
                global_trail = tester.search_globally(task, settings) if mode == PUBLISHED else None
                row["global_discriminatory"] = (
                    trails.count(global_trail, protected).n_discriminatory
                    if global_trail is not None
                    else math.nan
                )
            counts.append(row)
            if repetition == 0 and mode == PUBLISHED:
                found[tester.name] = trails.distinct_discriminatory(phases.joined(), protected)
                if tester.is_proposed:
                    starts = trails.distinct_discriminatory(phases.global_, protected)
    return _named(case, pd.DataFrame(counts)), grow_from_same_seeds(case, effort, starts), found


def grow_from_same_seeds(case: Case, effort: Effort, starts: np.ndarray) -> pd.DataFrame:
    """Return the curves of fast testers' local phases from the same samples, (k, d) int32 (Figure 7)."""
    task = replace(_task(case, effort, 0), seeds=starts, n_seeds=len(starts))
    curves = []
    for tester in paper_testers().values():
        if tester.search_around is not None and not tester.is_costly and len(starts):
            trail = tester.search_around(task, tester.settings(PUBLISHED, case.published_bounds))
            curves.append(_curve(case, trail).assign(tester=tester.name))
    table = pd.concat(curves, ignore_index=True) if curves else pd.DataFrame()
    return _named(case, table).reindex(columns=COLUMNS["curves"])


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
    return _named(case, pd.DataFrame(rows)).reindex(columns=COLUMNS["ablation"])


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
    mean_samples and mean_discriminatory are numbers of distinct samples around a seed, averaged over the
    seeds.
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
    """Estimate the discriminatory share of the domain, and measure that of the data (Table XII)."""
    n = effort.uniform_samples
    share, low, high = random_search.uniform_fairness(case.subject, n=n, seed=effort.seed)
    row = {"n_uniform": n, "share": share, "ci_low": low, "ci_high": high}
    row["data_share"] = discriminatory_share(case.subject, case.X)
    row["seed_share"] = discriminatory_share(case.subject, case.seeds)
    return _named(case, pd.DataFrame([row]))


def discriminatory_rows(case: Case, n: int) -> np.ndarray:
    """Return at most `n` seeds that are themselves discriminatory, (n, d) int32."""
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


def _count(case: Case, phases: Phases) -> dict[str, int]:
    protected = case.subject.protected
    counts = trails.count(phases.joined(), protected)
    return {
        "n_seeds": len(case.seeds),
        "global_discriminatory": trails.count(phases.global_, protected).n_discriminatory,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "n_queries": phases.n_queries,
    }


def _count_around(case: Case, trail: Trail, n_seeds: int) -> dict[str, float]:
    around = [trails.count(trail.of_seed(number), case.subject.protected) for number in range(n_seeds)]
    return {
        "n_seeds": n_seeds,
        "mean_samples": np.mean([counts.n_samples for counts in around]),
        "mean_discriminatory": np.mean([counts.n_discriminatory for counts in around]),
    }


def _curve(case: Case, trail: Trail) -> pd.DataFrame:
    """Return the finds of a local phase after equal steps along its trail."""
    new, new_discriminatory = trails.first_visits(trail, case.subject.protected)
    explored = np.zeros(len(trail), np.int64)
    explored[np.unique(trail.seed, return_index=True)[1]] = 1
    columns = {"n_seeds": explored, "n_samples": new, "n_discriminatory": new_discriminatory}
    places = np.unique(np.linspace(0, len(trail) - 1, N_POINTS + 1).astype(int)) if len(trail) else []
    return pd.DataFrame({name: np.cumsum(column)[places] for name, column in columns.items()})


def _named(case: Case, table: pd.DataFrame) -> pd.DataFrame:
    names = {"classifier": case.classifier, "protected": case.attribute}
    return table.assign(**names)[[*names, *table.columns]]
