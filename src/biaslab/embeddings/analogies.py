"""The analogy task (a is to b as c is to ?), a standard test of the quality of embeddings."""

import importlib.resources
import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, number_of
from biaslab.core.files import read_text
from biaslab.core.io import write_tsv
from biaslab.embeddings.batches import read_trainings
from biaslab.embeddings.vocabulary import read_vocabulary

__all__ = ["AnalogyScore", "default_questions", "evaluate"]

COLUMNS = ["set", "seed", "correct", "total", "accuracy", "coverage"]


class AnalogyScore(NamedTuple):
    """Number of analogies that an embedding solves.

    Attributes
    ----------
    correct, total : int
        Correctly answered questions, and answerable questions: those with all four words in the vocabulary.
    questions : int
        All questions of the file.
    """

    correct: int
    total: int
    questions: int

    @property
    def accuracy(self) -> float:
        """TOP-1 accuracy over the answerable questions, NaN if there are none."""
        return self.correct / self.total if self.total else math.nan

    @property
    def coverage(self) -> float:
        """Share of answerable questions."""
        return self.total / self.questions


def default_questions() -> Path:
    """Return the path of ``questions-words.txt`` (Mikolov et al. 2013) in the installed gensim.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return Path(str(importlib.resources.files("gensim"))) / "test" / "test_data" / "questions-words.txt"


def evaluate(words: list[str], vectors: np.ndarray, questions: str | os.PathLike) -> AnalogyScore:
    """Answer analogy questions by the vector offset b - a + c (gensim), ignoring case.

    Parameters
    ----------
    words : list of str
        The vocabulary; every word is a candidate answer.
    vectors : (V, D) float32
        Word vectors.
    questions : path-like
        Text file with sections that start with ``: name`` and lines of four words.

    Returns
    -------
    AnalogyScore
        Counts over all sections.

    Raises
    ------
    InputError
        When the question file is missing or malformed, or a vector is zero or not finite.
    """
    from gensim.models import KeyedVectors

    norms = np.linalg.norm(vectors, axis=1)
    bad = ~(np.isfinite(norms) & (norms > 0))
    if bad.any():
        word = words[int(bad.argmax())]
        raise InputError(
            f"the vector of '{word}' is zero or not finite, so it has no cosine; retrain the embedding"
        )
    n_questions = count_questions(questions)
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(words, vectors)
    _, sections = keyed.evaluate_word_analogies(str(questions), restrict_vocab=len(words))
    correct, incorrect = len(sections[-1]["correct"]), len(sections[-1]["incorrect"])
    return AnalogyScore(correct, correct + incorrect, n_questions)


def write_analogies(embeddings: list[Path], vocabulary: Path, out: Path) -> None:
    """Write the scores of each embedding on gensim's analogies (TOP-1)."""
    words = read_vocabulary(vocabulary)
    rows = []
    for training in read_trainings(embeddings, words, "analogies"):
        score = evaluate(words.words, training.W, default_questions())
        keys = training.set, training.replicate
        rows.append([*keys, score.correct, score.total, score.accuracy, score.coverage])
    table = pd.DataFrame(rows, columns=COLUMNS)
    write_tsv(out, table.sort_values(COLUMNS[:2], ignore_index=True))


def count_questions(path: str | os.PathLike) -> int:
    """Check a file of analogy questions and count its lines of four words."""
    count, in_section = 0, False
    for number, line in enumerate(read_text(path, "file of analogy questions").splitlines(), 1):
        if line.startswith(": "):
            in_section = True
        elif not in_section:
            raise InputError(
                f"{path}, line {number}: the question has no section; insert a line ': name' before it"
            )
        elif len(line.split()) == 4:
            count += 1
        elif line.strip():
            n_words = number_of(len(line.split()), "word")
            raise InputError(f"{path}, line {number}: expected 4 words, found {n_words}; correct the line")
    if not count:
        raise InputError(f"{path}: the file contains no analogy questions; write lines of four words")
    return count
