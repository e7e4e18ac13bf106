"""Attributions that expand where the removal is: half-way between all documents and the subset.

Usage: python benchmarks/halfway.py RESULTS OUT [--setup attribution] [--baselines 10] [--jobs 2]

RESULTS is a finished run of the preset attribution. For each share of the documents that the subsets lack, an
embedding is trained on (1 - share / 2) X with the seed of each baseline, and for halves also on a random half
of the documents that is no scored subset. `unrolled` takes its derivatives, and damped newton its parameters,
from there. OUT has the linear datamodeling scores, and the lead over unrolled at all documents.
"""

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import read_tests
from biaslab.core.io import read_parquet, read_tsv, write_npz, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval, standard_ranks
from biaslab.embeddings import BASELINE, reverse
from biaslab.embeddings.cooccurrence import read_counted
from biaslab.embeddings.glove import weighting
from biaslab.embeddings.retraining import on_entries_of, without_documents
from biaslab.origins.attribution.influence import (
    by_words,
    differential_bias,
    removals_of_documents,
    weat_rows,
)
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.attribution.scanner import read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import estimate_sets
from biaslab.origins.checks.lds import mask, observe
from biaslab.origins.pages.explanation import glove_of, open_setup, seed_of
from biaslab.origins.sets.selection import members

import numpy as np
import pandas as pd

WHOLE, HALFWAY, HALVES = "all documents", "half-way", "random halves"
CASES = ((WHOLE, "1"), (HALFWAY, "1/2"), (HALFWAY, "1/10"), (HALVES, "1/2"))
"""Where an attribution expands, and the share that the scored subsets lack."""
FOLDS = 10
_TOKENS_AT_A_TIME = 100_000


def attribute(results, setup, kept, job):
    """Return the file with the estimates of every document by one training, for all tests."""
    where, share, seed = job
    file = kept / f"{where}-{share.replace('/', 'of')}-{seed}.npz".replace(" ", "_")
    if file.exists():
        return file
    set_threads(1)
    config = results / "config.json"
    opened, glove, run_seed = open_setup(setup, results, config), glove_of(setup, config), seed_of(config)
    words, x, tokens, offsets = read_counted(
        *(opened.folder / name for name in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv"))
    )
    tests = read_tests([opened.file(weat) for weat in opened.weats], words.ids, PARAMETERS)
    n_documents, trained = len(offsets) - 1, x
    is_there = np.ones(n_documents, bool)
    if where == HALFWAY:
        weight = 1 - Fraction(share) / 2
        trained = replace(x, counts=x.counts * weight.numerator, unit=x.unit * weight.denominator)
    if where == HALVES:
        lacking = np.sort(stream(run_seed, "halfway", seed).permutation(n_documents)[: n_documents // 2])
        is_there[lacking] = False
        trained = x = on_entries_of(x, without_documents(x, tokens, offsets, lacking))
    whole = weat_rows(x, np.arange(x.n_words), glove.x_max, glove.alpha)
    values = {}
    for test in tests:

        def gradient(embedding, test=test):
            by_word = np.zeros(embedding.W.shape)
            by_word[weat_words(test)] = by_words(embedding.W, test)
            return by_word

        rng = stream(run_seed, "train", BASELINE, seed)
        derivative = reverse.differentiate(trained, glove, rng, gradient, 1000.0, 1)
        unrolled = np.zeros(n_documents)
        cuts = np.unique(np.searchsorted(offsets, np.arange(0, offsets[-1], _TOKENS_AT_A_TIME)))
        for first, last in itertools.pairwise(np.unique([0, *cuts, n_documents]).tolist()):
            part = removals_of_documents(
                whole, tokens[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
            )
            documents = np.repeat(np.arange(first, last), np.diff(part.entry_starts[part.unit_starts]))
            counts, of_absent = x.counts[part.places], np.where(is_there[documents], 0, part.counts)
            both = counts + of_absent, counts + of_absent - part.counts  # with and without the document
            changes = difference(derivative, glove, x.unit, part.places, *both)
            unrolled += np.bincount(documents, changes, n_documents)
        values[f"unrolled {test.name}"] = unrolled
        if where != HALVES:  # a Hessian needs documents that are there
            rows = weat_rows(x, weat_words(test), glove.x_max, glove.alpha)
            removals = removals_of_documents(rows, tokens, offsets)
            embedding = {name: getattr(derivative.embedding, name) for name in ("W", "U", "b", "c")}
            bias = differential_bias(rows, removals, test, embedding, damping_of(glove), words.words)
            values[f"newton, damped {test.name}"] = bias.values[:, ESTIMATORS.index("newton")]
    write_npz(file, **values)
    return file


def predict_sets(results, setup, kept):
    """Return the file with the damped Newton steps for the joint removal of every subset, by baseline."""
    file = kept / "sets.npz"
    if file.exists():
        return file
    config = results / "config.json"
    opened, glove = open_setup(setup, results, config), glove_of(setup, config)
    counted = [opened.folder / name for name in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv")]
    batches = sorted((opened.folder / f"embeddings/{BASELINE}").glob("*.npz"))
    asked = InfluenceParameters(damping=damping_of(glove), x_max=glove.x_max, alpha=glove.alpha)
    scanner, tests = read_scanner(batches, *counted, [opened.file(weat) for weat in opened.weats], asked, 1)
    sets = members(read_parquet(opened.folder / "lds/subsets.parquet"))
    values = {
        test.name: -estimate_sets("newton", scanner, test, list(sets.values())).values for test in tests
    }
    write_npz(file, names=np.array(list(sets)), **values)
    return file


def combine(first, second, observed, rng):
    """Return weighted sums of two predictions; the weights of a tenth come from the other nine tenths."""
    regressors = np.column_stack([first, second, np.ones(len(first))])
    fold, combined = rng.permutation(len(first)) % FOLDS, np.empty(len(first))
    for k in range(FOLDS):
        weights = np.linalg.lstsq(regressors[fold != k], observed[fold != k], rcond=None)[0]
        combined[fold == k] = regressors[fold == k] @ weights
    return combined


def difference(derivative, glove, unit, places, with_, without):
    """Return the decrease of the bias at each place from one count to another, by f and f log X."""
    weights, products = [], []
    for counts in (with_, without):
        x = counts / unit
        weights.append(weighting(x, glove.x_max, glove.alpha))
        products.append(weights[-1] * np.log(np.where(x > 0, x, 1.0)))
    by_weight, by_product = weights[0] - weights[1], products[0] - products[1]
    return derivative.by_weight[places] * by_weight + derivative.by_product[places] * by_product


def main():
    """Make the estimates that are lacking, and score them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--setup", default="attribution")
    parser.add_argument("--baselines", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    jobs = [(where, share, seed) for seed in range(given.baselines) for where, share in CASES]
    work = partial(attribute, given.results, given.setup, given.out.parent)
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        files = dict(zip(jobs, pool.map(work, jobs), strict=True))
    folder = given.results / "origins" / given.setup
    of_sets = np.load(predict_sets(given.results, given.setup, given.out.parent))
    set_numbers = {name: number for number, name in enumerate(of_sets["names"].tolist())}
    subsets, rows = read_parquet(folder / "lds/subsets.parquet"), []
    measured = pd.concat([read_tsv(path) for path in sorted((folder / "lds/retrained").rglob("*.tsv"))])
    for weat in measured["weat"].unique():
        for size in sorted(subsets["size"].unique().tolist(), reverse=True):
            of_size = subsets[subsets["size"] == size]
            names = list(of_size["set"].unique())
            effects = observe(measured[measured["weat"] == weat], names).to_numpy().mean(axis=1)
            lacks = mask(of_size, names, np.load(files[jobs[0]])[f"unrolled {weat}"].size).astype(np.float64)
            share = {986: "1/2", 197: "1/10"}.get(size, "")
            predicted = {}
            for title in ("unrolled", "newton, damped"):
                for where in (WHOLE, HALFWAY, HALVES):
                    case = where, "1" if where == WHOLE else share
                    if case in CASES and f"{title} {weat}" in np.load(files[(*case, 0)]):
                        values = [
                            np.load(files[(*case, k)])[f"{title} {weat}"] for k in range(given.baselines)
                        ]
                        predicted[title, "sum", where] = -lacks @ np.mean(values, axis=0)
            joint = of_sets[weat][: given.baselines, [set_numbers[name] for name in names]].mean(axis=0)
            predicted["newton, damped", "set", WHOLE] = joint
            rng = stream(1, "halfway", weat, size)
            predicted["unrolled and newton, damped, set", "weighted", WHOLE] = combine(
                predicted["unrolled", "sum", WHOLE], joint, effects, rng
            )
            draws = np.vstack(
                [np.arange(len(names)), rng.integers(len(names), size=(N_RESAMPLES, len(names)))]
            )
            target = standard_ranks(effects[draws])
            scores = {key: (standard_ranks(v[draws]) * target).sum(axis=1) for key, v in predicted.items()}
            usual = scores["unrolled", "sum", WHOLE]
            for key, values in scores.items():
                texts = [f"{v[0]:.2f} [{a:.2f}, {b:.2f}]"
                         for v in (values, values - usual) for a, b in [central_interval(v[1:])]]  # fmt: skip
                rows.append([weat, size, *key, *texts])
    columns = ["test", "lacking", "attribution", "form", "expanded at", "LDS", "lead over unrolled"]
    write_tsv(given.out, pd.DataFrame(rows, columns=columns))


if __name__ == "__main__":
    main()
