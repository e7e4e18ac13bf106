"""The order of the tests, the longest first, so that no process is left with one; and their threads."""

import os
from pathlib import Path

import pytest

import biaslab  # noqa: F401  before a test imports numpy
from properties import load_profile

# Threads of OpenMP wait for each other in a loop. Where tests run beside each other, those that wait take the
# cores from those that work: two processes trained small networks in 300 s that took 19 s one at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

load_profile()

HERE = Path(__file__).parent
LONGEST = (
    "workflow/test_smoke.py",
    "docs/test_commands.py",
    "workflow/test_kill.py",
    "workflow/test_nyt.py",
    "workflow/test_installed.py",
)
"""Files that take longer than a minute, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, then the other runs of the workflow, and then files with slow tests."""
    ranks = {HERE / name: rank for rank, name in enumerate(LONGEST)}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(
        key=lambda item: (
            ranks.get(item.path, len(ranks)),
            item.path.parent.name != "workflow",
            item.path not in slow,
        )
    )
