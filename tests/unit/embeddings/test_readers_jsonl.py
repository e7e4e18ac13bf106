import gzip
import json

import pytest
import zstandard

from biaslab.core.errors import InputError
from biaslab.embeddings import readers
from biaslab.embeddings.readers import Document, read_documents

RECORDS = [
    {
        "id": 3,
        "title": "Three",
        "text": "Some words.",
        "year": 1999,
        "section": "Arts",
        "tags": ["x"],
        "url": None,
    },
    {"id": "four", "text": "Ünïcödé"},
]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()


def read(path, data):
    path.write_bytes(data)
    return list(read_documents(path, "jsonl"))


def refusal(path, data):
    with pytest.raises(InputError) as caught:
        read(path, data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


PACKS = [("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress)]


@pytest.mark.parametrize(("suffix", "pack"), PACKS)
def test_reads_every_compression_with_metadata(tmp_path, suffix, pack):
    assert read(tmp_path / f"c.jsonl{suffix}", pack(LINES)) == [
        Document("3", "Three", "Some words.", {"year": "1999", "section": "Arts"}),
        Document("four", "four", "Ünïcödé"),
    ]


def test_concatenated_streams_byte_order_mark_and_blank_lines(tmp_path):
    data = gzip.compress(b"\xef\xbb\xbf" + LINES + b"\n  \n") + gzip.compress(LINES)
    with pytest.warns(UserWarning, match=r"c\.jsonl\.gz: 2 blank lines left out$"):
        assert len(read(tmp_path / "c.jsonl.gz", data)) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{'id': 1}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"id": 1, "text": "a", "text": "b"}', "the key 'text' is there twice"),
        (b"[1, 2]", "not a JSON object"),
        (b'{"id": 1}', "key 'text' is missing"),
        (b'{"id": 1, "txt": "a"}', "key 'text' is missing; did you mean 'txt'?"),
        (b'{"text": "a"}', "key 'id' is missing"),
        (b'{"id": 1, "text": 5}', "key 'text' is int, not str"),
        (b'{"id": true, "text": "a"}', "key 'id' is bool"),
        (b'{"id": 1, "title": null, "text": "a"}', "key 'title' is NoneType"),
        (b'{"id": 1, "text": "\xff"}', "not UTF-8"),
    ],
)
def test_bad_line_is_refused_by_its_number(tmp_path, line, message):
    path = tmp_path / "c.jsonl"
    found = refusal(path, LINES + line + b"\n")
    assert found.startswith(f"{path}:3: ")
    assert message in found


def test_oversized_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "MAX_DOCUMENT_BYTES", 1000)
    data = gzip.compress(LINES + b'{"id": 1, "text": "' + b"a" * 5_000_000)
    assert ":3: the line is longer than 1000 bytes" in refusal(tmp_path / "c.jsonl.gz", data)


@pytest.mark.parametrize(("suffix", "pack"), PACKS[1:])
def test_truncated_file_is_refused(tmp_path, suffix, pack):
    data = pack(LINES * 1000)
    for end in (len(data) - 1, len(data) // 2, 5):
        assert "the file is truncated" in refusal(tmp_path / f"c.jsonl{suffix}", data[:end])


def test_damaged_and_missing_files_are_refused(tmp_path):
    data = bytearray(gzip.compress(LINES))
    data[-6] ^= 1
    assert "unreadable" in refusal(tmp_path / "c.jsonl.gz", bytes(data))
    with pytest.raises(InputError, match="no such file"):
        next(read_documents(tmp_path / "absent.jsonl", "jsonl"))


def test_unknown_format_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="unknown corpus format 'json'; did you mean 'jsonl'"):
        read_documents(tmp_path, "json")
