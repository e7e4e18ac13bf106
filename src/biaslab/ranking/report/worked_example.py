"""The worked example of Skew in the slides on Geyik et al. 2019, with both logarithms that were used."""

import math

import numpy as np
import pandas as pd

from biaslab.ranking.measures import skew

POPULATION = {"male": 32_000, "female": 48_000}
"""Candidates; their shares are the desired distribution."""

TOP = {"male": 20, "female": 80}
"""Those among the first of the ranking."""


def worked_example() -> pd.DataFrame:
    """Measure the example; skew has the natural logarithm, as defined."""
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
