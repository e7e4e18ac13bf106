"""Estimates by control embeddings: results, step, table and figure."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_RESULTS = ("randomised/comparison.tsv",)

ANALYSIS = Analysis(
    "randomised",
    results=_RESULTS,
    items=(
        Item("randomised", TABLE, "Randomised", "report:randomised_table", _RESULTS, TEST),
        Item("randomised", FIGURE, "Randomised", "report:draw_randomised", _RESULTS, TEST),
    ),
    steps={
        "randomise-embeddings": "analysis:write_embeddings",
        "compare-randomised": "analysis:write_comparison",
    },
    needs=("randomised.embeddings",),
)
