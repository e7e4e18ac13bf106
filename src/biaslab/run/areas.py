"""The list of areas."""

import functools
import importlib

from biaslab.run.area import Area

AREAS = ("origins", "ranking", "debiasing", "fairness_testing")
"""Every area, in the order in which they choose, run and report: one line adds one."""


@functools.cache
def load_area(name: str) -> Area:
    """Return an area by its name."""
    return importlib.import_module(f"biaslab.{name}.area").AREA
