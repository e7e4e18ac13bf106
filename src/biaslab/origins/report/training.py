"""The training of the baselines."""

from pathlib import Path

from biaslab.core.plotting import BLUE, figure, save_with_data
from biaslab.origins.report.panels import plain_ticks
from biaslab.origins.report.results import Setup
from biaslab.origins.sets.names import BASELINE


def draw_loss(setup: Setup, stem: Path) -> None:
    """Draw the training loss of every baseline embedding by epoch."""
    from matplotlib.ticker import LogLocator

    data = setup.table("training", "set", "seed", "epoch", "loss")
    data = data.loc[data["set"] == BASELINE, ["seed", "epoch", "loss"]]
    with figure() as fig:
        ax = fig.subplots()
        for _, seed in data.groupby("seed"):
            ax.plot(seed["epoch"], seed["loss"], color=BLUE, linewidth=0.6, alpha=0.6)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 6, 8)))
        plain_ticks(ax.yaxis, "{:g}")
        ax.set(xlabel="Epoch", ylabel="Loss per co-occurrence")
        ax.set_title(f"{setup.corpus}: {data['seed'].nunique()} baseline embeddings", parse_math=False)
        save_with_data(fig, stem, data)
