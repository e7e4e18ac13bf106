"""How many baseline embeddings are enough: whether other seeds rank the documents alike."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import EFFECTS
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rankings import agreement
from biaslab.core.rng import stream

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["seed_stability"]
MAX_DRAWS = 100
"""Draws of seeds at most; where there are no more ways to choose them, all are taken."""


def write_stability(differential_bias: list[Path], stability_table: Path, seed: int) -> None:
    """Measure how far the ranking of documents depends on the baselines' seeds, by their number."""
    parts = [stability(read_parquet(path), path.stem, seed) for path in differential_bias]
    write_tsv(stability_table, pd.concat(parts, ignore_index=True))


def stability(differential_bias: pd.DataFrame, weat: str, seed: int) -> pd.DataFrame:
    """Compare the documents' influence over some seeds with that over others: ``seed_stability.tsv``.

    The mean over k seeds is compared with the mean over all seeds left out, for every k from 1 to n - 1,
    and with the mean over k of them, for every k up to n / 2. Documents without a word of the test, all
    of whose estimates are 0, do not count.
    """
    columns = [c for c in differential_bias.columns if c.startswith("influence_seed")]
    values = differential_bias[columns].to_numpy(np.float64)
    values = values[(values != 0).any(axis=1)]
    n_documents, n = values.shape
    if n < 2 or n_documents < 2:
        raise InputError(
            f"{weat}: {n} baselines and {n_documents} documents with words of the test; it takes two of each"
        )
    sizes = [(k, n - k) for k in range(1, n)] + [(k, k) for k in range(1, (n + 1) // 2)]
    parts = []
    for k, m in sizes:
        draws = draw_seeds(n, k, m, stream(seed, "seed stability", weat, k, m))
        means = [(values[:, a].mean(axis=1), values[:, b].mean(axis=1)) for a, b in draws]
        found = [agreement(first, second, EFFECTS) for first, second in means]
        part = pd.DataFrame(found).agg(["mean", "std"]).T.rename(columns={"std": "sd"})
        part.index = pd.MultiIndex.from_tuples(part.index, names=["measure", "tail", "top"])
        parts.append(part.reset_index().assign(n_seeds=k, n_reference=m, n_draws=len(draws)))
    table = pd.concat(parts, ignore_index=True).assign(weat=weat)
    return table[list(COLUMNS)]


def draw_seeds(n: int, k: int, m: int, rng: np.random.Generator) -> list[tuple[list[int], list[int]]]:
    """Choose k and m of n seeds, none twice: in every way, or in `MAX_DRAWS` random ones of more."""
    if math.comb(n, k) * math.comb(n - k, m) <= MAX_DRAWS:
        return [
            (list(a), list(b))
            for a in itertools.combinations(range(n), k)
            for b in itertools.combinations([s for s in range(n) if s not in a], m)
        ]
    drawn: dict[tuple, tuple[list[int], list[int]]] = {}
    while len(drawn) < MAX_DRAWS:
        order = rng.permutation(n).tolist()
        a, b = sorted(order[:k]), sorted(order[k : k + m])
        drawn.setdefault((*a, *b), (a, b))
    return list(drawn.values())
