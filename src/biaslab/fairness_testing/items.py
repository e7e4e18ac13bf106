"""The tables and figures of the area."""

from biaslab.fairness_testing.names import TABULAR
from biaslab.fairness_testing.text.items import TEXT_ITEMS
from biaslab.run.area import FIGURE, TABLE, Item

_TABLES = "biaslab.fairness_testing.report.tables"
_FIGURES = "biaslab.fairness_testing.report.figures"

_TABULAR_ITEMS = (
    Item(
        "table3_classifiers",
        TABLE,
        "Table 3: classifiers",
        f"{_TABLES}:classifiers",
        ("classifiers.tsv",),
        caption="fairness_classifiers",
        of=TABULAR,
    ),
    Item(
        "table4_aequitas",
        TABLE,
        "Table 4: comparison with AEQUITAS",
        f"{_TABLES}:aequitas",
        ("counts.tsv",),
        caption="fairness_aequitas",
        of=TABULAR,
    ),
    Item(
        "table5_symbolic",
        TABLE,
        "Table 5: comparison with SG",
        f"{_TABLES}:symbolic",
        ("counts.tsv",),
        caption="fairness_symbolic",
        of=TABULAR,
    ),
    Item(
        "table6_global",
        TABLE,
        "Table 6: global generation",
        f"{_TABLES}:global_phase",
        ("counts.tsv",),
        caption="fairness_global",
        of=TABULAR,
    ),
    Item(
        "table7_local",
        TABLE,
        "Table 7: local generation",
        f"{_TABLES}:local_phase",
        ("local.tsv",),
        caption="fairness_local",
        of=TABULAR,
    ),
    Item(
        "table10_cost",
        TABLE,
        "Table 10: cost in model queries",
        f"{_TABLES}:cost",
        ("counts.tsv",),
        caption="fairness_cost",
        of=TABULAR,
    ),
    Item(
        "table12_retraining",
        TABLE,
        "Table 12: retraining",
        f"{_TABLES}:retraining",
        ("retraining.tsv", "fairness.tsv"),
        caption="fairness_retraining",
        of=TABULAR,
    ),
    Item(
        "averages",
        TABLE,
        "Averages over the settings",
        f"{_TABLES}:average_table",
        ("counts.tsv", "local.tsv", "retraining.tsv", "curves.tsv"),
        caption="fairness_averages",
        of=TABULAR,
    ),
    Item(
        "ablation",
        TABLE,
        "What each published quirk is worth",
        f"{_TABLES}:ablation",
        ("ablation.tsv",),
        caption="fairness_ablation",
        of=TABULAR,
    ),
    Item(
        "modes",
        TABLE,
        "As published and as printed",
        f"{_TABLES}:modes",
        ("counts.tsv",),
        caption="fairness_modes",
        of=TABULAR,
    ),
    Item(
        "figure7_local",
        FIGURE,
        "Figure 7: growth with the seeds",
        f"{_FIGURES}:draw_local",
        ("curves.tsv",),
        caption="fairness_figure7",
        of=TABULAR,
    ),
    Item(
        "coverage",
        FIGURE,
        "Discriminatory samples against model queries",
        f"{_FIGURES}:draw_coverage",
        ("curves.tsv",),
        caption="fairness_coverage",
        of=TABULAR,
    ),
    Item(
        "ablation",
        FIGURE,
        "What each published quirk is worth",
        f"{_FIGURES}:draw_ablation",
        ("ablation.tsv",),
        caption="fairness_ablation",
        of=TABULAR,
    ),
    Item(
        "retraining",
        FIGURE,
        "Discrimination before and after retraining",
        f"{_FIGURES}:draw_retraining",
        ("retraining.tsv", "fairness.tsv"),
        caption="fairness_retraining",
        of=TABULAR,
    ),
)

ITEMS = (*_TABULAR_ITEMS, *TEXT_ITEMS)
