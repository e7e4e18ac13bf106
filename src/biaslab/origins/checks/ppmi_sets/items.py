"""The sets of documents that the PPMI baseline finds: results, step and table."""

from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import Analysis
from biaslab.run.area import TABLE, UNIT, Item

_SETS, _OBSERVED = f"ppmi/{expansion.SETS}", "ppmi/observed.tsv"


def _retrains(setup):
    found = expansion.ppmi_sets(setup)
    return f"{len(found)} sets by PPMI" if found else "", expansion.trainings_without(found, setup)


ANALYSIS = Analysis(
    "ppmi_sets",
    results=(_SETS, _OBSERVED),
    items=(
        Item(
            "table5_ppmi_baseline",
            TABLE,
            "Table 5",
            "report:compare_identification",
            ("baseline.tsv", expansion.SETS, "observed.tsv", _SETS, _OBSERVED),
            UNIT,
        ),
    ),
    retrains=_retrains,
)
