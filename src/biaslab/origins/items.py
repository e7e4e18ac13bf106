"""The tables and figures of the area: Tables 1 to 5 and Figures 1 to 9 of Brunet et al. 2019, and more."""

from biaslab.origins.grid import BRITTLENESS, LDS, PLANTED, RANDOMISED, RELATIVE
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, UNIT, Item

_BASELINE, _DOCUMENTS, _SETS = "baseline.tsv", "documents.parquet", "perturbation_sets.parquet"
_BIAS, _PPMI = "differential_bias/{test}.parquet", "ppmi/{test}.parquet"
_GRADIENT = "bias_gradient/{test}.parquet"
_PERTURBATIONS, _CORRELATION = "perturbations.tsv", "correlation.tsv"
_RANKINGS = (_BIAS, _PPMI, _BASELINE, "ppmi/baseline.tsv")
_SINGLE = "single_documents/documents.tsv"
_AUC = "single_documents/auc.tsv"
_CROSS_FITTING, _SCORES = "cross_fitting.tsv", "lds/scores.tsv"
_RECALL, _PAIRS = "planted/recall.tsv", "planted/pairs.tsv"
_RANDOMISED, _ORDERS = "randomised/comparison.tsv", "relative_influence/comparison.tsv"
_BRACKETS, _OUTCOMES, _PATHS = (f"brittleness/{name}.tsv" for name in ("brackets", "outcomes", "paths"))


def _item(kind, per, stem, label, make, *files, of=""):
    return Item(stem, kind, label, f"biaslab.origins.report.{make}", files, per, of=of)


ITEMS: tuple[Item, ...] = (
    _item(TABLE, ALL, "table1_weat_sets", "Table 1", "association_tests:weat_sets"),
    _item(TABLE, ALL, "table1_weat_words", "Appendix B", "association_tests:weat_words", _BASELINE),
    _item(TABLE, ALL, "table2_baseline_bias", "Table 2", "association_tests:baseline_bias", _BASELINE),
    _item(
        TABLE, ALL, "table3_setups", "Table 3", "setups:experimental_setups",
        _DOCUMENTS, "vocabulary.tsv", "analogies.tsv",
    ),
    _item(TABLE, ALL, "table4_correlation", "Table 4", "estimators:correlation", _CORRELATION),
    _item(TABLE, ALL, "tests_summary", "Welch's tests", "significance:significance_counts", _PERTURBATIONS),
    _item(TABLE, ALL, "axis_frequency", "Section 5.5", "axis:frequency_table", "axis_frequency.tsv"),
    _item(TABLE, ALL, "ppmi_rankings", "Section 5.3", "ppmi:document_rankings", *_RANKINGS),
    _item(TABLE, ALL, "transfer", "Section 5.4", "transfer:transfer_table", "transfer/responses.tsv"),
    _item(
        TABLE, ALL, "estimators", "Estimators", "estimators:compare_estimators",
        _PERTURBATIONS, _SETS, _PPMI,
    ),
    _item(TABLE, ALL, "cross_fitting", "Cross-fitting", "cross_fitting:overestimates", _CROSS_FITTING),
    _item(
        TABLE, UNIT, "table5_ppmi_baseline", "Table 5", "ppmi_sets:compare_identification",
        _BASELINE, _SETS, "observed.tsv", f"ppmi/{_SETS}", "ppmi/observed.tsv",
    ),
    _item(TABLE, UNIT, "single_documents", "Single documents", "single_documents:documents_table", _SINGLE),
    _item(
        TABLE, UNIT, "single_correlation", "Single documents", "single_documents:correlation_table",
        "single_documents/correlation.tsv",
    ),
    _item(TABLE, UNIT, "single_auc", "Single documents", "single_auc:auc_table", _AUC),
    _item(TABLE, UNIT, "tests_sets", "Welch's tests", "significance:set_tests", _PERTURBATIONS),
    _item(TABLE, UNIT, "analogies_sets", "Analogies", "quality:glove_analogies", "analogies.tsv"),
    _item(
        TABLE, UNIT, "analogies_word2vec", "Section 5.4", "quality:word2vec_analogies",
        "word2vec/analogies.tsv",
    ),
    _item(
        TABLE, TEST, "tableE_influential_documents", "Appendix E",
        "influential_documents:influential_documents", _BIAS, _DOCUMENTS, _BASELINE,
    ),
    _item(TABLE, TEST, "metadata", "Metadata", "metadata:metadata_table", _BIAS, _DOCUMENTS),
    _item(TABLE, TEST, "bias_gradient", "Appendix A", "gradient:gradient_table", _GRADIENT),
    _item(TABLE, TEST, "cross_fitting_sets", "Cross-fitting", "cross_fitting:set_table", _CROSS_FITTING),
    _item(TABLE, TEST, "lds", "Random subsets", "lds:score_table", _SCORES, of=LDS),
    _item(TABLE, TEST, "planted", "Planted documents", "planted:recall_table", _RECALL, of=PLANTED),
    _item(TABLE, TEST, "planted_pairs", "Planted documents", "planted:pair_table", _PAIRS, of=PLANTED),
    _item(TABLE, TEST, "randomised", "Randomised", "randomised:randomised_table", _RANDOMISED, of=RANDOMISED),
    _item(
        TABLE, TEST, "relative_influence", "RelatIF", "relative_influence:orders_table", _ORDERS,
        of=RELATIVE,
    ),
    _item(TABLE, TEST, "brittleness", "Brittleness", "brittleness:number_table", _BRACKETS, of=BRITTLENESS),
    _item(TABLE, TEST, "brittleness_sets", "Brittleness", "brittleness:set_table", _OUTCOMES, of=BRITTLENESS),
    _item(TABLE, TEST, "seed_stability", "Seeds", "seeds:stability_table", "seed_stability.tsv"),
    _item(FIGURE, ALL, "figure6_histograms", "Figure 6", "histograms:draw_histograms", _BIAS, _BASELINE),
    _item(
        FIGURE, ALL, "figure7_predicted_observed", "Figure 7", "predictions:draw_predictions",
        _PERTURBATIONS, _CORRELATION,
    ),
    _item(
        FIGURE, ALL, "figure8_sets", "Figure 8", "predictions:draw_targeted_sets",
        _PERTURBATIONS, _CORRELATION,
    ),
    _item(FIGURE, UNIT, "training_loss", "Training", "training:draw_loss", "training.tsv"),
    _item(
        FIGURE, UNIT, "figure9_glove_ppmi", "Figure 9", "random_tests:draw_ppmi",
        "ppmi/word_sets.tsv", "ppmi/correlation.tsv",
    ),
    _item(
        FIGURE, UNIT, "figure9_glove_word2vec", "Figure 9", "random_tests:draw_word2vec",
        "word2vec/word_sets.tsv", "word2vec/correlation.tsv",
    ),
    _item(FIGURE, UNIT, "single_documents", "Single documents", "single_documents:draw_documents", _SINGLE),
    _item(FIGURE, UNIT, "single_auc", "Single documents", "single_auc:draw_auc", _AUC),
    _item(FIGURE, TEST, "figure1_histogram", "Figure 1", "histograms:draw_histogram", _BIAS, _BASELINE),
    _item(
        FIGURE, TEST, "figure2_predicted_observed", "Figure 2", "predictions:draw_estimators",
        _PERTURBATIONS, _CORRELATION,
    ),
    _item(
        FIGURE, TEST, "figure3_sets", "Figure 3", "predictions:draw_sets", _PERTURBATIONS, _CORRELATION
    ),
    _item(FIGURE, TEST, "figure4_transfer", "Figure 4", "transfer:draw_transfer", "transfer/changes.tsv"),
    _item(FIGURE, TEST, "figure5_bias_axis", "Figure 5", "axis:draw_axis", "projections.tsv"),
    _item(FIGURE, TEST, "metadata", "Metadata", "metadata:draw_metadata", _BIAS, _DOCUMENTS, _BASELINE),
    _item(FIGURE, TEST, "ppmi_rankings", "Section 5.3", "ppmi:draw_rankings", *_RANKINGS),
    _item(FIGURE, TEST, "bias_gradient", "Appendix A", "gradient:draw_gradient", _GRADIENT),
    _item(FIGURE, TEST, "cross_fitting", "Cross-fitting", "cross_fitting:draw_sets", _CROSS_FITTING),
    _item(FIGURE, TEST, "lds", "Random subsets", "lds:draw_scores", _SCORES, of=LDS),
    _item(FIGURE, TEST, "planted", "Planted documents", "planted:draw_recall", _RECALL, _PAIRS, of=PLANTED),
    _item(FIGURE, TEST, "randomised", "Randomised", "randomised:draw_randomised", _RANDOMISED, of=RANDOMISED),
    _item(
        FIGURE, TEST, "relative_influence", "RelatIF", "relative_influence:draw_orders", _ORDERS,
        of=RELATIVE,
    ),
    _item(
        FIGURE, TEST, "brittleness", "Brittleness", "brittleness:draw_flips",
        _PATHS, _OUTCOMES, _BASELINE, of=BRITTLENESS,
    ),
    _item(FIGURE, TEST, "seed_stability", "Seeds", "seeds:draw_stability", "seed_stability.tsv"),
)  # fmt: skip
"""In the order of the report: tables, then figures; of all setups, of a setup, of a test."""
