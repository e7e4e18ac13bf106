"""Figures of the origins area: Figures 1 to 3 and 6 to 8 of Brunet et al. 2019, losses, and metadata."""

import contextlib
import itertools
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.plotting import (
    BLACK,
    BLUE,
    DOUBLE_COLUMN,
    GREY,
    LIGHT_GREY,
    PALE_GREY,
    SINGLE_COLUMN,
    VERMILLION,
    figure,
    save_with_data,
)
from biaslab.origins.report.axis import draw_axis
from biaslab.origins.report.gradient import draw_gradient
from biaslab.origins.report.ppmi import draw_rankings, draw_word_sets
from biaslab.origins.report.results import (
    ESTIMATORS,
    Setup,
    SetupItem,
    aggregate_by_metadata,
    list_items,
    metadata_columns,
    percent_scale,
)
from biaslab.origins.report.seeds import draw_stability
from biaslab.origins.report.single_documents import draw_documents
from biaslab.origins.report.transfer import draw_transfer

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_BINS = 60
"""Bins of a histogram; one of them is centred on zero."""

N_GROUPS = 20
"""Groups of a section or date that the metadata figure shows, those with the largest sums."""

KIND_COLOURS = {"increase": VERMILLION, "decrease": BLUE, "random": GREY}
"""What the removal of a set does to the bias."""

# Caption (also the file's name) -> the paper's item.
_ACROSS = {
    "figure6_histograms": "Figure 6",
    "figure7_predicted_observed": "Figure 7",
    "figure8_sets": "Figure 8",
}
_OF_SETUP = {
    "training_loss": "Training",
    "figure9_glove_ppmi": "Figure 9",
    "figure9_glove_word2vec": "Figure 9",
    "single_documents": "Single documents",
}
_OF_WEAT = {
    "figure1_histogram": "Figure 1",
    "figure2_predicted_observed": "Figure 2",
    "figure3_sets": "Figure 3",
    "figure4_transfer": "Figure 4",
    "figure5_bias_axis": "Figure 5",
    "metadata": "Metadata",
    "ppmi_rankings": "Section 5.3",
    "bias_gradient": "Appendix A",
    "seed_stability": "Seeds",
}
_MARKERS = "osD^vP<X>*"
_PANEL = 1.9  # inches, height of a histogram
_TITLE_WIDTH = 45  # characters above a panel


def figure_items(setups: Mapping[str, Sequence[str]]) -> list[SetupItem]:
    """List the figures that `write_figures` writes.

    Parameters
    ----------
    setups : mapping of str to sequence of str
        Names of the association tests, by setup.

    Returns
    -------
    list of SetupItem
        Each with the files ``<stem>.svg``, ``.pdf``, ``.png`` and ``.tsv``.
    """
    return list_items("figures", setups, _ACROSS, _OF_SETUP, _OF_WEAT)


def write_figures(
    setups: Sequence[Setup], word_sets: Mapping[str, WordSets], out_dir: str | os.PathLike
) -> None:
    """Write every figure that `figure_items` lists, each with the data it draws.

    Parameters
    ----------
    setups : sequence of Setup
        Result folders with their options, in the order of the panels.
    word_sets : mapping of str to WordSets
        The word sets of every association test of the setups, for the titles.
    out_dir : path-like
        Results folder of the area.

    Raises
    ------
    InputError
        When a result file, one of its columns, an option or a word set is missing.
    """
    titles = {weat: _title(word_sets, weat) for setup in setups for weat in setup.weats}
    for item in figure_items({setup.name: setup.weats for setup in setups}):
        stem = Path(out_dir) / item.stem
        setup = next((s for s in setups if s.name == item.setup), None)
        match item.caption:
            case "figure1_histogram":
                draw_histograms([setup], {item.weat: titles[item.weat]}, stem)
            case "figure6_histograms":
                draw_histograms(setups, titles, stem)
            case "figure2_predicted_observed":
                draw_estimators(setup, item.weat, titles[item.weat], stem)
            case "figure7_predicted_observed":
                draw_predicted_observed(setups, titles, stem)
            case "figure3_sets":
                draw_sets([setup], {item.weat: titles[item.weat]}, stem, random=True)
            case "figure5_bias_axis":
                draw_axis(setup, word_sets[item.weat], stem)
            case "figure8_sets":
                draw_sets(setups, titles, stem, random=False)
            case "training_loss":
                draw_loss(setup, stem)
            case "figure9_glove_ppmi":
                draw_word_sets(setup, "ppmi", stem)
            case "figure9_glove_word2vec":
                draw_word_sets(setup, "word2vec", stem)
            case "single_documents":
                draw_documents(setup, stem)
            case "figure4_transfer":
                draw_transfer(setup, item.weat, titles[item.weat], stem)
            case "ppmi_rankings":
                draw_rankings(setup, item.weat, titles[item.weat], stem)
            case "bias_gradient":
                draw_gradient(setup, item.weat, titles[item.weat], stem)
            case "seed_stability":
                draw_stability(setup, item.weat, titles[item.weat], stem)
            case _:
                draw_metadata(setup, item.weat, titles[item.weat], stem)


def draw_histograms(setups: Sequence[Setup], titles: Mapping[str, str], stem: Path) -> None:
    """Draw Figures 1 and 6: how many documents have which differential bias (Equations 5 and 8).

    Parameters
    ----------
    setups : sequence of Setup
        Rows of the grid.
    titles : mapping of str to str
        What each association test compares; the columns of the grid.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    with _grid(setups, titles, [_PANEL] * len(setups)) as (fig, panels):
        parts = []
        for setup, weat, ax in panels:
            data = _histogram(setup, weat)
            _draw_histogram(ax, data)
            parts.append(data)
        save_with_data(fig, stem, pd.concat(parts, ignore_index=True))


def draw_estimators(setup: Setup, weat: str, title: str, stem: Path) -> None:
    """Draw Figure 2: predicted against observed bias of every perturbation set, a panel an estimator.

    Parameters
    ----------
    setup : Setup
        The setup.
    weat, title : str
        The association test, and what it compares.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    data = _predictions(setup, weat, ESTIMATORS)
    markers = _markers(data)
    with figure(DOUBLE_COLUMN, 3.1) as fig:
        for ax, estimator in zip(fig.subplots(1, len(ESTIMATORS)), ESTIMATORS, strict=True):
            _draw_predictions(ax, data[data["estimator"] == estimator], markers)
            ax.set_title(estimator)
            if estimator != ESTIMATORS[0]:
                ax.set_ylabel("")
        fig.suptitle(f"{setup.name}, {weat}: {title}", parse_math=False)
        _legend(fig, _set_handles(data, markers))
        save_with_data(fig, stem, data)


def draw_predicted_observed(setups: Sequence[Setup], titles: Mapping[str, str], stem: Path) -> None:
    """Draw Figure 7: predicted (estimator influence) against observed bias, a panel a setup and test.

    Parameters
    ----------
    setups : sequence of Setup
        Rows of the grid.
    titles : mapping of str to str
        What each association test compares; the columns of the grid.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    parts = {(s.name, w): _predictions(s, w, ESTIMATORS[:1]) for s, w in _pairs(setups, titles)}
    data = pd.concat(parts.values(), ignore_index=True)
    markers = _markers(data)
    with _grid(setups, titles, [3.2] * len(setups)) as (fig, panels):
        for setup, weat, ax in panels:
            _draw_predictions(ax, parts[setup.name, weat], markers)
        _legend(fig, _set_handles(data, markers))
        save_with_data(fig, stem, data)


def draw_sets(setups: Sequence[Setup], titles: Mapping[str, str], stem: Path, *, random: bool) -> None:
    """Draw Figures 3 and 8: predicted and observed bias after the removal of each set, a row a set.

    Parameters
    ----------
    setups : sequence of Setup
        Rows of the grid.
    titles : mapping of str to str
        What each association test compares; the columns of the grid.
    stem : pathlib.Path
        Files to write, without suffix.
    random : bool
        Whether to draw the random sets too; those of one size share a row.
    """
    parts = {(s.name, w): _set_rows(s, w, random) for s, w in _pairs(setups, titles)}
    heights = [max(p["bottom"].max() for (name, _), p in parts.items() if name == s.name) for s in setups]
    with _grid(setups, titles, [0.8 + 0.2 * height for height in heights]) as (fig, panels):
        for setup, weat, ax in panels:
            _draw_sets(ax, parts[setup.name, weat])
        _legend(fig, _prediction_handles())
        data = pd.concat(parts.values(), ignore_index=True)
        save_with_data(fig, stem, data.drop(columns=["top", "bottom"]))


def draw_loss(setup: Setup, stem: Path) -> None:
    """Draw the training loss of every baseline embedding by epoch.

    Parameters
    ----------
    setup : Setup
        The setup.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    from matplotlib.ticker import LogLocator

    data = setup.table("training", "set", "seed", "epoch", "loss")
    data = data.loc[data["set"] == "baseline", ["seed", "epoch", "loss"]]
    with figure() as fig:
        ax = fig.subplots()
        for _, seed in data.groupby("seed"):
            ax.plot(seed["epoch"], seed["loss"], color=BLUE, linewidth=0.6, alpha=0.6)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 6, 8)))
        _plain_ticks(ax.yaxis, "{:g}")
        ax.set(xlabel="Epoch", ylabel="Loss per co-occurrence")
        ax.set_title(f"{setup.name}: {data['seed'].nunique()} baseline embeddings", parse_math=False)
        save_with_data(fig, stem, data)


def draw_metadata(setup: Setup, weat: str, title: str, stem: Path) -> None:
    """Draw the differential bias summed by year, section or date, a panel a metadata column of the corpus.

    Parameters
    ----------
    setup : Setup
        The setup.
    weat, title : str
        The association test, and what it compares.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    documents = setup.documents()
    columns = metadata_columns(documents)
    if "year" in columns and "date" in columns:
        columns.remove("date")
    data = aggregate_by_metadata(setup.differential_bias(weat), documents)
    factor, unit = percent_scale(setup.baseline_mean(weat))
    names = ["sum", "sum_ci_low", "sum_ci_high"]
    data = data[["column", "value", "n_documents", *names]].assign(unit=unit)
    data[names] = data[names].astype(float) * factor
    shown = [_shown_groups(data[data["column"] == column], column) for column in columns]
    n_rows = max(
        [len(part) for part, column in zip(shown, columns, strict=True) if column != "year"], default=0
    )
    height = max(2.6, 0.8 + 0.15 * n_rows) if shown else 0.8
    with figure(DOUBLE_COLUMN if len(columns) > 1 else SINGLE_COLUMN, height) as fig:
        panels = fig.subplots(1, max(1, len(columns)), squeeze=False)[0]
        for ax, column, part in zip(panels, columns, shown, strict=False):
            _draw_groups(ax, column, part, f"Sum of ΔB ({unit})")
        if not columns:
            panels[0].set_axis_off()
            panels[0].text(0.5, 0.5, "The corpus has no metadata column.", ha="center", va="center")
        fig.suptitle(f"{setup.name}, {weat}: {title}", parse_math=False)
        save_with_data(fig, stem, pd.concat(shown, ignore_index=True) if shown else data)


def _title(word_sets: Mapping[str, WordSets], weat: str) -> str:
    if weat not in word_sets:
        raise InputError(f"no word sets for '{weat}', which a setup measures; add its file with --weat")
    sets = word_sets[weat]
    return f"{'/'.join(sets.targets)} × {'/'.join(sets.attributes)}"


def _pairs(setups: Sequence[Setup], titles: Mapping[str, str]) -> list[tuple[Setup, str]]:
    return [(setup, weat) for setup in setups for weat in setup.weats if weat in titles]


@contextlib.contextmanager
def _grid(
    setups: Sequence[Setup], titles: Mapping[str, str], heights: Sequence[float]
) -> Iterator[tuple["Figure", list[tuple[Setup, str, "Axes"]]]]:
    """Yield a figure with a row a setup and a column a test, and its panels; heights of rows in inches."""
    with figure(SINGLE_COLUMN * len(titles), sum(heights) + 0.3) as fig:
        axes = fig.subplots(len(setups), len(titles), squeeze=False, height_ratios=heights)
        panels = []
        for row, setup in zip(axes, setups, strict=True):
            for ax, (weat, title) in zip(row, titles.items(), strict=True):
                if weat in setup.weats:
                    lines = [f"{setup.name}, {weat}", *textwrap.wrap(title, _TITLE_WIDTH)]
                    ax.set_title("\n".join(lines), parse_math=False)
                    panels.append((setup, weat, ax))
                else:
                    ax.set_axis_off()
        yield fig, panels


def _histogram(setup: Setup, weat: str) -> pd.DataFrame:
    mean = setup.baseline_mean(weat)
    factor, unit = percent_scale(mean)
    values = setup.differential_bias(weat)["influence_mean"].to_numpy() * factor
    width = (max(values.max(), 0) - min(values.min(), 0)) / N_BINS or 1.0
    first, last = np.floor(np.array([min(values.min(), 0), max(values.max(), 0)]) / width + 0.5)
    edges = (np.arange(first, last + 2) - 0.5) * width
    counts, _ = np.histogram(values, bins=edges)
    data = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n_documents": counts})
    return data.assign(setup=setup.name, weat=weat, unit=unit, baseline_mean=mean)


def _draw_histogram(ax: "Axes", data: pd.DataFrame) -> None:
    bars = data[data["n_documents"] > 0]
    colours = np.select(
        [bars["high"] < 0, bars["low"] > 0], [KIND_COLOURS["increase"], KIND_COLOURS["decrease"]], GREY
    )
    ax.bar(bars["low"], bars["n_documents"], bars["high"] - bars["low"], align="edge", color=colours)
    ax.set_yscale("log")
    ax.set_ylim(0.7, 3 * data["n_documents"].max())
    ax.margins(x=0.03)
    ax.locator_params(axis="x", nbins=7)
    _plain_ticks(ax.yaxis, "{:,.0f}")
    ax.set(xlabel=f"Differential bias ({data['unit'].iloc[0]})", ylabel="Documents")
    for x, side, kind, text in (
        (0.02, "left", "increase", "removal raises the bias"),
        (0.98, "right", "decrease", "removal lowers it"),
    ):
        ax.text(
            x, 0.99, text, color=KIND_COLOURS[kind], fontsize=6, ha=side, va="top", transform=ax.transAxes
        )


def _predictions(setup: Setup, weat: str, estimators: Sequence[str]) -> pd.DataFrame:
    """Return predicted and observed bias of every set with the line that was fitted to the targeted ones."""
    columns = ["weat", "set", "kind", "size", "replicate", "estimator", "predicted_mean", "predicted_sd"]
    columns += ["observed_mean", "observed_sd", "baseline_mean", "baseline_sd"]
    fit = ["weat", "estimator", "r2", "slope", "intercept"]
    data = setup.of_weat("perturbations", weat, *columns)[columns]
    data = data.merge(
        setup.of_weat("correlation", weat, *fit)[fit], on=["weat", "estimator"], validate="many_to_one"
    )
    data.insert(0, "setup", setup.name)
    return data[data["estimator"].isin(estimators)].reset_index(drop=True)


def _markers(data: pd.DataFrame) -> dict[int, str]:
    """Give each size of a set its marker."""
    return {size: _MARKERS[i % len(_MARKERS)] for i, size in enumerate(sorted(data["size"].unique()))}


def _limits(data: pd.DataFrame) -> tuple[float, float]:
    """Return common limits of both axes that take in every error bar."""
    ends = [
        data[f"{what}_mean"] + sign * data[f"{what}_sd"].fillna(0)
        for what in ("predicted", "observed")
        for sign in (-1, 1)
    ]
    low, high = np.min(ends), np.max(ends)
    margin = 0.05 * (high - low or 1)
    return low - margin, high + margin


def _draw_predictions(ax: "Axes", data: pd.DataFrame, markers: Mapping[int, str]) -> None:
    limits, baseline = _limits(data), data["baseline_mean"].iloc[0]
    r2, slope, intercept = data[["r2", "slope", "intercept"]].iloc[0]
    ax.axline((baseline, baseline), slope=1, color=LIGHT_GREY, linewidth=0.5, zorder=0)
    ax.axhline(baseline, color=LIGHT_GREY, linestyle=":", linewidth=0.8, zorder=0)
    ax.axvline(baseline, color=BLACK, linestyle=":", linewidth=0.8, zorder=1.5)
    for (kind, size), part in data.groupby(["kind", "size"]):
        random = kind == "random"
        ax.errorbar(
            part["predicted_mean"],
            part["observed_mean"],
            xerr=part["predicted_sd"],
            yerr=part["observed_sd"],
            color=LIGHT_GREY if random else KIND_COLOURS[kind],
            ecolor=PALE_GREY if random else None,
            marker=markers[size],
            linestyle="none",
            elinewidth=0.5,
            markersize=2.5 if random else 3.5,
            zorder=1 if random else 2,
        )
    ends = data.loc[data["kind"] != "random", "predicted_mean"].agg(["min", "max"])
    ax.plot(ends, intercept + slope * ends, color=BLACK, linestyle="--", linewidth=0.8, zorder=3)
    if np.isfinite(r2):
        ax.text(0.04, 0.96, f"r² = {r2:.3f}\nslope = {slope:.2f}", va="top", transform=ax.transAxes)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.locator_params(nbins=6)
    ax.set(xlabel="Predicted effect size", ylabel="Observed effect size")


def _set_handles(data: pd.DataFrame, markers: Mapping[int, str]) -> list[list["Artist"]]:
    from matplotlib.lines import Line2D

    colours = {**KIND_COLOURS, "random": LIGHT_GREY}
    kinds = [kind for kind in colours if (data["kind"] == kind).any()]
    meanings = [Line2D([], [], color=colours[k], marker="o", linestyle="none", label=k) for k in kinds]
    meanings += [
        Line2D([], [], color=BLACK, linestyle="--", label="least squares"),
        Line2D([], [], color=BLACK, linestyle=":", label="baseline mean"),
        Line2D([], [], color=LIGHT_GREY, linewidth=0.5, label="identity"),
    ]
    sizes = [
        Line2D([], [], color=GREY, marker=marker, linestyle="none", label=f"n = {size:,}")
        for size, marker in markers.items()
    ]
    return [meanings, sizes]


def _prediction_handles() -> list[list["Artist"]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    circle = {"color": BLACK, "marker": "o", "linestyle": "none"}
    return [
        [
            Line2D([], [], markerfacecolor="white", label="predicted ± 1 sd", **circle),
            Line2D([], [], color=BLACK, linestyle=":", label="baseline mean"),
        ],
        [
            Line2D([], [], label="observed ± 1 sd", **circle),
            Patch(color=LIGHT_GREY, alpha=0.35, label="baseline ± 1 sd"),
        ],
    ]


def _legend(fig: "Figure", rows: Sequence[Sequence["Artist"]]) -> None:
    """Put the legend below the panels, row by row (matplotlib itself fills it column by column)."""
    from matplotlib.lines import Line2D

    fitting = int(fig.get_figwidth() / 1.1)
    rows = [row[i : i + fitting] for row in rows for i in range(0, len(row), fitting)]
    blank = Line2D([], [], linestyle="none", label=" ")
    columns = list(itertools.zip_longest(*rows, fillvalue=blank))
    handles = list(itertools.chain(*columns))
    fig.legend(handles=handles, loc="outside lower center", ncols=len(columns))


def _set_rows(setup: Setup, weat: str, random: bool) -> pd.DataFrame:
    """Return the sets from top to bottom, each with the place it takes; sets of one kind and size adjoin."""
    data = _predictions(setup, weat, ESTIMATORS[:1]).drop(columns=["r2", "slope", "intercept"])
    if not random:
        data = data[data["kind"] != "random"]
    order = pd.DataFrame(
        {
            "kind": data["kind"].map({"increase": 0, "random": 1, "decrease": 2}),
            "size": data["size"].where(data["kind"] == "decrease", -data["size"]),
            "replicate": data["replicate"],
        }
    )
    data = data.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)
    replicates = data.groupby(["kind", "size"])["set"].transform("size")
    height = (1 / replicates).clip(lower=0.45)
    bottom = height.cumsum()
    return data.assign(top=bottom - height, bottom=bottom)


def _draw_sets(ax: "Axes", data: pd.DataFrame) -> None:
    mean, sd = data[["baseline_mean", "baseline_sd"]].iloc[0]
    ax.axvspan(mean - sd, mean + sd, color=LIGHT_GREY, alpha=0.35, zorder=0)
    ax.axvline(mean, color=BLACK, linestyle=":", linewidth=0.8, zorder=0)
    for what, place, filled in (("predicted", 0.32, False), ("observed", 0.68, True)):
        for kind, part in data.groupby("kind"):
            colour = KIND_COLOURS[kind]
            ax.errorbar(
                part[f"{what}_mean"],
                part["top"] + place * (part["bottom"] - part["top"]),
                xerr=part[f"{what}_sd"],
                color=colour,
                marker="o",
                markerfacecolor=colour if filled else "white",
                markeredgewidth=0.7,
                markersize=2 if kind == "random" else 3.5,
                elinewidth=0.4 if kind == "random" else 0.6,
                linestyle="none",
            )
    rows = data.groupby(["kind", "size"]).agg({"top": "min", "bottom": "max"})
    labels = [f"{kind} - {size}" for kind, size in rows.index]
    ax.set_yticks((rows["top"] + rows["bottom"]) / 2, labels)
    ax.set_ylim(data["bottom"].max() + 0.1, -0.1)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel("Effect size after removal")


def _plain_ticks(axis, template: str) -> None:
    """Write the ticks of a logarithmic axis as plain numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: template.format(value)))
    axis.set_minor_formatter(NullFormatter())


def _shown_groups(data: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return every year, or the groups with the largest sums, from the largest sum down."""
    if column == "year":
        return data.sort_values("value")
    return data.loc[
        data["sum"].abs().sort_values(ascending=False, kind="stable").index[:N_GROUPS]
    ].sort_values("sum", ascending=False, kind="stable")


def _draw_groups(ax: "Axes", column: str, data: pd.DataFrame, label: str) -> None:
    errors = np.stack([data["sum"] - data["sum_ci_low"], data["sum_ci_high"] - data["sum"]])
    style = {"color": BLUE, "marker": "o", "linestyle": "none", "elinewidth": 0.6, "markersize": 3}
    places = np.arange(len(data))
    if column == "year":
        ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
        ax.errorbar(places, data["sum"], yerr=errors, **style)
        every = max(1, -(-len(data) // 8))
        ax.set_xticks(places[::every], data["value"].iloc[::every], parse_math=False)
        ax.set(xlabel="Year", ylabel=label)
    else:
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=0)
        ax.errorbar(data["sum"], places, xerr=errors, **style)
        names = [name if len(name) <= 30 else f"{name[:29]}…" for name in data["value"]]
        ax.set_yticks(places, names, parse_math=False)
        ax.set_ylim(len(data) - 0.4, -0.6)
        ax.set(xlabel=label, title=column.capitalize())
