"""Files of tables, arrays and YAML: round trips, a full disk, and files made to run code or fill memory."""

import errno
import os
import resource
import subprocess
import sys
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.core import files, io
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, read_yaml
from biaslab.core.io import read_npz
from refusals import refusal

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


def billion_laughs(depth=9, width=9):
    lines = [f"a0: &a0 [{','.join(['x'] * width)}]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * width)}]" for i in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'seed: !!python/object/apply:os.system ["touch pwned"]',
            "line 1: not valid YAML (could not determine",
        ),
        ("a: 1\nseed: !!python/name:os.system", "line 2: not valid YAML (could not determine a constructor"),
        ("seed: !mine 1", "line 1: not valid YAML (could not determine a constructor for the tag '!mine')"),
        (billion_laughs(), "grows to too many values"),
        ("a: &a\n  b: *a", "refers to itself"),
        ("a: &a [*a]", "refers to itself"),
        ("a: 1\nb: 2\na: 3\n", "line 3: not valid YAML (the key 'a' occurs more than once)"),
        ("x:\n  b: 1\n  'b': 2\n", "line 3: not valid YAML (the key 'b' occurs more than once)"),
        ("- {c: 1, c: 1}\n", "line 1: not valid YAML (the key 'c' occurs more than once)"),
        ("1: a\n1: b\n", "line 2: not valid YAML (the key '1' occurs more than once)"),
    ],
)
def test_yaml_that_would_run_code_fill_the_memory_or_lose_a_key_is_refused(
    tmp_path, monkeypatch, text, message
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert message in refusal(read_yaml, path)
    assert list(tmp_path.iterdir()) == [path]


def test_yaml_may_refer_to_what_it_holds(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: [*a, *a]\nc: {<<: *a, y: 3}\n")
    assert read_yaml(path) == {"a": {"x": 1, "y": 2}, "b": [{"x": 1, "y": 2}] * 2, "c": {"x": 1, "y": 3}}
    values = [list(range(1000))] * 1000
    path.write_text(yaml.safe_dump({"a": values[:500]}))
    assert len(read_yaml(path)["a"]) == 500
    path.write_text(yaml.safe_dump({"a": values}))
    assert "too many values" in refusal(read_yaml, path)


def test_yaml_of_the_size_of_data_is_refused_unread(tmp_path):
    path = tmp_path / "config.yaml"
    with path.open("wb") as file:
        file.truncate(2**34)
    assert "larger than 16777216 bytes; name another file" in refusal(read_yaml, path)


def test_a_table_with_an_endless_line_is_refused_in_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_CHARACTERS", 2**20)
    path = tmp_path / "table.tsv"
    with path.open("w") as file:
        file.write("a\tb\n1\t2\n")
        file.writelines("x" * 2**20 for _ in range(64))
        file.write("\n")
    tracemalloc.start()
    message = refusal(read_text_table, path, ["a", "b"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message == f"{path}:3: the line is longer than 1048576 characters; break it"
    assert peak < 16e6


def write_member(path, header, data=b"", packed=zipfile.ZIP_STORED):
    array = BytesIO()
    np.lib.format.write_array_header_1_0(array, header)
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("x.npy", array.getvalue() + data)


def damage(path):
    np.savez_compressed(path, x=np.random.default_rng(0).random(10**4))
    data = bytearray(path.read_bytes())
    data[200:260] = bytes(60)
    path.write_bytes(data)


def write_endless_header(path, text=b"{'descr': ("):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)


def write_objects(path):
    np.savez(path, x=np.array([{}], object))


FLOATS = {"descr": "<f8", "fortran_order": False}


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_member(path, FLOATS | {"shape": (2**45,)}, bytes(8)),  # more than memory holds
        lambda path: write_member(path, FLOATS | {"shape": (10,)}, bytes(8)),  # more than there is
        damage,
        write_endless_header,
        write_objects,
    ],
)
def test_arrays_that_are_not_what_they_announce_are_refused(tmp_path, write):
    write(tmp_path / "a.npz")
    assert f"{tmp_path}/a.npz: not a readable .npz file (" in refusal(read_npz, tmp_path / "a.npz")


def test_an_array_that_is_packed_a_hundred_to_one_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "MAX_PACKED_BYTES", 10**6)
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(10**6))
    assert f"{path}: x.npy unpacks to 8000128 bytes; refused" in refusal(read_npz, path)
    np.savez_compressed(path, x=np.random.default_rng(0).random(10**6))
    assert read_npz(path)["x"].size == 10**6
