import errno
import os
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from biaslab.core import files, io
from biaslab.core.errors import InputError

TABLE = pd.DataFrame({"word": ["NA", "the", ""], "count": [3, 1, 2], "value": [0.1, float("nan"), 1e-300]})
WRITERS = {
    "table.tsv": lambda path: io.write_tsv(path, pd.concat([TABLE] * 5000)),
    "table.parquet": lambda path: io.write_parquet(
        path, pd.DataFrame({"x": np.random.default_rng(0).random(9000)})
    ),
    "arrays.npz": lambda path: io.write_npz(path, a=np.zeros(20_000), b=np.ones(3)),
    "text.txt": lambda path: files.write_text(path, "x" * 100_000),
    "value.json": lambda path: files.write_json(path, list(range(20_000))),
}
LIMIT = 8192  # bytes


def test_tables_round_trip(tmp_path):
    io.write_tsv(tmp_path / "a/b/t.tsv", TABLE)
    again = io.read_tsv(tmp_path / "a/b/t.tsv")
    assert again["word"].tolist()[:2] == ["NA", "the"]
    np.testing.assert_allclose(again["value"], TABLE["value"], rtol=1e-9)
    io.write_parquet(tmp_path / "t.parquet", TABLE)
    pd.testing.assert_frame_equal(io.read_parquet(tmp_path / "t.parquet"), TABLE)
    assert list(io.read_parquet(tmp_path / "t.parquet", ["count"])) == ["count"]


@pytest.mark.parametrize("name", WRITERS)
def test_equal_content_gives_equal_bytes(tmp_path, name):
    for folder in ("a", "b"):
        WRITERS[name](tmp_path / folder / name)
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert [p.name for p in (tmp_path / "a").iterdir()] == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    """A limit on the size of files stands for the full disk: the system refuses to write more."""
    path = tmp_path / name
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, limits[1]))
    try:
        with pytest.raises(InputError, match=f"cannot write .*{name}: .*free space"):
            WRITERS[name](path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_room_for_a_new_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "open", full)
    with pytest.raises(InputError, match=r"cannot write .*x.txt: No space left on device"):
        files.write_text(tmp_path / "x.txt", "x")


def test_an_error_while_writing_leaves_nothing(tmp_path):
    def fail():
        with files.atomic_path(tmp_path / "x") as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read", [io.read_tsv, io.read_parquet, io.read_npz])
def test_missing_and_damaged_files(tmp_path, read):
    with pytest.raises(InputError, match="no such file; run the step that makes it first"):
        read(tmp_path / "absent")
    (tmp_path / "damaged").write_bytes(b"\x00\xff\xfe" * 100)
    with pytest.raises(InputError, match=r"damaged: (binary|.* \()"):
        read(tmp_path / "damaged", *([("x",)] if read is io.read_tsv else []))


def test_missing_columns_and_arrays_are_refused(tmp_path):
    for name, read in (("table.tsv", io.read_tsv), ("arrays.npz", io.read_npz)):
        WRITERS[name](tmp_path / name)
        with pytest.raises(InputError, match=r"(column|array) 'wrod' is missing"):
            read(tmp_path / name, ("wrod",))


def test_an_interrupted_command_ends_with_one_line():
    code = "import biaslab.cli as c\ndef f(*_, **__): raise KeyboardInterrupt\nc.app = f\n"
    code += "import sys; sys.argv = ['biaslab', 'cache']; c.main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 130
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith("biaslab: ")
