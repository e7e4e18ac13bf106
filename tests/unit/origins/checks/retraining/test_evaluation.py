import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.checks.retraining import compare_sets, correlate
from naive import bias as naive

KINDS = {"w-increase-2": "increase", "w-decrease-2": "decrease", "w-decrease-4": "decrease"}
KINDS["random-2-0"] = "random"


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    baseline = pd.DataFrame({"weat": "w", "seed": range(6), "effect_size": rng.normal(0.5, 0.1, 6)})
    predictions = pd.DataFrame(
        [
            (name, "w", kind, int(name.split("-")[1 if kind == "random" else 2]), 0, e, seed, rng.normal(k))
            for k, (name, kind) in enumerate(KINDS.items())
            for e in ("influence", "newton")
            for seed in range(6)
        ],
        columns=["set", "weat", "kind", "size", "replicate", "estimator", "seed", "predicted"],
    )
    observed = pd.DataFrame(
        [(name, "w", seed, rng.normal(k, 0.1)) for k, name in enumerate(KINDS) for seed in range(3)],
        columns=["set", "weat", "seed", "effect_size"],
    )
    return baseline, predictions, observed


def test_means_and_tests(tables):
    baseline, predictions, observed = tables
    result = compare_sets(*tables)
    assert len(result) == 8
    row = result.query("set == 'w-decrease-4' and estimator == 'newton'").iloc[0]
    predicted = predictions.query("set == 'w-decrease-4' and estimator == 'newton'")["predicted"]
    after = observed.query("set == 'w-decrease-4'")["effect_size"].tolist()
    before = baseline["effect_size"].tolist()
    assert row["predicted_mean"] == pytest.approx(naive.mean(predicted.tolist()))
    assert row["observed_sd"] == pytest.approx(naive.variance(after) ** 0.5)
    assert (row["size"], row["n_retrains"]) == (4, 3)
    t, p = naive.welch(after, before)
    assert row["welch_t"] == pytest.approx(t)
    assert row["welch_p"] == pytest.approx(p, rel=1e-6)


def test_correlation_is_over_targeted_sets(tables):
    perturbations = compare_sets(*tables)
    result = correlate(perturbations, 3)
    assert result["n_sets"].tolist() == [3, 3]
    targeted = perturbations.query("estimator == 'influence' and kind != 'random'")
    x, y = targeted["predicted_mean"].tolist(), targeted["observed_mean"].tolist()
    row = result.query("estimator == 'influence'").iloc[0]
    assert row["r2"] == pytest.approx(naive.r_squared(x, y))
    assert row["slope"] == pytest.approx(naive.slope(x, y))
    assert row["r2_ci_low"] <= row["r2"] <= row["r2_ci_high"]
    pd.testing.assert_frame_equal(result, correlate(perturbations, 3))


def test_sets_without_retrainings_are_refused_or_left_out_and_one_has_no_spread(tables):
    baseline, predictions, observed = tables
    whole = compare_sets(*tables)
    single = compare_sets(baseline, predictions, observed[observed["seed"] == 0])
    assert single[["observed_sd", "welch_p"]].isna().all(axis=None)
    with pytest.raises(InputError, match="set w-increase-2 was measured"):
        compare_sets(baseline, predictions, observed[observed["set"] != "w-increase-2"])
    result = compare_sets(baseline, predictions, observed[~observed["set"].str.startswith("random-")])
    expected = whole[whole["kind"] != "random"].reset_index(drop=True)
    pd.testing.assert_frame_equal(result, expected)
    assert len(expected) < len(whole)
