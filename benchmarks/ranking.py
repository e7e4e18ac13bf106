"""Five rankings of a list with all measures: batches and single lists against pandas and plain Python."""

import math
import time

from biaslab.core.rng import stream
from biaslab.ranking.algorithms import ALGORITHMS, rerank
from biaslab.ranking.batches import measure_batch
from biaslab.ranking.measures import measure
from biaslab.ranking.simulation import draw

import numpy as np
import pandas as pd

SIZES = range(2, 11)
CANDIDATES = K = 100
LISTS = {"pandas": 3, "single": 30, "batch": 2000}
"""Lists of every size that are timed."""
THREADS = 2


def rank_one_after_the_other(queues, desired, k_max, algorithm):
    """Follow DetGreedy, DetCons or DetRelaxed; queues hold (score, position) of each value, best first."""
    counts = [0] * len(desired)
    order = []
    for k in range(1, k_max + 1):
        left = [a for a in range(len(desired)) if counts[a] < len(queues[a])]
        ceilings = [math.ceil(k * p - 1e-9) for p in desired]
        below_min = [a for a in left if counts[a] < math.floor(k * desired[a] + 1e-9)]
        below_max = [a for a in left if counts[a] < ceilings[a]]
        allowed = below_min or below_max
        if not below_min and algorithm != "det_greedy":
            last = {a: ceilings[a] / desired[a] for a in below_max}
            if algorithm == "det_relaxed":
                last = {a: math.ceil(place - 1e-9) for a, place in last.items()}
            least = min(last.values()) + 1e-9
            allowed = [a for a in below_max if last[a] <= least]
        best = max(allowed, key=lambda a: queues[a][counts[a]][0])
        order.append(queues[best][counts[best]][1])
        counts[best] += 1
    return order


def rank_by_constraints(queues, desired, k_max):
    """Follow DetConstSort."""
    counts = [0] * len(desired)
    placed = []  # [score, position, last place]
    k = 0
    while len(placed) < k_max:
        k += 1
        risen = [a for a, p in enumerate(desired) if math.floor(k * p + 1e-9) > counts[a]]
        for a in sorted(risen, key=lambda a: -queues[a][counts[a]][0]):
            placed.append([*queues[a][counts[a]], k])
            counts[a] += 1
            i = len(placed) - 1
            while i > 0 and placed[i - 1][0] < placed[i][0] and placed[i - 1][2] > i:
                placed[i - 1], placed[i] = placed[i], placed[i - 1]
                i -= 1
    return [position for _, position, _ in placed[:k_max]]


def measures_by_pandas(table, desired, order):
    """Measure a ranking by whole columns: no loops over places."""
    top = table.iloc[order]
    places = np.arange(1, len(order) + 1)
    counts = (
        pd.get_dummies(top["value"]).reindex(columns=range(len(desired)), fill_value=0).cumsum().to_numpy()
    )
    short = counts < np.floor(np.outer(places, desired) + 1e-9)
    shares = counts / places[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(shares / desired)
        divergences = np.where(shares > 0, shares * logs, 0).sum(axis=1)
    weights = 1 / np.log2(places + 1)
    ideal = table["score"].nlargest(len(order)).to_numpy()
    return (
        short.any(axis=1).sum(),
        short.sum(),
        logs[-1].min(),
        logs[-1].max(),
        (divergences * weights).sum() / weights.sum(),
        (top["score"] * weights).sum() / (ideal * weights).sum(),
    )


def measure_by_pandas(scores, desired):
    """Rank one list (m, c) by every algorithm and measure each ranking."""
    m, c = scores.shape
    table = pd.DataFrame({"score": scores.ravel(), "value": np.repeat(np.arange(m), c)})
    by_score = table.sort_values("score", ascending=False, kind="stable")
    queues = [list(zip(g["score"], g.index, strict=True)) for _, g in by_score.groupby("value")]
    shares = desired.tolist()
    rankings = [by_score.index[:K].tolist()]
    rankings += [rank_one_after_the_other(queues, shares, K, algorithm) for algorithm in ALGORITHMS[1:4]]
    rankings.append(rank_by_constraints(queues, shares, K))
    return [measures_by_pandas(table, desired, order) for order in rankings]


def measure_alone(scores, desired):
    """Rank and measure one list by the public functions for single lists."""
    values = np.repeat(np.arange(len(desired)), scores.shape[1])
    flat = scores.ravel()
    return [
        measure(flat, values, desired, rerank(flat, values, desired, K, algorithm), K)
        for algorithm in ALGORITHMS
    ]


def one_by_one(function):
    """Return a function of batches that takes one list after the other."""
    return lambda scores, desired: [function(s, d) for s, d in zip(scores, desired, strict=True)]


def fastest(function, scores, desired, times=3):
    """Return the result, and the least of some times, in microseconds a list."""
    clock = []
    for _ in range(times):
        start = time.perf_counter()
        result = function(scores, desired)
        clock.append(time.perf_counter() - start)
    return np.asarray(result), min(clock) * 1e6 / len(scores)


def main():
    ways = {
        "pandas": one_by_one(measure_by_pandas),
        "single": one_by_one(measure_alone),
        "batch": lambda scores, desired: measure_batch(scores, desired, K, THREADS),
    }
    small = draw(2, 1, CANDIDATES, stream(0))
    for way in ways.values():
        way(*small)  # compiles
    print(f"five rankings of the top {K} with all measures, {CANDIDATES} candidates a value, us a list:")
    print("  values   drawing    pandas    single        batch   pandas / single   pandas / batch")
    total = dict.fromkeys(("drawing", *ways), 0.0)
    for m in SIZES:
        start = time.perf_counter()
        scores, desired = draw(m, LISTS["batch"], CANDIDATES, stream(1, m))
        took = {"drawing": (time.perf_counter() - start) * 1e6 / LISTS["batch"]}
        results = {}
        for name, way in ways.items():
            n = LISTS[name]
            results[name], took[name] = fastest(way, scores[:n], desired[:n])
        for name, found in results.items():
            np.testing.assert_allclose(found, results["batch"][: LISTS[name]], rtol=1e-9, atol=1e-12)
        report(m, took)
        total = {name: total[name] + took[name] for name in total}
    report("mean", {name: time_ / len(SIZES) for name, time_ in total.items()})
    print(f"  batches on {THREADS} threads, all else on one; goal: at least 300 times pandas' throughput")


def report(label, took):
    times = f"{took['drawing']:10.1f}{took['pandas']:10.0f}{took['single']:10.0f}{took['batch']:13.1f}"
    ratios = f"{took['pandas'] / took['single']:18.0f}{took['pandas'] / took['batch']:17.0f}"
    print(f"  {label:>6}{times}{ratios}")


if __name__ == "__main__":
    main()
