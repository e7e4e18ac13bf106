import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.sets.selection import members, select_ppmi_sets

PPMI = np.array([0.3, np.nan, -0.5, 0.9, -0.1])


def test_sets_are_the_tails_of_those_documents_that_have_a_value():
    sets = members(select_ppmi_sets(PPMI, "weat1", [1, 4]))
    assert {name: documents.tolist() for name, documents in sets.items()} == {
        "ppmi-weat1-increase-1": [2],
        "ppmi-weat1-increase-4": [0, 2, 3, 4],
        "ppmi-weat1-decrease-1": [3],
        "ppmi-weat1-decrease-4": [0, 2, 3, 4],
    }


def test_a_set_of_more_documents_than_have_a_value():
    with pytest.raises(InputError, match="a set of 5 documents from 4 with a differential bias by PPMI"):
        select_ppmi_sets(PPMI, "weat1", [1, 5])


def test_no_sizes_give_a_table_without_rows():
    for sizes, n_rows in (([1], 2), ([], 0)):
        table = select_ppmi_sets(PPMI, "weat1", sizes)
        assert list(table) == ["set", "weat", "kind", "size", "replicate", "document"]
        assert len(table) == n_rows
