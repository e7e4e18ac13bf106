"""The tables and figures on texts."""

from biaslab.fairness_testing.names import TEXT
from biaslab.run.area import FIGURE, TABLE, Item

_REPORT = "biaslab.fairness_testing.report"


def _table(stem: str, label: str, function: str, *files: str) -> Item:
    make = f"{_REPORT}.text_tables:{function}"
    return Item(stem, TABLE, label, make, files, caption=f"fairness_{stem}", of=TEXT)


def _figure(stem: str, label: str, function: str, *files: str) -> Item:
    make = f"{_REPORT}.text_figures:{function}"
    return Item(stem, FIGURE, label, make, files, caption=f"fairness_{stem}", of=TEXT)


TEXT_ITEMS = (
    _table("text_corpus", "Texts", "corpora", "texts.tsv"),
    _table("text_table3_models", "Table 3: networks that read texts", "models", "models.tsv"),
    _table("text_table8", "Table 8: discriminatory texts", "found", "global.tsv", "local.tsv"),
    _table(
        "text_strategies", "Global strategies against each other", "strategies", "global.tsv", "seeds.parquet"
    ),
    _table("text_table9", "Table 9: how near the texts are", "nearness", "validity.tsv"),
    _table("text_table11", "Table 11: cost in model queries", "cost", "local.tsv"),
    _table("text_table13", "Table 13: retraining and certified training", "retraining", "retraining.tsv"),
    _table("text_table14", "Table 14: retraining by strategy", "retraining_by_strategy", "retraining.tsv"),
    _table(
        "text_averages",
        "Averages over networks and features",
        "average_table",
        "global.tsv",
        "local.tsv",
        "validity.tsv",
        "retraining.tsv",
    ),
    _table("text_words", "Values whose replacement changes the label", "terms", "words.tsv"),
    _table("text_agreement", "Pairs of one network on another", "agreement", "agreement.tsv"),
    _table("text_unseen", "Texts never searched", "unseen", "unseen.tsv"),
    _table("text_figure4_example", "Figure 4: sentences through the search", "examples", "example.json"),
    _figure("text_figure8", "Figure 8: how near the texts are", "draw_nearness", "validity.tsv"),
    _figure("text_coverage", "Discriminatory texts against model queries", "draw_coverage", "curves.tsv"),
    _figure("text_terms", "Values whose replacement changes the label", "draw_terms", "words.tsv"),
    _figure(
        "text_retraining", "Discrimination that training again removes", "draw_retraining", "retraining.tsv"
    ),
)
