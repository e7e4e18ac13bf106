import pandas as pd
import pytest
import scipy.stats

from biaslab.origins.estimator_comparison import agreement, compare_estimators
from origins_data import make_setups


def sets(predicted, observed, kind="decrease"):
    return pd.DataFrame(
        {"kind": kind, "estimator": "newton", "predicted_mean": predicted, "observed_mean": observed}
        | {"baseline_mean": 1.0}
    )


def test_agreement_counts_signs_against_the_baseline_and_leaves_out_random_sets():
    predicted, observed = [0.5, 0.9, 1.2, 1.6], [0.2, 1.1, 1.3, 1.25]
    table = pd.concat([sets(predicted, observed), sets([9.0], [-9.0], "random")])
    row = agreement(table).iloc[0]
    assert row["n_same_sign"] == 3
    assert row["spearman"] == pytest.approx(scipy.stats.spearmanr(predicted, observed).statistic)
    assert row["mean_absolute_error"] == pytest.approx((0.3 + 0.2 + 0.1 + 0.35) / 4)


def test_rank_correlation_of_a_constant_is_missing():
    assert agreement(sets([1.0, 1.0], [0.5, 2.0]))["spearman"].isna().all()
    assert agreement(sets([1.0], [0.5]))["spearman"].isna().all()


def test_table_has_a_row_for_every_setup_test_and_estimator(tmp_path):
    setups = make_setups(tmp_path, {"wiki": {}, "small": {"weats": ("weat2",)}})
    table = compare_estimators(setups)
    assert len(table.data) == 3 * 3
    assert table.data.columns[:2].tolist() == ["setup", "weat"]
    assert table.data["r2"].between(0, 1).all()
    newton = table.data.query("estimator == 'newton'")["mean_absolute_error"]
    gradient = table.data.query("estimator == 'gradient'")["mean_absolute_error"]
    assert (newton.to_numpy() < gradient.to_numpy()).all()  # as made
    assert table.shown["Same sign"].str.fullmatch(r"\d+ of \d+").all()
