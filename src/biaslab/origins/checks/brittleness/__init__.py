"""The fewest documents that flip the sign of a bias: results, steps, table and figure."""

from biaslab.origins.analyses import Analysis
from biaslab.origins.attribution.registry import RANKINGS
from biaslab.origins.expansion import Retrainings
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_LABEL = "Brittleness"
_RESULTS = _, _PATHS, _OUTCOMES, _BRACKETS = tuple(
    f"brittleness/{name}.tsv" for name in ("numbers", "paths", "outcomes", "brackets")
)


def _n_sets(setup):
    """Return the largest possible number of sets."""
    settings = setup["brittleness"]
    n_multiples = len(settings["multiples"]) if settings["retrainings"] else 0
    return len(setup["bias"]["weats"]) * len(RANKINGS) * n_multiples


_RETRAINED = Retrainings(
    "up to {} sets to flip a sign", _n_sets, each=lambda setup: setup["brittleness"]["retrainings"]
)


ANALYSIS = Analysis(
    "brittleness",
    results=_RESULTS,
    items=(
        Item("brittleness", TABLE, _LABEL, "report:number_table", (_BRACKETS,), TEST),
        Item("brittleness", FIGURE, _LABEL, "report:draw_flips", (_PATHS, _OUTCOMES, "baseline.tsv"), TEST),
    ),
    steps={"predict-flips": "analysis:write_predictions", "compare-flips": "analysis:write_flips"},
    needs="brittleness.retrainings",
    retrains=_RETRAINED.describe,
    jobs=_RETRAINED,
)
