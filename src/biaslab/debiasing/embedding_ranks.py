"""Ranks of many embeddings by many tests, and their dependence on the words of the tests.

As in WEFE (Badilla, Bravo-Marquez and Pérez 2020), every test ranks the embeddings by the distance of its
measure from no bias, and the ranks are averaged over the tests. A test uses only words that all embeddings
have. Intervals come from tests with sets resampled with replacement, equal for all embeddings: they show the
results of similar words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.answers import names_of
from biaslab.bias.measures import MEASURES, measure_bias
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import central_interval
from biaslab.embeddings.unit import UnitEmbedding
from biaslab.embeddings.vocabulary import AnyCase

N_DRAWS = 1000  # the number of resampled tests
_RANKING = ["place", "embedding", "mean_rank", "mean_rank_low", "mean_rank_high", "before_next"]
VALUES = ["embedding", "weat", "measure", "value", "value_low", "value_high", "bias", "rank"]


@dataclass(frozen=True)
class Ranking:
    """The ranking of embeddings."""

    tests: Sequence[WordSets]  # with the words that all embeddings have
    # place, embedding, mean_rank, mean_rank_low, mean_rank_high, before_next: the share of draws in which it
    # is less biased than the next (ties count half)
    ranking: pd.DataFrame
    values: pd.DataFrame  # `VALUES`; bias: the distance of the value from no bias
    lost: Mapping[str, Sequence[str]]  # the words of each test that are missing in an embedding
    left_out: Mapping[str, str]  # why a test is omitted


class TestWords(NamedTuple):
    """The words of the tests in an embedding."""

    vectors: dict[str, np.ndarray]  # of length one
    rounding: float


def words_of_tests(embedding: UnitEmbedding, ids: AnyCase, tests: Sequence[WordSets]) -> TestWords:
    """Return the words of the tests in an embedding, in any capitals."""
    words = {word for test in tests for words_of_set in test.sets.values() for word in words_of_set}
    vectors = {word: embedding.vectors[ids[word]] for word in sorted(words) if word in ids}
    return TestWords(vectors, embedding.rounding)


def rank_embeddings(
    files: Sequence[Path], words: Sequence[TestWords], tests: Sequence[WordSets], seed: int
) -> Ranking:
    """Rank embeddings by tests, the least biased first; omit tests without enough words or a value."""
    names, known = names_of(files), [row.vectors for row in words]
    common, tables, ranks, lost, left_out = [], [], [], {}, {}
    for test in tests:
        try:
            shared = _common(test, files, known)
            values = _measure(shared, words, names, seed)
        except InputError as error:
            left_out[test.name] = str(error)
            continue
        common.append(shared)
        lost[test.name] = [
            word for name, words in test.sets.items() for word in words if word not in shared.sets[name]
        ]
        bias = np.abs(values - MEASURES[test.measure].unbiased)
        ranks.append(scipy.stats.rankdata(bias, axis=0))  # NaN if an embedding has no value
        low, high = np.transpose([central_interval(row[1:]) for row in values])
        columns = [names, test.name, test.measure, values[:, 0], low, high, bias[:, 0], ranks[-1][:, 0]]
        tables.append(pd.DataFrame(dict(zip(VALUES, columns, strict=True))))
    if not ranks:
        return Ranking([], pd.DataFrame(columns=_RANKING), pd.DataFrame(columns=VALUES), {}, left_out)
    mean_ranks = np.mean(ranks, axis=0)  # (n_embeddings, 1 + n_draws), the first as observed
    order = np.argsort(mean_ranks[:, 0], kind="stable")
    drawn = mean_ranks[order, 1:]
    drawn = drawn[:, np.isfinite(drawn).all(axis=0)]
    before = (drawn[:-1] < drawn[1:]).mean(axis=1) + (drawn[:-1] == drawn[1:]).mean(axis=1) / 2
    low, high = np.transpose([central_interval(row) for row in drawn])
    places, ordered = np.arange(1, len(names) + 1), [names[i] for i in order]
    columns = [places, ordered, mean_ranks[order, 0], low, high, [*before, np.nan]]
    ranking = pd.DataFrame(dict(zip(_RANKING, columns, strict=True)))
    return Ranking(common, ranking, pd.concat(tables, ignore_index=True), lost, left_out)


def _measure(test: WordSets, known: Sequence[TestWords], names: Sequence[str], seed: int) -> np.ndarray:
    """Return a measure of every embedding with the original and the resampled words, (n, 1 + `N_DRAWS`)."""
    words = [word for own in test.sets.values() for word in own]
    indices = in_vocabulary(test, {word: row for row, word in enumerate(words)})
    rng = stream(seed, "embedding ranks", test.name)
    drawn = [indices]
    for _ in range(N_DRAWS):
        sets = {name: rng.choice(getattr(indices, name), len(getattr(indices, name))) for name in "STAB"}
        drawn.append(replace(indices, **sets))
    values = []
    for name, own in zip(names, known, strict=True):
        vectors = np.stack([own.vectors[word] for word in words])
        rounded = [replace(draw, rounding=own.rounding) for draw in drawn]
        values.append([measure_bias(vectors, draw) for draw in rounded])
        if np.isnan(values[-1][0]):
            reason = MEASURES[test.measure].undefined
            raise InputError(f"{test.measure} of {name} is undefined, because {reason}")
    return np.array(values)


def _common(test: WordSets, files: Sequence[Path], known: Sequence[Mapping[str, np.ndarray]]) -> WordSets:

    def kept(sets: Mapping[str, list[str]]) -> dict[str, list[str]]:
        return {name: [w for w in words if all(w in of for of in known)] for name, words in sets.items()}

    kept_test = replace(test, targets=kept(test.targets), attributes=kept(test.attributes))
    for name, words in kept_test.sets.items():
        if len(words) < 2:
            most, file = max(
                (sum(w not in of for w in test.sets[name]), str(file))
                for file, of in zip(files, known, strict=True)
            )
            raise InputError(
                f"the embeddings share {len(words)} of the {len(test.sets[name])} words of set '{name}', but"
                f" it needs two ({file} lacks {most})"
            )
    return kept_test
