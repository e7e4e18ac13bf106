"""Which co-occurrences matter: results, step, table and figure (Brunet et al. 2019, Appendix A)."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_RESULTS = ("bias_gradient/{test}.parquet",)

ANALYSIS = Analysis(
    "bias_gradient",
    results=_RESULTS,
    items=(
        Item("bias_gradient", TABLE, "Appendix A", "report:gradient_table", _RESULTS, TEST),
        Item("bias_gradient", FIGURE, "Appendix A", "report:draw_gradient", _RESULTS, TEST),
    ),
    steps={"estimate-bias-gradient": "analysis:write_gradient"},
)
