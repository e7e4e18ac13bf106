"""The tables and figures of the area, each made by one function that its analysis names.

They have the same parameters, and say in their docstrings only what they show:

setups : sequence of Setup
    The setups of the run, in the order of the rows; of what covers all of them.
setup : Setup
    One setup.
weat : str
    The name of one of its association tests.
stem : pathlib.Path
    Of a figure: its files without suffix. They are written, with what is drawn as ``.tsv``.

A table is returned as `biaslab.core.tables.Table`. InputError is raised when a result file, one of its
columns or rows, an option or the word sets of a test are missing; then no figure is written.
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
