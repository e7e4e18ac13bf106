"""One embedding before, after hard and after soft debiasing."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.settings import Penalty, Settings
from biaslab.debiasing.soft import Grams, SoftSolution, gram_matrices, soft_debias, solve_path
from biaslab.debiasing.subspace import BiasSubspace, find_subspace
from biaslab.debiasing.word_lists import KnownSets, KnownWords, known_sets, known_words, read_sets, read_words
from biaslab.embeddings.unit import UnitEmbedding, read_unit_embedding

BEFORE, HARD, SOFT = STAGES = ("before", "hard", "soft")
DIGITS = 12  # decimals of measures of bias: smaller differences are rounding, which depends on the machine

Stages = dict[str, np.ndarray]


@dataclass(frozen=True)
class Lists:
    """The four word lists of the area, as rows of an embedding."""

    defining: KnownSets
    equalize: KnownSets  # sets whose words should differ only in the bias
    occupations: KnownWords
    specific: KnownWords  # by definition

    @property
    def not_neutral(self) -> np.ndarray:
        """Rows of all words that express the bias, by any list except the occupations: int64 (n,)."""
        in_sets = [row for rows in (*self.defining.rows, *self.equalize.rows) for row in rows]
        return np.union1d(self.specific.rows, np.array(in_sets, dtype=np.int64))

    @property
    def neutral_occupations(self) -> np.ndarray:
        """Rows of the occupations that are not specific by definition, unlike *actress*: int64 (n,)."""
        return self.occupations.rows[~np.isin(self.occupations.rows, self.not_neutral)]

    @property
    def lost(self) -> dict[str, tuple[str, ...]]:
        """The words of each list that are missing in the embedding."""
        return {name: known.lost for name, known in vars(self).items()}


@dataclass(frozen=True)
class Experiment:
    """An embedding with its word lists, and its debiased versions."""

    embedding: UnitEmbedding  # before debiasing
    lists: Lists
    ids: Mapping[str, int]  # the row of every word; an `AnyCase` also finds words with other capitals
    settings: Settings
    penalty: float = Penalty.lambda_  # λ of the soft debiasing

    @property
    def words(self) -> list[str]:
        """The words of the rows."""
        return self.embedding.words

    @cached_property
    def neutral(self) -> np.ndarray:
        """Rows of the words that debiasing neutralizes: int64 (n,)."""
        return np.setdiff1d(np.arange(len(self.words)), self.lists.not_neutral)

    @cached_property
    def bias(self) -> np.ndarray:
        """Cosine of every word with the first difference of the defining sets, before: float64 (V,)."""
        return cosines(self.embedding.vectors, self.direction(self.embedding.vectors))

    @cached_property
    def subspace(self) -> BiasSubspace:
        """The bias subspace before debiasing."""
        return find_subspace(self.embedding.vectors, self.lists.defining.rows, self.settings.components)

    @cached_property
    def grams(self) -> Grams:
        """The Gram matrices for soft debiasing."""
        return gram_matrices(self.embedding.vectors, self.subspace.basis, self.neutral)

    def hard(self) -> np.ndarray:
        """Return the vectors after hard debiasing: float64 (V, d)."""
        vectors, basis = self.embedding.vectors, self.subspace.basis
        return hard_debias(vectors, self.words, basis, self.neutral, self.lists.equalize.rows)

    def soft(self, penalties: Sequence[float]) -> Iterator[tuple[SoftSolution, np.ndarray]]:
        """Yield the solution and the vectors, float64 (V, d), after soft debiasing with each penalty."""
        for solution in solve_path(self.grams, penalties):
            yield solution, soft_debias(self.embedding.vectors, solution.transform)

    def stages(self) -> Stages:
        """Return the vectors of each stage."""
        (_, soft), *_ = self.soft([self.penalty])
        return {BEFORE: self.embedding.vectors, HARD: self.hard(), SOFT: soft}

    def direction(self, vectors: np.ndarray) -> np.ndarray:
        """Return the difference of the first two words of the first defining set, she - he: float64 (d,)."""
        first, second = self.lists.defining.rows[0][:2]
        return vectors[first].astype(np.float64) - vectors[second]


def read_lists(
    defining: str | os.PathLike,
    equalize: str | os.PathLike,
    occupations: str | os.PathLike,
    specific: str | os.PathLike,
    ids: Mapping[str, int],
) -> Lists:
    """Read the four word lists (see `biaslab.debiasing.word_lists`) and find their words in an embedding."""
    return Lists(
        known_sets(read_sets(defining), ids),
        known_sets(read_sets(equalize), ids),
        known_words(read_words(occupations), ids),
        known_words(read_words(specific), ids),
    )


def read_experiment(
    file: Path,
    lists: Sequence[Path],
    settings: Settings,
    penalty: float = Penalty.lambda_,
    any_case: bool = False,
) -> Experiment:
    """Read an embedding, and find the words of lists as written or, with `any_case`, in any capitals."""
    embedding = read_unit_embedding(file)
    ids = embedding.ids() if any_case else embedding.ids().exact
    return Experiment(embedding, read_lists(*lists, ids), ids, settings, penalty)


def cosines(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the cosines of unit vectors with a direction."""
    return vectors.astype(np.float64) @ (direction / np.linalg.norm(direction))
