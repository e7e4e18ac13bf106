import bz2
import gzip
from pathlib import Path

import pytest
from gensim.corpora.wikicorpus import WikiCorpus
from gensim.test.utils import datapath

from biaslab.core.errors import InputError
from biaslab.embeddings import readers
from biaslab.embeddings.corpus import tokenize
from biaslab.embeddings.readers import read_documents

SAMPLE = datapath("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2")
HEAD = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><dbname>x</dbname></siteinfo>'


def page(number, title, text, namespace="0", extra=""):
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>{number}</id>{extra}"
        f"<revision><id>1</id><text>{text}</text></revision></page>"
    )


ONE = page(7, "One", "'''Bold''' and [[link|shown]].")
DUMP = HEAD + ONE + page(9, "Two", "&lt;b&gt;tag&lt;/b&gt;") + "</mediawiki>"


def read(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(read_documents(path, "mediawiki"))


def refusal(path, data):
    with pytest.raises(InputError) as caught:
        read(path, data)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_reads_the_articles_that_gensim_reads():
    source = datapath("enwiki-table-markup.xml.bz2")
    wiki = WikiCorpus(source, processes=1, dictionary={}, article_min_tokens=50)
    wiki.metadata = True
    theirs = [(identifier, title, tokens) for tokens, (identifier, title) in wiki.get_texts()]
    assert len(theirs) == 5
    assert [(d.id, d.title, tokenize(d.text)) for d in read_documents(source, "mediawiki")] == theirs


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".bz2", bz2.compress), (".gz", gzip.compress)])
def test_reads_every_compression_without_markup(tmp_path, suffix, pack):
    one, two = read(tmp_path / f"dump.xml{suffix}", pack(DUMP.encode()))
    assert (one.id, one.title, one.text) == ("7", "One", "'''Bold''' and shown.")
    assert (two.id, two.title, two.text) == ("9", "Two", "tag")


def test_reads_a_multistream_dump(tmp_path):
    data = DUMP.encode()
    assert len(read(tmp_path / "d.xml.bz2", bz2.compress(data[:150]) + bz2.compress(data[150:]))) == 2


def test_leaves_out_other_namespaces_and_redirects(tmp_path):
    pages = [
        page(1, "Kept", "words"),
        page(2, "Talk about it", "words", namespace="1"),
        page(3, "Moved", "#REDIRECT [[Kept]]", extra='<redirect title="Kept"/>'),
        page(4, "Template:Box", "words"),
        page(5, "Old", "words").replace("<ns>0</ns>", ""),
    ]
    reasons = r"pages left out: outside the main namespace, as talk pages are \(2\), redirects \(1\)"
    with pytest.warns(UserWarning, match=reasons):
        kept = read(tmp_path / "d.xml", HEAD + "".join(pages) + "</mediawiki>")
    assert [document.id for document in kept] == ["1", "5"]


def test_says_how_much_markup_is_left_out(tmp_path):
    with pytest.warns(UserWarning, match=r"markup left out: 4 of 13 characters of the articles"):
        read(tmp_path / "d.xml", HEAD + page(1, "Kept", "two [[words]]") + "</mediawiki>")


def test_truncated_compressed_dump_is_refused(tmp_path):
    data = Path(SAMPLE).read_bytes()
    assert "truncated" in refusal(tmp_path / "d.xml.bz2", data[: len(data) // 3])
    assert "truncated" in refusal(tmp_path / "d.xml.bz2", bz2.compress(DUMP.encode())[:-1])


@pytest.mark.parametrize("missing", [1, 5, 40, 100])
def test_truncated_plain_dump_is_refused(tmp_path, missing):
    assert "the dump is truncated" in refusal(tmp_path / "d.xml", DUMP[:-missing])


def test_what_is_not_a_dump_is_refused(tmp_path):
    assert "not a MediaWiki dump" in refusal(tmp_path / "a", "just words")
    assert "not a MediaWiki dump" in refusal(tmp_path / "b", "<html><body/></html>")
    assert "not a MediaWiki dump" in refusal(tmp_path / "c", '<?xml version="1.0" encoding="martian"?><a/>')
    assert "unreadable" in refusal(tmp_path / "d.bz2", "not compressed at all")
    assert "the file is empty" in refusal(tmp_path / "e.bz2", "")
    assert "the file is empty" in refusal(tmp_path / "f.bz2", bz2.compress(b""))
    assert "damaged" in refusal(tmp_path / "g", DUMP.replace("</revision>", "</revisio>", 1))
    assert "a page has no title, id or text" in refusal(tmp_path / "h", DUMP.replace("<id>7</id>", ""))


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent\.xml: no such file"):
        next(read_documents(tmp_path / "absent.xml", "mediawiki"))
    with pytest.raises(InputError, match="is a folder"):
        next(read_documents(tmp_path, "mediawiki"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_refused_before_any_entity_expands(tmp_path, encoding):
    bomb = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + DUMP.replace("tag", "&b;")
    assert "DOCTYPE" in refusal(tmp_path / "d.xml", bomb.encode(encoding))


def test_oversized_page_is_refused_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 100_000)
    data = bz2.compress((HEAD + page(1, "Big", "word " * 200_000)).encode())
    assert "more than 100000 bytes" in refusal(tmp_path / "d.xml.bz2", data)


def test_many_pages_may_exceed_the_limit_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 50_000)
    pages = "".join(page(i, f"Page {i}", "word " * 100) for i in range(1_000))
    assert len(read(tmp_path / "d.xml", HEAD + pages + "</mediawiki>")) == 1_000
