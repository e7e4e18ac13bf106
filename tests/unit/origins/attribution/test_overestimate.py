"""The pieces of benchmarks/overestimate.py, at tiny scale."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.weat import effect_size, weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings.glove import GloveParameters
from naive import origins as naive

SCRIPT = Path(__file__).parents[4] / "benchmarks/overestimate.py"
N_WORDS, EPOCHS = 60, 12
PARAMETERS = GloveParameters(6, EPOCHS, 20.0)
REMOVED = "test-decrease-10"
RTOL = 1e-7  # float64, badly conditioned


def ids(*numbers):
    return np.array(numbers, np.int64)


TEST = WeatIndices("test", ids(3, 30), ids(7, 41), ids(0, 22), ids(1, 35))
WORDS = weat_words(TEST)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("overestimate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["overestimate"] = module  # a dataclass looks for its module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["overestimate"]


@pytest.fixture(scope="module")
def run(script):
    rng = np.random.default_rng(5)
    offsets = np.arange(0, 6001, 40)
    tokens = rng.integers(0, N_WORDS, 6000).astype(np.int32)
    x = cooccurrence.count(tokens, offsets, N_WORDS, 8)
    trained = [glove.train(x, PARAMETERS, stream(1, "train", "baseline", s)) for s in range(2)]
    baselines = {s: {p: getattr(e, p) for p in script.PARTS} for s, e in enumerate(trained)}
    return script.Run(
        x, tokens, offsets, {"test": TEST}, {REMOVED: np.arange(0, 150, 7)}, baselines, PARAMETERS, 1
    )


def train(script, run, moving, counts=None, **changes):
    x = run.x if counts is None else replace(run.x, counts=counts)
    parameters = replace(PARAMETERS, **changes)
    return script.train(x, parameters, stream(1, "train", "baseline", 0), moving, WORDS, run.baselines[0])


def test_counts_of_a_part_of_a_set(script, run):
    whole, half = run.counts_without(REMOVED), run.counts_without(REMOVED, 0.5)
    assert (whole < run.x.counts).any()
    assert np.array_equal(half, (whole + run.x.counts) / 2)
    assert np.array_equal(run.counts_without(script.NOTHING), run.x.counts)


def test_a_training_of_everything_is_the_baseline(script, run):
    found = train(script, run, "all", run.counts_without(script.NOTHING))
    assert all(np.array_equal(found[p], run.baselines[0][p]) for p in script.PARTS)


@pytest.mark.parametrize("moving", ["w", "w, b", "w, b, c", "w, b, c, u"])
def test_only_what_should_move_moves(script, run, moving):
    found, trained = train(script, run, moving, run.counts_without(REMOVED)), run.baselines[0]
    others = np.setdiff1d(np.arange(N_WORDS), WORDS)
    for part, name in zip(("W", "b", "c", "U"), "wbcu", strict=True):
        same = (found[part] == trained[part]).reshape(N_WORDS, -1)
        assert same[others].all() or part in "Uc"
        if name not in moving:
            assert same.all()
        else:
            assert not same[WORDS].any()


def test_words_alone_come_to_the_minimum_that_the_estimate_assumes(script, run):
    after = run.counts_without(REMOVED)
    embedding = train(script, run, "w", after, epochs=20_000)
    row = script.row(run.x, after, 41, run.baselines[0], PARAMETERS)
    np.testing.assert_allclose(embedding["W"][41], script.minima(row)[1], atol=2e-3)
    assert np.abs(embedding["W"][41] - run.baselines[0]["W"][41]).max() > 0.02  # which was not there


def dense_row(run, counts, word):
    row = np.zeros(N_WORDS)
    places = slice(run.x.indptr[word], run.x.indptr[word + 1])
    row[run.x.indices[places]] = counts[places] / run.x.unit
    return row


@pytest.fixture(scope="module")
def of_one_word(run):
    """Return the dense rows of a word before and after, what the oracles want, and the arguments of `row`."""
    word, after = 41, run.counts_without(REMOVED)
    e = {name: values.astype(np.float64) for name, values in run.baselines[0].items()}
    rest = e["U"], e["b"][word], e["c"], PARAMETERS.x_max, PARAMETERS.alpha
    rows = dense_row(run, run.x.counts, word), dense_row(run, after, word)
    return rows, e["W"][word], rest, (run.x, after, word, run.baselines[0], PARAMETERS)


def test_estimates_and_minima_are_the_oracles(script, of_one_word):
    rows, w, rest, arguments = of_one_word
    row = script.row(*arguments)
    for name in ("influence", "newton"):
        expected = getattr(naive, f"{name}_vector")(*rows, w, *rest)
        np.testing.assert_allclose(w + getattr(script, name)(row), expected, rtol=RTOL)
    for found, dense in zip(script.minima(row), rows, strict=True):
        np.testing.assert_allclose(found, naive.least_squares_vector(dense, *rest), rtol=RTOL)


@pytest.mark.parametrize("with_bias", [False, True])
def test_stopped_descent(script, of_one_word, with_bias):
    rows, _, rest, arguments = of_one_word
    steps = 400
    rates = np.full(6 + with_bias, PARAMETERS.learning_rate)
    rates[6:] = 1
    ends = [naive.descent(row, *rest, rates * EPOCHS / steps, steps, with_bias) for row in rows]
    row = script.row(*arguments, with_bias)
    # The error of Euler's method falls with the step, which leaves this much.
    np.testing.assert_allclose(script.truncated(row), ends[1] - ends[0], atol=2e-4 * np.abs(ends[0]).max())
    assert np.abs(script.truncated(row) - script.newton(row)).max() > 0.1 * np.abs(script.newton(row)).max()


def test_damped_newton_is_exact_from_the_minimum_with_the_penalty(script, of_one_word):
    rows, _, rest, arguments = of_one_word
    row = script.row(*arguments)
    damping = 2 / (PARAMETERS.learning_rate * EPOCHS)  # of the Hessian, which is twice A
    ends = [naive.penalised_vector(r, *rest, damping) for r in rows]
    np.testing.assert_allclose(script.newton(row._replace(v=ends[0]), 1.0), ends[1] - ends[0], rtol=1e-6)
    wrong = script.newton(row._replace(v=ends[0]), 2.0)
    assert np.abs(wrong - (ends[1] - ends[0])).max() > 1e-3 * np.abs(wrong).max()


def changes(script, methods, removal="t-decrease-10"):
    rows = [
        (removal, 75, seed, method, "effect size", 0.5, 0.5 + change + 0.01 * seed)
        for method, change in methods.items()
        for seed in range(4)
    ]
    return pd.DataFrame(
        rows, columns=[*script.Removal._fields, "seed", "method", "measure", "before", "after"]
    )


def test_excess_is_over_the_paired_retraining_and_in_its_direction(script):
    table = script.summarise(changes(script, {script.PAIRED: -0.2, "newton": -0.6, "w": -0.2, "c": 0.1}))
    table = table.set_index("method")
    assert table["excess"].to_dict() == pytest.approx({script.PAIRED: 0, "newton": 0.4, "w": 0, "c": -0.3})
    assert table.loc["newton", "excess_low"] == pytest.approx(0.4)  # pairs: what seeds share is no noise
    assert table.loc["newton", "change_low"] < -0.585 < table.loc["newton", "change_high"]
    up = script.summarise(changes(script, {script.PAIRED: 0.2, "newton": 0.6}, "t-increase-10"))
    assert up.set_index("method").loc["newton", "excess"] == pytest.approx(0.4)


def test_ladder_pairs_baselines(script):
    table = changes(script, {"newton": -0.6, "trained: w": -0.3, script.PAIRED: -0.2, "influence": -0.7})
    table = table[(table["method"] != "trained: w") | (table["seed"] < 3)]
    found = script.ladder(table).set_index("from")
    assert found["to"].to_dict() == {"newton": "trained: w", "trained: w": script.PAIRED}
    assert found["difference"].to_dict() == pytest.approx({"newton": 0.3, "trained: w": 0.1})
    assert found["n_baselines"].tolist() == [3, 3]
    assert found.loc["newton", "difference_low"] == pytest.approx(0.3)


def test_a_word_carries_what_goes_with_its_step(script, run):
    W = run.baselines[0]["W"].astype(np.float64)
    steps = np.random.default_rng(0).normal(size=(len(WORDS), 6)) / 10
    seen = steps.copy()
    seen[2] /= 3
    found = script.carried(W, WORDS, steps, seen, TEST)
    ends = [effect_size(script.moved(W, WORDS, s), TEST) for s in (steps, seen)]
    assert found == pytest.approx([0, 0, ends[0] - ends[1], *[0] * (len(WORDS) - 3)])
    assert abs(found[2]) > 1e-3


def test_share_of_the_step_taken(script):
    z = np.array([0.05, 0.05, 0.2, 2.0, 2.5])
    predicted = np.array([1.0, -3.0, 2.0, 1.0, 1.0])
    found = np.array(script.share_taken(z, predicted, predicted * z / (1 + z)))
    assert found[:, 0].tolist() == [0.0, 0.1, 1.0]
    np.testing.assert_allclose(found[:, 1], [0.05, 0.2, 2.25])
    np.testing.assert_allclose(found[:2, 2], [0.05 / 1.05, 0.2 / 1.2])
    assert not np.allclose(np.array(script.share_taken(z, predicted, predicted))[:, 2], found[:, 2])


def test_errors(script):
    rows = [
        ("t", name, "newton", damping, seed, factor * value + (-0.1, 0.1)[seed], value)
        for name, value in zip("abcd", (-1.0, -0.5, 0.5, 1.0), strict=True)
        for damping, factor in ((0.0, 2.0), (1.0, 1.0))
        for seed in range(2)
    ]
    names = ["weat", "set", "estimator", "damping", "seed", "predicted", "observed"]
    table = script.errors(pd.DataFrame(rows, columns=names), seed=1).set_index("damping")
    assert table["rms"].tolist() == pytest.approx([np.sqrt(2.5 / 4), 0])
    assert table["slope"].tolist() == pytest.approx([0.5, 1])
    assert (table["rms_low"] <= table["rms"] + 1e-12).all()
