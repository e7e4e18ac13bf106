"""Drafts of schemas: what they say of a table, and that the table is read by them."""

import pytest

from biaslab.classifiers.drafting import draft
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.schema import Bins, Category, Integer, load_schema
from biaslab.core.errors import InputError


def table(folder, header, rows, separator=","):
    path = folder / "t.csv"
    path.write_text("\n".join(separator.join(map(str, row)) for row in [header, *rows]) + "\n")
    return path


def test_types_bounds_and_values_are_those_of_the_table(tmp_path):
    rows = [
        [i + 1, f"name{i}", i % 7 - 3, i / 8 + 0.25, "no" if i % 3 else "?", "k", '"a, b"', i % 2]
        for i in range(60)
    ]
    header = ["id", "name", "n", "x", "sex", "k", "sex", "good"]
    rows = [[*row[:6], row[6] if row[0] % 4 else "c", row[7]] for row in rows]
    for row in rows:
        row[4] = row[4] if row[0] % 6 else "yes"
        row[4] = "no" if row[4] == "?" and row[0] > 9 else row[4]
    path = table(tmp_path, header, rows)
    found = draft(path, "good")
    (tmp_path / "t.yaml").write_text(found.text)
    schema = load_schema(tmp_path / "t.yaml")
    n, x, sex, second = schema.attributes
    assert n == Integer("n", "n", -3, 3)
    assert isinstance(x, Bins)
    assert x.edges == tuple(sorted(x.edges))
    assert isinstance(sex, Category)
    assert sex.values == ("no", "yes")
    assert (second.name, second.values) == ("sex 2", ("a, b", "c"))
    assert schema.missing == ("?",)
    assert found.left_out == {
        "id": "it counts the rows",
        "name": "it has 60 distinct texts",
        "k": "it has a single value",
    }
    assert (found.protected, found.classes) == (["sex", "sex 2"], ["0", "1"])
    data = read_table(path, schema)
    assert len(data.X) == 60 - data.n_missing > 50


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_seen(tmp_path, separator):
    rows = [[i % 3, "m" if i % 2 else "f", i % 2] for i in range(12)]
    text = draft(table(tmp_path, ["a", "gender", "y"], rows, separator), "y").text
    assert ("separator" in text) == (separator != ",")


@pytest.mark.parametrize(
    ("text", "label", "protected", "problem"),
    [
        ("a,sex,y\n", "y", (), "has no rows"),
        ("a,sex,y\n1,f,0\n2,m,1\n", "Y", (), "no column 'Y'.*did you mean 'y'"),
        ("a,sex,y\n1,f,0\n2,m,0\n", "y", (), "the label 'y' has 1 values"),
        ("a,b,y\n1,f,0\n2,m,1\n", "y", (), "no column has the name of a protected attribute"),
        ("a,sex,y\n1,f,0\n2,f,1\n", "y", ("sex",), "'sex' cannot be .* a single value"),
        ("a,sex,y\n1,f,0\n2,f,1,3\n", "y", (), "row 2: has 4 fields, but the header has 3"),
    ],
)
def test_what_no_schema_can_describe_is_refused(tmp_path, text, label, protected, problem):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        draft(tmp_path / "t.csv", label, protected)


SPELLINGS = ["Baker", "baker ", " BAKER", "rider"]
INCOMES = ["<=50K", "<=50K.", ">50K", ">50K.", "", ">50K"]


def spelled(folder):
    """Return a table of groups and classes that are spelled in several ways, with empty labels."""
    rows = [[i % 7, SPELLINGS[i % 4], "-" if i == 9 else "ab"[i % 2], INCOMES[i % 6]] for i in range(48)]
    return table(folder, ["age", "work", "kind", "income"], rows)


def test_a_draft_counts_rows_that_are_left_out_and_asks_about_values_spelled_in_two_ways(tmp_path):
    found = draft(spelled(tmp_path), "income", ["work"])
    (tmp_path / "t.yaml").write_text(found.text)
    assert read_table(tmp_path / "t.csv", load_schema(tmp_path / "t.yaml")).n_missing == 9
    fragments = (
        "9 of 48 rows are skipped: 8 without a label, 1 in which another value is missing",
        "Skipped rows by work: BAKER 4 of 12, Baker 4 of 12, baker 1 of 12, rider 0 of 12.",
        "24 rows have blanks around a value",
        "work: do 'BAKER', 'Baker', 'baker' mean the same? If so, replace them by {BAKER: [BAKER, Baker",
        "income: do '<=50K', '<=50K.' mean the same? If so, replace them by {<=50K: [<=50K, <=50K.]}",
        "income: do '>50K', '>50K.' mean the same? If so, replace them by {'>50K': ['>50K', '>50K.']}",
    )
    for note, fragment in zip(found.notes, fragments, strict=True):
        assert fragment in note


def test_decimal_commas_are_named(tmp_path):
    path = table(
        tmp_path, ["pay", "sex", "y"], [[f"{i},25", "fm"[i % 2], i // 2 % 2] for i in range(60)], ";"
    )
    found = draft(path, "y")
    assert found.left_out == {"pay": "its numbers have decimal commas (0,25); write decimal points"}
    (tmp_path / "t.yaml").write_text(
        found.text.replace("attributes:", "attributes:\n  - {name: pay, kind: bins, edges: [9]}\n#", 1)
    )
    with pytest.raises(InputError, match=r"pay '0,25' is not a number \(write a decimal point: 0.25\)"):
        read_table(path, load_schema(tmp_path / "t.yaml"))


def test_the_command_never_overwrites(tmp_path, biaslab):
    path = table(tmp_path, ["a", "sex", "y"], [[i, "fm"[i % 2], i // 2 % 2] for i in range(12)])
    for code, said in ((0, "Review the draft"), (2, "the file exists; choose another --out")):
        ended, output, error = biaslab("fairness-testing", "schema", path, "--label", "y")
        assert ended == code
        assert said in output + error
    assert load_schema(tmp_path / "t.yaml").protected == ("sex",)
