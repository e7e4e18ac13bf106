"""Both phases of the search for texts, in lock-step (Algorithms 1, 7, 8 and 10), and their finds.

To add a strategy of the global phase, write a function, a row, and an oracle. The strategies are Algorithms 5
and 6, with the gradients of x and x' or, as in the original methods, only of x; and random words (RP). As
printed, line 3 of Algorithm 5 goes against the gradient, and Algorithm 6 replaces every word by its last
neighbour with an effect.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_npz, write_npz
from biaslab.core.rng import stream
from biaslab.fairness_testing.text import _kernels as kernels
from biaslab.fairness_testing.text.discrimination import (
    WORDS,
    TextSubject,
    batches,
    check,
    exchange,
    have_marked,
    pair_gradients,
    part,
)
from biaslab.text.words import Texts, concatenate


@dataclass(frozen=True)
class Step:
    """The states of n searches, each with a free word."""

    subject: TextSubject
    texts: Texts  # the texts x, with m words in all
    is_free: np.ndarray  # (m,) bool: the words, of A without P, that may be perturbed
    g: np.ndarray | None  # (m, d), the gradients of x, if the strategy uses them
    h: np.ndarray | None  # (m, d), the gradients g' of x', if the strategy uses them
    numbers: np.ndarray  # (n, 2) uniform in [0, 1): for the word, and for the neighbour


@dataclass(frozen=True)
class Strategy:
    """A row of the registry."""

    name: str  # in files and on the command line
    title: str  # display name
    # Returns the replaced word of each text, (n,) int64 indices of `Step.texts.ids`, and its substitute, (n,)
    # int32.
    choose: Callable[[Step], tuple[np.ndarray, np.ndarray]]
    needs_gradient: bool = True  # whether the strategy uses g
    is_two_sided: bool = False  # whether the strategy also uses g'


def random_neighbours(
    subject: TextSubject, texts: Texts, places: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    """Return a neighbour of each word at places, drawn uniformly (Algorithm 10), (q,) int32."""
    words = texts.ids[places]
    return subject.neighbours[words, (numbers * subject.n_neighbours[words]).astype(np.int64)]


def largest_components(gradients: np.ndarray) -> np.ndarray:
    """Return ||abs(g_a)||_inf of each word, (m,) float64, of gradients (m, d)."""
    return np.abs(gradients).max(axis=1, initial=0).astype(np.float64)


def perturb_randomly(step: Step) -> tuple[np.ndarray, np.ndarray]:
    """Replace a random free word by a random neighbour (RP)."""
    word_draws, neighbour_draws = np.ascontiguousarray(step.numbers.T)
    places = kernels.draw_elements(step.texts.offsets, step.is_free.astype(np.float64), word_draws)
    return places, random_neighbours(step.subject, step.texts, places, neighbour_draws)


def perturb_most_important(step: Step) -> tuple[np.ndarray, np.ndarray]:
    """Raise the loss by the most important word (Algorithm 5, with Equation 5 if g' is used)."""
    importance = largest_components(step.g if step.h is None else step.g.astype(np.float64) - step.h)
    a = kernels.first_maxima(step.texts.offsets, importance, step.is_free)
    subject = step.subject
    words = kernels.nearest_directions(
        step.texts.ids[a], step.g[a], subject.model.vectors, subject.neighbours
    )
    return a, words


def perturb_most_effective(step: Step) -> tuple[np.ndarray, np.ndarray]:
    """Make the replacement with the largest effect by the gradients (Algorithm 6 with a running maximum).

    With g alone, this is the largest first-order increase of the loss, g_a · (c - x_a), as in HotFlip.
    """
    subject = step.subject
    both = [
        kernels.replacement_effects(
            step.texts.ids, step.is_free, gradients, subject.model.vectors, subject.neighbours
        )
        for gradients in (step.g, step.h)
        if gradients is not None
    ]
    effects = -both[0] if step.h is None else np.abs(both[0] - both[1])  # (m, K); NaN for no candidate
    best = kernels.first_maxima(
        step.texts.offsets * effects.shape[1], effects.ravel(), ~np.isnan(effects).ravel()
    )
    a, place = best // effects.shape[1], best % effects.shape[1]
    return a, step.subject.neighbours[step.texts.ids[a], place]


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("rp", "RP", perturb_randomly, needs_gradient=False),
        Strategy("asc", "ASC", perturb_most_important),
        Strategy("adf_asc", "ADF_ASC", perturb_most_important, is_two_sided=True),
        Strategy("hf", "HF", perturb_most_effective),
        Strategy("adf_hf", "ADF_HF", perturb_most_effective, is_two_sided=True),
    )
}
"""Every strategy by its name."""


def find_strategy(name: str) -> Strategy:
    """Return the strategy of a name."""
    if name not in STRATEGIES:
        raise InputError(
            f"unknown strategy '{name}' (known: {', '.join(STRATEGIES)}){suggest(name, list(STRATEGIES))}"
        )
    return STRATEGIES[name]


GLOBAL, LOCAL = "global", "local"  # the phases of a search
MAX_ITER = 10  # the largest number of perturbations of a seed in the paper


@dataclass(frozen=True)
class GlobalSearch:
    """The result of a global phase from n seeds."""

    # (n,) int8: 0 for a seed that is itself discriminatory, i after i perturbations, -1 if never.
    found: np.ndarray
    texts: Texts  # the perturbed seeds
    replaced: np.ndarray  # (n,) int32: the word that the partner x' replaces; -1 for none
    value: np.ndarray  # (n,) int32: the replacement
    n_queries: np.ndarray  # (n,) int64: model queries for probabilities
    n_gradients: np.ndarray  # (n,) int64: model queries for gradients


@dataclass(frozen=True)
class LocalSearch:
    """The visits of walks from n texts; -1 after the end of a walk without free words."""

    starts: Texts  # where the walks begin
    positions: np.ndarray  # (n, hops) int32: the word of the text that each hop replaces
    words: np.ndarray  # (n, hops) int32: the replacement
    discriminatory: np.ndarray  # (n, hops) bool: whether the text after each hop is discriminatory
    replaced: np.ndarray  # (n, hops) int32: as in `GlobalSearch`
    value: np.ndarray  # (n, hops) int32: as in `GlobalSearch`
    n_queries: np.ndarray  # (n,) int64: model queries for probabilities
    n_gradients: np.ndarray  # (n,) int64: model queries for gradients

    @property
    def is_visit(self) -> np.ndarray:
        """Whether hops were made, (n, hops) bool."""
        return self.positions >= 0

    def texts(self) -> Texts:
        """Return the text after each hop that was made, walk by walk."""
        return Texts(*kernels.replay(self.starts.ids, self.starts.offsets, self.positions, self.words))


def draw_numbers(seed: int, phase: str, ids: Sequence[int] | np.ndarray, steps: int) -> np.ndarray:
    """Return the random numbers, (n, steps, 2), that choose replaced words and neighbours in a phase.

    The numbers of a seed do not depend on other seeds: `ids` are stable numbers of the seeds.
    """
    numbers = np.empty((len(ids), steps, 2))
    for i, number in enumerate(ids):
        stream(seed, "fairness text", phase, int(number)).random(out=numbers[i])
    return numbers


def search_globally(
    subject: TextSubject, seeds: Texts, strategy: Strategy, draws: np.ndarray
) -> GlobalSearch:
    """Perturb texts until they are discriminatory, or `MAX_ITER` times (Algorithm 1)."""
    n = len(seeds)
    texts = Texts(seeds.ids.copy(), seeds.offsets)
    found = np.full(n, -1, np.int8)
    replaced, value = np.full((2, n), -1, np.int32)
    n_queries, n_gradients = np.zeros((2, n), np.int64)
    left = np.arange(n)
    for step in range(MAX_ITER + 1):
        checked = check(subject, texts.take(left))
        n_queries[left] += checked.n_queries
        replaced[left], value[left] = checked.replaced, checked.value
        found[left[checked.discriminatory]] = step
        can_move = have_marked(checked.texts, subject.is_free[checked.texts.ids]) & (checked.replaced >= 0)
        live = np.flatnonzero(~checked.discriminatory & can_move)
        if step == MAX_ITER or not len(live):
            break
        left, current, partners = left[live], checked.texts.take(live), checked.partners.take(live)
        labels, numbers = checked.labels[live], draws[left, step]
        for batch in batches(current.lengths, WORDS // 2):
            x, g, h = part(current, batch), None, None
            if strategy.is_two_sided:
                g, h = pair_gradients(subject.model, x, part(partners, batch), labels[batch])
            elif strategy.needs_gradient:
                g = subject.model.gradients(x, labels[batch])
            places, words = strategy.choose(Step(subject, x, subject.is_free[x.ids], g, h, numbers[batch]))
            texts.ids[texts.offsets[left[batch]] + places - x.offsets[:-1]] = words
        n_gradients[left] += strategy.needs_gradient + strategy.is_two_sided
    return GlobalSearch(found, texts, replaced, value, n_queries, n_gradients)


def search_locally(
    subject: TextSubject, starts: Texts, hops: int, is_guided: bool, draws: np.ndarray
) -> LocalSearch:
    """Walk around discriminatory texts, one word a hop (Algorithm 7).

    A walk continues from x whether or not x is discriminatory, and x' is recomputed for each x. The word is
    drawn by Algorithm 8, its substitute by Algorithm 10: in proportion to 1 / (||abs(g_a)||_inf +
    ||abs(g'_a)||_inf) if the walk is guided (ADF), otherwise uniformly among all free words (RP).
    """
    n = len(starts)
    texts = Texts(starts.ids.copy(), starts.offsets)
    positions, words, replaced, value = np.full((4, hops, n), -1, np.int32)
    discriminatory = np.zeros((hops, n), bool)
    checked = check(subject, texts)
    n_queries, n_gradients = checked.n_queries.copy(), np.zeros(n, np.int64)
    left = np.arange(n)
    for hop in tqdm(range(hops), desc="hops", leave=False, disable=None):
        live = np.flatnonzero(
            have_marked(checked.texts, subject.is_free[checked.texts.ids]) & (checked.replaced >= 0)
        )
        if not len(live):
            break
        left, current, partners = left[live], checked.texts.take(live), checked.partners.take(live)
        weights = _weights(subject, current, partners, checked.labels[live], is_guided)
        word_draws, neighbour_draws = np.ascontiguousarray(draws[left, hop].T)
        places = kernels.draw_elements(current.offsets, weights, word_draws)
        positions[hop, left] = places - current.offsets[:-1]
        words[hop, left] = random_neighbours(subject, current, places, neighbour_draws)
        texts.ids[texts.offsets[left] + positions[hop, left]] = words[hop, left]
        n_gradients[left] += 2 * is_guided
        checked = check(subject, texts.take(left))
        n_queries[left] += checked.n_queries
        discriminatory[hop, left] = checked.discriminatory
        replaced[hop, left], value[hop, left] = checked.replaced, checked.value
    by_walk = (np.ascontiguousarray(a.T) for a in (positions, words, discriminatory, replaced, value))
    return LocalSearch(starts, *by_walk, n_queries, n_gradients)


def _weights(
    subject: TextSubject, texts: Texts, partners: Texts, labels: np.ndarray, is_guided: bool
) -> np.ndarray:
    """Return the weights of all words for drawing the next word, (m,) float64 (Algorithm 8)."""
    is_free = subject.is_free[texts.ids]
    if not is_guided:
        return is_free.astype(np.float64)
    saliency = [np.empty(0)]
    for batch in batches(texts.lengths, WORDS // 2):
        x, other = part(texts, batch), part(partners, batch)
        g, h = pair_gradients(subject.model, x, other, labels[batch])
        saliency.append(largest_components(g) + largest_components(h))
    return kernels.inverse_weights(texts.offsets, np.concatenate(saliency), is_free)


@dataclass(frozen=True)
class Finds:
    """Discriminatory pairs."""

    origins: np.ndarray  # (p,) int64: the original text of each (in a file: row of the searched part)
    texts: Texts  # x
    partners: Texts  # x'

    def __len__(self) -> int:
        return len(self.origins)

    def take(self, rows: np.ndarray) -> "Finds":
        """Return the pairs in rows."""
        return Finds(self.origins[rows], self.texts.take(rows), self.partners.take(rows))


def join_finds(parts: Sequence[Finds]) -> Finds:
    """Concatenate the pairs of several searches."""
    origins, texts, partners = zip(*(vars(part).values() for part in parts), strict=True)
    return Finds(np.concatenate(origins), concatenate(texts), concatenate(partners))


def key(part: str, feature: str, number: int, phase: str, tester: str) -> str:
    """Return the key of the finds of a search."""
    return f"{part}/{feature}/{number}/{phase}/{tester}"


def draw_rows(n: int, limit: int | None, *ids: int | str) -> np.ndarray:
    """Return sorted rows drawn from n: at most `limit`, all for None; `ids` name the random stream."""
    if limit is None or n <= limit:
        return np.arange(n)
    return np.sort(stream(*ids).choice(n, limit, replace=False))


def save_finds(path: Path, by_key: Mapping[str, Finds]) -> None:
    """Write the finds of searches, by `key`."""
    arrays: dict[str, np.ndarray] = {}
    for name, finds in by_key.items():
        arrays |= finds.texts.arrays(f"{name}/x") | finds.partners.arrays(f"{name}/partner")
        arrays[f"{name}/origins"] = finds.origins
    write_npz(path, **arrays)


def load_finds(path: Path) -> dict[str, Finds]:
    """Read the file of `save_finds`."""
    arrays = read_npz(path)
    names = [name.removesuffix("/origins") for name in arrays if name.endswith("/origins")]
    return {
        name: Finds(
            arrays[f"{name}/origins"],
            Texts.of_arrays(arrays, f"{name}/x"),
            Texts.of_arrays(arrays, f"{name}/partner"),
        )
        for name in names
    }


def number_texts(texts: Texts) -> np.ndarray:
    """Return the index of the first equal text for each text, (n,) int64."""
    hashes = kernels.hash_texts(texts.ids, texts.offsets)
    return kernels.number_sorted(texts.ids, texts.offsets, np.argsort(hashes, kind="stable"), hashes)


def distinct(texts: Texts) -> np.ndarray:
    """Return the sorted indices of texts that do not equal an earlier text, (u,) int64."""
    return np.flatnonzero(number_texts(texts) == np.arange(len(texts)))


def count_global(search: GlobalSearch) -> tuple[int, int]:
    """Return the number of discriminatory seeds, and of distinct texts found by perturbing other seeds."""
    perturbed = search.texts.take(np.flatnonzero(search.found > 0))
    return int((search.found == 0).sum()), len(distinct(perturbed))


def starts_of(search: GlobalSearch) -> np.ndarray:
    """Return the seeds of the local phase's starting texts, (s,) int64: all finds, each text once."""
    rows = np.flatnonzero(search.found >= 0)
    return rows[distinct(search.texts.take(rows))]


def count_local(search: LocalSearch) -> tuple[int, int]:
    """Return the number of distinct visited texts, and of discriminatory texts among them."""
    numbers = number_texts(search.texts())
    is_found = search.discriminatory[search.is_visit]
    return len(np.unique(numbers)), len(np.unique(numbers[is_found]))


def global_finds(search: GlobalSearch, seeds: np.ndarray) -> Finds:
    """Return the pairs of all discriminatory seeds, each text once; `seeds` are rows of the searched part."""
    rows = starts_of(search)
    texts = search.texts.take(rows)
    return Finds(seeds[rows], texts, exchange(texts, search.replaced[rows], search.value[rows]))


def local_finds(search: LocalSearch, origins: np.ndarray) -> Finds:
    """Return the discriminatory pairs on walks, each text once; `origins` are the rows of the starts."""
    is_found = search.discriminatory
    texts = search.texts().take(np.flatnonzero(is_found[search.is_visit]))
    partners = exchange(texts, search.replaced[is_found], search.value[is_found])
    return Finds(origins[np.nonzero(is_found)[0]], texts, partners).take(distinct(texts))
