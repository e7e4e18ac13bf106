"""The comparison of all algorithms by all measures: what is drawn, and the means."""

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, share_interval
from biaslab.ranking import registry
from biaslab.ranking.algorithms import ALGORITHMS, rerank
from biaslab.ranking.comparison import compare
from biaslab.ranking.measures import MEASURES as GEYIK
from biaslab.ranking.measures import measure
from biaslab.ranking.simulation import draw

SIZE, N, CANDIDATES, TOP, SEED = 3, 25, 9, 8, 5


@pytest.fixture(scope="module")
def result():
    return compare([2, SIZE], N, CANDIDATES, TOP, SEED)


def test_every_algorithm_is_measured_by_every_measure(result):
    assert len(result) == 2 * len(registry.ALGORITHMS) * len(registry.MEASURES)
    assert set(result["algorithm"]) == set(registry.ALGORITHMS)
    assert set(result["measure"]) == set(registry.MEASURES)
    pd.testing.assert_frame_equal(result, compare([2, SIZE], N, CANDIDATES, TOP, SEED))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_measures_of_the_paper_are_those_of_single_lists(result, algorithm):
    scores, desired = draw(SIZE, N, CANDIDATES, stream(SEED, "ranking comparison", SIZE))
    values = np.repeat(np.arange(SIZE), CANDIDATES)
    found = np.array(
        [
            measure(s.ravel(), values, p, rerank(s.ravel(), values, p, TOP, algorithm), TOP)
            for s, p in zip(scores, desired, strict=True)
        ]
    )
    rows = result.query("n_values == @SIZE and algorithm == @algorithm").set_index("measure")
    for name, of_lists in zip(GEYIK, found.T, strict=True):
        finite = of_lists[np.isfinite(of_lists)]
        assert rows.loc[name, "n_left_out"] == N - len(finite)
        expected = (finite.mean(), *mean_interval(finite))
        assert tuple(rows.loc[name, ["mean", "ci_low", "ci_high"]]) == pytest.approx(expected)


def test_fa_ir_passes_its_own_test_and_the_score_does_not_always():
    many = compare([2], 100, 20, 20, 1).query("measure == 'fa_ir_pass'").set_index("algorithm")
    assert many.loc["fa_ir", "mean"] > 0.98
    passed = many.loc["score_only", "mean"]
    assert passed < 0.9
    low, high = share_interval(round(100 * passed), 100)
    assert (many.loc["score_only", "ci_low"], many.loc["score_only", "ci_high"]) == (low, high)


def test_a_value_must_not_run_out():
    with pytest.raises(InputError, match="the top 5 of 4 candidates a value"):
        compare([2], 2, 4, 5, 1)
