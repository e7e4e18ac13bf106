"""Telling gender-specific words from neutral ones by a linear classifier (Section 5, Figure 3)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError


class SpecificWords(NamedTuple):
    """A linear classifier of specific words, learnt from a seed list."""

    distances: np.ndarray  # (V,) float64, signed, from the decision boundary; positive: specific
    f_scores: np.ndarray  # (folds,) float64, of the class of specific words


def classify_specific(
    vectors: np.ndarray, seeds: Sequence[int], folds: int = 10, seed: int = 1
) -> SpecificWords:
    """Learn which words are specific from a seed list; the seed is that of folds and learning."""
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
    machine = LinearSVC(random_state=seed)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    f_scores = cross_val_score(machine, vectors, is_specific, cv=splits, scoring="f1")
    machine.fit(vectors, is_specific)
    distances = machine.decision_function(vectors) / np.linalg.norm(machine.coef_)
    return SpecificWords(distances, f_scores)
