"""Which words of an embedding are gender-specific, as a classifier tells them from neutral ones."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.debiasing.experiment import (
    BEFORE,
    DIGITS,
    HARD,
    Experiment,
    cosines,
)
from biaslab.debiasing.gender_specific import classify_specific
from biaslab.debiasing.word_lists import known_words, read_words


def classify_words(experiment: Experiment, authors: Sequence[Path] = ()) -> dict[str, pd.DataFrame]:
    """Learn the gender-specific words, from our seeds and from the list of the authors' seeds."""
    classifier, axes = classify_stages(experiment, experiment.lists.specific.rows)
    theirs = classifier.iloc[:0]
    for file in authors:
        theirs, _ = classify_stages(experiment, known_words(read_words(file), experiment.ids).rows)
    return {"classifier": classifier, "classifier_authors": theirs, "axes": axes}


def classify_stages(
    experiment: Experiment, seeds: Sequence[int], folds: int = 10
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Learn the gender-specific words from the rows `seeds`: tables `classifier` and `axes` (Figure 3)."""
    vectors = experiment.embedding.vectors
    found = classify_specific(vectors, seeds, folds=folds, seed=experiment.settings.seed)
    classifier = pd.DataFrame({"fold": np.arange(1, folds + 1), "F": found.f_scores})
    classifier["n_specific_found"] = int((found.distances > 0).sum())
    classifier["n_seeds"] = len(seeds)
    rows = np.union1d(experiment.lists.occupations.rows, seeds)
    axes = [
        pd.DataFrame(
            {
                "word": [experiment.words[row] for row in rows],
                "she_he": cosines(of_stage[rows], experiment.direction(of_stage)),
                "neutrality": -found.distances[rows],
                "gender_specific": np.isin(rows, experiment.lists.not_neutral),
                "stage": stage,
            }
        )
        for stage, of_stage in ((BEFORE, vectors), (HARD, experiment.hard()))
    ]
    return classifier, pd.concat(axes, ignore_index=True).round(DIGITS)
