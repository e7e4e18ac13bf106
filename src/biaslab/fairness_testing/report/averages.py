"""The averages over all settings in the text of the paper (Zhang et al. 2021, Section 5.2)."""

from collections.abc import Mapping

import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.names import CONTROL, FULL, PUBLISHED, SETTING, SHARED
from biaslab.fairness_testing.report.results import AUTHORS_DATA, RIVALS, TESTER_NAMES, ratio, with_rates

MEASURES = {
    "samples_ratio_aequitas": "Samples, ADF over AEQUITAS",
    "discriminatory_ratio_aequitas": "Discriminatory samples, ADF over AEQUITAS",
    "success_aequitas": "Success rate of AEQUITAS (%)",
    "success_adf": "Success rate of ADF (%)",
    "success_symbolic": "Success rate of SG (%)",
    "samples_ratio_symbolic": "Samples per model query, ADF over SG",
    "discriminatory_ratio_symbolic": "Discriminatory samples per model query, ADF over SG",
    "global_increase_aequitas": "Global phase, ADF more than AEQUITAS (%)",
    "global_increase_symbolic": "Global phase, ADF more than SG (%)",
    "local_increase_aequitas": "Local phase, ADF more than AEQUITAS (%)",
    "local_increase_symbolic": "Local phase, ADF more than SG (%)",
    "cost_share_aequitas": "Model queries per discriminatory sample, ADF in % of AEQUITAS",
    "cost_share_symbolic": "Model queries per discriminatory sample, ADF in % of SG",
    "improvement_control": "Discrimination removed by retraining with nothing added (%)",
    "improvement_aequitas": "Discrimination removed by retraining with AEQUITAS (%)",
    "improvement_symbolic": "Discrimination removed by retraining with SG (%)",
    "improvement_adf": "Discrimination removed by retraining with ADF (%)",
    "growth_samples_aequitas": "New samples of AEQUITAS, second half of the seeds over first",
    "growth_discriminatory_aequitas": "New discriminatory ones of AEQUITAS, second half over first",
    "growth_samples_adf": "New samples of ADF, second half of the seeds over first",
    "growth_discriminatory_adf": "New discriminatory ones of ADF, second half over first",
}
_REPETITION = [*SETTING, "repetition"]


def averages(
    counts: pd.DataFrame, local: pd.DataFrame, retraining: pd.DataFrame, curves: pd.DataFrame
) -> pd.DataFrame:
    """Average every measure over all settings of the authors' data, and of each other classifier.

    The measure is computed per setting and repetition, then averaged over the settings (a mean of ratios, as
    in the paper), then over the repetitions. Classifiers that are averaged jointly, joined by + in ``data``,
    have one row each with equal numbers. Repetitions that lack a setting are omitted. Intervals are
    Student's, over the repetitions.
    """
    compared = pd.concat(
        [_of_counts(counts), _of_local(local), _of_retraining(retraining), _of_curves(curves)],
        ignore_index=True,
    )
    settings = pd.MultiIndex.from_frame(counts[SETTING].drop_duplicates())
    rows = []
    classifiers = list(settings.unique("classifier"))
    authors = [c for c in classifiers if c in AUTHORS_DATA]  # averaged jointly; every other one alone
    for members in [authors] * bool(authors) + [[c] for c in classifiers if c not in AUTHORS_DATA]:
        own = settings[settings.isin(members, level="classifier")]
        part = compared[compared["classifier"].isin(members)]
        order = part["measure"].map(list(MEASURES).index)
        part = part.assign(order=order).sort_values("order", kind="stable")
        for (measure, rule), values in part.groupby(["measure", "label_rule"], sort=False):
            wide = values.pivot(index="repetition", columns=SETTING, values="value")
            means = wide.reindex(columns=own).dropna().mean(axis=1)
            if len(means):
                row = ["+".join(members), measure, rule, len(own), len(means), means.mean()]
                rows += [[classifier, *row, *mean_interval(means)] for classifier in members]
    columns = ["classifier", "data", "measure", "label_rule", "n_settings", "n_repetitions"]
    return pd.DataFrame(rows, columns=[*columns, "mean", "ci_low", "ci_high"])


def growth(curve: pd.DataFrame, column: str) -> float:
    """Return the finds of the second half of the seeds relative to the first half, 1 for a straight line."""
    first = curve.loc[curve["n_seeds"] <= curve["n_seeds"].max() / 2, column].max()
    return (curve[column].max() - first) / first if first > 0 else float("nan")


def _of_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Compare the testers by their counts (Tables IV, V, VI and X)."""
    published = with_rates(counts[counts["mode"] == PUBLISHED])
    values = {}
    for column, rival in (("n_{}", "aequitas"), ("{}_per_1000", "symbolic")):
        for count in ("samples", "discriminatory"):
            values[f"{count}_ratio_{rival}"] = _against(published, column.format(count), rival)
    for rival in RIVALS:
        values[f"global_increase_{rival}"] = 100 * (_against(published, "global_discriminatory", rival) - 1)
        values[f"cost_share_{rival}"] = 100 * _against(published, "queries_per_1000", rival)
    for tester in ("adf", *RIVALS):
        values[f"success_{tester}"] = _by_tester(published, "success")[tester]
    return _tidy(values)


def _of_local(local: pd.DataFrame) -> pd.DataFrame:
    """Compare the local phases at equal seeds and hops (Table VII), which are few for SG."""
    published = local[local["mode"] == PUBLISHED]
    values = {}
    for rival, budget in (("aequitas", FULL), ("symbolic", SHARED)):
        ratios = _against(published[published["budget"] == budget], "mean_discriminatory", rival)
        values[f"local_increase_{rival}"] = 100 * (ratios - 1)
    return _tidy(values)


def _of_retraining(retraining: pd.DataFrame) -> pd.DataFrame:
    """Return the share of the discrimination that retraining removes (Table XII)."""
    removed = 100 * (1 - ratio(retraining["share_after"], retraining["share_before"]))
    added = retraining["tester"].replace({CONTROL: "control"})
    table = retraining.assign(measure="improvement_" + added, value=removed)
    return table[[*_REPETITION, "measure", "label_rule", "value"]]


def _of_curves(curves: pd.DataFrame) -> pd.DataFrame:
    """Return how steadily the local phases find new samples (Figure 7)."""
    rows = [
        [*setting, 0, f"growth_{count}_{tester}", "", growth(part, f"n_{count}")]
        for (*setting, tester), part in curves.groupby([*SETTING, "tester"], sort=False)
        for count in ("samples", "discriminatory")
    ]
    return pd.DataFrame(rows, columns=[*_REPETITION, "measure", "label_rule", "value"])


def _against(table: pd.DataFrame, column: str, rival: str) -> pd.Series:
    """Return ADF's number divided by a rival's, if both are present."""
    wide = _by_tester(table, column)
    return ratio(wide["adf"], wide[rival])


def _by_tester(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column as one column per tester, missing for testers that were not run."""
    wide = table.set_index([*_REPETITION, "tester"])[column].unstack("tester")
    return wide.reindex(columns=list(TESTER_NAMES))


def _tidy(values: Mapping[str, pd.Series]) -> pd.DataFrame:
    table = pd.concat(values, names=["measure"]).reset_index(name="value").dropna(subset="value")
    return table.assign(label_rule="")[[*_REPETITION, "measure", "label_rule", "value"]]
