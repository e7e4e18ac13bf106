"""The searches of an experiment on one kind of network: every strategy, every feature, every training."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.text import flips, trails
from biaslab.fairness_testing.text.corpus import Prepared, holding, load_prepared
from biaslab.fairness_testing.text.experiment import load_network
from biaslab.fairness_testing.text.finds import Finds, key, save_finds
from biaslab.fairness_testing.text.invariants import CHECKS, Invariants, verify_global, verify_local
from biaslab.fairness_testing.text.names import OWN, PROPOSED, SAME
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    GlobalSearch,
    LocalSearch,
    draw_numbers,
    search_globally,
    search_locally,
)
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.corpora import TEST, TRAIN
from biaslab.text.words import Texts

RP, ADF = "rp", "adf"
"""The testers of the local phase: random words, and words that the gradients choose."""
GLOBAL, LOCAL = "global", "local"
RETRAINED = (PROPOSED, "asc", "hf", "adf_hf")
"""The strategies whose finds on the training texts networks are retrained with (Tables XIII and XIV)."""


@dataclass(frozen=True)
class Effort:
    """How far is searched."""

    seeds: int  # texts that a search starts from, at most
    hops: int  # steps of the local phase
    seed: int


@dataclass(frozen=True)
class Case:
    """One search's object: a training of a network, by its number, and a feature."""

    kind: str
    number: int
    feature: str
    subject: TextSubject

    def searched(self, tester: str, phase: str) -> dict[str, str | int]:
        """Return what tells one of its searches from all others."""
        columns = {"model": self.kind, "feature": self.feature, "tester": tester, "phase": phase}
        return columns | {"repetition": self.number}

    def draws(self, effort: Effort, what: str, rows: np.ndarray, steps: int) -> np.ndarray:
        """Return the random numbers of one of its searches."""
        return draw_numbers(effort.seed, f"{self.kind} {self.feature} {self.number} {what}", rows, steps)


Tables = Mapping[str, list[pd.DataFrame]]
"""The parts of result tables, as they come."""


def search_networks(folder: Path, kind: str, repetitions: int, effort: Effort, threads: int = 1) -> None:
    """Search all trainings of a network by all strategies: KIND/*.tsv, seeds.parquet and found.npz."""
    set_threads(threads)
    prepared, tables, found = load_prepared(folder), defaultdict(list), {}
    for case in cases(folder, kind, repetitions, prepared):
        seeds = seeds_of(prepared, TEST, case.feature, effort)
        found |= _search_case(case, prepared, seeds, effort, tables)
        if case.number == 0:
            found |= _search_training_texts(case, prepared, effort)
    for name, parts in tables.items():
        table = pd.concat(parts, ignore_index=True)
        if name == "seeds":
            write_parquet(folder / kind / "seeds.parquet", table)
        else:
            write_tsv(folder / kind / f"{name}.tsv", table)
    save_finds(folder / kind / "found.npz", found)


def cases(folder: Path, kind: str, repetitions: int, prepared: Prepared) -> Iterator[Case]:
    """Yield what is searched, training by training, feature by feature."""
    for number in range(repetitions):
        network = load_network(folder, kind, number, prepared)
        for feature, values in prepared.values.items():
            yield Case(kind, number, feature, TextSubject(network, values, prepared.neighbours))


def seeds_of(prepared: Prepared, part: str, feature: str, effort: Effort) -> np.ndarray:
    """Return the rows of the texts, rising, that searches start from: each holds a value of the feature."""
    rows = np.flatnonzero(holding(prepared.parts[part].texts, prepared.values[feature]))
    if len(rows) <= effort.seeds:
        return rows
    rng = stream(effort.seed, "text seeds", part, feature)
    return np.sort(rng.choice(rows, effort.seeds, replace=False))


def _search_case(
    case: Case, prepared: Prepared, rows: np.ndarray, effort: Effort, tables: Tables
) -> dict[str, Finds]:
    """Search one case by all strategies and both local testers; add to the tables, and return the finds."""
    texts, found, searches = prepared.parts[TEST].texts.take(rows), {}, {}
    for name, strategy in STRATEGIES.items():
        draws = case.draws(effort, f"global {name}", rows, MAX_ITER)
        search = searches[name] = search_globally(case.subject, texts, strategy, draws)
        _record_global(case, name, search, rows, tables)
        verified = _checked(verify_global(case.subject, texts, search))
        tables["invariants"].append(pd.DataFrame([case.searched(name, GLOBAL) | verified]))
        found[key(TEST, case.feature, case.number, GLOBAL, name)] = _global_finds(search, rows)
    local = {
        (RP, OWN): _walk(case, searches[RP], rows, effort, RP),
        (RP, SAME): _walk(case, searches[PROPOSED], rows, effort, RP),
        (ADF, OWN): _walk(case, searches[PROPOSED], rows, effort, ADF),
    }
    local[ADF, SAME] = local[ADF, OWN]
    for (tester, start), (search, origins) in local.items():
        _record_local(case, tester, start, search, tables)
        if start == OWN:
            verified = _checked(verify_local(case.subject, search))
            tables["invariants"].append(pd.DataFrame([case.searched(tester, LOCAL) | verified]))
            name = key(TEST, case.feature, case.number, LOCAL, tester)
            found[name] = _local_finds(search, origins)
    if case.number == 0:
        _record_terms(case, texts, prepared, tables)
    return found


def _search_training_texts(case: Case, prepared: Prepared, effort: Effort) -> dict[str, Finds]:
    """Search the training texts by the strategies whose finds are retrained with, in both phases."""
    rows = seeds_of(prepared, TRAIN, case.feature, effort)
    texts, found = prepared.parts[TRAIN].texts.take(rows), {}
    for name in RETRAINED:
        draws = case.draws(effort, f"training global {name}", rows, MAX_ITER)
        search = search_globally(case.subject, texts, STRATEGIES[name], draws)
        found[key(TRAIN, case.feature, 0, GLOBAL, name)] = _global_finds(search, rows)
        walked, origins = _walk(case, search, rows, effort, ADF, f"training {name} ")
        found[key(TRAIN, case.feature, 0, LOCAL, name)] = _local_finds(walked, origins)
    return found


def _checked(verified: Invariants) -> dict[str, int]:
    """Return the counts of a verified search, after making sure that every pair passes every check."""
    counts = asdict(verified)
    failed = [name for name in CHECKS if counts[name] != verified.n_pairs]
    if failed:
        raise RuntimeError(f"a search found pairs that are none ({', '.join(failed)}): {counts}")
    return counts


def _walk(
    case: Case, search: GlobalSearch, rows: np.ndarray, effort: Effort, tester: str, what: str = ""
) -> tuple[LocalSearch, np.ndarray]:
    """Return the walks from what a global phase found, and the row that each begins with."""
    starts = trails.starts_of(search)
    origins = rows[starts]
    draws = case.draws(effort, f"{what}local {tester}", origins, effort.hops)
    texts = search.texts.take(starts)
    return search_locally(case.subject, texts, effort.hops, tester == ADF, draws), origins


def _global_finds(search: GlobalSearch, rows: np.ndarray) -> Finds:
    finds = trails.global_finds(search)
    return replace(finds, origins=rows[finds.origins])


def _local_finds(search: LocalSearch, rows: np.ndarray) -> Finds:
    finds = trails.local_finds(search)
    return replace(finds, origins=rows[finds.origins])


def _record_global(case: Case, name: str, search: GlobalSearch, rows: np.ndarray, tables: Tables) -> None:
    n_raw, n_found = trails.count_global(search)
    sums = {column: int(getattr(search, column).sum()) for column in ("n_queries", "n_gradients")}
    counts = {"n_seeds": len(rows), "n_raw": n_raw, "n_found": n_found}
    columns = {"model": case.kind, "feature": case.feature, "strategy": name, "repetition": case.number}
    tables["global"].append(pd.DataFrame([columns | counts | sums]))
    tables["seeds"].append(pd.DataFrame(columns | {"seed": rows, "found": search.found}))


def _record_local(case: Case, tester: str, start: str, search: LocalSearch, tables: Tables) -> None:
    n_texts, n_found = trails.count_local(search)
    sums = {column: int(getattr(search, column).sum()) for column in ("n_queries", "n_gradients")}
    counts = {"n_starts": len(search.starts), "n_texts": n_texts, "n_discriminatory": n_found}
    columns = {"model": case.kind, "feature": case.feature, "tester": tester, "start": start}
    tables["local"].append(pd.DataFrame([columns | {"repetition": case.number} | counts | sums]))
    if case.number == 0:
        curve = trails.curve(search)
        tables["curves"].append(pd.DataFrame(columns, index=curve.index).join(curve))


def _record_terms(case: Case, texts: Texts, prepared: Prepared, tables: Tables) -> None:
    """Add what each term costs: as a word of the texts, and put in the place of others."""
    counted = flips.count_flips(case.subject, texts)
    names = prepared.lexicon.decode(case.subject.values)
    words = flips.flip_table(names, counted.with_term, counted.flipped_without, "term")
    values = flips.flip_table(names, counted.without_term, counted.flipped_with, "value")
    for name, table in (("words", words), ("flips", values)):
        columns = pd.DataFrame({"model": case.kind, "feature": case.feature}, index=table.index)
        tables[name].append(columns.join(table))
