"""Documents with what they contribute to the bias: the steps that write their pages."""

from biaslab.origins.grid.analyses import Analysis

ANALYSIS = Analysis(
    "pages",
    steps={"highlight-documents": "highlight:write_extremes"},
)
