"""Predictions against retrained embeddings: results, tables and figures."""

from biaslab.origins import expansion
from biaslab.origins.analyses import Analysis
from biaslab.origins.sets import is_random
from biaslab.run.area import FIGURE, TABLE, TEST, UNIT, Item

_PERTURBATIONS, _CORRELATION = "perturbations.tsv", "correlation.tsv"
_WORD2VEC = ("word2vec/analogies.tsv",)
_DRAWN = (_PERTURBATIONS, _CORRELATION)


def _summarize(setup):
    names = expansion.perturbation_sets(setup)
    n_random = sum(map(is_random, names))
    phrase = f"{len(names) - n_random} targeted and {n_random} random sets"
    return phrase, sum(expansion.trainings_of(name, setup) for name in names)


ANALYSIS = Analysis(
    "retraining",
    results=("observed.tsv", _PERTURBATIONS, _CORRELATION),
    items=(
        Item("table4_correlation", TABLE, "Table 4", "report:correlation", (_CORRELATION,)),
        Item("tests_summary", TABLE, "Welch's tests", "report:significance_counts", (_PERTURBATIONS,)),
        Item("analogies_sets", TABLE, "Analogies", "report:glove_analogies", ("analogies.tsv",), UNIT),
        Item("analogies_word2vec", TABLE, "Section 5.4", "report:word2vec_analogies", _WORD2VEC, UNIT),
        Item("figure7_predicted_observed", FIGURE, "Figure 7", "report:draw_predictions", _DRAWN),
        Item("figure8_sets", FIGURE, "Figure 8", "report:draw_targeted_sets", _DRAWN),
        Item("figure2_predicted_observed", FIGURE, "Figure 2", "report:draw_estimators", _DRAWN, TEST),
        Item("figure3_sets", FIGURE, "Figure 3", "report:draw_sets", _DRAWN, TEST),
    ),
    retrains=_summarize,
)
