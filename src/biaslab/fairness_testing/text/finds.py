"""Discriminatory texts on disk: what searches found, and which text each began with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biaslab.core.io import read_npz, write_npz
from biaslab.core.rng import stream
from biaslab.text.words import Texts


@dataclass(frozen=True)
class Finds:
    """Discriminatory pairs."""

    origins: np.ndarray  # (p,) int64: which text (of a file: row of the searched part) each began with
    texts: Texts  # x
    partners: Texts  # x'

    def __len__(self) -> int:
        return len(self.origins)

    def take(self, rows: np.ndarray) -> "Finds":
        """Return some of the pairs."""
        return Finds(self.origins[rows], self.texts.take(rows), self.partners.take(rows))


def key(part: str, feature: str, number: int, phase: str, tester: str) -> str:
    """Return the name of what one search found."""
    return f"{part}/{feature}/{number}/{phase}/{tester}"


def sample(finds: Finds, n: int, seed: int, name: str) -> Finds:
    """Return n pairs drawn at random, or all where there are no more; `name` tells draws apart."""
    if len(finds) <= n:
        return finds
    return finds.take(np.sort(stream(seed, "text pairs", name).choice(len(finds), n, replace=False)))


def save_finds(path: Path, found: Mapping[str, Finds]) -> None:
    """Write what searches found, by `key`."""
    arrays: dict[str, np.ndarray] = {}
    for name, finds in found.items():
        arrays |= finds.texts.arrays(f"{name}/x") | finds.partners.arrays(f"{name}/partner")
        arrays[f"{name}/origins"] = finds.origins
    write_npz(path, **arrays)


def load_finds(path: Path) -> dict[str, Finds]:
    """Read what `save_finds` wrote."""
    arrays = read_npz(path)
    names = [name.removesuffix("/origins") for name in arrays if name.endswith("/origins")]
    return {
        name: Finds(
            arrays[f"{name}/origins"],
            Texts.of_arrays(arrays, f"{name}/x"),
            Texts.of_arrays(arrays, f"{name}/partner"),
        )
        for name in names
    }
