"""The tables and figures of the area."""

from biaslab.fairness_testing.names import TABULAR
from biaslab.fairness_testing.text.items import TEXT_ITEMS
from biaslab.run.area import item_makers

_table, _figure = item_makers("fairness_testing", "fairness", of=TABULAR)

_TABULAR_ITEMS = (
    _table("table3_classifiers", "Table 3: classifiers", "tables:classifiers", "classifiers"),
    _table("table4_aequitas", "Table 4: comparison with AEQUITAS", "tables:aequitas", "counts"),
    _table("table5_symbolic", "Table 5: comparison with SG", "tables:symbolic", "counts"),
    _table("table6_global", "Table 6: global generation", "tables:global_phase", "counts"),
    _table("table7_local", "Table 7: local generation", "tables:local_phase", "local"),
    _table("table10_cost", "Table 10: cost in model queries", "tables:cost", "counts"),
    _table("table12_retraining", "Table 12: retraining", "tables:retraining", "retraining", "fairness"),
    _table(
        "averages",
        "Averages over the settings",
        "tables:average_table",
        "counts",
        "local",
        "retraining",
        "curves",
    ),
    _table("ablation", "What each published quirk is worth", "tables:ablation", "ablation"),
    _figure(
        "figure7_local", "Figure 7: growth with the seeds", "figures:draw_local", "curves", caption="figure7"
    ),
    _figure("ablation", "What each published quirk is worth", "figures:draw_ablation", "ablation"),
    _figure(
        "retraining",
        "Discrimination before and after retraining",
        "figures:draw_retraining",
        "retraining",
        "fairness",
    ),
    _table("budgets", "Testers at equal numbers of queries", "budgets:budget_table", "budgets"),
    _figure("budgets", "Testers at equal numbers of queries", "budgets:draw_budgets", "budgets"),
)

ITEMS = (*_TABULAR_ITEMS, *TEXT_ITEMS)
