"""The influence of co-occurrences on a bias: step and table (Brunet et al. 2019, Appendix A)."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import TABLE, TEST, Item

_ENDS = ("bias_gradient/ends/{test}.tsv",)

ANALYSIS = Analysis(
    "bias_gradient",
    items=(Item("bias_gradient", TABLE, "Appendix A", "report:gradient_table", _ENDS, TEST),),
)
