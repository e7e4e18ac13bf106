"""Analogies of one embedding before, after hard and after soft debiasing."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.debiasing.analogies import generate_by_rule, solve_analogies
from biaslab.debiasing.columns import COLUMNS
from biaslab.debiasing.experiment import DIGITS, Experiment

PUZZLES = (
    ("he", "doctor", "she"),
    ("man", "computer_programmer", "woman"),
    ("man", "programmer", "woman"),
    ("father", "doctor", "mother"),
    ("man", "king", "woman"),
    ("Paris", "France", "Tokyo"),
    ("she", "ovarian_cancer", "he"),
    ("she", "grandmother", "he"),
    ("father", "male", "mother"),
)
"""The analogies that the paper solves in its text (Sections 1, 4, 6 and 7); debiasing answers
the first one otherwise, the third stands in for the second where an embedding lacks its phrase."""


def list_analogies(experiment: Experiment, count: int = 150) -> pd.DataFrame:
    """Generate `count` analogies she : x :: he : y of every stage; the paper has 150 judged."""
    tables = []
    for stage, vectors in experiment.stages().items():
        direction = experiment.direction(vectors)
        for once, table in generate_by_rule(vectors, experiment.words, direction, count).items():
            tables.append(table.assign(stage=stage, once=once, rank=np.arange(1, len(table) + 1)))
    table = pd.concat(tables, ignore_index=True).rename(columns={"x": "she", "y": "he"})
    return table[list(COLUMNS["analogies"])].round(DIGITS)


def solve_puzzles(experiment: Experiment, puzzles: Sequence[tuple[str, str, str]] = PUZZLES) -> pd.DataFrame:
    """Answer analogies a : b :: c : ? at every stage, by 3CosAdd, but for those with unknown words."""
    known = [puzzle for puzzle in puzzles if set(puzzle) <= experiment.ids.keys()]
    questions = np.array([[experiment.ids[word] for word in puzzle] for puzzle in known], dtype=np.int64)
    rows = [
        (stage, *puzzle, experiment.words[answer])
        for stage, vectors in experiment.stages().items()
        for puzzle, answer in zip(known, solve_analogies(vectors, questions), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["puzzles"])
