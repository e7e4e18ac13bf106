"""Settings of the area, each said once."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Field
from biaslab.embeddings.settings import ALPHA, X_MAX, Alpha, XMax


@dataclass(frozen=True)
class InfluenceParameters:
    """Of the loss that the baselines were trained on, and of its Hessians."""

    x_max: XMax = X_MAX
    alpha: Alpha = ALPHA
    damping: Annotated[float, Field("added to the diagonal of every Hessian; 0 as in the paper", ge=0)] = 0.0
