"""Commands whose output nobody reads to the end, or that has no room."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from biaslab import cli

needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
PROGRAM = """
import sys
from pathlib import Path
from biaslab.cli.output import outlive_readers

outlive_readers()
for number in range(20_000):
    print("a line of text", number, file=sys.{stream})
Path(sys.argv[1]).write_text("done")
print("the end", file=sys.{stream})
"""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_whose_output_is_cut_off_does_its_work(tmp_path, stream):
    command = [sys.executable, "-c", PROGRAM.format(stream=stream), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        other = process.stderr if stream == "stdout" else process.stdout
        pipe = getattr(process, stream)
        assert pipe.readline() == b"a line of text 0\n"
        pipe.close()
        assert other.read() == b""
        assert process.wait(600) == 0
    assert (tmp_path / "out").read_text() == "done"


def test_a_command_without_any_output_ends_as_usual():
    command = f"{sys.executable} -m biaslab datasets --help >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0


def test_a_listing_that_is_cut_off_ends_without_a_traceback():
    listing = f"{sys.executable} -m biaslab datasets list --json"
    command = ["bash", "-c", f"set -o pipefail; {listing} | head -n 1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "[\n", "")


@needs_full_device
@pytest.mark.parametrize(
    ("arguments", "full", "line"),
    [
        ("--version", "stdout", "cannot write standard output: No space left on device; free space"),
        (
            "datasets list --json",
            "stdout",
            "cannot write standard output: No space left on device; free space",
        ),
        ("step no.step --given {}", "stderr", ""),
    ],
)
def test_output_without_room_costs_one_line_at_most(arguments, full, line):
    with open("/dev/full", "w") as device:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {full: device}
        command = [sys.executable, "-m", "biaslab", *arguments.split()]
        run = subprocess.run(command, **streams, text=True, check=False)
    assert run.returncode == 2
    assert (run.stderr or "").startswith(f"biaslab: {line}" if line else "")
    assert len((run.stderr or "").splitlines()) == bool(line)


def test_a_full_disk_is_told_in_one_line_wherever_it_is_met(monkeypatch, capsys):
    def refuse(arguments):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/x")

    monkeypatch.setattr(cli, "_run", refuse)
    monkeypatch.setattr(cli, "outlive_readers", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    said = "biaslab: cannot write /tmp/x: No space left on device; free space or choose another folder\n"
    assert capsys.readouterr().err == said
