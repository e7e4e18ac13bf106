"""Archives: what is read of them, what is refused, and that order and dates make no difference."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from biaslab.core.archives import tar_files, write_tar
from biaslab.core.errors import InputError
from refusals import refusal

FILES = {"top/b.txt": b"two", "top/a.txt": b"one", f"top/{'long/' * 40}c.txt": b"", "top/ä.txt": b"three"}


def archive(files, level=None, **attributes):
    """Return an archive of some files in their order, packed at a level or not at all."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            for attribute, value in ({"size": len(data)} | attributes).items():
                setattr(member, attribute, value)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue() if level is None else gzip.compress(buffer.getvalue(), level)


@pytest.fixture
def written(tmp_path):
    def write(data):
        (tmp_path / "a.tar").write_bytes(data)
        return tmp_path / "a.tar"

    return write


@pytest.mark.parametrize("level", [None, 0, 9])
def test_what_is_in_an_archive_is_yielded(written, level):
    assert dict(tar_files(written(archive(FILES, level)), 2**20)) == FILES


def test_order_dates_owners_and_level_make_no_difference(written, tmp_path):
    backwards = dict(reversed(FILES.items()))
    made = set()
    for data in (archive(FILES), archive(FILES, 9, mtime=1.5, mode=0o755, uname="a"), archive(backwards, 1)):
        write_tar(tmp_path / "out.tar", tar_files(written(data), 2**20))
        made.add((tmp_path / "out.tar").read_bytes())
    assert len(made) == 1
    assert dict(tar_files(tmp_path / "out.tar", 2**20)) == FILES
    write_tar(tmp_path / "out.tar", (FILES | {"top/a.txt": b"One"}).items())
    assert (tmp_path / "out.tar").read_bytes() not in made


@pytest.mark.parametrize("level", [None, 9])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:300],
        lambda data: b"",
        lambda data: data[:200] + b"x" + data[201:],
    ],
)
def test_damaged_archives_are_refused(written, level, change):
    many = {f"{number}.txt": bytes([number]) * 1000 for number in range(30)}
    data = change(archive(many, level))
    assert "a.tar: not a readable .tar.gz" in refusal(list, tar_files(written(data), 2**20))


LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
HOLES = {"GNU.sparse.size": str(2**50), "GNU.sparse.map": "0,0"}


@pytest.mark.parametrize(
    "member", [*({"type": kind, "linkname": "/etc/hostname"} for kind in LINKS), {"pax_headers": HOLES}]
)
def test_links_devices_and_files_with_holes_are_refused(written, member):
    with pytest.raises(InputError, match="has a link or a device in it"):
        list(tar_files(written(archive({"a": b""}, **member)), 2**20))
    assert "no such file" in refusal(list, tar_files(Path("nowhere.tar"), 2**20))


@pytest.mark.parametrize("level", [None, 9])
def test_no_more_is_unpacked_than_allowed(written, level):
    with pytest.raises(InputError, match="unpacks to more than 100000 bytes"):
        list(tar_files(written(archive({"a": bytes(10**6)}, level)), 10**5))
