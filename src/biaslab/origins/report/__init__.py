"""The tables and figures of the area. One function makes each item; the analysis names this function.

These functions have the same parameters. Their docstrings describe only the content:

setups : sequence of Setup
    The setups of the run, in the order of the rows, for items that cover all setups.
setup : Setup
    One setup.
weat : str
    The name of an association test of the setup.
stem : pathlib.Path
    Path of a figure without suffix. The function writes the figure, and its data as ``.tsv``.

Functions of tables return `biaslab.core.tables.Table`. Functions raise InputError if a result file, a column,
a row, an option or the word sets of a test are missing. Then they write no figure.
"""

from biaslab.origins.analyses import Analysis
from biaslab.origins.expansion import SETS
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, Item

_BASELINE, _DOCUMENTS, _ANALOGIES = "baseline.tsv", "documents.parquet", "analogies.tsv"
_BIAS = "differential_bias/{test}.parquet"
_CORPUS, _DOCUMENTS_OF = (_DOCUMENTS, "vocabulary.tsv", _ANALOGIES), (_BIAS, _DOCUMENTS, _BASELINE)
_INFLUENTIAL = "tableE_influential_documents"
_ATTRIBUTED = (_BIAS, "ppmi/{test}.parquet", SETS, "predictions.tsv")

ANALYSIS = Analysis(
    "report",
    results=(*_CORPUS, _BASELINE, *_ATTRIBUTED),
    items=(
        Item("table1_weat_sets", TABLE, "Table 1", "tables:weat_sets", ()),
        Item("table1_weat_words", TABLE, "Appendix B", "tables:weat_words", (_BASELINE,)),
        Item("table2_baseline_bias", TABLE, "Table 2", "tables:baseline_bias", (_BASELINE,)),
        Item("table3_setups", TABLE, "Table 3", "tables:experimental_setups", _CORPUS),
        Item(_INFLUENTIAL, TABLE, "Appendix E", "tables:influential_documents", _DOCUMENTS_OF, TEST),
        Item("figure6_histograms", FIGURE, "Figure 6", "histograms:draw_histograms", (_BIAS, _BASELINE), ALL),
        Item("figure1_histogram", FIGURE, "Figure 1", "histograms:draw_histogram", (_BIAS, _BASELINE), TEST),
    ),
)
