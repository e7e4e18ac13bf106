"""Create figures in a common style, and save them reproducibly, together with their data."""

import contextlib
import math
import os
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any

import pandas as pd

from biaslab.core.files import atomic_path
from biaslab.core.io import write_tsv

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
else:  # import matplotlib only for drawing
    Artist = Axes = Axis = Figure = Any

SINGLE_COLUMN, DOUBLE_COLUMN = 3.35, 6.9  # widths of a paper's single and double column, in inches

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
)
BLACK, GREY, LIGHT_GREY, PALE_GREY = "#000000", "#5A5A5A", "#BDBDBD", "#E3E3E3"
"""Okabe and Ito's palette (all colours above), and greys for context.

`GREY` is also the colour of a series: dark enough to differ from green and purple for colour-blind readers.
"""

SERIES = (BLACK, VERMILION, BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW)
"""The colours of series of equal rank, in their order of use."""


_DIGITS = 8  # of positions in a figure, as shares of its width and height

METADATA = {
    "svg": {"Date": None, "Creator": "biaslab"},
    "pdf": {"CreationDate": None, "Creator": "biaslab", "Producer": "biaslab"},
    "png": {"Software": None},
}


@contextlib.contextmanager
def figure(width: float = SINGLE_COLUMN, height: float = 2.4) -> Iterator["Figure"]:
    """Yield an empty figure; inside the context matplotlib uses only the style of this package.

    The figure belongs to no window and no global list, so it needs no closing.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    with (
        resources.as_file(resources.files("biaslab.core") / "paper.mplstyle") as path,
        style.context(path, after_reset=True),
    ):
        yield Figure(figsize=(width, height), layout=_layout())


def _layout() -> "ConstrainedLayoutEngine":
    """Return the constrained layout with rounded positions.

    The solver of this layout sorts by addresses in memory, which change its last digits.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.transforms import Bbox

    class Rounded(ConstrainedLayoutEngine):
        def execute(self, figure: "Figure") -> None:
            super().execute(figure)
            for ax in figure.axes:
                corners = ax.get_position(original=True).extents
                ax.set_position(Bbox.from_extents(corners.round(_DIGITS)))
                ax.set_in_layout(True)  # the next format has a layout of its own

    return Rounded()


@contextlib.contextmanager
def panels(
    n: int, n_columns: int, height: float, legend: float, **shared: bool
) -> Iterator[tuple["Figure", "np.ndarray"]]:
    """Yield a figure with n panels in rows of a height in inches; the remaining positions are empty."""
    n_rows = max(1, math.ceil(n / n_columns))
    with figure(DOUBLE_COLUMN, height * n_rows + legend) as page:
        axes = page.subplots(n_rows, n_columns, squeeze=False, **shared).ravel()
        for ax in axes[n:]:
            ax.set_axis_off()
        yield page, axes[:n]


def legend_below(figure: "Figure", axes: "Axes", n_columns: int, marker_scale: float = 1.0) -> None:
    """Add the legend of one panel below all panels, with markers `marker_scale` times as large."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, markerscale=marker_scale)


def save(figure: "Figure", stem: str | os.PathLike) -> None:
    """Save a figure atomically as ``stem.svg``, ``.pdf`` and ``.png``, inside the context of `figure`."""
    for suffix, metadata in METADATA.items():
        with atomic_path(f"{os.fspath(stem)}.{suffix}") as temporary:
            figure.savefig(temporary, format=suffix, metadata=metadata)


def save_with_data(figure: "Figure", stem: str | os.PathLike, data: pd.DataFrame) -> None:
    """Save a figure as `save` does, and `data`, all numbers that it shows, as ``stem.tsv``."""
    write_tsv(f"{os.fspath(stem)}.tsv", data)
    save(figure, stem)
