"""Audit of the bias of an embedding, compared with chance, and of the bias that remains after debiasing.

DirectBias is of the neutral occupations along the bias direction. Every direction has some DirectBias, so
that it is also measured along differences of two random neutral words. Classifiers of the most biased words
measure the bias that remains (Gonen and Goldberg 2019), compared with what remains of a random direction that
was removed in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.answers import names_of
from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import holm
from biaslab.debiasing.comparison import draw_difference, make_case, measure_chance
from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.measurement import Measurement, measure
from biaslab.debiasing.measures import direct_bias
from biaslab.debiasing.methods import debias
from biaslab.debiasing.remaining import measure_classifier, measure_clusters
from biaslab.debiasing.settings import PAIRS, Sizes
from biaslab.debiasing.word_lists import describe_undirected, match_case

N_DIRECTIONS = 200  # the number of random directions for DirectBias
MIN_OCCUPATIONS = 5  # the least number of occupations for a meaningful mean
TEST_COLUMNS = [
    *("weat", "title", "before", "after", "p_after", "largest", "p_value", "p_corrected", "exact"),
    *("permutations", "lost", "problem"),
]


@dataclass(frozen=True)
class Audit:
    """The results for one embedding."""

    file: Path
    name: str  # distinguishes it from other embeddings
    n_words: int
    before: Measurement
    after: Measurement  # along the direction of the embedding before
    random: np.ndarray  # (n,) DirectBias along random directions
    tests: pd.DataFrame  # `TEST_COLUMNS`; after: the effect size after debiasing
    remaining: (
        pd.DataFrame
    )  # measure, before, after, after_low, after_high, chance, chance_low, chance_high, n
    lost: Mapping[str, Sequence[str]]  # words of each list that are missing in the embedding
    recased: Mapping[str, str]  # words that are only present with other capitals
    notes: Sequence[str] = ()  # differences between the file and the read embedding

    @property
    def bias(self) -> float:
        """DirectBias of the neutral occupations."""
        return self.before.values["direct_bias_neutral"]

    @property
    def share_below(self) -> float:
        """The share of the random directions with less DirectBias."""
        return float((self.random < self.bias).mean())


def audit(file: Path, experiment: Experiment, tests: Sequence[WordSets], method: str) -> Audit:
    """Measure an embedding with words in any case, also along random directions and after debiasing."""
    embedding, ids, settings = experiment.embedding, experiment.ids, experiment.settings
    occupations = experiment.lists.neutral_occupations
    if len(occupations) < MIN_OCCUPATIONS:
        raise InputError(
            f"{file}: the embedding has {len(occupations)} of the neutral occupations, but a mean needs"
            f" {MIN_OCCUPATIONS}; name words that it has with --occupations"
        )
    matched = [match_case(test, ids) for test in tests]
    vectors = embedding.vectors
    before = measure(experiment, vectors, matched, embedding.rounding)
    debiased = debias(method, experiment)
    after = measure(experiment, debiased, matched)
    occupation_vectors, others = vectors[occupations], np.setdiff1d(experiment.neutral, occupations)
    candidates = others if len(others) > 1 else experiment.neutral  # preferably not occupations
    rng, random = stream(settings.seed, "audit", "directions"), []
    for _ in range(N_DIRECTIONS):
        direction = draw_difference(vectors, candidates, rng)
        random.append(direct_bias(occupation_vectors, direction[None], settings.strictness))
    compared = before.weats.rename(columns={"effect_size": "before"}).assign(
        p_corrected=np.nan, after=after.weats["effect_size"], p_after=after.weats["p_value"]
    )
    return Audit(
        file,
        file.name,
        len(experiment.words),
        before,
        after,
        np.array(random),
        compared[TEST_COLUMNS],
        _remaining(experiment, debiased),
        experiment.lists.lost,
        ids.recased,
        (*embedding.notes, *describe_undirected(file, ids)),
    )


def compare(audits: Sequence[Audit]) -> list[Audit]:
    """Return audits with distinct names and p-values corrected for all tests in all embeddings (Holm)."""
    p = holm(np.concatenate([audited.tests["p_value"].to_numpy(np.float64) for audited in audits]))
    parts = np.split(p, np.cumsum([len(audited.tests) for audited in audits])[:-1])
    names = names_of([audited.file for audited in audits])
    return [
        replace(audited, name=name, tests=audited.tests.assign(p_corrected=part))
        for audited, name, part in zip(audits, names, parts, strict=True)
    ]


def _remaining(experiment: Experiment, debiased: np.ndarray) -> pd.DataFrame:
    case = make_case(experiment, Sizes())
    chance = {
        result.measure: result
        for result in measure_chance(experiment, case, PAIRS, Sizes().random_directions)
    }
    rows = []
    for measured in (measure_classifier, measure_clusters):
        first, second = (measured(case, v) for v in (experiment.embedding.vectors, debiased))
        row = {"measure": first.measure}
        for name, result in (("before", first), ("after", second), ("chance", chance[first.measure])):
            row |= {name: result.value, f"{name}_low": result.ci_low, f"{name}_high": result.ci_high}
        rows.append(row | {"n": first.n})
    return pd.DataFrame(rows)
