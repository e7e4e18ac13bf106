import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.origins.checks.ppmi_sets.analysis import select_ppmi_sets, write_ppmi_sets
from biaslab.origins.checks.ppmi_sets.report import compare_identification
from biaslab.origins.sets.selection import members
from origins_data import copy_setup, make_setups

PPMI = np.array([0.3, np.nan, -0.5, 0.9, -0.1])


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("origins"), {"wiki": {}})[0]


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


def test_table_5_compares_both_ways_to_find_documents(setup):
    table = compare_identification(setup)
    assert table.data[["weat", "objective", "size"]].to_numpy().tolist() == [
        ["weat1", "correct", 10],
        ["weat1", "aggravate", 10],
    ]
    row = table.data.iloc[0]
    baseline, observed = (read_tsv(setup.folder / f"{name}.tsv") for name in ("baseline", "observed"))
    base = baseline.loc[baseline["weat"] == "weat1", "effect_size"].mean()
    after = observed.loc[observed["set"] == "weat1-decrease-10", "effect_size"].mean()
    assert row["method_change"] == pytest.approx(100 * (after - base) / base)
    assert row["method_change_ci_low"] < row["method_change"] < row["method_change_ci_high"] < 0
    assert row["method_change"] < row["ppmi_change"]
    assert row["method_retrainings"] == row["ppmi_retrainings"] == 10
    ours, theirs = (read_parquet(setup.folder / p / "perturbation_sets.parquet") for p in ("", "ppmi"))
    of_ours = set(ours.loc[ours["set"] == "weat1-decrease-10", "document"])
    assert row["n_shared"] == len(of_ours & set(theirs.query("kind == 'decrease'")["document"]))


def test_rows_have_the_papers_order(setup, tmp_path):
    copied = copy_setup(setup, tmp_path)
    for path in ("", "ppmi"):
        folder = copied.folder / path
        sets, observed = read_parquet(folder / "perturbation_sets.parquet"), read_tsv(folder / "observed.tsv")
        more = [t.assign(set=t["set"].str.replace("-10", "-30")) for t in (sets, observed)]
        more[0]["size"] = 30
        write_parquet(folder / "perturbation_sets.parquet", pd.concat([sets, more[0]]))
        write_tsv(folder / "observed.tsv", pd.concat([observed, more[1]]))
    data = compare_identification(copied).data
    assert list(zip(data["objective"], data["size"], strict=True)) == [
        ("correct", 30),
        ("correct", 10),
        ("aggravate", 10),
        ("aggravate", 30),
    ]


def test_without_sets_by_ppmi_the_table_says_so(setup, tmp_path):
    copied = copy_setup(setup, tmp_path)
    write_parquet(copied.folder / "ppmi/perturbation_sets.parquet", select_ppmi_sets(PPMI, "weat1", []))
    table = compare_identification(copied)
    assert table.data.empty
    assert "ppmi_change" in table.data
    assert table.note == "The setup has no sets by PPMI."
