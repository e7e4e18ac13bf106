"""Test whether sets selected by GloVe change other representations (Brunet et al. 2019, Section 5.4)."""

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, rank_correlation
from biaslab.embeddings.analogies import write_analogies
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary
from biaslab.origins.baseline import write_sets
from biaslab.origins.representations.ppmi_comparison import correlate_word_sets, effect_sizes
from biaslab.origins.sets import BASELINE, RANDOM

REPRESENTATIONS = ("glove", "ppmi", "word2vec")  # representations of the words; the first selected the sets

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


def measure_word2vec(
    embeddings: list[Path],
    baselines: list[Path],
    largest: list[Path],
    vocabulary: Path,
    word_sets: list[Path],
    glove: Path,
    seed: int,
    observed: Path,
    analogies: Path,
    random_sets: Path,
    correlation: Path,
) -> None:
    """Measure the bias, analogies and the random tests of the table `glove` in word2vec."""
    write_sets(vocabulary, word_sets, observed, embeddings)
    write_analogies([*baselines, *largest], vocabulary, analogies)
    columns = ("word_set", "glove_mean", "glove_sd", "S", "T", "A", "B")
    glove_tests = read_tsv(glove, columns, text=columns[3:])
    table = compare_word2vec(baselines, read_vocabulary(vocabulary), glove_tests)
    write_tsv(random_sets, table)
    write_tsv(correlation, correlate_word_sets(table, "word2vec", seed))


def compare_word2vec(
    batches: Sequence[str | os.PathLike], vocabulary: Vocabulary, word_sets: pd.DataFrame
) -> pd.DataFrame:
    """Measure the random tests of GloVe in word2vec (Figure 9): ``word2vec/word_sets.tsv``."""
    tests = [_random_test(row, vocabulary.ids) for row in word_sets.to_dict("records")]
    mean, spread = effect_sizes(batches, vocabulary, tests)
    table = word_sets[["word_set", "glove_mean", "glove_sd"]].copy()
    table.insert(1, "word2vec_mean", mean)
    table.insert(2, "word2vec_sd", spread)
    return table


def set_changes(samples: Mapping[str, pd.DataFrame], sets: pd.DataFrame) -> pd.DataFrame:
    """Summarise the bias in every representation after each removal (Figure 4): ``transfer/changes.tsv``.

    `samples` has for each measured representation a table with a row per embedding: set (including
    `BASELINE`), weat, effect_size. Targeted sets have only their own test, random sets all.
    """
    listed = sets[[*COLUMNS["transfer/changes"][:5]]].drop_duplicates("set")
    parts = []
    for representation, table in samples.items():
        summary = table.groupby(["set", "weat"])["effect_size"].agg(["mean", "std", "size"]).reset_index()
        summary.columns = ["set", "weat", "effect_size_mean", "effect_size_sd", "n_embeddings"]
        measured = set(summary["set"])
        if missing := [name for name in (BASELINE, *listed["set"]) if name not in measured]:
            hint = suggest(missing[0], measured)
            raise InputError(
                f"{representation}: the set '{missing[0]}' was not measured{hint}; measure the set"
            )
        baseline = summary[summary["set"] == BASELINE].drop(columns=["set", "n_embeddings"])
        baseline.columns = ["weat", "baseline_mean", "baseline_sd"]
        removed = listed.rename(columns={"weat": "own"}).merge(summary, on="set", validate="one_to_many")
        removed = removed[(removed["kind"] == RANDOM) | (removed["own"] == removed["weat"])]
        removed = removed.drop(columns="own").merge(baseline, on="weat", validate="many_to_one")
        removed["change"] = removed["effect_size_mean"] - removed["baseline_mean"]
        parts.append(removed.assign(representation=representation))
    return pd.concat(parts, ignore_index=True)[list(COLUMNS["transfer/changes"])]


def compare_responses(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Compare the changes in every representation with those in GloVe: ``transfer/responses.tsv``.

    The comparison is over the targeted sets of each test, which the bootstrap resamples if there are at least
    three. The response r minimises the sum of (c - r g)² over the changes c in the representation and g in
    GloVe. It is 1 if the representation responds like GloVe.
    """
    targeted = table[table["kind"] != RANDOM]
    tests = targeted["weat"].unique()
    rows = []
    for weat, representation in itertools.product(tests, table["representation"].unique()):
        of_weat = targeted[targeted["weat"] == weat]
        glove, part = (of_weat[of_weat["representation"] == r] for r in (REPRESENTATIONS[0], representation))
        both = part.merge(glove[["set", "change"]], on="set", suffixes=("", "_glove"))
        both = both.dropna(subset=["change", "change_glove"])
        c, g = both["change"].to_numpy(), both["change_glove"].to_numpy()
        low, high = np.nan, np.nan
        if len(c) >= 3:
            rng = stream(seed, "bootstrap", "transfer", weat, representation)
            draws = rng.integers(len(c), size=(N_RESAMPLES, len(c)))
            low, high = np.nanpercentile(_response(c[draws], g[draws]), [2.5, 97.5]).tolist()
        row = [weat, representation, len(both), *part[["baseline_mean", "baseline_sd"]].iloc[0]]
        n_same_sign = int(np.sum(np.sign(c) == np.sign(g)))
        rows.append([*row, rank_correlation(c, g), n_same_sign, _response(c, g), low, high])
    return pd.DataFrame(rows, columns=COLUMNS["transfer/responses"])


def _random_test(row: Mapping, ids: Mapping[str, int]) -> WeatIndices:
    """Return the random test of a row with comma-separated words."""
    word_ids = {}
    for name in ("S", "T", "A", "B"):
        words = row[name].split(",")
        for word in words:
            if word not in ids:
                raise InputError(
                    f"random test {row['word_set']}: '{word}' is not in the vocabulary; regenerate the"
                    " random tests"
                )
        word_ids[name] = np.array([ids[word] for word in words], np.int64)
    return WeatIndices(f"random{row['word_set']}", **word_ids)


def _response(c: np.ndarray, g: np.ndarray) -> float:
    """Return the slope of c on g through the origin, NaN if g is zero."""
    squares = np.sum(g * g, axis=-1)
    return np.sum(c * g, axis=-1) / np.where(squares > 0, squares, np.nan)
