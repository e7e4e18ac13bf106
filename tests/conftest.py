"""The order of the tests, the longest first, so that no process is left with one; and their threads."""

import os
from pathlib import Path

import pytest

import biaslab  # noqa: F401  before a test imports numpy
from properties import load_profile
from smoke_run import run_once

# Threads of OpenMP wait for each other in a loop. Where tests run beside each other, those that wait take the
# cores from those that work: two processes trained small networks in 300 s that took 19 s one at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

load_profile()

HERE = Path(__file__).parent
LONGEST = (
    "workflow/test_smoke.py",
    "docs/test_consoles.py",
    "docs/test_recorded_crates.py",
    "workflow/test_kill.py",
    "workflow/test_nyt.py",
    "workflow/test_installed.py",
)
"""Files that take longer than half a minute, the longest first."""
COMPILING = tuple(
    HERE / name for name in ("integration", "unit/classifiers", "unit/fairness_testing", "unit/text")
)
"""Folders whose tests need many of the kernels that the smoke run compiles."""


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Leave bytes out of the names of tests: gzip writes the time, but all workers must collect one name."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, then the other runs of the workflow, and then files with slow tests.

    Tests of the smoke run and of its kernels come last. No process then waits for the one that makes the run,
    or compiles kernels a second time.
    """
    ranks = {HERE / name: rank for rank, name in enumerate(LONGEST)}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(
        key=lambda item: (
            ranks.get(item.path, len(ranks)),
            "smoke_run" in item.fixturenames or any(map(item.path.is_relative_to, COMPILING)),
            item.path.parent.name != "workflow",
            item.path not in slow,
        )
    )


@pytest.fixture(scope="session")
def smoke_run(request, tmp_path_factory) -> Path:
    """Return the folder of a finished run of the smoke preset, which all processes of the tests share."""
    base = tmp_path_factory.getbasetemp()
    is_one_of_many = hasattr(request.config, "workerinput")
    return run_once((base.parent if is_one_of_many else base) / "smoke")
