"""How biased an embedding is, compared with chance, and what is left once it is debiased.

DirectBias is that of the neutral occupations along the bias direction. Any direction has some: the same is
measured along differences of two random neutral words. What is left after debiasing is told by classifiers
of the words that were most biased (Gonen and Goldberg 2019), beside what is left of a random direction that
was removed in the same way.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.answers import names_of
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import holm
from biaslab.debiasing.comparison import PAIRS, draw_difference, make_case, measure_chance
from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.measurement import Measurement, measure, read_lists
from biaslab.debiasing.measures import direct_bias
from biaslab.debiasing.methods import debias
from biaslab.debiasing.remaining import measure_classifier, measure_clusters
from biaslab.debiasing.settings import Penalty, Settings, Sizes
from biaslab.debiasing.word_lists import describe_undirected, match_case
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import AnyCase

N_DIRECTIONS = 200
"""Random directions along which DirectBias is measured."""
MIN_OCCUPATIONS = 5
"""With fewer, a mean over occupations says little."""
TEST_COLUMNS = [
    *("weat", "title", "before", "after", "p_after", "largest", "p_value", "p_corrected", "exact"),
    *("permutations", "lost", "problem"),
]


@dataclass(frozen=True)
class Audited:
    """What was found in one embedding."""

    file: Path
    name: str  # what tells it from others
    n_words: int
    before: Measurement
    after: Measurement  # along the direction of the embedding before
    random: np.ndarray  # (n,) DirectBias along random directions
    tests: pd.DataFrame  # `TEST_COLUMNS`; after: the effect size once debiased
    remaining: (
        pd.DataFrame
    )  # measure, before, after, after_low, after_high, chance, chance_low, chance_high, n
    lost: Mapping[str, Sequence[str]]  # words of each list that the embedding lacks
    recased: Mapping[str, str]  # words that it has in another case of letters alone
    notes: Sequence[str] = ()  # what was not read as the file has it

    @property
    def bias(self) -> float:
        """DirectBias of the neutral occupations."""
        return self.before.values["direct_bias_neutral"]

    @property
    def share_below(self) -> float:
        """The share of the random directions that have less of it."""
        return float((self.random < self.bias).mean())


def read_own(
    file: Path, lists: Sequence[Path], settings: Settings, penalty: float = Penalty.lambda_
) -> tuple[Experiment, AnyCase]:
    """Read a user's embedding, and find the words of lists in it in any case of letters."""
    embedding = read_unit_embedding(file)
    ids = embedding.ids()
    return Experiment(embedding, read_lists(*lists, ids), settings, penalty, any_case=True), ids


def audit(
    file: Path, experiment: Experiment, ids: AnyCase, tests: Sequence[WordSets], method: str
) -> Audited:
    """Measure an embedding, as `read_own` read it, along random directions, and debiased by a method."""
    embedding, settings = experiment.embedding, experiment.settings
    occupations = experiment.lists.neutral_occupations
    if len(occupations) < MIN_OCCUPATIONS:
        raise InputError(
            f"{file}: has {len(occupations)} of the neutral occupations, of which a mean needs"
            f" {MIN_OCCUPATIONS}; name words that it has with --occupations"
        )
    matched = [match_case(test, ids) for test in tests]
    vectors, words = experiment.embedding.vectors, experiment.words
    before = measure(vectors, words, experiment.lists, matched, settings, rounding=embedding.rounding)
    debiased = debias(method, experiment)
    after = measure(debiased, words, experiment.lists, matched, settings, experiment.subspace.basis)
    compared = before.weats.rename(columns={"effect_size": "before"}).assign(
        p_corrected=np.nan, after=after.weats["effect_size"], p_after=after.weats["p_value"]
    )
    return Audited(
        file,
        file.name,
        len(words),
        before,
        after,
        _random_biases(experiment),
        compared[TEST_COLUMNS],
        _remaining(experiment, debiased),
        experiment.lists.lost,
        ids.recased,
        (*embedding.notes, *describe_undirected(file, ids)),
    )


def compare(found: Sequence[Audited]) -> list[Audited]:
    """Return audits with names that differ and p-values corrected for all tests in all embeddings (Holm)."""
    p = holm(np.concatenate([one.tests["p_value"].to_numpy(np.float64) for one in found]))
    parts = np.split(p, np.cumsum([len(one.tests) for one in found])[:-1])
    names = names_of([one.file for one in found])
    return [
        dataclasses.replace(one, name=name, tests=one.tests.assign(p_corrected=part))
        for one, name, part in zip(found, names, parts, strict=True)
    ]


def _random_biases(experiment: Experiment) -> np.ndarray:
    """Return DirectBias along differences of two random neutral words, if possible no occupations."""
    vectors, of_bias = experiment.embedding.vectors, experiment.lists.neutral_occupations
    occupations, others = vectors[of_bias], np.setdiff1d(experiment.neutral, of_bias)
    candidates = others if len(others) > 1 else experiment.neutral
    rng, found = stream(experiment.settings.seed, "audit", "directions"), []
    for _ in range(N_DIRECTIONS):
        direction = draw_difference(vectors, candidates, rng)
        found.append(direct_bias(occupations, direction[None], experiment.settings.strictness))
    return np.array(found)


def _remaining(experiment: Experiment, debiased: np.ndarray) -> pd.DataFrame:
    case = make_case(experiment, Sizes())
    chance = {
        found.measure: found for found in measure_chance(experiment, case, PAIRS, Sizes().random_directions)
    }
    rows = []
    for measured in (measure_classifier, measure_clusters):
        first, second = (measured(case, v) for v in (experiment.embedding.vectors, debiased))
        row = {"measure": first.measure}
        for name, found in (("before", first), ("after", second), ("chance", chance[first.measure])):
            row |= {name: found.value, f"{name}_low": found.ci_low, f"{name}_high": found.ci_high}
        rows.append(row | {"n": first.n})
    return pd.DataFrame(rows)
