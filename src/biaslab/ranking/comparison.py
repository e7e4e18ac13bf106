"""Every registered algorithm and measure on the random lists of the simulation.

The lists are drawn as in the simulation, from a separate random stream. The protected value of FA*IR is the
first value, 0; its desired share is random like all shares.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.ranking import registry
from biaslab.ranking.feasibility import write_search
from biaslab.ranking.pools import Groups, Pools, Settings
from biaslab.ranking.simulation import check_top, draw

PROTECTED = "0"


def compare(sizes: Sequence[int], n_lists: int, candidates: int, top: int, seed: int) -> pd.DataFrame:
    """Re-rank random lists by every algorithm, and compute every measure of the rankings."""
    check_top(top, candidates)
    rows = []
    for m in tqdm(sizes, desc="comparison", unit="size", disable=None):
        scores, desired = draw(m, n_lists, candidates, stream(seed, "ranking comparison", m))
        pools = pools_of(scores, desired, Settings(protected=PROTECTED))
        for name in registry.ALGORITHMS:
            rankings, _ = registry.rerank(name, pools, top)
            keys = {"n_values": m, "algorithm": name}
            rows += [
                keys | {"measure": measure} | registry.mean_of(measure, values)
                for measure, values in registry.measure(rankings).items()
            ]
    return pd.DataFrame(rows)


def write_comparison(
    attribute_values: list[int],
    compared_lists: int,
    candidates: int,
    top: int,
    seed: int,
    out: Path,
    enumeration: Path,
) -> None:
    """Compare all algorithms by all measures, and search small distributions for infeasible rankings."""
    write_tsv(out, compare(attribute_values, compared_lists, candidates, top, seed))
    write_search(enumeration)


def pools_of(scores: np.ndarray, desired: np.ndarray, settings: Settings) -> Pools:
    """Return lists as pools: scores (n_lists, m, c) of c candidates per value; desired (n_lists, m)."""
    n_lists, m, c = scores.shape
    names, rows = [str(a) for a in range(m)], np.repeat(np.arange(n_lists * m), c)
    groups = Groups.of_all_values(names, rows, desired)
    return Pools(np.arange(n_lists + 1) * m * c, groups, scores.ravel(), settings)
