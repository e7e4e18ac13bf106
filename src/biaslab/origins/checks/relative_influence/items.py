"""Influence relative to the change of the model: results, step, table and figure."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_RESULTS = ("relative_influence/comparison.tsv",)

ANALYSIS = Analysis(
    "relative_influence",
    results=_RESULTS,
    items=(
        Item("relative_influence", TABLE, "RelatIF", "report:orders_table", _RESULTS, TEST),
        Item("relative_influence", FIGURE, "RelatIF", "report:draw_orders", _RESULTS, TEST),
    ),
    steps={"compare-relative-influence": "analysis:write_orders"},
    needs=("bias.relative",),
)
