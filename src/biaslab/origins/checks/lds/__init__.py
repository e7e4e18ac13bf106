"""The linear datamodeling score of attributions: results, step, table and figure."""

from biaslab.origins.analyses import Analysis
from biaslab.origins.expansion import Retrainings
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_SCORES = "lds/scores.tsv"
_RETRAINED = Retrainings(
    "{} random subsets",
    n_sets=lambda setup: setup["lds"]["subsets"] * len(setup["lds"]["shares"]),
    each=lambda setup: setup["lds"]["retrainings"],
)

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
    retrains=_RETRAINED.describe,
    jobs=_RETRAINED,
)
