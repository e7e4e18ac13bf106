"""The tables and figures of the area."""

from functools import partial

from biaslab.run.area import UNIT, item_makers

_table, _figure = item_makers("debiasing", "debiasing")
_figure = partial(_figure, per=UNIT)

ITEMS = (
    _table(
        "figure1_occupations", "Figure 1: extreme occupations", "tables:extreme_occupations", "occupations"
    ),
    _table("figure1_analogies", "Figure 1: analogies before and after", "tables:analogies", "analogies"),
    _table("figure2_benchmarks", "Figure 2: benchmarks before and after", "tables:benchmarks", "benchmarks"),
    _table("direct_bias", "Direct bias before and after", "tables:direct_bias", "bias"),
    _table("indirect_bias", "Indirect bias", "tables:indirect_bias", "indirect"),
    _table("weat", "Association tests before and after", "tables:association_tests", "weat"),
    _table(
        "classifier",
        "Classifier of gender-specific words",
        "tables:classifier",
        "classifier",
        "classifier_authors",
    ),
    _figure(
        "figure1_occupations", "Figure 1: extreme occupations", "figures:draw_occupations", "occupations"
    ),
    _figure("figure2_components", "Figure 2: principal components", "figures:draw_components", "subspace"),
    _figure("figure3_words", "Figure 3: words on two axes", "figures:draw_words", "axes"),
    _figure(
        "lambda_path",
        "Bias and quality along soft debiasing",
        "figures:draw_path",
        "lambda_path",
        "bias",
        "settings",
    ),
    _table("methods", "Methods of debiasing side by side", "methods:methods_table", "methods"),
    _figure(
        "methods",
        "Bias that remains against quality kept",
        "methods:draw_methods",
        "methods",
        "bias",
        "settings",
    ),
)
