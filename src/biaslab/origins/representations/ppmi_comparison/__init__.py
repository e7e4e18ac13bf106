"""Compare bias in GloVe and in PPMI: results, step and figures (Brunet et al. 2019, Section 5.3)."""

from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, UNIT, Item

_BASELINE, _SETS, _CORRELATION = (f"ppmi/{name}.tsv" for name in ("baseline", "word_sets", "correlation"))
_WORD2VEC = ("word2vec/word_sets.tsv", "word2vec/correlation.tsv")

ANALYSIS = Analysis(
    "ppmi_comparison",
    results=(_BASELINE, _SETS, _CORRELATION),
    items=(
        Item("figure9_glove_ppmi", FIGURE, "Figure 9", "report:draw_ppmi", (_SETS, _CORRELATION), UNIT),
        Item("figure9_glove_word2vec", FIGURE, "Figure 9", "report:draw_word2vec", _WORD2VEC, UNIT),
    ),
)
