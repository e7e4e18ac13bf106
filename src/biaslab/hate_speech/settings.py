"""Settings of a training, and the steps that follow from them."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from biaslab.core.settings import Field, check
from biaslab.hate_speech.schedules import PAPER

PUBLISHED, MODERN = "published", "modern"


@dataclass(frozen=True)
class TrainingSettings:
    """How encoders are fine-tuned; the defaults suit one layer and few steps."""

    negative_weight: Annotated[
        float, Field("weight of a negative text in the loss, where a positive one has 1", gt=0)
    ] = 0.125
    schedule: Annotated[
        Literal["published", "modern"],
        Field("published: as the paper and its code; modern: AdamW with linear warm-up and decay"),
    ] = MODERN
    epochs: Annotated[int, Field("passes over the training sentences, at most", ge=1)] = 2
    batch_size: Annotated[int, Field("sentences of a step", ge=1)] = 32
    learning_rate: Annotated[float, Field("largest step size", gt=0)] = 0.001
    validate_every: Annotated[int, Field("steps between two validations", ge=1)] = 25
    halvings: Annotated[
        int, Field("how often the step size is halved before training stops (published only)", ge=1)
    ] = 5
    stop: Annotated[
        Literal["paper", "code"],
        Field("paper: stop at that halving; code: at the next one (published only)"),
    ] = PAPER

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Plan:
    """Which steps there are."""

    n: int  # sentences
    settings: TrainingSettings

    @property
    def steps_per_epoch(self) -> int:
        """Steps that see every sentence once; the last may have fewer sentences."""
        return math.ceil(self.n / self.settings.batch_size)

    @property
    def n_steps(self) -> int:
        """Steps that may be taken."""
        return self.settings.epochs * self.steps_per_epoch

    @property
    def validate_every(self) -> int:
        """Steps between validations: an epoch where fewer are to be taken than the settings say."""
        every = self.settings.validate_every
        return every if every <= self.n_steps else self.steps_per_epoch

    def validates_after(self, step: int) -> bool:
        """Return whether a validation follows when so many steps have been taken."""
        return step % self.validate_every == 0 or step == self.n_steps
