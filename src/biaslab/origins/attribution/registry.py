"""The attributions: each says how much every document, or set of them, contributes to a bias.

A new one costs a row here, its functions in `biaslab.origins.attribution.asking`, and an oracle.
"""

from dataclasses import dataclass

from biaslab.bias.names import PPMI, RANDOM


@dataclass(frozen=True)
class Attribution:
    """One way to estimate B(w) - B(w~) (Equation 5 of Brunet et al. 2019).

    Attributes
    ----------
    name : str
        What tables and figures call it; its columns begin with it.
    about : str
        What it does, as a predicate: ``f"{name} {about}"`` is a sentence.
    colour : str
        In figures, of `biaslab.core.plotting`.
    table : str
        The folder of the tables of each test that hold its estimates of every document.
    per_baseline : bool
        Whether each baseline has its own estimates, in columns ``NAME_seedK`` beside ``NAME_mean``. One
        that needs no baseline has one column; where it is undefined, the removal changes nothing.
    """

    name: str
    about: str
    colour: str
    table: str = "differential_bias"
    per_baseline: bool = True


ATTRIBUTIONS = (
    Attribution("influence", "is the paper's (Equation 8)", "VERMILLION"),
    Attribution("newton", "takes the Hessian of the perturbed corpus", "BLUE"),
    Attribution("gradient", "is first order in the co-occurrences", "GREEN"),
    Attribution(PPMI, "is exact in the PPMI representation", "PURPLE", table="ppmi", per_baseline=False),
)
"""Those of the workflow, in the order of tables; the paper's first."""

UNROLLED = "unrolled"
"""The derivative of the training, which the workflow leaves out (`biaslab.origins.attribution.unrolled`)."""

ESTIMATED = tuple(a for a in ATTRIBUTIONS if a.per_baseline)
"""Those of the trained embeddings, which ``differential_bias/TEST.parquet`` and ``predictions.tsv`` hold."""

ESTIMATORS = tuple(a.name for a in ESTIMATED)
"""Their names."""

RANKINGS = (*(a.name for a in ATTRIBUTIONS), RANDOM)
"""What ranks the documents whose removal flips the sign of a test, the null last."""

TABLES = tuple(dict.fromkeys(a.table for a in ATTRIBUTIONS))
"""The folders of the tables of each test that hold what attributions say of every document."""

BY_SEED = "by_seed"
"""The folder inside of those, of the tables that hold what each baseline says."""
