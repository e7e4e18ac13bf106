"""What panels of several figures have in common."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def say_nothing(ax: "Axes") -> None:
    """Say in a panel that there is nothing to draw."""
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, horizontalalignment="center")
