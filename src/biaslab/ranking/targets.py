"""The desired distribution and the target counts of candidates in prefixes."""

import numpy as np

from biaslab.core.errors import InputError

__all__ = ["SUM_TOLERANCE", "check_desired", "targets"]

SUM_TOLERANCE = 1e-9  # the largest distance of the sum of a desired distribution from one


def check_desired(desired: np.ndarray) -> np.ndarray:
    """Return a desired distribution as float64, or raise `InputError`.

    Parameters
    ----------
    desired : (m,) array-like
        Share of each attribute value; not negative, and its sum within `SUM_TOLERANCE` of one.

    Returns
    -------
    (m,) float64

    Raises
    ------
    InputError
        For no values, a negative or infinite share, or another sum.
    """
    desired = np.ascontiguousarray(desired, dtype=np.float64)
    if desired.ndim != 1 or not desired.size:
        raise InputError("desired distribution: it has no values; give one share for every attribute value")
    bad = np.flatnonzero(~(desired >= 0) | ~np.isfinite(desired))
    if bad.size:
        raise InputError(
            f"desired distribution: the share of value {bad[0]} is {desired[bad[0]]:g}; give 0 or more"
        )
    if abs(desired.sum() - 1) > SUM_TOLERANCE:
        raise InputError(
            f"desired distribution: the shares sum to {desired.sum():.12g}, not to 1 (to within "
            f"{SUM_TOLERANCE:g}); correct them or give more digits"
        )
    return desired


def targets(desired: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest fair counts in every prefix: floor(i p) and ceil(i p), i = 1..k.

    A product within 1e-9 of an integer counts as that integer, so that 10 x 0.3 is 3. This is
    exact for shares that are fractions, rounded to float64, if k is below 1e6 and the denominator below 1e9.

    Parameters
    ----------
    desired, k : (m,) array-like, int
        A desired distribution, and the longest prefix.

    Returns
    -------
    floors, ceilings : (k, m) int32

    Raises
    ------
    InputError
        If `desired` is not a distribution.
    """
    from biaslab.ranking._kernels import fill_targets

    desired = check_desired(desired)
    floors, ceilings = np.empty((2, k, desired.size), np.int32)
    fill_targets(desired, floors, ceilings)
    return floors, ceilings
