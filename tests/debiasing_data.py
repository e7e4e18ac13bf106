"""An embedding with a planted bias, and its word lists, for the tests of debiasing."""

from pathlib import Path

import numpy as np
import yaml

PAIRS = [["she", "he"], ["woman", "man"], ["her", "his"], ["daughter", "son"]]
JOBS = [f"job{i}" for i in range(12)]
OTHERS = [f"word{i}" for i in range(60)]
WORDS = [*(word for pair in PAIRS for word in pair), *JOBS, *OTHERS]
LISTS = {
    "defining": {"sets": PAIRS},
    "equalize": {"sets": PAIRS[:2]},
    "occupations": {"words": JOBS},
    "gender-specific": {"words": [*(word for pair in PAIRS[:3] for word in pair), "word0"]},
}


def unit_vectors(seed: int, n: int, d: int, mean: float = 0.0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d)) + mean
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def vectors(lean: float) -> np.ndarray:
    """Return vectors whose jobs lean by turns to either side by `lean`, others as chance has it."""
    X = np.random.default_rng(3).normal(size=(len(WORDS), 30)) / 4
    X[1:8:2] = X[0:8:2]
    X[:8, 0] += np.tile([1, -1], 4)
    X[8:20, 0] = lean * np.tile([1, -1], 6)
    return X.astype(np.float32)


def write_lists(folder: Path, lists: dict[str, dict] = LISTS) -> list[Path]:
    files = [folder / f"{name}.yaml" for name in lists]
    for file, content in zip(files, lists.values(), strict=True):
        head = {"name": "mine", "title": "A list", "source": "a test"}
        file.write_text(yaml.safe_dump(head | content, sort_keys=False))
    return files


def options_of(lists: list[Path]) -> list[object]:
    return [part for file in lists for part in (f"--{file.stem}", file)]
