"""The figures of debiasing, each for one embedding (Bolukbasi et al. 2016)."""

import math
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import in_words
from biaslab.core import plotting as plot
from biaslab.debiasing import settings
from biaslab.debiasing.report.tables import BENCHMARKS, METHODS, REMAINING, STAGES, extremes, read
from biaslab.debiasing.settings import PAIRS, UNITS
from biaslab.run.area import UNIT, figure
from biaslab.run.plan.reports import Results

_N_EXTREME = 12
_STYLES = {
    "before": (plot.BLACK, {"marker": "o", "markersize": 3.5}),
    "soft": (plot.BLUE, {"marker": "D", "markersize": 5, "fillstyle": "none"}),
    "hard": (plot.VERMILION, {"marker": "|", "markersize": 5}),
}
_SCORES = dict(zip(BENCHMARKS, ((plot.BLUE, "o"), (plot.VERMILION, "s"), (plot.GREEN, "^")), strict=True))
_TESTS = ((plot.BLUE, "o"), (plot.VERMILION, "s"), (plot.GREEN, "^"), (plot.BLACK, "D"), (plot.GREY, "v"))
_LARGEST_EFFECT = 2.0  # of any association test
_SCORE_RANGE = 5  # points of a score, × 100: a change that one would notice
_GUESSED = ("cluster_accuracy", "classifier_accuracy")  # measures that are 0.5 for guessing

_QUALITY_RANGE = (80, 105)
"""The range of the figure in percent of the original benchmark scores, unless a method keeps less."""

_METHOD_STYLES = dict(zip(settings.METHODS, zip(cycle(plot.SERIES), cycle("osD^v<>pP")), strict=False))
_CHANCE = {PAIRS: (plot.GREY, "--"), UNITS: (plot.LIGHT_GREY, ":")}
_LETTER, _LINE = 0.6, 1.3  # width of a letter and height of a line in font sizes


@figure("figure1_occupations", "Figure 1: extreme occupations", "occupations", per=UNIT)
def draw_occupations(unit: Results, stem: Path) -> None:
    """Draw the most extreme occupations on the she-he axis before and after (Figure 1, left)."""
    data = extremes(read(unit, "occupations"), _N_EXTREME)
    with plot.figure(plot.DOUBLE_COLUMN, 2.6) as fig:
        for ax, (end, part) in zip(fig.subplots(1, 2), data.groupby("end", sort=False), strict=True):
            for stage, (colour, style) in _STYLES.items():
                if stage in part:
                    ax.plot(
                        part[stage], part["place"], color=colour, label=STAGES[stage], linestyle="", **style
                    )
            ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
            ax.set_yticks(part["place"], part["word"].str.replace("_", " "))
            ax.invert_yaxis()
            ax.set_title(f"Extreme {end}")
            ax.set_xlabel("Cosine with she − he")
        plot.legend_below(fig, ax, len(_STYLES))
        plot.save_with_data(fig, stem, data)


@figure("figure2_components", "Figure 2: principal components", "subspace", per=UNIT)
def draw_components(unit: Results, stem: Path) -> None:
    """Draw the variance explained by the components, compared with chance (Figure 2, middle)."""
    subspace = read(unit, "subspace")
    percent = subspace.assign(**{name: 100 * subspace[name] for name in subspace.columns.drop("component")})
    chance = (("unit", -0.12, plot.VERMILION, "unit vectors"), ("random", 0.12, plot.BLACK, "pairs of words"))
    with plot.figure(plot.SINGLE_COLUMN, 2.3) as fig:
        ax = fig.subplots()
        ax.bar(percent["component"], percent["share"], 0.7, color=plot.BLUE, label="Defining sets")
        for name, shift, colour, label in chance:
            mean = percent[f"{name}_mean"]
            lengths = np.maximum([mean - percent[f"{name}_ci_low"], percent[f"{name}_ci_high"] - mean], 0)
            ax.errorbar(
                percent["component"] + shift, mean, lengths, fmt="o", color=colour, markersize=2.5,
                elinewidth=0.8, capsize=1.5, label=f"Random {label}",
            )  # fmt: skip
        ax.set_xticks(percent["component"])
        ax.set_xlabel("Principal component")
        ax.set_ylabel("Variance explained (%)")
        plot.legend_below(fig, ax, 2)
        plot.save_with_data(fig, stem, subspace)


@figure("figure3_words", "Figure 3: words on two axes", "axes", per=UNIT)
def draw_words(unit: Results, stem: Path) -> None:
    """Draw words on the she-he axis and the axis of neutrality, a panel a stage (Figure 3)."""
    axes = read(unit, "axes")
    stages = [stage for stage in STAGES if (axes["stage"] == stage).any()]
    with plot.figure(plot.DOUBLE_COLUMN, 3.6) as fig:
        panels = fig.subplots(1, len(stages), sharex=True, sharey=True, squeeze=False)[0]
        for ax, stage in zip(panels, stages, strict=True):
            part = axes[axes["stage"] == stage]
            for is_specific, colour, label in (
                (False, plot.BLUE, "Occupations"),
                (True, plot.VERMILION, "Gender-specific words"),
            ):
                chosen = part[part["gender_specific"] == is_specific]
                ax.plot(
                    chosen["she_he"], chosen["neutrality"], ".", color=colour, markersize=2.5, label=label
                )
            ax.axhline(0, color=plot.GREY, linewidth=0.6, zorder=0)
            ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
            ax.set_title(STAGES[stage])
            ax.set_xlabel("he  ←  cosine with she − he  →  she")
        panels[0].set_ylabel("specific  ←  distance from the boundary  →  neutral")
        plot.legend_below(fig, panels[0], 2, marker_scale=2)
        fig.canvas.draw()  # lays out the panels, so that the space for labels is known
        for ax, stage in zip(panels, stages, strict=True):
            _label_words(ax, axes[axes["stage"] == stage])
        plot.save_with_data(fig, stem, axes)


@figure("lambda_path", "Bias and quality along soft debiasing", "lambda_path", "bias", "settings", per=UNIT)
def draw_path(unit: Results, stem: Path) -> None:
    """Draw bias against the weight of soft debiasing, and benchmark scores against bias."""
    path = read(unit, "lambda_path")
    with plot.figure(plot.DOUBLE_COLUMN, 2.5) as fig:
        bias, tests, scores = fig.subplots(1, 3)
        _draw_lines(bias, path, {
            "direct_bias": ("Along the original direction", plot.BLUE, "o"),
            "direct_bias_refit": ("Along the recomputed direction", plot.VERMILION, "s"),
        })  # fmt: skip
        draw_chance(bias, unit)
        bias.set_ylim(0, 1.5 * path[["direct_bias", "direct_bias_refit"]].max(axis=None))
        bias.set_ylabel("DirectBias")
        measured = [name for name in path if name.endswith("_effect_size") and path[name].notna().any()]
        labels = [in_words(name.removesuffix("_effect_size")) for name in measured]
        _draw_lines(tests, path, {n: (m, *s) for n, m, s in zip(measured, labels, cycle(_TESTS))})
        tests.axhline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
        tests.set_ylim(-_LARGEST_EFFECT, _LARGEST_EFFECT)
        tests.set_ylabel("Effect size of association tests")
        for ax in (bias, tests):
            ax.set_xscale("symlog", linthresh=path["lambda"][path["lambda"] > 0].min())
            ax.set_xlim(left=0)
            ax.set_xlabel("Weight of the bias, λ")
        _draw_scores(scores, path)
        for ax in (bias, tests, scores):
            if ax.get_legend_handles_labels()[1]:
                ax.legend(loc="best")
        plot.save_with_data(fig, stem, path)


@figure("methods", "Bias that remains against quality kept", "methods", "bias", "settings", per=UNIT)
def draw_methods(unit: Results, stem: Path) -> None:
    """Draw the remaining bias by four measures against the quality kept, one point per method."""
    data = read(unit, "methods")
    kept = quality_kept(data)
    drawn = data[data["measure"].isin(REMAINING)].rename(columns={"value": "remaining"})
    drawn = drawn.assign(kept=drawn["method"].map(kept))
    with plot.figure(plot.DOUBLE_COLUMN, 2.4) as fig:
        panels = fig.subplots(1, len(REMAINING), sharex=True)
        for ax, (measure, label) in zip(panels, REMAINING.items(), strict=True):
            if measure == "direct_bias":
                draw_chance(ax, unit)
            elif measure in _GUESSED:
                ax.axhline(0.5, color=plot.BLACK, linestyle=":", linewidth=0.8, zorder=0, label="Guessing")
            _draw_methods(ax, drawn[drawn["measure"] == measure])
            ax.set_title(label)
            top = max(1.05 * (measure != "direct_bias"), ax.get_ylim()[1])
            ax.set_ylim(-0.04 * top, top)
            ax.set_xlim(min(_QUALITY_RANGE[0], ax.get_xlim()[0]), max(_QUALITY_RANGE[1], ax.get_xlim()[1]))
            ax.set_xlabel("Quality kept (%)")
        panels[0].set_ylabel("Bias that remains")
        marks = {
            label: mark for ax in panels for mark, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        fig.legend(marks.values(), marks, loc="outside lower center", ncols=5)
        plot.save_with_data(
            fig, stem, drawn[["method", "measure", "remaining", "ci_low", "ci_high", "n", "kept"]]
        )


def quality_kept(data: pd.DataFrame) -> pd.Series:
    """Return the mean benchmark score of each method in percent of the original; empty without scores."""
    scores = data[data["measure"].isin(BENCHMARKS)].pivot(index="method", columns="measure", values="value")
    scores = scores.dropna(axis="columns")
    before = scores.loc["none"] if "none" in scores.index else np.nan
    return (100 * scores.mean(axis="columns") / np.mean(before)).rename("kept")


def draw_chance(ax: plot.Axes, unit: Results) -> None:
    """Draw the DirectBias of a random direction."""
    ax.axhline(
        by_chance(unit), color=plot.GREY, linestyle="-.", linewidth=0.8, zorder=0, label="A random direction"
    )


def by_chance(unit: Results) -> float:
    """Return the expected DirectBias of a random direction.

    For any words, the mean of abs(cos)^c over directions of d dimensions, where c is the strictness, is
    Gamma((c + 1) / 2) Gamma(d / 2) / (sqrt(pi) Gamma((c + d) / 2)).
    """
    measured, settings = read(unit, "bias"), read(unit, "settings").set_index("setting")["value"]
    d = float(measured.loc[measured["measure"] == "dimension", "value"].iloc[0])
    c = float(settings["strictness"])
    logarithm = math.lgamma((c + 1) / 2) + math.lgamma(d / 2) - math.lgamma((c + d) / 2)
    return math.exp(logarithm) / math.sqrt(math.pi)


def _draw_methods(ax: plot.Axes, part: pd.DataFrame) -> None:
    for row in part.itertuples():
        if row.method in _CHANCE:
            colour, line = _CHANCE[row.method]
            ax.axhspan(row.ci_low, row.ci_high, color=colour, alpha=0.25, linewidth=0, zorder=0)
            ax.axhline(
                row.remaining,
                color=colour,
                linestyle=line,
                linewidth=0.9,
                label=METHODS[row.method],
                zorder=1,
            )
            continue
        colour, marker = _METHOD_STYLES[row.method]
        lengths = None
        if not pd.isna(row.ci_low):
            lengths = [[max(row.remaining - row.ci_low, 0)], [max(row.ci_high - row.remaining, 0)]]
        ax.errorbar(
            row.kept, row.remaining, lengths, fmt=marker, color=colour, fillstyle="none", markersize=4,
            elinewidth=0.8, capsize=1.5, label=METHODS[row.method],
        )  # fmt: skip
    ax.margins(x=0.15)


def _draw_scores(ax: plot.Axes, path: pd.DataFrame) -> None:
    for name, (colour, marker) in _SCORES.items():
        if path[name].notna().any():
            change = path[name] - path[name].iloc[0]
            ax.plot(
                path["direct_bias"], change, color=colour, marker=marker, markersize=3, label=BENCHMARKS[name]
            )
    if not ax.lines:
        ax.text(0.5, 0.5, "no benchmark has a score", transform=ax.transAxes, ha="center")
    ax.axhline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, -_SCORE_RANGE), max(high, _SCORE_RANGE))
    ax.invert_xaxis()
    ax.set_xlabel("DirectBias (falls with λ)")
    ax.set_ylabel(f"Change of score (× 100) since λ = {path['lambda'].iloc[0]:g}")


def _draw_lines(ax: plot.Axes, path: pd.DataFrame, styles: dict[str, tuple[str, str, str]]) -> None:
    for column, (label, colour, marker) in styles.items():
        ax.plot(
            path["lambda"],
            path[column],
            color=colour,
            marker=marker,
            markersize=3,
            label=label,
            clip_on=False,
        )


def _label_words(ax: plot.Axes, words: pd.DataFrame) -> None:
    """Label words next to their points, the outermost first, if no other label is in the way."""
    from matplotlib.patheffects import withStroke

    size = 5.0
    pixels = size * ax.figure.dpi / 72
    boxes: list[tuple[float, float, float, float]] = []
    scaled = words[["she_he", "neutrality"]] / words[["she_he", "neutrality"]].abs().max().replace(0, 1)
    order = np.argsort(-np.hypot(*scaled.to_numpy().T), kind="stable")
    for word, x, y in words[["word", "she_he", "neutrality"]].iloc[order].itertuples(index=False):
        left, middle = ax.transData.transform((x, y))
        right, half = left + _LETTER * pixels * len(word), _LINE * pixels / 2
        box = left, middle - half, right, middle + half
        is_free = not any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
            for other in boxes
        )
        if right < ax.bbox.x1 and is_free:
            boxes.append(box)
            ax.annotate(
                word.replace("_", " "), (x, y), (2, 0), textcoords="offset points", fontsize=size,
                va="center", path_effects=[withStroke(linewidth=1, foreground="white")],
            )  # fmt: skip
