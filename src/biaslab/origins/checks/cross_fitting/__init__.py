"""Predictions by baselines that did not select the documents: results, tables and figure."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_LABEL, _RESULTS = "Cross-fitting", ("cross_fitting.tsv",)

ANALYSIS = Analysis(
    "cross_fitting",
    steps={"cross-fit": "analysis:write_cross_fitting"},
    results=_RESULTS,
    items=(
        Item("cross_fitting", TABLE, _LABEL, "report:overestimates", _RESULTS),
        Item("cross_fitting_sets", TABLE, _LABEL, "report:set_table", _RESULTS, TEST),
        Item("cross_fitting", FIGURE, _LABEL, "report:draw_sets", _RESULTS, TEST),
    ),
)
