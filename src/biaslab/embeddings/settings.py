"""Hyperparameters of embeddings; light, as whatever a run is planned with."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Count, Positive, Share

XMax = Annotated[Positive, "co-occurrence from which on the weight of a pair is 1"]
Alpha = Annotated[Share, "exponent of the weight below x_max"]
Passes = Annotated[Count, "passes over the corpus"]
FallingRate = Annotated[Positive, "step size at the beginning, which falls linearly to 0.0001"]


@dataclass(frozen=True)
class GloveParameters:
    """Hyperparameters of a training (Brunet et al. 2019, Table 3); f(x) = min((x / x_max)^alpha, 1)."""

    dimension: Annotated[Count, "length of a word vector"]
    epochs: Annotated[Count, "passes over the co-occurrences"]
    x_max: XMax = 100.0
    alpha: Alpha = 0.75
    learning_rate: Annotated[Positive, "step size of AdaGrad"] = 0.05


@dataclass(frozen=True)
class Word2VecParameters:
    """Hyperparameters of CBOW; others are gensim's defaults (5 negative samples, subsampling above 0.001)."""

    dimension: Annotated[Count, "length of a word vector"]
    window: Annotated[
        Count, "largest distance of a context word; gensim draws the window of each position from 1 to this"
    ]
    epochs: Passes
    learning_rate: FallingRate = 0.025
