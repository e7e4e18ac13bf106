"""Debiasing as a map of every word, to be applied to vectors that it was not computed from.

Both methods are defined on unit vectors û = w / |w|, and what they make of a word has unit length again. Only
directions count to what measures bias, so that the maps act on vectors of any length and leave the lengths as
they come:

    soft          T û points where T w does: every word has the linear map T
    neutralize    û - û_B points where (I - BᵀB) w does: every neutral word has the linear map I - BᵀB
    specific      a word that is neither neutral nor in an equality set stays: the identity
    equalize      the vector depends on all words of the set, and not linearly: it is held where it is, a is
                  its equalized vector and M = 0

Holding an equalized word says that a change of its vector changes nothing. That is exact for an association
test with neutral targets and attribute sets of one size, of which every equality set has as many words in the
one as in the other: what these add to the association of a neutral target cancels, wherever they are
(Observation 1).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.measurement import Lists, read_lists
from biaslab.debiasing.settings import Subspace
from biaslab.debiasing.soft import gram_matrices, solve_path
from biaslab.debiasing.subspace import find_subspace
from biaslab.embeddings.unit import read_unit_trainings
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.embeddings.word_maps import WordMaps, write_word_maps

_SPECIFIC, _NEUTRAL, _HELD = range(3)


def write_transform(
    embeddings: list[Path],
    vocabulary: Path,
    lists: list[Path],
    components: int,
    penalty: float | None,
    out: Path,
) -> None:
    """Write what debiasing does to every word of every training; without a penalty it is hard debiasing."""
    words = read_vocabulary(vocabulary)
    known = read_lists(*lists, words.ids)
    trainings = read_unit_trainings(embeddings, words)
    if penalty is None:
        maps = hard_maps(trainings, words.words, known, components)
    else:
        maps = soft_maps(trainings, words.words, known, penalty, components)
    write_word_maps(out, maps)


def hard_maps(
    trainings: Sequence[tuple[int, np.ndarray]],
    words: Sequence[str],
    lists: Lists,
    components: int = Subspace.components,
) -> WordMaps:
    """Return what hard debiasing, by its own subspace, does to every word of every training, (V, D) unit."""
    neutral = lists.neutral(len(words))
    held = np.unique(np.concatenate([np.array(rows, dtype=np.int64) for rows in lists.equalize.rows]))
    linear, constants = [], []
    for _, vectors in trainings:
        basis = find_subspace(vectors, lists.defining.rows, components).basis
        debiased = hard_debias(vectors, words, basis, neutral, lists.equalize.rows)
        identity = np.eye(basis.shape[1])
        linear.append(np.stack([identity, identity - basis.T @ basis, np.zeros_like(identity)]))
        constants.append(debiased[held])
    kinds = np.full(len(words), _SPECIFIC)
    kinds[neutral] = _NEUTRAL
    kinds[held] = _HELD
    return WordMaps(_numbers(trainings), np.stack(linear), kinds, held, np.stack(constants))


def soft_maps(
    trainings: Sequence[tuple[int, np.ndarray]],
    words: Sequence[str],
    lists: Lists,
    penalty: float,
    components: int = Subspace.components,
) -> WordMaps:
    """Return what soft debiasing does, one linear map T for all words of a training; see `hard_maps`."""
    neutral = lists.neutral(len(words))
    linear = []
    for _, vectors in trainings:
        basis = find_subspace(vectors, lists.defining.rows, components).basis
        (solution,) = solve_path(gram_matrices(vectors, basis, neutral), [penalty])
        linear.append(solution.transform[None])
    dimension = linear[0].shape[-1]
    nothing = np.empty((len(linear), 0, dimension))
    kinds, none = np.zeros(len(words), dtype=np.int64), np.empty(0, dtype=np.int64)
    return WordMaps(_numbers(trainings), np.stack(linear), kinds, none, nothing)


def _numbers(trainings: Sequence[tuple[int, np.ndarray]]) -> np.ndarray:
    return np.array([number for number, _ in trainings], dtype=np.int64)
