"""envs/: the recipes of containers, which no test builds, and the installation of torch."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "envs/container"
DOCKERFILE, DEFINITION = FOLDER / "Dockerfile", FOLDER / "biaslab.def"


def instructions():
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def sections():
    """Return the sections of the definition by name, each a list of lines; "" is its head."""
    found, name = {"": []}, ""
    for line in DEFINITION.read_text().splitlines():
        if line.startswith("%"):
            name = line[1:]
            assert name not in found
            found[name] = []
        elif line.strip() and not line.startswith("#"):
            found[name].append(line.strip())
    return found


def pip_calls(lines):
    commands = [part for line in lines for part in line.split(" && ") if "pip install" in part]
    return [shlex.split(command)[4:] for command in commands]


@pytest.mark.parametrize("recipe", ["docker", "apptainer"])
def test_packages_come_with_hashes_from_a_lock_file_and_nothing_else_is_downloaded(recipe):
    if recipe == "docker":
        calls = pip_calls([text for keyword, text in instructions() if keyword == "RUN"])
    else:
        calls = pip_calls(sections()["post"])
    locked, own = calls
    assert "--require-hashes" in locked
    assert locked[locked.index("--requirement") + 1] in ("${LOCK}", "{{ LOCK }}")
    assert {"--no-deps", "--no-build-isolation", "--no-index"} <= set(own)
    for lock in ("requirements.lock", "requirements-neural.lock"):
        assert (ROOT / lock).is_file()
        assert lock in DOCKERFILE.read_text()
        assert lock in DEFINITION.read_text()


def test_the_image_of_docker_does_not_run_as_root():
    steps = instructions()
    users = [text for keyword, text in steps if keyword == "USER"]
    assert users == ["${UID}"]
    assert ("ARG", "UID=1000") in steps
    assert [keyword for keyword, _ in steps].index("USER") < [k for k, _ in steps].index("ENTRYPOINT")
    made = next(text for keyword, text in steps if keyword == "RUN" and "useradd" in text)
    assert 'useradd --uid "${UID}"' in made


def test_everything_copied_is_there_and_all_that_the_build_reads_is_copied():
    copied = dict(line.split() for line in sections()["files"])
    for source, target in copied.items():
        assert (ROOT / source).exists(), source
        assert target == f"/opt/biaslab/{source}"
    needed = {"pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "workflow", "envs", "Snakefile"}
    assert {name for name in needed if (ROOT / name).exists()} <= set(copied)


def test_what_is_private_or_large_stays_out_of_the_build():
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert {".git", ".venv", ".snakemake", "build", "results/*"} <= set(ignored)
    assert not {"src", "workflow", "envs", "requirements.lock", "LICENSE", "README.md"} & set(ignored)


def test_shell_of_the_definition_is_valid():
    for name in ("post", "environment", "runscript", "test"):
        script = "\n".join(sections()[name])
        done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert sections()["post"][0] == "set -eu"
    assert sections()["runscript"] == ['exec biaslab "$@"']
    assert ("ENTRYPOINT", '["biaslab"]') in instructions()


# --- envs/neural.sh: where torch is looked for, and what is said when it is nowhere


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
