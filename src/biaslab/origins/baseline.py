"""The bias of trained embeddings: of the baselines, and of the embeddings of perturbed corpora."""

import itertools
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.bias.measures import PARAMETERS, measure_bias
from biaslab.bias.weat import permutation_p_value
from biaslab.bias.word_sets import WEAT, WeatIndices, WordSets, in_vocabulary, read_word_sets
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.batches import Training, join_tables, read_trainings, set_name
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
_OBSERVED = list(COLUMNS["observed"])
MAX_CHOICES = 100
"""Choices of baselines at most; where there are no more, all are taken."""


def write_baseline(
    embeddings: list[Path], vocabulary: Path, word_sets: list[Path], permutations: int, seed: int, out: Path
) -> None:
    """Measure the bias of every baseline embedding, with p-values and the words the vocabulary lacks."""
    tests = [read_word_sets(path, PARAMETERS) for path in word_sets]
    write_tsv(out, measure(embeddings, read_vocabulary(vocabulary), tests, permutations, seed))


def write_sets(vocabulary: Path, word_sets: list[Path], out: Path, embeddings: Sequence[Path] = ()) -> None:
    """Measure the bias of every embedding retrained without a set of documents."""
    tests = [read_word_sets(path, PARAMETERS) for path in word_sets]
    write_tsv(out, measure_sets(embeddings, read_vocabulary(vocabulary), tests))


def join_sets(out: Path, tables: Sequence[Path] = ()) -> None:
    """Join the bias that was measured in batches of embeddings."""
    join_tables(out, tables, _OBSERVED, _OBSERVED[:3], text=("set", "weat"))


def measure(
    batches: Sequence[str | os.PathLike],
    vocabulary: Vocabulary,
    word_sets: Sequence[WordSets],
    permutations: int,
    seed: int,
) -> pd.DataFrame:
    """Measure every association test in every baseline embedding: ``baseline.tsv``.

    Up to `permutations` partitions the p-value is exact, beyond it is estimated from as many; it is
    missing where the test measures something else than the effect size.
    """
    if len(sets := sorted({set_name(path) for path in batches})) > 1:
        raise InputError(
            f"the files are of several sets ({', '.join(sets)}); give those of the baseline alone"
        )
    weats = _locate(word_sets, vocabulary)
    rows = []
    for training in _progress(read_trainings(batches, vocabulary)):
        for weat in weats:
            effect, p_value = measure_bias(training.W, weat), _p_value(training, weat, permutations, seed)
            lost = len(weat.lost_words), ",".join(weat.lost_words)
            rows.append([weat.name, training.replicate, effect, p_value, *lost])
    return pd.DataFrame(rows, columns=COLUMNS["baseline"]).sort_values(["weat", "seed"], ignore_index=True)


def measure_sets(
    batches: Sequence[str | os.PathLike], vocabulary: Vocabulary, word_sets: Sequence[WordSets]
) -> pd.DataFrame:
    """Measure every association test in every embedding of every perturbation set: ``observed.tsv``.

    No `batches` give a table without rows.
    """
    weats = _locate(word_sets, vocabulary)
    rows = [
        [training.set, weat.name, training.replicate, measure_bias(training.W, weat)]
        for training in _progress(read_trainings(batches, vocabulary))
        for weat in weats
    ]
    return pd.DataFrame(rows, columns=_OBSERVED).sort_values(_OBSERVED[:3], ignore_index=True)


def choose_seeds(n: int, k: int, rng: np.random.Generator) -> list[list[int]]:
    """Choose k of n baselines: in every way, or in `MAX_CHOICES` different random ones of more."""
    if math.comb(n, k) <= MAX_CHOICES:
        return [list(chosen) for chosen in itertools.combinations(range(n), k)]
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < MAX_CHOICES:
        drawn[tuple(sorted(rng.permutation(n)[:k].tolist()))] = None
    return list(map(list, drawn))


def _p_value(training: Training, weat: WeatIndices, permutations: int, seed: int) -> float:
    """Return the p-value of an effect size, NaN for any other measure."""
    if weat.measure != WEAT:
        return math.nan
    rng = stream(seed, "permutations", weat.name, training.replicate)
    return permutation_p_value(training.W, weat, permutations, rng).p_value


def _locate(word_sets: Sequence[WordSets], vocabulary: Vocabulary) -> list[WeatIndices]:
    """Find the words of every test, whose names must differ."""
    names = [test.name for test in word_sets]
    if len(set(names)) < len(names):
        raise InputError(f"two tests have the same name ({', '.join(names)}); rename one of them")
    return [in_vocabulary(test, vocabulary.ids) for test in word_sets]


def _progress(trainings: Iterable[Training]) -> Iterable[Training]:
    """Show how many embeddings are measured."""
    return tqdm(trainings, desc="bias", unit=" embeddings", disable=None)
