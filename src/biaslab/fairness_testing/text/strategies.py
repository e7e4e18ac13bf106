"""The perturbations of texts in the global phase. To add one, write a function, a row, and an oracle.

Algorithms 5 and 6, with the gradients of x and x' or, as in the original methods, only of x; and random words
(RP). As printed, line 3 of Algorithm 5 goes against the gradient, and Algorithm 6 replaces every word by its
last neighbour with an effect.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.fairness_testing.text import _kernels as kernels
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.text.words import Texts


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
