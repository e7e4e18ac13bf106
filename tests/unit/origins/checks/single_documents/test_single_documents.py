import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.stats import mean_interval
from biaslab.origins.attribution.estimates import write_by_seed
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.single_documents.analysis import (
    compare_documents,
    correlate_documents,
    select_documents,
    write_comparison,
    write_documents,
)
from biaslab.origins.checks.single_documents.report.documents import (
    correlation_table,
    documents_table,
    draw_documents,
)
from origins_data import make_setups

BIAS = np.array([0.1, -0.5, 0.0, 0.4, -0.2, 0.02, -0.01, 0.03])
SEEDS = 3


@pytest.fixture
def sets():
    return select_documents(BIAS, "weat1", 2, 3, seed=1)


@pytest.fixture
def differential_bias():
    table = pd.DataFrame({"document": range(len(BIAS)), "id": [f"a{i}" for i in range(len(BIAS))]})
    table["title"] = "T" + table["id"]
    for shift, estimator in enumerate(ESTIMATORS):
        for seed in range(SEEDS + 2):
            table[f"{estimator}_seed{seed}"] = BIAS * (1 + shift) + 0.01 * seed
    return table


@pytest.fixture
def effects(sets):
    """Return baselines that differ much, and their partners, which differ from them by twice the bias."""
    baseline = pd.DataFrame({"weat": "weat1", "seed": range(5), "effect_size": [0.0, 1.0, -2.0, 3.0, 9.0]})
    rows = [
        (s.set, "weat1", seed, baseline["effect_size"][seed] - 2 * BIAS[s.document] - noise)
        for s in sets.itertuples()
        for seed, noise in enumerate([0.01, -0.02, 0.03])
    ]
    return baseline, pd.DataFrame(rows, columns=["set", "weat", "seed", "effect_size"])


def test_both_ends_and_random_documents_of_the_rest(sets):
    documents = sets.set_index("set")["document"]
    assert documents["single-weat1-increase-0"] == 1
    assert documents["single-weat1-increase-1"] == 4
    assert documents["single-weat1-decrease-0"] == 3
    assert documents["single-weat1-decrease-1"] == 0
    random = sets.loc[sets["kind"] == "random", "document"]
    assert len(set(random)) == len(random) == 3
    assert set(random) <= {2, 5, 6, 7}
    pd.testing.assert_frame_equal(sets, select_documents(BIAS, "weat1", 2, 3, seed=1))
    assert select_documents(BIAS, "weat1", 0, 0, seed=1).empty


def test_too_few_documents_and_missing_estimates_are_refused():
    with pytest.raises(
        InputError, match=r"9 single documents from 8; choose smaller single_documents\.tails"
    ):
        select_documents(BIAS, "weat1", 4, 1, seed=1)
    with pytest.raises(InputError, match="has no estimate"):
        select_documents(np.array([0.1, np.nan]), "weat1", 1, 0, seed=1)


def test_pairs_are_subtracted_seed_by_seed(sets, differential_bias, effects):
    baseline, observed = effects
    table = compare_documents(sets, baseline, observed.sample(frac=1, random_state=1), differential_bias)
    for row, s in zip(table.itertuples(), sets.itertuples(), strict=True):
        change = 2 * BIAS[s.document] + np.array([0.01, -0.02, 0.03])
        assert (row.document, row.rank, row.n_trainings) == (s.document, s.replicate, SEEDS)
        np.testing.assert_allclose([row.observed, row.observed_sd], [change.mean(), change.std(ddof=1)])
        np.testing.assert_allclose([row.observed_ci_low, row.observed_ci_high], mean_interval(change))
        before = baseline["effect_size"][:SEEDS]
        expected = np.sqrt(before.var() + (before - change).var())
        np.testing.assert_allclose(row.unpaired_sd, expected)
        np.testing.assert_allclose([row.influence, row.newton], BIAS[s.document] * np.array([1, 2]) + 0.01)


def test_correlation_over_the_documents(sets, differential_bias, effects):
    documents = compare_documents(sets, *effects, differential_bias)
    table = correlate_documents(documents, seed=1).set_index("estimator")
    np.testing.assert_allclose(table["r"], 1)
    np.testing.assert_allclose(table["slope"], [2, 1, 2 / 3])
    ratio = (documents["unpaired_sd"] ** 2).mean() / (documents["observed_sd"] ** 2).mean()
    np.testing.assert_allclose(table["variance_ratio"], ratio)
    noisy = documents.assign(observed=documents["observed"] + np.linspace(-1, 1, len(documents)) ** 2)
    row = correlate_documents(noisy, seed=1).set_index("estimator").loc["newton"]
    assert row["r_ci_low"] < row["r"] == pytest.approx(np.corrcoef(noisy["newton"], noisy["observed"])[0, 1])
    assert row["r2"] == pytest.approx(row["r"] ** 2)


def test_a_missing_partner_is_named(sets, differential_bias, effects):
    baseline, observed = effects
    with pytest.raises(InputError, match="single-weat1-increase-0: a retraining or its baseline"):
        compare_documents(sets, baseline.query("seed != 1"), observed, differential_bias)
    kept = observed[observed["set"] != "single-weat1-random-2"]
    with pytest.raises(InputError, match="single-weat1-random-2"):
        compare_documents(sets, baseline, kept, differential_bias)


def test_steps(sets, differential_bias, effects, tmp_path):
    means = differential_bias.assign(influence_mean=BIAS)
    bias, by_seed = tmp_path / "weat1.parquet", tmp_path / "by_seed.parquet"
    write_by_seed(means, bias, by_seed)
    chosen, of = tmp_path / "sets.parquet", {"tails": 2, "random": 3}
    write_documents(bias, chosen, "influence", **of, seed=1)
    pd.testing.assert_frame_equal(pd.read_parquet(chosen), sets)
    for name, table in zip(("baseline", "observed"), effects, strict=True):
        write_tsv(tmp_path / f"{name}.tsv", table)
    tables = ("baseline", "observed", "documents", "correlation")
    files = {n: tmp_path / f"{n}.tsv" for n in tables}
    write_comparison(chosen, differential_bias=bias, by_seed=by_seed, **files, seed=1)
    documents = pd.read_csv(tmp_path / "documents.tsv", sep="\t")
    expected = compare_documents(sets, *effects, differential_bias)
    np.testing.assert_allclose(documents["observed"], expected["observed"])
    assert len(pd.read_csv(tmp_path / "correlation.tsv", sep="\t")) == len(ESTIMATORS)


def test_report(tmp_path):
    (setup,) = make_setups(tmp_path, {"wiki": {}})
    table = documents_table(setup)
    assert list(table.data["kind"]) == ["increase", "decrease", "random", "random"]
    assert (table.data["gain"] > 0).all()
    assert len(correlation_table(setup).data) == len(ESTIMATORS)
    draw_documents(setup, tmp_path / "drawn")
    assert (tmp_path / "drawn.png").stat().st_size > 0
    assert len(pd.read_csv(tmp_path / "drawn.tsv", sep="\t")) == 4


def test_report_of_a_setup_without_single_documents(tmp_path):
    (setup,) = make_setups(tmp_path, {"wiki": {}})
    for name in ("documents", "correlation"):
        path = setup.folder / "single_documents" / f"{name}.tsv"
        write_tsv(path, pd.read_csv(path, sep="\t").head(0))
    assert "no single documents" in documents_table(setup).note
    assert correlation_table(setup).data.empty
    draw_documents(setup, tmp_path / "drawn")
    assert "no single documents" in (tmp_path / "drawn.svg").read_text()
