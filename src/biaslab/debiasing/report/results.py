"""The result files of an embedding, and what people call what is in them."""

import math
from collections.abc import Sequence

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.debiasing import benchmark_list
from biaslab.debiasing.columns import COLUMNS
from biaslab.run.reports import Results

STAGES = {"before": "Before", "soft": "Soft", "hard": "Hard", "hard_authors": "Hard, the authors' lists"}
BENCHMARKS = {name: benchmark.title for name, benchmark in benchmark_list.BENCHMARKS.items()}

_TEXT = ("missing_words", "word", "she", "he")


def read(unit: Results, name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of an embedding."""
    return unit.table(name, *COLUMNS[name], text=_TEXT)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several embeddings; their names become the first column."""
    parts = {unit.name: read(unit, name) for unit in units}
    return pd.concat(parts, names=["embedding", None]).reset_index(0).reset_index(drop=True)


def by_chance(unit: Results) -> float:
    """Return the DirectBias that is to be expected of a direction that was drawn at random.

    Of any words: the mean of abs(cos)^c over directions of d dimensions, where c is the strictness, is
    Gamma((c + 1) / 2) Gamma(d / 2) / (sqrt(pi) Gamma((c + d) / 2)).
    """
    measured, settings = read(unit, "bias"), read(unit, "settings").set_index("setting")["value"]
    d = float(measured.loc[measured["measure"] == "dimension", "value"].iloc[0])
    c = float(settings["strictness"])
    logarithm = math.lgamma((c + 1) / 2) + math.lgamma(d / 2) - math.lgamma((c + d) / 2)
    return math.exp(logarithm) / math.sqrt(math.pi)


def draw_chance(ax: plot.Axes, unit: Results) -> None:
    """Draw the DirectBias that a direction drawn at random has."""
    ax.axhline(
        by_chance(unit), color=plot.GREY, linestyle="-.", linewidth=0.8, zorder=0, label="A random direction"
    )


def extremes(occupations: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the `n` occupations at either end of the axis before debiasing (at most half), at each stage."""
    wide = occupations.pivot(index="word", columns="stage", values="projection")
    wide = wide.sort_values("before", ascending=False, kind="stable")
    n = min(n, len(wide) // 2)
    ends = pd.concat({"she": wide.head(n), "he": wide.tail(n)[::-1]}, names=["end", "word"]).reset_index()
    ends.insert(1, "place", ends.groupby("end", sort=False).cumcount() + 1)
    return ends[["end", "place", "word", *(s for s in STAGES if s in wide)]]
