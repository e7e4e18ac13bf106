"""Methods of debiasing side by side: bias by every measure, the bias that remains, and the quality kept.

If the bias of words can be predicted after debiasing, some bias remains. `CHANCE` measures how much would
remain of any direction: all neutral words are neutralized along a direction that is unrelated to the bias, as
in hard debiasing, and the same measures are computed for that direction. The direction is the difference of
two random neutral words, which has a meaning, or is drawn uniformly from all directions, which has none.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WordSets, in_vocabulary, read_word_sets
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.debiasing.benchmarks import Benchmarks, read_benchmarks, score_answerable
from biaslab.debiasing.columns import COLUMNS
from biaslab.debiasing.experiment import DIGITS, Experiment, read_experiment
from biaslab.debiasing.hard import neutralize
from biaslab.debiasing.measures import direct_bias
from biaslab.debiasing.methods import debias
from biaslab.debiasing.registry import NONE, check_method
from biaslab.debiasing.remaining import (
    MEASURES,
    Case,
    Found,
    cluster_accuracy,
    correlate,
    extreme_words,
    profession_shares,
    split_accuracy,
)
from biaslab.debiasing.settings import Settings, Sizes

PAIRS, UNITS = CHANCE = ("random_pairs", "random_units")
"""Hard debiasing along directions that are unrelated to the bias, as values of the column of methods."""
_MOST_DRAWS = 1000


def write_comparison(
    embedding: Path,
    lists: list[Path],
    settings: Settings,
    penalty: float,
    methods: list[str],
    sizes: Sizes,
    pairs: dict[str, Path],
    questions: dict[str, Path],
    out: Path,
    word_sets: list[Path] = (),
) -> None:
    """Compare the methods, and write the table."""
    for name in methods:
        check_method(name)
    experiment = read_experiment(embedding, lists, settings, penalty)
    tests = [read_word_sets(file) for file in word_sets]
    table = compare_methods(
        experiment,
        make_case(experiment, sizes),
        methods,
        tests,
        read_benchmarks(pairs, questions),
        sizes.random_directions,
    )
    write_tsv(out, table)


def make_case(experiment: Experiment, sizes: Sizes) -> Case:
    """Choose the words for the measures."""
    return Case(
        bias=experiment.bias,
        neutral=experiment.neutral,
        professions=experiment.lists.neutral_occupations,
        clustered=extreme_words(experiment.bias, experiment.neutral, sizes.clustered),
        classified=extreme_words(experiment.bias, experiment.neutral, sizes.classified),
        neighbours=sizes.neighbours,
        seed=experiment.settings.seed,
    )


def compare_methods(
    experiment: Experiment,
    case: Case,
    methods: Sequence[str],
    tests: Sequence[WordSets],
    benchmarks: Benchmarks,
    draws: int,
) -> pd.DataFrame:
    """Debias by every registered method and by none, and measure: the table `methods`.

    With 0 `draws` there are no rows of `CHANCE`.
    """
    rows = []
    for name in dict.fromkeys([NONE, *methods]):
        vectors = debias(name, experiment)
        measured = [
            *_measure_bias(experiment, vectors, tests, experiment.embedding.rounding if name == NONE else 0),
            *(remaining(case, vectors) for remaining in MEASURES),
            *_measure_quality(experiment, vectors, benchmarks),
        ]
        rows += [(name, *number) for number in measured]
    rows += [(kind, *number) for kind in CHANCE for number in measure_chance(experiment, case, kind, draws)]
    return pd.DataFrame(rows, columns=COLUMNS["methods"]).round(DIGITS)


def measure_chance(experiment: Experiment, case: Case, kind: str, draws: int) -> list[Found]:
    """Measure what remains of random directions after their removal: means with Student's intervals."""
    if draws < 2:
        return []
    rngs = [stream(case.seed, kind, draw) for draw in range(draws)]
    measured = [_measure_without(experiment, case, _random_direction(experiment, kind, rng)) for rng in rngs]
    names = ("cluster_accuracy", "classifier_accuracy", "neighbour_correlation")
    return [
        Found(name, float(np.mean(of_name)), *mean_interval(of_name), draws)
        for name, of_name in zip(names, zip(*measured, strict=True), strict=True)
    ]


def _random_direction(experiment: Experiment, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Draw a direction: float64 (d,), of unit length."""
    vectors = experiment.embedding.vectors
    if kind == PAIRS:
        return draw_difference(vectors, experiment.neutral, rng)
    direction = rng.standard_normal(vectors.shape[1])
    return direction / np.linalg.norm(direction)


def draw_difference(vectors: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the difference of two words with different vectors: float64 (d,), of unit length."""
    for _ in range(_MOST_DRAWS):
        first, second = rng.choice(rows, 2, replace=False)
        direction = vectors[first].astype(np.float64) - vectors[second]
        if length := np.linalg.norm(direction):
            return direction / length
    raise InputError(
        f"{_MOST_DRAWS} random pairs of neutral words have equal vectors; give an embedding whose words"
        " differ"
    )


def _measure_without(experiment: Experiment, case: Case, direction: np.ndarray) -> tuple[float, float, float]:
    """Return accuracies of clusters and classifier, and the correlation, after removing a direction."""
    vectors = experiment.embedding.vectors.astype(np.float64)
    bias = vectors @ direction
    names = [experiment.words[row] for row in case.neutral]
    vectors[case.neutral] = neutralize(vectors[case.neutral], direction[None], names)
    clustered = extreme_words(bias, case.neutral, len(case.clustered.rows) // 2)
    classified = extreme_words(bias, case.neutral, len(case.classified.rows) // 2)
    same = case._replace(bias=bias, clustered=clustered, classified=classified)
    return (
        cluster_accuracy(vectors[clustered.rows], clustered.labels, case.seed),
        split_accuracy(vectors[classified.rows], classified.labels, case.seed),
        correlate(bias[case.professions], profession_shares(same, vectors)).value,
    )


def _measure_bias(
    experiment: Experiment, vectors: np.ndarray, tests: Sequence[WordSets], rounding: float
) -> Iterator[Found]:
    occupations = experiment.lists.neutral_occupations
    bias = direct_bias(vectors[occupations], experiment.subspace.basis, experiment.settings.strictness)
    yield Found("direct_bias", bias, math.nan, math.nan, len(occupations))
    for test in tests:
        try:
            rows = in_vocabulary(test, experiment.ids, rounding)
        except InputError:  # missing words, as reported in weat.tsv
            continue
        size, n = effect_size(vectors, rows), len(rows.S) + len(rows.T)
        yield Found(f"{test.name}_effect_size", size, math.nan, math.nan, n)


def _measure_quality(experiment: Experiment, vectors: np.ndarray, benchmarks: Benchmarks) -> Iterator[Found]:
    for name, (score, n) in score_answerable(vectors, experiment.ids, benchmarks).items():
        yield Found(name, score, math.nan, math.nan, n)
    moved = np.linalg.norm(vectors - experiment.embedding.vectors, axis=1)
    yield Found("moved", float(moved.mean()), math.nan, math.nan, len(moved))
