"""GloVe, PPMI and word2vec after the same removals (Brunet et al. 2019, Section 5.4)."""

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.vocabulary import Vocabulary, digest_words
from biaslab.origins.attribution.ppmi import measure_sets
from biaslab.origins.representations.ppmi_comparison import correlate_word_sets
from biaslab.origins.representations.transfer import compare_responses, compare_word2vec, set_changes
from biaslab.origins.sets.selection import members
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings

N_WORDS, WINDOW = 20, 4
WORDS = [f"w{i}" for i in range(N_WORDS)]
WEAT = WeatIndices("w", *np.split(np.arange(8), 4))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    documents = [np.minimum(rng.geometric(0.15, 60) - 1, 18).astype(np.int32) for _ in range(9)]
    documents.append(np.array([19, 0, 19, 1, 19], np.int32))  # the only one with word 19
    tokens = np.concatenate(documents)
    ranks = np.argsort(np.argsort(-np.bincount(tokens), kind="stable")).astype(np.int32)
    return ranks[tokens], np.concatenate([[0], np.cumsum([len(d) for d in documents])])


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, WINDOW)


@pytest.fixture(scope="module")
def sets():
    rows = [("w-increase-2", "w", "increase", 2, 0, d) for d in (1, 4)]
    rows += [("w-decrease-1", "w", "decrease", 1, 0, 9)]
    rows += [("random-3-0", "", "random", 3, 0, d) for d in (0, 2, 7)]
    return pd.DataFrame(rows, columns=["set", "weat", "kind", "size", "replicate", "document"])


def test_ppmi_without_a_set_is_ppmi_of_the_pruned_corpus(x, corpus, sets):
    tokens, offsets = corpus
    table = measure_sets(x, *corpus, members(sets), [WEAT]).set_index("set")["effect_size"]
    assert list(table.index) == ["baseline", "w-increase-2", "w-decrease-1", "random-3-0"]
    for name, value in table.items():
        removed = set(sets.loc[sets["set"] == name, "document"])
        kept = [tokens[offsets[d] : offsets[d + 1]].tolist() for d in range(10) if d not in removed]
        matrix = naive_embeddings.ppmi(kept, N_WORDS, WINDOW)
        parts = (getattr(WEAT, name).tolist() for name in "STAB")
        assert value == pytest.approx(naive_bias.effect_size(matrix, *parts), abs=1e-10)


def test_a_word_that_vanishes_with_a_set_leaves_no_effect_size(x, corpus, sets):
    weat = WeatIndices("w", np.array([0, 19]), *np.split(np.arange(1, 7), 3))
    table = measure_sets(x, *corpus, members(sets), [weat]).set_index("set")["effect_size"]
    assert np.isnan(table["w-decrease-1"])
    assert table.drop("w-decrease-1").notna().all()


def samples_of(changes, n=3, spread=0.1):
    """Return a sample for each set: 1, and what is added to it."""
    rows = [
        (name, "w", 1.0 + change + e)
        for name, change in changes.items()
        for e in (np.linspace(-spread, spread, n) if n > 1 else [0.0])
    ]
    return pd.DataFrame(rows, columns=["set", "weat", "effect_size"])


CHANGES = {"baseline": 0.0, "w-increase-2": 0.4, "w-decrease-1": -0.8, "random-3-0": 0.05}


def test_changes_are_differences_of_means(sets):
    samples = {name: samples_of(CHANGES, n) for name, n in (("glove", 5), ("ppmi", 1), ("word2vec", 3))}
    table = set_changes(samples, sets)
    assert len(table) == 3 * 3
    for row in table.itertuples():
        values = samples[row.representation]
        values = values.loc[values["set"] == row.set, "effect_size"]
        assert row.effect_size_mean == pytest.approx(values.mean())
        assert row.effect_size_sd == pytest.approx(
            np.std(values, ddof=1) if len(values) > 1 else np.nan, nan_ok=True
        )
        assert row.n_embeddings == len(values)
        assert row.change == pytest.approx(CHANGES[row.set])
        assert row.baseline_mean == pytest.approx(1)


def test_targeted_sets_have_their_own_test_alone_and_word2vec_may_be_left_out(sets):
    both = pd.concat([samples_of(CHANGES), samples_of(CHANGES).assign(weat="v")])
    table = set_changes(dict.fromkeys(("glove", "ppmi"), both), sets)
    pairs = set(zip(table["set"], table["weat"], strict=True))
    assert pairs == {("w-increase-2", "w"), ("w-decrease-1", "w"), ("random-3-0", "w"), ("random-3-0", "v")}
    assert compare_responses(table, 1)["representation"].tolist() == ["glove", "ppmi"]
    lost = both[both["set"] != "w-decrease-1"]
    with pytest.raises(InputError, match="ppmi: the set 'w-decrease-1' was not measured"):
        set_changes({"glove": both, "ppmi": lost}, sets)


def targeted(changes):
    """Return a table of changes by representation, over made-up targeted sets."""
    parts = [
        pd.DataFrame({"weat": "w", "set": [f"s{i}" for i in range(len(c))], "kind": "increase"}).assign(
            representation=name, change=c, baseline_mean=1.0, baseline_sd=0.1
        )
        for name, c in changes.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_response_is_the_slope_through_the_origin():
    glove = np.array([0.9, 0.3, -0.2, -0.7, -1.1, 0.5])
    noisy = 0.4 * glove + np.array([0.05, -0.02, 0.15, 0.02, -0.04, 0.01])
    table = compare_responses(targeted({"glove": glove, "ppmi": -glove / 2, "word2vec": noisy}), 1)
    rows = table.set_index("representation")
    assert rows.loc["glove", ["spearman", "n_same_sign", "response"]].tolist() == [1, 6, 1]
    assert rows.loc["ppmi", "spearman"] == pytest.approx(-1)
    assert rows.loc["ppmi", ["n_same_sign", "response", "response_ci_low"]].tolist() == [0, -0.5, -0.5]
    slope = np.linalg.lstsq(glove[:, None], noisy, rcond=None)[0][0]
    assert rows.loc["word2vec", "response"] == pytest.approx(slope)
    assert rows.loc["word2vec", "response_ci_low"] < slope < rows.loc["word2vec", "response_ci_high"]
    assert rows.loc["word2vec", "n_same_sign"] == 5
    assert (rows["n_sets"] == 6).all()


def test_responses_skip_random_sets_and_missing_values():
    table = targeted({"glove": [0.4, -0.2, 0.6], "ppmi": [0.2, np.nan, 0.3], "word2vec": [0.1, 0.1, 0.1]})
    table.loc[table["set"] == "s2", "kind"] = "random"
    rows = compare_responses(table, 1).set_index("representation")
    assert rows["n_sets"].to_dict() == {"glove": 2, "ppmi": 1, "word2vec": 2}
    assert rows.loc["ppmi", "response"] == pytest.approx(0.5)
    assert np.isnan(rows.loc["glove", "response_ci_low"])


@pytest.fixture
def word2vec(tmp_path):
    """Two batches of embeddings, and random tests that were measured in GloVe."""
    rng = np.random.default_rng(5)
    W = rng.normal(size=(2, N_WORDS, 5)).astype(np.float32)
    path = tmp_path / "word2vec" / "baseline" / "batch-0.npz"
    write_npz(path, replicates=np.arange(2), W=W, words=digest_words(WORDS))
    tests = [rng.permutation(N_WORDS)[:8].reshape(4, 2) for _ in range(7)]
    columns = {k: [",".join(WORDS[i] for i in t[n]) for t in tests] for n, k in enumerate("STAB")}
    glove = {"word_set": range(7), "ppmi": 0.0, "glove_mean": rng.normal(size=7), "glove_sd": 0.1}
    return path, W, tests, pd.DataFrame(glove | columns)


def test_random_tests_in_word2vec_are_those_of_glove(word2vec):
    path, W, tests, glove = word2vec
    vocabulary = Vocabulary(WORDS, np.ones(N_WORDS, np.int64))
    table = compare_word2vec([path], vocabulary, glove)
    for k, test in enumerate(tests):
        values = [effect_size(w, WeatIndices("", *test)) for w in W]
        assert table["word2vec_mean"][k] == pytest.approx(np.mean(values))
        assert table["word2vec_sd"][k] == pytest.approx(np.std(values, ddof=1))
    assert table["glove_mean"].tolist() == glove["glove_mean"].tolist()
    fit = correlate_word_sets(table, "word2vec", 1).iloc[0]
    assert fit["r2"] == pytest.approx(naive_bias.r_squared(table["word2vec_mean"], table["glove_mean"]))
    assert fit["n_sets"] == 7
    with pytest.raises(InputError, match="random test 0: 'x' is not in the vocabulary"):
        compare_word2vec([path], vocabulary, glove.assign(S="x,w1"))
