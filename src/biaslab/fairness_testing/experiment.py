"""The experiment on one classifier and one protected attribute: every tester, every mode, repeated."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.encoding import decode
from biaslab.classifiers.models import Model
from biaslab.classifiers.schema import Schema
from biaslab.core.errors import InputError
from biaslab.fairness_testing.names import (
    ADF,
    AEQUITAS,
    COLUMNS,
    INFERRED,
    MODES,
    PAPER,
    PUBLISHED,
    RANDOM,
    SYMBOLIC,
    TESTERS,
)
from biaslab.fairness_testing.testers import adf, aequitas, random_search, symbolic, trails
from biaslab.fairness_testing.testers.discrimination import check, discriminatory_share, find_partners
from biaslab.fairness_testing.testers.trails import Phases, Trail

SETTINGS = {ADF: adf, AEQUITAS: aequitas, SYMBOLIC: symbolic}
"""The module of each tester that has switches, with its settings ``PUBLISHED`` and ``PAPER``."""
N_POINTS = 50
"""Points of a curve."""


@dataclass(frozen=True)
class Case:
    """A classifier and what may vary within a pair of samples.

    Attributes
    ----------
    classifier, attribute : str
        Their names; the attribute is the protected one.
    model : Model
    X : (N, d) int32
        The data.
    domain : Domain
    seeds : (n, d) int32
        Rows of the data that searches start from.
    enumerated : tuple of two int, optional
        First and last value of the protected attribute that the authors' code of ADF enumerates, where they
        are not those of its domain.
    """

    classifier: str
    attribute: str
    model: Model
    X: np.ndarray
    domain: Domain
    seeds: np.ndarray
    enumerated: tuple[int, int] | None = None

    @property
    def protected(self) -> Protected:
        """The protected attribute with its values."""
        return Protected.of(self.domain, self.domain.columns([self.attribute]))


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


def search(case: Case, tester: str, settings: object, effort: Effort, repetition: int) -> Phases:
    """Let one tester search a case once.

    Parameters
    ----------
    case : Case
    tester : str
        One of `TESTERS`.
    settings : object
        The tester's settings; random search has none.
    effort : Effort
    repetition : int
        Which stream of random numbers.

    Raises
    ------
    InputError
        For an unknown tester.
    """
    seed, protected = effort.seed + repetition, case.protected
    match tester:
        case "adf":
            options = {"hops": effort.hops, "seed": seed, "settings": settings}
            return adf.search(case.model, case.seeds, case.domain, protected, **options)
        case "aequitas":
            options = {"n_global": len(case.seeds), "hops": effort.hops, "seed": seed, "settings": settings}
            return aequitas.search(case.model, case.domain, protected, **options)
        case "symbolic":
            options = {"limit": effort.explanations, "seed": seed, "settings": settings}
            return symbolic.search(case.model, case.X, case.seeds, case.domain, protected, **options)
        case "random":
            n = effort.uniform_samples
            trail = random_search.search(case.model, case.domain, protected, n=n, seed=seed)
            return Phases(trail.part(slice(len(case.seeds))), trail.part(slice(len(case.seeds), None)))
    raise InputError(f"there is no tester '{tester}'; choose of {', '.join(TESTERS)}")


def search_case(
    case: Case, schema: Schema, effort: Effort
) -> tuple[dict[str, pd.DataFrame], dict[str, np.ndarray]]:
    """Search a case with every tester, and measure all that is measured without retraining.

    Parameters
    ----------
    case : Case
    schema : Schema
        The words of the data.
    effort : Effort

    Returns
    -------
    tables : dict of str to pandas.DataFrame
        ``counts`` and ``curves`` (`count_finds`), ``local`` (`compare_local`), ``ablation`` (`ablate`),
        ``fairness`` (`estimate_fairness`) and ``pairs`` (`show_pairs`).
    found : dict of str to (n, d) int32
        As in `count_finds`.
    """
    counts, curves, found = count_finds(case, effort)
    tables = {"counts": counts, "curves": curves, "local": compare_local(case, effort)}
    tables |= {"ablation": ablate(case, effort), "fairness": estimate_fairness(case, effort)}
    return tables | {"pairs": show_pairs(case, schema, found)}, found


def count_finds(case: Case, effort: Effort) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, np.ndarray]]:
    """Let every tester search in every mode, several times, and count its finds (Tables IV to VI, Figure 7).

    Parameters
    ----------
    case : Case
    effort : Effort

    Returns
    -------
    counts : pandas.DataFrame
        Columns classifier, protected, tester, mode, repetition, n_seeds, global_discriminatory (different
        discriminatory samples of the global phase; of symbolic generation, which mixes its phases, in the
        published mode alone, by a search of its own), n_samples, n_discriminatory, n_queries, n_outside
        (discriminatory ones outside the domain).
    curves : pandas.DataFrame
        Columns classifier, protected, tester, mode, n_seeds (explored so far), n_samples, n_discriminatory,
        n_queries (all three cumulative), of the first repetition.
    found : dict of str to (n, d) int32
        The discriminatory samples of each tester, of the first repetition in the mode ``published``.
    """
    counts, curves, found = [], [], {}
    for tester, mode in _runs():
        settings = settings_of(case, tester, mode)
        for repetition in range(effort.repetitions):
            phases = search(case, tester, settings, effort, repetition)
            row = {"tester": tester, "mode": mode, "repetition": repetition} | _count(case, phases)
            if tester == SYMBOLIC:
                row["global_discriminatory"] = (
                    _search_globally(case, settings, effort, repetition) if mode == PUBLISHED else math.nan
                )
            counts.append(row)
            if repetition == 0:
                curves.append(_curve(case, phases).assign(tester=tester, mode=mode))
                if mode == PUBLISHED:
                    found[tester] = trails.distinct_discriminatory(_joined(phases), case.protected)
    return _named(case, pd.DataFrame(counts)), _named(case, pd.concat(curves, ignore_index=True)), found


def ablate(case: Case, effort: Effort, tester: str = ADF) -> pd.DataFrame:
    """Repair the quirks of a tester's published code one at a time.

    Parameters
    ----------
    case : Case
    effort : Effort
    tester : str
        One that has settings.

    Returns
    -------
    pandas.DataFrame
        Columns classifier, protected, tester, switch (the setting that has its value of the mode ``paper``,
        or a mode for all), repetition, global_discriminatory, n_samples, n_discriminatory.
    """
    effort = dataclasses.replace(effort, hops=effort.ablation_hops)
    published, paper = settings_of(case, tester, PUBLISHED), settings_of(case, tester, PAPER)
    variants = {PUBLISHED: published, **switched(published, paper), PAPER: paper}
    rows = [
        {"tester": tester, "switch": name, "repetition": repetition}
        | _count(case, search(case, tester, settings, effort, repetition))
        for name, settings in variants.items()
        for repetition in range(effort.repetitions)
    ]
    return _named(case, pd.DataFrame(rows)).reindex(columns=COLUMNS["ablation"])


def switched(published: object, paper: object) -> dict[str, object]:
    """Return the published settings with each field in turn as in the paper's, by the name of the field."""
    names = [field.name for field in dataclasses.fields(published)]
    return {
        name: dataclasses.replace(published, **{name: getattr(paper, name)})
        for name in names
        if getattr(published, name) != getattr(paper, name)
    }


def compare_local(case: Case, effort: Effort) -> pd.DataFrame:
    """Let the local phases of all testers start from the same discriminatory seeds (Table VII).

    Symbolic generation explains a sample at every hop: it has fewer seeds (`Effort.repetitions`), which share
    its hops (`Effort.explanations`).

    Parameters
    ----------
    case : Case
    effort : Effort

    Returns
    -------
    pandas.DataFrame
        Columns classifier, protected, tester, mode, repetition, n_seeds, hops, mean_samples,
        mean_discriminatory (different ones around a seed, on average over the seeds). Without rows when no
        seed is discriminatory.
    """
    protected, seeds = case.protected, discriminatory_rows(case, effort.local_seeds)
    rows = []
    for tester, mode in _runs():
        if tester == RANDOM or not len(seeds):
            continue
        settings = settings_of(case, tester, mode)
        is_symbolic = tester == SYMBOLIC
        starts = seeds[: effort.repetitions] if is_symbolic else seeds
        hops = max(1, effort.explanations // len(starts)) if is_symbolic else effort.hops
        for repetition in range(1 if is_symbolic else effort.repetitions):
            trail = _search_around(case, tester, settings, starts, hops, effort.seed + repetition)
            around = [trails.count(trail.of_seed(number), protected) for number in range(len(starts))]
            row = {
                "tester": tester,
                "mode": mode,
                "repetition": repetition,
                "n_seeds": len(starts),
                "hops": hops,
            }
            row["mean_samples"] = np.mean([counts.n_samples for counts in around])
            row["mean_discriminatory"] = np.mean([counts.n_discriminatory for counts in around])
            rows.append(row)
    return _named(case, pd.DataFrame(rows)).reindex(columns=COLUMNS["local"])


def estimate_fairness(case: Case, effort: Effort) -> pd.DataFrame:
    """Estimate the share of the domain that is discriminatory, and measure that of the data (Table XII).

    Parameters
    ----------
    case : Case
    effort : Effort

    Returns
    -------
    pandas.DataFrame
        One row: classifier, protected, n_uniform, share, ci_low, ci_high (Clopper and Pearson, 95%),
        data_share (exact, of all rows of the data).
    """
    n, protected = effort.uniform_samples, case.protected
    share, low, high = random_search.uniform_fairness(
        case.model, case.domain, protected, n=n, seed=effort.seed
    )
    row = {"n_uniform": n, "share": share, "ci_low": low, "ci_high": high}
    row["data_share"] = discriminatory_share(case.model, case.X, protected)
    return _named(case, pd.DataFrame([row]))


def show_pairs(case: Case, schema: Schema, found: Mapping[str, np.ndarray], n: int = 3) -> pd.DataFrame:
    """Write discriminatory pairs of every tester in the words of the data.

    Parameters
    ----------
    case : Case
    schema : Schema
        The words.
    found : mapping of str to (k, d) int32
        Discriminatory samples of each tester, as `count_finds` returns them.
    n : int
        How many of each, evenly spread.

    Returns
    -------
    pandas.DataFrame
        Columns classifier, protected, tester, example (from 1 on), member (1 or 2), attribute, value, label.
    """
    tables = []
    for tester, samples in found.items():
        chosen = (
            samples[np.unique(np.linspace(0, len(samples) - 1, n).astype(int))] if len(samples) else samples
        )
        others, labels, other_labels = find_partners(case.model, chosen, case.protected)
        for member, (X, of_X) in enumerate([(chosen, labels), (others, other_labels)], start=1):
            words = decode(X, schema).assign(label=[schema.classes[label] for label in of_X])
            words = words.assign(example=range(1, len(X) + 1)).melt(
                ["example", "label"], var_name="attribute", ignore_index=False
            )
            tables.append(words.assign(tester=tester, member=member))
    columns = ["tester", "example", "member", "attribute", "value", "label"]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    order = table.sort_values(["tester", "example", "member"], kind="stable", ignore_index=True)
    return _named(case, order[columns])


def discriminatory_rows(case: Case, n: int) -> np.ndarray:
    """Return the first `n` seeds that are discriminatory as they are, (n, d) int32, perhaps fewer."""
    return case.seeds[check(case.model, case.seeds, case.protected).discriminatory][:n]


def _search_around(
    case: Case, tester: str, settings: object, seeds: np.ndarray, hops: int, seed: int
) -> Trail:
    """Return what the local phase of a tester visits from given seeds, which the trail numbers from 0 on."""
    places = {"domain": case.domain, "protected": case.protected}
    options = {"hops": hops, "seed": seed, "settings": settings}
    if tester == ADF:
        return adf.search(case.model, seeds, **places, **options).local
    if tester == AEQUITAS:
        return aequitas.local_search(case.model, seeds, **places, **options)
    return symbolic.local_search(case.model, case.X, seeds, **places, **options)


def settings_of(case: Case, tester: str, mode: str) -> object:
    """Return the settings of a tester in a mode; None for random search, which has none."""
    if tester == RANDOM:
        return None
    settings = getattr(SETTINGS[tester], mode.upper())
    if (tester, mode) == (ADF, PUBLISHED):
        return dataclasses.replace(settings, enumerated=case.enumerated)
    return settings


def _runs() -> Iterator[tuple[str, str]]:
    """Yield testers with their modes. AEQUITAS has a third; random search is the same in all."""
    yield from itertools.product(SETTINGS, MODES)
    yield AEQUITAS, INFERRED
    yield RANDOM, PUBLISHED


def _joined(phases: Phases) -> Trail:
    return trails.join([phases.global_, phases.local])


def _count(case: Case, phases: Phases) -> dict[str, int]:
    protected, both = case.protected, _joined(phases)
    counts = trails.count(both, protected)
    outside = ~case.domain.contains(trails.distinct_discriminatory(both, protected))
    return {
        "n_seeds": len(case.seeds),
        "global_discriminatory": trails.count(phases.global_, protected).n_discriminatory,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "n_queries": counts.n_queries,
        "n_outside": int(outside.sum()),
    }


def _search_globally(case: Case, settings: object, effort: Effort, repetition: int) -> int:
    """Return what symbolic generation finds globally alone; together, its local search crowds that out."""
    options = {"limit": len(case.seeds), "seed": effort.seed + repetition, "settings": settings}
    places = case.domain, case.protected
    trail = symbolic.global_search(case.model, case.X, case.seeds, *places, **options)
    return trails.count(trail, case.protected).n_discriminatory


def _curve(case: Case, phases: Phases) -> pd.DataFrame:
    """Return what both phases together have found after equal steps along the trail."""
    both = _joined(phases)
    new, new_discriminatory = trails.first_visits(both, case.protected)
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
