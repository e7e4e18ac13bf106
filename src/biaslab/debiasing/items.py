"""The tables and figures of the area."""

import re
from functools import partial
from typing import Any

from biaslab.run.area import FIGURE, TABLE, UNIT, Item

SETUP = "setup"
"""The mark (`Unit.marks`) of an embedding that is a setup of origins, whose documents can be ranked."""


def _item(kind: Any, stem: str, label: str, make: str, *results: str, **options: str) -> Item:
    """Return an item, whose caption is named as it is, but for the number of a figure of the paper."""
    caption = "debiasing_" + re.sub("^figure[0-9]_", "", stem)
    files = tuple(f"{name}.tsv" for name in results)
    return Item(stem, kind, label, f"biaslab.debiasing.report.{make}", files, caption=caption, **options)


_table = partial(_item, TABLE)
_figure = partial(_item, FIGURE, per=UNIT)

ITEMS = (
    _table(
        "figure1_occupations", "Figure 1: extreme occupations", "tables:extreme_occupations", "occupations"
    ),
    _table("figure1_analogies", "Figure 1: analogies before and after", "tables:analogies", "analogies"),
    _table("figure2_benchmarks", "Figure 2: benchmarks before and after", "tables:benchmarks", "benchmarks"),
    _table("direct_bias", "Direct bias before and after", "tables:direct_bias", "bias"),
    _table("indirect_bias", "Indirect bias", "tables:indirect_bias", "indirect"),
    _table("weat", "Association tests before and after", "tables:association_tests", "weat"),
    _table("lambda_path", "The whole path of soft debiasing", "tables:lambda_path", "lambda_path"),
    _table(
        "classifier",
        "Classifier of gender-specific words",
        "tables:classifier",
        "classifier",
        "classifier_authors",
    ),
    _table("lost_words", "Lost words", "tables:lost_words", "lost_words"),
    _figure(
        "figure1_occupations", "Figure 1: extreme occupations", "figures:draw_occupations", "occupations"
    ),
    _figure("figure2_components", "Figure 2: principal components", "figures:draw_components", "subspace"),
    _figure("figure3_words", "Figure 3: words on two axes", "figures:draw_words", "axes"),
    _figure("lambda_path", "Bias and quality along soft debiasing", "figures:draw_path", "lambda_path"),
    _table("methods", "Methods of debiasing side by side", "methods:methods_table", "methods"),
    _figure("methods", "Bias that remains against quality kept", "methods:draw_methods", "methods"),
    _figure("professions", "Occupations and their neighbours", "methods:draw_professions", "professions"),
    _table(
        "document_ranking",
        "Documents after debiasing",
        "document_ranking:ranking_table",
        "document_ranking",
        per=UNIT,
        of=SETUP,
    ),
    _figure(
        "document_ranking",
        "Documents after debiasing",
        "document_ranking:draw_rankings",
        "document_ranking",
        of=SETUP,
    ),
)
