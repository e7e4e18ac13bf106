"""The table of identifiers that the regularizer never saw, of all corpora together."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.core.tables import Table, text_columns
from biaslab.hate_speech.report.names import EVERY, VANILLA, is_fold, title, without_folds
from biaslab.hate_speech.report.results import of_methods, read_all
from biaslab.hate_speech.report.summaries import stacked, together, with_interval
from biaslab.run.reports import Results

WITHOUT, HELD_OUT, REGULARIZED = "without", "held_out", "regularized"
"""The classifier regularizes no identifier, all but this one and some others, or all."""
MEASURES = ("news_accuracy", "mean_abs_phi")
_KEYS = ["corpus", "method", "identifier"]


def held_out(units: Sequence[Results]) -> Table:
    """Return what regularization does for identifiers that it never saw."""
    data = unseen(read_all(units, "held_out"))
    named = data.assign(title=data["method"].map(title), identifier=data["identifier"].replace(EVERY, "mean"))
    for measure, scale, form in (("news_accuracy", 100, ".1f"), ("mean_abs_phi", 1, ".3f")):
        ends = (scale * data[f"{measure}_change{end}"] for end in ("", "_ci_low", "_ci_high"))
        named[f"{measure}_text"] = with_interval(*ends, f"+{form}")
        for status in (WITHOUT, HELD_OUT, REGULARIZED):
            named[f"{measure}_{status}"] = (scale * data[f"{measure}_{status}"]).map(f"{{:{form}}}".format)
            named.loc[data[f"{measure}_{status}"].isna(), f"{measure}_{status}"] = None
    shown = {"Corpus": "{corpus}", "Method": "{title}", "Identifier": "{identifier}", "Texts": "{n:,.0f}"}
    for measure, head in (("news_accuracy", "Accuracy (%)"), ("mean_abs_phi", "|φ|")):
        shown |= {
            f"{head}, encoder": f"{{{measure}_{WITHOUT}}}",
            f"{head}, held out": f"{{{measure}_{HELD_OUT}}}",
            f"{head}, regularized": f"{{{measure}_{REGULARIZED}}}",
            f"{head}, held out − regularized": f"{{{measure}_text}}",
        }
    note = (
        "Accuracy on news sentences with the identifier, and the mean absolute importance |φ| (SOC) of the"
        " identifier in sentences of the test set, under the encoder without regularization, under a"
        " classifier that regularizes other identifiers but not this one (held out), and under one that"
        " regularizes all. Mean over the seeds that all have; change with Student's 95% interval over the"
        " identifiers."
    )
    return Table(data, text_columns(named, shown), "Identifiers that were not regularized", note)


def unseen(rows: pd.DataFrame) -> pd.DataFrame:
    """Compare every identifier under a classifier that regularizes it, one that does not, and one of none.

    Columns corpus, method, identifier (`EVERY`: the mean over those that were held out), n (texts), n_seeds
    and, for each MEASURE of `MEASURES`, ``MEASURE_without``, ``MEASURE_held_out``, ``MEASURE_regularized``,
    means over the seeds in which the identifier was held out, and ``MEASURE_change``, held out minus
    regularized, of which the mean over the identifiers has Student's interval ``MEASURE_change_ci_low``,
    ``MEASURE_change_ci_high``.
    """
    held = of_methods(rows[~rows["is_regularized"]], is_fold)
    held = held.assign(method=held["method"].map(without_folds))
    trainings = held[[*_KEYS, "seed"]].drop_duplicates()
    plain = of_methods(rows, lambda method: not is_fold(method))
    encoder = plain[plain["method"] == VANILLA].drop(columns="method")
    found = held.groupby(_KEYS, sort=False).agg(n=("n", "max"), n_seeds=("seed", "nunique")).reset_index()
    same = [*_KEYS, "seed"]
    parts = {
        WITHOUT: trainings.merge(encoder, on=["corpus", "identifier", "seed"]),
        HELD_OUT: held,
        REGULARIZED: trainings.merge(plain, on=same),
    }
    for measure in MEASURES:
        for status, part in parts.items():
            means = part.groupby(_KEYS, sort=False)[measure].mean().rename(f"{measure}_{status}")
            found = found.merge(means.reset_index(), on=_KEYS, how="left")
        found[f"{measure}_change"] = found[f"{measure}_{HELD_OUT}"] - found[f"{measure}_{REGULARIZED}"]
    return together(stacked([_with_bounds(found), _means(found)]), ["corpus", "method"])


def _with_bounds(found: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of single identifiers, which have no interval."""
    bounds = {f"{measure}_change_ci_{end}": float("nan") for measure in MEASURES for end in ("low", "high")}
    return found.assign(**bounds)


def _means(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (corpus, method), part in found.groupby(["corpus", "method"], sort=False):
        row = {"corpus": corpus, "method": method, "identifier": EVERY, "n": part["n"].sum()}
        row |= {"n_seeds": part["n_seeds"].max()}
        for measure in MEASURES:
            names = [f"{measure}_{end}" for end in (WITHOUT, HELD_OUT, REGULARIZED, "change")]
            row |= part[names].mean().to_dict()
            ends = mean_interval(part[f"{measure}_change"].dropna())
            row |= dict(zip((f"{measure}_change_ci_low", f"{measure}_change_ci_high"), ends, strict=True))
        rows.append(row)
    return pd.DataFrame(rows, columns=_with_bounds(found).columns)
