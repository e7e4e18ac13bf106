"""SemBias: which of four pairs of words is most like he and she? (Zhao et al. 2018, GN-GloVe).

A question has a pair that differs in gender by definition, a pair that differs by stereotype, and two that
differ in something else. An embedding answers with the pair whose difference is nearest to that of he and
she; an unbiased one answers with the definition.
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.stats import share_interval
from biaslab.debiasing.remaining.contract import Case, Found
from biaslab.embeddings.analogies import read_lines

KINDS = ("definition", "none", "none", "stereotype")
"""What the pairs of a question are, in the order of the file."""
ANSWERS = ("definition", "stereotype", "none")

Question = tuple[tuple[str, str], ...]


def measure(case: Case, vectors: np.ndarray) -> list[Found]:
    """Return the shares of the answers by kind, with intervals; nothing where no question can be asked."""
    she, he = case.ends
    direction = vectors[he].astype(np.float64) - vectors[she]
    counts, known = answer_sembias(vectors, case.ids, case.questions, direction)
    if not known:
        return []
    return [
        Found(f"sembias_{kind}", count / known, *share_interval(count, known), known)
        for kind, count in counts.items()
    ]


def read_sembias(path: str | os.PathLike) -> list[Question]:
    """Read questions: lines of four pairs ``male:female``, separated by tabs, in the order of `KINDS`."""
    questions = [
        _parse(line, f"{path}, line {number}")
        for number, line in enumerate(read_lines(path, "SemBias questions"), 1)
        if line.strip()
    ]
    if not questions:
        raise InputError(f"{path}: no questions; give lines of four pairs male:female, separated by tabs")
    return questions


def answer_sembias(
    vectors: np.ndarray, ids: Mapping[str, int], questions: Sequence[Question], direction: np.ndarray
) -> tuple[dict[str, int], int]:
    """Count which kind of pair (`ANSWERS`, the first of equals) is nearest to he - she, of known words."""
    counts, known = dict.fromkeys(ANSWERS, 0), 0
    for pairs in questions:
        if all(word in ids for pair in pairs for word in pair):
            rows = np.array([[ids[word] for word in pair] for pair in pairs])
            differences = vectors[rows[:, 0]].astype(np.float64) - vectors[rows[:, 1]]
            lengths = np.linalg.norm(differences, axis=1)
            cosines = differences @ direction / np.where(lengths > 0, lengths, np.inf)
            counts[KINDS[int(np.argmax(cosines))]] += 1
            known += 1
    return counts, known


def _parse(line: str, where: str) -> Question:
    pairs = tuple(tuple(pair.split(":")) for pair in line.strip().split("\t"))
    if len(pairs) != len(KINDS) or any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise InputError(f"{where}: not four pairs male:female, separated by tabs")
    return pairs
