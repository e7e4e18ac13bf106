"""Differential bias of every document by PPMI, 2 tests, against one training of 100 epochs."""

import time

import bench_corpus
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.origins.attribution.ppmi import differential_bias
from differential_bias import DIMENSION, THREADS, tests_for

import numpy as np

EPOCHS = 100


def compile_kernels(tokens, offsets, n_words):
    """Scan a small corpus with a test of frequent words."""
    frequent = WeatIndices("frequent", *np.split(np.arange(8), 4))
    x = cooccurrence.count(tokens, offsets, n_words, 8, THREADS)
    differential_bias(x, tokens, offsets, frequent, THREADS)


def main():
    tokens, offsets, words, name = bench_corpus.load()
    x = cooccurrence.count(tokens, offsets, len(words), 8, THREADS)
    clock = []
    epochs = 4
    glove.train(
        x,
        glove.GloveParameters(DIMENSION, epochs),
        stream(0),
        THREADS,
        progress=lambda: clock.append(time.perf_counter()),
    )
    training = EPOCHS * float(np.diff(clock).min())
    tests = tests_for(words)
    compile_kernels(tokens[: offsets[50]], offsets[:51], len(words))
    start = time.perf_counter()
    for weat in tests:
        differential_bias(x, tokens, offsets, weat, THREADS)
    took = time.perf_counter() - start
    print(f"differential bias by PPMI: {name}, {len(offsets) - 1:,} documents x 2 tests")
    print(
        f"  {took:.1f} s = {took / training:.2%} of one training of {EPOCHS} epochs ({training:.0f} s, by its"
        f" epochs 2 to {epochs}; goal: below 100%), exact, {THREADS} threads"
    )


if __name__ == "__main__":
    main()
