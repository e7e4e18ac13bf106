"""How much each document contributes to a bias: results and steps, table and figure of the bias gradient."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_BIAS, _PPMI, _GRADIENT = (
    f"{name}/{{test}}.parquet" for name in ("differential_bias", "ppmi", "bias_gradient")
)

ANALYSIS = Analysis(
    "attribution",
    results=(_BIAS, _PPMI, _GRADIENT),
    items=(
        Item("bias_gradient", TABLE, "Appendix A", "report:gradient_table", (_GRADIENT,), TEST),
        Item("bias_gradient", FIGURE, "Appendix A", "report:draw_gradient", (_GRADIENT,), TEST),
    ),
    steps={
        "estimate-differential-bias": "scanner:write_differential_bias",
        "estimate-bias-gradient": "gradient:write_gradient",
        "scan-ppmi": "ppmi:write_scan",
        "predict-sets": "scanner:write_predictions",
    },
)
