"""What panels of several figures have in common."""

from biaslab.core.plotting import Axes


def say_nothing(ax: Axes) -> None:
    """Say in a panel that there is nothing to draw."""
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, horizontalalignment="center")
