"""Measure the bias of trained embeddings: baselines, and embeddings of perturbed corpora."""

import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.measures import PARAMETERS, measure_bias
from biaslab.bias.weat import permutation_p_value
from biaslab.bias.word_sets import WEAT, WeatIndices, WordSets, in_vocabulary, read_word_sets
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.embeddings.analogies import write_analogies
from biaslab.embeddings.batches import read_trainings, set_name
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Checkpoints
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary
from biaslab.origins.representations.axis import project_words

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
OBSERVED = list(COLUMNS["observed"])
MAX_CHOICES = 100  # largest number of choices of baselines; if fewer exist, all are used


def train_and_measure(
    cooccurrence: Path,
    vocabulary: Path,
    word_sets: list[Path],
    set: str,
    model: GloveParameters,
    seed: int,
    first: int,
    count: int,
    out: Path,
    measured: Path,
    answered: Path,
    projected: Path,
    corpus: Path | None = None,
    sets: Path | None = None,
    checkpoint_minutes: float = Checkpoints.checkpoint_minutes,
    threads: int = 1,
) -> None:
    """Train a batch of embeddings; measure their bias, analogies and projections on the bias axis."""
    options = {"checkpoint_minutes": checkpoint_minutes, "threads": threads}
    train_glove(cooccurrence, set, model, seed, out, first, count, corpus, sets, **options)
    write_sets(vocabulary, word_sets, measured, [out])
    write_analogies([out], vocabulary, answered)
    tests = [read_word_sets(path) for path in word_sets]
    write_tsv(projected, project_words([out], read_vocabulary(vocabulary), tests))


def write_sets(vocabulary: Path, word_sets: list[Path], out: Path, embeddings: Sequence[Path]) -> None:
    """Write the bias of every embedding retrained without a set of documents."""
    tests = [read_word_sets(path, PARAMETERS) for path in word_sets]
    write_tsv(out, measure_sets(embeddings, read_vocabulary(vocabulary), tests))


def measure(
    batches: Sequence[str | os.PathLike],
    vocabulary: Vocabulary,
    word_sets: Sequence[WordSets],
    permutations: int,
    seed: int,
) -> pd.DataFrame:
    """Measure every test in every baseline embedding, with p-values for WEAT: ``baseline.tsv``."""
    if len(sets := sorted({set_name(path) for path in batches})) > 1:
        raise InputError(
            f"the files belong to several sets ({', '.join(sets)}); name only the files of the baseline"
        )
    weats = _locate(word_sets, vocabulary)
    rows = []
    for training in read_trainings(batches, vocabulary, "bias"):
        for weat in weats:
            row = [weat.name, training.replicate, measure_bias(training.W, weat), math.nan]
            if weat.measure == WEAT:
                rng = stream(seed, "permutations", weat.name, training.replicate)
                row[-1] = permutation_p_value(training.W, weat, permutations, rng).p_value
            rows.append([*row, len(weat.lost_words), ",".join(weat.lost_words)])
    return pd.DataFrame(rows, columns=COLUMNS["baseline"]).sort_values(["weat", "seed"], ignore_index=True)


def measure_sets(
    batches: Sequence[str | os.PathLike], vocabulary: Vocabulary, word_sets: Sequence[WordSets]
) -> pd.DataFrame:
    """Measure every association test in every embedding of every perturbation set: ``observed.tsv``."""
    weats = _locate(word_sets, vocabulary)
    rows = [
        [training.set, weat.name, training.replicate, measure_bias(training.W, weat)]
        for training in read_trainings(batches, vocabulary, "bias")
        for weat in weats
    ]
    return pd.DataFrame(rows, columns=OBSERVED).sort_values(OBSERVED[:3], ignore_index=True)


def choose_seeds(n: int, k: int, rng: np.random.Generator) -> list[list[int]]:
    """Return all choices of k of n baselines, or `MAX_CHOICES` different random choices if there are more."""
    if math.comb(n, k) <= MAX_CHOICES:
        return [list(choice) for choice in itertools.combinations(range(n), k)]
    choices: dict[tuple[int, ...], None] = {}
    while len(choices) < MAX_CHOICES:
        choices[tuple(sorted(rng.permutation(n)[:k].tolist()))] = None
    return list(map(list, choices))


def _locate(word_sets: Sequence[WordSets], vocabulary: Vocabulary) -> list[WeatIndices]:
    """Return the word ids of every test; raise InputError if two tests have the same name."""
    names = [test.name for test in word_sets]
    if len(set(names)) < len(names):
        raise InputError(f"two tests have the same name ({', '.join(names)}); rename a test")
    return [in_vocabulary(test, vocabulary.ids) for test in word_sets]
