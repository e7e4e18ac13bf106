"""`origins attribute --verify`: the verdict on a test is about that test alone."""

import pandas as pd
import pytest

from biaslab.core.io import write_tsv
from biaslab.origins.pages.attributed import verdict

BEFORE = {"first": [1.0, 1.2], "second": [-5.0, -7.0]}
AFTER = {
    ("a", "first"): [0.5, 0.7],
    ("b", "first"): [9.0, 9.0],
    ("a", "second"): [9.0, 9.0],
    ("b", "second"): [-6.0, -8.0],
}


@pytest.fixture
def folder(tmp_path):
    before = [(test, seed, value) for test, values in BEFORE.items() for seed, value in enumerate(values)]
    after = [
        (name, test, seed, value)
        for (name, test), values in AFTER.items()
        for seed, value in enumerate(values)
    ]
    predicted = [
        (name, test, estimator, 0.9 if (name, test, estimator) == ("a", "first", "newton") else 99)
        for name, test in AFTER
        for estimator in ("newton", "influence")
    ]
    for name, rows, columns in (
        ("baseline", before, ("weat", "seed", "effect_size")),
        ("observed", after, ("set", "weat", "seed", "effect_size")),
        ("predictions", predicted, ("set", "weat", "estimator", "predicted")),
    ):
        write_tsv(tmp_path / f"{name}.tsv", pd.DataFrame(rows, columns=columns))
    return tmp_path


def test_the_change_of_a_test_is_that_of_its_own_set(folder):
    assert "predicted -0.200, trained again -0.500 (-0.500 to -0.500)" in verdict(folder, "first", "a", 3)
    assert "trained again -1.000 (-1.000 to -1.000)" in verdict(folder, "second", "b", 3)
