"""Report HateCheck (Röttger et al. 2021) by functionality: one table of all corpora, one figure a corpus."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.stats import mean_interval, share_interval
from biaslab.core.tables import MISSING, Table
from biaslab.hate_speech.report.figures import say_nothing
from biaslab.hate_speech.report.results import (
    baseline,
    in_order,
    read_all,
    stacked,
    title,
    together,
    with_interval,
    without_quirks,
)
from biaslab.run.area import UNIT, figure, table
from biaslab.run.plan.reports import Results

OVER_SEEDS, OVER_TEXTS = "seeds", "texts"
"""Unit of variation of an interval: trainings with other seeds (Student's t), or texts of one training."""
FUNCTIONALITIES = {
    "derog_neg_emote_h": "Strong negative emotions",
    "derog_neg_attrib_h": "Very negative attributes",
    "derog_dehum_h": "Dehumanisation",
    "derog_impl_h": "Implicit derogation",
    "threat_dir_h": "Direct threat",
    "threat_norm_h": "Threat as normative statement",
    "slur_h": "Slur",
    "slur_homonym_nh": "Homonym of a slur",
    "slur_reclaimed_nh": "Reclaimed slur",
    "profanity_h": "Hate with profanity",
    "profanity_nh": "Profanity without hate",
    "ref_subs_clause_h": "Reference in a later clause",
    "ref_subs_sent_h": "Reference in a later sentence",
    "negate_pos_h": "Negated positive statement",
    "negate_neg_nh": "Negated hateful statement",
    "phrase_question_h": "Phrased as a question",
    "phrase_opinion_h": "Phrased as an opinion",
    "ident_neutral_nh": "Neutral statement with identifier",
    "ident_pos_nh": "Positive statement with identifier",
    "counter_quote_nh": "Denouncement that quotes hate",
    "counter_ref_nh": "Denouncement that refers to hate",
    "target_obj_nh": "Abuse of objects",
    "target_indiv_nh": "Abuse of individuals",
    "target_group_nh": "Abuse of non-protected groups",
    "spell_char_swap_h": "Swapped letters",
    "spell_char_del_h": "Missing letters",
    "spell_space_del_h": "Missing spaces",
    "spell_space_add_h": "Added spaces",
    "spell_leet_h": "Leet spelling",
    "(all hateful)": "All hateful cases",
    "(all non-hateful)": "All other cases",
    "(all)": "All cases",
}
"""Titles of functionalities in the order of HateCheck; other functionalities keep their name."""
EVERY_HATEFUL, EVERY_OTHER, EVERY = tuple(FUNCTIONALITIES)[-3:]
_N_COLUMNS = 3
_ROW, _PANEL = 0.12, 0.35  # heights in inches: of a row, and of the rest of a panel
_LEGEND = 0.75


@table("hatecheck", "HateCheck by functionality", "functionalities")
def hatecheck(units: Sequence[Results]) -> Table:
    """Return the pass rates of HateCheck's functionalities, a column for each method."""
    data = pass_rates(read_all(units, "functionalities"))
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in data.itertuples():
        gold = MISSING if row.functionality == EVERY else "yes" if row.is_hateful else "no"
        numbers = [pd.Series([100.0 * x]) for x in (row.rate, row.ci_low, row.ci_high)]
        key = (row.corpus, _name(row.functionality), gold, f"{row.n:,.0f}")
        cells.setdefault(key, {})[row.method] = with_interval(*numbers, ".1f")[0]
    methods = in_order(data["method"])
    rows = [[*key, *(cell.get(method, MISSING) for method in methods)] for key, cell in cells.items()]
    heads = ["Corpus", "Functionality", "Hateful", "Cases", *map(title, methods)]
    note = (
        "HateCheck's cases (Röttger et al. 2021) that are classified as they should be, in percent."
        " Mean over the seeds with Student's 95% interval, cut at the ends of the scale; of a single seed,"
        " the binomial interval over its texts, if any."
    )
    return Table(data, pd.DataFrame(rows, columns=heads, dtype=str), "HateCheck by functionality", note)


def pass_rates(functionalities: pd.DataFrame) -> pd.DataFrame:
    """Average the pass rates of each functionality, and of all hateful, all other and all cases.

    ``ci_low`` and ``ci_high`` are Student's 95% interval over the seeds, clipped to [0, 1] (column
    ``interval``: `OVER_SEEDS`). With a single seed, they are the interval over its texts (`OVER_TEXTS`).
    """
    plain = without_quirks(functionalities)
    hateful, other = plain[plain["is_hateful"]], plain[~plain["is_hateful"]]
    pooled = [_pool(hateful, EVERY_HATEFUL), _pool(other, EVERY_OTHER), _pool(plain, EVERY)]
    keys, rows = ["corpus", "functionality", "is_hateful", "n", "method"], []
    for key, part in stacked([plain, *pooled]).groupby(keys, sort=False):
        if len(part) > 1:
            ends, interval = np.clip(mean_interval(part["rate"]), 0, 1), OVER_SEEDS
        else:
            ends, interval = part[["ci_low", "ci_high"]].iloc[0], OVER_TEXTS
        rows.append([*key, len(part), part["rate"].mean(), *ends, interval])
    columns = [*keys, "n_seeds", "rate", "ci_low", "ci_high", "interval"]
    return together(pd.DataFrame(rows, columns=columns), ["corpus"])


def _pool(cases: pd.DataFrame, name: str) -> pd.DataFrame:
    keys = ["corpus", "method", "seed"]
    sums = cases.groupby(keys, sort=False).agg(
        n=("n", "sum"), passed=("passed", "sum"), is_hateful=("is_hateful", "first")
    )
    ends = [share_interval(int(k), int(n)) for k, n in zip(sums["passed"], sums["n"], strict=True)]
    sums[["ci_low", "ci_high"]] = pd.DataFrame(ends, index=sums.index, columns=["ci_low", "ci_high"])
    return sums.assign(rate=sums["passed"] / sums["n"], functionality=name).reset_index()


@figure("hatecheck", "HateCheck by functionality", "functionalities", caption="hatecheck_figure", per=UNIT)
def draw_hatecheck(unit: Results, stem: Path) -> None:
    """Draw the pass rate of each functionality, one panel for each method, together with its baseline."""
    rates = pass_rates(read_all([unit], "functionalities"))
    single = rates[~rates["functionality"].isin((EVERY, EVERY_HATEFUL, EVERY_OTHER))]
    data = single.drop(columns="corpus").rename(columns={"rate": "value"})
    data = data.sort_values("is_hateful", ascending=False, kind="stable").reset_index(drop=True)
    names = list(data["functionality"].unique())
    n_hateful = data.loc[data["is_hateful"].eq(True), "functionality"].nunique()
    methods = in_order(data["method"])
    changed = {baseline(method) for method in methods}
    panels = [method for method in methods if baseline(method) or method not in changed]
    n_columns = max(1, min(len(panels), _N_COLUMNS))
    height = _ROW * max(len(names), 6) + _PANEL
    with plot.panels(len(panels), n_columns, height, _LEGEND, sharex=True, sharey=True) as (fig, axes):
        for place, (ax, method) in enumerate(zip(axes, panels, strict=True)):
            for series in filter(None, (baseline(method), method)):
                _draw_rows(ax, data[data["method"] == series], names)
            ax.set_title(title(method))
            if n_hateful:
                is_last = place % n_columns == n_columns - 1 or method == panels[-1]
                _set_off(ax, n_hateful, len(names), is_last)
            ax.tick_params(labelbottom=True)
            if place + n_columns >= len(panels):
                ax.set_xlabel("Cases classified right (%)")
        fig.axes[0].set_yticks(range(len(names)), list(map(_name, names)))
        fig.axes[0].set_ylim(max(len(names), 1) - 0.4, -0.6)
        if panels:  # take the legend from the panel with most entries: a panel may lack the baseline
            fullest = max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[1]))
            plot.legend_below(fig, fullest, 2)
            is_of_texts = data["interval"].eq(OVER_TEXTS)
            heading = f"Mean and 95% interval over {data['n_seeds'].max()} seeds"
            if is_of_texts.any():
                heading += "; of a single seed, 95% interval over the texts"
            if is_of_texts.all():
                heading = "One seed, 95% interval over the texts"
            fig.legends[0].set_title(heading)
        else:
            say_nothing(fig.axes[0])
        plot.save_with_data(fig, stem, data)


def _draw_rows(ax: plot.Axes, data: pd.DataFrame, rows: Sequence[str]) -> None:
    """Draw the marks of one method: a baseline above the middle of the row, other methods below."""
    if data.empty:
        return
    is_changed = bool(baseline(data["method"].iloc[0]))
    y = data["functionality"].map(rows.index) + (0.17 if is_changed else -0.17)
    x = 100 * data["value"].to_numpy(float)
    ends = 100 * data[["ci_low", "ci_high"]].to_numpy(float).T
    ax.errorbar(
        x,
        y,
        xerr=np.nan_to_num(np.abs(ends - x)),
        linestyle="",
        marker="o",
        markersize=2.8,
        color=plot.VERMILION if is_changed else plot.GREY,
        markerfacecolor=plot.VERMILION if is_changed else "white",
        markeredgewidth=0.7,
        elinewidth=0.6,
        label="With (WR, OC, SOC or EAR)" if is_changed else "Without (the encoder or BoW alone)",
    )
    ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    ax.grid(visible=True, axis="x")
    edges = np.arange(0.5, len(rows) - 1)
    ax.hlines(edges, 0, 1, plot.LIGHT_GREY, linewidth=0.25, zorder=0, transform=ax.get_yaxis_transform())
    ax.tick_params(axis="y", length=0)


def _set_off(ax: plot.Axes, n_hateful: int, n_rows: int, is_named: bool) -> None:
    """Separate the rows of hateful texts from the others, and label both groups on the right."""
    ax.axhline(n_hateful - 0.5, color=plot.GREY, linewidth=0.6)
    ax.set_xlim(-3, 103)
    for first, last, name in ((0, n_hateful, "hateful"), (n_hateful, n_rows, "not hateful")):
        if is_named and last > first:
            ax.text(
                1.01, (first + last - 1) / 2, name, transform=ax.get_yaxis_transform(), rotation=270,
                horizontalalignment="left", verticalalignment="center",
            )  # fmt: skip


def _name(functionality: str) -> str:
    return FUNCTIONALITIES.get(functionality, functionality.replace("_", " "))
