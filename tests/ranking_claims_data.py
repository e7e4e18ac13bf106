"""Made results of the ranking: as the slides tell, and without any effect."""

import itertools
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from biaslab.audit.claims import Claim
from biaslab.core.io import write_tsv
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.report.tables import worked_example

SETUPS = ("ranking",)
UNMET = {"slides-skew-female": "not_reproduced"}
SIZES = range(2, 11)
N_LISTS = 100_000
MEANS = {
    "score_only": {"infeasible_index": 90, "min_skew": -1.0, "max_skew": 2.0, "ndkl": 0.5, "ndcg": 1.0},
    "det_greedy": {"infeasible_index": 5, "min_skew": -0.2, "max_skew": 0.2, "ndkl": 0.2, "ndcg": 0.975},
    "det_cons": {"infeasible_index": 0, "min_skew": -0.1, "max_skew": 0.3, "ndkl": 0.1, "ndcg": 0.97},
    "det_relaxed": {"infeasible_index": 0, "min_skew": -0.1, "max_skew": 0.3, "ndkl": 0.1, "ndcg": 0.97},
    "det_const_sort": {"infeasible_index": 0, "min_skew": -0.1, "max_skew": 0.3, "ndkl": 0.13, "ndcg": 0.97},
}
"""Means with which everything is as the slides say."""
INFEASIBLE = {("score_only", m): N_LISTS for m in SIZES} | {
    ("det_greedy", m): N_LISTS // 2 for m in SIZES if m > 3
}
"""Infeasible lists by algorithm and number of values."""


def is_as_printed(claim: Claim) -> bool:
    return claim.is_counted


def write_published(
    folder: Path, _: Mapping[str, Claim] = {}, means=MEANS, infeasible=INFEASIBLE, candidates=100
) -> None:
    measures = [
        {"n_values": m, "candidates": candidates, "top": 100, "algorithm": a, "measure": name}
        | {"n_lists": N_LISTS, **_around(mean)}
        for m in SIZES
        for a, of_algorithm in means.items()
        for name, mean in of_algorithm.items()
    ]
    differences = [
        {"n_values": m, "measure": name, "algorithm": a, "other": b, "n_lists": N_LISTS}
        | _around(means[a][name] - means[b][name])
        for m in SIZES
        for a, b in itertools.combinations(means, 2)
        for name in ("min_skew", "max_skew", "ndkl", "ndcg")
    ]
    feasibility = [
        {"n_values": m, "algorithm": a, "n_lists": N_LISTS, "n_infeasible": (n := infeasible.get((a, m), 0))}
        | {"ci_low": binomtest(n, N_LISTS).proportion_ci().low}
        for m in SIZES
        for a in means
    ]
    enumeration = [
        {"algorithm": a, "n_values": m, "n_infeasible": int(a == "det_greedy" and m > 3)}
        for a in ALGORITHMS[1:]
        for m in range(2, 7)
    ]
    tables = {"simulation": measures, "differences": differences, "feasibility": feasibility}
    for name, rows in (tables | {"enumeration": enumeration}).items():
        write_tsv(folder / f"ranking/{name}.tsv", pd.DataFrame(rows))
    write_tsv(folder / "ranking/tables/worked_example.tsv", worked_example())


def _around(mean: float) -> dict[str, float]:
    return {"mean": mean, "ci_low": mean - 1e-4, "ci_high": mean + 1e-4}


_AS_BY_SCORE = partial(
    write_published,
    means=dict.fromkeys(MEANS, MEANS["score_only"]),
    infeasible={(a, m): N_LISTS for a in ALGORITHMS for m in SIZES},
)
_EQUAL = partial(
    write_published,
    means={"score_only": MEANS["score_only"]} | dict.fromkeys(ALGORITHMS[1:], MEANS["det_cons"]),
)
_TURNED = {
    a: {name: 2 * MEANS["score_only"][name] - mean for name, mean in of_algorithm.items()}
    for a, of_algorithm in MEANS.items()
}
_ORDERS = r"^(ndkl|ndcg)-det-[a-z-]+(?<!slight)$"
NULLS = {
    "by score": (_AS_BY_SCORE, "^(?!theory|slides|sim)", r"(min|max)-skew-.*"),
    "equal rankings": (_EQUAL, _ORDERS, ""),
    "turned": (partial(write_published, means=_TURNED), f"{_ORDERS}|^good|^improvement", ""),
}
