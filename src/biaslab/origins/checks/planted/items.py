"""Documents that are planted to be found: results, tables and figure."""

from biaslab.origins.checks.planted import jobs
from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, TEST, Item

_LABEL, _RECALL, _PAIRS = "Planted documents", "planted/recall.tsv", "planted/pairs.tsv"


def _retrains(setup):
    doses = jobs.doses(setup)
    phrase = f"{len(doses)} corpora with planted documents" if doses else ""
    return phrase, jobs.trainings(setup)


ANALYSIS = Analysis(
    "planted",
    steps={"plant-documents": "planting:write_planted", "measure-recall": "recall:write_recall"},
    results=(_RECALL, _PAIRS),
    items=(
        Item("planted", TABLE, _LABEL, "report:recall_table", (_RECALL,), TEST),
        Item("planted", FIGURE, _LABEL, "report:draw_recall", (_RECALL, _PAIRS), TEST),
    ),
    needs="planted.documents",
    retrains=_retrains,
)
