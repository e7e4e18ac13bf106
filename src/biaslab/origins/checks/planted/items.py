"""Documents that are planted to be found: results, tables and figure."""

from collections.abc import Mapping

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_LABEL, _RECALL, _PAIRS = "Planted documents", "planted/recall.tsv", "planted/pairs.tsv"


def doses(setup: Mapping) -> list[str]:
    """Return the shares of planted words, as the folders of the corpora with planted documents are called."""
    return [f"{dose:g}" for dose in setup["planted"]["doses"]] if setup["planted"]["documents"] else []


def batches(setup: Mapping) -> list[expansion.Batch]:
    """Return the batches of embeddings that a setup trains on each of these corpora."""
    return expansion.batches(setup["planted"]["baselines"], setup["trainings_per_job"])


def _retrains(setup):
    n_corpora = len(doses(setup))
    phrase = f"{n_corpora} corpora with planted documents" if n_corpora else ""
    return phrase, n_corpora * setup["planted"]["baselines"]


ANALYSIS = Analysis(
    "planted",
    steps={"measure-recall": "recall:write_recall"},
    results=(_RECALL, _PAIRS),
    items=(
        Item("planted", TABLE, _LABEL, "report:recall_table", (_RECALL,), TEST),
        Item("planted", FIGURE, _LABEL, "report:draw_recall", (_RECALL, _PAIRS), TEST),
    ),
    needs="planted.documents",
    retrains=_retrains,
)
