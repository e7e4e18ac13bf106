"""Predictions against retrained embeddings: results, tables and figures."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis
from biaslab.origins.sets.names import is_random
from biaslab.run.area import FIGURE, TABLE, TEST, UNIT, Item

_PERTURBATIONS, _CORRELATION = "perturbations.tsv", "correlation.tsv"
_PPMI = "ppmi/{test}.parquet"
_DRAWN = (_PERTURBATIONS, _CORRELATION)


def _retrains(setup):
    every = expansion.perturbation_sets(setup)
    if not every:
        return "", 0
    n_random = sum(map(is_random, every))
    said = f"{len(every) - n_random} targeted and {n_random} random sets"
    return said, expansion.trainings_without(every, setup)


ANALYSIS = Analysis(
    "retraining",
    steps={"evaluate-predictions": "analysis:write_evaluation"},
    results=("observed.tsv", _PERTURBATIONS, _CORRELATION),
    needs=("perturbations.retrainings",),
    items=(
        Item("table4_correlation", TABLE, "Table 4", "report.estimators:correlation", (_CORRELATION,)),
        Item(
            "tests_summary",
            TABLE,
            "Welch's tests",
            "report.significance:significance_counts",
            (_PERTURBATIONS,),
        ),
        Item(
            "estimators",
            TABLE,
            "Estimators",
            "report.estimators:compare_estimators",
            (_PERTURBATIONS, expansion.SETS, _PPMI),
            optional=(_PPMI,),
        ),
        Item("tests_sets", TABLE, "Welch's tests", "report.significance:set_tests", (_PERTURBATIONS,), UNIT),
        Item(
            "analogies_sets", TABLE, "Analogies", "report.quality:glove_analogies", ("analogies.tsv",), UNIT
        ),
        Item(
            "analogies_word2vec",
            TABLE,
            "Section 5.4",
            "report.quality:word2vec_analogies",
            ("word2vec/analogies.tsv",),
            UNIT,
        ),
        Item("figure7_predicted_observed", FIGURE, "Figure 7", "report.predictions:draw_predictions", _DRAWN),
        Item("figure8_sets", FIGURE, "Figure 8", "report.predictions:draw_targeted_sets", _DRAWN),
        Item(
            "figure2_predicted_observed",
            FIGURE,
            "Figure 2",
            "report.predictions:draw_estimators",
            _DRAWN,
            TEST,
        ),
        Item("figure3_sets", FIGURE, "Figure 3", "report.predictions:draw_sets", _DRAWN, TEST),
    ),
    retrains=_retrains,
)
