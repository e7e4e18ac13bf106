"""One embedding before, after hard and after soft debiasing."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.measurement import Lists, read_lists
from biaslab.debiasing.settings import Penalty, Settings
from biaslab.debiasing.soft import Grams, SoftSolution, gram_matrices, soft_debias, solve_path
from biaslab.debiasing.subspace import BiasSubspace, find_subspace
from biaslab.embeddings.unit import UnitEmbedding, read_unit_embedding

BEFORE, HARD, SOFT = STAGES = ("before", "hard", "soft")
DIGITS = 12
"""Decimals of measures of bias: smaller differences are rounding, which depends on the machine."""

Stages = dict[str, np.ndarray]


@dataclass(frozen=True)
class Experiment:
    """An embedding with its word lists, and its debiased versions."""

    embedding: UnitEmbedding  # before debiasing
    lists: Lists
    settings: Settings
    penalty: float = Penalty.lambda_  # λ of the soft debiasing
    any_case: bool = False  # whether words are also found with other capitals

    @property
    def words(self) -> list[str]:
        """The words of the rows."""
        return self.embedding.words

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The row of every word."""
        ids = self.embedding.ids()
        return ids if self.any_case else ids.exact

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


def read_experiment(
    embedding: Path,
    lists: Sequence[Path],
    settings: Settings,
    penalty: float = Penalty.lambda_,
) -> Experiment:
    """Read an embedding and its word lists: defining, equalize, occupations, specific.

    The papers' results, which the workflow reproduces, use words exactly as written; commands on a user's
    embedding find words in any capitals.
    """
    words = read_unit_embedding(embedding)
    for note in words.notes:
        warnings.warn(note, stacklevel=2)
    return Experiment(words, read_lists(*lists, words.ids().exact), settings, penalty)


def cosines(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the cosines of unit vectors with a direction."""
    return vectors.astype(np.float64) @ (direction / np.linalg.norm(direction))
