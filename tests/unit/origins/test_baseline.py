"""The bias of baseline and retrained embeddings."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.io import write_npz, write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.batches import join_tables
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.baseline import MAX_CHOICES, OBSERVED, choose_seeds, measure, measure_sets
from naive import bias as naive

N_WORDS = 30
WORDS = [f"w{i}" for i in range(N_WORDS)]
VOCABULARY = Vocabulary(WORDS, np.full(N_WORDS, 9))


def word_sets(name, sizes, absent=()):
    """Word sets from consecutive words of the vocabulary; absent words are added to S."""
    ends = np.cumsum(sizes)
    s, t, a, b = (WORDS[end - size : end] for end, size in zip(ends, sizes, strict=True))
    return WordSets(name, "title", "source", {"s": [*s, *absent], "t": t}, {"a": a, "b": b})


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (10, 5), (3, 3)])
def test_baselines_are_chosen_in_different_ways_of_more_than_a_hundred_in_some(n, k):
    choices = choose_seeds(n, k, stream(1))
    assert len(choices) == len(set(map(tuple, choices))) == min(math.comb(n, k), MAX_CHOICES)
    assert all(chosen == sorted(set(chosen)) and len(chosen) == k and max(chosen) < n for chosen in choices)
    assert choices == choose_seeds(n, k, stream(1))


SMALL = word_sets("small", (3, 3, 2, 2), absent=("x", "y"))
LARGE = word_sets("large", (8, 8, 5, 5))


@pytest.fixture
def batches(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, N_WORDS, 4)).astype(np.float32)
    paths = [tmp_path / name / "batch-0.npz" for name in ("baseline", "random-5-0")]
    paths.insert(1, tmp_path / "baseline" / "batch-1.npz")
    write_npz(paths[0], replicates=np.array([1, 0]), W=vectors[:2], words=VOCABULARY.digest)
    write_npz(paths[1], replicates=np.array([2]), W=vectors[2:], words=VOCABULARY.digest)
    write_npz(paths[2], replicates=np.array([0]), W=vectors[:1] + 1, words=VOCABULARY.digest)
    return paths


def ids(test):
    return [[WORDS.index(w) for w in words if w in WORDS] for words in test.sets.values()]


def vectors_of(path, replicate):
    with np.load(path) as archive:
        return archive["W"][archive["replicates"].tolist().index(replicate)].astype(float)


def test_baselines_are_measured_with_every_test(batches):
    table = measure(batches[:2], VOCABULARY, [SMALL, LARGE], permutations=100, seed=3)
    columns = ["weat", "seed", "effect_size", "p_value", "n_missing_words", "missing_words"]
    assert table.columns.tolist() == columns
    assert table["weat"].tolist() == ["large"] * 3 + ["small"] * 3
    assert table["seed"].tolist() == [0, 1, 2] * 2
    assert table["n_missing_words"].tolist() == [0] * 3 + [2] * 3
    assert table["missing_words"].tolist() == [""] * 3 + ["x,y"] * 3
    small = table.iloc[3:].reset_index()
    for seed, path in enumerate([batches[0], batches[0], batches[1]]):
        vectors = vectors_of(path, seed)
        assert small["effect_size"][seed] == pytest.approx(naive.effect_size(vectors, *ids(SMALL)))
        assert small["p_value"][seed] == pytest.approx(naive.permutation_p_value(vectors, *ids(SMALL)))


def test_estimated_p_values_belong_to_seed_and_replicate_alone(batches):
    table = measure(batches[:2], VOCABULARY, [SMALL, LARGE], permutations=100, seed=3)
    reordered = measure(batches[1::-1], VOCABULARY, [LARGE, SMALL], permutations=100, seed=3)
    pd.testing.assert_frame_equal(table, reordered)
    other = measure(batches[:2], VOCABULARY, [SMALL, LARGE], permutations=100, seed=4)
    of_large = table["weat"] == "large"
    assert (table["p_value"] != other["p_value"])[of_large].any()
    assert (table["p_value"] == other["p_value"])[~of_large].all()  # these are exact


def test_bad_combinations_are_refused(batches):
    with pytest.raises(InputError, match=r"several sets \(baseline, random-5-0\)"):
        measure(batches, VOCABULARY, [SMALL], 100, 1)
    with pytest.raises(InputError, match=r"two tests have the same name \(small, small\)"):
        measure_sets(batches, VOCABULARY, [SMALL, SMALL])
    few = word_sets("few", (1, 3, 2, 2), absent=("x",))
    with pytest.raises(InputError, match="few: the vocabulary contains 1 of the 2 words of set 's'"):
        measure_sets(batches, VOCABULARY, [few])


def test_a_test_may_measure_something_else_than_weat(batches):
    other = replace(SMALL, name="other", measure="ripa")
    table = measure(batches[:2], VOCABULARY, [SMALL, other], 100, 1)
    alone = measure(batches[:2], VOCABULARY, [SMALL], 100, 1)
    pd.testing.assert_frame_equal(table[table["weat"] == "small"].reset_index(drop=True), alone)
    rest = table[table["weat"] == "other"]
    assert rest["p_value"].isna().all()
    for seed, path in enumerate([batches[0], batches[0], batches[1]]):
        expected = naive.ripa(vectors_of(path, seed), *ids(other))
        assert rest["effect_size"].iloc[seed] == pytest.approx(expected)
    observed = measure_sets(batches, VOCABULARY, [SMALL, other])
    both = observed.pivot(index=["set", "seed"], columns="weat", values="effect_size")
    assert not np.isclose(both["small"], both["other"]).any()


def test_batches_measured_one_by_one_join_to_the_table_of_all(tmp_path, batches):
    measured = [tmp_path / f"{number}.tsv" for number in range(len(batches))]
    for batch, table in zip(batches, measured, strict=True):
        write_tsv(table, measure_sets([batch], VOCABULARY, [SMALL, LARGE]))
    whole = measure_sets(batches, VOCABULARY, [SMALL, LARGE])
    assert whole["set"].tolist() == ["baseline"] * 6 + ["random-5-0"] * 2
    assert whole["weat"].tolist() == ["large"] * 3 + ["small"] * 3 + ["large", "small"]
    assert whole["seed"].tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    assert whole["effect_size"][6] == pytest.approx(naive.effect_size(vectors_of(batches[2], 0), *ids(LARGE)))
    write_tsv(tmp_path / "whole.tsv", whole)
    keys = OBSERVED, OBSERVED[:3], ("set", "weat")
    join_tables(tmp_path / "joined.tsv", measured[::-1], *keys)
    assert (tmp_path / "joined.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    join_tables(tmp_path / "none.tsv", [], *keys)
    assert (tmp_path / "none.tsv").read_text() == "set\tweat\tseed\teffect_size\n"
