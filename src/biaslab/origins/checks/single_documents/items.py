"""Single documents with ground truth: results, steps, tables and figures."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import FIGURE, TABLE, UNIT, Item

_LABEL = "Single documents"
_DOCUMENTS, _CORRELATION, _AUC = (
    f"single_documents/{name}.tsv" for name in ("documents", "correlation", "auc")
)


def _retrains(setup):
    single = expansion.single_sets(setup)
    return f"{len(single)} single documents" if single else "", expansion.trainings_without(single, setup)


ANALYSIS = Analysis(
    "single_documents",
    results=(_DOCUMENTS, _CORRELATION, _AUC),
    items=(
        Item("single_documents", TABLE, _LABEL, "report.documents:documents_table", (_DOCUMENTS,), UNIT),
        Item(
            "single_correlation", TABLE, _LABEL, "report.documents:correlation_table", (_CORRELATION,), UNIT
        ),
        Item("single_auc", TABLE, _LABEL, "report.auc:auc_table", (_AUC,), UNIT),
        Item("single_documents", FIGURE, _LABEL, "report.documents:draw_documents", (_DOCUMENTS,), UNIT),
        Item("single_auc", FIGURE, _LABEL, "report.auc:draw_auc", (_AUC,), UNIT),
    ),
    steps={
        "select-documents": "analysis:write_documents",
        "compare-documents": "analysis:write_comparison",
        "score-documents": "auc:write_scores",
    },
    retrains=_retrains,
)
