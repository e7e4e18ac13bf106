"""How much of an attribution's score is the seed: subsets retrained with the seeds of baselines.

Usage: python benchmarks/paired_subsets.py RESULTS OUT [--setup attribution] [--seeds 3 ...] [--jobs 2]

Each subset of the linear datamodeling score of a finished run is trained again with the initial values and
the order of records of some baselines: such a training differs from its baseline by the subset alone. RESULTS
then has lds/paired.tsv, which `biaslab origins score` takes in. An attribution on one baseline is scored by
its own training (paired), and by those of the other seeds, all of the same subsets; OUT is the table of that.
Several numbers of seeds are for the sizes in rising order. Trainings are kept beside OUT and not repeated.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import in_vocabulary
from biaslab.core.io import read_npz, read_parquet, read_tsv, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval, standard_ranks
from biaslab.embeddings import BASELINE, cooccurrence
from biaslab.embeddings.retraining import on_entries_of, train_replicates, without_documents
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.origins.attribution.scanner import Training, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import estimate_documents
from biaslab.origins.checks.lds import mask
from biaslab.origins.pages.explanation import glove_of, open_setup, seed_of
from biaslab.origins.sets.selection import members
from biaslab.origins.subsets import DOCUMENTS, OUTCOME, PAIRED_BOUND, digest_documents, digest_outcomes

import numpy as np
import pandas as pd

PARTS = 4  # of the subsets of one size, for each a file
ASKED = {
    "influence": ("influence", False),
    "newton": ("newton", False),
    "newton, damped": ("newton", True),
    "unrolled": ("unrolled", True),
}
"""By title: the attribution, and whether with the damping that follows from the training."""


def train(results, setup, kept, job):
    """Train a part of the subsets of a size with the seed of a baseline; keep the effect sizes."""
    size, seed, part = job
    file = kept / f"{setup}-{size}-{seed}-{part}.tsv"
    if file.exists():
        return file
    set_threads(1)
    config = results / "config.json"
    opened, glove, run_seed = open_setup(setup, results, config), glove_of(setup, config), seed_of(config)
    words = read_vocabulary(opened.folder / "vocabulary.tsv").words
    ids = {word: number for number, word in enumerate(words)}
    tests = {name: in_vocabulary(opened.word_sets(name), ids) for name in opened.weats}
    x = cooccurrence.read(opened.folder / "cooccurrence.npz")
    corpus = read_npz(opened.folder / "corpus.npz", ("tokens", "offsets"))
    subsets, rows = subsets_of(opened.folder, size), []
    for name in list(subsets)[part::PARTS]:
        left = on_entries_of(x, without_documents(x, corpus["tokens"], corpus["offsets"], subsets[name]))
        (trained,) = train_replicates(
            left, glove, name, [seed], run_seed, kept / file.stem, 1e9, 1, paired_with=BASELINE
        )
        rows += [(name, weat, seed, size, effect_size(trained.W, of)) for weat, of in tests.items()]
    write_tsv(file, pd.DataFrame(rows, columns=["set", "weat", "seed", "size", "effect_size"]))
    return file


def subsets_of(folder, size):
    """Return the documents that each subset of a size lacks."""
    table = read_parquet(folder / "lds/subsets.parquet")
    return {n: t["document"].to_numpy() for n, t in table[table["size"] == size].groupby("set", sort=False)}


def estimates(results, setup, weat, seeds):
    """Return what each attribution says of every document on the first baselines, (seeds, documents)."""
    config = results / "config.json"
    opened, glove = open_setup(setup, results, config), glove_of(setup, config)
    batch = opened.folder / f"embeddings/{BASELINE}/batch-0.npz"
    files = [opened.folder / file for file in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv")]
    found = {}
    for title, (name, is_damped) in ASKED.items():
        damping = damping_of(glove) if is_damped else 0.0
        asked = InfluenceParameters(damping=damping, x_max=glove.x_max, alpha=glove.alpha)
        scanner, (test,) = read_scanner([batch], *files, [opened.file(weat)], asked, 2)
        scanner.training = Training(glove, seed_of(config))
        found[title] = estimate_documents(name, scanner, test).values[:seeds]
    return found


def scored(outcomes, said, lacking, rng):
    """Return both scores of an attribution, paired and not, and their difference, each with its interval.

    outcomes, said : (seeds, n_subsets) and (seeds, n_documents); lacking : (n_documents, n_subsets) 0 or 1
    """
    predicted, n = -said @ lacking, outcomes.shape[1]
    drawn = np.vstack([np.arange(n), rng.integers(n, size=(N_RESAMPLES, n))])
    of = [standard_ranks(one[drawn]) for one in predicted]
    to = [standard_ranks(one[drawn]) for one in outcomes]
    table = np.array([[(p * o).sum(axis=1) for o in to] for p in of])  # (seeds, seeds, 1 + resamples)
    own = np.einsum("kkr->r", table) / len(of)
    other = (table.sum(axis=(0, 1)) - own * len(of)) / (len(of) * (len(of) - 1))
    return [f"{v[0]:.2f} [{a:.2f}, {b:.2f}]" for v in (own, other, own - other)
            for a, b in [central_interval(v[1:])]]  # fmt: skip


def main():
    """Train what is lacking, and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--setup", default="attribution")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    folder = given.results / "origins" / given.setup
    sizes = sorted(read_tsv(folder / "lds/scores.tsv", ("size",))["size"].unique().tolist())
    n_seeds = given.seeds * (len(sizes) if len(given.seeds) == 1 else 1)
    seeds = dict(zip(sizes, n_seeds, strict=True))
    jobs = [(s, seed, part) for s in sizes for seed in range(seeds[s]) for part in range(PARTS)]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        files = list(pool.map(partial(train, given.results, given.setup, given.out.parent), jobs))
    paired = pd.concat(map(read_tsv, files)).sort_values(["size", "weat", "seed"], kind="stable")
    of_subsets = members(read_parquet(folder / "lds/subsets.parquet"))
    digests = {name: digest_documents(documents) for name, documents in of_subsets.items()}
    paired = paired.assign(**{DOCUMENTS: paired["set"].map(digests)})
    write_tsv(folder / "lds/paired.tsv", paired.assign(**{OUTCOME: digest_outcomes(paired, PAIRED_BOUND)}))
    rows = []
    for weat in paired["weat"].unique():
        said = estimates(given.results, given.setup, weat, max(seeds.values()))
        for size in sizes:
            part = paired[(paired["weat"] == weat) & (paired["size"] == size)]
            outcomes = part.pivot(index="seed", columns="set", values="effect_size")
            subsets = read_parquet(folder / "lds/subsets.parquet")
            subsets = subsets[subsets["size"] == size]
            lacking = mask(subsets, list(outcomes), said["newton"].shape[1]).astype(np.float64).T
            for title, values in said.items():
                rng = stream(1, "paired", weat, size)
                paired_values = values[: seeds[size]]
                rows.append([weat, size, title, *scored(outcomes.to_numpy(), paired_values, lacking, rng)])
    columns = ["test", "lacking", "attribution", "paired", "other seeds", "difference"]
    write_tsv(given.out, pd.DataFrame(rows, columns=columns))


if __name__ == "__main__":
    main()
