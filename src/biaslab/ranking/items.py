"""The tables and figures of the area."""

from biaslab.run.area import FIGURE, TABLE, Item

_TABLES = "biaslab.ranking.report.tables"
_FIGURES = "biaslab.ranking.report.figures"
_COMPARISON = "biaslab.ranking.report.comparison"

ITEMS = (
    Item(
        "simulation",
        TABLE,
        "Measures of the simulation",
        f"{_TABLES}:simulation",
        ("simulation.tsv",),
        caption="ranking_simulation",
    ),
    Item(
        "feasibility",
        TABLE,
        "Infeasible lists",
        f"{_TABLES}:feasibility",
        ("feasibility.tsv",),
        caption="ranking_feasibility",
    ),
    Item(
        "differences",
        TABLE,
        "Differences between the algorithms",
        f"{_TABLES}:differences",
        ("differences.tsv",),
        caption="ranking_differences",
    ),
    Item(
        "enumeration",
        TABLE,
        "Search for infeasible rankings",
        f"{_TABLES}:enumeration",
        ("enumeration.tsv",),
        caption="ranking_enumeration",
    ),
    Item(
        "counterexamples",
        TABLE,
        "Infeasible rankings",
        f"{_TABLES}:counterexamples",
        ("counterexamples.tsv",),
        caption="ranking_counterexamples",
    ),
    Item(
        "worked_example",
        TABLE,
        "Worked example of the skew",
        f"{_TABLES}:example",
        (),
        caption="ranking_worked_example",
    ),
    Item(
        "comparison",
        TABLE,
        "All algorithms by measures of exposure and FA*IR",
        f"{_COMPARISON}:comparison",
        ("comparison.tsv",),
        caption="ranking_comparison",
    ),
    Item(
        "comparison",
        FIGURE,
        "All algorithms by measures of exposure and FA*IR",
        f"{_COMPARISON}:draw_comparison",
        ("comparison.tsv",),
        caption="ranking_comparison",
    ),
    Item(
        "simulation",
        FIGURE,
        "Measures against the number of values",
        f"{_FIGURES}:draw_simulation",
        ("simulation.tsv", "feasibility.tsv"),
        caption="ranking_simulation",
    ),
)
