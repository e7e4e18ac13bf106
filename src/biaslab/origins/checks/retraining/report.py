"""Tables and figures of predictions and retraining (Brunet et al. 2019, Tables 4, 5, Figures 2, 3, 7, 8)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.stats import percent_change, welch
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import ESTIMATED, ESTIMATORS
from biaslab.origins.checks.retraining import COLUMNS
from biaslab.origins.report.panels import KIND_COLOURS, draw_legend, grid, set_label, sort_sets
from biaslab.origins.report.results import FIT_SHOWN, Setup, pairs, rows_of_tests
from biaslab.origins.sets import BASELINE, DECREASE, DOCUMENTS, INCREASE, NAMES_NOTE, PPMI, RANDOM
from biaslab.origins.sets.selection import members
from biaslab.run.area import TEST, UNIT, figure, table

SIGNIFICANT = 0.05  # level of Welch's test

_CORRELATION_NOTE = (
    "Least squares of the observed on the predicted mean effect size, a point a targeted set; intervals "
    "by bootstrap. A slope of 1 says that predictions have the right size. Estimators: "
    + ", ".join(f"{a.name} {a.about}" for a in ESTIMATED)
    + "."
)
_TESTS_NOTE = (
    "Welch's two-sided test of the retrained embeddings against the baseline embeddings, p < 0.05, not "
    "corrected for the number of sets, as in the paper."
)
_ANALOGIES_NOTE = (
    "TOP-1 analogies in percent of the questions whose words are all in the vocabulary, mean ± standard "
    "deviation over embeddings. Welch's two-sided test against the baseline, not corrected for the "
    "number of sets: of {n_tested} sets {n_significant} differ (p < 0.05), {n_expected:.1f} would by "
    "chance."
)
_WORD2VEC_NOTE = (
    "TOP-1 analogies in percent of the questions whose words are all in the vocabulary, mean ± standard"
    " deviation over word2vec embeddings of the whole corpus and without the largest sets. Welch's two-sided"
    " test against the baseline."
)
_MARKERS = "osD^vP<X>*"
_NARROW_TITLE = 36  # characters per line of a title above panels with long axis labels


@table("table4_correlation", "Table 4", "correlation")
def correlation(setups: Sequence[Setup]) -> Table:
    """Table 4: regression of observed on predicted mean biases over the targeted sets."""
    data = rows_of_tests(setups, "correlation", *COLUMNS["correlation"][1:])
    templates = {"Setup": "{setup}", "WEAT": "{weat}", "Estimator": "{estimator}", "Sets": "{n_sets}"}
    templates |= FIT_SHOWN
    title = "Correlation of approximated and validated mean biases"
    return Table(data, text_columns(data, templates), title, _CORRELATION_NOTE)


@table("tests_summary", "Welch's tests", "perturbations")
def significance_counts(setups: Sequence[Setup]) -> Table:
    """Count the perturbation sets that differ significantly from the baseline."""
    rows = []
    for setup, weat in pairs(setups):
        # The observed bias does not depend on the estimator.
        tests = setup.of_weat("perturbations", weat, "set", "kind", "welch_p").drop_duplicates("set")
        is_random = tests["kind"] == RANDOM
        for name, part in (("targeted", tests[~is_random]), ("random", tests[is_random])):
            tested, significant = part["welch_p"].notna().sum(), (part["welch_p"] < SIGNIFICANT).sum()
            rows.append([setup.name, weat, name, tested, significant, SIGNIFICANT * tested])
    columns = ["setup", "weat", "sets", "n_tested", "n_significant", "n_expected_by_chance"]
    data = pd.DataFrame(rows, columns=columns)
    templates = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Sets": "{sets}",
        "Tested": "{n_tested}",
        "Significant": "{n_significant}",
        "Expected by chance": "{n_expected_by_chance:.1f}",
    }
    return Table(data, text_columns(data, templates), "Perturbation sets that change the bias", _TESTS_NOTE)


@table("analogies_sets", "Analogies", "analogies", per=UNIT)
def glove_analogies(setup: Setup) -> Table:
    """Compare TOP-1 analogies of the baseline and without each perturbation set (Section 5.2)."""
    data = compare_analogies(setup.table("analogies", "set", "accuracy"))
    tested = data["welch_p"].notna().sum()
    significant = (data["welch_p"] < SIGNIFICANT).sum()
    counts = {"n_tested": tested, "n_significant": significant, "n_expected": SIGNIFICANT * tested}
    title = f"Analogies after the removal of each perturbation set ({setup.name})"
    return Table(data, _text(data), title, f"{_ANALOGIES_NOTE.format(**counts)} {NAMES_NOTE}")


@table("analogies_word2vec", "Section 5.4", "word2vec/analogies", per=UNIT)
def word2vec_analogies(setup: Setup) -> Table:
    """Compare TOP-1 analogies of word2vec with and without the largest sets (Section 5.4)."""
    data = compare_analogies(setup.table("word2vec/analogies", "set", "accuracy"))
    title = f"Analogies in word2vec after removals ({setup.name})"
    return Table(data, _text(data), title, f"{_WORD2VEC_NOTE} {NAMES_NOTE}")


def compare_analogies(analogies: pd.DataFrame) -> pd.DataFrame:
    """Compare the analogies of retrained embeddings and of the baselines, set by set, ``baseline`` first."""
    samples = {name: part["accuracy"].to_numpy() for name, part in analogies.groupby("set", sort=False)}
    baseline, rows = samples.pop(BASELINE), []
    for name, sample in ({BASELINE: baseline} | samples).items():
        change = t = p = None
        if name != BASELINE:
            change, (t, p) = sample.mean() - baseline.mean(), welch(sample, baseline)
        rows.append([name, len(sample), sample.mean(), pd.Series(sample).std(ddof=1), change, t, p])
    columns = ["set", "n_embeddings", "accuracy_mean", "accuracy_sd", "accuracy_change", "welch_t", "welch_p"]
    return pd.DataFrame(rows, columns=columns)


def _text(data: pd.DataFrame) -> pd.DataFrame:
    percent = data[["accuracy_mean", "accuracy_sd", "accuracy_change"]].astype(float) * 100
    templates = {
        "Set": "{set}",
        "Embeddings": "{n_embeddings}",
        "TOP-1 (%)": "{accuracy_mean:.2f} ± {accuracy_sd:.2f}",
        "Change": "{accuracy_change:+.2f}",
        "t": "{welch_t:.2f}",
        "p": "{welch_p:.2g}",
    }
    return text_columns(data.assign(**percent), templates)


@figure("figure2_predicted_observed", "Figure 2", "perturbations", "correlation", per=TEST)
def draw_estimators(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 2: observed against predicted bias of every perturbation set, a panel per estimator."""
    data = _predictions(setup, weat, ESTIMATORS)
    markers = _markers(data)
    with plot.figure(plot.DOUBLE_COLUMN, 3.1) as fig:
        for ax, estimator in zip(fig.subplots(1, len(ESTIMATORS)), ESTIMATORS, strict=True):
            _draw_panel(ax, data[data["estimator"] == estimator], markers)
            ax.set_title(estimator)
            if estimator != ESTIMATORS[0]:
                ax.set_ylabel("")
        fig.suptitle(setup.heading(weat), parse_math=False)
        draw_legend(fig, _set_handles(data, markers))
        plot.save_with_data(fig, stem, data)


@figure("figure7_predicted_observed", "Figure 7", "perturbations", "correlation")
def draw_predictions(setups: Sequence[Setup], stem: Path) -> None:
    """Draw Figure 7: observed against predicted bias (influence), a panel per setup and test."""
    parts = {(s.name, w): _predictions(s, w, ESTIMATORS[:1]) for s, w in pairs(setups)}
    data = pd.concat(parts.values(), ignore_index=True)
    markers = _markers(data)
    with grid(setups, [3.2] * len(setups)) as (fig, panels):
        for setup, weat, ax in panels:
            _draw_panel(ax, parts[setup.name, weat], markers)
        draw_legend(fig, _set_handles(data, markers))
        plot.save_with_data(fig, stem, data)


@figure("figure3_sets", "Figure 3", "perturbations", "correlation", per=TEST)
def draw_sets(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 3: predicted and observed bias after removals; random sets of a size share a row."""
    _draw_every_set([setup.only(weat)], stem, random=True)


@figure("figure8_sets", "Figure 8", "perturbations", "correlation")
def draw_targeted_sets(setups: Sequence[Setup], stem: Path) -> None:
    """Draw Figure 8: Figure 3 of every setup and test, without the random sets."""
    _draw_every_set(setups, stem, random=False)


def _draw_every_set(setups: Sequence[Setup], stem: Path, *, random: bool) -> None:
    parts = {(s.name, w): _set_rows(s, w, random) for s, w in pairs(setups)}
    heights = [max(p["bottom"].max() for (name, _), p in parts.items() if name == s.name) for s in setups]
    with grid(setups, [0.9 + 0.2 * height for height in heights], _NARROW_TITLE) as (fig, panels):
        for setup, weat, ax in panels:
            _draw_set_rows(ax, parts[setup.name, weat])
        draw_legend(fig, _prediction_handles())
        data = pd.concat(parts.values(), ignore_index=True)
        plot.save_with_data(fig, stem, data.drop(columns=["top", "bottom"]))


def _predictions(setup: Setup, weat: str, estimators: Sequence[str]) -> pd.DataFrame:
    """Return predicted and observed bias of every set, with the regression line of the targeted sets."""
    columns = [*COLUMNS["perturbations"][:10], "baseline_mean", "baseline_sd"]
    fit = ["weat", "estimator", "r2", "slope", "intercept"]
    data = setup.of_weat("perturbations", weat, *columns)[columns]
    data = data.merge(
        setup.of_weat("correlation", weat, *fit)[fit], on=["weat", "estimator"], validate="many_to_one"
    )
    data.insert(0, "setup", setup.name)
    return data[data["estimator"].isin(estimators)].reset_index(drop=True)


def _markers(data: pd.DataFrame) -> dict[int, str]:
    """Return the marker of each set size."""
    return {size: _MARKERS[i % len(_MARKERS)] for i, size in enumerate(sorted(data["size"].unique()))}


def _draw_panel(ax: plot.Axes, data: pd.DataFrame, markers: Mapping[int, str]) -> None:
    baseline = data["baseline_mean"].iloc[0]
    bars = [
        data[f"{column}_mean"] + sign * data[f"{column}_sd"].fillna(0)
        for column in ("predicted", "observed")
        for sign in (-1, 1)
    ]
    low, high = np.min(bars), np.max(bars)
    margin = 0.05 * (high - low or 1)
    limits = low - margin, high + margin
    r2, slope, intercept = data[["r2", "slope", "intercept"]].iloc[0]
    ax.axline((baseline, baseline), slope=1, color=plot.LIGHT_GREY, linewidth=0.5, zorder=0)
    ax.axhline(baseline, color=plot.LIGHT_GREY, linestyle=":", linewidth=0.8, zorder=0)
    ax.axvline(baseline, color=plot.BLACK, linestyle=":", linewidth=0.8, zorder=1.5)
    for (kind, size), part in data.groupby(["kind", "size"]):
        is_random = kind == RANDOM
        ax.errorbar(
            part["predicted_mean"],
            part["observed_mean"],
            xerr=part["predicted_sd"],
            yerr=part["observed_sd"],
            color=plot.LIGHT_GREY if is_random else KIND_COLOURS[kind],
            ecolor=plot.PALE_GREY if is_random else None,
            marker=markers[size],
            linestyle="none",
            elinewidth=0.5,
            markersize=2.5 if is_random else 3.5,
            zorder=1 if is_random else 2,
        )
    ends = data.loc[data["kind"] != RANDOM, "predicted_mean"].agg(["min", "max"])
    ax.plot(ends, intercept + slope * ends, color=plot.BLACK, linestyle="--", linewidth=0.8, zorder=3)
    if np.isfinite(r2):
        ax.text(0.04, 0.96, f"r² = {r2:.3f}\nslope = {slope:.2f}", va="top", transform=ax.transAxes)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.locator_params(nbins=6)
    ax.set(xlabel="Predicted effect size", ylabel="Observed effect size")


def _set_handles(data: pd.DataFrame, markers: Mapping[int, str]) -> list[list[plot.Artist]]:
    from matplotlib.lines import Line2D

    colours = {**KIND_COLOURS, RANDOM: plot.LIGHT_GREY}
    kinds = [kind for kind in colours if (data["kind"] == kind).any()]
    meanings = [
        Line2D([], [], color=colours[k], marker="o", linestyle="none", label=DOCUMENTS[k]) for k in kinds
    ]
    meanings += [
        Line2D([], [], color=plot.BLACK, linestyle="--", label="least squares"),
        Line2D([], [], color=plot.BLACK, linestyle=":", label="baseline mean"),
        Line2D([], [], color=plot.LIGHT_GREY, linewidth=0.5, label="identity"),
    ]
    sizes = [
        Line2D([], [], color=plot.GREY, marker=marker, linestyle="none", label=f"n = {size:,}")
        for size, marker in markers.items()
    ]
    return [meanings, sizes]


def _prediction_handles() -> list[list[plot.Artist]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    circle = {"color": plot.BLACK, "marker": "o", "linestyle": "none"}
    return [
        [
            Line2D([], [], markerfacecolor="white", label="predicted ± 1 sd", **circle),
            Line2D([], [], color=plot.BLACK, linestyle=":", label="baseline mean"),
        ],
        [
            Line2D([], [], label="observed ± 1 sd", **circle),
            Patch(color=plot.LIGHT_GREY, alpha=0.35, label="baseline ± 1 sd"),
        ],
    ]


def _set_rows(setup: Setup, weat: str, random: bool) -> pd.DataFrame:
    """Return the sets from top to bottom, with the bounds of their rows; a kind and size is contiguous."""
    data = _predictions(setup, weat, ESTIMATORS[:1]).drop(columns=["r2", "slope", "intercept"])
    if not random:
        data = data[data["kind"] != RANDOM]
    data = sort_sets(data, data["replicate"])
    replicates = data.groupby(["kind", "size"])["set"].transform("size")
    height = (1 / replicates).clip(lower=0.45)
    bottom = height.cumsum()
    return data.assign(top=bottom - height, bottom=bottom)


def _draw_set_rows(ax: plot.Axes, data: pd.DataFrame) -> None:
    mean, sd = data[["baseline_mean", "baseline_sd"]].iloc[0]
    ax.axvspan(mean - sd, mean + sd, color=plot.LIGHT_GREY, alpha=0.35, zorder=0)
    ax.axvline(mean, color=plot.BLACK, linestyle=":", linewidth=0.8, zorder=0)
    for column, place, is_filled in (("predicted", 0.32, False), ("observed", 0.68, True)):
        for kind, part in data.groupby("kind"):
            colour = KIND_COLOURS[kind]
            ax.errorbar(
                part[f"{column}_mean"],
                part["top"] + place * (part["bottom"] - part["top"]),
                xerr=part[f"{column}_sd"],
                color=colour,
                marker="o",
                markerfacecolor=colour if is_filled else "white",
                markeredgewidth=0.7,
                markersize=2 if kind == RANDOM else 3.5,
                elinewidth=0.4 if kind == RANDOM else 0.6,
                linestyle="none",
            )
    rows = data.groupby(["kind", "size"]).agg({"top": "min", "bottom": "max"})
    labels = [set_label(kind, size) for kind, size in rows.index]
    ax.set_yticks((rows["top"] + rows["bottom"]) / 2, labels)
    ax.set_ylim(data["bottom"].max() + 0.1, -0.1)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel("Effect size after removal")


_OBJECTIVES = {DECREASE: "correct", INCREASE: "aggravate"}
_IDENTIFICATION_NOTE = (
    "Change of the mean effect size in percent of the baseline mean when the documents are removed and GloVe"
    " is retrained, with its 95% interval (Welch, by the delta method), and the number of trainings."
    " PPMI: the documents with the largest exact differential bias in the PPMI representation. Our method:"
    " those that the configured estimator finds. Correct removes the documents that raise the effect size,"
    " aggravate those that lower it. Shared: documents in both sets."
)


@table(
    "table5_ppmi_baseline",
    "Table 5",
    *("baseline", "perturbation_sets.parquet", "observed", "ppmi/perturbation_sets.parquet", "ppmi/observed"),
    per=UNIT,
)
def compare_identification(setup: Setup) -> Table:
    """Table 5: change of the bias by removing documents that PPMI selects, and documents that we select.

    The sets are those of the first test, with a row for each objective and size in the paper's order. Without
    sets by PPMI, the table has no rows.
    """
    weat = setup.weats[0]
    by_ppmi, ours = setup.parquet("ppmi/perturbation_sets"), setup.parquet("perturbation_sets")
    rows, baseline = [], setup.effect_sizes(weat)
    for (kind, size), name in by_ppmi.groupby(["kind", "size"])["set"].first().items():
        row, documents = [weat, _OBJECTIVES[kind], size], []
        own = name.removeprefix(f"{PPMI}-")
        for file, sets, set_name in (("ppmi/observed", by_ppmi, name), ("observed", ours, own)):
            observed = setup.of_weat(file, weat, "set", "effect_size")
            after = observed.loc[observed["set"] == set_name, "effect_size"]
            row += [*percent_change(after, baseline)[:3], len(after)]
            documents.append(set(members(sets, [set_name])[set_name]))
        rows.append([*row, len(set.intersection(*documents))])
    columns = [
        f"{method}_{column}"
        for method in ("ppmi", "method")
        for column in ("change", "change_ci_low", "change_ci_high", "retrainings")
    ]
    data = pd.DataFrame(rows, columns=["weat", "objective", "size", *columns, "n_shared"])
    order = data["size"].where(data["objective"] == "aggravate", -data["size"])
    data = data.assign(order=order).sort_values(["objective", "order"], ascending=[False, True])
    data = data.drop(columns="order").reset_index(drop=True)
    templates = {"WEAT": "{weat}", "Objective": "{objective}", "Documents": "{size}"}
    for method, heading in (("ppmi", "PPMI"), ("method", "our method")):
        interval = f"[{{{method}_change_ci_low:+.0f}}, {{{method}_change_ci_high:+.0f}}]"
        templates[f"Change, {heading} (%)"] = f"{{{method}_change:+.0f}} {interval}"
        templates[f"Retrainings, {heading}"] = f"{{{method}_retrainings}}"
    templates["Shared"] = "{n_shared}"
    title = f"Removing the documents found by PPMI and by our method ({setup.name})"
    note = _IDENTIFICATION_NOTE if rows else "The setup has no sets by PPMI."
    return Table(data, text_columns(data, templates), title, note)
