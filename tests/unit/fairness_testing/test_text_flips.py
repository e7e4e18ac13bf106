import numpy as np
import pytest

from biaslab.fairness_testing.text import discrimination
from biaslab.fairness_testing.text.discrimination import count_flips
from biaslab.text.words import Texts
from fairness_text_data import VALUES, random_texts, small_subject
from naive import fairness_text as naive


@pytest.mark.parametrize("block", [7, 4096])
def test_flips_equal_a_count_text_by_text(monkeypatch, block):
    monkeypatch.setattr(discrimination, "_BLOCK", block)
    subject, texts = small_subject(3), random_texts(80, 3)
    counts = np.stack(count_flips(subject, texts), axis=1)
    expected = naive.flips(subject.model, [row.tolist() for row in texts], VALUES.tolist())
    assert np.array_equal(counts, expected)
    assert (counts > 0).all()


def test_no_texts_flip_nothing():
    assert np.array_equal(count_flips(small_subject(), Texts.of([])), np.zeros((2, 5)))
