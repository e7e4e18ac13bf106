"""Documents with what they contribute to the bias: the step that writes their pages."""

from biaslab.origins.grid.analyses import Analysis

ANALYSIS = Analysis("pages", steps={"highlight-documents": "highlight:write_extremes"})
