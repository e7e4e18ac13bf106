"""How much each document contributes to a bias: results and steps."""

from biaslab.origins.analyses import Analysis

ANALYSIS = Analysis(
    "attribution",
    results=("differential_bias/{test}.parquet", "ppmi/{test}.parquet"),
    steps={
        "estimate-differential-bias": "tables:write_differential_bias",
        "scan-ppmi": "ppmi:write_scan",
        "measure-relative-influence": "relative:write_relative",
        "predict-sets": "tables:write_predictions",
    },
)
