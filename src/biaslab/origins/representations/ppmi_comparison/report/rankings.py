"""Documents ranked by PPMI and by influence (Brunet et al. 2019, Section 5.3)."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from biaslab.bias.names import EFFECTS, LOWERS
from biaslab.core.plotting import GREY, LIGHT_GREY, SINGLE_COLUMN, figure, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.panels import EFFECT_COLOURS, TITLE_WIDTH, draw_points
from biaslab.origins.report.results import Setup, pairs, percent_scale

_NOTE = (
    "Rank correlation: Spearman's, over all documents, of the differential bias in the PPMI representation,"
    " which is exact, with that in GloVe, approximated by influence functions (mean over the baselines)."
    " Shared: documents both among the N found by PPMI and among the N found by influence; raises N: those"
    " that raise the effect size most, lowers N: those that lower it most. Effect size of GloVe:"
    " mean ± standard deviation over the baselines."
)
_ENDS = (10, 30, 100)  # documents at an end of both rankings that are compared
_N_MARKED = 30  # documents at each end of the ranking by influence that the figure colours


def document_rankings(setups: Sequence[Setup]) -> Table:
    """Compare the ranking of the documents by PPMI with the one by influence, for every setup and test."""
    data = pd.DataFrame([_ranking(setup, weat) for setup, weat in pairs(setups)])
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Effect size, PPMI": "{ppmi_effect_size:.3f}",
        "Effect size, GloVe": "{effect_size_mean:.3f} ± {effect_size_sd:.3f}",
        "Documents": "{n_documents:,}",
        "Rank correlation": "{spearman:.3f}",
    }
    for effect in EFFECTS:
        shown |= {f"Shared, {effect} {size}": f"{{overlap_{effect}_{size}}}" for size in _ENDS}
    return Table(data, text_columns(data, shown), "Documents ranked by PPMI and by influence", _NOTE)


def draw_rankings(setup: Setup, weat: str, stem: Path) -> None:
    """Draw the differential bias of every document by PPMI against that by influence."""
    data = _both(setup, weat)
    data["set"] = ""
    colours = {"": GREY}
    for effect in EFFECTS:
        colours[f"{effect} {_N_MARKED}"] = EFFECT_COLOURS[effect]
        data.loc[_most(data["influence_mean"], effect, _N_MARKED), "set"] = f"{effect} {_N_MARKED}"
    units = {}
    for column, baseline in (
        ("influence_mean", setup.baseline_mean(weat)),
        ("ppmi", _ppmi_baseline(setup, weat)),
    ):
        factor, units[column] = percent_scale(baseline)
        data[column] *= factor
    rank_correlation = _rank_correlation(data)
    data = data.assign(unit_influence=units["influence_mean"], unit_ppmi=units["ppmi"])
    with figure(SINGLE_COLUMN, 3.2) as fig:
        ax = fig.subplots()
        ax.axhline(0, color=LIGHT_GREY, linewidth=0.5, zorder=0)
        ax.axvline(0, color=LIGHT_GREY, linewidth=0.5, zorder=0)
        for name, colour in colours.items():
            part = data[data["set"] == name]
            draw_points(ax, part["influence_mean"], part["ppmi"], colour, name or "other documents")
        ax.set_xlabel(f"ΔB in GloVe by influence ({units['influence_mean']})")
        ax.set_ylabel(f"ΔB in PPMI ({units['ppmi'].replace(' mean', '')})")
        heading = f"{setup.of_test(weat)}: Spearman's ρ = {rank_correlation:.2f}\n"
        ax.set_title(heading + textwrap.fill(setup.title(weat), TITLE_WIDTH), parse_math=False)
        fig.legend(loc="outside lower center", ncols=3, markerscale=2)
        save_with_data(fig, stem, data)


def _ranking(setup: Setup, weat: str) -> dict:
    """Return one row of the comparison."""
    data = _both(setup, weat)
    glove = setup.effect_sizes(weat)
    row = {
        "setup": setup.name,
        "weat": weat,
        "n_documents": len(data),
        "ppmi_effect_size": _ppmi_baseline(setup, weat),
        "effect_size_mean": glove.mean(),
        "effect_size_sd": glove.std(ddof=1),
        "spearman": _rank_correlation(data),
    }
    for effect in EFFECTS:
        for size in _ENDS:
            chosen = [set(_most(data[column], effect, size)) for column in ("ppmi", "influence_mean")]
            row[f"overlap_{effect}_{size}"] = len(chosen[0] & chosen[1])
    return row


def _both(setup: Setup, weat: str) -> pd.DataFrame:
    """Return the differential bias of every document, by both."""
    glove = setup.differential_bias(weat)[["document", "influence_mean", "influence_sd"]]
    return glove.merge(setup.ppmi(weat)[["document", "ppmi"]], on="document", validate="one_to_one")


def _ppmi_baseline(setup: Setup, weat: str) -> float:
    return float(setup.of_weat("ppmi/baseline", weat, "effect_size")["effect_size"].iloc[0])


def _rank_correlation(data: pd.DataFrame) -> float:
    """Return Spearman's ρ over the documents for which both are defined."""
    return float(data[["ppmi", "influence_mean"]].dropna().corr(method="spearman").iloc[0, 1])


def _most(values: pd.Series, effect: str, size: int) -> pd.Index:
    """Return the documents that raise, or lower, the bias most: the largest, or the most negative values."""
    return values.sort_values(ascending=effect == LOWERS, kind="stable").index[:size]
