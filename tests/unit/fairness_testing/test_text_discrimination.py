import numpy as np
import pytest

from biaslab.fairness_testing.text import discrimination
from biaslab.fairness_testing.text.discrimination import check, count_flips
from biaslab.text.words import Texts
from fairness_text_data import VALUES, AnsweringModel, random_texts, small_subject
from naive import fairness_text as naive

SENSITIVE = VALUES.tolist()


def rows(texts):
    return [row.tolist() for row in texts]


@pytest.mark.parametrize("seed", range(2))
def test_check_equals_the_algorithm(seed):
    subject, texts = small_subject(seed), random_texts(60, seed)
    found, model = check(subject, texts), subject.model
    assert 0 < found.discriminatory.sum() < (found.replaced >= 0).sum() < 60
    for i, x in enumerate(rows(texts)):
        assert found.labels[i] == naive.label(model, x)
        assert found.discriminatory[i] == naive.is_discriminatory(model, x, SENSITIVE)
        partner = naive.partner(model, x, SENSITIVE) or (x, -1, -1)
        assert (found.partners.row(i).tolist(), found.replaced[i], found.value[i]) == partner
        assert found.n_queries[i] == 1 + len(list(naive.variants(x, SENSITIVE)))


@pytest.mark.parametrize(("n_words", "n_texts"), [(1, 1), (7, 3), (30, 1000)])
def test_no_answer_depends_on_the_size_of_batches(monkeypatch, n_words, n_texts):
    subject, texts = small_subject(2), random_texts(40, 2)
    whole = check(subject, texts)
    monkeypatch.setattr(discrimination, "WORDS", n_words)
    monkeypatch.setattr(discrimination, "_BLOCK", n_texts)
    cut = check(subject, texts)
    for name in ("labels", "discriminatory", "replaced", "value", "n_queries"):
        assert getattr(whole, name).tobytes() == getattr(cut, name).tobytes()


def test_partner_is_the_first_of_equal_ones():
    """Equal outputs throughout: the first sensitive word of a text, and its first other value."""
    subject = small_subject(model=AnsweringModel(lambda texts: np.full((len(texts), 2), 0.5)))
    found = check(subject, Texts.of([[1, 10, 3], [3, 10], [5]]))
    assert (found.replaced.tolist(), found.value.tolist()) == ([10, 3, -1], [3, 17, -1])


def test_partner_flips_the_label_even_where_another_variant_is_farther():
    """The first word decides: one value flips the label narrowly, another agrees with it far more."""
    table = {3: 0.55, 17: 0.49, 10: 0.99, 41: 0.55, 30: 0.55}

    def probabilities(texts):
        p = np.array([table[int(row[0])] for row in texts])
        return np.stack([p, 1 - p], axis=1)

    subject = small_subject(model=AnsweringModel(probabilities))
    found = check(subject, Texts.of([[3, 1], [17, 1]]))
    assert (found.replaced.tolist(), found.value.tolist()) == ([3, 17], [17, 10])
    table[17] = 0.6
    assert check(subject, Texts.of([[3, 1]])).value.tolist() == [10]


def test_no_texts_are_checked():
    found = check(small_subject(), Texts.of([]))
    assert len(found.labels) == len(found.partners) == 0
    assert np.array_equal(count_flips(small_subject(), Texts.of([])), np.zeros((2, 5)))
    assert list(discrimination.batches(np.empty(0, np.int64), 5)) == []
    assert discrimination.probabilities(small_subject().model, Texts.of([])).shape == (0, 2)


@pytest.mark.parametrize("block", [7, 4096])
def test_flips_equal_a_count_text_by_text(monkeypatch, block):
    monkeypatch.setattr(discrimination, "_BLOCK", block)
    subject, texts = small_subject(3), random_texts(80, 3)
    counts = np.stack(count_flips(subject, texts), axis=1)
    expected = naive.flips(subject.model, [row.tolist() for row in texts], VALUES.tolist())
    assert np.array_equal(counts, expected)
    assert (counts > 0).all()


@pytest.mark.parametrize("size", [1, 5, 12, 1000])
def test_batches_cover_all_texts_in_order_and_keep_to_the_size(size):
    lengths = np.array([0, 3, 12, 1, 0, 0, 4, 13, 2])
    parts = list(discrimination.batches(lengths, size))
    assert np.concatenate([np.arange(9)[rows] for rows in parts]).tolist() == list(range(9))
    assert all(lengths[rows].sum() <= size or rows.stop - rows.start == 1 for rows in parts)
    assert (size < 1000) == (len(parts) > 1)


def test_equal_probabilities_have_the_first_label():
    assert discrimination.labels_of(np.array([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]])).tolist() == [0, 1, 0]


def test_free_words_are_no_values_and_have_a_neighbour():
    is_free = small_subject().is_free[[0, 3, 1, 54, 41, 2]]
    assert is_free.tolist() == [True, False, True, False, False, True]
