"""The simulation and the comparison: what is drawn, that chunks and threads change nothing, and the means."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from numpy.testing import assert_array_equal

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, share_interval
from biaslab.ranking import registry, simulation
from biaslab.ranking.algorithms import ALGORITHMS, rerank
from biaslab.ranking.batches import measure_batch
from biaslab.ranking.comparison import compare
from biaslab.ranking.measures import MEASURES, measure

SIZE, N, CANDIDATES, TOP, SEED = 4, 60, 12, 10, 3


@pytest.fixture(scope="module")
def result():
    return simulation.simulate([2, SIZE], N, CANDIDATES, TOP, SEED, 1)


@pytest.fixture(scope="module")
def values():
    """Return the measures of the lists with `SIZE` values: they fit into one chunk."""
    rng = stream(SEED, "ranking simulation", SIZE, 0)
    return measure_batch(*simulation.draw(SIZE, N, CANDIDATES, rng), TOP, 1)


def test_scores_are_sorted_uniforms_and_shares_normalised_uniforms():
    scores, desired = simulation.draw(3, 4000, 9, np.random.default_rng(1))
    assert scores.shape == (4000, 3, 9)
    assert (np.diff(scores, axis=-1) <= 0).all()
    assert scipy.stats.kstest(scores.ravel(), "uniform").pvalue > 0.001
    best = scipy.stats.kstest(scores[..., 0].ravel(), scipy.stats.beta(9, 1).cdf)
    assert best.pvalue > 0.001
    np.testing.assert_allclose(desired.sum(axis=1), 1, rtol=1e-14)
    ratio = desired[:, 0] / desired[:, 1]  # of two uniform draws
    assert scipy.stats.kstest(ratio, lambda x: np.where(x < 1, x / 2, 1 - 1 / (2 * x))).pvalue > 0.001


def test_measures_are_means_over_the_finite_lists(result, values):
    table = result.measures[result.measures["n_values"] == SIZE].set_index(["algorithm", "measure"])
    assert len(table) == len(ALGORITHMS) * (len(MEASURES) + 1)
    assert (table[["n_lists", "candidates", "top"]] == [N, CANDIDATES, TOP]).all(axis=None)
    for a, algorithm in enumerate(ALGORITHMS):
        for q, name in enumerate(MEASURES):
            finite = values[:, a, q][np.isfinite(values[:, a, q])]
            row = table.loc[(algorithm, name)]
            assert row["n_infinite"] == N - len(finite)
            assert row["mean"] == pytest.approx(finite.mean(), rel=1e-12)
            assert row["sd"] == pytest.approx(finite.std(ddof=1), rel=1e-9, abs=1e-12)
            expected = mean_interval(finite)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, rel=1e-9)
    assert table["n_infinite"].max() > 0, "no list shows the convention"
    ratio = table.xs("min_ratio", level="measure")  # lists at minus infinity count as zero
    np.testing.assert_allclose(ratio["mean"], np.exp(values[..., MEASURES.index("min_skew")]).mean(axis=0))
    assert (ratio["n_infinite"] == 0).all()


def test_feasibility_counts_lists_with_an_infeasible_prefix(result, values):
    table = result.feasibility[result.feasibility["n_values"] == SIZE].set_index("algorithm")
    infeasible = (values[..., MEASURES.index("infeasible_index")] > 0).sum(axis=0)
    assert table["n_infeasible"].tolist() == infeasible.tolist()
    assert table.loc["det_const_sort", "n_infeasible"] == 0
    bound = 1 - 0.025 ** (1 / N)  # Clopper and Pearson's for none of N
    interval = table.loc["det_const_sort", ["ci_low", "ci_high"]].tolist()
    assert interval == pytest.approx([0, bound])


def test_differences_are_taken_list_by_list(result, values):
    table = result.differences[result.differences["n_values"] == SIZE]
    table = table.set_index(["measure", "algorithm", "other"])
    assert len(table) == 4 * 10
    for name in ("min_skew", "ndcg"):
        a, b = (values[:, k, MEASURES.index(name)] for k in (1, 4))
        both = np.isfinite(a) & np.isfinite(b)
        gap = a[both] - b[both]
        row = table.loc[(name, "det_greedy", "det_const_sort")]
        assert row["n_lists"] == len(gap)
        assert row["mean"] == pytest.approx(gap.mean(), rel=1e-12)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(mean_interval(gap), rel=1e-9)


def test_threads_change_no_bit(result):
    for one, two in zip(result, simulation.simulate([2, SIZE], N, CANDIDATES, TOP, SEED, 2), strict=True):
        assert one.to_csv() == two.to_csv()


def test_more_lists_than_a_chunk_are_all_measured(monkeypatch):
    monkeypatch.setattr(simulation, "_CHUNK", 7 * 2 * CANDIDATES)
    result = simulation.simulate([2], 20, CANDIDATES, TOP, SEED, 1)
    parts = [
        measure_batch(*simulation.draw(2, n, CANDIDATES, stream(SEED, "ranking simulation", 2, k)), TOP, 1)
        for k, n in enumerate([7, 7, 6])
    ]
    ndkl = np.concatenate(parts)[..., MEASURES.index("ndkl")]
    rows = result.measures[result.measures["measure"] == "ndkl"]
    np.testing.assert_allclose(rows["mean"], ndkl.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(rows["sd"], ndkl.std(axis=0, ddof=1), rtol=1e-9)


def test_moments_of_chunks_are_those_of_the_whole():
    x = np.random.default_rng(5).normal(1e6, 1, size=(100, 2))
    x[3, 1] = -np.inf
    x[:, 0] = 7.0
    moments = simulation.Moments((2,))
    for part in np.split(x, [1, 40, 40]):
        moments.add(part)
    columns = moments.columns()
    kept = np.delete(x[:, 1], 3)
    assert moments.n.tolist() == [100, 99]
    assert (columns["mean"][0], columns["sd"][0]) == (7.0, 0.0)
    assert columns["mean"][1] == pytest.approx(kept.mean(), rel=1e-14)
    assert columns["sd"][1] == pytest.approx(kept.std(ddof=1), rel=1e-9)
    few = simulation.Moments((2,))
    few.add(np.array([[1.0, np.nan], [-np.inf, np.nan]]))
    np.testing.assert_array_equal(few.columns()["mean"], [1.0, np.nan])
    assert np.isnan([few.columns()[name] for name in ("sd", "ci_low", "ci_high")]).all()


def test_a_top_longer_than_a_values_candidates_is_refused():
    problem = r"the top is 5, but each value has 4 candidates .* lower the top"
    for refused in (partial(simulation.simulate, threads=1), compare):
        with pytest.raises(InputError, match=problem):
            refused([2], 3, 4, 5, 1)


# --- many lists at once


def draw_lists(n_lists, m, c, seed=0):
    rng = np.random.default_rng(seed)
    scores = -np.sort(-rng.random((n_lists, m, c)).round(2))  # with ties
    desired = rng.random((n_lists, m)) * (rng.random((n_lists, m)) < 0.8)
    desired[:, 0] += 0.01
    return scores, desired / desired.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("m", "c", "k"), [(1, 3, 2), (2, 5, 30), (4, 6, 10), (10, 20, 100)])
def test_batch_is_every_list_alone(m, c, k):
    scores, desired = draw_lists(20, m, c)
    found = measure_batch(scores, desired, k)
    assert found.tobytes() == measure_batch(scores, desired, k, 2).tobytes()
    assert found.shape == (20, len(ALGORITHMS), len(MEASURES))
    attributes = np.repeat(np.arange(m), c)
    for n in range(20):
        for a, algorithm in enumerate(ALGORITHMS):
            order = rerank(scores[n].ravel(), attributes, desired[n], k, algorithm)
            alone = measure(scores[n].ravel(), attributes, desired[n], order, k)
            assert_array_equal(found[n, a], alone, strict=False)


def test_bad_batches():
    scores, desired = draw_lists(2, 2, 3)
    for given, problem in (
        ((scores, desired, 0), "k is 0"),
        ((scores, np.full((2, 3), 1 / 3), 1), r"shape \(2, 2, 3\) and shares \(2, 3\)"),
        ((scores[:, :, ::-1], desired, 1), "must not rise"),
        ((np.where(scores == scores[0, 0, 0], np.nan, scores), desired, 1), "must not rise"),
        ((scores, desired / 2, 1), "must sum to 1"),
    ):
        with pytest.raises(InputError, match=problem):
            measure_batch(*given)


# --- all algorithms by all measures


@pytest.fixture(scope="module")
def compared():
    return compare([2, SIZE], 25, CANDIDATES, TOP, SEED)


def test_every_algorithm_is_measured_by_every_measure(compared):
    assert len(compared) == 2 * len(registry.ALGORITHMS) * len(registry.MEASURES)
    assert set(compared["algorithm"]) == set(registry.ALGORITHMS)
    assert set(compared["measure"]) == set(registry.MEASURES)
    pd.testing.assert_frame_equal(compared, compare([2, SIZE], 25, CANDIDATES, TOP, SEED))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_measures_of_the_paper_are_those_of_single_lists(compared, algorithm):
    scores, desired = simulation.draw(SIZE, 25, CANDIDATES, stream(SEED, "ranking comparison", SIZE))
    values = np.repeat(np.arange(SIZE), CANDIDATES)
    found = []
    for s, p in zip(scores, desired, strict=True):
        order = rerank(s.ravel(), values, p, TOP, algorithm)
        found.append(measure(s.ravel(), values, p, order, TOP))
    rows = compared.query("n_values == @SIZE and algorithm == @algorithm").set_index("measure")
    for name, of_lists in zip(MEASURES, np.transpose(found), strict=True):
        finite = of_lists[np.isfinite(of_lists)]
        assert rows.loc[name, "n_left_out"] == 25 - len(finite)
        expected = (finite.mean(), *mean_interval(finite))
        assert tuple(rows.loc[name, ["mean", "ci_low", "ci_high"]]) == pytest.approx(expected)


def test_fa_ir_passes_its_own_test_and_the_score_does_not_always():
    many = compare([2], 100, 20, 20, 1).query("measure == 'fa_ir_pass'").set_index("algorithm")
    assert many.loc["fa_ir", "mean"] > 0.98
    passed = many.loc["score_only", "mean"]
    assert passed < 0.9
    low, high = share_interval(round(100 * passed), 100)
    assert (many.loc["score_only", "ci_low"], many.loc["score_only", "ci_high"]) == (low, high)
