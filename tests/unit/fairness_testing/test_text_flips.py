import numpy as np
import pytest

from biaslab.core.stats import share_interval
from biaslab.fairness_testing.text import discrimination
from biaslab.fairness_testing.text.flips import count_flips, flip_table
from biaslab.text.words import Texts
from fairness_text_data import VALUES, blind_model, random_texts, small_subject
from naive import fairness_text as naive


@pytest.mark.parametrize("block", [7, 4096])
def test_flips_equal_a_count_text_by_text(monkeypatch, block):
    monkeypatch.setattr(discrimination, "_BLOCK", block)
    subject, texts = small_subject(3), random_texts(80, 3)
    flips = count_flips(subject, texts)
    expected = naive.flips(subject.model, [row.tolist() for row in texts], VALUES.tolist())
    counts = (flips.with_term, flips.flipped_without, flips.without_term, flips.flipped_with)
    assert np.array_equal(np.stack(counts, axis=1), expected)
    assert (np.array(expected) > 0).all()


def test_classifier_that_ignores_the_feature_flips_nothing():
    flips = count_flips(small_subject(model=blind_model(1)), random_texts(80, 3))
    assert flips.with_term.any()
    assert not flips.flipped_without.any()
    assert not flips.flipped_with.any()


def test_no_texts_flip_nothing():
    flips = count_flips(small_subject(), Texts.of([]))
    assert flips.with_term.tolist() == flips.flipped_with.tolist() == [0] * 5


def test_table_has_shares_with_intervals():
    table = flip_table(["north", "south", "east"], np.array([4, 0, 9]), np.array([1, 0, 9]), "term")
    assert list(table.columns) == ["term", "n_texts", "n_flips", "share", "ci_low", "ci_high"]
    assert table["term"].tolist() == ["north", "south", "east"]
    assert np.allclose(table["share"], [0.25, np.nan, 1.0], equal_nan=True)
    assert table.loc[0, ["ci_low", "ci_high"]].tolist() == list(share_interval(1, 4))
    assert table.loc[1, ["ci_low", "ci_high"]].isna().all()
