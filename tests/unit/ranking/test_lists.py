"""Reading lists, writing them, and every bad line."""

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.ranking.lists import Columns, ListFile, check_output, write_ranked
from refusals import refused

COLUMNS = Columns("score", ("sex", "age"), "query", "fit")
ROWS = [
    ("a", "1.5", "f", "old", "yes"),
    ("a", "2", "m", "old", "No"),
    ("a", "-3e-1", "f", "new", "1"),
    ("b", "0", "f", "old", "false"),
    ("c", "7", "m", "new", "TRUE"),
    ("c", "7", "m", "old", "0"),
]


def write(path, rows=ROWS, header=("query", "score", "sex", "age", "fit")):
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([header, *rows])
    return path


def read(path, columns=COLUMNS):
    return ListFile(path, columns).lists


@pytest.mark.parametrize("name", ["c.csv", "c.tsv"])
def test_columns_become_arrays(tmp_path, name):
    lists = read(write(tmp_path / name))
    assert lists.queries == ["a", "b", "c"]
    assert lists.offsets.tolist() == [0, 3, 4, 6]
    assert lists.scores.tolist() == [1.5, 2.0, -0.3, 0.0, 7.0, 7.0]
    assert lists.names == ["f|new", "f|old", "m|new", "m|old"]
    assert lists.values.tolist() == [1, 3, 0, 1, 2, 3]
    assert lists.qualified.tolist() == [True, False, True, False, True, False]


def test_blocks_of_a_text_file_change_no_list(tmp_path, monkeypatch):
    path = write(tmp_path / "c.csv", [(f"q{i // 7}", i, "fm"[i % 2], "old", "1") for i in range(100)])
    monkeypatch.setattr("biaslab.ranking.lists.BLOCK_BYTES", 40)
    lists = read(path)
    assert lists.queries == [f"q{i}" for i in range(15)]
    assert np.diff(lists.offsets).tolist() == [7] * 14 + [2]
    assert lists.scores.tolist() == list(range(100))
    assert lists.table.column("score").num_chunks > 5


def test_without_a_query_the_file_is_one_list(tmp_path):
    lists = read(write(tmp_path / "c.csv"), Columns("score", ("sex",)))
    assert (lists.queries, lists.offsets.tolist(), lists.names) == ([""], [0, 6], ["f", "m"])
    assert lists.qualified is None


@pytest.mark.parametrize("dictionary", [False, True])
def test_parquet_types(tmp_path, dictionary):
    table = pd.DataFrame({"q": [1, 1, 2], "s": [1, 2, 3], "a": ["x", "y", "x"], "f": [True, False, True]})
    if dictionary:
        table["a"] = table["a"].astype("category")
    table.to_parquet(tmp_path / "c.parquet")
    lists = read(tmp_path / "c.parquet", Columns("s", ("a",), "q", "f"))
    assert lists.queries == ["1", "2"]
    assert lists.scores.tolist() == [1.0, 2.0, 3.0]
    assert lists.qualified.tolist() == [True, False, True]


def copied(source, out):
    file = ListFile(source, Columns("score", ("a",)))
    check_output(out, file)
    table = file.lists.table
    zeros = pa.array(np.zeros(len(table), np.int64))
    write_ranked(out, table.append_column("rank", zeros).append_column("old_rank", zeros), file)
    return out


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@given(texts=st.lists(TEXT, min_size=1, max_size=5), suffix=st.sampled_from(["csv", "tsv"]))
def test_any_text_survives(tmp_path_factory, texts, suffix):
    folder = tmp_path_factory.mktemp("text")
    path, rows = folder / f"c.{suffix}", [["1.50", "x", text, ""] for text in texts]
    write(path, rows, ["score", "a", 'te,"x\tt', "empty"])
    with copied(path, folder / "out.csv").open(newline="") as file:
        header, *found = csv.reader(file)
    assert header == ["score", "a", 'te,"x\tt', "empty", "rank", "old_rank"]
    assert found == [[*row, "0", "0"] for row in rows]


def test_parquet_keeps_types_and_text_keeps_text(tmp_path):
    table = pa.table({"score": [1, 2], "a": ["x", "y"], "n": pa.array([None, 2.5]), "l": [[1], [2]]})
    pq.write_table(table, tmp_path / "c.parquet")
    out = pq.read_table(copied(tmp_path / "c.parquet", tmp_path / "out.parquet"))
    assert out.select(table.column_names).equals(table)
    pq.write_table(table.drop_columns("l"), tmp_path / "flat.parquet")
    text = copied(tmp_path / "flat.parquet", tmp_path / "out.tsv").read_text()
    assert text == "score\ta\tn\trank\told_rank\n1\tx\t\t0\t0\n2\ty\t2.5\t0\t0\n"
    write(tmp_path / "c.csv", [["1.50", "x"]], ["score", "a"])
    out = pq.read_table(copied(tmp_path / "c.csv", tmp_path / "typed.parquet"))
    assert out.to_pylist() == [{"score": 1.5, "a": "x", "rank": 0, "old_rank": 0}]


def changed(row, column, value):
    rows = [list(r) for r in ROWS]
    rows[row][column] = value
    return rows


BAD_ROWS = {
    r"c\.csv:3: the score 'high' is not a finite number": changed(1, 1, "high"),
    r"c\.csv:3: the score '1e308' is not a finite number of at most 1e\+100": changed(1, 1, "1e308"),
    r"c\.csv:4: the score 'nan' is not a finite": changed(2, 1, "nan"),
    r"c\.csv:7: the sex is missing": changed(5, 2, ""),
    r"c\.csv:3: the query is missing": changed(1, 0, ""),
    r"c\.csv:3: the fit 'maybe' is neither yes nor no": changed(1, 4, "maybe"),
    r"c\.csv:7: the list 'a' continues after another list began; sort the file by 'query'": changed(
        5, 0, "a"
    ),
    r"c\.csv:6: the sex 'm\|f' contains '\|'": changed(4, 2, "m|f"),
    r"c\.csv:4: Expected 5 columns, got 2": [*ROWS[:2], ("a", "2"), *ROWS[3:]],
}


@pytest.mark.parametrize("message", BAD_ROWS)
def test_bad_row_is_named(tmp_path, monkeypatch, message):
    monkeypatch.setattr("biaslab.ranking.lists.BLOCK_BYTES", 64)
    with refused(message):
        read(write(tmp_path / "c.csv", BAD_ROWS[message]))


@pytest.mark.parametrize("line", ['2,f,"open', '2,"f,open', '"2,f,open'])
def test_a_quote_that_is_left_open_is_named_where_it_begins(tmp_path, monkeypatch, line):
    rows = "".join(f"{i},f,note\n" for i in range(20))
    path = tmp_path / "c.csv"
    path.write_text(f"score,sex,note\n1,f,\n\n{line}\n{rows}")
    with refused(r'c\.csv:4: a quote is not closed; close it, or write "" for a quote'):
        read(path, Columns("score", ("sex",)))
    with monkeypatch.context() as patch:
        patch.setattr("biaslab.ranking.lists.BLOCK_BYTES", 64)
        with refused(r"longer than 64 bytes; .* or close the open quote"):
            read(path, Columns("score", ("sex",)))
    path.write_text('score,sex,note\n1,f,"two\n"\n')
    assert read(path, Columns("score", ("sex",))).values.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.csv", b'query,score,sex,age,fit\n1,1,f,"two\nlines",1\n\n2,1,m,,1\n', r"c\.csv:5: the age is"),
        ("c.csv", None, "the file does not exist"),
        ("c.csv", b"", "the file is empty"),
        ("c.csv", b"query,score,sex,age,fit\n", "has no candidates"),
        ("c.csv", b"query,Score,sex,age,fit\n", r"column 'score' is missing .*did you mean 'Score'"),
        ("c.csv", b"query,score,sex,sex,fit\n", "column 'sex' is repeated"),
        ("c.csv", b"query,score,sex,age,fit\na,1,f,\xff,1\n", r"c\.csv:2: .*invalid UTF8"),
        ("c.xlsx", b"", r"unknown file type; name a \.csv"),
        ("c.parquet", b"no parquet", "not a readable table"),
        ("c.parquet", {"sex": ["x", None]}, "row 2: the sex is missing"),
        ("c.parquet", {"score": ["1", "x"]}, "row 2: the score 'x' is not a finite number"),
        ("c.parquet", {"score": [[1], [2]]}, r"the column 'score' has no numbers \(list"),
        ("c.parquet", {"age": [[1], [2]]}, r"the column 'age' cannot be read as text \(list"),
    ],
)
def test_bad_file_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    if isinstance(content, dict):
        texts = {column: ["1", "1"] for column in ("query", "sex", "age", "fit")}
        pq.write_table(pa.table(texts | {"score": [1.0, 2.0]} | content), path)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(error.value).startswith(str(path))


def test_attributes_have_different_names_and_not_too_many_values(tmp_path):
    with refused("an attribute is named twice"):
        ListFile(write(tmp_path / "c.csv"), Columns("score", ("sex", "sex")))
    many = [("a", "1", f"value {i}", "old", "1") for i in range(1001)]
    with refused("sex x age has more than 1000 values"):
        read(write(tmp_path / "many.csv", many))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"score": [1], "a": ["x"], "l": [[1]]}, "column 'l' cannot be written as text"),
        (
            {"score": [1], "a": ["x"], "old_rank": [1]},
            "the column 'old_rank' would appear twice in the output",
        ),
    ],
)
def test_columns_that_cannot_be_written_are_refused(tmp_path, table, message):
    pq.write_table(pa.table(table), tmp_path / "c.parquet")
    with refused(message):
        copied(tmp_path / "c.parquet", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("unknown", ["?", ""])
def test_unknown_values_are_no_values(tmp_path, unknown):
    rows = [*ROWS[:2], ("a", "1", unknown, "old", "1"), ("b", "2", "f", unknown, "1"), *ROWS[4:]]
    path = write(tmp_path / "c.csv", rows)
    columns = Columns("score", ("sex", "age"), "query", unknown=(unknown,))
    lists = read(path, columns)
    assert lists.names == ["f|old", "m|new", "m|old"]
    assert lists.values.tolist() == [0, 2, -1, -1, 1, 2]
    everything = read(write(tmp_path / "d.csv", [("a", "1", unknown, "old", "1")]), columns)
    assert (everything.names, everything.values.tolist()) == ([], [-1])


def write_groups(path, groups):
    return write(path, [(i, group) for i, group in enumerate(groups)], ("score", "sex"))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["f", "m", "F", "f "], "sex: 'F', 'f' and 'f ' differ by case, blanks or a final stop alone; write"),
        (["f", "m.", "F", "m"], r"'F' and 'f' \(likewise 'm' and 'm\.'\) differ by case"),
        (["f", "nan", "m", " ?"], r"' \?' and 'nan' probably stand .*\(--unknown ' \?' --unknown nan\)"),
        (["f", "f", "f", "NA"], r"'NA' probably stands for a missing value; .* \(--exact-values\)"),
    ],
)
def test_doubtful_groups_are_refused(tmp_path, groups, message):
    with refused(message):
        read(write_groups(tmp_path / "c.csv", groups), Columns("score", ("sex",)))


def test_doubtful_groups_are_kept_or_unknown_on_demand(tmp_path):
    path = write_groups(tmp_path / "c.csv", ["f", "F", "nan", "m", "?"])
    exact = Columns("score", ("sex",), exact=True)
    assert read(path, exact).names == ["?", "F", "f", "m", "nan"]
    path = write_groups(tmp_path / "c.csv", ["f", "f", "nan", "m", "?"])
    unknown = Columns("score", ("sex",), unknown=("nan", "?"))
    assert read(path, unknown).values.tolist() == [0, 0, -1, 1, -1]
    rows = [("1", "f", "old"), ("2", "m", "Old"), ("3", "f", "new")]
    path = write(tmp_path / "c.csv", rows, ("score", "sex", "age"))
    with refused(r"c\.csv: age: 'Old' and 'old' differ"):
        read(path, Columns("score", ("sex", "age")))


def test_ranks_are_read_and_scores_may_be_missing(tmp_path):
    rows = [("a", "3", "f"), ("a", "1", "m")]
    path = write(tmp_path / "c.csv", rows, ("query", "rank", "sex"))
    lists = read(path, Columns(None, ("sex",), "query", rank="rank"))
    assert lists.scores is None
    assert lists.ranks.tolist() == [3.0, 1.0]
