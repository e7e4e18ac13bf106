"""Bias in other representations: Figures 4, 5, 9, tables of Sections 5.4, 5.5 (Brunet et al. 2019)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.panels import KIND_COLOURS, set_label, sort_sets
from biaslab.origins.report.results import FIT_SHOWN, Setup, rows_of_setups, rows_of_tests
from biaslab.origins.representations import axis, transfer
from biaslab.origins.sets import BASELINE, DECREASE, DOCUMENTS, INCREASE, RANDOM
from biaslab.run.area import TEST, UNIT, figure, table

_SERIES = {DECREASE: ("v", -0.24), BASELINE: ("o", 0.0), INCREASE: ("^", 0.24)}
"""Marker and offset within a word's row, by kind of embeddings."""

_FREQUENCY_NOTE = (
    "Least squares of a word's shift on the base 10 logarithm of its frequency, a point a target word; "
    "intervals by bootstrap over the words. The relative position of a word is its projection on the axis in "
    "standard deviations from the mean of the target words; its shift is the mean absolute change of that by "
    "the removal of the largest set of documents that raise the bias and of the largest that lower "
    "it. A negative slope says that rare words move further."
)


@table("axis_frequency", "Section 5.5", "axis_frequency")
def frequency_table(setups: Sequence[Setup]) -> Table:
    """Section 5.5: regression of the shift of a word on its frequency."""
    data = rows_of_tests(setups, "axis_frequency", *axis.COLUMNS["axis_frequency"][1:])
    templates = {"Setup": "{setup}", "WEAT": "{weat}", "Words": "{n_words}"} | FIT_SHOWN
    title = "Frequency of words and the change of their relative position on the bias axis"
    return Table(data, text_columns(data, templates), title, _FREQUENCY_NOTE)


@figure("figure5_bias_axis", "Figure 5", "projections", per=TEST)
def draw_axis(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 5: target words on the bias axis, for the baselines and without the largest sets."""
    data, word_sets = _summarize(setup, weat), setup.word_sets(weat)
    groups = [part for _, part in data.groupby("symbol")]
    n_words = [part["word"].nunique() for part in groups]
    with plot.figure(plot.SINGLE_COLUMN, 1.3 + 0.19 * sum(n_words)) as fig:
        axes = fig.subplots(len(groups), 1, sharex=True, height_ratios=n_words, squeeze=False)[:, 0]
        for ax, part, (name, symbol) in zip(
            axes, groups, zip(word_sets.targets, "ST", strict=True), strict=True
        ):
            _draw_words(ax, part)
            ax.set_title(f"{symbol}: {name}", parse_math=False)
            ax.label_outer()
        first, second = word_sets.attributes
        axes[-1].set_xlabel(f"Projection on the axis\n← {second}       {first} →", parse_math=False)
        plot.legend_below(fig, axes[0], 1)
        fig.suptitle(setup.of_test(weat), parse_math=False)
        plot.save_with_data(fig, stem, data)


def _summarize(setup: Setup, weat: str) -> pd.DataFrame:
    """Return the mean and standard deviation over embeddings of every word's projection, by kind.

    The words of S precede those of T; each set is sorted by descending baseline projection.
    """
    projections = setup.of_weat("projections", weat, *axis.COLUMNS["projections"])
    keys = ["kind", "set", "symbol", "word", "count"]
    data = projections.groupby(keys)["projection"].agg(["mean", "std", "size"]).reset_index()
    data = data.rename(
        columns={"mean": "projection_mean", "std": "projection_sd", "size": "n_embeddings"}
    ).merge(axis.word_shifts(projections)[["word", "shift"]], on="word", validate="many_to_one")
    baseline = data[data["kind"] == BASELINE].set_index("word")["projection_mean"]
    order = pd.DataFrame(
        {
            "symbol": data["symbol"],
            "height": -data["word"].map(baseline),
            "word": data["word"],
            "kind": data["kind"].map({kind: i for i, kind in enumerate((BASELINE, DECREASE, INCREASE))}),
        }
    )
    data = data.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)
    data.insert(0, "weat", weat)
    return data


def _draw_words(ax: plot.Axes, data: pd.DataFrame) -> None:
    words = data[["word", "count"]].drop_duplicates()
    places = dict(zip(words["word"], np.arange(len(words)), strict=True))
    ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    for kind, (marker, offset) in _SERIES.items():
        part = data[data["kind"] == kind]
        size = part["set"].iloc[0].rpartition("-")[2]
        embeddings = kind if kind == BASELINE else f"without the {size} that {DOCUMENTS[kind]} most"
        ax.errorbar(
            part["projection_mean"],
            part["word"].map(places) + offset,
            xerr=part["projection_sd"],
            color=KIND_COLOURS.get(kind, plot.BLACK),
            marker=marker,
            markersize=3,
            elinewidth=0.6,
            linestyle="none",
            label=f"{embeddings} ± 1 sd",
        )
    labels = [f"{word} ({count:,})" for word, count in words.itertuples(index=False)]
    ax.set_yticks(list(places.values()), labels, parse_math=False)
    ax.set_ylim(len(words) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=6)


@figure("figure9_glove_ppmi", "Figure 9", "ppmi/word_sets", "ppmi/correlation", per=UNIT)
def draw_ppmi(setup: Setup, stem: Path) -> None:
    """Draw Figure 9, left: effect sizes in GloVe against those in the PPMI representation."""
    _draw_random_tests(setup, "ppmi", ["ppmi"], "PPMI", stem)


@figure("figure9_glove_word2vec", "Figure 9", "word2vec/word_sets", "word2vec/correlation", per=UNIT)
def draw_word2vec(setup: Setup, stem: Path) -> None:
    """Draw Figure 9, right: effect sizes in GloVe against those in word2vec."""
    _draw_random_tests(
        setup, "word2vec", ["word2vec_mean", "word2vec_sd"], "word2vec (mean of the baselines)", stem
    )


def _draw_random_tests(setup: Setup, folder: str, others: list[str], label: str, stem: Path) -> None:
    names = ["word_set", *others, "glove_mean", "glove_sd"]
    data = setup.table(f"{folder}/word_sets", *names)[names]
    x = data[others[0]]
    columns = ["r2", "r2_ci_low", "r2_ci_high", "slope", "intercept"]
    r2, low, high, slope, intercept = setup.table(f"{folder}/correlation", *columns)[columns].iloc[0]
    with plot.figure(plot.SINGLE_COLUMN, 3.2) as fig:
        ax = fig.subplots()
        ax.plot(
            x, data["glove_mean"], color=plot.BLUE, marker="o", markersize=1.5, markeredgewidth=0,
            linestyle="none", alpha=0.6, label="", rasterized=True,
        )  # fmt: skip
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, intercept + slope * ends, color=plot.BLACK, linestyle="--", linewidth=0.8)
        ax.text(0.04, 0.96, f"r² = {r2:.3f} [{low:.3f}, {high:.3f}]", va="top", transform=ax.transAxes)
        ax.set(xlabel=f"Effect size, {label}", ylabel="Effect size, GloVe (mean of the baselines)")
        ax.set_title(f"{setup.corpus}: {len(data):,} random word sets", parse_math=False)
        plot.save_with_data(fig, stem, data)


LABELS = {"glove": "GloVe", "ppmi": "PPMI", "word2vec": "word2vec"}  # display names of the representations

_COLOURS = {"glove": plot.BLUE, "ppmi": plot.GREEN, "word2vec": plot.VERMILION}
_TRANSFER_NOTE = (
    "Over the targeted sets of a test, which were chosen by GloVe: change of the mean effect size by the"
    " removal of a set, in each representation against GloVe. Response: the factor that best turns changes"
    " in GloVe into those of the representation (least squares through the origin), with its 95% bootstrap"
    " interval over the sets; below 1: a weaker response. Baseline: mean ± standard deviation over embeddings"
    " of the whole corpus; PPMI has no seed."
)


@table("transfer", "Section 5.4", "transfer/responses")
def transfer_table(setups: Sequence[Setup]) -> Table:
    """Compare the responses of the PPMI representation and of word2vec with GloVe."""
    columns = list(transfer.COLUMNS["transfer/responses"])
    data = rows_of_setups(setups, lambda setup: setup.table("transfer/responses", *columns)[columns])
    baseline = [
        f"{mean:.3f}" if pd.isna(sd) else f"{mean:.3f} ± {sd:.3f}"
        for mean, sd in zip(data["baseline_mean"], data["baseline_sd"], strict=True)
    ]
    labelled = data.assign(representation=data["representation"].map(LABELS), baseline=baseline)
    templates = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Representation": "{representation}",
        "Baseline": "{baseline}",
        "Sets": "{n_sets}",
        "Rank correlation": "{spearman:.3f}",
        "Same sign": "{n_same_sign}",
        "Response": "{response:.2f}",
        "95% interval": "[{response_ci_low:.2f}, {response_ci_high:.2f}]",
    }
    title = "Bias by PPMI and in word2vec after removals chosen by GloVe"
    return Table(data, text_columns(labelled, templates), title, _TRANSFER_NOTE)


@figure("figure4_transfer", "Figure 4", "transfer/changes", per=TEST)
def draw_transfer(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 4: the bias in every representation after the removal of each set."""
    columns = ["set", "kind", "size", "replicate", "representation", "effect_size_mean", "effect_size_sd"]
    columns += ["n_embeddings", "baseline_mean", "baseline_sd"]
    data = setup.of_weat("transfer/changes", weat, *columns)[columns]
    data, places = place(data)
    with plot.figure(plot.DOUBLE_COLUMN, 3.2) as fig:
        ax = fig.subplots()
        for representation in data["representation"].unique():
            _draw_representation(ax, data[data["representation"] == representation], representation)
        names = [set_label(kind, size) for kind, size in places.index]
        ax.set_xticks(places.to_numpy(), names, rotation=45, ha="right", rotation_mode="anchor")
        for edge in places.to_numpy()[1:] - 0.5:
            ax.axvline(edge, color=plot.LIGHT_GREY, linewidth=0.3, zorder=0)
        ax.set(xlim=(-0.5, len(places) - 0.5), ylabel="WEAT effect size after removal")
        ax.set_title(setup.heading(weat), parse_math=False)
        fig.legend(loc="outside lower center", ncols=2 * data["representation"].nunique())
        plot.save_with_data(fig, stem, data.drop(columns="x"))


def place(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return the sets in the order of Figure 3 with their place ``x``, and the place of each kind and size.

    Sets of the same kind and size share a place. Within a place, sets are ordered by representation, then by
    replicate.
    """
    numbers = data["representation"].map({name: i for i, name in enumerate(LABELS)})
    data = sort_sets(data, data["replicate"], numbers)
    pairs = data[["kind", "size"]].drop_duplicates()
    places = pd.Series(np.arange(len(pairs)), index=pd.MultiIndex.from_frame(pairs))
    centres = places.loc[pd.MultiIndex.from_frame(data[["kind", "size"]])].to_numpy()
    shift = data["representation"].map({name: i - 1 for i, name in enumerate(LABELS)}) * 0.27
    replicates = data.groupby(["kind", "size"])["replicate"].transform("nunique")
    offset = (data["replicate"] + 0.5) / replicates - 0.5
    return data.assign(x=centres + shift + 0.2 * offset), places


def _draw_representation(ax: plot.Axes, data: pd.DataFrame, representation: str) -> None:
    colour, label = _COLOURS[representation], LABELS[representation]
    mean, sd = data[["baseline_mean", "baseline_sd"]].iloc[0]
    if sd > 0:
        ax.axhspan(mean - sd, mean + sd, color=colour, alpha=0.08, linewidth=0, zorder=0)
    ax.axhline(mean, color=colour, linestyle=":", linewidth=0.9, zorder=1, label=f"{label}, baseline")
    is_random = data["kind"] == RANDOM
    for part, size in ((data[~is_random], 3.5), (data[is_random], 2)):
        ax.errorbar(
            part["x"], part["effect_size_mean"], yerr=part["effect_size_sd"], color=colour, marker="o",
            markersize=size, elinewidth=0.6, linestyle="none", label=label if size > 3 else None,
        )  # fmt: skip
