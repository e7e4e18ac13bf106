"""The tables of fairness-aware ranking (Geyik et al. 2019), of the area's only unit."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.tables import Table, text_columns
from biaslab.ranking import registry
from biaslab.ranking.measures import MEASURES
from biaslab.ranking.report.results import ALGORITHM_NAMES, only, read
from biaslab.ranking.report.worked_example import worked_example
from biaslab.ranking.simulation import RATIO
from biaslab.run.reports import CLAIMS, Results

MEASURE_NAMES = {name: registry.MEASURES[name].title for name in MEASURES} | {RATIO: "exp(MinSkew)"}

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
    about = f"|A|: values of the attribute; {n:,} lists each, top {top} of {candidates} candidates a value. "
    return Table(
        data,
        pd.DataFrame(rows),
        "Measures of five rankings in the simulation",
        about + _DRAWN + _CONVENTION,
    )


def differences(units: Sequence[Results]) -> Table:
    """Return the differences between algorithms on the same lists."""
    data = read(units, "differences")
    named = _named(data).assign(
        measure=data["measure"].map(MEASURE_NAMES), other=data["other"].map(ALGORITHM_NAMES)
    )
    shown = {
        "|A|": "{n_values}",
        "Measure": "{measure}",
        "Difference": "{name} − {other}",
        "Lists": "{n_lists:,}",
        "Mean": "{mean:.5f}",
        "95% interval": "{ci_low:.5f} to {ci_high:.5f}",
    }
    note = _DRAWN + " Of MinSkew, lists at which either is minus infinity do not count. Student's intervals."
    return Table(
        data, text_columns(named, shown), "Differences between the algorithms in the simulation", note
    )


def example(units: Sequence[Results]) -> Table:
    """Return the worked example beside what the slides print."""
    data = worked_example()
    data["printed"] = data["value"].map(_printed_skews(only(units)))
    shown = {
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
    return Table(data, text_columns(data, shown), "The worked example of Skew", note)


def _printed_skews(unit: Results) -> dict[str, str]:
    """Return what the slides print for the worked example, by value of the attribute."""
    printed = unit.printed()
    missing = [name for name in _PRINTED.values() if name not in printed]
    if missing:
        raise InputError(
            f"{unit.file(CLAIMS)}: there is no claim '{missing[0]}'; name the registry of the ranking claims"
        )
    return {value: printed[name] for value, name in _PRINTED.items()}


def _named(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(name=data["algorithm"].map(ALGORITHM_NAMES))
