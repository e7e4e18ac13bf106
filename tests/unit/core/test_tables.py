"""Tables as written for people, and their columns."""

import re
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core import columns
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.tables import Table, four_digits, text_columns, write_table
from biaslab.run.area import SUFFIXES, TABLE
from biaslab.run.areas import AREAS

DATA = pd.DataFrame(
    {
        "name": ["a|b_c", "50% & [x] <$1>\n\tof", ""],
        "mean": [0.123456789, -1.5, float("nan")],
        "sd": [0.01, 0.25, float("nan")],
    }
)
TEMPLATES = {"Name": "{name}", "Effect": "{mean:.2f} ± {sd:.2f}", "r²": "{mean:.1f}"}


def write(folder, data=DATA, templates=TEMPLATES, title="Effects of x_y", note="Mean ± sd, p < 0.05."):
    write_table(folder / "table9_effects", Table(data, text_columns(data, templates), title, note))
    return {suffix: (folder / f"table9_effects{suffix}").read_text() for suffix in SUFFIXES[TABLE]}


def test_templates_round_and_show_missing_values_as_dashes():
    shown = text_columns(DATA, TEMPLATES)
    assert list(shown.columns) == list(TEMPLATES)
    assert shown["Effect"].tolist() == ["0.12 ± 0.01", "-1.50 ± 0.25", "– ± –"]
    assert shown["Name"][0] == "a|b_c"


def test_tsv_keeps_full_precision_and_machine_names(tmp_path):
    write(tmp_path)
    pd.testing.assert_frame_equal(
        read_tsv(tmp_path / "table9_effects.tsv"), DATA.replace("", None), check_dtype=False
    )


def test_markdown_has_one_line_a_row_and_no_stray_markup(tmp_path):
    text = write(tmp_path)[".md"]
    lines = text.splitlines()
    assert lines[0] == "**Effects of x\\_y**"
    assert lines[2] == "| Name | Effect | r² |"
    assert lines[3] == "|:---|---:|---:|"
    assert lines[4] == "| a\\|b\\_c | 0.12 ± 0.01 | 0.1 |"
    assert lines[5].startswith("| 50% & \\[x\\] \\<\\$1\\> of |")
    assert lines[-1] == "Mean ± sd, p \\< 0.05."
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines[2:7])


def test_latex_is_escaped_and_uses_booktabs(tmp_path):
    text = write(tmp_path)[".tex"]
    assert "\\toprule" in text
    assert "\\bottomrule" in text
    assert "\\begin{tabular}{lrr}" in text
    assert "\\label{tab:table9-effects}" in text
    assert "\\caption{Effects of x\\_y. Mean $\\pm$ sd, p \\textless{} 0.05.}" in text
    assert "r$^2$" in text
    row = r"50\% \& {[}x{]} \textless{}\$1\textgreater{} of & -1.50"
    assert any(line.startswith(row) for line in text.splitlines())
    assert not re.search(r"(?<!\\)[%#]", text)
    long = pd.DataFrame({"name": ["word " * 20] * 60, "mean": 1.0, "sd": 0.0})
    assert "\\begin{longtable}{p{0.70\\linewidth}rr}" in write(tmp_path, long)[".tex"]


def test_an_empty_table_is_written(tmp_path):
    files = write(tmp_path, DATA[:0], note="Nothing there.")
    assert files[".tsv"] == "name\tmean\tsd\n"
    assert "| Name | Effect | r² |" in files[".md"]
    assert "Nothing there." in files[".md"]
    assert "\\begin{tabular}{lll}" in files[".tex"]


def test_what_rounds_to_zero_has_no_sign(tmp_path):
    table = pd.DataFrame({"x": [-0.0, -0.0004, -0.004]})
    assert text_columns(table, {"X": "{x:.2f}"})["X"].tolist() == ["0.00", "0.00", "0.00"]
    assert text_columns(table, {"X": "{x:.3f}"})["X"].tolist() == ["0.000", "0.000", "-0.004"]
    assert [four_digits(x) for x in (-0.0, 0.0, -0.0004, -10.0)] == ["0", "0", "-0.0004", "-10"]
    write_tsv(tmp_path / "a.tsv", table)
    assert (tmp_path / "a.tsv").read_text() == "x\n0\n-0.0004\n-0.004\n"


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
