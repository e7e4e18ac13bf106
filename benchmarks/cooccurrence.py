"""Counting co-occurrences, from word ids to the matrix, against one sort of a key for each word pair."""

import resource
import time

import bench_corpus
from biaslab.embeddings import cooccurrence

import numpy as np

WINDOW = 8


def seconds(function, repeats=3):
    """Return the least time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def pair_keys(tokens, offsets, n_words):
    """Return an int64 key for every pair of tokens at most WINDOW apart in one document."""
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = []
    for distance in range(1, WINDOW + 1):
        inside = document[distance:] == document[:-distance]
        left, right = tokens[:-distance][inside].astype(np.int64), tokens[distance:][inside]
        keys.append((np.minimum(left, right) * n_words + np.maximum(left, right)) << 10 | 840 // distance)
    return np.concatenate(keys)


def main():
    tokens, offsets, words, name = bench_corpus.load()
    n_words = len(words)
    cooccurrence.count(tokens[:1000], np.array([0, 1000]), n_words, WINDOW)  # compiles
    counted = {
        t: seconds(lambda t=t: cooccurrence.count(tokens, offsets, n_words, WINDOW, t)) for t in (1, 2)
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    keys = pair_keys(tokens, offsets, n_words)
    sort = seconds(lambda: np.sort(keys))
    print(f"co-occurrence: {name}, {len(tokens):,} tokens, {len(keys):,} pairs; one sort {sort:.2f} s")
    for threads, time_ in counted.items():
        print(f"  {threads} thread(s): {time_:.2f} s = {time_ / sort:.2f} sorts (goal: at most 4)")
    print(f"  peak memory of the process so far: {peak:.2f} GB (goal: below 6)")


if __name__ == "__main__":
    main()
