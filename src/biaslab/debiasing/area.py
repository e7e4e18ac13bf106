"""What the area makes: its tables and figures, and in one line what its experiment does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biaslab.run.area import Item


@dataclass(frozen=True)
class EmbeddingItem(Item):
    """A table or figure of one embedding, or of all together."""

    embedding: str = "all"


TABLES = (
    EmbeddingItem("tables/figure1_occupations", "debiasing_occupations", "Figure 1: extreme occupations"),
    EmbeddingItem("tables/figure1_analogies", "debiasing_analogies", "Figure 1: analogies before and after"),
    EmbeddingItem(
        "tables/figure2_benchmarks", "debiasing_benchmarks", "Figure 2: benchmarks before and after"
    ),
    EmbeddingItem("tables/direct_bias", "debiasing_direct_bias", "Direct bias before and after"),
    EmbeddingItem("tables/indirect_bias", "debiasing_indirect_bias", "Indirect bias"),
    EmbeddingItem("tables/weat", "debiasing_weat", "Association tests before and after"),
    EmbeddingItem("tables/lambda_path", "debiasing_lambda_path", "The whole path of soft debiasing"),
    EmbeddingItem("tables/classifier", "debiasing_classifier", "Classifier of gender-specific words"),
    EmbeddingItem("tables/lost_words", "debiasing_lost_words", "Lost words"),
)
"""Of all embeddings together, each with the files ``<stem>.tsv``, ``.md`` and ``.tex``."""

_FIGURES = {
    "figure1_occupations": ("debiasing_occupations", "Figure 1: extreme occupations"),
    "figure2_components": ("debiasing_components", "Figure 2: principal components"),
    "figure3_words": ("debiasing_words", "Figure 3: words on two axes"),
    "lambda_path": ("debiasing_lambda_path", "Bias and quality along soft debiasing"),
}


def figures(embeddings: Sequence[str]) -> list[EmbeddingItem]:
    """Return the figures, each with the files ``<stem>.svg``, ``.pdf``, ``.png`` and ``.tsv``.

    Parameters
    ----------
    embeddings : sequence of str
        Names of the embeddings that are debiased.
    """
    return [
        EmbeddingItem(f"{embedding}/figures/{stem}", caption, item, embedding)
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
