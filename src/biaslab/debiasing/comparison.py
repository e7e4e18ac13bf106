"""Methods of debiasing side by side: bias by every measure, the bias that remains, and the quality kept.

If the bias of words can be predicted after debiasing, some bias remains. `CHANCE` measures how much would
remain of any direction: all neutral words are neutralized along a direction that is unrelated to the bias, as
in hard debiasing, and the same measures are computed for that direction. The direction is the difference of
two random neutral words, which has a meaning, or is drawn uniformly from all directions, which has none.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.debiasing.benchmarks import Benchmarks, score_answerable
from biaslab.debiasing.experiment import DIGITS, Experiment
from biaslab.debiasing.hard import neutralize
from biaslab.debiasing.measures import direct_bias
from biaslab.debiasing.methods import debias
from biaslab.debiasing.remaining import (
    MEASURES,
    Case,
    Estimate,
    extreme_words,
    measure_clusters,
    measure_neighbours,
    split_accuracy,
)
from biaslab.debiasing.settings import CHANCE, COLUMNS, NONE, PAIRS, Sizes

_MOST_DRAWS = 1000


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
    sizes: Sizes,
    methods: Sequence[str],
    tests: Sequence[WordSets],
    benchmarks: Benchmarks,
) -> pd.DataFrame:
    """Debias by every registered method and by none, and measure: the table `methods`."""
    rows, basis, case = [], experiment.subspace.basis, make_case(experiment, sizes)
    for name in dict.fromkeys([NONE, *methods]):
        vectors = debias(name, experiment)
        rounding = experiment.embedding.rounding if name == NONE else 0
        bias = direct_bias(vectors[case.professions], basis, experiment.settings.strictness)
        estimates = [Estimate("direct_bias", bias, n=len(case.professions))]
        for test in tests:
            try:
                rows_of_test = in_vocabulary(test, experiment.ids, rounding)
            except InputError:  # missing words, as reported in weat.tsv
                continue
            size, n = effect_size(vectors, rows_of_test), len(rows_of_test.S) + len(rows_of_test.T)
            estimates.append(Estimate(f"{test.name}_effect_size", size, n=n))
        estimates += [measure(case, vectors) for measure in MEASURES]
        for benchmark, (score, n) in score_answerable(vectors, experiment.ids, benchmarks).items():
            estimates.append(Estimate(benchmark, score, n=n))
        moved = np.linalg.norm(vectors - experiment.embedding.vectors, axis=1)
        estimates.append(Estimate("moved", float(moved.mean()), n=len(moved)))
        rows += [(name, *estimate) for estimate in estimates]
    for name in CHANCE:
        rows += [
            (name, *estimate) for estimate in measure_chance(experiment, case, name, sizes.random_directions)
        ]
    return pd.DataFrame(rows, columns=COLUMNS["methods"]).round(DIGITS)


def measure_chance(experiment: Experiment, case: Case, kind: str, draws: int) -> list[Estimate]:
    """Measure what remains after removing directions of a kind of `CHANCE`: means with intervals."""
    if draws < 2:
        return []
    vectors, values = experiment.embedding.vectors, []
    for draw in range(draws):
        rng = stream(case.seed, kind, draw)
        if kind == PAIRS:
            direction = draw_difference(vectors, experiment.neutral, rng)
        else:
            direction = rng.standard_normal(vectors.shape[1])
            direction /= np.linalg.norm(direction)
        values.append(_measure_without(experiment, case, direction))
    names = ("cluster_accuracy", "classifier_accuracy", "neighbour_correlation")
    return [
        Estimate(name, float(np.mean(column)), *mean_interval(column), draws)
        for name, column in zip(names, zip(*values, strict=True), strict=True)
    ]


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
    vectors = experiment.embedding.vectors.astype(np.float64)
    bias = vectors @ direction
    names = [experiment.words[row] for row in case.neutral]
    vectors[case.neutral] = neutralize(vectors[case.neutral], direction[None], names)
    clustered, classified = (
        extreme_words(bias, case.neutral, len(words.rows) // 2) for words in (case.clustered, case.classified)
    )
    case = case._replace(bias=bias, clustered=clustered)
    return (
        measure_clusters(case, vectors).value,
        split_accuracy(vectors[classified.rows], classified.labels, case.seed),
        measure_neighbours(case, vectors).value,
    )
