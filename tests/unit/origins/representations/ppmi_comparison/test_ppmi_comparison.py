import numpy as np
import pytest

from biaslab.bias.weat import effect_size
from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.cooccurrence import read_counts
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.representations.ppmi_comparison import (
    compare_word_sets,
    correlate_word_sets,
    random_word_sets,
)
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings

N_WORDS, WINDOW, SIZES = 30, 8, (3, 3, 2, 4)
WORDS = [f"w{i}" for i in range(N_WORDS)]
VOCABULARY = Vocabulary(WORDS, np.ones(N_WORDS))


@pytest.fixture(scope="module")
def x(small):
    return small.scanner.x


def test_random_tests_have_different_words_with_enough_contexts(small):
    scanner = small.scanner
    x = cooccurrence.count(scanner.tokens, scanner.offsets, N_WORDS + 1, WINDOW)  # the last has no context
    tests = random_word_sets(x, SIZES, 300, 15, 1)
    drawn = np.array([np.concatenate([t.S, t.T, t.A, t.B]) for t in tests])
    assert [len(getattr(tests[0], name)) for name in "STAB"] == list(SIZES)
    assert all(len(set(row)) == sum(SIZES) for row in drawn.tolist())
    assert set(drawn.ravel()) == set(range(N_WORDS))
    np.testing.assert_array_equal(drawn[:10, :3], [t.S for t in random_word_sets(x, SIZES, 10, 15, 1)])
    assert (drawn[0, :3] != random_word_sets(x, SIZES, 1, 15, 2)[0].S).any()


def test_too_few_words(x):
    problem = "a random test requires 12 words with at least 99 contexts, found 0"
    with pytest.raises(InputError, match=problem):
        random_word_sets(x, SIZES, 2, 99, 1)


def test_random_tests_are_measured_in_both(x, small):
    tests = random_word_sets(x, SIZES, 6, 15, 1)
    table = compare_word_sets(small.scanner.batches, x, tests, VOCABULARY)
    matrix = naive_embeddings.ppmi(small.texts(), N_WORDS, WINDOW)
    for k, test in enumerate(tests):
        ppmi = naive_bias.effect_size(matrix, *(getattr(test, name).tolist() for name in "STAB"))
        glove = [effect_size(trained.W, test) for trained in small.trained]
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
    problem = r"x\.npz: the counts have 30 words and the vocabulary has 29; name files of the same corpus"
    with pytest.raises(InputError, match=problem):
        read_counts(tmp_path / "x.npz", Vocabulary(WORDS[:-1], np.ones(N_WORDS - 1)))
