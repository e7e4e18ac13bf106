"""The sets of documents that the PPMI baseline selects: results, step and table."""

from biaslab.origins import expansion
from biaslab.origins.analyses import Analysis
from biaslab.run.area import TABLE, UNIT, Item

_SETS, _OBSERVED = f"ppmi/{expansion.SETS}", "ppmi/observed.tsv"
_READ = ("baseline.tsv", expansion.SETS, "observed.tsv", _SETS, _OBSERVED)
_RETRAINED = expansion.Retrainings(
    "{} sets by PPMI",
    n_sets=lambda setup: len(expansion.ppmi_sets(setup)),
    each=lambda setup: setup["ppmi_sets"]["retrainings"],
)

ANALYSIS = Analysis(
    "ppmi_sets",
    results=(_SETS, _OBSERVED),
    items=(Item("table5_ppmi_baseline", TABLE, "Table 5", "report:compare_identification", _READ, UNIT),),
    retrains=_RETRAINED.describe,
)
