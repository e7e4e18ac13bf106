"""Brittleness: predict the fewest documents whose removal flips the sign of a bias, and test by retraining.

The data support of a prediction is the smallest part of the training data whose removal changes it. An
attribution gives an upper bound: the first documents of its ranking (Ilyas et al. 2022, Section 4; Park et
al. 2023). The approximate maximum influence perturbation asks the same question for the sign of an estimate,
with sums of influences (Broderick et al. 2020).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, share_interval
from biaslab.origins.attribution.estimates import SET, SUM, read
from biaslab.origins.attribution.registry import ATTRIBUTIONS, RANKINGS, Attribution
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.attribution.tables import estimate_sets
from biaslab.origins.expansion import of_test
from biaslab.origins.sets import RANDOM, flip_set

MOST = 0.5  # largest share of the documents to remove
N_PREFIXES = 30  # number of prefixes of a ranking that a pass of the search evaluates

FLIPPED, NOT_FLIPPED, UNDECIDED = ("flipped", "not flipped", "undecided")
"""The interval of the mean has the other sign; has the sign of the entire corpus; contains 0."""

_NO_PREFIX = "no prefix flips it"
_OTHER_SIGN = "has the other sign to begin with"
COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


class Ranking(NamedTuple):
    """An attribution of a test, averaged over all baselines."""

    name: str
    bias: float  # the effect size with all documents, in the representation of the attribution
    values: np.ndarray  # (n_documents,) float64, B(w) - B(w~) of each document
    without: Callable[[list[np.ndarray]], np.ndarray]  # the effect sizes without the documents of each set


def write_predictions(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    differential_bias: list[Path],
    ppmi: list[Path],
    baseline: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    multiples: list[float],
    seed: int,
    numbers: Path,
    paths: Path,
    sets: Path,
    threads: int = 1,
) -> None:
    """Write the predicted fewest documents that flip the sign of a bias, and the sets to retrain without."""
    scanner, tests = read_scanner(embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads)
    before = read_tsv(baseline, ("weat", "effect_size")).groupby("weat")["effect_size"].mean()
    tables, parts = {"differential_bias": differential_bias, "ppmi": ppmi}, []
    for test in tests:
        documents = {name: read_parquet(of_test(files, test.name)) for name, files in tables.items()}
        bias = float(before.get(test.name, math.nan))
        test_rankings = rankings(scanner, test, documents, bias)
        parts.append(predict_flips(test_rankings, bias, multiples, test.name, seed))
    all_numbers, all_paths, all_sets = (pd.concat(p, ignore_index=True) for p in zip(*parts, strict=True))
    write_tsv(numbers, all_numbers)
    write_tsv(paths, all_paths)
    write_parquet(sets, all_sets)


def rankings(
    scanner: Scanner, weat: WeatIndices, tables: Mapping[str, pd.DataFrame], bias: float
) -> list[Ranking]:
    """Return the rankings of a test by all attributions; `tables` are its estimates by folder."""
    return [
        _ranking(attribution, scanner, weat, tables[attribution.table], bias) for attribution in ATTRIBUTIONS
    ]


def _ranking(
    attribution: Attribution, scanner: Scanner, weat: WeatIndices, table: pd.DataFrame, bias: float
) -> Ranking:
    name, values = attribution.name, read(attribution, table)
    if np.isnan(values).any():
        raise InputError(f"{weat.name}: {name} gives no estimate for a document; increase bias.damping")
    estimate = partial(estimate_sets, name, scanner, weat)
    if attribution.per_baseline:
        means = values.mean(axis=0)
        return Ranking(name, bias, means, lambda sets: bias - estimate(sets).values.mean(axis=0))
    return Ranking(name, float(estimate([]).bias[0]), values[0], lambda sets: estimate(sets).without[0])


def candidates(values: np.ndarray, bias: float) -> np.ndarray:
    """Rank the documents whose removal moves a bias towards the other sign, by B(w) - B(w~).

    The strongest documents are first; ties are in the order of the corpus. At most `MOST` of all are ranked.
    """
    towards = math.copysign(1, bias) * values
    ranked = np.argsort(-towards, kind="stable")
    return ranked[: min(int((towards > 0).sum()), int(MOST * len(values)))]


def first_flip(path: pd.DataFrame, bias: float) -> int | None:
    """Return the smallest size on a path at which the predicted bias has the other sign than `bias`."""
    flips = path.loc[path["predicted"] * bias < 0, "size"]
    return int(flips.min()) if len(flips) else None


def search(ranking: Ranking, ranked: np.ndarray, bias: float, n_prefixes: int = N_PREFIXES) -> pd.DataFrame:
    """Search the smallest prefix of a ranking whose joint removal is predicted to flip the bias.

    Return the evaluated prefixes, ascending: size, predicted. If the prediction crosses zero more than once
    between two prefixes of the first pass, the search can miss a smaller prefix.
    """
    path = pd.DataFrame({"size": np.empty(0, np.int64), "predicted": np.empty(0)})
    sizes = (
        np.unique(np.geomspace(1, len(ranked), n_prefixes).round().astype(np.int64)) if len(ranked) else []
    )
    while len(sizes):
        predicted = ranking.without([ranked[:size] for size in sizes])
        path = _join(path, pd.DataFrame({"size": sizes, "predicted": predicted}))
        sizes = _sizes_between(path["size"], first_flip(path, bias), n_prefixes)
    return path


def _sizes_between(evaluated: pd.Series, flip: int | None, n_prefixes: int) -> np.ndarray:
    """Return sizes between the smallest that flips and the next smaller evaluated size."""
    if flip is None:
        return np.empty(0, np.int64)
    below = int(evaluated[evaluated < flip].max()) if (evaluated < flip).any() else 0
    inside = np.arange(below + 1, flip)
    return inside[
        np.unique(np.linspace(0, len(inside) - 1, n_prefixes).round().astype(np.int64))[: len(inside)]
    ]


def _join(*paths: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(paths).drop_duplicates("size").sort_values("size", ignore_index=True)


def predict_flips(
    all_rankings: Sequence[Ranking], bias: float, multiples: Sequence[float], weat: str, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Predict the number of documents that flip the sign of a bias, and select the sets for retraining.

    Return ``brittleness/numbers.tsv``, ``paths.tsv`` and ``sets.parquet`` of one test. The sizes of the sets
    are `multiples` of the number predicted for the joint removal (`SET`), or by sums (`SUM`) if `SET`
    predicts no flip. For each multiple, the random set is as large as the largest other set.
    """
    if not abs(bias) > 0:
        raise InputError(
            f"{weat}: the mean bias of the baselines is 0 or undefined and has no sign; use other words"
        )
    numbers, paths, sets = [], [], []
    for ranking in all_rankings:
        ranked = candidates(ranking.values, bias)
        by_sum = ranking.bias - np.cumsum(ranking.values[ranked])
        sums = pd.DataFrame({"size": np.arange(1, len(ranked) + 1), "predicted": by_sum})
        by_form = {SUM: sums, SET: search(ranking, ranked, bias)}
        rows = {form: _number(ranking.bias, path, bias) for form, path in by_form.items()}
        number, n_ranked = rows[SET][0] or rows[SUM][0], len(ranked)
        sizes = {min(math.ceil(m * number), n_ranked): m for m in multiples} if number else {}
        if new := sorted(set(sizes) - set(by_form[SET]["size"])):
            predicted = ranking.without([ranked[:size] for size in new])
            by_form[SET] = _join(by_form[SET], pd.DataFrame({"size": new, "predicted": predicted}))
        numbers += [[weat, ranking.name, f, ranking.bias, len(ranked), *row] for f, row in rows.items()]
        paths += [path.assign(weat=weat, estimator=ranking.name, form=f) for f, path in by_form.items()]
        sets += [_rows(weat, ranking.name, m, ranked[:size]) for size, m in sizes.items()]
    order = stream(seed, "brittleness", weat).permutation(len(all_rankings[0].values))
    largest: dict[float, int] = {}  # size of the largest set by multiple: random sets are nested
    for rows in sets:
        multiple, size = rows["multiple"].iloc[0], rows["size"].iloc[0]
        largest[multiple] = max(largest.get(multiple, 0), size)
    by_size = {size: multiple for multiple, size in largest.items()}
    sets += [_rows(weat, RANDOM, multiple, order[:size]) for size, multiple in by_size.items()]
    path_table = pd.concat(paths, ignore_index=True)[list(COLUMNS["brittleness/paths"])]
    number_table = pd.DataFrame(numbers, columns=COLUMNS["brittleness/numbers"])
    number_table = number_table.astype({"n_documents": "Int64", "turns_back": "Int64"})
    return number_table, path_table, pd.concat([_rows(weat, "", 0.0, []), *sets], ignore_index=True)


def _number(own_bias: float, path: pd.DataFrame, bias: float) -> list:
    """Return the number of documents, the size where the path turns back, its extreme, and the problem."""
    if not own_bias * bias > 0:
        return [None, None, math.nan, _OTHER_SIGN]
    flip = first_flip(path, bias)
    towards = path["predicted"] * -math.copysign(1, bias)
    farthest = path["predicted"][towards.idxmax()] if towards.notna().any() else math.nan
    if flip is None:
        return [None, None, farthest, _NO_PREFIX]
    back = path.loc[(path["size"] > flip) & (path["predicted"] * bias > 0), "size"]
    return [flip, int(back.min()) if len(back) else None, farthest, ""]


def _rows(weat: str, ranking: str, multiple: float, documents: Sequence[int]) -> pd.DataFrame:
    size, numbers = len(documents), np.sort(np.asarray(documents, np.int64))
    columns = [flip_set(weat, ranking, size), weat, ranking, float(multiple), size, numbers]
    return pd.DataFrame(dict(zip(COLUMNS["brittleness/sets"], columns, strict=True)))


def verdict(low: float, high: float, bias: float) -> str:
    """Return whether the sign of `bias` flipped, given the interval of the mean without the documents."""
    if math.isnan(low) or low * high <= 0:
        return UNDECIDED
    return NOT_FLIPPED if low * bias > 0 else FLIPPED


def write_flips(
    retrained: list[Path],
    sets: Path,
    numbers: Path,
    paths: Path,
    baseline: Path,
    outcomes_table: Path,
    brackets_table: Path,
) -> None:
    """Write whether the removals that were predicted to flip the sign of a bias flip it."""
    columns = ("set", "weat", "seed", "effect_size", "documents_sha256")
    measured = pd.concat([read_tsv(path, columns) for path in retrained], ignore_index=True)
    tables, parts = (read_parquet(sets), read_tsv(paths), measured, read_tsv(baseline)), []
    for weat, predicted in read_tsv(numbers, text=("problem",)).groupby("weat", sort=False):
        removed, predicted_paths, after, before = (t[t["weat"] == weat] for t in tables)
        rows = outcomes(removed, predicted_paths, after, before["effect_size"].mean())
        parts.append((rows, brackets(predicted, rows, before["effect_size"])))
    for path, outputs in zip((outcomes_table, brackets_table), zip(*parts, strict=True), strict=True):
        write_tsv(path, pd.concat(outputs, ignore_index=True))


def outcomes(sets: pd.DataFrame, paths: pd.DataFrame, retrained: pd.DataFrame, bias: float) -> pd.DataFrame:
    """Compare predictions and observations without each set of a test: ``brittleness/outcomes.tsv``."""
    predicted = {
        form: rows.set_index(["estimator", "size"])["predicted"]
        for form, rows in paths.groupby("form", sort=False)
    }
    rows = []
    for s in sets.drop_duplicates("set").itertuples():
        of_set = retrained[retrained["set"] == s.set]
        if of_set.empty:
            raise InputError(f"{s.set}: the retrainings without the set are missing; rerun the retrainings")
        after, key = of_set["effect_size"], (s.estimator, s.size)
        row = [s.weat, s.estimator, s.multiple, s.set, s.size, of_set["documents_sha256"].iloc[0]]
        row += [predicted[form].get(key, math.nan) if form in predicted else math.nan for form in (SUM, SET)]
        n, flipped, interval = len(after), int((after * bias < 0).sum()), mean_interval(after)
        row += [n, after.mean(), *interval, flipped, flipped / n, *share_interval(flipped, n)]
        rows.append([*row, verdict(*interval, bias)])
    return pd.DataFrame(rows, columns=COLUMNS["brittleness/outcomes"])


def brackets(numbers: pd.DataFrame, observed: pd.DataFrame, baseline: pd.Series) -> pd.DataFrame:
    """Bound the number of documents at which each ranking of a test flips: ``brittleness/brackets.tsv``."""
    mean, interval = baseline.mean(), mean_interval(baseline)
    weat, rows = numbers["weat"].iloc[0], []
    by_form = dict(numbers.set_index(["estimator", "form"]).iterrows())
    for ranking in RANKINGS:
        by_sum, by_set = by_form.get((ranking, SUM)), by_form.get((ranking, SET))
        predicted = [math.nan, pd.NA, pd.NA, pd.NA, pd.NA, ""]
        if by_set is not None:
            predicted = [by_set["bias"], by_set["n_candidates"], by_sum["n_documents"], by_set["n_documents"]]
            predicted += [by_set["turns_back"], by_set["problem"]]
        of_ranking = observed[observed["estimator"] == ranking]
        flips, stays = (of_ranking.loc[of_ranking["verdict"] == v, "size"] for v in (FLIPPED, NOT_FLIPPED))
        up_to = int(flips.min()) if len(flips) else None
        stays = stays if up_to is None else stays[stays < up_to]
        above = int(stays.max()) if len(stays) else 0
        rows.append([weat, ranking, *predicted, len(of_ranking), above, up_to, mean, *interval])
    integers = ["n_candidates", "predicted_sum", "predicted_set", "turns_back", "above", "up_to"]
    table = pd.DataFrame(rows, columns=COLUMNS["brittleness/brackets"])
    return table.astype(dict.fromkeys(integers, "Int64"))
