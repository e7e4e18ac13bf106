"""What a method of debiasing is."""

from typing import NamedTuple


class Method(NamedTuple):
    """A method of debiasing."""

    name: str  # what configurations and commands call it
    title: str  # what tables and figures call it
    source: str  # where it comes from
    # "MODULE:FUNCTION" in this folder, which takes an `Experiment` and returns unit vectors, float64 (V, d)
    function: str
