"""The discriminatory samples that testers found, in the one file of a classifier."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from biaslab.core.io import read_npz, write_npz
from biaslab.fairness_testing.testers.registry import paper_testers


def save_found(file: Path, found: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write samples, (n, d) int32 each, by protected attribute and tester."""
    arrays = {_key(name, tester): X for name, of_name in found.items() for tester, X in of_name.items()}
    write_npz(file, **arrays)


def load_found(file: Path, attribute: str) -> dict[str, np.ndarray]:
    """Read the samples of one protected attribute, by tester."""
    arrays = read_npz(file, tuple(_key(attribute, tester) for tester in paper_testers()))
    return {tester: arrays[_key(attribute, tester)] for tester in paper_testers()}


def _key(attribute: str, tester: str) -> str:
    return f"{attribute}:{tester}"
