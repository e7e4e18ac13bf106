"""The tables and figures on texts."""

from biaslab.fairness_testing.names import TEXT
from biaslab.run.area import item_makers

_table, _figure = item_makers("fairness_testing", "fairness", of=TEXT)

TEXT_ITEMS = (
    _table("text_corpus", "Texts", "text_tables:corpora", "texts"),
    _table("text_table3_models", "Table 3: networks that read texts", "text_tables:models", "models"),
    _table("text_table8", "Table 8: discriminatory texts", "text_tables:found", "global", "local"),
    _table("text_table9", "Table 9: how near the texts are", "text_tables:nearness", "validity"),
    _table("text_table11", "Table 11: cost in model queries", "text_tables:cost", "local"),
    _table(
        "text_table13", "Table 13: retraining and certified training", "text_tables:retraining", "retraining"
    ),
    _table(
        "text_table14", "Table 14: retraining by strategy", "text_tables:retraining_by_strategy", "retraining"
    ),
    _table(
        "text_averages",
        "Averages over networks and features",
        "text_tables:average_table",
        "global",
        "local",
        "validity",
        "retraining",
    ),
    _table(
        "text_figure4_example",
        "Figure 4: sentences through the search",
        "text_tables:examples",
        "example.json",
    ),
    _figure("text_figure8", "Figure 8: how near the texts are", "text_figures:draw_nearness", "validity"),
    _figure(
        "text_retraining",
        "Discrimination that training again removes",
        "text_figures:draw_retraining",
        "retraining",
    ),
)
