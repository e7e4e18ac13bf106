"""What the area makes: its tables and figures, and in one line what its experiment does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One table or figure: where it lies and how a report presents it.

    Attributes
    ----------
    stem : str
        Path without suffix, relative to the results folder of the area.
    caption : str
        Stem of the caption file of the report.
    item, embedding : str
        What the report calls it, and the embedding that it is about.
    """

    stem: str
    caption: str
    item: str
    embedding: str = "all"


TABLES = (
    Item("tables/figure1_occupations", "debiasing_occupations", "Figure 1: extreme occupations"),
    Item("tables/figure1_analogies", "debiasing_analogies", "Figure 1: analogies before and after"),
    Item("tables/figure2_benchmarks", "debiasing_benchmarks", "Figure 2: benchmarks before and after"),
    Item("tables/direct_bias", "debiasing_direct_bias", "Direct bias before and after"),
    Item("tables/indirect_bias", "debiasing_indirect_bias", "Indirect bias"),
    Item("tables/weat", "debiasing_weat", "Association tests before and after"),
    Item("tables/lambda_path", "debiasing_lambda_path", "The whole path of soft debiasing"),
    Item("tables/classifier", "debiasing_classifier", "Classifier of gender-specific words"),
    Item("tables/lost_words", "debiasing_lost_words", "Lost words"),
)
"""Of all embeddings together, each with the files ``<stem>.tsv``, ``.md`` and ``.tex``."""

_FIGURES = {
    "figure1_occupations": ("debiasing_occupations", "Figure 1: extreme occupations"),
    "figure2_components": ("debiasing_components", "Figure 2: principal components"),
    "figure3_words": ("debiasing_words", "Figure 3: words on two axes"),
    "lambda_path": ("debiasing_lambda_path", "Bias and quality along soft debiasing"),
}


def figures(embeddings: Sequence[str]) -> list[Item]:
    """Return the figures, each with the files ``<stem>.svg``, ``.pdf``, ``.png`` and ``.tsv``.

    Parameters
    ----------
    embeddings : sequence of str
        Names of the embeddings that are debiased.
    """
    return [
        Item(f"{embedding}/figures/{stem}", caption, item, embedding)
        for embedding in embeddings
        for stem, (caption, item) in _FIGURES.items()
    ]


def summaries(config: Mapping) -> list[str]:
    """Say in one line what will be debiased.

    Parameters
    ----------
    config : mapping
        The complete configuration.
    """
    names = ", ".join(config["debiasing"]["embeddings"])
    return [f"bias and benchmarks of {names} before and after hard and soft debiasing"]
