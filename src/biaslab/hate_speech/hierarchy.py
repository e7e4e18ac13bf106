"""Hierarchical explanations: words that are joined to ever longer phrases, each with its importance.

The agglomeration is that of Singh et al. (2019, ACD) with the scores of Jin et al. (2020), as the published
code of Kennedy et al. (2020) has it. It begins with the words whose importance is in the highest tenth.
Neighbouring ones form a component. In every step each component is scored as a phrase; the words beside it
get the score of the phrase with them less that of the phrase without; and of all words that are in no
component yet, the highest tenth joins.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from biaslab.core.errors import InputError

Span = tuple[int, int]
"""The words [start, end) of a sentence."""
Phrase = tuple[int, int, float]
"""A span and its importance φ."""
Levels = Sequence[Sequence[Phrase]]
"""The phrases of a sentence, level by level, from left to right.

Level 0 has every word; level k the components of step k, each of which contains those of level k - 1 that it
overlaps, and each of those is in one of level k."""
PERCENTILE = 90
"""The words whose scores are at this percentile or above join, as published."""
MAX_LEVELS = 5
"""Steps of an agglomeration at most, as published."""


@dataclass(frozen=True)
class Explained:
    """A sentence with its explanation by one classifier."""

    words: list[str]  # that the classifier sees
    levels: Levels
    score: float  # s(x), positive when the sentence is classified as positive
    limits: tuple[str, ...] = ()  # sentences on what of it is not read, or not explained

    def rows(self) -> list[list[Phrase]]:
        """Return the phrases line by line: the words, each height of the tree, and the sentence with s(x)."""
        return [*collapse(self.levels), [(0, len(self.words), self.score)]]

    def masked(self, mask: Callable[[str], str]) -> "Explained":
        """Return the same with masked words."""
        return replace(self, words=[mask(word) for word in self.words])


def agglomerate(score_phrase: Callable[[list[Span]], np.ndarray], n_words: int) -> list[list[Phrase]]:
    """Join the words of a sentence to phrases, in at most `MAX_LEVELS` steps, fewer when all have joined.

    `score_phrase` takes a list of spans and returns the importance φ of each, for instance
    `explanations.phrase_importance`. It is called once a step, and never twice for one span.
    """
    if n_words < 1:
        raise InputError("the sentence has no words to explain; give it one at least")
    phi = _Memory(score_phrase)
    scores = phi([(i, i + 1) for i in range(n_words)])
    found = [[(i, i + 1, float(score)) for i, score in enumerate(scores)]]
    joined = _highest(scores)
    for _ in range(MAX_LEVELS):
        components = _components(joined)
        borders = [_borders(span, n_words) for span in components]
        phi([*components, *(wider for border in borders for _, wider in border)])
        found.append([(*span, float(phi([span])[0])) for span in components])
        for span, border in zip(components, borders, strict=True):
            for word, wider in border:  # between two components the right one has the last word, as published
                scores[word] = phi([wider])[0] - phi([span])[0]
        scores[joined] = np.nan
        if joined.all():
            break
        joined = joined | _highest(scores)
    return found


def collapse(levels: Sequence[Iterable[Sequence[float]]]) -> list[list[Phrase]]:
    """Return the levels as a tree shows them: every phrase once, at its height above the words.

    A phrase of several words is one level above the highest phrase that it was made from, so that it is at
    level 1 when it was made from words alone. Single words stand at level 0 only. (The published code shows a
    phrase whose words joined in one step, none of them in a component before, at no level at all.)
    """
    phrases = [[(int(start), int(end), float(phi)) for start, end, phi in level] for level in levels]
    heights: dict[Span, int] = {}
    tree: list[list[Phrase]] = [phrases[0]] if phrases else []
    for level in phrases[1:]:
        for start, end, phi in level:
            if end - start == 1 or (start, end) in heights:
                continue
            below = (height for (a, b), height in heights.items() if start <= a and b <= end)
            height = heights[start, end] = 1 + max(below, default=0)
            while len(tree) <= height:
                tree.append([])
            tree[height].append((start, end, phi))
    return [sorted(level) for level in tree]


def scale_of(explained: Sequence[Explained]) -> float:
    """Return the greatest absolute importance of a phrase, 1 when all are 0: where the colours end."""
    values = [abs(phi) for one in explained for level in one.levels for *_, phi in level]
    return max(values, default=0) or 1.0


def colours(phi: float, scale: float) -> tuple[str, str]:
    """Return a phrase's colour (blue for -scale, grey for 0, red for scale), and that of legible text."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colour = colormaps["coolwarm"](0.5 + 0.5 * min(max(phi / scale, -1), 1))
    red, green, blue, _ = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in colour
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue  # WCAG 2, as is the bound of equal contrast
    return to_hex(colour), "#000000" if luminance > 0.179 else "#ffffff"


class _Memory:
    """Scores every span once."""

    def __init__(self, score_phrase: Callable[[list[Span]], np.ndarray]) -> None:
        self._score_phrase = score_phrase
        self._known: dict[Span, float] = {}

    def __call__(self, spans: Sequence[Span]) -> np.ndarray:
        new = [span for span in dict.fromkeys(spans) if span not in self._known]
        if new:
            scores = np.asarray(self._score_phrase(new), np.float64)
            self._known.update(zip(new, scores.tolist(), strict=True))
        return np.array([self._known[span] for span in spans])


def _highest(scores: np.ndarray) -> np.ndarray:
    """Return which scores are at the percentile of those that are there (no NaN) or above, (n,) bool."""
    return scores >= np.nanpercentile(scores, PERCENTILE)


def _components(joined: np.ndarray) -> list[Span]:
    """Return the runs of words that joined, from left to right."""
    runs = ndimage.find_objects(ndimage.label(joined)[0])
    return [(run.start, run.stop) for (run,) in runs]


def _borders(span: Span, n_words: int) -> list[tuple[int, Span]]:
    """Return the words beside a component, each with the component widened by it."""
    start, end = span
    left = [(start - 1, (start - 1, end))] if start > 0 else []
    right = [(end, (start, end + 1))] if end < n_words else []
    return left + right
