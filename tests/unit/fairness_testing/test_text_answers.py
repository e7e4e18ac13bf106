import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text import discrimination as answers
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.text.words import Texts
from fairness_text_data import (
    N_WORDS,
    VALUES,
    TanhModel,
    neighbours_of,
    small_subject,
)


@pytest.mark.parametrize("size", [1, 5, 12, 1000])
def test_batches_cover_all_texts_in_order_and_keep_to_the_size(size):
    lengths = np.array([0, 3, 12, 1, 0, 0, 4, 13, 2])
    parts = list(answers.batches(lengths, size))
    assert np.concatenate([np.arange(9)[rows] for rows in parts]).tolist() == list(range(9))
    assert all(lengths[rows].sum() <= size or rows.stop - rows.start == 1 for rows in parts)
    assert (size < 1000) == (len(parts) > 1)


def test_no_texts_make_no_batch_and_no_answer():
    assert list(answers.batches(np.empty(0, np.int64), 5)) == []
    assert answers.probabilities(TanhModel(1), Texts.of([])).shape == (0, 2)


def test_equal_probabilities_have_the_first_label():
    assert answers.labels_of(np.array([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("values", "n_words", "message"),
    [
        (VALUES[:1], N_WORDS, "a feature needs two or more values, each once"),
        (VALUES[[0, 1, 0]], N_WORDS, "a feature needs two or more values, each once"),
        (np.array([3, N_WORDS]), N_WORDS, "a value is not among the 60 words of the lexicon"),
        (np.array([3, -1]), N_WORDS, "a value is not among the 60 words"),
        (np.array([3, 5]), N_WORDS, "a value of the feature is among the neighbours"),
        (VALUES, N_WORDS - 1, "neighbours of 59 words for a lexicon of 60"),
    ],
)
def test_what_cannot_be_tested_is_refused(values, n_words, message):
    model = TanhModel(1)
    with pytest.raises(InputError, match=message):
        TextSubject(model, values, neighbours_of(model.vectors)[:n_words])


def test_free_words_are_no_values_and_have_a_neighbour():
    subject = small_subject()
    free = subject.free(Texts.of([[0, 3, 1], [], [54, 41, 2]]))
    assert free.tolist() == [True, False, True, False, False, True]
