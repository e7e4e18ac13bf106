"""The result files of the area, and what people call the algorithms in them."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.ranking import registry
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.columns import COLUMNS
from biaslab.run.reports import Results

ALGORITHM_NAMES = {name: registry.ALGORITHMS[name].title for name in ALGORITHMS}


def only(units: Sequence[Results]) -> Results:
    """Return the unit of the area, which has one experiment."""
    if len(units) != 1:
        names = ", ".join(unit.name for unit in units)
        raise InputError(f"ranking is one experiment, not several ({names}); give --units one of them")
    return units[0]


def read(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of the only unit."""
    return only(units).table(name, *COLUMNS[name])
