"""How much each document contributes to a bias: results and steps."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis

ANALYSIS = Analysis(
    "attribution",
    results=("differential_bias/{test}.parquet", "ppmi/{test}.parquet", expansion.SETS, "predictions.tsv"),
)
