"""Differential bias by year, section or date of the documents."""

from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.plotting import BLUE, DOUBLE_COLUMN, GREY, SINGLE_COLUMN, Axes, figure, save_with_data
from biaslab.core.stats import mean_interval
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.results import METADATA_COLUMNS, Setup, percent_scale

N_LISTED = 25
"""Groups of one metadata column that the table shows at each end; its .tsv has all."""

N_DRAWN = 20
"""Groups of a section or date that the figure shows, those with the largest sums."""

_NONE = "The corpus has no metadata column."
_NOTE = (
    "ΔB = B(w) − B(w without the document), summed over the documents of a group: positive groups raise "
    "the effect size. The interval is Student's over the baseline embeddings. Of a column with many "
    f"values, the {N_LISTED} largest and the {N_LISTED} smallest sums are shown."
)


def metadata_table(setup: Setup, weat: str) -> Table:
    """Differential bias summed over the documents that share a year, section or date."""
    title = f"Differential bias by metadata ({setup.name}, {weat})"
    data = aggregate_by_metadata(setup.differential_bias_by_seed(weat), setup.documents())
    rank = data.groupby("column", sort=False).cumcount()
    rank_from_end = data.groupby("column", sort=False).cumcount(ascending=False)
    ends = data[(rank < N_LISTED) | (rank_from_end < N_LISTED)]
    shown = {
        "Column": "{column}",
        "Value": "{value}",
        "Documents": "{n_documents}",
        "Sum of ΔB": "{sum:.4f}",
        "95% interval of the sum": "[{sum_ci_low:.4f}, {sum_ci_high:.4f}]",
        "Mean of ΔB": "{mean:.2e}",
    }
    if data.empty:
        return Table(data, text_columns(data, shown), title, _NONE)
    return Table(data, text_columns(ends, shown), title, _NOTE)


def draw_metadata(setup: Setup, weat: str, stem: Path) -> None:
    """Draw the differential bias summed by year, section or date, a panel a metadata column of the corpus."""
    documents = setup.documents()
    columns = metadata_columns(documents)
    if "year" in columns and "date" in columns:
        columns.remove("date")
    data = aggregate_by_metadata(setup.differential_bias_by_seed(weat), documents)
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
            panels[0].text(0.5, 0.5, _NONE, ha="center", va="center")
        fig.suptitle(setup.heading(weat), parse_math=False)
        save_with_data(fig, stem, pd.concat(shown, ignore_index=True) if shown else data)


def metadata_columns(documents: pd.DataFrame) -> list[str]:
    """Return the metadata columns that say anything about these documents."""
    return [c for c in METADATA_COLUMNS if c in documents and (documents[c] != "").any()]


def aggregate_by_metadata(differential_bias: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    """Sum the differential bias of the documents that share a metadata value.

    The differential biases of single documents nearly add up to that of their set (the paper's Appendix
    C), so a sum reads as what the group contributes to the bias. The interval is Student's at 95%, over
    the baseline embeddings: it tells how far the sum depends on the seed of the training. Columns in the
    order of the documents', groups by sum, largest first.
    """
    seeds = [c for c in differential_bias.columns if c.startswith("influence_seed")]
    columns = metadata_columns(documents)  # no others: a corpus may have keys that are named as ours
    joined = differential_bias[["document", *seeds]].merge(
        documents[["document", *columns]], on="document", validate="one_to_one"
    )
    parts = []
    for column in columns:
        groups = joined.groupby(joined[column].replace("", "(none)"), sort=True)
        sums = groups[seeds].sum()
        part = pd.DataFrame({"n_documents": groups.size(), "sum": sums.mean(axis=1)})
        part["sum_ci_low"], part["sum_ci_high"] = zip(*sums.apply(mean_interval, axis=1), strict=True)
        for name in ("mean", "mean_ci_low", "mean_ci_high"):
            part[name] = part[name.replace("mean", "sum")] / part["n_documents"]
        part = part.rename_axis("value").reset_index()
        part.insert(0, "column", column)
        parts.append(part.sort_values(["sum", "value"], ascending=[False, True]))
    names = ["column", "value", "n_documents", "sum", "sum_ci_low", "sum_ci_high"]
    names += ["mean", "mean_ci_low", "mean_ci_high"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)


def _shown_groups(data: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return every year, or the groups with the largest sums, from the largest sum down."""
    if column == "year":
        return data.sort_values("value")
    return data.loc[
        data["sum"].abs().sort_values(ascending=False, kind="stable").index[:N_DRAWN]
    ].sort_values("sum", ascending=False, kind="stable")


def _draw_groups(ax: Axes, column: str, data: pd.DataFrame, label: str) -> None:
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
