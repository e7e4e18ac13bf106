import os

import pytest

from biaslab.core.errors import InputError
from biaslab.embeddings import readers
from biaslab.embeddings.readers import Document, read_documents


def test_text_has_a_document_a_line(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("first line\r\n\nthird ünö".encode())
    assert list(read_documents(path, "text")) == [
        Document("1", "1", "first line\r\n"),
        Document("3", "3", "third ünö"),
    ]


def test_text_that_is_not_utf8_is_refused_by_its_line(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"good\n\xe9t\xe9\n")
    with pytest.raises(InputError, match=r"corpus\.txt:2: not UTF-8"):
        list(read_documents(path, "text"))


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


def test_folder_refuses_a_link_that_leads_out(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    os.symlink("../secret.txt", folder / "linked.txt")
    with pytest.raises(InputError, match=r"linked\.txt: the link leads out of"):
        list(read_documents(folder, "folder"))


def test_folder_refuses_large_and_undecodable_files(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 10)
    (tmp_path / "a.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"a\.txt: not UTF-8"):
        list(read_documents(tmp_path, "folder"))
    (tmp_path / "a.txt").write_bytes(b"eleven char")
    with pytest.raises(InputError, match=r"a\.txt: larger than 10 bytes"):
        list(read_documents(tmp_path, "folder"))


def test_missing_or_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file ending in \.txt"):
        list(read_documents(tmp_path, "folder"))
    with pytest.raises(InputError, match="no such folder"):
        list(read_documents(tmp_path / "absent", "folder"))
