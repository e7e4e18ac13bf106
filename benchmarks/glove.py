"""The rate of GloVe training on a corpus against the same kernel on 64 words, whose parameters fit in L1."""

import time

import bench_corpus
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.embeddings._kernels import train_epoch

import numpy as np

PARAMETERS = glove.GloveParameters(dimension=75, epochs=3)
REFERENCE_LOSS = (0.0254, 0.0186, 0.0161)  # the reference C code prints .02538, .01851 on this corpus
N_SMALL, N_RECORDS = 64, 2_000_000


def prepare(x, n_groups):
    """Return what one epoch takes: parameters, records, schedule, rates, losses."""
    rng = stream(0, "benchmark")
    records, rates, (rows, columns) = glove.begin(x, PARAMETERS, rng)
    if n_groups:
        records = glove.sort_records(x, PARAMETERS, n_groups, rng)
    return (
        rows, columns, records.rows, records.columns, records.log_x, records.f_x, records.starts,
        records.schedule, *rates, np.zeros(len(records.starts) - 1),
    )  # fmt: skip


def small_problem():
    """Return an X of 64 words whose rows are repeated until there are some million records."""
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, N_SMALL, 20_000).astype(np.int32)
    arguments = list(prepare(cooccurrence.count(tokens, np.array([0, len(tokens)]), N_SMALL, 8), 2))
    starts, blocks = arguments[6], []
    repeats = N_RECORDS // len(arguments[2])
    for block in range(4):
        blocks.append(np.tile(np.arange(starts[block], starts[block + 1]), repeats))
    order = np.concatenate(blocks)
    for k in range(2, 6):
        arguments[k] = arguments[k][order]
    arguments[6] = starts * repeats
    return arguments


def rate(arguments, threads, repeats):
    """Return the best rate of some epochs in records a second, and their losses."""
    set_threads(threads)
    best, losses = 0.0, []
    for _ in range(repeats):
        start = time.perf_counter()
        train_epoch(*arguments)
        best = max(best, len(arguments[2]) / (time.perf_counter() - start))
        losses.append(arguments[-1].sum() / len(arguments[2]))
    return best, losses


def main():
    tokens, offsets, words, name = bench_corpus.load()
    x = cooccurrence.count(tokens, offsets, len(words), 8, 2)
    small, real = small_problem(), prepare(x, None)
    rate(small, 1, 1)  # compiles
    print(f"GloVe: {name}, {len(x.indices):,} records, D {PARAMETERS.dimension}")
    losses = []
    for threads in (1, 2):
        ceiling, _ = rate(small, threads, 5)
        reached, seen = rate(real, threads, 3)
        losses += seen
        print(
            f"  {threads} thread(s): {reached / 1e6:.1f} M/s, on 64 words {ceiling / 1e6:.1f} M/s:"
            f" ratio {reached / ceiling:.2f} (goal: at least 0.6)"
        )
    if name == bench_corpus.DATASET:
        for epoch, (loss, reference) in enumerate(zip(losses, REFERENCE_LOSS, strict=False), 1):
            print(
                f"  loss of epoch {epoch}: {loss:.5f}, {loss / reference - 1:+.2%} of {reference} (goal: 1%)"
            )


if __name__ == "__main__":
    main()
