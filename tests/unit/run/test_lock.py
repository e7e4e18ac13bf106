"""One run at a time: a lock that waits, and that no death leaves behind."""

import errno
import os
import subprocess
import sys

import pytest

from biaslab.core.errors import InputError
from biaslab.run.life.lock import hold

HOLDER = """
import pathlib, subprocess, sys
from biaslab.run.life.lock import hold
hold(pathlib.Path(sys.argv[1]))
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
heir = subprocess.Popen(sys.argv[2], shell=True, close_fds=False)
print("held", flush=True)
input()
"""


def start(lock, heir="true"):
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock), heir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_run_waits_until_the_first_is_killed(tmp_path):
    lock = tmp_path / ".snakemake" / "lock"
    first = start(lock)
    assert first.stdout.readline() == "held\n"
    second = start(lock)
    assert f"process {first.pid} works in this folder" in second.stderr.readline()
    assert second.poll() is None
    first.kill()  # though its child lives on
    assert second.stdout.readline() == "held\n"
    assert lock.read_text() == f"{second.pid}\n"
    for process in (first, second):
        process.kill()
        process.communicate()


def test_a_second_run_waits_for_what_a_killed_one_has_left(tmp_path):
    lock = tmp_path / "lock"
    first = start(lock, heir=f"until [ -e '{tmp_path}/end' ]; do sleep 0.05; done")
    assert first.stdout.readline() == "held\n"
    first.kill()
    first.wait()
    second = start(lock)
    said = f"biaslab: processes started by process {first.pid} still work in this folder"
    said += "; waiting for the end\n"
    assert second.stderr.readline() == said
    (tmp_path / "end").touch()
    assert second.stdout.readline() == "held\n"
    second.communicate("\n")
    first.communicate()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        hold(tmp_path / "file" / "lock")


def test_a_full_disk_is_refused(tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", no_space)
    with pytest.raises(InputError, match=r"cannot write .*lock: No space left on device; free space"):
        hold(tmp_path / "lock")
