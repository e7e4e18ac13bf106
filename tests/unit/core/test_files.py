"""Files that are whole or absent, whatever happens while they are written."""

import hashlib
import os
import signal
import subprocess
import sys

import pytest

from biaslab.core.files import atomic_path, remove_partial_files, write_text
from processes import heed_signals

RACE = """
import os, pathlib, sys, time
from biaslab.core.files import atomic_path
out, content, end = pathlib.Path(sys.argv[1]), sys.argv[2].encode() * 2_000_000, time.monotonic() + 2
written = 0
print("ready", flush=True)
input()
while time.monotonic() < end:
    with atomic_path(out) as temporary:
        temporary.write_bytes(content)
    written += 1
print(written)
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
    out = tmp_path / "file.bin"
    racers = [start(RACE, out, letter) for letter in "ab"]
    whole = {hashlib.sha256(letter * 2_000_000).hexdigest() for letter in (b"a", b"b")}
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    seen = set()
    while any(racer.poll() is None for racer in racers):
        if out.exists():
            seen.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert all(int(racer.communicate()[0]) > 1 for racer in racers), "both have written, many times"
    assert seen == whole
    assert os.listdir(tmp_path) == ["file.bin"]


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


def test_only_what_was_left_is_removed(tmp_path):
    kept = ["a.tsv", ".hidden", "a.partial.tsv", ".absent/a.txt", ".snakemake_timestamp"]
    for name in kept:
        write_text(tmp_path / name, "")
    remove_partial_files(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {
        *kept
    }
    remove_partial_files(tmp_path / "missing")
