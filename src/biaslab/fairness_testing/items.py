"""The tables and figures of the area."""

from biaslab.fairness_testing.names import TABULAR, TEXT
from biaslab.run.area import item_makers

_table, _figure = item_makers("fairness_testing", "fairness", of=TABULAR)
_text_table, _text_figure = item_makers("fairness_testing", "fairness", of=TEXT)

ITEMS = (
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
    _text_table("text_corpus", "Texts", "text_tables:corpora", "texts"),
    _text_table("text_table3_models", "Table 3: networks that read texts", "text_tables:models", "models"),
    _text_table("text_table8", "Table 8: discriminatory texts", "text_tables:found", "global", "local"),
    _text_table("text_table9", "Table 9: how near the texts are", "text_tables:nearness", "validity"),
    _text_table("text_table11", "Table 11: cost in model queries", "text_tables:cost", "local"),
    _text_table(
        "text_table13", "Table 13: retraining and certified training", "text_tables:retraining", "retraining"
    ),
    _text_table(
        "text_table14", "Table 14: retraining by strategy", "text_tables:retraining_by_strategy", "retraining"
    ),
    _text_table(
        "text_averages",
        "Averages over networks and features",
        "text_tables:average_table",
        "global",
        "local",
        "validity",
        "retraining",
    ),
    _text_table(
        "text_figure4_example",
        "Figure 4: sentences through the search",
        "text_tables:examples",
        "example.json",
    ),
    _text_figure("text_figure8", "Figure 8: how near the texts are", "figures:draw_nearness", "validity"),
    _text_figure(
        "text_retraining",
        "Discrimination that training again removes",
        "figures:draw_text_retraining",
        "retraining",
    ),
)
