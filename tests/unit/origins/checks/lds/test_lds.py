import hashlib

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.origins.checks.cross_fitting import SET, SUM
from biaslab.origins.checks.lds import N_RANDOM, Prediction, observe, random_changes, reliability, score
from biaslab.origins.subsets import draw_subsets, retrain
from naive.origins import intraclass_correlation, linear_datamodeling_score


def scored(changes, effect_sizes, lacks=None, **others):
    """Score one attribution, as influence that is summed, and more."""
    made = [Prediction("influence", SUM, np.atleast_2d(changes))]
    made += [Prediction(name, SET, np.atleast_2d(c)) for name, c in others.items()]
    n = len(effect_sizes)
    lacks = np.random.default_rng(0).random((n, 50)) < 0.5 if lacks is None else lacks
    random = random_changes(lacks, np.random.default_rng(1))
    return score(made, random, np.asarray(effect_sizes, np.float64), 1, "w", 5)


def test_worked_example_of_a_public_library():
    """dattri's test of its LDS: two outputs, four documents, subsets {0, 1}, {0, 2}, {1, 2}; 1 and 0.866."""
    kept = [[0, 1], [0, 2], [1, 2]]
    lacks = np.array([[i not in subset for i in range(4)] for subset in kept])
    for attribution, outputs, expected in (
        ([0.1, 0.2, 0.3, 0.4], [0.3, 0.4, 0.5], 1.0),
        ([0.2, 0.1, 0.3, 0.4], [0.3, 0.4, 0.3], 0.8660254037844387),
    ):
        ours = scored(-(lacks @ np.array(attribution)), np.array(outputs)[:, None], lacks)["lds"][0]
        oracle = linear_datamodeling_score(attribution, kept, outputs)
        np.testing.assert_allclose([ours, oracle], expected)


def test_random_attributions_score_nothing():
    """Of 30 runs on random numbers about one in twenty has an interval without 0, and all are small."""
    rng, outside = np.random.default_rng(5), 0
    for _ in range(30):
        row = scored(rng.normal(size=40), rng.normal(size=(40, 2))).iloc[0]
        outside += not row["lds_ci_low"] <= 0 <= row["lds_ci_high"]
    assert outside <= 5
    last = scored(rng.normal(size=40), rng.normal(size=(40, 2))).iloc[-1]
    assert (last["estimator"], last["n_ways"]) == ("random", N_RANDOM)
    assert abs(last["lds"]) < 0.03
    np.testing.assert_allclose([last["lds_ci_low"], last["lds_ci_high"]], [-0.316, 0.316], atol=0.05)


def test_a_true_attribution_scores_one_and_a_reversed_one_minus_one():
    outputs = np.random.default_rng(6).normal(size=(20, 1))
    table = scored(outputs[:, 0], outputs, newton=-outputs[:, 0])
    assert table["lds"].head(2).tolist() == pytest.approx([1, -1])
    assert table["gain"].head(2).tolist() == pytest.approx([0, -2])
    assert table.loc[0, ["lds_ci_low", "lds_ci_high"]].tolist() == pytest.approx([1, 1])
    assert table["ceiling"].isna().all()


def test_averages_over_baselines_come_nearer_to_the_truth():
    rng = np.random.default_rng(7)
    truth = rng.normal(size=60)
    table = scored(truth + rng.normal(0, 2, (12, 60)), truth[:, None] + rng.normal(0, 0.1, (60, 3)))
    influence = table[table["estimator"] == "influence"]
    assert influence["n_baselines"].tolist() == [1, 2, 5, 10, 12]
    assert influence["n_ways"].tolist() == [10, 10, 10, 10, 1]
    assert influence["lds"].is_monotonic_increasing
    assert influence["gain"].iloc[-1] == 0


def test_reliability_is_the_intraclass_correlation():
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(30, 1)) + rng.normal(0, 0.7, (30, 3))
    share, ceiling = reliability(rows)
    np.testing.assert_allclose([share, ceiling**2], intraclass_correlation(rows.tolist()))
    assert reliability(np.array([[0.0, 1.0], [1.0, 0.0]])) != reliability(rows)
    assert np.isnan(reliability(rows[:, :1])).all()


def test_subsets_are_random_of_their_size_and_the_same_again():
    sets = draw_subsets(101, [0.5, 0.1], 6, 1)
    sizes = sets.groupby("set")["document"].agg(["size", "nunique"])
    assert sizes["size"].equals(sizes["nunique"])
    assert sorted(sizes["size"].unique()) == [10, 50]
    pd.testing.assert_frame_equal(sets, draw_subsets(101, [0.5, 0.1], 6, 1))
    other = draw_subsets(101, [0.5], 6, 2)
    assert not other["document"].equals(sets["document"].head(len(other)))
    more = draw_subsets(101, [0.5], 8, 1)
    pd.testing.assert_frame_equal(more.head(300), sets.head(300))  # more subsets are the same and others


@pytest.mark.parametrize("shares", [[0.001], [0.999], [0.5, 0.501]])
def test_impossible_shares_and_a_missing_retraining_are_refused(shares):
    with pytest.raises(InputError, match=r"lds\.shares: .* choose shares that remove distinct numbers"):
        draw_subsets(100, shares, 2, 1)
    observed = pd.DataFrame({"set": ["a", "a", "b"], "seed": [0, 1, 0], "effect_size": [0.1, 0.2, 0.3]})
    with pytest.raises(InputError, match="b: a retraining is missing or has no effect size"):
        observe(observed, ["a", "b"])


def test_retraining_is_that_of_the_pruned_corpus(tmp_path):
    """The embedding without some documents is that of a corpus that never had them, bit for bit."""
    rng = np.random.default_rng(9)
    tokens, offsets = rng.integers(0, 12, 600).astype(np.int32), np.arange(0, 601, 20)
    x, removed = cooccurrence.count(tokens, offsets, 13, 3), np.arange(0, 30, 2)
    weat = WeatIndices("w", *np.arange(8).reshape(4, 2))
    unseen = WeatIndices("u", *np.array([[0, 12], [2, 3], [4, 5], [6, 7]]))
    parameters = GloveParameters(dimension=3, epochs=2)
    table = retrain(
        x, tokens, offsets, {"a": removed}, [weat, unseen], parameters, 2, 1, tmp_path / "out", 1e9
    )
    kept = cooccurrence.select_documents(tokens, offsets, np.arange(1, 30, 2))
    pruned = cooccurrence.count(*kept, 13, 3)
    for replicate in range(2):
        expected = train(pruned, parameters, stream(1, "train", "a", replicate))
        row = table[(table["seed"] == replicate) & (table["weat"] == "w")].iloc[0]
        assert row["effect_size"] == effect_size(expected.W, weat)
        assert row["embedding_sha256"] == hashlib.sha256(expected.W.tobytes()).hexdigest()
        assert row["documents_sha256"] == hashlib.sha256(removed.astype("<i8").tobytes()).hexdigest()
    assert table["n_unseen_words"].tolist() == [0, 1, 0, 1]
    assert list(tmp_path.iterdir()) == []
