"""Tables of texts in every format, and every bad line of them."""

import gzip
import json

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.text import labelled
from biaslab.text.labelled import LeftOut, read_labelled, read_texts
from refusals import assert_file_refused

ROWS = [
    ("The cyclists, all of them, were late", "1", "a"),
    ('He said "good morning"\nto the bakers', "0", "a"),
    ("Ünïcödé gardeners", "0", "b"),
    ("The drummers left", "1", "c"),
]
COLUMNS = ("text", "label", "post")


def quoted(field):
    return '"' + field.replace('"', '""') + '"'


def as_delimited(delimiter, rows=ROWS):
    lines = [delimiter.join(COLUMNS), *(delimiter.join(map(quoted, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def as_json_lines(rows=ROWS):
    records = [dict(zip(COLUMNS, (text, int(label), post), strict=True)) for text, label, post in rows]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


FORMATS = {".csv": as_delimited(","), ".tsv": as_delimited("\t"), ".jsonl": as_json_lines()}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(("end", "pack"), [("", bytes), (".gz", gzip.compress)])
def test_every_format_gives_the_same_table(tmp_path, suffix, end, pack):
    path = tmp_path / f"texts{suffix}{end}"
    path.write_bytes(pack(FORMATS[suffix]))
    table = read_labelled(path, group="post")
    assert list(table) == ["text", "label", "group", "row"]
    assert table["text"].tolist() == [text for text, _, _ in ROWS]
    assert table["label"].tolist() == [1, 0, 0, 1]
    assert table["group"].tolist() == ["a", "a", "b", "c"]
    assert table["row"].tolist() == [0, 1, 2, 3]
    assert (table["label"].dtype, table["row"].dtype) == (np.int8, np.int64)
    assert read_texts(path)["text"].tolist() == table["text"].tolist()


def test_columns_and_the_positive_label_are_the_users_choice(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_bytes(b"\xef\xbb\xbf\nwords,kind\na,no\nb,yes\n\nc,yes\nd, no\n")
    table = read_labelled(path, "words", "kind", positive="yes")
    assert list(table) == ["text", "label", "row"]
    assert table["label"].tolist() == [0, 1, 1, 0]


def test_rows_without_text_or_label_are_left_out_and_counted(tmp_path):
    path, left_out = tmp_path / "texts.csv", LeftOut()
    path.write_text("text,label\na,0\n ,1\nb,1\nthe bakers,\nc,0\nd,1\n")
    table = read_labelled(path, left_out=left_out)
    assert table["row"].tolist() == [0, 2, 4, 5]
    assert left_out.counts() == {"with an empty text": 1, "without a label": 1}
    assert left_out.rows[1] == ("without a label", "the bakers")
    (tmp_path / "texts.jsonl").write_text('{"text": null}\n{"text": "a"}\n')
    assert read_texts(tmp_path / "texts.jsonl", left_out=left_out)["row"].tolist() == [1]


def test_labels_with_blanks_around_and_empty_lines_are_counted(tmp_path):
    path, left_out = tmp_path / "texts.csv", LeftOut()
    path.write_text("text,label\na, 0\nb,1\nc,0 \nd,1\n")
    assert read_labelled(path, left_out=left_out)["label"].tolist() == [0, 1, 0, 1]
    assert left_out.changes == ["texts.csv: 2 labels with blanks around, which are trimmed."]
    (tmp_path / "texts.txt").write_text("a\n\n  \nb\n")
    left_out = LeftOut()
    assert read_texts(tmp_path / "texts.txt", left_out=left_out)["text"].tolist() == ["a", "b"]
    assert left_out.counts() == {"with an empty text": 2}


@pytest.mark.parametrize("undecided", [("relation", "idk/skip"), ("nan", "NA")])
def test_labels_that_decide_nothing_are_left_out_by_name(tmp_path, undecided):
    path, left_out = tmp_path / "texts.csv", LeftOut()
    rows = ["a,hate", "b,noHate", *(f"c,{label}" for label in undecided)]
    path.write_text("\n".join(["text,label", *rows, *rows]) + "\n")
    table = read_labelled(path, positive="hate", left_out=left_out)
    assert table["text"].tolist() == ["a", "b", "a", "b"]
    assert left_out.counts() == {f"labelled '{label}'": 2 for label in undecided}


def test_a_third_label_is_left_out_where_both_others_are_named(tmp_path):
    path, left_out = tmp_path / "texts.csv", LeftOut()
    path.write_text("text,label\na,rude\nb,calm\nc,odd\nd,rude\ne,calm\n")
    with pytest.raises(InputError, match=r"'odd' is a third label, .* with --positive and --negative"):
        read_labelled(path, positive="rude", left_out=left_out)
    table = read_labelled(path, positive="rude", negative="calm", left_out=left_out)
    assert table["label"].tolist() == [1, 0, 1, 0]
    assert left_out.counts() == {"labelled 'odd'": 1}


def test_labels_0_and_1_stay_where_the_positive_label_is_a_class_of_the_classifier(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\na,0\nb,1\nc,0\nd,1\n")
    table = read_labelled(path, positive="hate", classes=["nothate", "hate"])
    assert table["label"].tolist() == [0, 1, 0, 1]
    with pytest.raises(InputError, match=r"there is no label 'hat', nor is it a class .* \(nothate, hate\)"):
        read_labelled(path, positive="hat", classes=["nothate", "hate"])


HEADER = b"text,label\n"
GOOD = b"a,0\nb,1\nc,0\nd,1\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (HEADER, "has no texts"),
        (b"text,text,label\n", "column 'text' appears twice"),
        (b"x,label\n" + GOOD, r"column 'text' is missing \(it has x, label\)"),
        (HEADER + GOOD + b" ,1\n", r"\.csv:6: the text is empty"),
        (HEADER + GOOD + b"e\n", r"\.csv:6: 1 fields for 2 columns"),
        (HEADER + GOOD + b"e,\n", r"\.csv:6: the label is missing"),
        (HEADER + GOOD + b"\xe9,1\n", r"\.csv:6: not UTF-8"),
        (HEADER + GOOD + b'"e,1\nf,0\n', r"\.csv:6: not a row of fields"),
        (
            HEADER + GOOD.replace(b"1", b"Yes") + b"e,yes\n",
            "'Yes' and 'yes' differ by case, blanks or a final stop alone",
        ),
        (HEADER + GOOD + b"e,2\n", r"\.csv:6: '2' is a third label, next to '0' and '1'"),
        (HEADER + b"a,no\nb,yes\n", r"\.csv:2: the label 'no' is neither 0 nor 1"),
        (HEADER + b"a,0\nb,1\nc,0\n", "1 of 3 examples is positive"),
        (HEADER + b"a,1\nb,1\nc,0\n", "1 of 3 examples is negative"),
    ],
)
def test_bad_csv_is_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "texts.csv", content, problem, read_labelled)


GOOD_JSON = b'{"text": "a", "label": 0}\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{'text': 1}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"text": "a", "label": 1, "text": "b"}', "not JSON .the key 'text' occurs more than once"),
        (b'{"label": 1}', "column 'text' is missing"),
        (b'{"text": 5, "label": 1}', "the text is 5, not a text"),
        (b'{"text": "\\ud83d", "label": 1}', "half a character"),
        (b'{"text": "a", "label": null}', "the label is missing"),
    ],
)
def test_bad_json_line_is_refused_by_its_number(tmp_path, line, problem):
    path = tmp_path / "texts.jsonl"
    assert_file_refused(path, GOOD_JSON + b"\n" + line + b"\n", rf"jsonl:3: .*{problem}", read_labelled)


def test_other_bad_files_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        read_labelled(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_texts(tmp_path / "folder.csv")
    packed = gzip.compress(as_delimited(",") * 100)
    assert_file_refused(tmp_path / "cut.csv.gz", packed[:-20], "cannot be read", read_labelled)
    assert_file_refused(tmp_path / "texts.json", GOOD_JSON, "unknown format of table", read_labelled)
    assert_file_refused(tmp_path / "texts.txt", b"a\nb\n", "unknown format of table", read_labelled)
    assert_file_refused(tmp_path / "blank.txt", b"\n \n", "has no texts", read_texts)
    monkeypatch.setattr(labelled, "MAX_LINE_BYTES", 100)
    assert_file_refused(tmp_path / "long.jsonl", GOOD_JSON + b"x" * 200, "longer than 100", read_labelled)


def test_the_positive_label_must_be_there(tmp_path):
    content = HEADER + b"a,complaint\nb,praise\n"
    assert_file_refused(
        tmp_path / "texts.csv",
        content,
        "there is no label 'complaints'; did you mean 'complaint'",
        lambda path: read_labelled(path, positive="complaints"),
    )
    assert_file_refused(
        tmp_path / "texts.csv",
        b"text,label,post\na,0,\n",
        r"\.csv:2: the post is missing",
        lambda path: read_labelled(path, group="post"),
    )
