"""Settings of attributions."""

from typing import Annotated

from pydantic.dataclasses import dataclass

from biaslab.core.settings import PYDANTIC, NotNegative
from biaslab.embeddings.settings import Alpha, GloveParameters, XMax


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Damping:
    """Damping of the Hessians of the training loss of the baselines."""

    damping: Annotated[
        NotNegative,
        "term added to the Hessian's diagonal, for words with too few contexts; 2 / (learning_rate x epochs)"
        " for trainings that stop before the minimum; 0 as in the paper",
    ] = 0.0


def damping_of(model: GloveParameters) -> float:
    """Return the damping that corresponds to the training time (docs/explanation/small-sets.md)."""
    return 2 / (model.learning_rate * model.epochs)


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class InfluenceParameters(Damping):
    """Parameters of the training loss of the baselines, and of its Hessians."""

    x_max: XMax = GloveParameters.x_max
    alpha: Alpha = GloveParameters.alpha
