"""The linear datamodeling score of attributions: results, step, table and figure."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_SCORES = "lds/scores.tsv"


_RETRAINED = expansion.Retrainings(
    "lds",
    n_sets=lambda setup: setup["lds"]["subsets"] * len(setup["lds"]["shares"]),
    each=lambda setup: setup["lds"]["retrainings"],
)


def _retrains(setup):
    n_subsets = _RETRAINED.n_sets(setup)
    return f"{n_subsets} random subsets" if n_subsets else "", _RETRAINED.trainings(setup)


ANALYSIS = Analysis(
    "lds",
    results=("lds/removals.tsv", _SCORES),
    items=(
        Item("lds", TABLE, "Random subsets", "report:score_table", (_SCORES,), TEST),
        Item("lds", FIGURE, "Random subsets", "report:draw_scores", (_SCORES,), TEST),
    ),
    steps={
        "draw-subsets": "subsets:write_subsets",
        "retrain-sets": "subsets:write_retrained",
        "score-attributions": "analysis:write_scores",
    },
    needs="lds.subsets",
    retrains=_retrains,
    jobs=_RETRAINED,
)
