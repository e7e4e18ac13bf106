"""The columns of an area's tables are what its table of them says, and every such table can be read."""

from pathlib import Path

import pytest

from biaslab.core import columns

PACKAGE = Path(columns.__file__).parents[1]
PACKAGES = sorted(".".join(file.parent.relative_to(PACKAGE).parts) for file in PACKAGE.rglob("columns.tsv"))
SAID = [
    ["one.tsv, other.tsv", "a, b", "both files have them"],
    ["one.tsv, other.tsv", "c_TEST, d", "of every test one, and another"],
    ["one.tsv, other.tsv", "`e`, of some files alone", "not every file has it"],
    ["KIND/one.tsv", "as `one.tsv`", "in a folder"],
    ["arrays.npz", "x, y", "no table"],
    ["rows.parquet", "row", "a table, too"],
]


def test_columns_are_those_that_every_table_has(tmp_path, monkeypatch):
    folder = tmp_path / "area/part"
    folder.mkdir(parents=True)
    lines = ["\t".join(row) for row in (["file", "columns", "meaning"], *SAID)]
    (folder / "columns.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(columns, "__file__", str(tmp_path / "core/columns.py"))
    both = ("a", "b", "d")
    assert columns.columns_of("area.part") == {"one": both, "other": both, "rows": ("row",)}
    assert columns.said("area.part")["KIND/one.tsv"] == {"as `one.tsv`": "in a folder"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_column_of_an_area_has_a_meaning_and_stands_once_in_its_table(package):
    assert all(meaning for groups in columns.said(package).values() for meaning in groups.values())
    for table, names in columns.columns_of(package).items():
        assert names, table
        assert len(set(names)) == len(names), table


def test_the_areas_that_say_their_columns_are_these():
    assert {"debiasing", "fairness_testing", "fairness_testing.text", "hate_speech", "ranking"} <= set(
        PACKAGES
    )
