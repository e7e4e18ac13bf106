"""The columns of an area's tables are what its table of them says, and every such table can be read."""

from pathlib import Path

import pytest

from biaslab.core import columns
from biaslab.run.areas import AREAS

PACKAGE = Path(columns.__file__).parents[1]
PACKAGES = sorted(".".join(file.parent.relative_to(PACKAGE).parts) for file in PACKAGE.rglob("columns.tsv"))
SAID = [
    ["one.tsv, other.tsv", "a, b", "both files have them"],
    ["one.tsv, other.tsv", "c_TEST, d", "of every test one, and another"],
    ["one.tsv, other.tsv", "`e`, of some files alone", "not every file has it"],
    ["KIND/one.tsv", "as `one.tsv`", "in a folder"],
    ["arrays.npz", "x, y", "no table"],
    ["rows.parquet", "row", "a table, too"],
    ["part/two-B.tsv", "f", "in a folder of its own"],
]


def test_columns_are_those_that_every_table_has(tmp_path):
    path = tmp_path / "columns.tsv"
    lines = ["\t".join(row) for row in (["file", "columns", "meaning"], *SAID)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    both = ("a", "b", "d")
    assert columns.columns_of(path) == {"one": both, "other": both, "rows": ("row",), "part/two-B": ("f",)}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_column_of_an_area_has_a_meaning_and_stands_once_in_its_table(package):
    assert all(meaning for groups in columns.said(package).values() for meaning in groups.values())
    for table, names in columns.columns_of(PACKAGE.joinpath(*package.split("."), columns.FILE)).items():
        assert names, table
        assert len(set(names)) == len(names), table


@pytest.mark.parametrize("area", [*AREAS, "audit"])
def test_every_area_says_its_columns(area):
    assert area in PACKAGES
