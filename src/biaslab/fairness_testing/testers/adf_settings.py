"""The switches of ADF: where the authors' published code and the paper differ (Zhang et al. 2021)."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    """What the authors' published code and the paper do differently; the defaults are `PAPER`.

    Switch one at a time with `dataclasses.replace`. Not switches: gradients are those of the predicted label,
    since the ground truth that the paper names is unknown as soon as a sample is perturbed; a sample is
    checked after each of the `max_iter` steps, too (``for iter from 0 to max_iter``, both ends included, as
    the code does). The code perturbs a discriminatory sample further if an earlier seed led to the same one;
    here it stops, as Algorithm 1 does, so that seeds do not depend on each other.
    """

    max_iter: int = 10  # most steps from a seed in the global phase; 10 (Table II)
    # Move seeds into the domain first, so that every reported sample is inside. The code (False) checks
    # them as they are in the data, where some are outside; the first step moves them inside.
    clip_seeds: bool = True
    # Least and greatest protected value that the global phase tries, instead of the
    # domain's. The code takes census' bounds for the column for every data set, which differ for the age
    # of credit alone: (0, 39), not (1, 8).
    enumerated: tuple[int, int] | None = None
    # The code (True) multiplies the direction of a global step once more by the sign of the sample's own
    # gradient: a sample whose gradient is zero never moves, neither in its partner's direction nor at
    # random, and one whose partner's gradient is zero goes up in every attribute. False: such a sample
    # takes the other's signs; where no attribute is left, a random one goes up or down.
    signs_twice: bool = False
    # A sample whose output is the same for all protected values has no farthest partner (Equation 3). The
    # code (True) gives it one with protected value -1; False takes the first other one.
    value_below_domain: bool = False
    # TensorFlow, which the code uses, rounds float32 numbers below 1.2e-38 to zero (True), so that more
    # gradients of a network that is very sure are zero.
    subnormal_is_zero: bool = False
    # Gradients of a discriminatory pair in the local phase: each of its own label, as in the code (True),
    # or both of the sample's label (False): y is the same in lines 6 and 7 of Algorithm 7.
    own_labels: bool = False
    # Probability that the local phase goes on from a sample that is not discriminatory, when the hop
    # began at one that is. 1: always, as line 10 of Algorithm 7 says. exp(-1): the code's basin hopping,
    # by Metropolis' rule. 0: never, so that each hop begins at a discriminatory pair, as line 5 demands
    # and the text says ("given a discriminatory sample pair"). Lines 5 and 10 contradict each other;
    # `PAPER` follows line 5, since without a pair there is no x' to take a gradient of. This reading
    # finds the most discriminatory samples by far.
    acceptance: float = 0.0
    # The code (True) keeps the protected values of the partner found in the global phase during the whole
    # walk. False: each hop takes the first that give another label (Algorithm 7, lines 4 and 5); the last
    # ones where there are none.
    fixed_partner: bool = False
    # The code's minimiser visits further samples around negative values (True); see `adf_descent`. Such
    # samples may leave the domain by one unit.
    negative_neighbours: bool = False


PAPER = Settings()
"""The algorithms as printed, on the reading that keeps to discriminatory pairs (`Settings.acceptance`)."""
PUBLISHED = Settings(
    clip_seeds=False,
    signs_twice=True,
    value_below_domain=True,
    subnormal_is_zero=True,
    own_labels=True,
    acceptance=float(np.exp(-1)),
    fixed_partner=True,
    negative_neighbours=True,
)
"""The authors' published code; for the age of credit, set `enumerated`, too."""
