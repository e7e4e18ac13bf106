"""What searches found: their different texts, what these cost, and where a local phase starts."""

import numpy as np

from biaslab.fairness_testing.text._trail_kernels import hash_texts, number_sorted
from biaslab.fairness_testing.text.discrimination import exchange
from biaslab.fairness_testing.text.finds import Finds
from biaslab.fairness_testing.text.search import GlobalSearch, LocalSearch
from biaslab.text.words import Texts


def number_texts(texts: Texts) -> np.ndarray:
    """Return the index of the first text with the same words in the same order as each, (n,) int64."""
    hashes = hash_texts(texts.ids, texts.offsets)
    return number_sorted(texts.ids, texts.offsets, np.argsort(hashes, kind="stable"), hashes)


def distinct(texts: Texts) -> np.ndarray:
    """Return the indexes of texts that equal none before, (u,) int64, rising."""
    return np.flatnonzero(number_texts(texts) == np.arange(len(texts)))


def distinct_rows(texts: Texts, rows: np.ndarray) -> np.ndarray:
    """Return those of some rows, (q,) int64, whose texts equal none of a row before, in their order."""
    return rows[distinct(texts.take(rows))]


def count_global(search: GlobalSearch) -> tuple[int, int]:
    """Return how many seeds are discriminatory as they are, and how many texts others were made into."""
    perturbed = distinct_rows(search.texts, np.flatnonzero(search.found > 0))
    return int((search.found == 0).sum()), len(perturbed)


def starts_of(search: GlobalSearch) -> np.ndarray:
    """Return the seeds whose texts the local phase starts from, (s,) int64: all finds, each text once."""
    return distinct_rows(search.texts, np.flatnonzero(search.found >= 0))


def count_local(search: LocalSearch) -> tuple[int, int]:
    """Return how many different texts were visited, and how many of them are discriminatory."""
    numbers = number_texts(search.texts())
    is_found = search.discriminatory[search.is_visit]
    return len(np.unique(numbers)), len(np.unique(numbers[is_found]))


def global_finds(search: GlobalSearch) -> Finds:
    """Return the pairs of all seeds that are, or became, discriminatory, each text once, by seed."""
    rows = starts_of(search)
    texts = search.texts.take(rows)
    return Finds(rows, texts, exchange(texts, search.replaced[rows], search.value[rows]))


def local_finds(search: LocalSearch) -> Finds:
    """Return the pairs that walks visited, each text once, in the order of the first visits, by start."""
    is_found = search.discriminatory
    texts = search.texts().take(np.flatnonzero(is_found[search.is_visit]))
    rows = np.nonzero(is_found)[0]
    visits = Finds(rows, texts, exchange(texts, search.replaced[is_found], search.value[is_found]))
    return visits.take(distinct(texts))
