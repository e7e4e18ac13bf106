"""How far the ranking of documents depends on the seeds: results, step, table and figure."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_RESULTS = ("seed_stability.tsv",)

ANALYSIS = Analysis(
    "seed_stability",
    results=_RESULTS,
    items=(
        Item("seed_stability", TABLE, "Seeds", "report:stability_table", _RESULTS, TEST),
        Item("seed_stability", FIGURE, "Seeds", "report:draw_stability", _RESULTS, TEST),
    ),
    steps={"measure-seed-stability": "analysis:write_stability"},
)
