"""Learning rates: warm-up and decay over a budget of steps, halved while the validation gets no better."""

import dataclasses
from dataclasses import dataclass

WARM_UP = 0.1
"""Share of the budget over which the learning rate rises from zero."""


def warmup_linear(step: int, budget: int) -> float:
    """Return the factor of the learning rate: up to 1 over `WARM_UP` of the budget, then down to 0.

    Steps count from 0, as published: the first has a rate of zero.
    """
    progress = step / budget
    if progress < WARM_UP:
        return progress / WARM_UP
    return max((1 - progress) / (1 - WARM_UP), 0.0)


@dataclass(frozen=True)
class Patience:
    """How the validations have gone: the best F1, and how often none was better than the best."""

    best: float = -1.0  # at first, as published: the first F1 is the best so far even when it is 0
    halvings: int = 0

    @property
    def factor(self) -> float:
        """What the halvings leave of the learning rate."""
        return 0.5**self.halvings

    def after(self, f1: float, halves: bool = True) -> "Patience":
        """Return what a validation makes of it: a better best, or else one halving more where it halves."""
        if f1 > self.best:
            return dataclasses.replace(self, best=f1)
        return dataclasses.replace(self, halvings=self.halvings + halves)
