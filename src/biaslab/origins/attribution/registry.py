"""The attributions: each estimates the contribution of documents, and of sets of documents, to a bias.

A new attribution needs a row here, its functions in `biaslab.origins.attribution.tables`, and an oracle.
"""

from dataclasses import dataclass

from biaslab.origins.sets import PPMI, RANDOM


@dataclass(frozen=True)
class Attribution:
    """A method to estimate B(w) - B(w~) (Equation 5 of Brunet et al. 2019).

    Each baseline has its own estimates, in columns ``NAME_seedK`` in addition to ``NAME_mean``. Without
    `per_baseline`, there is one column; an undefined value means no change by the removal.
    """

    name: str  # in tables and figures, and prefix of column names
    about: str  # f"{name} {about}" is a sentence
    colour: str  # in figures, from `biaslab.core.plotting`
    table: str = "differential_bias"  # folder of the tables, one for each test
    per_baseline: bool = True


ATTRIBUTIONS = (
    Attribution("influence", "is the paper's (Equation 8)", "VERMILION"),
    Attribution("newton", "takes the Hessian of the perturbed corpus", "BLUE"),
    Attribution("gradient", "is first order in the co-occurrences", "GREEN"),
    Attribution(PPMI, "is exact in the PPMI representation", "PURPLE", table="ppmi", per_baseline=False),
)
"""The attributions of the workflow, in the order of tables; the paper's attribution first."""

UNROLLED = "unrolled"
"""The derivative of the training, not part of the workflow (`biaslab.origins.attribution.unrolled`)."""

ESTIMATED = tuple(a for a in ATTRIBUTIONS if a.per_baseline)
"""Attributions of trained embeddings, in ``differential_bias/TEST.parquet`` and ``predictions.tsv``."""

ESTIMATORS = tuple(a.name for a in ESTIMATED)  # names of `ESTIMATED`

RANKINGS = (*(a.name for a in ATTRIBUTIONS), RANDOM)
"""Rankings of the documents to remove to flip the sign of a test, the null ranking last."""

TABLES = tuple(dict.fromkeys(a.table for a in ATTRIBUTIONS))
"""Folders of the tables, one for each test, with the estimates of every document."""

BY_SEED = "by_seed"  # folder inside `TABLES` of the tables with the estimates of each baseline
