"""Every measure and every algorithm for ranked lists, a row each; commands and experiments loop over them.

To add a measure or algorithm, add a row here, a function in its own module, and a slow oracle in the tests.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.core.stats import mean_interval, share_interval
from biaslab.ranking import exposure, fa_ir, geyik
from biaslab.ranking.measures import MEASURES as GEYIK_MEASURES
from biaslab.ranking.pools import UNKNOWN, Pools, Rankings, top


@dataclass(frozen=True)
class Measure:
    """A measure: one number for each ranking."""

    title: str
    fair: float  # the value of a fair ranking; for NDCG, of a ranking without loss
    # (n_lists,) float64; NaN if undefined for a list. `geyik.measure` computes measures without a function.
    compute: Callable[[Rankings], np.ndarray] | None = None
    needs_scores: bool = False
    needs_protected: bool = False
    is_share: bool = False  # 0 or 1 for each list, so that its mean is a share of the lists


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that re-ranks lists.

    `rank` takes the number of places of each list (n_lists,), at most the candidates with a known value. It
    returns rows, and for each list the number of places that miss the algorithm's target for lack of
    candidates.
    """

    title: str
    rank: Callable[[Pools, np.ndarray], tuple[np.ndarray, np.ndarray]]
    needs_protected: bool = False


MEASURES = {
    "infeasible_index": Measure("InfeasibleIndex", 0),
    "infeasible_count": Measure("InfeasibleCount", 0),
    "min_skew": Measure("MinSkew", 0),
    "max_skew": Measure("MaxSkew", 0),
    "ndkl": Measure("NDKL", 0),
    "ndcg": Measure("NDCG", 1, needs_scores=True),
    "exposure_ratio": Measure("Exposure ratio", 1, exposure.exposure_ratio),
    "awrf": Measure("AWRF", 1, exposure.awrf),
    "disparate_treatment": Measure("Disparate treatment ratio", 1, exposure.disparate_treatment, True),
    "disparate_impact": Measure("Disparate impact ratio", 1, exposure.disparate_impact, True),
    "attention_inequity": Measure("Inequity of attention", 0, exposure.attention_inequity, True),
    "fa_ir_pass": Measure("Passes FA*IR's test", 1, fa_ir.passes, needs_protected=True, is_share=True),
}

ALGORITHMS = {
    "score_only": Algorithm("Score only", partial(geyik.rank_pools, "score_only")),
    "det_greedy": Algorithm("DetGreedy", partial(geyik.rank_pools, "det_greedy")),
    "det_cons": Algorithm("DetCons", partial(geyik.rank_pools, "det_cons")),
    "det_relaxed": Algorithm("DetRelaxed", partial(geyik.rank_pools, "det_relaxed")),
    "det_const_sort": Algorithm("DetConstSort", partial(geyik.rank_pools, "det_const_sort")),
    "fa_ir": Algorithm("FA*IR", fa_ir.rank_pools, needs_protected=True),
}


def algorithm(name: str) -> Algorithm:
    """Return an algorithm."""
    if name not in ALGORITHMS:
        names = ", ".join(ALGORITHMS)
        raise InputError(f"unknown algorithm '{name}' (known: {names}){suggest(name, ALGORITHMS)}")
    return ALGORITHMS[name]


def rerank(name: str, pools: Pools, k: int) -> tuple[Rankings, np.ndarray]:
    """Re-rank the top k of each list; also return the second result of ``Algorithm.rank``.

    A candidate with an unknown value keeps the place by score.
    """
    best = top(pools, k)
    is_known = best.groups != UNKNOWN
    rows = best.rows.copy()
    rows[is_known], exhausted = algorithm(name).rank(pools, best.n_known)
    return Rankings(pools, best.n_places, rows), exhausted


def mean_of(name: str, values: np.ndarray) -> dict[str, float]:
    """Return the mean of a measure over lists, without lists in which it is infinite or undefined."""
    finite = values[np.isfinite(values)]
    if MEASURES[name].is_share:
        low, high = share_interval(int(finite.sum()), len(finite))
    else:
        low, high = mean_interval(finite)
    return {
        "n_lists": len(values),
        "n_left_out": len(values) - len(finite),
        "mean": finite.mean() if len(finite) else np.nan,
        "ci_low": low,
        "ci_high": high,
    }


def measure(rankings: Rankings) -> dict[str, np.ndarray]:
    """Return all measures that are defined for rankings, by name: (n_lists,) float64 each."""
    has_scores = rankings.pools.scores is not None
    has_protected = rankings.pools.settings.protected is not None
    values = dict(zip(GEYIK_MEASURES, geyik.measure(rankings).T, strict=True))
    return {
        name: measure.compute(rankings) if measure.compute else values[name]
        for name, measure in MEASURES.items()
        if has_scores >= measure.needs_scores and has_protected >= measure.needs_protected
    }
