"""Hyperparameters of the embeddings, each said once; light, so that commands can make options of them."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Field

XMax = Annotated[float, Field("co-occurrence from which on the weight of a pair is 1", gt=0)]
Alpha = Annotated[float, Field("exponent of the weight below x_max", gt=0)]
Dimension = Annotated[int, Field("length of a word vector", ge=1)]
X_MAX, ALPHA = 100.0, 0.75
"""Of the weighting f(x) = min((x / x_max)^alpha, 1) of GloVe's loss (Brunet et al. 2019, below Eq. 1)."""


@dataclass(frozen=True)
class GloveParameters:
    """Hyperparameters of a training (Brunet et al. 2019, Table 3)."""

    dimension: Dimension
    epochs: Annotated[int, Field("passes over the co-occurrences", ge=1)]
    x_max: XMax = X_MAX
    alpha: Alpha = ALPHA
    learning_rate: Annotated[float, Field("step size of AdaGrad", gt=0)] = 0.05


@dataclass(frozen=True)
class Word2VecParameters:
    """Hyperparameters of CBOW; others are gensim's defaults (5 negative samples, subsampling above 0.001)."""

    dimension: Dimension
    window: Annotated[
        int, Field("largest distance of a context word; gensim draws each from 1 to this", ge=1)
    ]
    epochs: Annotated[int, Field("passes over the corpus", ge=1)]
    learning_rate: Annotated[
        float, Field("step size at the beginning; it falls linearly to 0.0001", gt=0)
    ] = 0.025
