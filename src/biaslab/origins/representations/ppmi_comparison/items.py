"""GloVe's bias beside that by PPMI: results, step, table and figures (Brunet et al. 2019, Section 5.3)."""

from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, UNIT, Item

_BASELINE, _SETS, _CORRELATION = (f"ppmi/{name}.tsv" for name in ("baseline", "word_sets", "correlation"))
_RANKINGS = ("differential_bias/{test}.parquet", "ppmi/{test}.parquet", "baseline.tsv", _BASELINE)
_WORD2VEC = ("word2vec/word_sets.tsv", "word2vec/correlation.tsv")

ANALYSIS = Analysis(
    "ppmi_comparison",
    results=(_BASELINE, _SETS, _CORRELATION),
    needs=("ppmi_comparison.random_tests",),
    items=(
        Item("ppmi_rankings", TABLE, "Section 5.3", "report.rankings:document_rankings", _RANKINGS),
        Item(
            "figure9_glove_ppmi",
            FIGURE,
            "Figure 9",
            "report.random_tests:draw_ppmi",
            (_SETS, _CORRELATION),
            UNIT,
        ),
        Item(
            "figure9_glove_word2vec", FIGURE, "Figure 9", "report.random_tests:draw_word2vec", _WORD2VEC, UNIT
        ),
        Item("ppmi_rankings", FIGURE, "Section 5.3", "report.rankings:draw_rankings", _RANKINGS, TEST),
    ),
    steps={"compare-ppmi": "analysis:write_comparison"},
)
