"""Which co-occurrences matter: results, step, table and figure (Brunet et al. 2019, Appendix A)."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_GRADIENTS = ("bias_gradient/{test}.parquet",)  # which no claim reads

ANALYSIS = Analysis(
    "bias_gradient",
    items=(
        Item("bias_gradient", TABLE, "Appendix A", "report:gradient_table", _GRADIENTS, TEST),
        Item("bias_gradient", FIGURE, "Appendix A", "report:draw_gradient", _GRADIENTS, TEST),
    ),
    steps={"estimate-bias-gradient": "analysis:write_gradient"},
)
