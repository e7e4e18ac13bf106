"""Commands whose output nobody reads to the end."""

import subprocess
import sys

import pytest

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
        assert process.wait(60) == 0
    assert (tmp_path / "out").read_text() == "done"


def test_whole_output_is_as_ever():
    command = [sys.executable, "-m", "biaslab", "datasets", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Print what is here" in run.stdout
    assert run.stderr == ""


def test_a_command_without_any_output_ends_as_usual():
    command = f"{sys.executable} -m biaslab datasets --help >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0


def test_a_listing_that_is_cut_off_ends_without_a_traceback():
    listing = f"{sys.executable} -m biaslab datasets list --json"
    command = ["bash", "-c", f"set -o pipefail; {listing} | head -n 1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "[\n", "")
