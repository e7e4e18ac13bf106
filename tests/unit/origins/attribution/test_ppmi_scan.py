import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.ppmi import row_sums
from biaslab.origins.attribution.ppmi import differential_bias, ppmi_effect_size
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings
from naive import origins as naive_origins
from properties import examples
from unit.bias.test_measures import indices, sets_of
from unit.embeddings.test_cooccurrence import flat

N_WORDS, WINDOW = 24, 3


WEAT = indices([3, 10], [7, 11], [0, 2], [1, 5])


def scan(documents, weat=WEAT, threads=1):
    x = cooccurrence.count(*flat(documents), N_WORDS, WINDOW)
    return ppmi_effect_size(x, row_sums(x), weat), differential_bias(x, *flat(documents), weat, threads)


def agree(documents, weat=WEAT):
    """Whether the scan is what recounting the pruned corpus and Eq. 4 on its dense PPMI give."""
    baseline, values = scan(documents, weat)
    sets = sets_of(weat)
    assert baseline == pytest.approx(
        naive_bias.effect_size(naive_embeddings.ppmi(documents, N_WORDS, WINDOW), *sets), abs=1e-10
    )
    without = naive_origins.ppmi_effect_sizes_without(documents, N_WORDS, WINDOW, *sets)
    np.testing.assert_allclose(values, baseline - np.array(without), rtol=0, atol=1e-10)
    return values


def corpus(seed, n_documents, low, high):
    """Draw documents of very different lengths, frequent words first, so that columns flip and entries go."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(2, N_WORDS + 2)
    lengths = rng.integers(low, high, n_documents)
    return [rng.choice(N_WORDS, n, p=shares / shares.sum()).tolist() for n in lengths]


def test_every_document_of_a_corpus_equals_brute_force_removal():
    documents = [*corpus(1, 70, 2, 14), [], [3], [3, 3, 3], [23, 22]]  # more than one round of the lanes
    values = agree(documents)
    assert values[70] == values[71] == 0  # without a pair nothing changes
    assert len(set(values)) > 60


@examples(8)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_any_corpus_equals_brute_force_removal(seed, n_documents):
    documents = corpus(seed, n_documents, 1, 150)
    x = cooccurrence.count(*flat(documents), N_WORDS, WINDOW)
    try:
        baseline = ppmi_effect_size(x, row_sums(x), WEAT)
    except InputError:  # a word of the test has no row to begin with
        return
    if np.isfinite(baseline):
        agree(documents)


def test_a_word_may_be_target_and_attribute():
    agree(corpus(4, 12, 10, 60), indices([3, 10, 0], [7, 11], [0, 2], [1, 5, 11]))


def test_a_document_that_alone_holds_a_word_leaves_no_effect_size():
    documents = [*([word for word in d if word != 10] for d in corpus(6, 12, 30, 60)), [10, 3, 4, 10, 9]]
    values = agree(documents)
    assert np.isnan(values[-1])
    assert np.isfinite(values[:-1]).all()


def test_threads_change_no_bit():
    documents = corpus(2, 90, 2, 60)
    np.testing.assert_array_equal(scan(documents, threads=1)[1], scan(documents, threads=2)[1])


def test_a_word_without_a_row_is_named():
    documents = [[word for word in d if word != 11] for d in corpus(3, 12, 30, 60)]
    problem = r"test: the PPMI row of word id 11 \(line 13 of the vocabulary\) is zero"
    with pytest.raises(InputError, match=problem):
        scan(documents)


@pytest.mark.parametrize(
    "other", [lambda d: d[1:], lambda d: [*d, [N_WORDS, 1]], lambda d: [[1, 2, 3], *d[1:]]]
)
def test_counts_of_another_corpus(other):
    documents = corpus(5, 12, 30, 60)
    x = cooccurrence.count(*flat(documents), N_WORDS, WINDOW)
    with pytest.raises(InputError, match="X differs from this corpus"):
        differential_bias(x, *flat(other(documents)), WEAT)
