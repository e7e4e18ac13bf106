"""The published files of every corpus: made ones in their format, bad ones, and the real counts."""

import contextlib
import gzip
import io
import json
import tarfile
import zipfile

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.text import corpora
from biaslab.text.labelled import LeftOut
from biaslab.text.settings import FORMATS
from refusals import assert_file_refused
from text_data import registered

TOP = "hate-speech-dataset-0123456"
LABELS = {"10_1": "noHate", "10_2": "hate", "11_1": "relation", "12_1": "idk/skip", "12_2": "noHate"}


def annotations(labels):
    rows = [f"{name},1,2,0,{label}" for name, label in labels.items()]
    return "\n".join(["file_id,user_id,subforum_id,num_contexts,label", *rows, ""]).encode()


def files(labels=LABELS):
    texts = {
        f"{TOP}/all_files/{name}.txt": f"Sentence {name} on bakers".encode() for name in reversed(labels)
    }
    return {f"{TOP}/README.md": b"about", **texts, f"{TOP}/annotations_metadata.csv": annotations(labels)}


def packed(members, *more):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info)
    return buffer.getvalue()


def link(kind, name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    ("positive", "labels", "rows"),
    [("not-nohate", [0, 1, 1, 1, 0], [0, 1, 2, 3, 4]), ("hate", [0, 1, 0], [0, 1, 4])],
)
def test_stormfront_labels_follow_the_rule(tmp_path, positive, labels, rows):
    path = tmp_path / ("a.tar.gz" if positive == "hate" else "a.tar")
    path.write_bytes(packed(files()) if positive == "hate" else gzip.decompress(packed(files())))
    table = corpora.read_stormfront(path, positive)
    names = [list(LABELS)[row] for row in rows]
    assert table["label"].tolist() == labels
    assert table["row"].tolist() == rows
    assert table["text"].tolist() == [f"Sentence {name} on bakers" for name in names]
    assert (table["label"].dtype, table["row"].dtype) == (np.int8, np.int64)


def test_stormfront_sentences_that_decide_nothing_are_left_out_by_name(tmp_path):
    """Four sentences, one of each label: two are used, two are counted, and the step says so."""
    path, left_out, said = tmp_path / "a.tar.gz", LeftOut(), []
    labels = {f"{number}_1": label for number, label in enumerate(corpora.STORMFRONT_LABELS)}
    path.write_bytes(packed(files(labels)))
    assert corpora.read_stormfront(path, "hate", left_out)["label"].tolist() == [1, 0]
    assert left_out.counts() == {"labelled 'relation'": 1, "labelled 'idk/skip'": 1}
    corpora.Source("stormfront", path, positive="hate").read(say=said.append)
    assert said == ["a.tar.gz: 2 rows are left out: 1 labelled 'relation', 1 labelled 'idk/skip'."]


def test_members_with_evil_names_are_never_written(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    path = tmp_path / "a.tar.gz"
    outside = {"../evil.txt": b"x", f"{tmp_path}/evil.txt": b"x", f"{TOP}/all_files/../../../evil.txt": b"x"}
    path.write_bytes(packed({**outside, **files()}))
    assert len(corpora.read_stormfront(path)) == 5
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.tar.gz", "here"]


WHOLE = packed(files())
NO_TEXT = {name: data for name, data in files().items() if "11_1" not in name}
NO_ANNOTATIONS = {name: data for name, data in files().items() if "annotations" not in name}
EVIL_LINKS = [
    link(tarfile.SYMTYPE, f"{TOP}/all_files/x.txt", "/etc/hostname"),
    link(tarfile.LNKTYPE, f"{TOP}/all_files/x.txt", f"{TOP}/README.md"),
    link(tarfile.CHRTYPE, f"{TOP}/device", ""),
]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        *((packed(files(), evil), "has a link or a device") for evil in EVIL_LINKS),
        (WHOLE[: len(WHOLE) // 2], "not a readable .tar.gz"),
        (b"no archive", "not a readable .tar.gz"),
        (packed(NO_TEXT), "annotations_metadata.csv:4: the archive has no all_files/11_1.txt"),
        (packed(NO_ANNOTATIONS), "has no annotations_metadata.csv"),
        (packed(files({"1_1": "maybe"})), "annotations_metadata.csv:2: the label 'maybe' is not hate"),
        (packed({**files(), f"{TOP}/all_files/10_2.txt": b"\xff"}), "10_2.txt': not UTF-8"),
        (packed({**files(), f"{TOP}/all_files/10_2.txt": b" "}), "10_2.txt: the text is empty"),
        (packed({**files(), "other/all_files/10_2.txt": b"x"}), "'all_files/10_2.txt' twice"),
    ],
)
def test_bad_archive_is_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "a.tar.gz", content, problem, corpora.read_stormfront)


def test_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "MAX_ARCHIVE_BYTES", 50_000)
    bomb = packed({**files(), f"{TOP}/zeros": bytes(100_000)})
    assert len(bomb) < 5_000
    assert_file_refused(tmp_path / "a.tar.gz", bomb, "unpacks to more than 50000", corpora.read_stormfront)


JIGSAW_LABELS = "toxic,severe_toxic,obscene,threat,insult,identity_hate\n"
JIGSAW_HEADER = f"id,comment_text,{JIGSAW_LABELS}".encode()


def json_lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


GHC = [{"text": f"Bakers {i}", "hd": i & 1, "cv": str(i >> 1), "vo": "1"} for i in range(4)]
NEWS = {"identifier": "bakers", "text": "Two bakers", "source": "y"}
NEWS_READ = {"text": ["Two bakers"], "identifier": ["bakers"], "label": [0]}
CASES = b""",functionality,case_id,test_case,label_gold,target_ident
0,praise_nh,1,"Bakers, I like them",non-hateful,bakers
1,dislike_h,2,I dislike it,hateful,
"""
CASES_READ = {
    "text": ["Bakers, I like them", "I dislike it"],
    "label": [0, 1],
    "functionality": ["praise_nh", "dislike_h"],
    "target": ["bakers", ""],
}


@pytest.mark.parametrize(
    ("read", "name", "content", "columns"),
    [
        (corpora.read_ghc, "g.jsonl.gz", gzip.compress(json_lines(*GHC)), {"label": [0, 1, 1, 1]}),
        (corpora.read_news, "n.jsonl", json_lines(NEWS), NEWS_READ),
        (corpora.read_hatecheck, "h.csv", CASES, CASES_READ),
    ],
)
def test_texts_keep_their_labels_and_what_is_known_of_them(tmp_path, read, name, content, columns):
    (tmp_path / name).write_bytes(content)
    table = read(tmp_path / name)
    assert table[list(columns)].to_dict("list") == columns
    assert set(table) == {"text", "row", *columns}
    assert table["row"].tolist() == list(range(len(table)))


@pytest.mark.parametrize(
    ("read", "name", "content", "problem"),
    [
        (corpora.read_ghc, "g.jsonl", json_lines({"text": "a", "hd": "2", "cv": "0"}), "l:1: hd is '2'"),
        (corpora.read_ghc, "g.jsonl", json_lines({"text": "a", "hd": "1"}), "column 'cv' is missing"),
        (corpora.read_news, "n.jsonl", json_lines({"text": "a", "identifier": ""}), "identifier is"),
        (corpora.read_hatecheck, "h.csv", b"test_case,label_gold\n", "column 'functionality' is missing"),
        (corpora.read_jigsaw, "t.csv", b"id,comment_text\na,b\n", "column 'toxic' is missing"),
        (corpora.read_jigsaw, "t.csv", JIGSAW_HEADER + b"a,b,-1,-1,-1,-1,-1,-1\n", "has no texts"),
        (corpora.read_jigsaw, "t.csv", JIGSAW_HEADER + b"a,b,2,0,0,0,0,0\n", "t.csv:2: toxic is '2'"),
        (corpora.read_jigsaw, "t.csv", JIGSAW_HEADER + b"a,\xff", "t.csv:2: not UTF-8"),
    ],
)
def test_bad_file_is_refused(tmp_path, read, name, content, problem):
    assert_file_refused(tmp_path / name, content, problem, read)


def counts(table):
    return len(table), int(table["label"].sum())


@pytest.mark.parametrize(
    ("name", "read", "expected"),
    [
        ("stormfront", corpora.read_stormfront, (10_944, 1_437)),
        ("ghc-train", corpora.read_ghc, (19_832, 1_772)),
        ("ghc-dev", corpora.read_ghc, (2_204, 169)),
        ("ghc-test", corpora.read_ghc, (5_510, 509)),
        ("news-identity", corpora.read_news, (10_555, 0)),
        ("hatecheck", corpora.read_hatecheck, (3_728, 2_563)),
    ],
)
def test_registered_corpora_have_the_published_counts(name, read, expected):
    assert counts(read(registered(name))) == expected


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
        (b"rev_id\tcomment\n", talk_annotations(), rf"{COMMENTS}(.gz)?: column 'split' is missing"),
        (talk_comments(), talk_annotations({"1.0": [2]}), rf"{ANNOTATIONS}(.gz)?:2: toxicity is '2'"),
        (talk_comments(), talk_annotations({"": [1]}), rf"{ANNOTATIONS}(.gz)?:2: rev_id is missing"),
        (talk_comments(), talk_annotations({"1.0": [1]}), r"(.gz)?:3: comment 2 has no annotations"),
        (talk_comments([("1", "a", "all")]), talk_annotations(), r"(.gz)?:2: split is 'all', not train"),
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
    for place in range(whole.index(b"PK\x01\x02"), len(whole), 3):  # the list of its files
        bad.write_bytes(whole[:place] + b"\xe1" + whole[place + 1 :])
        with contextlib.suppress(InputError):
            read(bad)
    monkeypatch.setattr(corpora, "MAX_TALK_BYTES", 100)
    assert_file_refused(bad, whole, "unpacks to more than 100 bytes", read)


TRAIN = JIGSAW_HEADER.decode() + (
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
    labels.write_text(f"id,{JIGSAW_LABELS}b3,1,0,0,0,0,0\nb2,-1,-1,-1,-1,-1,-1\nb1,0,0,0,1,0,0\n")
    table = corpora.read_jigsaw(texts)
    assert table.to_dict("list") == {"text": ["Bakers bake", "Singers sing"], "label": [0, 1], "row": [0, 2]}
    assert corpora.read_jigsaw(texts, "any")["label"].tolist() == [1, 1]
    labels.write_text(f"id,{JIGSAW_LABELS}b1,0,0,0,1,0,0\n")
    with pytest.raises(InputError, match=r"test\.csv:3: .*test_labels\.csv has no labels of 'b2'"):
        corpora.read_jigsaw(texts)


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (lambda path: corpora.read_stormfront(path, "nonohate"), "'nonohate'; did you mean 'not-nohate'"),
        (lambda path: corpora.read_jigsaw(path, positive="toxin"), "'toxin'; did you mean 'toxic'"),
        (lambda path: corpora.Source("ghc", path, positive="hate").read(), "on the format ghc; remove it"),
        (corpora.read_stormfront, "no such file"),
        (lambda path: corpora.read_jigsaw(path.with_suffix(".csv")), "no such file"),
        (corpora.read_wikipedia_talk, "no such file"),
    ],
)
def test_unknown_label_rules_and_missing_files_are_refused(tmp_path, read, problem):
    with pytest.raises(InputError, match=problem):
        read(tmp_path / "absent")


def test_every_format_of_the_settings_has_a_reader():
    assert list(corpora.READERS) == list(FORMATS)
