"""Differences between methods, paired over seeds."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from biaslab.core.errors import InputError
from naive import hate_speech_measures as naive

pytest.importorskip("torch")

from biaslab.hate_speech.measurement import paired_difference, paired_differences


def metrics_table(values):
    """One row for each method, seed and set of {(method, set): values by seed}."""
    rows = [
        {"method": method, "seed": seed, "set": texts, "f1": value, "accuracy": value / 2}
        for (method, texts), by_seed in values.items()
        for seed, value in enumerate(by_seed)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_paired_difference_equals_the_formula(n):
    rng = np.random.default_rng(n)
    baseline = rng.normal(0.5, 0.1, n)
    values = baseline + rng.normal(0.03, 0.02, n)
    found = paired_difference(values, baseline)
    mean, error, p_value = naive.paired_t(values, baseline)
    assert found.n_seeds == n
    assert found.n_higher == sum(v > b for v, b in zip(values, baseline, strict=True))
    assert_allclose(found.mean_difference, mean, rtol=1e-12)
    assert_allclose(found.p_value, p_value, rtol=1e-6)
    assert_allclose((found.ci_low + found.ci_high) / 2, mean, rtol=1e-12)
    # The bound of the interval is where a test of the mean against it has p = 0.05.
    assert_allclose(2 * naive.student_tail((mean - found.ci_low) / error, n - 1), 0.05, rtol=1e-6)


def test_what_does_not_vary_is_not_tested():
    values = np.array([0.2, 0.5, 0.7])
    same = paired_difference(values, values)
    assert (same.n_seeds, same.mean_difference, same.n_higher) == (3, 0.0, 0)
    shifted = paired_difference(values + 0.1, values)  # equal but for rounding
    assert (shifted.n_seeds, shifted.n_higher) == (3, 3)
    assert_allclose(shifted.mean_difference, 0.1)
    none = paired_difference([math.nan, 0.2], [0.1, math.nan])
    assert (none.n_seeds, none.n_higher) == (0, 0)
    for found in (same, shifted, none, paired_difference([0.3], [0.2])):
        assert np.isnan([found.ci_low, found.ci_high, found.p_value]).all()


def test_table_has_every_method_set_and_measure():
    table = metrics_table(
        {
            ("vanilla", "test"): [0.50, 0.52, 0.54],
            ("vanilla", "news"): [0.90, 0.80, 0.70],
            ("oc-0.1", "test"): [0.51, 0.52, 0.58],
            ("oc-0.1", "news"): [0.95, 0.90, 0.85],
            ("wr", "test"): [0.40, 0.45],  # one seed is missing, and the news
        }
    ).sample(frac=1, random_state=3)
    table = table.sort_values("method", kind="stable")  # oc-0.1, vanilla, wr
    found = paired_differences(table, "vanilla", ("f1", "accuracy"))
    assert (found["baseline"] == "vanilla").all()
    keys = set(found[["method", "set", "measure"]].itertuples(index=False, name=None))
    oc = {("oc-0.1", texts, name) for texts in ("test", "news") for name in ("f1", "accuracy")}
    null = {("vanilla", *rest) for _, *rest in oc}
    assert keys == oc | null | {("wr", "test", "f1"), ("wr", "test", "accuracy")}
    rows = found.set_index(["method", "set", "measure"])
    assert_allclose(rows.loc[("oc-0.1", "news", "f1"), "mean_difference"], 0.10)
    assert_allclose(rows.loc[("oc-0.1", "news", "accuracy"), "mean_difference"], 0.05)
    assert rows.loc[("oc-0.1", "test", "f1"), "n_higher"] == 2
    assert rows.loc[("wr", "test", "f1"), "n_seeds"] == 2
    expected = paired_difference([0.40, 0.45], [0.50, 0.52])
    assert_allclose(rows.loc[("wr", "test", "f1")].drop("baseline").astype(float), expected)


def test_the_null_is_every_second_seed_of_the_baseline_against_the_one_before():
    f1 = [0.50, 0.53, 0.54, 0.52, 0.60]
    table = metrics_table({("vanilla", "test"): f1, ("wr", "test"): f1}).sample(frac=1, random_state=1)
    rows = paired_differences(table, "vanilla", ("f1",)).set_index("method")
    expected = paired_difference([0.53, 0.52], [0.50, 0.54])
    assert_allclose(rows.loc["vanilla", list(expected._fields)].astype(float), expected)
    assert rows.loc["wr", "mean_difference"] == 0


def test_an_unknown_baseline_and_a_repeated_row_are_refused():
    table = metrics_table({("vanilla", "test"): [0.5, 0.6], ("wr", "test"): [0.4, 0.5]})
    with pytest.raises(InputError, match=r"baseline 'vanila' has no results; .* did you mean 'vanilla'"):
        paired_differences(table, "vanila", ("f1",))
    with pytest.raises(InputError, match="two rows of metrics for method wr, set test, seed 1"):
        paired_differences(pd.concat([table, table.tail(1)]), "vanilla", ("f1",))
