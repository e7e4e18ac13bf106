"""Telling gender-specific words from neutral ones by a linear classifier (Section 5, Figure 3)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError


class SpecificWords(NamedTuple):
    """A linear classifier of specific words, learnt from a seed list.

    Attributes
    ----------
    distances : (V,) float64
        Signed distance of every word from the decision boundary, positive for specific words.
    f_scores : (folds,) float64
        F score of the class of specific words in each fold of the cross-validation.
    """

    distances: np.ndarray
    f_scores: np.ndarray

    @property
    def f_mean(self) -> float:
        """Mean F score."""
        return float(self.f_scores.mean())

    @property
    def f_sd(self) -> float:
        """Standard deviation of the F score over the folds (divisor n)."""
        return float(self.f_scores.std())


def classify_specific(
    vectors: np.ndarray, seeds: Sequence[int], regularization: float = 1.0, folds: int = 10, seed: int = 1
) -> SpecificWords:
    """Learn which words are specific from a seed list; all other words are taken for neutral.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    seeds : sequence of int
        Rows of words that are specific by definition.
    regularization : float
        C of the support vector machine (squared hinge loss).
    folds : int
        Folds of the cross-validation, which are stratified and shuffled.
    seed : int
        Of the shuffle, and of the order in which the machine sees the words.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import LinearSVC

    is_specific = np.zeros(len(vectors), dtype=bool)
    is_specific[list(seeds)] = True
    fewest = min(is_specific.sum(), (~is_specific).sum())
    if fewest < folds:
        raise InputError(
            f"{fewest} words of one class are too few for {folds}-fold cross-validation; "
            "give a longer seed list or an embedding with more words"
        )
    machine = LinearSVC(C=regularization, random_state=seed)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    f_scores = cross_val_score(machine, vectors, is_specific, cv=splits, scoring="f1")
    machine.fit(vectors, is_specific)
    distances = machine.decision_function(vectors) / np.linalg.norm(machine.coef_)
    return SpecificWords(distances, f_scores)
