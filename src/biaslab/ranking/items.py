"""The tables and figures of the area."""

from typing import Any

from biaslab.run.area import FIGURE, TABLE, Item


def _item(kind: Any, stem: str, label: str, make: str, *results: str) -> Item:
    files = tuple(f"{name}.tsv" for name in results)
    return Item(stem, kind, label, f"biaslab.ranking.report.{make}", files, caption=f"ranking_{stem}")


_EXPOSURE = "All algorithms by measures of exposure and FA*IR"

ITEMS = (
    _item(TABLE, "simulation", "Measures of the simulation", "tables:simulation", "simulation"),
    _item(TABLE, "feasibility", "Infeasible lists", "tables:feasibility", "feasibility"),
    _item(TABLE, "differences", "Differences between the algorithms", "tables:differences", "differences"),
    _item(TABLE, "enumeration", "Search for infeasible rankings", "tables:enumeration", "enumeration"),
    _item(TABLE, "counterexamples", "Infeasible rankings", "tables:counterexamples", "counterexamples"),
    _item(TABLE, "worked_example", "Worked example of the skew", "tables:example"),
    _item(TABLE, "comparison", _EXPOSURE, "comparison:comparison", "comparison"),
    _item(FIGURE, "comparison", _EXPOSURE, "comparison:draw_comparison", "comparison"),
    _item(
        FIGURE,
        "simulation",
        "Measures against the number of values",
        "figures:draw_simulation",
        "simulation",
        "feasibility",
    ),
)
