"""Checks pairs that a search found, independently of how it found them."""

from dataclasses import dataclass

import numpy as np

from biaslab.fairness_testing.text import answers, trails
from biaslab.fairness_testing.text.finds import Finds
from biaslab.fairness_testing.text.search import GlobalSearch, LocalSearch
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.words import Texts

CHECKS = ("only_values_differ", "from_neighbours", "labels_confirmed", "l0_recounted")
"""The checks that every pair must pass."""


@dataclass(frozen=True)
class Invariants:
    """How many of the pairs that were found pass each check."""

    n_pairs: int  # a text found several times counts each time
    only_values_differ: int  # texts differ in one value of the feature alone, everywhere
    # The text follows from its seed by as many recorded steps as are told, each move from a word that is no
    # value to a neighbour of it.
    from_neighbours: int
    labels_confirmed: int  # texts have two labels when they are asked about once more, in another order
    l0_recounted: int  # as many changed words by comparison with the seed as by the moves
    n_duplicates: int  # the text was found before


def verify_global(subject: TextSubject, seeds: Texts, search: GlobalSearch) -> Invariants:
    """Check what a global phase found."""
    rows = np.flatnonzero(search.found >= 0)
    moves, replayed = search.moves, _Replay(subject, seeds)
    n_steps = np.zeros(len(seeds), np.int64)
    for step in range(int(moves.steps.max(initial=-1)) + 1):
        now = moves.steps == step
        replayed.move(moves.seeds[now], moves.positions[now], moves.words[now])
        n_steps[moves.seeds[now]] += 1
    replayed.is_valid &= n_steps == search.found
    is_equal = _are_equal(Texts(replayed.ids, seeds.offsets), search.texts)
    pairs = Finds(rows, search.texts.take(rows), search.partners.take(rows))
    return _count(subject, seeds, pairs, (replayed.is_valid & is_equal)[rows], replayed.changed[rows])


def verify_local(subject: TextSubject, search: LocalSearch) -> Invariants:
    """Check what a local phase found."""
    replayed = _Replay(subject, search.starts)
    is_valid, changed = np.empty(search.positions.shape, bool), np.empty(search.positions.shape, np.int64)
    for hop, (positions, words) in enumerate(zip(search.positions.T, search.words.T, strict=True)):
        made = np.flatnonzero(positions >= 0)
        replayed.move(made, positions[made], words[made])
        is_valid[:, hop], changed[:, hop] = replayed.is_valid, replayed.changed
    is_valid &= _are_equal(Texts(replayed.ids, search.starts.offsets), search.ends)[:, None]
    found = search.discriminatory
    return _count(subject, search.starts, trails.all_local_finds(search), is_valid[found], changed[found])


class _Replay:
    """Makes recorded moves once more.

    ids, (m,) int32: the words where all texts stand now; is_valid, (n,) bool: whether all moves so far are
    ones that a search may make; changed, (n,) int64: words that differ from the text's first ones, counted
    move by move.
    """

    def __init__(self, subject: TextSubject, texts: Texts) -> None:
        self._subject, self._texts = subject, texts
        self.ids = texts.ids.copy()
        self.is_valid = np.ones(len(texts), bool)
        self.changed = np.zeros(len(texts), np.int64)

    def move(self, rows: np.ndarray, positions: np.ndarray, words: np.ndarray) -> None:
        """Replace some words, (q,) each: of which texts, where, and by which; no place twice."""
        places = self._texts.offsets[rows] + positions
        old, first = self.ids[places], self._texts.ids[places]
        is_neighbour = (self._subject.neighbours[old] == words[:, None]).any(axis=1)
        np.logical_and.at(self.is_valid, rows, is_neighbour & ~np.isin(old, self._subject.values))
        np.add.at(self.changed, rows, (words != first).astype(np.int64) - (old != first))
        self.ids[places] = words


def _count(
    subject: TextSubject, seeds: Texts, pairs: Finds, is_valid: np.ndarray, changed: np.ndarray
) -> Invariants:
    before = seeds.take(pairs.origins)
    return Invariants(
        n_pairs=len(pairs.origins),
        only_values_differ=int(_differ_in_one_value(subject, pairs).sum()),
        from_neighbours=int(is_valid.sum()),
        labels_confirmed=int(_have_two_labels(subject, pairs).sum()),
        l0_recounted=int((_sums(before.ids != pairs.texts.ids, before.offsets) == changed).sum()),
        n_duplicates=len(pairs.origins) - len(trails.distinct(pairs.texts)),
    )


def _differ_in_one_value(subject: TextSubject, pairs: Finds) -> np.ndarray:
    """Return which pairs differ in all places of one value, and there in one other value, (p,) bool."""
    x, other = pairs.texts, pairs.partners
    rows = np.repeat(np.arange(len(x)), x.lengths)
    differs = np.flatnonzero(x.ids != other.ids)
    old, new = np.full((2, len(x)), -1)
    old[rows[differs]], new[rows[differs]] = x.ids[differs], other.ids[differs]
    expected = np.where(x.ids == old[rows], new[rows], x.ids)
    are_values = np.isin(old, subject.values) & np.isin(new, subject.values)
    return are_values & (_sums(other.ids != expected, x.offsets) == 0)


def _have_two_labels(subject: TextSubject, pairs: Finds) -> np.ndarray:
    back = np.arange(len(pairs.origins))[::-1]
    x, other = (
        answers.labels_of(answers.probabilities(subject.model, texts.take(back)))
        for texts in (pairs.texts, pairs.partners)
    )
    return (x != other)[::-1]


def _are_equal(x: Texts, other: Texts) -> np.ndarray:
    """Return which of two sets of texts of equal lengths are equal, (n,) bool."""
    return _sums(x.ids != other.ids, x.offsets) == 0


def _sums(marks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return how many words of each text are marked, (n,) int64."""
    return np.diff(np.concatenate([[0], np.cumsum(marks)])[offsets])
