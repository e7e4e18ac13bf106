"""From predictions to tables: every number by a literal count, whatever the order of the rows."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")


from numpy.testing import assert_allclose

from biaslab.core.io import read_tsv, write_parquet, write_tsv
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.measurement import (
    count_work,
    measure_corpus,
    measure_encoders,
    paired_difference,
    paired_differences,
)
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.metrics import MEASURES
from biaslab.text.tokens import Tokens
from hate_speech_experiment_data import TERMS, example_folder
from naive import hate_speech_measures as naive
from refusals import refused

SEEDS = {"bow": [0], "soc-0.1": [0, 1], "vanilla": [0, 1], "soc-0.1@sum": [0]}
ENCODERS = [name for name in SEEDS if name != "bow"]
CONTEXTS = ContextSettings(radius=2, samples=2)
TABLES = ("metrics", "identity", "functionalities", "differences", "attributions", "cost", "settings")
SETTINGS = {"batch_size": 8, "learning_rate": 2e-5}


def scores_of(folder, seed):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=len(texts)).astype(np.float32) for name, texts in folder.tested.items()}


def write_predictions(folder):
    """Write what the steps before write, the rows of predictions in random order; return the scores."""
    described = json.dumps({"num_hidden_layers": 2, "hidden_size": 8})
    (folder.encoder / "config.json").write_text(described, encoding="utf-8")
    scores, rng = {}, np.random.default_rng(0)
    for number, (method, seeds) in enumerate(SEEDS.items()):
        tables = []
        for seed in seeds:
            scores[method, seed] = scores_of(folder, 10 * number + seed)
            for name, values in scores[method, seed].items():
                rows = np.arange(len(values))
                tables.append(pd.DataFrame({"seed": seed, "set": name, "row": rows, "score": values}))
        table = pd.concat(tables).iloc[rng.permutation(sum(map(len, tables)))]
        write_parquet(folder.path / f"predictions/{method}.parquet", table)
    for method in ENCODERS:
        keys = itertools.product([method], SEEDS[method], ("oc", "soc"), TERMS)
        rows = [[*key, 3, -1.0, phi_of(*key)] for key in keys]
        columns = ["method", "seed", "explanation", "identifier", "n", "mean_phi", "mean_abs_phi"]
        write_tsv(folder.path / f"attributions/{method}.tsv", pd.DataFrame(rows, columns=columns))
    return scores


def phi_of(method, seed, kind, term):
    return ENCODERS.index(method) + 10 * seed + 100 * (kind == "soc") + TERMS.index(term) / 8


def measure(folder, methods):
    measure_corpus(folder, methods, SETTINGS)
    measure_encoders(folder, [name for name in methods if name in ENCODERS], CONTEXTS, batch_size=8)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = example_folder(
        tmp_path_factory.mktemp("measured"), probes=("news", "hatecheck"), limits=(50, 12)
    )
    scores = write_predictions(folder)
    measure(folder, list(SEEDS))
    return folder, scores, {name: read_tsv(folder.path / f"{name}.tsv") for name in TABLES}


def test_metrics_are_those_of_a_count(measured):
    folder, scores, tables = measured
    metrics = tables["metrics"]
    expected = [(m, s, name) for m, seeds in SEEDS.items() for s in seeds for name in folder.tested]
    keys = metrics[["method", "seed", "set"]].itertuples(index=False, name=None)
    assert sorted(keys) == sorted(expected)
    for row in metrics.itertuples():
        labels, values = folder.tested[row.set].labels, scores[row.method, row.seed][row.set]
        assert (row.n, row.n_positive) == (len(labels), labels.sum())
        accuracy = np.mean((values > 0) == (labels == 1))
        assert row.accuracy == pytest.approx(accuracy)
        if row.set == "news":
            names = folder.column("identifier", "news")
            assert row.macro_accuracy == pytest.approx(naive.macro_accuracy(values, labels, names))
            assert np.isnan(row.f1)
        else:
            counted = naive.counted_metrics(values, labels)
            assert (row.precision, row.recall, row.f1) == pytest.approx(counted[:3])
            assert np.isnan(row.macro_accuracy)
        assert row.n_train == (len(folder.splits["train"]) if row.method == "bow" else 50)


def test_identifiers_are_measured_on_the_texts_that_hold_them(measured):
    folder, scores, tables = measured
    identity = tables["identity"]
    assert len(identity) == len(TERMS) * len(folder.tested) * sum(map(len, SEEDS.values()))
    for row in identity.itertuples():
        texts = folder.tested[row.set]
        holds = [folder.ids[row.identifier] in texts.tokens.row(i) for i in range(len(texts))]
        false, n_negative = naive.false_positives(scores[row.method, row.seed][row.set], texts.labels, holds)
        assert (row.n, row.n_negative) == (sum(holds), n_negative)
        if n_negative:
            assert row.false_positive_rate == pytest.approx(false / n_negative)


def test_functionalities_are_those_of_hatecheck(measured):
    folder, scores, tables = measured
    table = tables["functionalities"]
    functions = folder.column("functionality", "hatecheck")
    labels = folder.tested["hatecheck"].labels
    assert len(table) == 3 * sum(map(len, SEEDS.values()))
    for row in table.itertuples():
        right = (scores[row.method, row.seed]["hatecheck"] > 0) == (labels == 1)
        assert (row.n, row.passed) == (4, right[functions == row.functionality].sum())
        assert row.is_hateful == (row.functionality == "complaint")


def test_differences_are_from_both_baselines(measured):
    _, scores, tables = measured
    differences = tables["differences"]
    metrics = tables["metrics"].set_index(["set", "method", "seed"]).sort_index()
    pairs = set(differences[["method", "baseline"]].itertuples(index=False, name=None))
    others = {(m, b) for b in ("vanilla", "bow") for m in SEEDS if m != b}
    assert pairs == others | {("vanilla", "vanilla")}  # the null; bow has one training
    row = differences.set_index(["method", "baseline", "set", "measure"]).loc[
        ("soc-0.1", "vanilla", "test", "f1")
    ]
    f1 = metrics.loc["test", "f1"]
    assert row["n_seeds"] == 2
    assert row["mean_difference"] == pytest.approx((f1["soc-0.1"] - f1["vanilla"]).mean())
    assert scores["soc-0.1", 0]["test"].tolist() != scores["vanilla", 0]["test"].tolist()


def test_tables_of_methods_are_put_together(measured):
    _, _, tables = measured
    attributions = tables["attributions"]
    assert attributions["method"].unique().tolist() == ENCODERS
    for row in attributions.itertuples():
        assert row.mean_abs_phi == phi_of(row.method, row.seed, row.explanation, row.identifier)
    assert len(attributions) == 5 * 2 * len(TERMS)


def test_costs_are_those_of_the_sentences_in_use_compared_with_the_plain_encoder(measured):
    folder, _, tables = measured
    cost = tables["cost"].set_index("method")
    assert set(cost.index) == set(ENCODERS)
    assert cost.loc["vanilla", "tokens_per_step"] == pytest.approx(folder.train.tokens.lengths.sum() / 7)
    assert (cost["n_steps"] == 7).all()
    assert cost.loc["vanilla", "ratio"] == 1  # though another method was named before it
    assert cost.loc["soc-0.1", "ratio"] == cost.loc["soc-0.1@sum", "ratio"] > 1


def test_linear_models_alone_are_measured_without_encoders(tmp_path, measured):
    folder = example_folder(tmp_path, probes=("news", "hatecheck"), limits=(50, 12))
    write_predictions(folder)
    measure_corpus(folder, ["bow"], SETTINGS)
    found, whole = read_tsv(folder.path / "metrics.tsv"), measured[2]["metrics"]
    assert found.equals(whole[whole["method"] == "bow"].reset_index(drop=True))
    assert read_tsv(folder.path / "differences.tsv").empty
    assert not (folder.path / "cost.tsv").exists()


def test_settings_lie_beside_the_results_with_the_size_of_the_encoder(measured):
    tables = measured[2]
    expected = {**SETTINGS, "encoder_layers": 2, "encoder_width": 8}
    assert tables["settings"].set_index("setting")["value"].to_dict() == expected


IDS = [50, 51, 52]
SENTENCES = ([50, 7, 8, 51], [9, 9], [52, 52, 52], [6], [51, 50, 52, 4, 4, 50])
COUNTED = ContextSettings(radius=2, samples=3, add_itself=True)
CONTEXTS_OF = {
    "vanilla": 0,
    "wr": 0,
    "oc-0.1": 1,
    "soc-0.1": 4,
    "soc-0.1@published": 4,
    "soc-0": 0,
    "ear-0.01": 0,
}


@pytest.fixture(scope="module")
def counted_tokens():
    rows = [[2, *sentence, 3] for sentence in SENTENCES]
    offsets = np.cumsum([0, *map(len, rows)])
    return Tokens(np.concatenate(rows).astype(np.int32), offsets, np.zeros(offsets[-1], np.int32))


def counted(name):
    """Sentences as they are read for the loss, and again for each regularized occurrence."""
    total = 0
    for sentence in SENTENCES:
        length = len(sentence) + 2
        total += length - sum(token in IDS for token in sentence) if name == "wr" else length
        for token in sentence:
            if token in IDS:
                for _context in range(CONTEXTS_OF[name]):
                    total += length  # with the identifier
                    total += length  # without
    return total


def test_tokens_are_those_of_a_literal_count(counted_tokens):
    table = count_work(
        counted_tokens, IDS, [parse_method(name) for name in CONTEXTS_OF], COUNTED, batch_size=2
    )
    assert table["method"].tolist() == list(CONTEXTS_OF)
    assert (table["n_steps"] == 3).all()
    for row in table.itertuples():
        assert row.tokens_per_step == counted(row.method) / 3
        assert row.ratio == pytest.approx(counted(row.method) / counted("vanilla"), rel=1e-12)
    assert counted("soc-0.1") > counted("oc-0.1") > counted("vanilla")


def metrics_table(values):
    """One row for each method, seed and set of {(method, set): values by seed}."""
    rows = [
        {"method": method, "seed": seed, "set": texts, "f1": value, "accuracy": value / 2}
        for (method, texts), by_seed in values.items()
        for seed, value in enumerate(by_seed)
    ]
    return pd.DataFrame(rows, columns=["method", "seed", "set", *MEASURES])


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
    found = paired_differences(table, "vanilla")
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
    rows = paired_differences(table, "vanilla").set_index(["measure", "method"]).loc["f1"]
    expected = paired_difference([0.53, 0.52], [0.50, 0.54])
    assert_allclose(rows.loc["vanilla", list(expected._fields)].astype(float), expected)
    assert rows.loc["wr", "mean_difference"] == 0


def test_an_unknown_baseline_and_a_repeated_row_are_refused():
    table = metrics_table({("vanilla", "test"): [0.5, 0.6], ("wr", "test"): [0.4, 0.5]})
    with refused(r"baseline 'vanila' has no results; .* did you mean 'vanilla'"):
        paired_differences(table, "vanila")
    with refused("two rows of metrics for method wr, set test, seed 1"):
        paired_differences(pd.concat([table, table.tail(1)]), "vanilla")
