"""The order of the tests: runs of the workflow first, so that no process is left with a long one."""

import pytest

import biaslab  # noqa: F401  before a test imports numpy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the runs of the workflow first, and then files with slow tests."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.parent.name != "workflow", item.path not in slow))
