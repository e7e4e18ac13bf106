"""Differential bias of every document, 10 embeddings and 2 tests, against one training of 300 epochs."""

import time

import bench_corpus
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices, in_vocabulary, read_word_sets
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.origins.attribution.influence import differential_bias, removals_of_documents, weat_rows

import numpy as np

DIMENSION, EPOCHS, N_EMBEDDINGS, THREADS = 75, 300, 10, 2
WORD_SETS = bench_corpus.REPOSITORY / "workflow/resources/word_sets"


def tests_for(words):
    """Return the paper's two tests, or for a made vocabulary tests of words of the same number."""
    ids = {word: k for k, word in enumerate(words)}
    if "science" in ids:
        return [in_vocabulary(read_word_sets(WORD_SETS / f"{name}.yaml"), ids) for name in ("weat1", "weat2")]
    tests = []
    for name, n in (("weat1", 8), ("weat2", 25)):
        sets = np.random.default_rng(n).choice(np.arange(20, 8000), (4, n), replace=False)
        tests.append(WeatIndices(name, *sets))
    return tests


def scan(x, tokens, offsets, weat, embeddings):
    """Estimate everything for one test, as the workflow does."""
    rows = weat_rows(x, weat_words(weat), 100.0, 0.75)
    removals = removals_of_documents(rows, tokens, offsets)
    for embedding in embeddings:
        differential_bias(rows, removals, weat, embedding, threads=THREADS)


def main():
    tokens, offsets, words, name = bench_corpus.load()
    x = cooccurrence.count(tokens, offsets, len(words), 8, THREADS)
    clock = []
    epochs = 4
    trained = glove.train(
        x,
        glove.GloveParameters(DIMENSION, epochs),
        stream(0),
        THREADS,
        progress=lambda: clock.append(time.perf_counter()),
    )
    training = EPOCHS * float(np.diff(clock).min())
    embedding = {key: getattr(trained, key) for key in ("W", "U", "b", "c")}
    tests = tests_for(words)
    few = int(offsets[50])
    scan(x, tokens[:few], offsets[:51], tests[0], [embedding])  # compiles
    start = time.perf_counter()
    for weat in tests:
        scan(x, tokens, offsets, weat, [embedding] * N_EMBEDDINGS)
    took = time.perf_counter() - start
    print(f"differential bias: {name}, {len(offsets) - 1:,} documents x {N_EMBEDDINGS} embeddings x 2 tests")
    print(
        f"  {took:.1f} s = {took / training:.2%} of one training of {EPOCHS} epochs ({training:.0f} s, by"
        f" its epochs 2 to {epochs}; goal: below 5%), influence, newton and gradient, {THREADS} threads"
    )


if __name__ == "__main__":
    main()
