"""The tables of fairness-aware ranking (Geyik et al. 2019), and the reader of the results of its only unit.

The table of all algorithms by all measures goes beyond the paper. The worked example of Skew is from the
slides, with both logarithms that the slides use.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.tables import Table, text_columns
from biaslab.ranking import registry
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.columns import COLUMNS
from biaslab.ranking.measures import MEASURES, skew
from biaslab.ranking.simulation import RATIO
from biaslab.run.reports import CLAIMS, Results

ALGORITHM_NAMES = {name: registry.ALGORITHMS[name].title for name in ALGORITHMS}
MEASURE_NAMES = {name: registry.MEASURES[name].title for name in MEASURES} | {RATIO: "exp(MinSkew)"}
POPULATION = {"male": 32_000, "female": 48_000}
"""Candidates of the worked example; their shares are the desired distribution."""
TOP = {"male": 20, "female": 80}
"""Candidates in the top of the worked example."""
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


def simulation(units: Sequence[Results]) -> Table:
    """Return the mean of every measure by number of values and algorithm."""
    data = read(units, "simulation")
    halved = data.assign(half=(data["ci_high"] - data["ci_low"]) / 2)
    rows = []
    for (m, algorithm), group in halved.groupby(["n_values", "algorithm"], sort=False):
        by_measure = group.set_index("measure")
        row = {"|A|": str(m), "Algorithm": ALGORITHM_NAMES[algorithm]}
        for measure, name in MEASURE_NAMES.items():
            row |= (
                text_columns(by_measure.loc[[measure]], {name: "{mean:.4g} ± {half:.2g}"}).iloc[0].to_dict()
            )
        rows.append(row | {"Lists at −∞": f"{by_measure.loc['min_skew', 'n_infinite']:,}"})
    n, candidates, top = data[["n_lists", "candidates", "top"]].iloc[0]
    description = (
        f"|A|: values of the attribute; {n:,} lists each, top {top} of {candidates} candidates a value. "
    )
    return Table(
        data,
        pd.DataFrame(rows),
        "Measures of five rankings in the simulation",
        description + _DRAWN + _CONVENTION,
    )


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


def example(units: Sequence[Results]) -> Table:
    """Return the worked example next to the numbers on the slides."""
    data = worked_example()
    data["printed"] = data["value"].map(_printed_skews(only(units)))
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


def comparison(units: Sequence[Results]) -> Table:
    """Return the mean of every measure by number of values and algorithm."""
    data = read(units, "comparison")
    halved = data.assign(half=(data["ci_high"] - data["ci_low"]) / 2)
    rows = []
    for (m, algorithm), group in halved.groupby(["n_values", "algorithm"], sort=False):
        row = {"|A|": str(m), "Algorithm": registry.ALGORITHMS[algorithm].title}
        for name in SHOWN:
            is_share = registry.MEASURES[name].is_share  # its interval is asymmetric
            cell = "{mean:.3f} [{ci_low:.3f}, {ci_high:.3f}]" if is_share else "{mean:.3f} ± {half:.2g}"
            named = {registry.MEASURES[name].title: cell}
            row |= text_columns(group[group["measure"] == name], named).iloc[0].to_dict()
        rows.append(row)
    note = (
        f"|A|: values of the attribute; {data['n_lists'].iloc[0]:,} lists each, drawn as in the simulation,"
        " with the same number of candidates of each value and scores that do not depend on it. FA*IR"
        " protects one value, whose test is the last but one column: the share of lists in which it has no"
        " significantly few places, with Clopper and Pearson's 95% interval. All else: mean ± half the width"
        " of its 95% interval (Student's t over lists). Best is 0 for NDKL and the inequity of attention, 1"
        " for all else."
    )
    return Table(
        data, pd.DataFrame(rows), "All re-ranking algorithms by measures of exposure and FA*IR", note
    )


def _printed_skews(unit: Results) -> dict[str, str]:
    """Return the numbers on the slides for the worked example, by value of the attribute."""
    printed = unit.printed()
    missing = [name for name in _PRINTED.values() if name not in printed]
    if missing:
        raise InputError(
            f"{unit.file(CLAIMS)}: the claim '{missing[0]}' is missing; name the registry of the"
            " ranking claims"
        )
    return {value: printed[name] for value, name in _PRINTED.items()}
