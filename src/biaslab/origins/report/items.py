"""The corpus, its baselines and its documents: results, tables and figures (Brunet et al. 2019)."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, Item

_BASELINE, _DOCUMENTS, _ANALOGIES = "baseline.tsv", "documents.parquet", "analogies.tsv"
_BIAS = "differential_bias/{test}.parquet"
_DOCUMENTS_OF = (_BIAS, _DOCUMENTS, _BASELINE)

ANALYSIS = Analysis(
    "report",
    results=(_DOCUMENTS, "vocabulary.tsv", _ANALOGIES, _BASELINE),
    items=(
        Item("table1_weat_sets", TABLE, "Table 1", "tables:weat_sets", ()),
        Item("table1_weat_words", TABLE, "Appendix B", "tables:weat_words", (_BASELINE,)),
        Item("table2_baseline_bias", TABLE, "Table 2", "tables:baseline_bias", (_BASELINE,)),
        Item(
            "table3_setups",
            TABLE,
            "Table 3",
            "tables:experimental_setups",
            (_DOCUMENTS, "vocabulary.tsv", _ANALOGIES),
        ),
        Item(
            "tableE_influential_documents",
            TABLE,
            "Appendix E",
            "tables:influential_documents",
            _DOCUMENTS_OF,
            TEST,
        ),
        Item("figure6_histograms", FIGURE, "Figure 6", "histograms:draw_histograms", (_BIAS, _BASELINE), ALL),
        Item("figure1_histogram", FIGURE, "Figure 1", "histograms:draw_histogram", (_BIAS, _BASELINE), TEST),
    ),
)
