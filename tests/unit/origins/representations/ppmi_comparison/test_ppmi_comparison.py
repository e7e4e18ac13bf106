import numpy as np
import pytest

from biaslab.bias.weat import effect_size
from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.cooccurrence import read_counts
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.representations.ppmi_comparison import (
    compare_word_sets,
    correlate_word_sets,
    random_word_sets,
)
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings

N_WORDS, WINDOW, SIZES = 40, 5, (3, 3, 2, 4)
WORDS = [f"w{i}" for i in range(N_WORDS)]
VOCABULARY = Vocabulary(WORDS, np.ones(N_WORDS))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(8)
    tokens = rng.permutation(np.arange(900) % (N_WORDS - 1)).astype(np.int32)  # ids by falling count
    tokens[np.flatnonzero(tokens == N_WORDS - 2)[0]] = N_WORDS - 1  # a word with 10 contexts at most
    return tokens, np.arange(0, 901, 90)


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, WINDOW)


@pytest.fixture(scope="module")
def batches(x, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "baseline" / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(4, 2), "baseline", [0, 1], 1, path, 1e9)
    write_trainings(path, [0, 1], trained, True, VOCABULARY.digest)
    return [path], [training.W for training in trained]


def test_random_tests_have_different_words_with_enough_contexts(x):
    tests = random_word_sets(x, SIZES, 300, 15, 1)
    drawn = np.array([np.concatenate([t.S, t.T, t.A, t.B]) for t in tests])
    assert [len(getattr(tests[0], name)) for name in "STAB"] == list(SIZES)
    assert all(len(set(row)) == sum(SIZES) for row in drawn.tolist())
    assert set(drawn.ravel()) == set(range(N_WORDS - 1))
    np.testing.assert_array_equal(drawn[:10, :3], [t.S for t in random_word_sets(x, SIZES, 10, 15, 1)])
    assert (drawn[0, :3] != random_word_sets(x, SIZES, 1, 15, 2)[0].S).any()


def test_too_few_words(x):
    with pytest.raises(
        InputError, match="a random test requires 12 words with at least 99 contexts, found 0"
    ):
        random_word_sets(x, SIZES, 2, 99, 1)


def test_random_tests_are_measured_in_both(x, corpus, batches):
    tests = random_word_sets(x, SIZES, 6, 15, 1)
    table = compare_word_sets(batches[0], x, tests, VOCABULARY)
    documents = [corpus[0][k : k + 90].tolist() for k in range(0, 900, 90)]
    matrix = naive_embeddings.ppmi(documents, N_WORDS, WINDOW)
    for k, test in enumerate(tests):
        ppmi = naive_bias.effect_size(matrix, *(getattr(test, name).tolist() for name in "STAB"))
        glove = [effect_size(W, test) for W in batches[1]]
        assert table["ppmi"][k] == pytest.approx(ppmi, abs=1e-10)
        assert table["glove_mean"][k] == pytest.approx(np.mean(glove))
        assert table["glove_sd"][k] == pytest.approx(np.std(glove, ddof=1))
        assert table["A"][k] == ",".join(WORDS[i] for i in test.A)
    fit = correlate_word_sets(table, "ppmi", 1).iloc[0]
    assert fit["n_sets"] == 6
    assert fit["r2"] == pytest.approx(naive_bias.r_squared(table["ppmi"], table["glove_mean"]))
    assert fit["r2_ci_low"] <= fit["r2_ci_high"]


def test_counts_of_other_words_are_refused(x, tmp_path):
    cooccurrence.write(tmp_path / "x.npz", x, VOCABULARY.digest)
    assert read_counts(tmp_path / "x.npz", VOCABULARY).n_words == N_WORDS
    problem = r"x\.npz: the counts have 40 words and the vocabulary has 39; name files of the same corpus"
    with pytest.raises(InputError, match=problem):
        read_counts(tmp_path / "x.npz", Vocabulary(WORDS[:-1], np.ones(N_WORDS - 1)))
