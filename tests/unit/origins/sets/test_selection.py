import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.sets.selection import members, select_sets

BIAS = {"weat1": np.array([0.3, -0.5, 0.0, 0.9, -0.1]), "weat2": np.array([0.0, 0.0, 1.0, 0.0, -1.0])}


def test_targeted_sets_are_the_tails():
    sets = members(select_sets(BIAS, [1, 2], [], 0, 1))
    assert sets["weat1-decrease-1"].tolist() == [3]
    assert sets["weat1-decrease-2"].tolist() == [0, 3]
    assert sets["weat1-increase-2"].tolist() == [1, 4]
    assert sets["weat2-increase-2"].tolist() == [0, 4]  # of equal documents the first goes first
    assert sets["weat2-decrease-2"].tolist() == [0, 2]


def test_random_sets_repeat_with_the_seed():
    table = select_sets(BIAS, [1], [2, 3], 4, 1)
    random = table[table["kind"] == "random"]
    assert random.groupby("set").size().to_dict() == {f"random-{n}-{r}": n for n in (2, 3) for r in range(4)}
    assert set(random["weat"]) == {""}
    assert not random.duplicated(["set", "document"]).any()
    assert table.equals(select_sets(BIAS, [1], [2, 3], 4, 1))
    other = select_sets(BIAS, [1], [2, 3], 4, 2)
    assert not random["document"].equals(other[other["kind"] == "random"]["document"])


def test_random_documents_are_uniform():
    sets = select_sets({"weat1": np.arange(10.0)}, [], [3], 400, 1)
    counts = np.bincount(sets["document"], minlength=10)
    assert np.all(np.abs(counts - 120) < 50)


def test_more_documents_than_the_corpus_has():
    with pytest.raises(InputError, match="a set of 6 documents from 5"):
        select_sets(BIAS, [6], [], 0, 1)
    with pytest.raises(InputError, match="a set of 9 documents from 5"):
        select_sets(BIAS, [1], [9], 1, 1)


def test_an_estimate_that_is_not_a_number():
    with pytest.raises(InputError, match="weat1: document 1 has no estimate"):
        select_sets({"weat1": np.array([0.0, np.nan])}, [1], [], 0, 1)


def test_unknown_set():
    with pytest.raises(InputError, match="no perturbation set 'weat1-decrease-7'"):
        members(select_sets(BIAS, [1], [], 0, 1), ["weat1-decrease-7"])
