import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet
from biaslab.origins.checks.ppmi_sets.analysis import select_ppmi_sets, write_ppmi_sets
from biaslab.origins.sets.selection import members

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


def test_no_sizes_give_a_table_without_rows(tmp_path):
    write_parquet(tmp_path / "weat1.parquet", select_ppmi_sets(PPMI, "weat1", [1]).assign(ppmi=0.5))
    for sizes, n_rows in (([1], 2), ([], 0)):
        write_ppmi_sets(tmp_path / "weat1.parquet", tmp_path / "sets.parquet", sizes)
        table = read_parquet(tmp_path / "sets.parquet")
        assert list(table) == ["set", "weat", "kind", "size", "replicate", "document"]
        assert len(table) == n_rows
