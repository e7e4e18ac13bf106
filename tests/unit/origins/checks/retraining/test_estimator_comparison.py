import pandas as pd
import pytest
import scipy.stats

from biaslab.origins.checks.retraining.report.estimators import agreement, compare_estimators, predict_by_ppmi
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


def test_fit_is_the_line_through_the_sets():
    row = agreement(sets([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])).iloc[0]
    assert (row["n_sets"], row["r2"], row["slope"]) == pytest.approx((3, 1.0, 2.0))


def test_ppmi_adds_up_the_documents_of_a_set():
    perturbations = pd.concat([sets([9.0, 9.0, 9.0], [0.5, 2.0, 1.0])] * 2)
    perturbations["set"] = ["a", "b", "c"] * 2
    members = pd.DataFrame({"set": ["b", "a", "a", "c"], "document": [2, 0, 3, 1]})
    ppmi = pd.DataFrame({"document": [3, 2, 1, 0], "ppmi": [0.25, -0.5, float("nan"), 0.125]})
    predicted = predict_by_ppmi(perturbations, members, ppmi).set_index("set")
    assert predicted["predicted_mean"].tolist() == pytest.approx([1 - 0.375, 1.5, float("nan")], nan_ok=True)
    assert set(predicted["estimator"]) == {"ppmi"}
    assert agreement(predicted)["n_sets"].tolist() == [2]  # of the third the prediction is undefined


def test_table_has_a_row_for_every_setup_test_and_estimator(tmp_path):
    setups = make_setups(tmp_path, {"wiki": {}, "small": {"weats": ("weat2",)}})
    table = compare_estimators(setups)
    assert len(table.data) == 3 * 4
    fits = setups[0].table("correlation", "weat", "estimator", "n_sets", "r2", "slope")
    shared = table.data.query("setup == 'wiki'").merge(fits, on=["weat", "estimator"])
    assert len(shared) == 2 * 3
    for column in ("n_sets", "r2", "slope"):  # those of Table 4
        assert shared[f"{column}_x"].to_numpy() == pytest.approx(shared[f"{column}_y"].to_numpy())
    assert table.data.columns[:2].tolist() == ["setup", "weat"]
    assert table.data["r2"].between(0, 1).all()
    newton = table.data.query("estimator == 'newton'")["mean_absolute_error"]
    gradient = table.data.query("estimator == 'gradient'")["mean_absolute_error"]
    assert (newton.to_numpy() < gradient.to_numpy()).all()  # as made
    assert table.shown["Same sign"].str.fullmatch(r"\d+ of \d+").all()
