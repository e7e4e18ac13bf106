"""All measurements of the area for one embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.bias.weat import effect_size, largest_effect_size, permutation_p_value
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.measures import direct_bias, pair_bias, project_words
from biaslab.debiasing.settings import Settings
from biaslab.debiasing.subspace import BiasSubspace, find_subspace

_WEATS = ["weat", "title", "effect_size", "largest", "p_value", "exact", "permutations", "lost", "problem"]


@dataclass(frozen=True)
class Measurement:
    """The measurements of an embedding; see the measures of ``bias.tsv``."""

    subspace: BiasSubspace  # of this embedding
    values: dict[str, float]
    occupations: pd.DataFrame  # word, projection: the neutral ones on the axis, by descending projection
    axis: tuple[str, str]  # the two words of the difference
    # `_WEATS`; largest: the largest effect size for sets of these sizes; problem: why a test was not
    # measured, else "".
    weats: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """Return every number in one table: columns measure, value."""
        tests = self.weats[self.weats["problem"] == ""]
        numbers = self.values | {
            f"component_{i}_share": share for i, share in enumerate(self.subspace.shares, 1)
        }
        for test in tests.itertuples():
            numbers |= {f"{test.weat}_effect_size": test.effect_size, f"{test.weat}_p_value": test.p_value}
        return pd.DataFrame({"measure": list(numbers), "value": list(numbers.values())})


def measure(
    experiment: Experiment, vectors: np.ndarray, tests: Sequence[WordSets], rounding: float = 0.0
) -> Measurement:
    """Measure unit vectors (V, d), before or after debiasing; a test with missing words is not measured.

    DirectBias is along the subspace before debiasing. `rounding` is the uncertainty of a cosine because of
    the digits in the file of the vectors.
    """
    words, lists, settings = experiment.words, experiment.lists, experiment.settings
    subspace = find_subspace(vectors, lists.defining.rows, settings.components)
    along = experiment.subspace.basis
    first, second = lists.defining.rows[0][:2]
    neutral = lists.neutral_occupations
    if not neutral.size:
        raise InputError("all occupations are also in the list of specific words; give neutral occupations")
    ends = [(rows[i], rows[j]) for rows in lists.equalize.rows for i in range(len(rows)) for j in range(i)]
    first_words, second_words = np.array(ends).T
    values = {
        "direct_bias": direct_bias(vectors[lists.occupations.rows], along, settings.strictness),
        "direct_bias_neutral": direct_bias(vectors[neutral], along, settings.strictness),
        "direct_bias_own_subspace": direct_bias(vectors[neutral], subspace.basis, settings.strictness),
        "pair_bias": pair_bias(vectors[neutral], vectors[first_words], vectors[second_words]),
    }
    ids = {word: row for row, word in enumerate(words)}
    weats = [_measure_test(vectors, ids, test, settings, rounding) for test in tests]
    return Measurement(
        subspace,
        values,
        project_words(vectors, words, neutral, experiment.direction(vectors)),
        (words[first], words[second]),
        pd.DataFrame(weats, columns=_WEATS),
    )


def _measure_test(
    vectors: np.ndarray, ids: Mapping[str, int], test: WordSets, settings: Settings, rounding: float
) -> tuple[object, ...]:
    """Return the row of a test; a test without its words has no numbers, but a problem."""
    try:
        weat = in_vocabulary(test, ids, rounding)
    except InputError as error:
        lost = ",".join(word for of_set in test.sets.values() for word in of_set if word not in ids)
        return test.name, test.title, np.nan, np.nan, np.nan, False, 0, lost, str(error)
    rng = stream(settings.seed, "permutations", test.name)
    p = permutation_p_value(vectors, weat, settings.permutations, rng)
    size, largest = effect_size(vectors, weat), largest_effect_size(len(weat.S), len(weat.T))
    return test.name, test.title, size, largest, *p, ",".join(weat.lost_words), ""
