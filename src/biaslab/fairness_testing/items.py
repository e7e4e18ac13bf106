"""The tables and figures of the area."""

import re

from biaslab.fairness_testing.names import TABULAR
from biaslab.fairness_testing.text.items import TEXT_ITEMS
from biaslab.run.area import FIGURE, TABLE, Item

_REPORT = "biaslab.fairness_testing.report"


def _table(stem: str, label: str, function: str, *files: str) -> Item:
    """Return a table; the name of its caption lacks the number that it has in the paper."""
    caption = "fairness_" + re.sub(r"^table\d+_", "", stem)
    return Item(stem, TABLE, label, f"{_REPORT}.{function}", files, caption=caption, of=TABULAR)


def _figure(stem: str, label: str, function: str, *files: str, caption: str = "") -> Item:
    caption = caption or f"fairness_{stem}"
    return Item(stem, FIGURE, label, f"{_REPORT}.{function}", files, caption=caption, of=TABULAR)


_TABULAR_ITEMS = (
    _table("table3_classifiers", "Table 3: classifiers", "tables:classifiers", "classifiers.tsv"),
    _table("table4_aequitas", "Table 4: comparison with AEQUITAS", "tables:aequitas", "counts.tsv"),
    _table("table5_symbolic", "Table 5: comparison with SG", "tables:symbolic", "counts.tsv"),
    _table("table6_global", "Table 6: global generation", "tables:global_phase", "counts.tsv"),
    _table("table7_local", "Table 7: local generation", "tables:local_phase", "local.tsv"),
    _table("table10_cost", "Table 10: cost in model queries", "tables:cost", "counts.tsv"),
    _table(
        "table12_retraining", "Table 12: retraining", "tables:retraining", "retraining.tsv", "fairness.tsv"
    ),
    _table(
        "averages",
        "Averages over the settings",
        "tables:average_table",
        "counts.tsv",
        "local.tsv",
        "retraining.tsv",
        "curves.tsv",
    ),
    _table("ablation", "What each published quirk is worth", "tables:ablation", "ablation.tsv"),
    _table("modes", "As published and as printed", "tables:modes", "counts.tsv"),
    _figure(
        "figure7_local",
        "Figure 7: growth with the seeds",
        "figures:draw_local",
        "curves.tsv",
        caption="fairness_figure7",
    ),
    _figure(
        "coverage", "Discriminatory samples against model queries", "figures:draw_coverage", "curves.tsv"
    ),
    _figure("ablation", "What each published quirk is worth", "figures:draw_ablation", "ablation.tsv"),
    _figure(
        "retraining",
        "Discrimination before and after retraining",
        "figures:draw_retraining",
        "retraining.tsv",
        "fairness.tsv",
    ),
    _table("budgets", "Testers at equal numbers of queries", "budgets:budget_table", "budgets.tsv"),
    _table("suites", "How natural and how different the finds are", "budgets:suite_table", "suites.tsv"),
    _figure("budgets", "Testers at equal numbers of queries", "budgets:draw_budgets", "budgets.tsv"),
)

ITEMS = (*_TABULAR_ITEMS, *TEXT_ITEMS)
