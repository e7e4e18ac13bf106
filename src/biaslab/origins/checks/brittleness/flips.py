"""Whether the documents that were predicted to flip the sign of a bias do so: retraining without them."""

import math
from pathlib import Path

import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.stats import mean_interval, share_interval
from biaslab.origins.attribution.estimates import SET, SUM
from biaslab.origins.attribution.registry import RANKINGS

FLIPPED, NOT_FLIPPED, UNDECIDED = VERDICTS = ("flipped", "not flipped", "undecided")
"""The interval of the mean is on the other side of 0; is on the side of the whole corpus; holds 0."""

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


def verdict(low: float, high: float, bias: float) -> str:
    """Say whether the sign of `bias` flipped, from the interval of the mean without the documents."""
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
    """Tell whether the documents that were predicted to flip the sign of a bias do so.

    `retrained` are the bias without the sets, of any jobs.
    """
    columns = ("set", "weat", "seed", "effect_size", "documents_sha256")
    measured = pd.concat([read_tsv(path, columns) for path in retrained], ignore_index=True)
    predicted, ways = read_tsv(numbers, text=("problem",)), read_tsv(paths)
    before, removed, parts = read_tsv(baseline), read_parquet(sets), []
    for weat, of_test in predicted.groupby("weat", sort=False):
        own, of_way, after, whole = (t[t["weat"] == weat] for t in (removed, ways, measured, before))
        found = outcomes(own, of_way, after, whole["effect_size"].mean())
        parts.append((found, brackets(of_test, found, whole["effect_size"])))
    for to, tables in zip((outcomes_table, brackets_table), zip(*parts, strict=True), strict=True):
        write_tsv(to, pd.concat(tables, ignore_index=True))


def outcomes(sets: pd.DataFrame, paths: pd.DataFrame, retrained: pd.DataFrame, bias: float) -> pd.DataFrame:
    """Set what was predicted without each set of a test beside what was seen: ``brittleness/outcomes.tsv``.

    `sets` and `paths` are what `biaslab.origins.checks.brittleness.analysis.predict_flips` returned.
    """
    predicted = {
        form: rows.set_index(["estimator", "size"])["predicted"]
        for form, rows in paths.groupby("form", sort=False)
    }
    rows = []
    for s in sets.drop_duplicates("set").itertuples():
        of_set = retrained[retrained["set"] == s.set]
        if of_set.empty:
            raise InputError(f"{s.set}: no retraining without it; retrain the sets again")
        after, key = of_set["effect_size"], (s.estimator, s.size)
        row = [s.weat, s.estimator, s.multiple, s.set, s.size, of_set["documents_sha256"].iloc[0]]
        row += [predicted[form].get(key, math.nan) if form in predicted else math.nan for form in (SUM, SET)]
        n, flipped, interval = len(after), int((after * bias < 0).sum()), mean_interval(after)
        row += [n, after.mean(), *interval, flipped, flipped / n, *share_interval(flipped, n)]
        rows.append([*row, verdict(*interval, bias)])
    return pd.DataFrame(rows, columns=COLUMNS["brittleness/outcomes"])


def brackets(numbers: pd.DataFrame, found: pd.DataFrame, baseline: pd.Series) -> pd.DataFrame:
    """Say between which numbers of documents each ranking of a test flips: ``brittleness/brackets.tsv``.

    `found` is what `outcomes` returned, `baseline` the effect sizes of the whole corpus.
    """
    mean, interval = baseline.mean(), mean_interval(baseline)
    weat, rows = numbers["weat"].iloc[0], []
    by_form = dict(numbers.set_index(["estimator", "form"]).iterrows())
    for ranking in RANKINGS:
        added, whole = by_form.get((ranking, SUM)), by_form.get((ranking, SET))
        about = [math.nan, pd.NA, pd.NA, pd.NA, pd.NA, ""]
        if whole is not None:
            about = [whole["bias"], whole["n_candidates"], added["n_documents"], whole["n_documents"]]
            about += [whole["turns_back"], whole["problem"]]
        of_ranking = found[found["estimator"] == ranking]
        above, up_to = _bracket(of_ranking)
        rows.append([weat, ranking, *about, len(of_ranking), above, up_to, mean, *interval])
    whole_numbers = ["n_candidates", "predicted_sum", "predicted_set", "turns_back", "above", "up_to"]
    table = pd.DataFrame(rows, columns=COLUMNS["brittleness/brackets"])
    return table.astype(dict.fromkeys(whole_numbers, "Int64"))


def _bracket(found: pd.DataFrame) -> tuple[int, int | None]:
    flips = found.loc[found["verdict"] == FLIPPED, "size"]
    up_to = int(flips.min()) if len(flips) else None
    stays = found.loc[found["verdict"] == NOT_FLIPPED, "size"]
    stays = stays if up_to is None else stays[stays < up_to]
    return int(stays.max()) if len(stays) else 0, up_to
