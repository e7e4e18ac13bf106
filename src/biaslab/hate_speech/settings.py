"""Settings of a training, and the steps that follow from them."""

import math
from dataclasses import dataclass

from biaslab.core.errors import InputError, suggest
from biaslab.hate_speech.schedules import PAPER, STOPS

PUBLISHED, MODERN = SCHEDULES = ("published", "modern")


@dataclass(frozen=True)
class TrainingSettings:
    """How a classifier is trained.

    Attributes
    ----------
    schedule : str
        One of `SCHEDULES`.
    epochs : int
        How many are planned.
    batch_size : int
        Sentences of a step.
    learning_rate : float
        At the end of the warm-up.
    negative_weight : float
        Weight of a negative sentence in the loss; that of a positive one is 1.
    validate_every : int
        Steps from one validation to the next.
    halvings : int
        How often the published schedule halves the learning rate.
    stop : str
        One of `biaslab.hate_speech.schedules.STOPS`.
    max_steps : int, optional
        Steps after which training ends, if not before. The published schedule goes on planning all epochs.
    """

    schedule: str = PUBLISHED
    epochs: int = 20
    batch_size: int = 32
    learning_rate: float = 2e-5
    negative_weight: float = 0.125
    validate_every: int = 200
    halvings: int = 5
    stop: str = PAPER
    max_steps: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("schedule", SCHEDULES), ("stop", STOPS)):
            value = getattr(self, name)
            if value not in known:
                raise InputError(
                    f"{name}: '{value}' is unknown{suggest(value, known)}; write one of {', '.join(known)}"
                )
        for name, value in vars(self).items():
            if isinstance(value, int | float) and not value > 0:
                raise InputError(f"{name}: {value} is not positive; write a positive number")


@dataclass(frozen=True)
class Plan:
    """Which steps there are.

    Attributes
    ----------
    n : int
        Sentences.
    settings : TrainingSettings
    """

    n: int
    settings: TrainingSettings

    @property
    def steps_per_epoch(self) -> int:
        """Steps that see every sentence once; the last may have fewer sentences."""
        return math.ceil(self.n / self.settings.batch_size)

    @property
    def n_steps(self) -> int:
        """Steps that may be taken."""
        planned = self.settings.epochs * self.steps_per_epoch
        return min(planned, self.settings.max_steps or planned)

    @property
    def budget(self) -> int:
        """Steps that warm-up and decay are planned over."""
        is_published = self.settings.schedule == PUBLISHED
        return self.settings.epochs * self.steps_per_epoch if is_published else self.n_steps

    @property
    def validate_every(self) -> int:
        """Steps between validations: an epoch where fewer are to be taken than the settings say."""
        every = self.settings.validate_every
        return every if every <= self.n_steps else self.steps_per_epoch

    def validates_after(self, step: int) -> bool:
        """Return whether a validation follows when so many steps have been taken."""
        return step % self.validate_every == 0 or step == self.n_steps
