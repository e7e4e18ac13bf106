"""Snakemake as a user runs it: another process, in a folder of its own, without a package index."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def snakemake() -> Callable[..., subprocess.CompletedProcess]:
    """Return a function that runs Snakemake in a folder and gives the finished process.

    Steps are forked, as `biaslab run` lets them, or processes of their own, as on a cluster.
    """

    def run(
        folder: Path,
        *arguments: object,
        snakefile: str | Path = "Snakefile",
        forks: bool = True,
        **environment: str,
    ) -> subprocess.CompletedProcess:
        starter = ["biaslab.starter", sys.executable, "-m"] if forks else []
        command = [sys.executable, "-m", *starter, "snakemake", "--snakefile", ROOT / snakefile]
        command += ["--directory", folder, *arguments]
        variables = os.environ | {"PIP_NO_INDEX": "1"} | environment
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, cwd=folder, env=variables
        )

    return run
