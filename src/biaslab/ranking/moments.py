"""Means of many lists that come in chunks, with their intervals."""

import numpy as np
import scipy.stats

from biaslab.core.stats import LEVEL


class Moments:
    """Number, mean and standard deviation of finite values that come in chunks (Chan et al. 1983)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n = np.zeros(shape, dtype=np.int64)
        self.mean = np.zeros(shape)
        self._squares = np.zeros(shape)  # sums of squared deviations from the mean

    def add(self, values: np.ndarray) -> None:
        """Add observations along the first axis; infinite and missing entries do not count."""
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
        """Return mean, sd (ddof 1) and Student's interval, flat; NaN where too few values are finite."""
        n = self.n.ravel()
        mean = np.where(n > 0, self.mean.ravel(), np.nan)
        freedom = np.where(n > 1, n - 1, np.nan)
        sd = np.sqrt(self._squares.ravel() / freedom)
        half = scipy.stats.t.ppf((1 + LEVEL) / 2, freedom) * sd / np.sqrt(np.maximum(n, 1))
        return {"mean": mean, "sd": sd, "ci_low": mean - half, "ci_high": mean + half}
