"""Which documents matter by most of several scores, and how many would by chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads its parts when they are used

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import central_interval, standard_ranks

N_SHUFFLES = 1000
"""Shuffles that say how much agreement is chance."""


@dataclass(frozen=True)
class Agreement:
    """How far several scores point at the same documents.

    Attributes
    ----------
    correlations : numpy.ndarray
        (n_scores, n_scores) float64, Spearman's correlations of the sizes of the scores.
    votes : numpy.ndarray
        (n_documents,) int64, by how many of the scores a document is among the largest, whatever the sign.
    mean_ranks : numpy.ndarray
        (n_documents,) float64, their ranks by these sizes, 1 for the largest, averaged over the scores.
    most : numpy.ndarray
        The documents that more than half of the scores name, those with the most votes first, then by mean
        rank: int64.
    by_chance : tuple of float
        How many documents more than half would name if their documents were shuffled: mean, and central 95%.
    """

    correlations: np.ndarray
    votes: np.ndarray
    mean_ranks: np.ndarray
    most: np.ndarray
    by_chance: tuple[float, float, float]


def agreement(scores: Sequence[np.ndarray], n: int = 10, seed: int = 1) -> Agreement:
    """Say which documents matter by most of several scores, as of measures, tests or methods.

    Parameters
    ----------
    scores : sequence of (n_documents,) arrays
        `Scores.documents` of each; only the order of their sizes matters.
    n : int
        How many documents each names, those with the largest sizes.
    seed : int
        Of the shuffles.

    Returns
    -------
    Agreement
        Long documents matter more by any measure, which is agreement, too: compare with that of the lengths.

    Raises
    ------
    InputError
        When there are fewer than two scores, they are not of the same documents, or fewer than `n`.
    """
    if len({np.shape(one) for one in scores}) != 1 or len(scores) < 2 or not 0 < n <= len(scores[0]):
        sizes = ", ".join(str(len(one)) for one in scores)
        raise InputError(
            f"scores of {sizes} documents, of which each names {n}: give two of the same or more"
        )
    sizes = np.abs(np.asarray(scores, np.float64))
    named = np.zeros(sizes.shape, np.int64)
    np.put_along_axis(named, np.argsort(-sizes, axis=1, kind="stable")[:, :n], 1, axis=1)
    votes, rng = named.sum(axis=0), stream(seed, "agreement")
    chance = [(2 * rng.permuted(named, axis=1).sum(axis=0) > len(scores)).sum() for _ in range(N_SHUFFLES)]
    mean_ranks, standard = scipy.stats.rankdata(-sizes, axis=1).mean(axis=0), standard_ranks(sizes)
    order = np.lexsort((mean_ranks, -votes))
    most = order[2 * votes[order] > len(scores)]
    by_chance = float(np.mean(chance)), *central_interval(np.array(chance))
    return Agreement(standard @ standard.T, votes, mean_ranks, most, by_chance)
