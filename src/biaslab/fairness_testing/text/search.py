"""Both phases of the search for discriminatory texts, all in lock-step (Algorithms 1, 7, 8 and 10)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.text import _choice_kernels as kernels
from biaslab.fairness_testing.text import answers
from biaslab.fairness_testing.text._trail_kernels import replay
from biaslab.fairness_testing.text.discrimination import check
from biaslab.fairness_testing.text.strategies import Step, Strategy, largest_components, random_neighbours
from biaslab.fairness_testing.text.subject import TextSubject, have_marked
from biaslab.text.words import Texts

MAX_ITER = 10
"""Perturbations of a seed in the paper."""


@dataclass(frozen=True)
class GlobalSearch:
    """What a global phase made of n seeds."""

    # (n,) int8: 0 for a seed that is discriminatory as it is, i after i perturbations, -1 for one that never
    # was.
    found: np.ndarray
    texts: Texts  # what the seeds became
    replaced: np.ndarray  # (n,) int32: the word that makes the partner x' by being replaced; -1 for none
    value: np.ndarray  # (n,) int32: by which
    n_queries: np.ndarray  # (n,) int64: texts whose probabilities were asked for
    n_gradients: np.ndarray  # (n,) int64: texts whose gradients were asked for


@dataclass(frozen=True)
class LocalSearch:
    """What walks from n texts visited; -1 where one has ended before, since no word of its text is free."""

    starts: Texts  # where the walks begin
    ends: Texts  # where they end
    positions: np.ndarray  # (n, hops) int32: which word of the text each hop replaces
    words: np.ndarray  # (n, hops) int32: by which
    discriminatory: np.ndarray  # (n, hops) bool: whether the text after each hop is
    replaced: np.ndarray  # (n, hops) int32: as in `GlobalSearch`
    value: np.ndarray  # (n, hops) int32: as in `GlobalSearch`
    n_queries: np.ndarray  # (n,) int64: texts whose probabilities were asked for
    n_gradients: np.ndarray  # (n,) int64: texts whose gradients were asked for

    @property
    def is_visit(self) -> np.ndarray:
        """Which hops were made, (n, hops) bool."""
        return self.positions >= 0

    def texts(self) -> Texts:
        """Return the text after each hop that was made, walk by walk."""
        return Texts(*replay(self.starts.ids, self.starts.offsets, self.positions, self.words))


def draw_numbers(seed: int, phase: str, ids: Sequence[int] | np.ndarray, steps: int) -> np.ndarray:
    """Return the random numbers of searches, (n, steps, 2) float64 uniform in [0, 1).

    They say which word is replaced, and by which neighbour. A seed's do not depend on the other seeds: `ids`
    are stable numbers of them, and `phase` says what is searched how, e.g. ``"local lstm religion adf"``.
    """
    numbers = np.empty((len(ids), steps, 2))
    for i, number in enumerate(ids):
        stream(seed, "fairness text", phase, int(number)).random(out=numbers[i])
    return numbers


def search_globally(
    subject: TextSubject, seeds: Texts, strategy: Strategy, draws: np.ndarray
) -> GlobalSearch:
    """Perturb texts until they are discriminatory, or `MAX_ITER` times (Algorithm 1).

    J is the loss of the label y that x has, and x' is found again for each x. A text without sensitive words,
    or without free ones, is left as it is.
    """
    n = len(seeds)
    texts = Texts(seeds.ids.copy(), seeds.offsets)
    found = np.full(n, -1, np.int8)
    replaced, value = np.full((2, n), -1, np.int32)
    n_queries, n_gradients = np.zeros((2, n), np.int64)
    left = np.arange(n)
    for step in range(MAX_ITER + 1):
        at = check(subject, texts.take(left))
        n_queries[left] += at.n_queries
        replaced[left], value[left] = at.replaced, at.value
        found[left[at.discriminatory]] = step
        can_move = have_marked(at.texts, subject.free(at.texts)) & (at.replaced >= 0)
        going = np.flatnonzero(~at.discriminatory & can_move)
        if step == MAX_ITER or not len(going):
            break
        left, now, partners = left[going], at.texts.take(going), at.partners.take(going)
        positions, words = _perturb(subject, strategy, now, partners, at.labels[going], draws[left, step])
        n_gradients[left] += strategy.n_gradients
        texts.ids[texts.offsets[left] + positions] = words
    return GlobalSearch(found, texts, replaced, value, n_queries, n_gradients)


def _perturb(
    subject: TextSubject,
    strategy: Strategy,
    texts: Texts,
    partners: Texts,
    labels: np.ndarray,
    numbers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return which word of each text is replaced, and by which, (n,) each."""
    positions, words = [], []
    for some in answers.batches(texts.lengths, answers.WORDS // 2):
        x, g, h = answers.part(texts, some), None, None
        if strategy.is_two_sided:
            g, h = answers.pair_gradients(subject.model, x, answers.part(partners, some), labels[some])
        elif strategy.needs_gradient:
            g = subject.model.gradients(x, labels[some])
        places, chosen = strategy.choose(Step(subject, x, subject.free(x), g, h, numbers[some]))
        positions.append(places - x.offsets[:-1])
        words.append(chosen)
    return np.concatenate(positions), np.concatenate(words)


def search_locally(
    subject: TextSubject, starts: Texts, hops: int, is_guided: bool, draws: np.ndarray
) -> LocalSearch:
    """Walk around discriminatory texts, one word a hop (Algorithm 7).

    A walk goes on from x whether or not x is discriminatory, and x' is found again for each x. The word is
    drawn by Algorithm 8, its substitute by Algorithm 10: in proportion to 1 / (||abs(g_a)||_inf +
    ||abs(g'_a)||_inf) if the walk is guided (ADF), among all free ones alike otherwise (RP).
    """
    if hops < 0:
        raise InputError(f"cannot walk {hops} hops; give 0 or more")
    n = len(starts)
    texts = Texts(starts.ids.copy(), starts.offsets)
    positions, words, replaced, value = np.full((4, hops, n), -1, np.int32)
    discriminatory = np.zeros((hops, n), bool)
    at = check(subject, texts)
    n_queries, n_gradients = at.n_queries.copy(), np.zeros(n, np.int64)
    left = np.arange(n)
    for hop in tqdm(range(hops), desc="hops", leave=False, disable=None):
        going = np.flatnonzero(have_marked(at.texts, subject.free(at.texts)) & (at.replaced >= 0))
        if not len(going):
            break
        left, now, partners = left[going], at.texts.take(going), at.partners.take(going)
        weights = _weights(subject, now, partners, at.labels[going], is_guided)
        way, which = np.ascontiguousarray(draws[left, hop].T)
        places = kernels.draw_elements(now.offsets, weights, way)
        positions[hop, left] = places - now.offsets[:-1]
        words[hop, left] = random_neighbours(subject, now, places, which)
        texts.ids[texts.offsets[left] + positions[hop, left]] = words[hop, left]
        n_gradients[left] += 2 * is_guided
        at = check(subject, texts.take(left))
        n_queries[left] += at.n_queries
        discriminatory[hop, left] = at.discriminatory
        replaced[hop, left], value[hop, left] = at.replaced, at.value
    by_walk = (np.ascontiguousarray(a.T) for a in (positions, words, discriminatory, replaced, value))
    return LocalSearch(starts, texts, *by_walk, n_queries, n_gradients)


def _weights(
    subject: TextSubject, texts: Texts, partners: Texts, labels: np.ndarray, is_guided: bool
) -> np.ndarray:
    """Return the weights of all words in the draw of the next one, (m,) float64 (Algorithm 8)."""
    is_free = subject.free(texts)
    if not is_guided:
        return is_free.astype(np.float64)
    saliency = [np.empty(0)]
    for some in answers.batches(texts.lengths, answers.WORDS // 2):
        x, other = answers.part(texts, some), answers.part(partners, some)
        g, h = answers.pair_gradients(subject.model, x, other, labels[some])
        saliency.append(largest_components(g) + largest_components(h))
    return kernels.inverse_weights(texts.offsets, np.concatenate(saliency), is_free)
