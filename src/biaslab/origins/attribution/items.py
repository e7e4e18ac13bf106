"""How much each document contributes to a bias: results and steps."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis

_PPMI = "ppmi/{test}.parquet"

ANALYSIS = Analysis(
    "attribution",
    results=("differential_bias/{test}.parquet", _PPMI, expansion.SETS, "predictions.tsv"),
    more_needs={_PPMI: ("ppmi_comparison.random_tests",)},
    steps={
        "estimate-differential-bias": "tables:write_differential_bias",
        "scan-ppmi": "ppmi:write_scan",
        "predict-sets": "tables:write_predictions",
    },
)
