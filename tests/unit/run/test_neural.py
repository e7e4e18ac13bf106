"""envs/neural.sh: where torch is looked for, and what is said when it is nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHON = """#!{executable}
import json, os, sys
if sys.argv[1] == "-c":
    sys.exit({version!r} != "3.11")
with open("calls", "a") as calls:
    print(json.dumps(sys.argv[1:]), file=calls)
given = sys.argv[1:]
source = "own" if "--index-url" in given else "pip" if "--no-deps" in given else "rest"
if source in {fails!r}:
    print("WARNING: noise", "ERROR: No matching distribution found for x", sep="\\n", file=sys.stderr)
    sys.exit(1)
"""


@pytest.fixture
def install(tmp_path):
    def run(*fails, version="3.11"):
        python = tmp_path / "python"
        python.write_text(
            PYTHON.format(executable=sys.executable, fails=fails, version=version), encoding="utf-8"
        )
        python.chmod(0o755)
        done = subprocess.run(
            ["bash", ROOT / "envs/neural.sh", python],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        calls = tmp_path / "calls"
        lines = calls.read_text(encoding="utf-8").splitlines()
        calls.unlink()
        return done, lines

    return run


def test_pip_as_it_is_configured_comes_first(install):
    done, calls = install()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(calls) == 2
    assert CPU_INDEX not in "".join(calls)
    assert all("--require-hashes" in call for call in calls)


def test_then_comes_the_index_of_torch(install):
    done, calls = install("pip")
    assert done.returncode == 0
    assert CPU_INDEX in done.stdout
    assert [CPU_INDEX in call for call in calls] == [False, True, False]
    assert all("--require-hashes" in call for call in calls)  # a wrong hash is never taken
    done, calls = install("pip", version="3.12")
    assert done.returncode == 0
    assert ["--require-hashes" in call for call in calls] == [True, False, True]
    assert "torch==2.13.0+cpu" in calls[1]


@pytest.mark.parametrize("fails", [("pip", "own"), ("rest",)])
def test_where_nothing_has_it_the_remedy_is_said_without_the_errors_of_pip(install, fails):
    done, _ = install(*fails)
    assert done.returncode == 1
    assert "ERROR" not in done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    assert "(No matching distribution found for x)" in done.stderr
    if "own" in fails:
        assert done.stderr.splitlines()[-1].endswith("-m pip install 'biaslab[neural]'")
    else:
        assert "the same command tries again" in done.stderr.lower()
