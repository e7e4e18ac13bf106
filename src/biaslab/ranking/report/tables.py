"""The tables of fairness-aware ranking (Geyik et al. 2019), and the reader of the results of its only unit.

The table of all algorithms by all measures goes beyond the paper. The worked example of Skew is from the
slides, with both logarithms that the slides use.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.tables import Table, text_columns
from biaslab.ranking import registry
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.measures import MEASURES, skew
from biaslab.ranking.simulation import COLUMNS, RATIO
from biaslab.run.area import table
from biaslab.run.plan.reports import CLAIMS, Results

ALGORITHM_NAMES = {name: registry.ALGORITHMS[name].title for name in ALGORITHMS}
MEASURE_NAMES = {name: registry.MEASURES[name].title for name in MEASURES} | {RATIO: "exp(MinSkew)"}
POPULATION = {"male": 32_000, "female": 48_000}
"""Candidates of the worked example; their shares are the desired distribution."""
TOP = {"male": 20, "female": 80}  # candidates in the top of the worked example
SHOWN = (
    "ndkl",
    "awrf",
    "exposure_ratio",
    "disparate_treatment",
    "disparate_impact",
    "attention_inequity",
    "fa_ir_pass",
    "ndcg",
)
"""Measures in table and figure; the .tsv of the table has all measures."""

_DRAWN = (
    "Every list has a desired distribution and scores of its own, drawn at random; all rankings see the same"
    " lists."
)
_CONVENTION = (
    " Mean ± half the width of its 95% interval (Student's t). A value without a candidate in the top makes"
    " MinSkew minus infinity: such lists are counted (Lists at −∞) and left out of the mean of MinSkew, not"
    " of that of exp(MinSkew), where they count as 0."
)
_PRINTED = {"male": "slides-skew-male", "female": "slides-skew-female"}


def only(units: Sequence[Results]) -> Results:
    """Return the only unit of the area, which has one experiment."""
    if len(units) != 1:
        names = ", ".join(unit.name for unit in units)
        raise InputError(f"ranking has one experiment, but --units names several ({names}); name one")
    return units[0]


def read(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read a file of `COLUMNS` of the only unit."""
    return only(units).table(name, *COLUMNS[name])


@table("simulation", "Measures of the simulation", "simulation")
def simulation(units: Sequence[Results]) -> Table:
    """Return the mean of every measure by number of values and algorithm."""
    data = read(units, "simulation")
    cells = {measure: (name, "{mean:.4g} ± {half:.2g}") for measure, name in MEASURE_NAMES.items()}
    shown = _means(data, cells)
    infinite = data.loc[data["measure"] == "min_skew", "n_infinite"]
    shown["Lists at −∞"] = infinite.map("{:,}".format).to_numpy()
    n, candidates, top = data[["n_lists", "candidates", "top"]].iloc[0]
    description = (
        f"|A|: values of the attribute; {n:,} lists each, top {top} of {candidates} candidates a value. "
    )
    return Table(
        data, shown, "Measures of five rankings in the simulation", description + _DRAWN + _CONVENTION
    )


@table("differences", "Differences between the algorithms", "differences")
def differences(units: Sequence[Results]) -> Table:
    """Return the differences between algorithms on the same lists."""
    data = read(units, "differences")
    named = data.assign(
        name=data["algorithm"].map(ALGORITHM_NAMES),
        other=data["other"].map(ALGORITHM_NAMES),
        measure=data["measure"].map(MEASURE_NAMES),
    )
    cells = {
        "|A|": "{n_values}",
        "Measure": "{measure}",
        "Difference": "{name} − {other}",
        "Lists": "{n_lists:,}",
        "Mean": "{mean:.5f}",
        "95% interval": "{ci_low:.5f} to {ci_high:.5f}",
    }
    note = _DRAWN + " Of MinSkew, lists at which either is minus infinity do not count. Student's intervals."
    return Table(
        data, text_columns(named, cells), "Differences between the algorithms in the simulation", note
    )


@table("worked_example", "Worked example of the skew")
def example(units: Sequence[Results]) -> Table:
    """Return the worked example next to the numbers on the slides."""
    data, unit = worked_example(), only(units)
    printed = unit.printed()
    if missing := [name for name in _PRINTED.values() if name not in printed]:
        raise InputError(
            f"{unit.file(CLAIMS)}: the claim '{missing[0]}' is missing; name the registry of the"
            " ranking claims"
        )
    data["printed"] = [printed[_PRINTED[value]] for value in data["value"]]
    cells = {
        "Value": "{value}",
        "Candidates": "{population:,}",
        "Desired share": "{desired:.2f}",
        "In the top": "{n_top}",
        "Share": "{share:.2f}",
        "Skew (ln, as defined)": "{skew:.4f}",
        "with log10": "{skew_log10:.4f}",
        "Printed on the slides": "{printed}",
    }
    note = (
        "Skew is defined with the natural logarithm; the slides note that the paper's numbers for this"
        " example are logarithms to base 10. The slides label both rows male, and cut the second number off"
        " instead of rounding it."
    )
    return Table(data, text_columns(data, cells), "The worked example of Skew", note)


def worked_example() -> pd.DataFrame:
    """Return the worked example; skew is the natural logarithm, as defined."""
    population, top = np.array(list(POPULATION.values())), np.array(list(TOP.values()))
    desired = population / population.sum()
    skews = skew(np.repeat(np.arange(top.size), top), desired, int(top.sum()))
    return pd.DataFrame(
        {
            "value": list(POPULATION),
            "population": population,
            "desired": desired,
            "n_top": top,
            "share": top / top.sum(),
            "skew": skews,
            "skew_log10": skews / math.log(10),
        }
    )


@table("comparison", "All algorithms by measures of exposure and FA*IR", "comparison")
def comparison(units: Sequence[Results]) -> Table:
    """Return the mean of every measure by number of values and algorithm."""
    data = read(units, "comparison")
    cells = {}
    for name in SHOWN:
        measure = registry.MEASURES[name]
        # The interval of a share is asymmetric.
        interval = "[{ci_low:.3f}, {ci_high:.3f}]" if measure.is_share else "± {half:.2g}"
        cells[name] = measure.title, f"{{mean:.3f}} {interval}"
    note = (
        f"|A|: values of the attribute; {data['n_lists'].iloc[0]:,} lists each, drawn as in the simulation,"
        " with the same number of candidates of each value and scores that do not depend on it. FA*IR"
        " protects one value, whose test is the last but one column: the share of lists in which it has no"
        " significantly few places, with Clopper and Pearson's 95% interval. All else: mean ± half the width"
        " of its 95% interval (Student's t over lists). Best is 0 for NDKL and the inequity of attention, 1"
        " for all else."
    )
    title = "All re-ranking algorithms by measures of exposure and FA*IR"
    return Table(data, _means(data, cells), title, note)


def _means(data: pd.DataFrame, cells: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Return means as text by number of values and algorithm; ``half`` is half the width of an interval."""
    halved = data.assign(half=(data["ci_high"] - data["ci_low"]) / 2)
    rows = []
    for (m, algorithm), group in halved.groupby(["n_values", "algorithm"], sort=False):
        row = {"|A|": str(m), "Algorithm": registry.ALGORITHMS[algorithm].title}
        for measure, (header, template) in cells.items():
            row |= text_columns(group[group["measure"] == measure], {header: template}).iloc[0].to_dict()
        rows.append(row)
    return pd.DataFrame(rows)
