"""Testers at equal numbers of queries: a table and a figure beyond the paper."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.fairness_testing.names import PAPER, PUBLISHED, SETTING
from biaslab.fairness_testing.report.figures import draw_means, settings_of
from biaslab.fairness_testing.report.results import (
    TESTER_NAMES,
    mean_texts,
    ratio,
    read_all,
    setting_in_words,
    summarize,
)
from biaslab.fairness_testing.report.tables import MODE_NAMES
from biaslab.run.reports import Results

_BASE = "adf"
"""The tester that all others are compared with."""
_RUN = [*SETTING, "tester", "mode"]
_SEARCH = [*SETTING, "mode", "repetition", "budget"]
_COLOURS, _MARKERS = (plot.GREEN, plot.PURPLE, plot.BLUE, plot.GREY), ("o", "s", "^", "D")
_ROW, _LEGEND = 0.24, 0.9  # heights in inches
_SHOWN = {
    "Classifier": "{classifier}",
    "Protected": "{protected}",
    "Tester": "{name}",
    "Mode": "{mode_name}",
}
_REPETITIONS = (
    " Mean ± half the width of its 95% interval (Student's t) over repetitions, each with seeds in another"
    " order, the same for all testers, and other random numbers."
)


def relative(budgets: pd.DataFrame) -> pd.DataFrame:
    """Compare the finds of testers with ADF's in the same mode, repetition and budget (percent)."""
    base = budgets.loc[budgets["tester"] == _BASE, [*_SEARCH, "n_discriminatory"]]
    both = budgets.merge(base, on=_SEARCH, how="left", suffixes=("", "_base"))
    both["of_adf"] = 100 * ratio(both["n_discriminatory"], both["n_discriminatory_base"])
    both.loc[both["tester"] == _BASE, "of_adf"] = np.nan
    return summarize(both, [*_RUN, "budget"], ["n_queries", "n_discriminatory", "of_adf"])


def budget_table(units: Sequence[Results]) -> Table:
    """Return the discriminatory samples that testers find at equal numbers of queries."""
    data = relative(read_all(units, "budgets"))
    counts = mean_texts(data, "n_discriminatory", ",.0f")
    compared = mean_texts(data, "of_adf", ".0f")
    texts = data.assign(found=counts, compared=compared)
    wide = texts.pivot(index=_RUN, columns="budget", values=["found", "compared"])
    wide = wide.reindex(pd.MultiIndex.from_frame(data[_RUN].drop_duplicates()))
    cells = dict(_SHOWN)
    runs = wide.index.to_frame(index=False)
    rows = runs.assign(name=runs["tester"].map(TESTER_NAMES), mode_name=runs["mode"].map(MODE_NAMES))
    for budget in sorted(data["budget"].unique()):
        for kind, head in (("found", "{:,} queries"), ("compared", "% of ADF's at {:,}")):
            rows[f"{kind}_{budget}"] = wide[kind, budget].to_numpy()
            cells[head.format(budget)] = f"{{{kind}_{budget}}}"
    note = (
        "Different discriminatory samples; a query is a sample that the network is asked about, a gradient"
        " too. All testers walk from a seed before they take the next one. Protected attributes with a comma"
        " vary together: a pair may differ in any of them." + _REPETITIONS
    )
    return Table(data, text_columns(rows, cells), "Discriminatory samples at equal numbers of queries", note)


def draw_budgets(units: Sequence[Results], stem: Path) -> None:
    """Draw the testers' finds in percent of ADF's at the largest budget, one panel per mode."""
    data = relative(read_all(units, "budgets"))
    data = data[(data["budget"] == data["budget"].max()) & (data["tester"] != _BASE)]
    settings = settings_of(data, SETTING)
    testers = [tester for tester in TESTER_NAMES if (data["tester"] == tester).any()]
    with plot.figure(plot.DOUBLE_COLUMN, _ROW * len(settings) + _LEGEND) as fig:
        axes = fig.subplots(1, 2, sharey=True)
        for ax, mode in zip(axes, (PUBLISHED, PAPER), strict=True):
            part = data[data["mode"] == mode]
            _draw_mode(ax, part, settings, testers)
            absent = [TESTER_NAMES[name] for name in testers if not (part["tester"] == name).any()]
            suffix = f"; {', '.join(absent)} is identical in both" if absent else ""
            ax.set_title(f"Testers {MODE_NAMES[mode]}{suffix}")
            ax.set_xlabel("Discriminatory samples (% of ADF's)")
        axes[0].set_yticks(range(len(settings)), [setting_in_words(name, ": ") for name in settings])
        axes[0].set_ylim(len(settings) - 0.5, -0.5)
        plot.legend_below(fig, axes[0], len(testers))
        plot.save_with_data(fig, stem, data)


def _draw_mode(
    ax: plot.Axes, data: pd.DataFrame, settings: list[tuple[str, str]], testers: list[str]
) -> None:
    for number, tester in enumerate(testers):
        part = data[data["tester"] == tester]
        places = [settings.index(key) for key in part[SETTING].itertuples(index=False, name=None)]
        y = np.array(places) + 0.6 * ((number + 0.5) / len(testers) - 0.5)
        style = (_COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)])
        draw_means(ax, part, "of_adf", y, TESTER_NAMES[tester], *style)
    ax.axvline(100, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    ax.tick_params(axis="y", length=0)
