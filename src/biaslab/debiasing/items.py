"""The tables and figures of the area."""

from biaslab.run.area import FIGURE, TABLE, UNIT, Item

_TABLES = "biaslab.debiasing.report.tables"
_FIGURES = "biaslab.debiasing.report.figures"
_DOCUMENTS = "biaslab.debiasing.report.document_ranking"

SETUP = "setup"
"""The mark (`Unit.marks`) of an embedding that is a setup of origins, whose documents can be ranked."""

ITEMS = (
    Item(
        "figure1_occupations",
        TABLE,
        "Figure 1: extreme occupations",
        f"{_TABLES}:extreme_occupations",
        ("occupations.tsv",),
        caption="debiasing_occupations",
    ),
    Item(
        "figure1_analogies",
        TABLE,
        "Figure 1: analogies before and after",
        f"{_TABLES}:analogies",
        ("analogies.tsv",),
        caption="debiasing_analogies",
    ),
    Item(
        "figure2_benchmarks",
        TABLE,
        "Figure 2: benchmarks before and after",
        f"{_TABLES}:benchmarks",
        ("benchmarks.tsv",),
        caption="debiasing_benchmarks",
    ),
    Item(
        "direct_bias",
        TABLE,
        "Direct bias before and after",
        f"{_TABLES}:direct_bias",
        ("bias.tsv",),
        caption="debiasing_direct_bias",
    ),
    Item(
        "indirect_bias",
        TABLE,
        "Indirect bias",
        f"{_TABLES}:indirect_bias",
        ("indirect.tsv",),
        caption="debiasing_indirect_bias",
    ),
    Item(
        "weat",
        TABLE,
        "Association tests before and after",
        f"{_TABLES}:association_tests",
        ("weat.tsv",),
        caption="debiasing_weat",
    ),
    Item(
        "lambda_path",
        TABLE,
        "The whole path of soft debiasing",
        f"{_TABLES}:lambda_path",
        ("lambda_path.tsv",),
        caption="debiasing_lambda_path",
    ),
    Item(
        "classifier",
        TABLE,
        "Classifier of gender-specific words",
        f"{_TABLES}:classifier",
        ("classifier.tsv", "classifier_authors.tsv"),
        caption="debiasing_classifier",
    ),
    Item(
        "lost_words",
        TABLE,
        "Lost words",
        f"{_TABLES}:lost_words",
        ("lost_words.tsv",),
        caption="debiasing_lost_words",
    ),
    Item(
        "figure1_occupations",
        FIGURE,
        "Figure 1: extreme occupations",
        f"{_FIGURES}:draw_occupations",
        ("occupations.tsv",),
        per=UNIT,
        caption="debiasing_occupations",
    ),
    Item(
        "figure2_components",
        FIGURE,
        "Figure 2: principal components",
        f"{_FIGURES}:draw_components",
        ("subspace.tsv",),
        per=UNIT,
        caption="debiasing_components",
    ),
    Item(
        "figure3_words",
        FIGURE,
        "Figure 3: words on two axes",
        f"{_FIGURES}:draw_words",
        ("axes.tsv",),
        per=UNIT,
        caption="debiasing_words",
    ),
    Item(
        "lambda_path",
        FIGURE,
        "Bias and quality along soft debiasing",
        f"{_FIGURES}:draw_path",
        ("lambda_path.tsv",),
        per=UNIT,
        caption="debiasing_lambda_path",
    ),
    Item(
        "document_ranking",
        TABLE,
        "Documents after debiasing",
        f"{_DOCUMENTS}:ranking_table",
        ("document_ranking.tsv",),
        per=UNIT,
        caption="debiasing_document_ranking",
        of=SETUP,
    ),
    Item(
        "document_ranking",
        FIGURE,
        "Documents after debiasing",
        f"{_DOCUMENTS}:draw_rankings",
        ("document_ranking.tsv",),
        per=UNIT,
        caption="debiasing_document_ranking",
        of=SETUP,
    ),
)
