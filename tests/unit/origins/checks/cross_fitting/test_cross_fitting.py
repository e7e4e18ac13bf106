import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.attribution.estimates import SUM, seed_values
from biaslab.origins.checks.cross_fitting import choose, cross_fit_sets, own_and_others, pooled, with_outcomes
from naive.origins import cross_fitted

N, DOCUMENTS = 4, 40


@pytest.fixture
def values():
    return np.random.default_rng(3).normal(size=(N, DOCUMENTS))


def summed(values):
    return {SUM: lambda sets: -np.stack([values[:, s].sum(axis=1) for s in sets], axis=1)}


def sets(kind="increase", size=5):
    row = {"weat": "w", "set": f"w-{kind}-{size}", "kind": kind, "size": size, "estimator": "influence"}
    return pd.DataFrame([row])


def samples(change, kind="increase", size=5):
    baseline = pd.DataFrame({"weat": "w", "seed": range(3), "effect_size": [0.4, 0.5, 0.6]})
    return baseline, baseline.assign(set=f"w-{kind}-{size}", effect_size=baseline["effect_size"] + change)


@pytest.mark.parametrize(("kind", "sign"), [("increase", 1), ("decrease", -1)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_both_predictions_are_the_oracles(values, kind, sign, k):
    ways = choose(values, kind, 5, k, np.random.default_rng(0))
    choosing, documents = zip(*ways, strict=True)
    own, others = own_and_others(summed(values)[SUM](list(documents)), choosing)
    expected = [cross_fitted(values.tolist(), 5, way, sign) for way in choosing]
    np.testing.assert_allclose(np.transpose([own, others]), expected)


def test_noise_alone_is_all_optimism(values):
    """Documents without any effect: those who chose see one, the others see none."""
    noise = np.random.default_rng(4).normal(size=(10, 2000))
    table = cross_fit_sets(noise, summed(noise), sets(size=50), seed=1)
    alone = table[table["n_choosing"] == 1].iloc[0]
    assert alone["own"] > 90  # 50 of the largest of 2000 standard normal numbers
    assert abs(alone["others"]) < 3 * np.sqrt(50 / 90) * 3
    assert alone["optimism_ci_low"] > 80
    shrunk = table[table["n_choosing"] == 9].iloc[0]
    assert shrunk["optimism_ci_low"] > 10


def test_without_noise_nothing_is_optimistic():
    same = np.tile(np.random.default_rng(5).normal(size=DOCUMENTS), (N, 1))
    table = with_outcomes(cross_fit_sets(same, summed(same), sets(), seed=1), *samples(0.1))
    np.testing.assert_allclose(table["optimism"], 0, atol=1e-12)
    np.testing.assert_allclose(table["own"], table["others"])
    assert table["n_choosing"].tolist() == [1, 2, 3]
    assert table["n_ways"].tolist() == [4, 6, 4]
    assert table["optimism_ci_low"].isna().tolist() == [False, True, False]
    np.testing.assert_allclose(table["observed"], 0.1)


def test_the_removed_share_is_of_the_overestimate():
    rows = pd.DataFrame({"kind": ["increase", "decrease"] * 2, "n_choosing": [1, 1, 3, 3]})
    rows = rows.assign(own=[1.0, -2.0, 0.9, -1.9], others=[0.5, -1.0, 0.7, -1.7], weat="w", form=SUM)
    rows["observed"] = [0.4, -1.0] * 2
    found = pooled(rows).set_index("n_choosing")
    assert found["n_sets"].tolist() == [2, 2]
    np.testing.assert_allclose(found.loc[3, ["own", "others", "observed"]].astype(float), [1.4, 1.2, 0.7])
    np.testing.assert_allclose(found["removed"], [np.nan, 0.2 / 0.7])
    assert pooled(rows.assign(observed=rows["own"] * 2))["removed"].isna().all()


def test_a_set_without_retraining_and_a_single_baseline_are_refused(values):
    baseline, observed = samples(0.1)
    predicted = cross_fit_sets(values, summed(values), sets(), 1)
    with pytest.raises(InputError, match="the set w-increase-5 was measured; rerun the measurement"):
        with_outcomes(predicted, baseline, observed.assign(set="other"))
    with pytest.raises(InputError, match="found 1; increase baselines"):
        seed_values(pd.DataFrame({"influence_seed0": [0.1]}), "influence")
