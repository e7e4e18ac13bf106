import io
import subprocess
import sys
import tarfile

import pytest

from biaslab.core.errors import InputError
from biaslab.embeddings import readers
from biaslab.embeddings.readers import Document, read_documents

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


def refusal(path):
    with pytest.raises(InputError) as caught:
        list(read_documents(path, "nitf"))
    assert "\n" not in str(caught.value)
    return str(caught.value)


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
    assert [d.id for d in read_documents(tmp_path, "nitf")] == [
        "1987/01.tar.gz",
        "1987/02.tgz",
        "1988/01.tgz",
    ]


@pytest.mark.parametrize("name", ["../evil.xml", "/etc/evil.xml", "a/../../evil.xml"])
def test_member_named_out_of_the_archive_is_refused(tmp_path, name):
    assert "leads out of the archive" in refusal(write(tmp_path / "a.tgz", member(name, ARTICLE)))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    path = write(tmp_path / "a.tgz", member("evil.xml", type=kind, linkname="/etc/passwd"))
    assert "member evil.xml is a link or a device" in refusal(path)


def test_entities_are_refused(tmp_path):
    bomb = ARTICLE.replace(DOCTYPE, '<!DOCTYPE nitf [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>')
    path = write(tmp_path / "a.tgz", member("bomb.xml", bomb.replace("Second", "&b;")))
    assert "member bomb.xml declares an entity; refused" in refusal(path)


def test_oversized_member_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 100_000)
    path = write(tmp_path / "a.tgz", member("big.xml", " " * 100_001))
    assert "member big.xml takes 100001 bytes" in refusal(path)


def test_oversized_header_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 100_000)
    path = write(tmp_path / "a.tgz", member("a" * 1_000_000 + ".xml", ARTICLE))
    assert "takes more than 100000 bytes" in refusal(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<nitf><head></nitf>", "member a.xml is not well-formed XML"),
        ("", "member a.xml is not well-formed XML"),
        ("<html/>", "member a.xml is not NITF (its root is <html>)"),
        (ARTICLE.replace("Second", "&undefined;"), "member a.xml is not well-formed XML"),
    ],
)
def test_member_that_is_no_article_is_refused(tmp_path, text, message):
    assert message in refusal(write(tmp_path / "a.tgz", member("a.xml", text)))


def test_damaged_archives_are_refused(tmp_path):
    whole = write(tmp_path / "a.tgz", *(member(f"{i}.xml", ARTICLE) for i in range(200))).read_bytes()
    cut = tmp_path / "cut.tgz"
    for end in range(20, len(whole), len(whole) // 50):
        cut.write_bytes(whole[:end])
        assert f"{cut}: the file is truncated" in refusal(cut)
    cut.write_bytes(b"no archive at all")
    assert "the file is unreadable" in refusal(cut)
    plain = tmp_path / "plain.tar"
    plain.write_text("no archive at all")
    assert "not a whole tar archive" in refusal(plain)
    assert "no such file" in refusal(tmp_path / "absent.tgz")


def test_folder_without_archives_is_refused(tmp_path):
    assert "no file ending in .tgz or .tar.gz" in refusal(tmp_path)


def peak_memory(path):
    """Return the peak memory in bytes of a process that reads an archive."""
    read = (
        "import sys; from biaslab.embeddings.readers import read_documents;"
        "all(read_documents(sys.argv[1], 'nitf'))"
    )
    run = (  # in between, a small process: a child's peak begins at that of its parent
        "import resource, subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", run, read, str(path)]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return peak * (1 if sys.platform == "darwin" else 1024)


def test_archives_are_streamed(tmp_path):
    article = ARTICLE.replace("Second", "word " * 20_000)
    few = write(tmp_path / "few.tgz", *(member(f"{i}.xml", article) for i in range(10)))
    many = write(tmp_path / "many.tgz", *(member(f"{i}.xml", article) for i in range(1000)))
    assert 1000 * len(article) > 100e6
    assert peak_memory(many) - peak_memory(few) < 20e6
