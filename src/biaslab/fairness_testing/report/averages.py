"""The averages over all settings in the text of the paper (Zhang et al. 2021, Section 5.2)."""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.report.results import (
    AUTHORS_DATA,
    BENCHMARK,
    FARTHER,
    GLOBAL_OF,
    METRIC_NAMES,
    RIVALS,
    ratio,
    tester_names,
    with_calls,
    with_rates,
)
from biaslab.fairness_testing.settings import (
    CERTIFIED,
    CONTROL,
    FULL,
    OWN,
    PROPOSED,
    PUBLISHED,
    SAME,
    SETTING,
    SHARED,
)

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
_Values = Iterator[tuple[str, str, pd.Series]]
"""Measures with label rule and values by benchmark and repetition."""


def averages(
    counts: pd.DataFrame, local: pd.DataFrame, retraining: pd.DataFrame, curves: pd.DataFrame
) -> pd.DataFrame:
    """Average every measure over all settings of the authors' data, and of each other classifier.

    The measure is averaged over the settings (a mean of ratios, as in the paper), then over the repetitions
    that have all settings. Classifiers that are averaged jointly, joined by + in ``data``, have one row each
    with equal numbers.
    """
    values = [*_of_counts(counts), *_of_local(local), *_of_retraining(retraining), *_of_curves(curves)]
    values.sort(key=lambda row: list(MEASURES).index(row[0]))
    settings = pd.MultiIndex.from_frame(counts[SETTING].drop_duplicates())
    rows = []
    classifiers = list(settings.unique("classifier"))
    authors = [c for c in classifiers if c in AUTHORS_DATA]  # averaged jointly; every other one alone
    for members in [authors] * bool(authors) + [[c] for c in classifiers if c not in AUTHORS_DATA]:
        own = settings[settings.isin(members, level="classifier")]
        for measure, rule, value in values:
            present = value.dropna()
            if len(present) and len(wide := present.unstack(SETTING).reindex(columns=own).dropna()):
                means = wide.mean(axis=1)
                row = ["+".join(members), measure, rule, len(own), len(means), means.mean()]
                rows += [[classifier, *row, *mean_interval(means)] for classifier in members]
    columns = ["classifier", "data", "measure", "label_rule", "n_settings", "n_repetitions"]
    return pd.DataFrame(rows, columns=[*columns, "mean", "ci_low", "ci_high"])


def growth(curve: pd.DataFrame, column: str) -> float:
    """Return the finds of the second half of the seeds relative to the first half, 1 for a straight line."""
    first = curve.loc[curve["n_seeds"] <= curve["n_seeds"].max() / 2, column].max()
    return (curve[column].max() - first) / first if first > 0 else float("nan")


def _of_counts(counts: pd.DataFrame) -> _Values:
    """Compare the testers by their counts (Tables IV, V, VI and X)."""
    published = with_rates(counts[counts["mode"] == PUBLISHED])
    for column, rival in (("n_{}", "aequitas"), ("{}_per_1000", "symbolic")):
        for count in ("samples", "discriminatory"):
            yield f"{count}_ratio_{rival}", "", _against(published, column.format(count), rival)
    for rival in RIVALS:
        increase = _against(published, "global_discriminatory", rival) - 1
        yield f"global_increase_{rival}", "", 100 * increase
        yield f"cost_share_{rival}", "", 100 * _against(published, "queries_per_1000", rival)
    success = _wide(published, "tester", "success", tester_names(), _REPETITION)
    for tester in ("adf", *RIVALS):
        yield f"success_{tester}", "", success[tester]


def _of_local(local: pd.DataFrame) -> _Values:
    """Compare the local phases at equal seeds and hops (Table VII), which are few for SG."""
    published = local[local["mode"] == PUBLISHED]
    for rival, budget in (("aequitas", FULL), ("symbolic", SHARED)):
        ratios = _against(published[published["budget"] == budget], "mean_discriminatory", rival)
        yield f"local_increase_{rival}", "", 100 * (ratios - 1)


def _of_retraining(retraining: pd.DataFrame) -> _Values:
    """Return the share of the discrimination that retraining removes (Table XII)."""
    removed = 100 * (1 - ratio(retraining["share_after"], retraining["share_before"]))
    for (tester, rule), part in retraining.assign(removed=removed).groupby(
        ["tester", "label_rule"], sort=False
    ):
        name = "control" if tester == CONTROL else tester
        yield f"improvement_{name}", rule, part.set_index(_REPETITION)["removed"]


def _of_curves(curves: pd.DataFrame) -> _Values:
    """Return how steadily the local phases find new samples (Figure 7)."""
    for tester, part in curves.assign(repetition=0).groupby("tester", sort=False):
        for count in ("samples", "discriminatory"):
            by_setting = part.groupby(_REPETITION, sort=False)[["n_seeds", f"n_{count}"]]
            yield f"growth_{count}_{tester}", "", by_setting.apply(growth, f"n_{count}")


def _against(table: pd.DataFrame, column: str, rival: str) -> pd.Series:
    """Return ADF's number divided by a rival's, if both are present."""
    wide = _wide(table, "tester", column, tester_names(), _REPETITION)
    return ratio(wide["adf"], wide[rival])


_TEXT_REPETITION = [*BENCHMARK, "repetition"]
_COMPARED = [name for name in METRIC_NAMES if name != "seed_perplexity"]
_GLOBAL_PAIRS = {"asc": "adf_asc", "hf": "adf_hf"}  # an attack and its two-sided variant
_PAIRED = ("asc", "adf_asc", "hf", "adf_hf")

TEXT_MEASURES = {
    "found_ratio_rp": "Global phase: discriminatory texts, ADF_ASC over RP",
    "found_increase_asc": "Global phase: ADF_ASC more than ASC (%)",
    "found_increase_hf": "Global phase: ADF_HF more than HF (%)",
    "gain_adf_asc_rp": "Global phase, of 1,000 seeds: ADF_ASC less RP",
    "gain_adf_asc_asc": "Global phase, of 1,000 seeds: ADF_ASC less ASC",
    "gain_adf_hf_hf": "Global phase, of 1,000 seeds: ADF_HF less HF",
    "gain_hf_asc": "Global phase, of 1,000 seeds: HF less ASC",
    "local_ratio": "Local phase: discriminatory texts, ADF over RP",
    "local_gain": "Local phase: discriminatory texts, ADF less RP",
    "local_gain_same": "Local phase from the same texts: discriminatory texts, ADF less RP",
    "local_space_ratio": "Local phase: different texts, ADF over RP",
    "local_over_global": "Discriminatory texts of ADF, local phase over those before it",
    "success_rp": "Success rate of RP in the local phase (%)",
    "success_adf": "Success rate of ADF in the local phase (%)",
    "success_gain": "Success rate in the local phase, ADF less RP (points)",
    "success_gain_same": "Success rate from the same texts, ADF less RP (points)",
    **{f"local_adf_{metric}": f"Local phase, ADF: {name}" for metric, name in METRIC_NAMES.items()},
    **{f"local_nearer_{m}": f"Local phase, ADF nearer than RP (%): {METRIC_NAMES[m]}" for m in _COMPARED},
    **{
        f"global_nearer_{attack}_{m}": f"Global phase, ADF nearer than {attack.upper()}: {METRIC_NAMES[m]}"
        for attack in _GLOBAL_PAIRS
        for m in _COMPARED
    },
    "cost_share": "Model queries and gradients by discriminatory text, ADF in % of RP",
    "improvement_augmented": "Discrimination removed by retraining with ADF_ASC (%)",
    "improvement_best": "Discrimination removed by retraining with ADF_ASC, the largest of all (%)",
    "improvement_gain": "Discrimination removed, ADF_ASC less nothing added (points)",
    "improvement_asc": "Discrimination removed by retraining with ASC (%)",
    "improvement_hf": "Discrimination removed by retraining with HF (%)",
    "improvement_adf_hf": "Discrimination removed by retraining with ADF_HF (%)",
    "improvement_control": "Discrimination removed by training again with nothing added (%)",
    "improvement_certified": "Discrimination removed by certified training (%)",
    "certified_gain": "Discrimination removed, certified training less nothing added (points)",
    "n_independent": "Discriminatory texts that retraining is judged by",
}


def text_averages(
    globally: pd.DataFrame, local: pd.DataFrame, validity: pd.DataFrame, retraining: pd.DataFrame
) -> pd.DataFrame:
    """Average every measure over the networks and features of each corpus, then over the repetitions.

    Only networks with a feature that have the measure in every repetition count: n_settings of n_all.
    """
    values = [
        *_of_text_global(globally),
        *_of_text_local(local, globally),
        *_of_validity(validity),
        *_of_text_retraining(retraining),
    ]
    n_all = globally.groupby("corpus", sort=False)[BENCHMARK[1:]].apply(lambda x: len(x.drop_duplicates()))
    values.sort(key=lambda row: list(TEXT_MEASURES).index(row[0]))
    rows = []
    for corpus in n_all.index:
        for measure, rule, value in values:
            own = value[value.index.get_level_values("corpus") == corpus]
            # One row per benchmark that has a value in each repetition with any value.
            present = own.dropna()
            if len(present) and len(wide := present.unstack("repetition").dropna()):
                means = wide.max() if measure == "improvement_best" else wide.mean()
                row = [measure, rule, len(wide), n_all[corpus], len(means), means.mean()]
                rows.append([corpus, *row, *mean_interval(means)])
    columns = ["corpus", "measure", "label_rule", "n_settings", "n_all", "n_repetitions", "mean"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high"])


def _of_text_global(data: pd.DataFrame) -> _Values:
    """Compare the global strategies (Table VIII)."""
    counts = _wide(data, "strategy", "n_found", ("rp", *_PAIRED))
    share = 1000 * _wide(
        data.assign(share=ratio(data["n_found"], data["n_seeds"])), "strategy", "share", counts.columns
    )
    yield "found_ratio_rp", "", ratio(counts["adf_asc"], counts["rp"])
    for attack, twin in _GLOBAL_PAIRS.items():
        yield f"found_increase_{attack}", "", 100 * (ratio(counts[twin], counts[attack]) - 1)
    for a, b in (("adf_asc", "rp"), ("adf_asc", "asc"), ("adf_hf", "hf"), ("hf", "asc")):
        yield f"gain_{a}_{b}", "", share[a] - share[b]


def _of_text_local(local: pd.DataFrame, globally: pd.DataFrame) -> _Values:
    """Compare the local testers, and their finds with the earlier finds (Tables VIII and XI)."""
    rates = with_calls(local)
    for start, end in ((OWN, ""), (SAME, "_same")):
        part = rates[rates["start"] == start]
        counts, texts, success, calls = (
            _wide(part, "tester", name, GLOBAL_OF)
            for name in ("n_discriminatory", "n_texts", "success", "calls_per_text")
        )
        yield f"success_gain{end}", "", success["adf"] - success["rp"]
        yield f"local_gain{end}", "", counts["adf"] - counts["rp"]
        if start == OWN:
            yield "local_ratio", "", ratio(counts["adf"], counts["rp"])
            yield "local_space_ratio", "", ratio(texts["adf"], texts["rp"])
            yield "success_rp", "", success["rp"]
            yield "success_adf", "", success["adf"]
            yield "cost_share", "", 100 * ratio(calls["adf"], calls["rp"])
    before = globally.assign(before=globally["n_raw"] + globally["n_found"])
    before = _wide(before, "strategy", "before", (GLOBAL_OF["adf"],))[GLOBAL_OF["adf"]]
    counts = _wide(local[local["start"] == OWN], "tester", "n_discriminatory", ("adf",))["adf"]
    yield "local_over_global", "", ratio(counts, before.reindex(counts.index))


def _of_validity(data: pd.DataFrame) -> _Values:
    """Compare the nearness of texts to their seeds (Figure 8 and Table IX)."""
    for metric in METRIC_NAMES:
        part = data[(data["metric"] == metric) & (data["n_pairs"] > 0)]
        local = _wide(part[part["phase"] == "local"], "tester", "mean", GLOBAL_OF)
        yield f"local_adf_{metric}", "", local["adf"]
        if metric in _COMPARED:
            sign = -1 if metric in FARTHER else 1
            yield f"local_nearer_{metric}", "", sign * 100 * (ratio(local["adf"], local["rp"]) - 1)
            pairs = _wide(part[part["phase"] == "global"], "tester", "mean", _PAIRED)
            for attack, twin in _GLOBAL_PAIRS.items():
                yield f"global_nearer_{attack}_{metric}", "", sign * (pairs[twin] - pairs[attack])


def _of_text_retraining(data: pd.DataFrame) -> _Values:
    """Return the share of the discrimination that retraining removes (Tables XIII and XIV)."""
    data = data.assign(improvement=data["improvement"].where(data["n_independent"] > 0))
    control = _training(data, CONTROL, "")
    yield "improvement_control", "", control
    certified = _training(data, CERTIFIED, "")
    yield "improvement_certified", "", certified
    yield "certified_gain", "", certified - control
    rules = dict.fromkeys(data.loc[data["label_rule"] != "", "label_rule"])
    for rule in rules:
        augmented = _training(data, PROPOSED, rule)
        yield "improvement_augmented", rule, augmented
        yield "improvement_best", rule, augmented
        yield "improvement_gain", rule, augmented - control
        for tester in ("asc", "hf", "adf_hf"):
            yield f"improvement_{tester}", rule, _training(data, tester, rule)
    yield "n_independent", "", data.groupby(_TEXT_REPETITION, sort=False)["n_independent"].max()


def _training(data: pd.DataFrame, tester: str, rule: str) -> pd.Series:
    """Return the improvement by a training, in percent."""
    part = data[(data["tester"] == tester) & ((data["label_rule"] == rule) | (rule == ""))]
    return part.drop_duplicates(_TEXT_REPETITION).set_index(_TEXT_REPETITION)["improvement"]


def _wide(
    data: pd.DataFrame, column: str, value: str, names: Iterable[str], keys: Sequence[str] = _TEXT_REPETITION
) -> pd.DataFrame:
    """Return one column per name, missing if the name has no value; a row per repetition."""
    return data.set_index([*keys, column])[value].unstack(column).reindex(columns=list(names))
