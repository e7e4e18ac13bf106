"""Snakemake as a user runs it: another process, in a folder of its own, without a package index."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forks import Forks

ROOT = Path(__file__).parents[2]
SNAKEMAKE = "import runpy; runpy.run_module('snakemake', run_name='__main__', alter_sys=True)"


@pytest.fixture(scope="session")
def imported() -> Iterator[Forks]:
    """Return a Python that has imported Snakemake and its plugins, which takes longer than to plan a run."""
    with Forks("snakemake.cli", "pandas", "yaml", "jsonschema", "pydantic.dataclasses") as forks:
        yield forks


@pytest.fixture(scope="session")
def snakemake(request):
    """Return a function that runs Snakemake in a folder and gives the finished process.

    Steps are forked, as `biaslab run` lets them, or processes of their own, as on a cluster. What only plans
    has no steps, and is a fork itself unless `forks` is false.
    """

    def run(
        folder: Path,
        *arguments: object,
        snakefile: str | Path = "Snakefile",
        forks: bool = True,
        **environment: str,
    ) -> subprocess.CompletedProcess:
        given = ["--snakefile", ROOT / snakefile, "--directory", folder, *arguments]
        variables = os.environ | {"PIP_NO_INDEX": "1"} | environment
        if forks and {"--dry-run", "--lint"} & set(arguments):
            return request.getfixturevalue("imported").run(SNAKEMAKE, folder, variables, given)
        starter = ["biaslab.starter", sys.executable, "-m"] if forks else []
        command = [sys.executable, "-m", *starter, "snakemake", *given]
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, cwd=folder, env=variables
        )

    return run
