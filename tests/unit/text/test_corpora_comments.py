"""The two releases of annotated talk comments, in made files of their layouts."""

import contextlib
import gzip
import zipfile

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.text import corpora
from biaslab.text.labelled import LeftOut
from refusals import assert_file_refused

COMMENTS = "toxicity_annotated_comments.tsv"
ANNOTATIONS = "toxicity_annotations.tsv"
COMMENTS_HEADER = "rev_id\tcomment\tyear\tlogged_in\tns\tsample\tsplit\n"
ANNOTATIONS_HEADER = "rev_id\tworker_id\ttoxicity\ttoxicity_score\n"
TALK = [
    ("1.0", "BakersNEWLINE_TOKENbakeTAB_TOKENbread", "train"),
    ("2.0", '"Some, ""quoted"" words"', "dev"),
    ("3.0", "NEWLINE_TOKENNEWLINE_TOKEN", "train"),
    ("4.0", "A café at the lake", "test"),
    ("5.0", "The last comment", "train"),
]
VOTES = {"1.0": [0, 1], "2": [1, 1, 0], "3.0": [1], "4.0": [0, 0, 1], "5.0": ["1.0", "0.0", "1.0"]}


MARKERS = ("NEWLINE_TOKEN", "TAB_TOKEN")


def talk_comments(rows=TALK):
    return (
        COMMENTS_HEADER
        + "".join(f"{i}\t{text}\t2005\tTrue\tuser\trandom\t{part}\n" for i, text, part in rows)
    ).encode()


def talk_annotations(votes=VOTES):
    rows = [f"{i}\t{n}\t{vote}\t-1.0\n" for i, some in votes.items() for n, vote in enumerate(some)]
    return (ANNOTATIONS_HEADER + "".join(reversed(rows))).encode()


def put(folder, files):
    """Write files as a folder, as a folder of compressed files, and as an archive; yield the three."""
    for name in ("plain", "compressed"):
        (folder / name).mkdir()
    for name, content in files.items():
        (folder / "plain" / name).write_bytes(content)
        (folder / "compressed" / f"{name}.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(folder / "talk.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"4563973/{name}", content)
    return [folder / "plain", folder / "compressed", folder / "talk.zip"]


def test_talk_comments_are_toxic_by_more_than_half_of_their_votes(tmp_path):
    for source in put(tmp_path, {COMMENTS: talk_comments(), ANNOTATIONS: talk_annotations()}):
        left_out = LeftOut()
        table = corpora.read_wikipedia_talk(source, left_out)
        n_breaks, n_tabs = (sum(text.count(marker) for _, text, _ in TALK) for marker in MARKERS)
        assert left_out.changes == [
            f"{source.name}: blanks replace NEWLINE_TOKEN ({n_breaks}) and TAB_TOKEN ({n_tabs})."
        ]
        assert table.to_dict("list") == {
            "text": ["Bakers bake bread", 'Some, "quoted" words', "A café at the lake", "The last comment"],
            "label": [0, 1, 0, 1],
            "part": ["train", "validation", "test", "train"],
            "row": [0, 1, 3, 4],
        }
        assert (table["label"].dtype, table["row"].dtype) == (np.int8, np.int64)


@pytest.mark.parametrize(
    ("comments", "annotations", "problem"),
    [
        (None, talk_annotations(), rf"{COMMENTS}(.gz)?: no such file|has no {COMMENTS}"),
        (talk_comments(), None, rf"{ANNOTATIONS}(.gz)?: no such file|has no {ANNOTATIONS}"),
        (b"rev_id\tcomment\n", talk_annotations(), rf"{COMMENTS}(.gz)?: column 'split' is missing"),
        (talk_comments(), b"rev_id\tworker_id\n", rf"{ANNOTATIONS}(.gz)?: column 'toxicity' is missing"),
        (talk_comments(), talk_annotations({"1.0": [2]}), rf"{ANNOTATIONS}(.gz)?:2: toxicity is '2'"),
        (talk_comments(), talk_annotations({"": [1]}), rf"{ANNOTATIONS}(.gz)?:2: rev_id is missing"),
        (
            talk_comments(),
            talk_annotations({"1.0": [1]}),
            rf"{COMMENTS}(.gz)?:3: comment 2 has no annotations",
        ),
        (
            talk_comments([("1", "a", "all")]),
            talk_annotations(),
            rf"{COMMENTS}(.gz)?:2: split is 'all', not train",
        ),
        (talk_comments([]), talk_annotations(), "has no texts"),
        (talk_comments([("3", "TAB_TOKEN", "dev")]), talk_annotations(), "has no texts"),
        (talk_comments() + b"\xff\n", talk_annotations(), rf"{COMMENTS}(.gz)?:7: not UTF-8"),
        (talk_comments() + b"6\tx\n", talk_annotations(), rf"{COMMENTS}(.gz)?:7: 2 fields for 7 columns"),
    ],
)
def test_bad_talk_files_are_refused(tmp_path, comments, annotations, problem):
    files = {COMMENTS: comments, ANNOTATIONS: annotations}
    for source in put(tmp_path, {name: content for name, content in files.items() if content is not None}):
        with pytest.raises(InputError, match=problem) as error:
            corpora.read_wikipedia_talk(source)
        assert str(source) in str(error.value)
        assert "\n" not in str(error.value)


def test_bad_archive_of_talk_files_is_refused(tmp_path, monkeypatch):
    whole = put(tmp_path, {COMMENTS: talk_comments(), ANNOTATIONS: talk_annotations()})[2].read_bytes()
    bad, read = tmp_path / "bad.zip", corpora.read_wikipedia_talk
    assert_file_refused(bad, b"no archive", "not a readable .zip", read)
    assert_file_refused(bad, whole[:200], "not a readable .zip", read)
    assert_file_refused(bad, whole.replace(whole[80:90], bytes(10), 1), "not a readable .zip", read)
    for place in range(whole.index(b"PK\x01\x02"), len(whole)):  # the list of its files
        bad.write_bytes(whole[:place] + b"\xe1" + whole[place + 1 :])
        with contextlib.suppress(InputError):
            read(bad)
    monkeypatch.setattr(corpora, "MAX_TALK_BYTES", 100)
    assert_file_refused(bad, whole, "unpacks to more than 100 bytes", read)
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "absent.zip")


JIGSAW_HEADER = "toxic,severe_toxic,obscene,threat,insult,identity_hate\n"
TRAIN = (
    f"id,comment_text,{JIGSAW_HEADER}"
    'a1,"Two lines,\nand a comma",0,0,0,0,0,0\n'
    "a2,A rude word,1,0,1,0,0,0\n"
    '"a3"," ",0,0,0,0,0,0\n'
    "a4,Half a rude word,0,0,0,0,1,0\n"
)


@pytest.mark.parametrize(("positive", "labels"), [("toxic", [0, 1, 0]), ("any", [0, 1, 1])])
def test_jigsaw_labels_follow_the_rule(tmp_path, positive, labels):
    path = tmp_path / "train.csv.gz"
    path.write_bytes(gzip.compress(TRAIN.encode()))
    table = corpora.read_jigsaw(path, positive=positive)
    assert corpora.read_jigsaw(tmp_path, positive=positive).equals(table)
    assert table["label"].tolist() == labels
    assert table["text"].tolist() == ["Two lines,\nand a comma", "A rude word", "Half a rude word"]
    assert table["row"].tolist() == [0, 1, 3]
    assert (table["label"].dtype, table["row"].dtype) == (np.int8, np.int64)


def test_jigsaw_test_comments_that_were_not_scored_are_left_out(tmp_path):
    texts, labels = tmp_path / "test.csv", tmp_path / "test_labels.csv"
    texts.write_text("id,comment_text\nb1,Bakers bake\nb2,Pilots fly\nb3,Singers sing\n")
    labels.write_text(f"id,{JIGSAW_HEADER}b3,1,0,0,0,0,0\nb2,-1,-1,-1,-1,-1,-1\nb1,0,0,0,1,0,0\n")
    table = corpora.read_jigsaw(texts, labels)
    assert table.to_dict("list") == {
        "text": ["Bakers bake", "Singers sing"],
        "label": [0, 1],
        "row": [0, 2],
    }
    assert corpora.read_jigsaw(texts, labels, "any")["label"].tolist() == [1, 1]
    labels.write_text(f"id,{JIGSAW_HEADER}b1,0,0,0,1,0,0\n")
    with pytest.raises(InputError, match=r"test\.csv:3: .*test_labels\.csv has no labels of 'b2'"):
        corpora.read_jigsaw(texts, labels)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"id,comment_text\na,b\n", "column 'toxic' is missing"),
        (f"id,text,{JIGSAW_HEADER}".encode(), "column 'comment_text' is missing"),
        (f"id,comment_text,{JIGSAW_HEADER}".encode(), "has no texts"),
        (f"id,comment_text,{JIGSAW_HEADER}a,b,-1,-1,-1,-1,-1,-1\n".encode(), "has no texts"),
        (f"id,comment_text,{JIGSAW_HEADER}a,b,2,0,0,0,0,0\n".encode(), "t.csv:2: toxic is '2'"),
        (f"id,comment_text,{JIGSAW_HEADER}a,b,-1,0,0,0,0,0\n".encode(), "t.csv:2: toxic is '-1'"),
        (f"id,comment_text,{JIGSAW_HEADER}a,\xff".encode("latin-1"), "t.csv:2: not UTF-8"),
    ],
)
def test_bad_jigsaw_file_is_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "t.csv", content, problem, corpora.read_jigsaw)


def test_unknown_label_rule_and_missing_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no label rule is called 'toxin'; did you mean 'toxic'"):
        corpora.read_jigsaw(tmp_path / "train.csv", positive="toxin")
    (tmp_path / "empty").mkdir()
    for read, name in (
        (corpora.read_jigsaw, "train.csv"),
        (corpora.read_jigsaw, "empty"),
        (corpora.read_wikipedia_talk, "talk"),
    ):
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / name)
