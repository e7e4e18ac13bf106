"""Table and figure of the effect of removals in GloVe, PPMI and word2vec (Section 5.4, Figure 4)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.panels import set_label, sort_sets
from biaslab.origins.report.results import Setup
from biaslab.origins.representations.transfer.analysis import COLUMNS
from biaslab.origins.sets import RANDOM

LABELS = {"glove": "GloVe", "ppmi": "PPMI", "word2vec": "word2vec"}
"""Display names of the representations."""

_COLOURS = {"glove": plot.BLUE, "ppmi": plot.GREEN, "word2vec": plot.VERMILION}
_NOTE = (
    "Over the targeted sets of a test, which were chosen by GloVe: change of the mean effect size by the"
    " removal of a set, in each representation against GloVe. Response: the factor that best turns changes"
    " in GloVe into those of the representation (least squares through the origin), with its 95% bootstrap"
    " interval over the sets; below 1: a weaker response. Baseline: mean ± standard deviation over embeddings"
    " of the whole corpus; PPMI has no seed."
)


def transfer_table(setups: Sequence[Setup]) -> Table:
    """Compare the responses of the PPMI representation and of word2vec with GloVe."""
    columns = list(COLUMNS["transfer/responses"])
    parts = []
    for setup in setups:
        part = setup.table("transfer/responses", *columns)[columns]
        part.insert(0, "setup", setup.name)
        parts.append(part)
    data = pd.concat(parts, ignore_index=True)
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
    return Table(data, text_columns(labelled, templates), title, _NOTE)


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
