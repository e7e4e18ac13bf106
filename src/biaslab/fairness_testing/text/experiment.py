"""The networks of an experiment: training on a corpus, and quality (Table III)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.settings import OWN, PROPOSED, SAME, Campaign
from biaslab.fairness_testing.text.corpus import Prepared, holding, load_prepared, measure_quality
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.fairness_testing.text.search import (
    GLOBAL,
    LOCAL,
    MAX_ITER,
    STRATEGIES,
    Finds,
    GlobalSearch,
    LocalSearch,
    count_global,
    count_local,
    distinct,
    draw_numbers,
    draw_rows,
    global_finds,
    join_finds,
    key,
    local_finds,
    save_finds,
    search_globally,
    search_locally,
    starts_of,
)
from biaslab.text.corpora import TEST, TRAIN, VALIDATION
from biaslab.text.recurrent import Recurrent, initial_recurrent, load_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent


def seed_of(seed: int, kind: str, number: int) -> int:
    """Return the seed of a training."""
    return int(stream(seed, "text network", kind, number).integers(2**31))


def train_networks(
    folder: Path, kinds: Sequence[str], repetitions: int, training: TrainingSettings, seed: int
) -> None:
    """Train networks several times: KIND/network-N.npz, models.tsv and training.tsv of each type."""
    prepared = load_prepared(folder)
    sizes = {f"n_{part}": len(prepared.parts[part].texts) for part in (TRAIN, TEST)}
    for kind in kinds:
        models, histories = [], []
        for number in range(repetitions):
            of_number = seed_of(seed, kind, number)
            start = initial_recurrent(kind, prepared.lexicon.vectors, of_number)
            train, validation = prepared.parts[TRAIN], prepared.parts[VALIDATION]
            network, history = train_recurrent(start, *train, training, of_number, validation)
            network.save(network_file(folder, kind, number))
            measured = measure_quality(network, prepared.parts[TEST])
            kept = int(history.loc[history["is_kept"].astype(bool), "epoch"].iloc[0])
            models.append({"model": kind, "repetition": number} | sizes | measured | {"epoch": kept})
            histories.append(history.assign(repetition=number))
        write_tsv(folder / kind / "models.tsv", pd.DataFrame(models))
        write_tsv(folder / kind / "training.tsv", pd.concat(histories, ignore_index=True))


def network_file(folder: Path, kind: str, number: int) -> Path:
    """Return the file of a network's weights."""
    return folder / kind / f"network-{number}.npz"


def load_network(folder: Path, kind: str, number: int, prepared: Prepared) -> Recurrent:
    """Read a network of the experiment."""
    return load_recurrent(network_file(folder, kind, number), prepared.lexicon.vectors)


RP, ADF = "rp", "adf"  # the testers of the local phase: random words, and words chosen by gradients
RETRAINED = (PROPOSED, "asc", "hf", "adf_hf")
"""The strategies with finds on training texts for retraining (Tables XIII and XIV)."""


@dataclass(frozen=True)
class Case:
    """The subject of a search: a training of a network, by its number, and a feature."""

    kind: str
    number: int
    feature: str
    subject: TextSubject

    def draws(self, effort: Campaign, what: str, rows: np.ndarray, steps: int) -> np.ndarray:
        """Return the random numbers of a search of this case."""
        return draw_numbers(effort.seed, f"{self.kind} {self.feature} {self.number} {what}", rows, steps)


Tables = Mapping[str, list[dict[str, str | int]]]  # the rows of result tables, in order of arrival


def search_networks(folder: Path, kind: str, repetitions: int, effort: Campaign, threads: int = 1) -> None:
    """Search all trainings of a network by all strategies: KIND/global.tsv, local.tsv and found.npz."""
    set_threads(threads)
    prepared, tables, finds = load_prepared(folder), defaultdict(list), {}
    for case in cases(folder, kind, repetitions, prepared):
        seeds = seeds_of(prepared, TEST, case.feature, effort)
        finds |= _search_case(case, prepared, seeds, effort, tables)
        if case.number == 0:
            finds |= _search_training_texts(case, prepared, effort)
    for name, parts in tables.items():
        write_tsv(folder / kind / f"{name}.tsv", pd.DataFrame(parts))
    save_finds(folder / kind / "found.npz", finds)


def cases(folder: Path, kind: str, repetitions: int, prepared: Prepared) -> Iterator[Case]:
    """Yield the cases, training by training, feature by feature."""
    for number in range(repetitions):
        network = load_network(folder, kind, number, prepared)
        for feature, values in prepared.values.items():
            yield Case(kind, number, feature, TextSubject(network, values, prepared.neighbours))


def seeds_of(prepared: Prepared, part: str, feature: str, effort: Campaign) -> np.ndarray:
    """Return the sorted rows of the texts from which searches start: each contains a value of the feature."""
    rows = np.flatnonzero(holding(prepared.parts[part].texts, prepared.values[feature]))
    return rows[draw_rows(len(rows), effort.seeds, effort.seed, "text seeds", part, feature)]


def _search_case(
    case: Case, prepared: Prepared, rows: np.ndarray, effort: Campaign, tables: Tables
) -> dict[str, Finds]:
    """Search a case by all strategies and both local testers; add to the tables, and return the finds."""
    texts, finds, searches = prepared.parts[TEST].texts.take(rows), {}, {}
    for name, strategy in STRATEGIES.items():
        draws = case.draws(effort, f"global {name}", rows, MAX_ITER)
        search = searches[name] = search_globally(case.subject, texts, strategy, draws)
        n_raw, n_found = count_global(search)
        counts = {"n_seeds": len(rows), "n_raw": n_raw, "n_found": n_found}
        tables["global"].append(_row(case, {"strategy": name}, counts, search))
        finds[key(TEST, case.feature, case.number, GLOBAL, name)] = global_finds(search, rows)
    local = {
        (RP, OWN): _walk(case, searches[RP], rows, effort, RP),
        (RP, SAME): _walk(case, searches[PROPOSED], rows, effort, RP),
        (ADF, OWN): _walk(case, searches[PROPOSED], rows, effort, ADF),
    }
    local[ADF, SAME] = local[ADF, OWN]
    for (tester, start), (search, origins) in local.items():
        n_texts, n_found = count_local(search)
        counts = {"n_starts": len(origins), "n_texts": n_texts, "n_discriminatory": n_found}
        tables["local"].append(_row(case, {"tester": tester, "start": start}, counts, search))
        if start == OWN:
            name = key(TEST, case.feature, case.number, LOCAL, tester)
            finds[name] = local_finds(search, origins)
    return finds


def found_texts(found: Mapping[str, Finds], part: str, feature: str, number: int, tester: str) -> Finds:
    """Return the finds of both phases on a part of the corpus, for one training, each text once."""
    searches = (GLOBAL, tester), (LOCAL, ADF if part == TEST else tester)
    joined = join_finds([found[key(part, feature, number, *search)] for search in searches])
    return joined.take(distinct(joined.texts))


def _search_training_texts(case: Case, prepared: Prepared, effort: Campaign) -> dict[str, Finds]:
    """Search the training texts by the strategies used for retraining, in both phases."""
    rows = seeds_of(prepared, TRAIN, case.feature, effort)
    texts, finds = prepared.parts[TRAIN].texts.take(rows), {}
    for name in RETRAINED:
        draws = case.draws(effort, f"training global {name}", rows, MAX_ITER)
        search = search_globally(case.subject, texts, STRATEGIES[name], draws)
        finds[key(TRAIN, case.feature, 0, GLOBAL, name)] = global_finds(search, rows)
        walked, origins = _walk(case, search, rows, effort, ADF, f"training {name} ")
        finds[key(TRAIN, case.feature, 0, LOCAL, name)] = local_finds(walked, origins)
    return finds


def _walk(
    case: Case, search: GlobalSearch, rows: np.ndarray, effort: Campaign, tester: str, what: str = ""
) -> tuple[LocalSearch, np.ndarray]:
    """Return the walks from the finds of a global phase, and the row in which each begins."""
    starts = starts_of(search)
    origins = rows[starts]
    draws = case.draws(effort, f"{what}local {tester}", origins, effort.hops)
    texts = search.texts.take(starts)
    return search_locally(case.subject, texts, effort.hops, tester == ADF, draws), origins


def _row(
    case: Case, names: dict[str, str], counts: dict[str, int], search: GlobalSearch | LocalSearch
) -> dict[str, str | int]:
    """Return a row of a table: the search, its counts and its costs."""
    costs = {column: int(getattr(search, column).sum()) for column in ("n_queries", "n_gradients")}
    row = {"model": case.kind, "feature": case.feature} | names
    return row | {"repetition": case.number} | counts | costs
