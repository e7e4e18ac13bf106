"""Gender-specific words of an embedding, by a linear classifier (Section 5, Figure 3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.debiasing.experiment import BEFORE, DIGITS, HARD, Experiment, cosines
from biaslab.debiasing.word_lists import known_words, read_words


class SpecificWords(NamedTuple):
    """A linear classifier of specific words, trained on a seed list."""

    distances: np.ndarray  # (V,) float64, signed, from the decision boundary; positive: specific
    f_scores: np.ndarray  # (folds,) float64, of the class of specific words


def classify_specific(
    vectors: np.ndarray, seeds: Sequence[int], folds: int = 10, seed: int = 1
) -> SpecificWords:
    """Train a classifier of specific words on a seed list; `seed` is for folds and training."""
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


def classify_words(experiment: Experiment, authors: Sequence[Path] = ()) -> dict[str, pd.DataFrame]:
    """Classify gender-specific words from our seeds and from the authors' seeds."""
    classifier, axes = classify_stages(experiment, experiment.lists.specific.rows)
    theirs = classifier.iloc[:0]
    for file in authors:
        theirs, _ = classify_stages(experiment, known_words(read_words(file), experiment.ids).rows)
    return {"classifier": classifier, "classifier_authors": theirs, "axes": axes}


def classify_stages(
    experiment: Experiment, seeds: Sequence[int], folds: int = 10
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Classify gender-specific words from the rows `seeds`: tables `classifier` and `axes` (Figure 3)."""
    vectors = experiment.embedding.vectors
    specific = classify_specific(vectors, seeds, folds=folds, seed=experiment.settings.seed)
    classifier = pd.DataFrame({"fold": np.arange(1, folds + 1), "F": specific.f_scores})
    classifier["n_specific_found"] = int((specific.distances > 0).sum())
    classifier["n_seeds"] = len(seeds)
    rows = np.union1d(experiment.lists.occupations.rows, seeds)
    axes = [
        pd.DataFrame(
            {
                "word": [experiment.words[row] for row in rows],
                "she_he": cosines(of_stage[rows], experiment.direction(of_stage)),
                "neutrality": -specific.distances[rows],
                "gender_specific": np.isin(rows, experiment.lists.not_neutral),
                "stage": stage,
            }
        )
        for stage, of_stage in ((BEFORE, vectors), (HARD, experiment.hard()))
    ]
    return classifier, pd.concat(axes, ignore_index=True).round(DIGITS)
