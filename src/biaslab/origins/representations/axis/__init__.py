"""Target words on the bias axis: results, step, table and figure (Brunet et al. 2019, Section 5.5)."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_PROJECTIONS, _FREQUENCY = "projections.tsv", "axis_frequency.tsv"

ANALYSIS = Analysis(
    "axis",
    results=(_PROJECTIONS, _FREQUENCY),
    items=(
        Item("axis_frequency", TABLE, "Section 5.5", "report:frequency_table", (_FREQUENCY,)),
        Item("figure5_bias_axis", FIGURE, "Figure 5", "report:draw_axis", (_PROJECTIONS,), TEST),
    ),
)
