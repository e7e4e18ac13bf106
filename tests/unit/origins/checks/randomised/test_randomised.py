"""Embeddings that know nothing: what they are, and that the comparison tells agreement from none."""

from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.origins.attribution.estimates import write_by_seed
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.checks.randomised.analysis import (
    SHUFFLED,
    TRAINED,
    UNTRAINED,
    compare_fits,
    compare_rankings,
    randomise,
    write_comparison,
    write_embeddings,
)
from biaslab.origins.checks.randomised.report import draw_randomised, randomised_table
from naive.origins import spearman
from origins_data import make_setups

N_WORDS, D = 12, 3


@pytest.fixture(scope="module")
def x():
    tokens = np.random.default_rng(9).integers(0, N_WORDS, 600).astype(np.int32)
    return cooccurrence.count(tokens, np.arange(0, 601, 20), N_WORDS, 3)


@pytest.fixture(scope="module")
def trained(x):
    parameters = glove.GloveParameters(dimension=D, epochs=2)
    return [glove.train(x, parameters, stream(1, "train", "baseline", i)) for i in range(2)]


def test_untrained_is_what_a_training_begins_with(x, trained, monkeypatch):
    """A training whose epochs change nothing returns the parameters it began with, bit for bit."""
    monkeypatch.setattr(glove, "train_epoch", lambda *arguments: arguments[-1].fill(0))
    parameters = glove.GloveParameters(dimension=D, epochs=1)
    for i, made in enumerate(randomise(trained, UNTRAINED, 3, 1)):
        begins = glove.train(x, parameters, stream(1, "train", "baseline", i))
        for name in ("W", "U", "b", "c"):
            np.testing.assert_array_equal(getattr(made, name), getattr(begins, name))
        assert len(made.loss) == 0


def test_shuffled_deals_each_words_parameters_out_together(trained):
    made = list(randomise(trained, SHUFFLED, 3, 1))
    for i, embedding in enumerate(made):
        source = trained[i % 2]
        of = [int(np.flatnonzero((w == source.W).all(axis=1))[0]) for w in embedding.W]
        assert sorted(of) == list(range(N_WORDS)) != of
        for name in ("U", "b", "c"):
            np.testing.assert_array_equal(getattr(embedding, name), getattr(source, name)[of])
    assert not np.array_equal(made[0].W, made[2].W)  # of the same baseline, dealt out anew


def test_an_unknown_kind_is_refused(trained):
    with pytest.raises(InputError, match="kind: zero; choose untrained or shuffled"):
        list(randomise(trained, "zero", 1, 1))


def table_of(values, counts):
    """The same values for all estimators, (n_embeddings, n_documents)."""
    columns = {f"{e}_seed{s}": v for e in ESTIMATORS for s, v in enumerate(values)}
    return pd.DataFrame(columns).assign(n_S=counts, n_T=0, n_A=0, n_B=0)


def test_agreement_is_the_oracles_over_documents_with_words_of_the_test():
    rng = np.random.default_rng(3)
    counts = np.repeat([0, 1, 2], 20)
    real, other = rng.normal(size=(4, 60)) + 3 * rng.normal(size=60), rng.normal(size=(3, 60))
    table = compare_rankings("w", table_of(real, counts), {UNTRAINED: table_of(other, counts)})
    assert table["n_documents"].unique().tolist() == [40]
    held, mean = slice(20, 60), real.mean(axis=0)
    means = [(real.sum(axis=0) - real[s]) / 3 for s in range(4)]
    first, last = table.iloc[0], table.iloc[-1]
    for row, values, references in ((first, real, means), (last, other, [mean] * 3)):
        found = [spearman(v[held], r[held]) for v, r in zip(values, references, strict=True)]
        assert row["spearman"] == pytest.approx(np.mean(found))
        found = [spearman(abs(v[held]), abs(r[held])) for v, r in zip(values, references, strict=True)]
        assert row["absolute"] == pytest.approx(np.mean(found))
    assert last["spearman_of_means"] == pytest.approx(spearman(other.mean(axis=0)[held], mean[held]))
    assert np.isnan(first["spearman_of_means"])


def test_random_signs_agree_in_size_alone_and_a_copy_agrees():
    """Estimates with the right sizes and random signs: the ranking disagrees, the sizes do not."""
    rng = np.random.default_rng(4)
    counts = np.ones(400, int)
    real = rng.standard_t(2, 400) + 0.1 * rng.normal(size=(5, 400))
    signs = real * rng.choice([-1, 1], (5, 400))
    made = {UNTRAINED: table_of(signs, counts), SHUFFLED: table_of(real, counts)}
    table = compare_rankings("w", table_of(real, counts), made).set_index(["embeddings", "estimator"])
    untrained, copy = table.loc[(UNTRAINED, "newton")], table.loc[(SHUFFLED, "newton")]
    assert untrained["spearman_ci_low"] < 0 < untrained["spearman_ci_high"]
    assert untrained["absolute"] > 0.9
    assert copy["spearman"] > 0.98
    assert copy["spearman_of_means"] == pytest.approx(1)


def test_tables_of_other_documents_are_refused():
    table = table_of(np.ones((2, 5)), np.ones(5, int))
    with pytest.raises(InputError, match="w, shuffled: 4 documents, the baselines' table 5; estimate again"):
        compare_rankings("w", table, {SHUFFLED: table.head(4)})


def predictions(changes, noise=0.0):
    rows = [("w", f"w-increase-{j}", "increase", j, 0, e, s, change + noise * s)
            for j, change in enumerate(changes) for e in ESTIMATORS for s in range(2)]  # fmt: skip
    columns = ["weat", "set", "kind", "size", "replicate", "estimator", "seed", "predicted"]
    return pd.DataFrame(rows, columns=columns)


def test_fits_tell_predictions_that_hold_from_others():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=30)
    observed = pd.DataFrame({"set": [f"w-increase-{j}" for j in range(30)], "weat": "w", "seed": 0})
    observed["effect_size"] = truth
    baseline = pd.DataFrame({"weat": "w", "seed": [0, 1], "effect_size": [0.1, 0.2]})
    made = {"trained": predictions(2 * truth), UNTRAINED: predictions(rng.normal(size=30))}
    fits = compare_fits(baseline, observed, made, 1).set_index(["embeddings", "estimator"])
    singles = fits.loc[("trained", "influence"), ["r", "r2_single", "r_ci_low"]]
    assert singles.tolist() == pytest.approx([1, 1, 1])
    assert abs(fits.loc[(UNTRAINED, "newton"), "r"]) < 0.45
    assert fits.loc[(UNTRAINED, "newton"), "r2_single"] == pytest.approx(
        fits.loc[(UNTRAINED, "newton"), "r2"]
    )
    assert fits.loc[("trained", "influence"), ["r2", "slope"]].tolist() == pytest.approx([1, 0.5])
    assert fits.loc[(UNTRAINED, "influence"), "r2"] < 0.2
    assert (
        fits.loc[(UNTRAINED, "influence"), "slope_ci_low"]
        < 0
        < fits.loc[(UNTRAINED, "influence"), "slope_ci_high"]
    )


def test_table_and_figure(tmp_path):
    setup = make_setups(tmp_path, {"wiki": {"n_documents": 60, "sizes": (5, 10), "n_random": 1}})[0]
    table = randomised_table(setup, "weat1")
    assert len(table.shown) == 9
    assert "4 trained, 4 untrained, 4 shuffled." in table.note
    draw_randomised(setup, "weat1", tmp_path / "figure")
    assert len(pd.read_csv(tmp_path / "figure.tsv", sep="\t")) == 9


def test_an_r2_outside_its_bootstrap_interval_is_drawn(tmp_path):
    setup = make_setups(tmp_path, {"wiki": {"n_documents": 60, "sizes": (5, 10), "n_random": 1}})[0]
    path = setup.folder / "randomised" / "comparison.tsv"
    write_tsv(path, read_tsv(path).assign(r2=0.0002, r2_ci_low=0.0003, r2_ci_high=0.6))
    draw_randomised(setup, "weat1", tmp_path / "figure")
    assert (tmp_path / "figure.svg").exists()


def test_steps_make_and_compare(tmp_path, trained):
    """The steps, from the baselines to the table."""
    glove.write_trainings(tmp_path / "baseline.npz", [0, 1], trained, every_parameter=True)
    for kind in (UNTRAINED, SHUFFLED):
        out = tmp_path / f"{kind}.npz"
        write_embeddings([tmp_path / "baseline.npz"], kind, 3, 1, out)
        made = list(randomise(trained, kind, 3, 1))
        arrays = read_npz(out)
        assert arrays["replicates"].tolist() == [0, 1, 2]
        for name, values in zip(("W", "U", "b", "c"), zip(*map(astuple, made), strict=True), strict=False):
            np.testing.assert_array_equal(arrays[name], np.stack(values))
    rng, files = np.random.default_rng(6), {}
    for name in (TRAINED, UNTRAINED, SHUFFLED):
        both = [[tmp_path / name / part / "w.parquet"] for part in ("", "by_seed")]
        files["differential_bias"], files["by_seed" if name == TRAINED else name] = both
        table = table_of(rng.normal(size=(3, 20)), np.ones(20, int)).assign(document=range(20))
        write_by_seed(table, *(file for (file,) in both))
    files["differential_bias"] = [tmp_path / TRAINED / "w.parquet"]
    for name in ("predictions", "untrained_predictions", "shuffled_predictions"):
        files[name] = tmp_path / f"{name}.tsv"
        write_tsv(files[name], predictions(rng.normal(size=8)))
    rows = {"set": [f"w-increase-{j}" for j in range(8)], "weat": "w", "seed": 0}
    write_tsv(tmp_path / "observed.tsv", pd.DataFrame(rows | {"effect_size": rng.normal(size=8)}))
    before = pd.DataFrame({"weat": "w", "seed": [0, 1], "effect_size": [0.1, 0.2]})
    write_tsv(tmp_path / "baseline.tsv", before)
    files |= {name: tmp_path / f"{name}.tsv" for name in ("baseline", "observed", "comparison")}
    write_comparison(**files, seed=1)
    table = read_tsv(tmp_path / "comparison.tsv")
    assert len(table) == 9
    assert table[["spearman", "r2", "slope_ci_low"]].notna().all(axis=None)
