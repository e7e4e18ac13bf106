"""The attributions, each of which says how much every document, or set of them, contributes; their settings.

A new one costs a row here, its functions in `biaslab.origins.attribution.asking`, and an oracle.
"""

from dataclasses import dataclass
from typing import Annotated

from biaslab.bias.names import PPMI, RANDOM
from biaslab.core.settings import NotNegative
from biaslab.embeddings.settings import Alpha, GloveParameters, XMax


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


@dataclass(frozen=True, kw_only=True)
class Damping:
    """Of the Hessians of the loss that the baselines were trained on."""

    damping: Annotated[
        NotNegative,
        "added to the Hessian's diagonal, for words with too few contexts, or, as 2 / (learning_rate x"
        " epochs), for trainings that stop before the minimum; 0 as in the paper",
    ] = 0.0


def damping_of(model: GloveParameters) -> float:
    """Return the damping that stands for the time of a training (docs/beyond/origins.md)."""
    return 2 / (model.learning_rate * model.epochs)


@dataclass(frozen=True, kw_only=True)
class InfluenceParameters(Damping):
    """Of the loss that the baselines were trained on, and of its Hessians."""

    x_max: XMax = GloveParameters.x_max
    alpha: Alpha = GloveParameters.alpha
