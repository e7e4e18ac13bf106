"""How many retrained halves of the corpus it takes to learn what `unrolled` predicts, and more.

Usage: python benchmarks/learning_curve.py RESULTS OUT [--setup attribution] [--trainings 5000] [--jobs 2]

RESULTS is a finished run of the preset attribution, with the folder others of its record. Further random
halves are drawn from the streams of the run, and GloVe is trained once on each. The trainings are kept beside
OUT and not repeated. A datamodel (Ilyas et al. 2022) is a ridge regression of the effect size on the removed
documents. Its penalty minimises the leave-one-out error on the further halves. It starts from nothing, or has
the sums of `unrolled` as a regressor without penalty. OUT has its linear datamodeling score on the scored
halves, as the mean over disjoint groups of n trainings.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from biaslab.bias.word_sets import read_tests
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval, standard_ranks
from biaslab.embeddings.cooccurrence import read_counted
from biaslab.origins.pages.explanation import glove_of, open_setup, seed_of
from biaslab.origins.sets.selection import members
from biaslab.origins.subsets import draw_documents, retrain

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV

PART = 10  # trainings in one file
NUMBERS = (30, 100, 300, 1000, 3000, 5000)
PENALTIES = np.logspace(0, 6, 25)  # of a document's coefficient, for effects of standard deviation 1
UNPENALISED = 1e4  # scale of a regressor whose coefficient the penalty leaves alone
ESTIMATOR = "unrolled"


def halves(folder):
    """Return the documents that the scored halves of a finished run lack, by name."""
    subsets = read_parquet(folder / "lds/subsets.parquet")
    return members(subsets[subsets["size"] == subsets["size"].max()])


def drawn_halves(folder, numbers):
    """Return the documents that drawn halves lack, by name; the first of them are scored in the run."""
    n_documents = len(read_parquet(folder / "documents.parquet", ["document"]))
    size, seed = len(next(iter(halves(folder).values()))), seed_of(folder.parents[1] / "config.json")
    return {f"subset-{size}-{n}": draw_documents(n_documents, size, n, seed) for n in numbers}


def train(folder, kept, part):
    """Train once on each half of a part; keep the effect sizes."""
    file = kept / f"part-{part}.tsv"
    if file.exists():
        return file
    set_threads(1)
    config = folder.parents[1] / "config.json"
    opened = open_setup(folder.name, folder.parents[1], config)
    names = ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv")
    words, x, tokens, offsets = read_counted(*(folder / name for name in names))
    tests = read_tests([opened.file(weat) for weat in opened.weats], words.ids)
    first = len(halves(folder)) + part * PART
    selected, seed = drawn_halves(folder, range(first, first + PART)), seed_of(config)
    glove = glove_of(folder.name, config)
    write_tsv(file, retrain(x, tokens, offsets, selected, tests, glove, 1, seed, kept / file.stem, 1e9, 1))
    return file


def matrix(lacking, n_documents):
    """Return 1 for each document that a half lacks, (halves, documents)."""
    found = np.zeros((len(lacking), n_documents))
    for row, documents in zip(found, lacking, strict=True):
        row[documents] = 1
    return found


def predict(lacking, outcomes, to, prior):
    """Return what a datamodel of (n, documents) halves predicts of other halves.

    prior : what `unrolled` predicts of the first and of the other halves, or None
    """
    mean, scale = outcomes.mean(), outcomes.std()
    if prior is not None:
        known = [(p - prior[0].mean()) / prior[0].std() * UNPENALISED for p in prior]
        lacking, to = np.column_stack([lacking, known[0]]), np.column_stack([to, known[1]])
    return RidgeCV(PENALTIES).fit(lacking, (outcomes - mean) / scale).predict(to)


def score(outcomes, predictions, baseline, rng):
    """Return the mean rank correlation of predictions and its lead over a baseline, each with interval."""
    n = len(outcomes)
    drawn = np.vstack([np.arange(n), rng.integers(n, size=(N_RESAMPLES, n))])
    ranks = standard_ranks(outcomes[drawn])
    own = np.mean([(standard_ranks(p[drawn]) * ranks).sum(axis=1) for p in predictions], axis=0)
    lead = own - (standard_ranks(baseline[drawn]) * ranks).sum(axis=1)
    return [f"{v[0]:.2f} [{a:.2f}, {b:.2f}]" for v in (own, lead) for a, b in [central_interval(v[1:])]]


def main():
    """Train what is lacking, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--setup", default="attribution")
    parser.add_argument("--trainings", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    folder = given.results / "origins" / given.setup
    scored = halves(folder)
    if any((d != scored[name]).any() for name, d in drawn_halves(folder, range(len(scored))).items()):
        raise SystemExit(f"{folder}: its halves were drawn in another way")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        files = list(pool.map(partial(train, folder, given.out.parent), range(given.trainings // PART)))
    learned, rows = pd.concat(map(read_tsv, files)), []
    further = drawn_halves(folder, range(len(scored), len(scored) + given.trainings))
    removals = read_tsv(folder / "lds/removals.tsv")
    for weat in learned["weat"].unique():
        outcomes = learned[learned["weat"] == weat].set_index("set")["effect_size"]
        observed = removals[removals["weat"] == weat].drop_duplicates("set").set_index("set")["observed_mean"]
        observed = observed[list(scored)]
        unrolled = (
            read_parquet(folder / f"others/{weat}.parquet").sort_values("document")[ESTIMATOR].to_numpy()
        )
        lacking = matrix([further[name] for name in outcomes.index], len(unrolled))
        to = matrix(list(scored.values()), len(unrolled))
        prior = -lacking @ unrolled, -to @ unrolled
        for n in [number for number in NUMBERS if number <= len(outcomes)]:
            for start in ("nothing", ESTIMATOR):
                predictions = []
                for first in range(0, len(outcomes) - n + 1, n):
                    own, y = lacking[first : first + n], outcomes.to_numpy()[first : first + n]
                    known = (prior[0][first : first + n], prior[1]) if start == ESTIMATOR else None
                    predictions.append(predict(own, y, to, known))
                rng = stream(1, "learning curve", weat)
                values = score(observed.to_numpy(), predictions, prior[1], rng)
                rows.append((weat, start, n, len(predictions), *values))
    columns = ["test", "start", "trainings", "groups", "LDS", f"lead over {ESTIMATOR}"]
    write_tsv(given.out, pd.DataFrame(rows, columns=columns))


if __name__ == "__main__":
    main()
