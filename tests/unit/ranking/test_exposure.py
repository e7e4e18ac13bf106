"""Exposure and attention: every registered measure against its oracle, and worked examples."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.ranking import exposure, registry
from biaslab.ranking.measures import MEASURES as GEYIK
from biaslab.ranking.measures import ndkl
from biaslab.ranking.pools import UNKNOWN, Groups, Pools, Rankings, Settings, top
from naive import ranking as naive
from naive import ranking_exposure as naive_exposure
from naive import ranking_fa_ir as naive_fa_ir

ALPHA = 0.3
ORACLES = {
    name: lambda v, s, d, o, i=i: naive.ranking_measures(s, v, d, o)[i] for i, name in enumerate(GEYIK)
} | {name: getattr(naive_exposure, name) for name in registry.MEASURES if hasattr(naive_exposure, name)}
ORACLES["fa_ir_pass"] = lambda v, s, d, o: naive_fa_ir.passes_test(
    [v[i] == 0 for i in o if v[i] is not None], Fraction(d[0]), ALPHA
)


def pools_of(lists, desired):
    """Pools of lists [(values, scores)], values 0, 1, … or None."""
    m, n = len(desired), len(lists)
    rows = [UNKNOWN if v is None else i * m + v for i, (values, _) in enumerate(lists) for v in values]
    groups = Groups(
        list_groups=np.arange(n + 1) * m,
        names=[str(a) for a in range(m)],
        values=np.tile(np.arange(m), n),
        rows=np.array(rows),
        counts=np.bincount([r for r in rows if r >= 0], minlength=n * m),
        desired=np.tile(np.array(desired, float), n),
    )
    offsets = np.concatenate([[0], np.cumsum([len(values) for values, _ in lists])])
    scores = np.concatenate([scores for _, scores in lists]).astype(float)
    return Pools(offsets, groups, scores, Settings("0", ALPHA))


def first_of(rankings):
    return {name: values[0] for name, values in registry.measure(rankings).items()}


def random_lists(rng, unknown, lowest=0):
    choices = [0, 1, 2, *([None] if unknown else [])]
    return [
        ([choices[i] for i in rng.integers(0, len(choices), n)], rng.integers(lowest, 5, n) / 4)
        for n in rng.integers(1, 12, 40)
    ]


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("name", registry.MEASURES)
def test_measure_is_its_oracle(name, unknown):
    rng = np.random.default_rng(5)
    desired = [0.5, 0.3, 0.2]
    for k, lowest in ((1, 0), (4, 0), (50, -1)):
        lists = random_lists(rng, unknown, lowest)
        pools = pools_of(lists, desired)
        order = rng.permutation(len(pools.lists))
        order = order[np.argsort(pools.lists[order], kind="stable")]
        rankings = top(pools, k, order)
        found = registry.measure(rankings)[name]
        for i, (values, scores) in enumerate(lists):
            if name == "ndcg" and min(scores) < 0:
                continue
            own = rankings.rows[rankings.lists == i] - pools.offsets[i]
            if name == "fa_ir_pass" and len(own) > 5:  # all rankings are written out
                continue
            expected = ORACLES[name](values, scores.tolist(), desired, own.tolist())
            assert_allclose(found[i], expected, rtol=1e-12, atol=1e-12, err_msg=f"{values} {scores}")


def test_every_measure_has_an_oracle_and_is_best_where_it_says():
    assert set(ORACLES) == set(registry.MEASURES)
    pools = pools_of([([0, 1, 1, 0] * 250, np.ones(1000))], [0.5, 0.5])
    found = first_of(top(pools, 1000))
    for name, measure in registry.MEASURES.items():
        if name not in ("infeasible_index", "infeasible_count", "ndkl", "attention_inequity"):
            assert found[name] == pytest.approx(measure.fair, abs=0.01), name


def test_worked_example_of_two_groups():
    """Seven of one value and then three of the other, as in the documentation of FairRankTune.

    Its NDKL desires the shares of the candidates, 0.7 and 0.3.
    """
    pools = pools_of([([0] * 7 + [1] * 3, np.arange(10, 0, -1))], [0.5, 0.5])
    rankings = top(pools, 10)
    assert_allclose(exposure.exposures(rankings), [0.519714, 0.301853], atol=5e-7)
    assert_allclose(exposure.exposure_ratio(rankings), [0.301853 / 0.519714], rtol=2e-6)
    found = first_of(rankings)
    assert found["ndkl"] == pytest.approx(0.59303, abs=5e-6)
    assert ndkl(np.repeat([0, 1], [7, 3]), [0.7, 0.3], 10) == pytest.approx(0.29256, abs=5e-6)
    attention = 1 / np.log2(np.arange(2, 12))
    q = attention[:7].sum() / attention.sum()
    jsd = sum(x * math.log(2 * x / (x + 0.5)) + 0.5 * math.log(1 / (x + 0.5)) for x in (q, 1 - q)) / 2
    assert found["awrf"] == pytest.approx(1 - jsd, abs=1e-12)


def test_worked_example_of_the_job_seekers():
    """Singh and Joachims 2018, Figure 1: a small gap in relevance becomes a large one in exposure."""
    men, women = [0.82, 0.81, 0.80], [0.79, 0.78, 0.77]
    pools = pools_of([([0, 0, 0, 1, 1, 1], np.array(men + women))], [0.5, 0.5])
    rankings = top(pools, 6)
    assert_allclose(exposure.exposures(rankings), [0.71, 0.39], atol=0.005)
    assert_allclose(exposure.utilities(rankings), [0.81, 0.78])


@pytest.mark.parametrize("lowest", [0, -1])
def test_shares_of_relevance_are_those_of_all_known_candidates(lowest):
    lists = random_lists(np.random.default_rng(9), True, lowest)
    rankings = top(pools_of(lists, [0.5, 0.3, 0.2]), 3)
    expected = [naive_exposure.relevance_share(a, v, s.tolist()) for v, s in lists for a in range(3)]
    assert_allclose(exposure.relevance_shares(rankings), expected, rtol=1e-12)


def test_unknown_candidates_keep_their_places():
    values = [0, None, 0, 0, 1, None, 1, 1]
    pools = pools_of([(values, np.arange(8, 0, -1))], [0.5, 0.5])
    for name in registry.ALGORITHMS:
        rankings, exhausted = registry.rerank(name, pools, 6)
        assert rankings.rows[[1, 5]].tolist() == [1, 5]
        assert exhausted.tolist() == [0]
        known = [i for i in range(8) if values[i] is not None]
        alone = pools_of([([values[i] for i in known], np.arange(8, 0, -1)[known])], [0.5, 0.5])
        without, _ = registry.rerank(name, alone, 4)
        assert [i for i in rankings.rows.tolist() if i in known] == [known[i] for i in without.rows]


def test_lists_of_unknown_candidates_have_no_shares():
    pools = pools_of([([None, None], np.array([1, 2])), ([0, 1], np.array([1, 2]))], [0.5, 0.5])
    for name in ("score_only", "det_greedy", "det_const_sort"):
        rankings, _ = registry.rerank(name, pools, 2)
        assert rankings.rows.tolist() == [1, 0, 3, 2]
    found = registry.measure(rankings)
    for name in ("min_skew", "ndkl", "exposure_ratio", "awrf", "disparate_impact"):
        assert np.isnan(found[name][0])
        assert not np.isnan(found[name][1])
    assert found["ndcg"].tolist() == [1.0, 1.0]


def test_without_scores_only_some_measures_remain():
    pools = pools_of([([0, 1, 0], np.array([3, 2, 1]))], [0.5, 0.5])
    bare = Pools(pools.offsets, pools.groups)
    rankings = Rankings(bare, np.array([3]), np.arange(3))
    found = first_of(rankings)
    assert set(found) == {
        n for n, m in registry.MEASURES.items() if not (m.needs_scores or m.needs_protected)
    }
    with_scores = first_of(top(pools, 3))
    assert found == {name: with_scores[name] for name in found}
