"""The tables and figures of the area."""

from biaslab.run.area import item_makers

_EXPOSURE = "All algorithms by measures of exposure and FA*IR"
_table, _figure = item_makers("ranking", "ranking")

ITEMS = (
    _table("simulation", "Measures of the simulation", "tables:simulation", "simulation"),
    _table("differences", "Differences between the algorithms", "tables:differences", "differences"),
    _table("worked_example", "Worked example of the skew", "tables:example"),
    _table("comparison", _EXPOSURE, "comparison:comparison", "comparison"),
    _figure("comparison", _EXPOSURE, "comparison:draw_comparison", "comparison"),
    _figure(
        "simulation",
        "Measures against the number of values",
        "figures:draw_simulation",
        "simulation",
        "feasibility",
    ),
)
