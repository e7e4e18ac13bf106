"""Files that are made to run code or to fill the memory."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
import yaml

from biaslab.core import files
from biaslab.core import io as core_io
from biaslab.core.files import read_text_table, read_yaml
from biaslab.core.io import read_npz
from refusals import refusal


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
    array = io.BytesIO()
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
    monkeypatch.setattr(core_io, "MAX_PACKED_BYTES", 10**6)
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(10**6))
    assert f"{path}: x.npy unpacks to 8000128 bytes; refused" in refusal(read_npz, path)
    np.savez_compressed(path, x=np.random.default_rng(0).random(10**6))
    assert read_npz(path)["x"].size == 10**6
