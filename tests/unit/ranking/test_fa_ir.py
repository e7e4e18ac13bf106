"""FA*IR: minima, failure probabilities, p-values and re-ranking against every ranking written out."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.core.rng import stream
from biaslab.ranking import fa_ir
from biaslab.ranking.pools import Pools, Rankings, Settings
from naive import ranking_fa_ir as naive
from refusals import refused
from unit.ranking.test_exposure import pools_of

K = 8
SHARES = [Fraction(1, 4), Fraction(1, 2), Fraction(7, 10)]
ALPHAS = [Fraction(1, 100), Fraction(1, 10), Fraction(1, 8), Fraction(2, 5)]


def rankings_of(is_protected, p):
    """Rankings (n, k) of lists with two values, the protected one first, and the protected groups."""
    n, k = is_protected.shape
    pools = pools_of([(np.where(flags, 0, 1).tolist(), np.zeros(k)) for flags in is_protected], [p, 1 - p])
    return Rankings(pools, np.full(n, k), np.arange(n * k)), np.arange(n) * 2


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("p", SHARES)
def test_minima_and_failure_probability_are_those_of_all_rankings(p, alpha):
    found = fa_ir.minima(K, float(p), float(alpha))
    expected = [naive.fewest(k, alpha, p) for k in range(1, K + 1)]
    assert found.counts.tolist() == expected
    assert found.failure == pytest.approx(float(naive.failure_probability(expected, p)), abs=1e-14)


def test_the_last_block_of_a_table_counts():
    """Of all 2^12 rankings fewer fail without the last block, which other implementations leave out."""
    found = fa_ir.minima(12, 0.5, 0.1)
    assert found.counts.tolist() == [0] * 3 + [1] * 3 + [2] * 2 + [3] * 3 + [4]
    prefixes = np.cumsum(list(itertools.product([0, 1], repeat=12)), axis=1)
    assert found.failure == (prefixes < found.counts).any(axis=1).mean() == 598 / 2**12
    assert (prefixes[:, :-1] < found.counts[:-1]).any(axis=1).mean() == 528 / 2**12
    adjusted = fa_ir.adjusted_minima(12, 0.5, 0.1)
    assert adjusted.failure == (prefixes < adjusted.counts).any(axis=1).mean() == 456 / 2**12


@pytest.mark.parametrize("p", SHARES[:2])
def test_p_value_is_the_chance_of_a_ranking_as_unlikely(p):
    all_of_them = np.array(list(itertools.product([False, True], repeat=6)))
    rankings, protected = rankings_of(all_of_them, float(p))
    found = fa_ir.p_values(rankings, protected)
    chosen = range(0, len(all_of_them), 7)
    expected = [float(naive.p_value(all_of_them[i].tolist(), p)) for i in chosen]
    assert_allclose(found[chosen], expected, rtol=1e-9)


def test_the_test_holds_its_level():
    """Of drawn rankings no more than a share of alpha has a p-value of alpha or less."""
    rankings, protected = rankings_of(stream(0, "level of fa_ir").random((4000, 30)) < 0.3, 0.3)
    found = fa_ir.p_values(rankings, protected)
    for alpha in (0.01, 0.05, 0.1, 0.5):
        share = (found <= alpha).mean()
        assert alpha / 2 < share < alpha + 3 * np.sqrt(alpha * (1 - alpha) / 4000)


@pytest.mark.parametrize(
    ("k", "p", "alpha", "plain", "adjusted", "significance", "failure"),
    [
        (10, 0.2, 0.15, (8, 2), (8, 2), 0.15, 0.134217728),
        (20, 0.25, 0.1, (8, 6, 5, 1), (8, 7, 5), 0.078125, 0.105152473552),
        (30, 0.3, 0.05, (8, 5, 5, 5, 4, 3), (10, 6, 5, 4, 5), None, None),
    ],
)
def test_tables_of_the_authors_library(k, p, alpha, plain, adjusted, significance, failure):
    """Worked examples of fairsearch-fair-python: how many places need 0, 1, 2, … candidates."""
    found = fa_ir.adjusted_minima(k, p, alpha)
    assert np.bincount(fa_ir.minima(k, p, alpha).counts).tolist() == list(plain)
    assert np.bincount(found.counts).tolist() == list(adjusted)
    if failure is not None:
        assert (found.alpha, found.failure) == pytest.approx((significance, failure), abs=1e-12)


def test_adjusted_significance_is_next_to_the_one_asked_for():
    for k in (5, 17, 40):
        for alpha in (0.02, 0.1, 0.3):
            found = fa_ir.adjusted_minima(k, 0.37, alpha)
            assert found.alpha <= alpha
            plain = fa_ir.minima(k, 0.37, alpha)
            assert abs(found.failure - alpha) <= abs(plain.failure - alpha)
            same = fa_ir.minima(k, 0.37, found.alpha)
            assert same.counts.tolist() == found.counts.tolist()


def test_reranking_is_the_two_queues_of_the_paper():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(3, 14))
        k = int(rng.integers(1, n + 1))
        is_protected, scores = rng.random(n) < 0.5, rng.integers(0, 6, n) / 5
        p = float(rng.choice([0.2, 0.5, 0.8]))
        rankings, _ = rankings_of(is_protected[None], p)
        pools = Pools(np.array([0, n]), rankings.pools.groups, scores, Settings(protected="0", alpha=0.3))
        rows, exhausted = fa_ir.rank_pools(pools, np.array([k]))
        minima = fa_ir.adjusted_minima(k, p, 0.3).counts.tolist()
        assert (rows.tolist(), exhausted[0]) == naive.rank_by_fa_ir(scores, is_protected, minima)
    lacking = Pools(np.array([0, n]), rankings.pools.groups, scores, Settings(protected="none"))
    rows, exhausted = fa_ir.rank_pools(lacking, np.array([n]))
    assert (rows.tolist(), exhausted[0]) == (np.argsort(-scores, kind="stable").tolist(), 0)


@pytest.mark.parametrize(
    ("given", "problem"),
    [((0, 0.5, 0.1), "k is 0"), ((3, 1.5, 0.1), r"is 1\.5 and alpha is 0\.1; give a share from 0 to 1")],
)
def test_numbers_out_of_range_are_refused(given, problem):
    with refused(problem):
        fa_ir.minima(*given)
