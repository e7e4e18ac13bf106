"""The simulation: what is drawn, that chunks and threads change nothing, and the tables of means."""

import numpy as np
import pytest
import scipy.stats

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.ranking import simulation
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.batches import measure_batch
from biaslab.ranking.measures import MEASURES

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
        for q, measure in enumerate(MEASURES):
            finite = values[:, a, q][np.isfinite(values[:, a, q])]
            row = table.loc[(algorithm, measure)]
            assert row["n_infinite"] == N - len(finite)
            assert row["mean"] == pytest.approx(finite.mean(), rel=1e-12)
            assert row["sd"] == pytest.approx(finite.std(ddof=1), rel=1e-9, abs=1e-12)
            expected = mean_interval(finite)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, rel=1e-9)
    assert table["n_infinite"].max() > 0, "no list shows the convention"


def test_lists_at_minus_infinity_count_as_zero_in_the_ratio(result, values):
    rows = result.measures.query(f"n_values == {SIZE} and measure == 'min_ratio'")
    np.testing.assert_allclose(rows["mean"], np.exp(values[..., MEASURES.index("min_skew")]).mean(axis=0))
    assert (rows["n_infinite"] == 0).all()


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
    for measure in ("min_skew", "ndcg"):
        a, b = (values[:, k, MEASURES.index(measure)] for k in (1, 4))
        both = np.isfinite(a) & np.isfinite(b)
        gap = a[both] - b[both]
        row = table.loc[(measure, "det_greedy", "det_const_sort")]
        assert row["n_lists"] == len(gap)
        assert row["mean"] == pytest.approx(gap.mean(), rel=1e-12)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(mean_interval(gap), rel=1e-9)


def test_threads_change_no_bit(result):
    for one, two in zip(result, simulation.simulate([2, SIZE], N, CANDIDATES, TOP, SEED, 2), strict=True):
        assert one.to_csv() == two.to_csv()


def test_sizes_do_not_depend_on_each_other(result):
    alone = simulation.simulate([SIZE], N, CANDIDATES, TOP, SEED, 1).measures
    both = result.measures[result.measures["n_values"] == SIZE]
    assert alone.to_csv(index=False) == both.to_csv(index=False)


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


def test_too_few_finite_values_have_no_spread():
    moments = simulation.Moments((2,))
    moments.add(np.array([[1.0, np.nan], [-np.inf, np.nan]]))
    columns = moments.columns()
    np.testing.assert_array_equal(columns["mean"], [1.0, np.nan])
    assert np.isnan([*columns["sd"], *columns["ci_low"], *columns["ci_high"]]).all()


def test_a_top_longer_than_a_values_candidates_is_refused():
    with pytest.raises(InputError, match=r"the top 5 of 4 candidates a value: .* lower the top"):
        simulation.simulate([2], 3, 4, 5, 1, 1)
