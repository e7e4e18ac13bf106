"""The tables of fairness testing over all classifiers (Zhang et al. 2021)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.tables import Table, text_columns
from biaslab.fairness_testing.report.averages import MEASURES, averages
from biaslab.fairness_testing.report.results import (
    REPETITIONS,
    finds_names,
    in_order,
    mean_texts,
    name_averages,
    ratio,
    read_all,
    show,
    summarize,
    tester_names,
    with_rates,
)
from biaslab.fairness_testing.settings import FULL, PAPER, PUBLISHED, SETTING, TABULAR
from biaslab.run.area import table
from biaslab.run.plan.reports import Results

MODE_NAMES = {PUBLISHED: "as the code", PAPER: "as the paper"}
SWITCH_NAMES = {
    PUBLISHED: "code as published",
    "clip_seeds": "seeds clipped at once",
    "enumerated": "own bounds of the attribute",
    "signs_twice": "no second sign",
    "value_below_domain": "no value below the domain",
    "subnormal_is_zero": "subnormal gradients kept",
    "own_labels": "one label for both gradients",
    "acceptance": "hops begin at pairs",
    "fixed_partner": "partner found at each hop",
    "negative_neighbours": "no neighbours of the minimiser",
    PAPER: "all as the paper",
}
"""The effect of turning each switch of ADF to the paper's version; other switches keep their names."""
TRAINED = {"yes": "trained here", "no": "the authors'"}

BASE = "adf"  # the tester that all others are compared with at equal budgets
_RUN = [*SETTING, "tester", "mode"]
_SEARCH = [*SETTING, "mode", "repetition", "budget"]
_SETTING = {"Classifier": "{classifier}", "Protected": "{protected}"}
_TESTER = _SETTING | {"Tester": "{name}"}
_RUN_CELLS = _TESTER | {"Mode": "{mode_name}"}
_RETRAINED = _SETTING | {"Finds of": "{name}"}
_GENDER = {"sex": "gender"}  # the paper's name of an attribute in the data
_ORDERS = (
    " Mean ± half the width of its 95% interval (Student's t) over repetitions, each with seeds in another"
    " order, the same for all testers, and other random numbers."
)
_SAMPLES = (
    "Samples that differ in the protected attribute alone count once, and are discriminatory if any of them"
    " was found to be."
)
_PRINTED = " Printed: what the paper prints for the authors' classifiers."


@table("table3_classifiers", "Table 3: classifiers", "classifiers", of=TABULAR)
def classifiers(units: Sequence[Results]) -> Table:
    """Return the classifiers, their data and accuracy (Table III, tabular part)."""
    data = read_all(units, "classifiers")
    ids = "adf-table3-" + data["classifier"]
    data = data.assign(printed_accuracy=ids.map(units[0].printed()))
    percent = data.assign(
        positives=100 * data["positives"],
        accuracy=100 * data["accuracy"],
        network=data["trained"].map(TRAINED),
    )
    cells = {
        "Classifier": "{classifier}",
        "Rows": "{n_rows:,}",
        "Attributes": "{n_attributes}",
        "Outside the domain": "{n_outside:,}",
        "Positives (%)": "{positives:.2f}",
        "Network": "{network}",
        "Accuracy (%)": "{accuracy:.2f}",
        "Printed": "{printed_accuracy}",
    }
    note = (
        "Accuracy on all rows, which are the ones that the network was trained on. Outside the domain: rows"
        " with a value that the search clips as soon as it moves them."
    )
    return Table(data, text_columns(percent, cells), "Classifiers", note)


@table("table4_aequitas", "Table 4: comparison with AEQUITAS", "counts", of=TABULAR)
def aequitas(units: Sequence[Results]) -> Table:
    """Return the samples that AEQUITAS and ADF generate in both phases (Table IV)."""
    values = ["n_samples", "n_discriminatory", "success"]
    data = _counts(units, ("aequitas", "adf"), values)
    printed = units[0].printed()
    for value in ("samples", "discriminatory"):
        data[f"printed_{value}"] = _printed(data, "table4", printed, f"-{value}")
    cells = {
        "Samples (#GDiff)": "{n_samples:±,.0f}",
        "Printed #GDiff": "{printed_samples}",
        "Discriminatory (#ID)": "{n_discriminatory:±,.0f}",
        "Printed #ID": "{printed_discriminatory}",
        "Success (%)": "{success:±.1f}",
    }
    title = "Different samples, and discriminatory ones, of AEQUITAS and ADF"
    return Table(data, _show(data, cells), title, _SAMPLES + REPETITIONS + _PRINTED)


@table("table5_symbolic", "Table 5: comparison with SG", "counts", of=TABULAR)
def symbolic(units: Sequence[Results]) -> Table:
    """Return success and yield per model query of SG and ADF (Table V)."""
    values = ["success", "n_queries", "samples_per_1000", "discriminatory_per_1000"]
    data = _counts(units, ("symbolic", "adf"), values)
    data["printed_counts"] = _printed(data, "table5", units[0].printed())
    cells = {
        "Model queries": "{n_queries:±,.0f}",
        "Samples by 1,000": "{samples_per_1000:±.4g}",
        "Discriminatory by 1,000": "{discriminatory_per_1000:±.4g}",
        "Success (%)": "{success:±.1f}",
        "Printed (500 s)": "{printed_counts}",
    }
    note = (
        "The paper counts what both find in 500 seconds of its machine; by 1,000 model queries is the same"
        " comparison without a clock. Success: discriminatory ones among the different samples. "
    )
    title = "Yield of SG and ADF by model query"
    return Table(data, _show(data, cells), title, note + _SAMPLES + REPETITIONS + _PRINTED)


@table("table6_global", "Table 6: global generation", "counts", of=TABULAR)
def global_phase(units: Sequence[Results]) -> Table:
    """Return the discriminatory samples of the global phases (Table VI)."""
    data = _counts(units, ("aequitas", "symbolic", "adf"), ["n_seeds", "global_discriminatory"])
    data["printed"] = _printed(data, "table6", units[0].printed())
    cells = {
        "Seeds": "{n_seeds:,.0f}",
        "Discriminatory": "{global_discriminatory:±,.1f}",
        "Printed": "{printed}",
    }
    title = "Discriminatory samples of the global phase"
    note = _SAMPLES + REPETITIONS + _PRINTED
    return Table(data, _show(data, cells), title, note)


@table("table7_local", "Table 7: local generation", "local", of=TABULAR)
def local_phase(units: Sequence[Results]) -> Table:
    """Return the samples that the local phases find around the same seeds (Table VII)."""
    values = ["mean_samples", "mean_discriminatory"]
    local = read_all(units, "local")
    data = _published(local, ("aequitas", "symbolic", "adf"), values, ["budget", "n_seeds", "hops"])
    is_own = (data["budget"] == FULL) | (data["tester"] == "symbolic")
    data["printed"] = _printed(data, "table7", units[0].printed()).where(is_own)
    cells = {
        "Seeds": "{n_seeds:,}",
        "Hops": "{hops:,}",
        "Samples by seed": "{mean_samples:±,.1f}",
        "Discriminatory by seed": "{mean_discriminatory:±,.1f}",
        "Printed": "{printed}",
    }
    note = (
        "Seeds are rows of the data that are discriminatory, the same for all testers; SG, which is slow,"
        " takes the first of them and fewer hops, and the others once more as many. Different samples around"
        " each seed, averaged over the seeds. The paper does not state its seeds, and has 1,000 hops"
        " for all."
    )
    title = "Discriminatory samples of the local phase"
    return Table(data, _show(data, cells), title, note + REPETITIONS + _PRINTED)


@table("table10_cost", "Table 10: cost in model queries", "counts", of=TABULAR)
def cost(units: Sequence[Results]) -> Table:
    """Return the model queries per discriminatory sample (Table X without a clock)."""
    data = _counts(units, tester_names(), ["n_queries", "queries_per_1000"])
    data["printed_seconds"] = _printed(data, "table10", units[0].printed())
    cells = {
        "Model queries": "{n_queries:±,.0f}",
        "for 1,000 discriminatory": "{queries_per_1000:±,.0f}",
        "Printed seconds": "{printed_seconds}",
    }
    note = (
        "A model query is one sample that the network is asked about; a gradient is one, too. The paper"
        " prints the seconds that 1,000 discriminatory samples take on its machine."
    )
    title = "Model queries for 1,000 discriminatory samples"
    return Table(data, _show(data, cells), title, note + REPETITIONS)


@table("table12_retraining", "Table 12: retraining", "retraining", "fairness", of=TABULAR)
def retraining(units: Sequence[Results]) -> Table:
    """Return discrimination before and after retraining (Table XII)."""
    data, fairness = read_all(units, "retraining"), read_all(units, "fairness")
    values = ["accuracy_before", "accuracy_after", "share_before", "share_after"]
    values += ["data_share_before", "data_share_after", "n_added"]
    means = summarize(data, [*SETTING, "tester", "label_rule"], values)
    means = means.merge(
        fairness[[*SETTING, "n_uniform", "share", "ci_low", "ci_high"]], on=SETTING, how="left"
    )
    printed = units[0].printed()
    means["printed_before"] = _printed(means.assign(tester="before"), "table12", printed)
    means["printed_after"] = _printed(means, "table12", printed)
    percent = means.copy()
    scaled = [
        c for c in means if c.startswith(("accuracy", "share", "data_share")) or c in ("ci_low", "ci_high")
    ]
    percent[scaled] = 100 * means[scaled]
    percent["label_rule"] = percent["label_rule"].str.replace("_", " ")
    cells = {
        "Added label": "{label_rule}",
        "Before (%)": "{share:.2f} ({ci_low:.2f} to {ci_high:.2f})",
        "Printed before": "{printed_before}",
        "After (%)": "{share_after:±.2f}",
        "Printed after": "{printed_after}",
        "Data before (%)": "{data_share_before:.2f}",
        "Data after (%)": "{data_share_after:±.2f}",
        "Accuracy before (%)": "{accuracy_before:.2f}",
        "Accuracy after (%)": "{accuracy_after:±.2f}",
    }
    note = (
        "Share of discriminatory samples among uniform ones of the domain (before: with the interval of"
        " Clopper and Pearson) and, exact, among the rows of the data; accuracy on all rows. The paper does"
        " not state the label of added samples. Nothing added: the control, trained on for as many steps"
        " with the data alone."
    )
    return Table(
        means,
        show(percent.assign(name=percent["tester"].map(finds_names())), _RETRAINED | cells),
        "Discrimination before and after retraining",
        note + REPETITIONS + _PRINTED,
    )


@table("averages", "Averages over the settings", "counts", "local", "retraining", "curves", of=TABULAR)
def average_table(units: Sequence[Results]) -> Table:
    """Return the averages over settings in the text of the paper."""
    files = ("counts", "local", "retraining", "curves")
    table = averages(**{name: read_all(units, name) for name in files})
    ids = "adf-average-" + table["measure"].str.replace("_", "-")
    is_authors = table["data"] == "census+bank+credit"
    table = table.assign(printed=ids.map(units[0].printed()).where(is_authors))
    cells = name_averages(table.drop_duplicates(["data", "measure", "label_rule"]), MEASURES)
    templates = {
        "Classifiers": "{data}",
        "Settings": "{n_settings}",
        "Average": "{name}",
        "Measured": "{mean:±.4g}",
        "Printed": "{printed}",
    }
    note = (
        "Each is taken in every setting (a classifier and a protected attribute) and averaged over them, as"
        " the paper does. Where the paper compares by seconds, model queries are measured instead."
    )
    return Table(table, show(cells, templates), "Averages over the settings", note + REPETITIONS)


@table("ablation", "What each published quirk is worth", "ablation", of=TABULAR)
def ablation(units: Sequence[Results]) -> Table:
    """Return the effect of each quirk of the published code."""
    effects = worths(read_all(units, "ablation"))
    percent = effects.assign(
        tester=effects["tester"].map(tester_names()), switch=effects["switch"].map(switch_name)
    )
    cells = _SETTING | {"Tester": "{tester}", "Switch": "{switch}"}
    heads = {
        "global_discriminatory": "Global phase",
        "n_samples": "Samples (#GDiff)",
        "n_discriminatory": "Discriminatory (#ID)",
    }
    for value, head in heads.items():
        cells |= {head: f"{{{value}:,.0f}}", f"Change (%), {head}": f"{{{value}_change:±+.1f}}"}
    note = (
        "Every switch alone is turned from what the authors' code does to what the paper prints, at the end"
        " all. Change against the code as published with the same random numbers, ± half of its 95% interval"
        " (Student's t) over the repetitions."
    )
    title = "What each quirk of the published code is worth"
    return Table(effects, show(percent, cells), title, note)


def worths(data: pd.DataFrame) -> pd.DataFrame:
    """Compare every switch with the code as published, in percent, within a repetition."""
    keys = [*SETTING, "tester", "repetition"]
    values = ["global_discriminatory", "n_samples", "n_discriminatory"]
    published = data.loc[data["switch"] == PUBLISHED, [*keys, *values]]
    both = data.merge(published, on=keys, how="left", suffixes=("", "_published"))
    turned = both["switch"] != PUBLISHED
    for value in values:
        change = 100 * (ratio(both[value], both[f"{value}_published"]) - 1)
        both[f"{value}_change"] = change.where(turned)
    columns = [*values, *(f"{value}_change" for value in values)]
    return summarize(both, [*SETTING, "tester", "switch"], columns)


def switch_name(switch: str) -> str:
    """Return the display name of a switch of the ablation: the effect of its paper version."""
    return SWITCH_NAMES.get(switch, switch.replace("_", " "))


def relative(budgets: pd.DataFrame) -> pd.DataFrame:
    """Compare the finds of testers with ADF's in the same mode, repetition and budget (percent)."""
    base = budgets.loc[budgets["tester"] == BASE, [*_SEARCH, "n_discriminatory"]]
    both = budgets.merge(base, on=_SEARCH, how="left", suffixes=("", "_base"))
    both["of_adf"] = 100 * ratio(both["n_discriminatory"], both["n_discriminatory_base"])
    both.loc[both["tester"] == BASE, "of_adf"] = np.nan
    return summarize(both, [*_RUN, "budget"], ["n_queries", "n_discriminatory", "of_adf"])


@table("budgets", "Testers at equal numbers of queries", "budgets", of=TABULAR)
def budgets(units: Sequence[Results]) -> Table:
    """Return the discriminatory samples that testers find at equal numbers of queries."""
    data = relative(read_all(units, "budgets"))
    counts = mean_texts(data, "n_discriminatory", ",.0f")
    compared = mean_texts(data, "of_adf", ".0f")
    texts = data.assign(found=counts, compared=compared)
    wide = texts.pivot(index=_RUN, columns="budget", values=["found", "compared"])
    wide = wide.reindex(pd.MultiIndex.from_frame(data[_RUN].drop_duplicates()))
    cells = dict(_RUN_CELLS)
    runs = wide.index.to_frame(index=False)
    rows = runs.assign(name=runs["tester"].map(tester_names()), mode_name=runs["mode"].map(MODE_NAMES))
    for budget in sorted(data["budget"].unique()):
        for value, head in (("found", "{:,} queries"), ("compared", "% of ADF's at {:,}")):
            rows[f"{value}_{budget}"] = wide[value, budget].to_numpy()
            cells[head.format(budget)] = f"{{{value}_{budget}}}"
    note = (
        "Different discriminatory samples; a query is a sample that the network is asked about, a gradient"
        " too. All testers walk from a seed before they take the next one. Protected attributes with a comma"
        " vary together: a pair may differ in any of them." + _ORDERS
    )
    return Table(data, text_columns(rows, cells), "Discriminatory samples at equal numbers of queries", note)


def _counts(units: Sequence[Results], testers: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the means of counts and rates of the published mode, as in `_published`."""
    return _published(with_rates(read_all(units, "counts")), testers, values)


def _published(
    data: pd.DataFrame, testers: Sequence[str], values: Sequence[str], keys: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the means of the published mode, by setting, tester (in the given order) and further keys."""
    chosen = data[(data["mode"] == PUBLISHED) & data["tester"].isin(list(testers))]
    ordered = in_order(chosen, "tester", testers, SETTING)
    return summarize(ordered, [*SETTING, "tester", *keys], values)


def _printed(data: pd.DataFrame, item: str, printed: Mapping[str, str], end: str = "") -> pd.Series:
    """Return the printed number for the setting and tester of each row, missing if not printed."""
    names = data["protected"].replace(_GENDER)
    ids = [
        f"adf-{item}-{c}-{p}-{t}{end}"
        for c, p, t in zip(data["classifier"], names, data["tester"], strict=True)
    ]
    return pd.Series(ids, index=data.index, dtype=object).map(printed)


def _show(data: pd.DataFrame, templates: Mapping[str, str]) -> pd.DataFrame:
    return show(data.assign(name=data["tester"].map(tester_names())), _TESTER | dict(templates))
