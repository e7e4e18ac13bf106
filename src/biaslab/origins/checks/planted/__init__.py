"""Recall of planted documents: results, tables and figure."""

from collections.abc import Mapping

from biaslab.origins import expansion
from biaslab.origins.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_LABEL, _RECALL, _PAIRS = "Planted documents", "planted/recall.tsv", "planted/pairs.tsv"


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as in the folder names of the corpora with planted documents."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def batches(setup: Mapping) -> list[expansion.Batch]:
    """Return the batches of embeddings that a setup trains on each corpus with planted documents."""
    return expansion.batches(setup["planted"]["baselines"], setup["trainings_per_job"])


_RETRAINED = expansion.Retrainings(
    "{} corpora with planted documents",
    n_sets=lambda setup: len(doses(setup)),
    each=lambda setup: setup["planted"]["baselines"],
)
ANALYSIS = Analysis(
    "planted",
    steps={"plant-documents": "planting:write_planted", "measure-recall": "recall:write_recall"},
    results=(_RECALL, _PAIRS),
    items=(
        Item("planted", TABLE, _LABEL, "report:recall_table", (_RECALL,), TEST),
        Item("planted", FIGURE, _LABEL, "report:draw_recall", (_RECALL, _PAIRS), TEST),
    ),
    needs="planted.documents",
    retrains=_RETRAINED.describe,
)
