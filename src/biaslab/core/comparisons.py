"""Compare the rates of several groups: test, simultaneous intervals, and smallest detectable differences.

A rate is the number of hits among n candidates; each column is a group. One row holds independent candidates
or one list. Several rows are lists (or other clusters), the units, because candidates of a list compete.

**Any difference.** The deviation of a group in a list is its hits less the hits expected if its candidates
were drawn like all others of the list. The statistic of a group is the absolute sum of its deviations over a
standard error. This is the largest of three: under permutation of the groups within each list, over lists
for the group, and over lists for all groups together. The p-value of a group is the share of permutations in
which the greatest statistic of any group is as large (single-step maxT, Westfall and Young 1993), which
corrects for all groups. With several lists it is at least the Šidák-corrected p-value by Student's t over the
lists that have the group: lists that differ more than by chance cause no false alarm. The smallest p-value of
all groups tests whether any group differs.

**Which differ.** The reference, the group with the highest rate, is chosen from the data, so intervals are
corrected for all pairs with a possible reference (Bonferroni); for a reference named beforehand, only for the
other groups. Hsu's interval to the best is not used: it has no upper end if a group of one may be the best.

**How small.** The smallest detectable difference of a group lies between its rate and the rate of all others.
The test detects it at 5% with a power of 80%. A simulation draws hits with lower odds than the others' in the
same lists (Fisher's noncentral hypergeometric distribution). A group is too small if the power stays below
80% even without any hit.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from biaslab.core.rates import ratio_interval, usable_references
from biaslab.core.rng import stream
from biaslab.core.simultaneous import level_of_each
from biaslab.core.stats import POWER, SIGNIFICANT

N_PERMUTATIONS = 9999
N_SIMULATIONS = 4000

_MAX_DRAWS = 40_000_000  # numbers in all permutations: many lists get fewer permutations
_FEWEST = 1999  # with fewer permutations, Student's t alone is the test
_MAX_SIMULATED = 2000  # lists times groups; beyond, the normal distribution replaces the simulation
_FEW = 5  # minimum of hits and of misses for Student's t without permutations
_BLOCK = 2_000_000
_STEPS = 14
_ROUNDING = 1e-9
_FARTHEST = -20.0  # logarithm of the smallest odds
_CLEAR = 0.01  # significance level at which lists count as differing more than by chance


class Comparison(NamedTuple):
    """Comparison of the rates of groups, (G,) float64 each; NaN where the data do not determine a value."""

    p_value: float  # null hypothesis: no group differs
    p_values: np.ndarray  # of each group against all others, corrected for all groups
    least_rates: np.ndarray  # smallest detectable rate of each group
    other_rates: np.ndarray  # rate of all others at `least_rates`

    @property
    def is_too_few(self) -> np.ndarray:
        """Return which groups are so small that the power is below 80% even without any hit."""
        return np.isnan(self.least_rates)


@dataclass(frozen=True)
class GroupTest:
    """A test of equal rates in lists with fixed groups and places; every list allows a difference."""

    n: np.ndarray  # (L, G) int64: candidates
    sure: np.ndarray  # (L,) int64: candidates that hit for certain (weight 1)
    tied: np.ndarray  # (L,) int64: candidates that tie for the last places
    weight: np.ndarray  # (L,) float64: chance of each tied candidate
    seed: int = 0

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of candidates of each list, (L,)."""
        return self.n.sum(axis=1)

    @cached_property
    def expected(self) -> np.ndarray:
        """Expected hits of each group if its candidates were drawn like all others, (L, G)."""
        return self.n * ((self.sure + self.tied * self.weight) / self.sizes)[:, None]

    @cached_property
    def n_lists(self) -> np.ndarray:
        """Number of lists in which each group can differ from others, (G,)."""
        return ((self.n > 0) & (self.n < self.sizes[:, None])).sum(axis=0)

    @cached_property
    def variances(self) -> np.ndarray:
        """Variance of the hits of each group when groups are permuted within lists, (G,)."""
        size = self.sizes.astype(np.float64)
        hits = self.sure + self.tied * self.weight
        squares = self.sure + self.tied * self.weight**2 - hits**2 / size
        shares = self.n * (size[:, None] - self.n) / (size * (size - 1))[:, None]
        return (shares * squares[:, None]).sum(axis=0)

    def p_values(self, hits: np.ndarray) -> np.ndarray:
        """Return the p-value of each group for hits (..., L, G), corrected for all groups."""
        deviations = hits - self.expected
        return self._p_values(self._statistics(deviations.sum(axis=-2), (deviations**2).sum(axis=-2)))

    def least_rates(self, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest detectable rate of each group, and the rate of the others at this point.

        The hits, (L, G), determine the overdispersion over lists.
        """
        deviations, df = hits - self.expected, np.maximum(self.n_lists - 1, 1)
        over_lists = _variance_over_lists(deviations.sum(axis=0), (deviations**2).sum(axis=0), self.n_lists)
        ratio = np.divide(over_lists, self.variances, out=np.ones(len(df)), where=self.variances > 0)
        inflation = np.where(ratio > scipy.stats.chi2.ppf(1 - _CLEAR, df) / df, ratio, 1.0)
        least, others = np.full((2, self.n.shape[1]), np.nan)
        results: dict[tuple, tuple[float, float]] = {}  # equal groups share a result
        for v in np.flatnonzero(self.n_lists):
            key = (self.n[:, v].tobytes(), float(inflation[v]))
            if key not in results:
                results[key] = _Alternative(self, int(v), float(inflation[v])).least_rate()
            least[v], others[v] = results[key]
        return least, others

    def _statistics(self, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return the statistic of each group, (..., G), from sums and sums of squares of deviations."""
        over_lists = _variance_over_lists(sums, squares, self.n_lists)
        by_chance = np.where(self.n_lists > 1, self.variances, 0.0).sum()
        common = over_lists.sum(axis=-1, keepdims=True) / max(by_chance, _ROUNDING)
        variance = np.maximum(over_lists, self.variances * np.maximum(common, 1.0))
        return np.divide(np.abs(sums), np.sqrt(variance), out=np.zeros_like(sums), where=variance > 0)

    def _p_values(self, statistics: np.ndarray) -> np.ndarray:
        """Return p-values of statistics (..., G), corrected for all groups."""
        p, G = np.zeros_like(statistics), self.n.shape[1]
        if self._greatest is not None:
            n_greater = len(self._greatest) - np.searchsorted(self._greatest, statistics - _ROUNDING)
            p = (1 + n_greater) / (1 + len(self._greatest))
        if self._greatest is None or len(self.n) > 1:
            tails = 2 * scipy.stats.t.sf(statistics, np.maximum((self.n_lists - 1) * (G - 1), 1))
            p = np.maximum(p, 1 - (1 - tails) ** (1 if G == 2 else G))
            p = np.where(self.n_lists > 1, p, 1.0)
        if self._greatest is None:
            expected = self.expected.sum(axis=0)
            few = np.minimum(expected, self.n.sum(axis=0) - expected) < _FEW
            p = np.where(few, 1.0, p)
        return np.where(self.n_lists > 0, p, np.nan)

    @cached_property
    def _greatest(self) -> np.ndarray | None:
        """Sorted greatest statistics of permutations within lists; None for too many lists to permute."""
        n_lists, G = self.n.shape
        n_drawn = min(N_PERMUTATIONS, _MAX_DRAWS // (n_lists * G))
        if n_drawn < _FEWEST:
            return None
        rng = stream(self.seed, "permutations of groups")
        sums, squares = np.zeros((2, n_drawn, G))
        step = max(1, _BLOCK // (n_drawn * G))
        for first in range(0, n_lists, step):
            part = slice(first, first + step)
            left = np.broadcast_to(self.n[part], (n_drawn, *self.n[part].shape))
            sure = _draw(left, self.sure[part], rng)
            hits = sure + _draw(left - sure, self.tied[part], rng) * self.weight[part][:, None]
            deviations = hits - self.expected[part]
            sums += deviations.sum(axis=1)
            squares += (deviations**2).sum(axis=1)
        return np.sort(self._statistics(sums, squares).max(axis=1))


def compare_groups(
    hits: ArrayLike,
    n: ArrayLike,
    tied: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    seed: int = 0,
) -> Comparison:
    """Test whether the rate of any group differs, and find the smallest detectable differences.

    `hits` and `n`, (G,) or (L, G), are hits and candidates of each group, or of each list and group. `tied`
    (L,) candidates of a list tie for its last places, each with the chance `weight` (L,).
    """
    hits, n = np.atleast_2d(np.asarray(hits, np.float64)), np.atleast_2d(np.asarray(n, np.int64))
    tied = np.zeros(len(n), np.int64) if tied is None else np.asarray(tied, np.int64)
    weight = np.zeros(len(n)) if weight is None else np.asarray(weight, np.float64)
    sure = np.rint(hits.sum(axis=1) - tied * weight).astype(np.int64)
    can_differ = (np.count_nonzero(n, axis=1) > 1) & (sure + tied > 0) & (sure < n.sum(axis=1))
    if not can_differ.any():
        missing = np.full(n.shape[1], np.nan)
        return Comparison(math.nan, missing, missing, missing)
    test = GroupTest(*(a[can_differ] for a in (n, sure, tied, weight)), seed)
    p_values = test.p_values(hits[can_differ])
    return Comparison(float(np.nanmin(p_values)), p_values, *test.least_rates(hits[can_differ]))


def pair_level(n_groups: int, n_references: int | None = None) -> float:
    """Return the level of a pair's interval for simultaneous intervals of all pairs (Bonferroni).

    `n_references` is the number of groups that could have become the reference: by default all groups, and
    1 for a reference named beforehand.
    """
    references = n_groups if n_references is None else n_references
    n_pairs = math.comb(n_groups, 2) - math.comb(n_groups - references, 2)
    return level_of_each(n_pairs)


def ratio_intervals(hits: ArrayLike, n: ArrayLike, reference: int, is_named: bool = False) -> np.ndarray:
    """Return simultaneous intervals of the ratio of each group's rate to that of the reference, (G, 2).

    See `compare_groups` for the arguments; `is_named` is whether the reference was chosen beforehand.
    With several lists, the variance over lists replaces the variance of independent candidates if larger. The
    quantile is Student's. Its degrees of freedom come from the lists that have the group or the reference,
    whichever are fewer, and from the mean over groups, which share the reference (Satterthwaite).
    """
    hits, n = np.atleast_2d(np.asarray(hits, np.float64)), np.atleast_2d(np.asarray(n, np.float64))
    totals, sizes = hits.sum(axis=0), n.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        usable = usable_references(totals / sizes, sizes)
    level = pair_level(len(sizes), 1 if is_named else max(1, int(usable.sum())))
    inflation, df, others = 1.0, np.full(len(sizes), np.inf), len(sizes) - 1
    if len(n) > 1 and others:
        n_lists = np.count_nonzero(n, axis=0)
        df = 4 * (np.minimum(n_lists, n_lists[reference]) - 1) * others / (others + 3)
        inflation = _pair_inflation(hits, n, reference)
    ends = ratio_interval(totals, sizes, totals[reference], sizes[reference], level, inflation, df)
    return np.stack(ends, axis=1)


def _pair_inflation(hits: np.ndarray, n: np.ndarray, reference: int) -> np.ndarray:
    """Return the variance of log ratios over lists, relative to independent candidates.

    The factor is the group's own or the mean of all groups, whichever is larger, and at least 1.
    """
    totals, sizes, n_lists = hits.sum(axis=0), n.sum(axis=0), len(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(totals > 0, hits / totals - n / sizes, 0.0)
        alone = np.where(totals > 0, 1 / totals - 1 / sizes, 0.0)
        squares = ((relative - relative[:, [reference]]) ** 2).sum(axis=0)
        ratio = n_lists / (n_lists - 1) * squares / (alone + alone[reference])
    ratio = np.where(np.isfinite(ratio), ratio, 1.0)
    return np.maximum(np.maximum(ratio, np.delete(ratio, reference).mean()), 1.0)


def _variance_over_lists(sums: np.ndarray, squares: np.ndarray, n_lists: np.ndarray) -> np.ndarray:
    """Return the variance of sums over lists from sums and sums of squares; 0 for a single list."""
    m = np.maximum(n_lists, 2)
    return np.where(n_lists > 1, (squares - sums**2 / m) * m / (m - 1), 0.0)


def _draw(n: np.ndarray, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw `places` (...) of `n` (..., G) candidates without replacement; return the counts by group."""
    drawn = np.zeros_like(n)
    rest, places = n.sum(axis=-1), np.broadcast_to(places, n.shape[:-1]).copy()
    for v in range(n.shape[-1]):
        rest = rest - n[..., v]
        drawn[..., v] = rng.hypergeometric(n[..., v], rest, places)
        places = places - drawn[..., v]
    return drawn


class _Alternative:
    """The alternative hypothesis that the odds of one group are lower than those of all others."""

    def __init__(self, test: GroupTest, v: int, inflation: float) -> None:
        self.test, self.v, self.inflation = test, v, inflation
        places = np.rint(test.sure + test.tied * test.weight).astype(np.int64)
        keys = np.stack([test.sizes, test.n[:, v], places], axis=1)
        distinct, of_list = np.unique(keys, axis=0, return_inverse=True)
        self.of_list = of_list.ravel()
        size, mine, places = distinct.T
        self.first = np.maximum(0, places - (size - mine))
        self.counts = self.first[:, None] + np.arange((np.minimum(mine, places) - self.first).max() + 1)
        self.logs = _log_choose(mine, self.counts) + _log_choose(size - mine, places[:, None] - self.counts)
        self.uniform = None
        if test.n.size <= _MAX_SIMULATED:
            rng = stream(test.seed, "simulated lists")
            self.uniform = rng.random((N_SIMULATIONS, len(test.n)))
            df = (len(test.n) - 1) * (test.n.shape[1] - 2)
            self.spread_of_others = rng.chisquare(max(df, 1), N_SIMULATIONS) / max(df, 1)

    def chances(self, log_odds: float) -> np.ndarray:
        """Return the chance of each count in each distinct list."""
        return scipy.special.softmax(self.logs + self.counts * log_odds, axis=1)

    def least_rate(self) -> tuple[float, float]:
        """Return the smallest detectable rate, and the rate of the others at this point; NaN for none."""
        if self.power(_FARTHEST) < POWER:
            return math.nan, math.nan
        low, high = _FARTHEST, 0.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.power(middle) >= POWER else (low, middle)
        hits = (self.chances(low) * self.counts).sum(axis=1)[self.of_list].sum()
        mine, size = self.test.n[:, self.v].sum(), self.test.sizes.sum()
        return float(hits / mine), float((self.test.expected.sum() - hits) / (size - mine))

    def power(self, log_odds: float) -> float:
        """Return the probability that the p-value of the group is at most 5%."""
        p = self.chances(log_odds)
        means = (p * self.counts).sum(axis=1)
        gap = means[self.of_list] - self.test.expected[:, self.v]
        if self.uniform is None:
            variance = (p * self.counts**2).sum(axis=1) - means**2
            return self._normal_power(gap.sum(), self.inflation * variance[self.of_list].sum())
        cumulated, deviations = np.cumsum(p, axis=1), np.empty_like(self.uniform)
        for i in range(len(p)):
            lists = self.of_list == i
            drawn = np.minimum(np.searchsorted(cumulated[i], self.uniform[:, lists]), p.shape[1] - 1)
            deviations[:, lists] = self.first[i] + drawn - means[i]
        deviations = gap + deviations * math.sqrt(self.inflation)
        return self._share_significant(deviations.sum(axis=1), (deviations**2).sum(axis=1))

    def _normal_power(self, mean: float, variance: float) -> float:
        """Return the power if the sum of deviations is normally distributed."""
        quantiles = scipy.stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
        sums, n_lists = mean + math.sqrt(variance) * quantiles, self.test.n_lists[self.v]
        return self._share_significant(sums, variance * (n_lists - 1) / n_lists + sums**2 / n_lists)

    def _share_significant(self, sums: np.ndarray, squares: np.ndarray) -> float:
        """Return the share of sums and sums of squares of deviations with a p-value of at most 5%."""
        moments = np.zeros((2, len(sums), self.test.n.shape[1]))
        if moments.shape[2] == 2:
            moments[:] = np.stack([sums, squares])[:, :, None]
        else:
            spread = 1.0 if self.uniform is None else self.spread_of_others
            variances = self.inflation * self.test.variances * (1 - 1 / np.maximum(self.test.n_lists, 1))
            moments[1] = np.multiply.outer(spread * np.ones(len(sums)), variances)
            moments[:, :, self.v] = sums, squares
        p_values = self.test._p_values(self.test._statistics(*moments))[:, self.v]
        return float((p_values <= SIGNIFICANT).mean())


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the logarithm of binomial coefficients, minus infinity for impossible counts."""
    n = n[:, None]
    is_possible = (k >= 0) & (k <= n)
    possible_k = np.where(is_possible, k, 0)
    log_n, log_k, log_rest = (scipy.special.gammaln(m + 1) for m in (n, possible_k, n - possible_k))
    return np.where(is_possible, log_n - log_k - log_rest, -np.inf)
