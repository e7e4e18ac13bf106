"""Which co-occurrences matter: results, step, table and figure (Brunet et al. 2019, Appendix A)."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_ENDS = ("bias_gradient/ends/{test}.tsv",)  # which no claim reads

ANALYSIS = Analysis(
    "bias_gradient",
    items=(
        Item("bias_gradient", TABLE, "Appendix A", "report:gradient_table", _ENDS, TEST),
        Item("bias_gradient", FIGURE, "Appendix A", "report:draw_gradient", _ENDS, TEST),
    ),
    steps={"estimate-bias-gradient": "analysis:write_gradient", "select-pairs": "ends:write_ends"},
)
