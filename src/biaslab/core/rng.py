"""Named random streams: one stream for each purpose, all from the seed of the configuration."""

import zlib

import numpy as np


def stream(seed: int, *ids: int | str) -> np.random.Generator:
    """Return the random stream of `seed` and a path of stable identifiers, e.g. ``"train", 3``."""
    words = [zlib.crc32(i.encode()) if isinstance(i, str) else int(i) for i in ids]
    return np.random.default_rng(np.random.SeedSequence([int(seed), *words]))
