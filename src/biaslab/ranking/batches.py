"""Many lists at once: all rankings with all measures, and means over chunks of lists."""

import numpy as np
import scipy  # imports its submodules lazily

from biaslab.core.errors import InputError
from biaslab.core.stats import LEVEL
from biaslab.ranking.algorithms import ALGORITHMS, check_k
from biaslab.ranking.measures import MEASURES, discount_table, log_table
from biaslab.ranking.targets import SUM_TOLERANCE


def measure_batch(scores: np.ndarray, desired: np.ndarray, k: int, threads: int = 1) -> np.ndarray:
    """Rank many lists by every algorithm and measure the top k of each ranking.

    scores (n_lists, m, c) are the scores of c candidates per value, best first; the lower value wins ties.
    desired is (n_lists, m). Return (n_lists, 5, 6), by list, algorithm and measure.
    """
    from biaslab.core.jit import set_threads
    from biaslab.ranking._kernels import MEASURE_LISTS

    scores = np.ascontiguousarray(scores, np.float64)
    desired = np.ascontiguousarray(desired, np.float64)
    if scores.ndim != 3 or desired.shape != scores.shape[:2] or not scores.size:
        raise InputError(
            f"scores have shape {scores.shape} and shares {desired.shape}; "
            "give (lists, values, candidates) and (lists, values)"
        )
    if not (np.isfinite(scores).all() and (scores[:, :, 1:] <= scores[:, :, :-1]).all()):
        raise InputError(
            "scores of a batch must be finite and must not rise within a value; sort them, best first"
        )
    if not ((desired >= 0).all() and (abs(desired.sum(axis=1) - 1) <= SUM_TOLERANCE).all()):
        raise InputError("the shares of every list must be 0 or more and must sum to 1")
    n_lists, m, c = scores.shape
    n_places = min(check_k(k), m * c)
    out = np.empty((n_lists, len(ALGORITHMS), len(MEASURES)))
    set_threads(threads)
    with np.errstate(divide="ignore"):
        log_desired = np.log(desired)
    MEASURE_LISTS[threads > 1](
        scores.reshape(n_lists, m * c),
        desired,
        log_desired,
        np.arange(m + 1) * c,
        np.arange(m * c),
        np.repeat(np.arange(m), c),
        log_table(n_places),
        discount_table(n_places),
        out,
    )
    return out


class Moments:
    """Number, mean and standard deviation of finite values, updated by chunks (Chan et al. 1983)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n = np.zeros(shape, dtype=np.int64)
        self.mean = np.zeros(shape)
        self._squares = np.zeros(shape)  # sums of squared deviations from the mean

    def add(self, values: np.ndarray) -> None:
        """Add observations along the first axis; ignore infinite and missing entries."""
        finite = np.isfinite(values)
        n = finite.sum(axis=0)
        mean = np.where(finite, values, 0.0).sum(axis=0) / np.maximum(n, 1)
        squares = (np.where(finite, values - mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(self.n + n, 1)
        gap = mean - self.mean
        self._squares += squares + gap**2 * self.n * n / total
        self.mean += gap * n / total
        self.n += n

    def columns(self) -> dict[str, np.ndarray]:
        """Return mean, sd (ddof 1) and Student's interval, flat; NaN for too few finite values."""
        n = self.n.ravel()
        mean = np.where(n > 0, self.mean.ravel(), np.nan)
        freedom = np.where(n > 1, n - 1, np.nan)
        sd = np.sqrt(self._squares.ravel() / freedom)
        half = scipy.stats.t.ppf((1 + LEVEL) / 2, freedom) * sd / np.sqrt(np.maximum(n, 1))
        return {"mean": mean, "sd": sd, "ci_low": mean - half, "ci_high": mean + half}
