"""Files that are whole or absent, whatever happens while they are written."""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from biaslab.core.files import atomic_path, check_whole, remove_partial_files, write_text
from biaslab.core.io import write_npz
from processes import heed_signals
from refusals import refusal

RACE = """
import pathlib, sys
from biaslab.core.files import atomic_path
out, content, end = pathlib.Path(sys.argv[1]), sys.argv[2].encode() * 2_000_000, pathlib.Path(sys.argv[3])
print("ready", flush=True)
input()
while not end.exists():
    with atomic_path(out) as temporary:
        temporary.write_bytes(content)
"""
STALLED = """
import sys, time
from biaslab.core.files import atomic_path
with atomic_path(sys.argv[1]) as temporary:
    temporary.write_bytes(b"half")
    print("half", flush=True)
    time.sleep(300)
"""


def start(script: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=heed_signals,
        text=True,
    )


def test_two_processes_that_race_on_one_file_leave_a_whole_one(tmp_path):
    out, end = tmp_path / "file.bin", tmp_path / "end"
    racers = [start(RACE, out, letter, end) for letter in "ab"]
    whole = {hashlib.sha256(letter * 2_000_000).hexdigest() for letter in (b"a", b"b")}
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    seen, changes = [], 0
    while changes < 20 or set(seen) < whole:
        if out.exists():
            seen.append(hashlib.sha256(out.read_bytes()).hexdigest())
            changes += seen[-1:] != seen[-2:-1]
        assert set(seen) <= whole
        assert all(racer.poll() is None for racer in racers)
    end.touch()
    assert [racer.wait() for racer in racers] == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["end", "file.bin"]


def test_the_slower_of_two_copies_may_end_last(tmp_path):
    out = tmp_path / "file.txt"
    with atomic_path(out) as slow:
        slow.write_text("slow")
        write_text(out, "fast")
        assert out.read_text() == "fast"
    assert out.read_text() == "slow"
    assert os.listdir(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_process_that_ends_while_it_writes_leaves_the_old_file(tmp_path, number):
    out = tmp_path / "folder" / "file.txt"
    write_text(out, "old")
    process = start(STALLED, out)
    assert process.stdout.readline() == "half\n"
    process.send_signal(number)
    process.communicate()
    assert out.read_text() == "old"
    assert len(os.listdir(out.parent)) == 1 + (number == signal.SIGKILL)
    remove_partial_files(tmp_path)
    assert os.listdir(out.parent) == ["file.txt"]


@pytest.mark.parametrize("umask", [0o077, 0o002])
def test_a_new_file_has_what_the_umask_leaves_and_a_replaced_one_keeps_its_permissions(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_text(tmp_path / "new.txt", "new")
        write_npz(tmp_path / "new.npz", x=np.zeros(2))
        with atomic_path(tmp_path / "new.safetensors") as temporary:  # its library replaces the file
            handle, name = tempfile.mkstemp(dir=tmp_path)
            os.close(handle)
            os.replace(name, temporary)
        for mode in (0o600, 0o640, 0o444, 0o666):
            write_text(tmp_path / f"{mode:o}.txt", "old")
            (tmp_path / f"{mode:o}.txt").chmod(mode)
            write_text(tmp_path / f"{mode:o}.txt", "new")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert {modes[name] for name in ("new.txt", "new.npz", "new.safetensors")} == {0o666 & ~umask}
    assert all(modes[f"{mode:o}.txt"] == mode for mode in (0o600, 0o640, 0o444, 0o666))


def test_a_private_file_is_private_while_it_is_replaced(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    (tmp_path / "a.txt").chmod(0o600)
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert temporary.stat().st_mode & 0o777 == 0o600


def test_only_what_was_left_is_removed(tmp_path):
    kept = ["a.tsv", ".hidden", "a.partial.tsv", ".absent/a.txt", ".snakemake_timestamp"]
    for name in kept:
        write_text(tmp_path / name, "")
    remove_partial_files(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {
        *kept
    }
    remove_partial_files(tmp_path / "missing")


def test_a_table_without_a_last_line_end_may_be_cut(tmp_path):
    path = tmp_path / "a.tsv"
    for whole in ("", "a\tb\n", "a\n1\r\n", "a\r1\r"):
        path.write_bytes(whole.encode())
        check_whole(path)
    for cut in (b"a\tb", b"a\n1\n2"):
        path.write_bytes(cut)
        assert "a.tsv: the last line has no end" in refusal(check_whole, path)
    for other in ("a\n".encode("utf-16"), b"PK\x00\x01\n"):
        path.write_bytes(other)
        assert "a.tsv: binary, or text in UTF-16" in refusal(check_whole, path)
