"""A cluster for the tests, where one is asked for: ``BIASLAB_CLUSTER_TESTS=1``."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.slurm import Cluster, UnavailableError, install

SWITCH = "BIASLAB_CLUSTER_TESTS"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a cluster unless it is asked for: an ordinary run of the tests installs nothing."""
    if os.environ.get(SWITCH) != "1":
        skip = pytest.mark.skip(reason=f"starts a Slurm, and installs it where it is missing: set {SWITCH}=1")
        for item in items:
            if "cluster" in getattr(item, "fixturenames", ()):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """Return a Slurm of two nodes with two cores each."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("the plugin is missing: pip install snakemake-executor-plugin-slurm")
    folder: Path = tmp_path_factory.mktemp("slurm")
    started = None
    try:
        install()
        started = Cluster(folder)
        started.start()
        yield started
    except UnavailableError as error:
        pytest.skip(str(error))
    finally:
        if started is not None:
            started.stop()
