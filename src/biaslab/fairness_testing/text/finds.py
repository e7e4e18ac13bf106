"""The finds of searches: distinct texts, counts, starts of local phases, and the file of finds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biaslab.core.io import read_npz, write_npz
from biaslab.core.rng import stream
from biaslab.fairness_testing.text._kernels import hash_texts, number_sorted
from biaslab.fairness_testing.text.discrimination import exchange
from biaslab.fairness_testing.text.search import GlobalSearch, LocalSearch
from biaslab.text.words import Texts


@dataclass(frozen=True)
class Finds:
    """Discriminatory pairs."""

    origins: np.ndarray  # (p,) int64: the original text of each (in a file: row of the searched part)
    texts: Texts  # x
    partners: Texts  # x'

    def __len__(self) -> int:
        return len(self.origins)

    def take(self, rows: np.ndarray) -> "Finds":
        """Return the pairs in rows."""
        return Finds(self.origins[rows], self.texts.take(rows), self.partners.take(rows))


def key(part: str, feature: str, number: int, phase: str, tester: str) -> str:
    """Return the key of the finds of a search."""
    return f"{part}/{feature}/{number}/{phase}/{tester}"


def draw_rows(n: int, limit: int | None, *ids: int | str) -> np.ndarray:
    """Return sorted rows drawn from n: at most `limit`, all for None; `ids` name the random stream."""
    if limit is None or n <= limit:
        return np.arange(n)
    return np.sort(stream(*ids).choice(n, limit, replace=False))


def save_finds(path: Path, found: Mapping[str, Finds]) -> None:
    """Write the finds of searches, by `key`."""
    arrays: dict[str, np.ndarray] = {}
    for name, finds in found.items():
        arrays |= finds.texts.arrays(f"{name}/x") | finds.partners.arrays(f"{name}/partner")
        arrays[f"{name}/origins"] = finds.origins
    write_npz(path, **arrays)


def load_finds(path: Path) -> dict[str, Finds]:
    """Read the file of `save_finds`."""
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


def number_texts(texts: Texts) -> np.ndarray:
    """Return the index of the first equal text for each text, (n,) int64."""
    hashes = hash_texts(texts.ids, texts.offsets)
    return number_sorted(texts.ids, texts.offsets, np.argsort(hashes, kind="stable"), hashes)


def distinct(texts: Texts) -> np.ndarray:
    """Return the sorted indices of texts that do not equal an earlier text, (u,) int64."""
    return np.flatnonzero(number_texts(texts) == np.arange(len(texts)))


def count_global(search: GlobalSearch) -> tuple[int, int]:
    """Return the number of discriminatory seeds, and of distinct texts found by perturbing other seeds."""
    perturbed = search.texts.take(np.flatnonzero(search.found > 0))
    return int((search.found == 0).sum()), len(distinct(perturbed))


def starts_of(search: GlobalSearch) -> np.ndarray:
    """Return the seeds of the local phase's starting texts, (s,) int64: all finds, each text once."""
    rows = np.flatnonzero(search.found >= 0)
    return rows[distinct(search.texts.take(rows))]


def count_local(search: LocalSearch) -> tuple[int, int]:
    """Return the number of distinct visited texts, and of discriminatory texts among them."""
    numbers = number_texts(search.texts())
    is_found = search.discriminatory[search.is_visit]
    return len(np.unique(numbers)), len(np.unique(numbers[is_found]))


def global_finds(search: GlobalSearch, seeds: np.ndarray) -> Finds:
    """Return the pairs of all seeds that are or became discriminatory, each text once, by seed.

    `seeds`, (n,) int64, are the rows of the searched texts.
    """
    rows = starts_of(search)
    texts = search.texts.take(rows)
    return Finds(seeds[rows], texts, exchange(texts, search.replaced[rows], search.value[rows]))


def local_finds(search: LocalSearch, origins: np.ndarray) -> Finds:
    """Return the discriminatory pairs on walks, each text once, in the order of first visits, by start.

    `origins`, (n,) int64, are the rows in which the walks began.
    """
    is_found = search.discriminatory
    texts = search.texts().take(np.flatnonzero(is_found[search.is_visit]))
    partners = exchange(texts, search.replaced[is_found], search.value[is_found])
    return Finds(origins[np.nonzero(is_found)[0]], texts, partners).take(distinct(texts))
