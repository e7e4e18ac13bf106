"""The sets of documents that the PPMI baseline finds: results, step and table."""

from biaslab.origins import grid
from biaslab.origins.analyses import Analysis
from biaslab.run.area import TABLE, UNIT, Item

_SETS, _OBSERVED = f"ppmi/{grid.SETS}", "ppmi/observed.tsv"


def _retrains(setup):
    found = grid.ppmi_sets(setup)
    return f"{len(found)} sets by PPMI" if found else "", grid.trainings_without(found, setup)


ANALYSIS = Analysis(
    "ppmi_sets",
    results=(_SETS, _OBSERVED),
    needs=("perturbations.retrainings", "ppmi_comparison.random_tests"),
    items=(
        Item(
            "table5_ppmi_baseline",
            TABLE,
            "Table 5",
            "report:compare_identification",
            ("baseline.tsv", grid.SETS, "observed.tsv", _SETS, _OBSERVED),
            UNIT,
        ),
    ),
    steps={"select-ppmi-sets": "analysis:write_ppmi_sets"},
    retrains=_retrains,
)
