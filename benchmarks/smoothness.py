"""How smoothly GloVe answers to weights of documents, on a finished run, by step and direction.

Usage: python benchmarks/smoothness.py RESULTS OUT.tsv [--setup sample] [--test FILE ...] [--directions 2]

Along standard normal directions at several steps, along documents that fade (weights 1, 1/2, 0), with a
larger learning rate, and with a null: trainings that share no seed, which answer at random.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from biaslab.bias.word_sets import read_word_sets
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.origins.attribution.counted import read_counted
from biaslab.origins.documents import CountedTexts
from biaslab.origins.documents import metasmoothness as checked
from biaslab.origins.pages.explanation import glove_of

import numpy as np
import pandas as pd

STEPS = (0.001, 0.01, 0.05, 0.1)
SHARES = (0.1, 0.5)
RATE = 0.2


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--setup", default="sample")
    parser.add_argument("--test", type=Path, default=Path("workflow/resources/word_sets/weat1.yaml"))
    parser.add_argument("--directions", type=int, default=2)
    given = parser.parse_args()
    folder = given.results / "origins" / given.setup
    words, x, *ids = read_counted(*(folder / f for f in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv")))
    texts, test = CountedTexts(x, words, *ids), read_word_sets(given.test)
    model = glove_of(given.setup, given.results / "config.json")
    n, many, rows = len(texts.offsets) - 1, range(given.directions), []

    def add(name: str, step: float, directions: list | int, parameters=model) -> None:
        found = checked.smoothness(texts, parameters, test, step, directions)
        numbers = (found.parameters, found.parameters_bend, found.bias, found.bias_bend)
        rows.append([name, f"{step:g}", *(f"{number:.2f}" for number in numbers)])
        print(*rows[-1], sep="\t", flush=True)

    for step in STEPS:
        add("normal", step, given.directions)
    for share in SHARES:
        chosen = [stream(1, "fading", k).choice(n, round(share * n), replace=False) for k in many]
        add(
            f"{share:.0%} of the documents fade",
            0.5,
            [-np.isin(np.arange(n), c).astype(float) for c in chosen],
        )
    add(f"normal, learning rate {RATE:g}", STEPS[2], given.directions, replace(model, learning_rate=RATE))
    seeds, train = iter(range(1000)), checked.train
    checked.train = lambda x, p, _, threads: train(x, p, stream(1, "null", next(seeds)), threads)
    add("normal, each training with a seed of its own", STEPS[2], given.directions)
    columns = ["direction", "step", "metasmoothness", "bend", "of the bias", "bend of the bias"]
    write_tsv(given.out, pd.DataFrame(rows, columns=columns))


main()
