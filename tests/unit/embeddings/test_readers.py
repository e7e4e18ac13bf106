"""Sources of every format: what is read of them, what is left out, and what is refused."""

import bz2
import gzip
import io
import json
import os
import tarfile
import tracemalloc

import pytest
import zstandard
from gensim.corpora.wikicorpus import WikiCorpus
from gensim.test.utils import datapath

import refusals
from biaslab.core.errors import InputError
from biaslab.embeddings import readers
from biaslab.embeddings.corpus import tokenize
from biaslab.embeddings.readers import Document, read_documents


def read(path, data, format):
    if data is not None:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(read_documents(path, format))


def refusal(path, format, data=None):
    """Return why a source is refused: one line that begins with its file."""
    message = refusals.refusal(read, path, data, format)
    assert message.startswith(str(path))
    return message


def test_unknown_format_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="unknown corpus format 'json'; did you mean 'jsonl'"):
        read_documents(tmp_path, "json")


@pytest.mark.parametrize(
    ("format", "name", "problem"),
    [
        ("jsonl", "absent.jsonl", "the file does not exist"),
        ("text", "absent.txt", "the file does not exist"),
        ("mediawiki", "absent.xml", "the file does not exist"),
        ("mediawiki", "", "expected a file, found a folder"),
        ("nitf", "absent.tgz", "the file does not exist"),
        ("nitf", "", "no files that end in .tgz or .tar.gz"),
        ("folder", "absent", "the folder does not exist"),
        ("folder", "", "no files that end in .txt"),
    ],
)
def test_missing_files_and_empty_folders_are_refused(tmp_path, format, name, problem):
    assert problem in refusal(tmp_path / name, format)


# --- plain texts


def test_text_has_a_document_a_line(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("first line\r\n\nthird ünö".encode())
    assert list(read_documents(path, "text")) == [
        Document("1", "1", "first line\r\n"),
        Document("3", "3", "third ünö"),
    ]


def test_folder_has_a_document_a_file_sorted_by_relative_path(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.txt", "a.txt", "b/z.txt", "b/notes.md"):
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    os.symlink(tmp_path / "a.txt", tmp_path / "inside.txt")
    assert list(read_documents(tmp_path, "folder")) == [
        Document("a.txt", "a.txt", "text of a.txt"),
        Document("b/z.txt", "b/z.txt", "text of b/z.txt"),
        Document("c.txt", "c.txt", "text of c.txt"),
        Document("inside.txt", "inside.txt", "text of a.txt"),
    ]


def test_folder_refuses_large_and_undecodable_files_and_a_link_that_leads_out(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 10)
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    for content, problem in ((b"\xff", "the text is not UTF-8"), (b"eleven char", "larger than 10 bytes")):
        (folder / "a.txt").write_bytes(content)
        with pytest.raises(InputError, match=rf"a\.txt: .*{problem}"):
            list(read_documents(folder, "folder"))
    (folder / "a.txt").unlink()
    os.symlink("../secret.txt", folder / "linked.txt")
    with pytest.raises(InputError, match=r"linked\.txt: the link points outside"):
        list(read_documents(folder, "folder"))


# --- JSON lines

THREE = {"id": 3, "title": "Three", "text": "Some words.", "year": 1999, "section": "Arts"}
RECORDS = [THREE | {"tags": ["x"], "url": None}, {"id": "four", "text": "Ünïcödé"}]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()


PACKS = [("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress)]


@pytest.mark.parametrize(("suffix", "pack"), PACKS)
def test_reads_every_compression_with_metadata(tmp_path, suffix, pack):
    assert read(tmp_path / f"c.jsonl{suffix}", pack(LINES), "jsonl") == [
        Document("3", "Three", "Some words.", {"year": "1999", "section": "Arts"}),
        Document("four", "four", "Ünïcödé"),
    ]


def test_concatenated_streams_byte_order_mark_and_blank_lines(tmp_path):
    data = gzip.compress(b"\xef\xbb\xbf" + LINES + b"\n  \n") + gzip.compress(LINES)
    with pytest.warns(UserWarning, match=r"c\.jsonl\.gz: 2 blank lines omitted$"):
        assert len(read(tmp_path / "c.jsonl.gz", data, "jsonl")) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{'id': 1}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"id": 1, "text": "a", "text": "b"}', "the key 'text' occurs more than once"),
        (b"[1, 2]", "not a JSON object"),
        (b'{"id": 1}', "key 'text' is missing"),
        (b'{"id": 1, "txt": "a"}', "key 'text' is missing; did you mean 'txt'?"),
        (b'{"text": "a"}', "key 'id' is missing"),
        (b'{"id": 1, "text": 5}', "key 'text': expected str, found int"),
        (b'{"id": true, "text": "a"}', "key 'id': expected str, found bool"),
        (b'{"id": 1, "title": null, "text": "a"}', "key 'title': expected str, found NoneType"),
        (b'{"id": 1, "text": "\xff"}', "not UTF-8"),
    ],
)
def test_bad_line_is_refused_by_its_number(tmp_path, line, message):
    path = tmp_path / "c.jsonl"
    found = refusal(path, "jsonl", LINES + line + b"\n")
    assert found.startswith(f"{path}, line 3: ")
    assert message in found


@pytest.mark.parametrize(("suffix", "pack"), PACKS[1:])
def test_truncated_file_is_refused(tmp_path, suffix, pack):
    data = pack(LINES * 1000)
    for end in (len(data) - 1, len(data) // 2, 5):
        assert "the file is truncated" in refusal(tmp_path / f"c.jsonl{suffix}", "jsonl", data[:end])


# --- MediaWiki dumps

HEAD = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><dbname>x</dbname></siteinfo>'


def page(number, title, text, namespace="0", extra=""):
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>{number}</id>{extra}"
        f"<revision><id>1</id><text>{text}</text></revision></page>"
    )


ONE = page(7, "One", "'''Bold''' and [[link|shown]].")
DUMP = HEAD + ONE + page(9, "Two", "&lt;b&gt;tag&lt;/b&gt;") + "</mediawiki>"


def test_reads_the_articles_that_gensim_reads():
    source = datapath("enwiki-table-markup.xml.bz2")
    wiki = WikiCorpus(source, processes=1, dictionary={}, article_min_tokens=50)
    wiki.metadata = True
    theirs = [(identifier, title, tokens) for tokens, (identifier, title) in wiki.get_texts()]
    assert len(theirs) == 5
    assert [(d.id, d.title, tokenize(d.text)) for d in read_documents(source, "mediawiki")] == theirs


def in_two_streams(data):
    return bz2.compress(data[:150]) + bz2.compress(data[150:])


BZ2 = [(".bz2", bz2.compress), (".bz2", in_two_streams)]


@pytest.mark.parametrize(("suffix", "pack"), [*PACKS[:2], *BZ2])
def test_reads_every_compression_without_markup(tmp_path, suffix, pack):
    one, two = read(tmp_path / f"dump.xml{suffix}", pack(DUMP.encode()), "mediawiki")
    assert (one.id, one.title, one.text) == ("7", "One", "'''Bold''' and shown.")
    assert (two.id, two.title, two.text) == ("9", "Two", "tag")


def test_leaves_out_other_namespaces_and_redirects(tmp_path):
    pages = [
        page(1, "Kept", "words"),
        page(2, "Talk about it", "words", namespace="1"),
        page(3, "Moved", "#REDIRECT [[Kept]]", extra='<redirect title="Kept"/>'),
        page(4, "Template:Box", "words"),
        page(5, "Old", "words").replace("<ns>0</ns>", ""),
    ]
    reasons = r"pages omitted: outside the main namespace \(such as talk pages\) \(2\), redirects \(1\)"
    with pytest.warns(UserWarning, match=reasons):
        kept = read(tmp_path / "d.xml", HEAD + "".join(pages) + "</mediawiki>", "mediawiki")
    assert [document.id for document in kept] == ["1", "5"]


def test_says_how_much_markup_is_left_out(tmp_path):
    with pytest.warns(UserWarning, match=r"markup omitted: 4 of 13 characters of the articles"):
        read(tmp_path / "d.xml", HEAD + page(1, "Kept", "two [[words]]") + "</mediawiki>", "mediawiki")


BOMB = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + DUMP.replace("tag", "&b;")
LONG = bz2.compress((HEAD + page(1, "Big", "word " * 200_000)).encode())


LONG_LINE = LINES + b'{"id": 1, "text": "' + b"a" * 5_000_000
DAMAGED = gzip.compress(LINES)[:-6] + bytes(6)


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("c.txt", b"good\n\xe9t\xe9\n", "c.txt, line 2: the text is not UTF-8"),
        ("c.jsonl.gz", gzip.compress(LONG_LINE), ", line 3: the line is longer than 100000 bytes"),
        ("damaged.jsonl.gz", DAMAGED, "unreadable"),
        ("words", "just words", "not a MediaWiki dump"),
        ("page", "<html><body/></html>", "not a MediaWiki dump"),
        ("encoding", '<?xml version="1.0" encoding="martian"?><a/>', "not a MediaWiki dump"),
        ("plain.bz2", "not compressed at all", "unreadable"),
        ("nothing.bz2", "", "the file is empty"),
        ("empty.bz2", bz2.compress(b""), "the file is empty"),
        ("tags", DUMP.replace("</revision>", "</revisio>", 1), "damaged"),
        ("id", DUMP.replace("<id>7</id>", ""), "a page has no title, id or text"),
        ("cut", DUMP[:-1], "the dump is truncated"),
        ("short", DUMP[:-100], "the dump is truncated"),
        ("cut.bz2", bz2.compress(DUMP.encode())[:-1], "truncated"),
        ("entities", BOMB, "DOCTYPE"),
        ("utf-16", BOMB.encode("utf-16"), "DOCTYPE"),
        ("long.bz2", LONG, "more than 100000 bytes"),
    ],
)
def test_what_is_not_a_dump_a_text_or_lines_of_json_is_refused(tmp_path, monkeypatch, name, data, problem):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 100_000)
    format = {"txt": "text", "jsonl": "jsonl"}.get(name.partition(".")[2].removesuffix(".gz"), "mediawiki")
    assert problem in refusal(tmp_path / name, format, data)


def test_many_pages_may_exceed_the_limit_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 50_000)
    pages = "".join(page(i, f"Page {i}", "word " * 100) for i in range(200))
    assert len(read(tmp_path / "d.xml", HEAD + pages + "</mediawiki>", "mediawiki")) == 200


# --- NITF

DOCTYPE = '<!DOCTYPE nitf SYSTEM "http://www.nitf.org/IPTC/NITF/3.3/specification/dtd/nitf-3-3.dtd">'
ARTICLE = f"""<?xml version="1.0" encoding="UTF-8"?>
{DOCTYPE}
<nitf version="-//IPTC//DTD NITF 3.3//EN">
  <head>
    <title>A Title</title>
    <meta content="Metropolitan Desk" name="dsk"/>
    <meta content="Science; Health" name="online_sections"/>
    <docdata><doc-id id-string="1815718"/></docdata>
    <pubdata date.publication="20070131T000000" ex-ref="x" name="The New York Times"/>
  </head>
  <body>
    <body.head><hedline><hl1>The <em>Main</em>
      Headline</hl1><hl2>Another</hl2></hedline></body.head>
    <body.content>
      <block class="lead_paragraph"><p>First &amp; lead.</p></block>
      <block class="full_text"><p>First &amp; lead.</p><p>Second
        paragraph.</p></block>
    </body.content>
  </body>
</nitf>"""
EXPECTED = Document(
    "1815718",
    "The Main Headline",
    "First & lead.\nSecond paragraph.",
    {"date": "2007-01-31", "year": "2007", "section": "Science; Health"},
)


def member(name, text="", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(text.encode())
    for key, value in fields.items():
        setattr(info, key, value)
    return info, text


def write(path, *members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for info, text in members:
            tar.addfile(info, io.BytesIO(text.encode()) if info.isreg() else None)
    return path


def test_reads_text_title_and_metadata(tmp_path):
    path = write(
        tmp_path / "01.tgz",
        member("01", type=tarfile.DIRTYPE),
        member("01/index.txt", "no article"),
        member("01/1815718.xml", ARTICLE),
    )
    assert list(read_documents(path, "nitf")) == [EXPECTED]


def test_reads_sparse_articles(tmp_path):
    bare = "<nitf><head><meta name='dsk' content='Desk'/><pubdata date.publication='2007'/></head><body>"
    paragraphs = bare + "<body.content><p>One.</p><block><p>Two.</p></block></body.content></body></nitf>"
    path = write(tmp_path / "01.tgz", member("a.xml", paragraphs), member("b.xml", bare + "</body></nitf>"))
    assert list(read_documents(path, "nitf")) == [
        Document("a.xml", "a.xml", "One.\nTwo.", {"section": "Desk"}),
        Document("b.xml", "b.xml", "", {"section": "Desk"}),
    ]


def test_reads_nested_years_in_the_order_of_their_paths(tmp_path):
    names = ["1987/01.tar.gz", "1987/02.tgz", "1988/01.tgz"]
    for name in reversed(names):
        write(tmp_path / name, member(f"{name}.xml", ARTICLE.replace("1815718", name)))
    assert [d.id for d in read_documents(tmp_path, "nitf")] == names


ENTITY = ARTICLE.replace(DOCTYPE, '<!DOCTYPE nitf [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>')


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        *(
            (member(f"{place}/evil.xml", ARTICLE), "points outside the archive")
            for place in ("..", "/etc", "a/../..")
        ),
        *(
            (member("evil.xml", type=kind, linkname="/etc/passwd"), "evil.xml is a link or a device")
            for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)
        ),
        (member("a.xml", ENTITY.replace("Second", "&b;")), "member a.xml declares an entity and is refused"),
        (member("a.xml", " " * 100_001), "member a.xml has 100001 bytes"),
        (member("a" * 1_000_000 + ".xml", ARTICLE), "a document has more than 100000 bytes"),
        (member("a.xml", "<nitf><head></nitf>"), "member a.xml is not well-formed XML"),
        (member("a.xml"), "member a.xml is not well-formed XML"),
        (member("a.xml", "<html/>"), "member a.xml is not NITF (its root is <html>)"),
        (member("a.xml", ARTICLE.replace("Second", "&undefined;")), "member a.xml is not well-formed XML"),
    ],
)
def test_a_member_that_is_no_article_is_refused(tmp_path, monkeypatch, item, problem):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 100_000)
    assert problem in refusal(write(tmp_path / "a.tgz", item), "nitf")


def test_damaged_archives_are_refused(tmp_path):
    whole = write(tmp_path / "a.tgz", *(member(f"{i}.xml", ARTICLE) for i in range(200))).read_bytes()
    cut = tmp_path / "cut.tgz"
    for end in range(20, len(whole), len(whole) // 10):
        cut.write_bytes(whole[:end])
        assert f"{cut}: the file is truncated" in refusal(cut, "nitf")
    cut.write_bytes(b"no archive at all")
    assert "the file is unreadable" in refusal(cut, "nitf")
    plain = tmp_path / "plain.tar"
    plain.write_text("no archive at all")
    assert "the tar archive is incomplete" in refusal(plain, "nitf")


def test_archives_are_streamed(tmp_path):
    article = ARTICLE.replace("Second", "word " * 20_000)
    path = write(tmp_path / "many.tgz", *(member(f"{i}.xml", article) for i in range(100)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_documents(path, "nitf")) == 100
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30 * len(article)
