"""The recipes of containers: no test builds one, so what they say is held against the repository."""

import re
import shlex
import subprocess
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
