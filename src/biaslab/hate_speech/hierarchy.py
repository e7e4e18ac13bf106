"""Build hierarchical explanations: join words to longer and longer phrases and score each phrase.

The agglomeration is ACD (Singh et al. 2019) with the scores of Jin et al. (2020), as in the published code of
Kennedy et al. (2020). It starts from the words with the highest tenth of importances. Neighbouring words form
a component. Every step scores each component as a phrase. An adjacent word gets the score of the phrase with
the word minus that of the phrase without it. Then the highest tenth of the words in no component joins.
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

Level 0 has every word. Level k has the components of step k. Every component of level k - 1 lies inside
exactly one component of level k."""
PERCENTILE = 90
"""Words with scores at or above this percentile join, as published."""
MAX_LEVELS = 5
"""Maximum number of steps of an agglomeration, as published."""


@dataclass(frozen=True)
class Explained:
    """A sentence with its explanation by one classifier."""

    words: list[str]  # as the classifier sees them
    levels: Levels
    score: float  # s(x), positive when the sentence is classified as positive
    limits: tuple[str, ...] = ()  # messages: which words are not read or not explained

    def rows(self) -> list[list[Phrase]]:
        """Return the phrases by line: the words, each height of the tree, and the sentence with s(x)."""
        return [*collapse(self.levels), [(0, len(self.words), self.score)]]

    def masked(self, mask: Callable[[str], str]) -> "Explained":
        """Return a copy with masked words."""
        return replace(self, words=[mask(word) for word in self.words])


def agglomerate(score_phrase: Callable[[list[Span]], np.ndarray], n_words: int) -> list[list[Phrase]]:
    """Join the words of a sentence to phrases, in at most `MAX_LEVELS` steps, until all words have joined.

    `score_phrase` takes a list of spans and returns the importance φ of each span, for instance
    `explanations.phrase_importance`. It is called once a step and never twice for the same span.
    """
    if n_words < 1:
        raise InputError("the sentence has no words to explain; supply at least one")
    phi = _Memory(score_phrase)
    scores = phi([(i, i + 1) for i in range(n_words)])
    levels = [[(i, i + 1, float(score)) for i, score in enumerate(scores)]]
    joined = _highest(scores)
    for _ in range(MAX_LEVELS):
        components = _components(joined)
        borders = [_borders(span, n_words) for span in components]
        phi([*components, *(wider for border in borders for _, wider in border)])
        levels.append([(*span, float(phi([span])[0])) for span in components])
        for span, border in zip(components, borders, strict=True):
            for word, wider in border:  # between two components the right one's score is kept, as published
                scores[word] = phi([wider])[0] - phi([span])[0]
        scores[joined] = np.nan
        if joined.all():
            break
        joined = joined | _highest(scores)
    return levels


def collapse(levels: Sequence[Iterable[Sequence[float]]]) -> list[list[Phrase]]:
    """Return the levels of a tree: every phrase once, at its height above the words.

    A phrase of several words is one level above its highest part. A phrase of single words is at level 1.
    Single words are at level 0 only. (The published code shows a phrase at no level if all its words joined
    in the same step.)
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
    """Return the largest absolute importance, the end of the colour scale; 1 if all are 0."""
    values = [abs(phi) for sentence in explained for level in sentence.levels for *_, phi in level]
    return max(values, default=0) or 1.0


def colours(phi: float, scale: float) -> tuple[str, str]:
    """Return a phrase's colour (blue for -scale, grey for 0, red for scale) and a legible text colour."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colour = colormaps["coolwarm"](0.5 + 0.5 * min(max(phi / scale, -1), 1))
    red, green, blue, _ = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in colour
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue  # WCAG 2; so is the threshold of equal contrast
    return to_hex(colour), "#000000" if luminance > 0.179 else "#ffffff"


class _Memory:
    """Score every span only once."""

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
    """Return whether each score is at or above the percentile of the scores without NaN, (n,) bool."""
    return scores >= np.nanpercentile(scores, PERCENTILE)


def _components(joined: np.ndarray) -> list[Span]:
    """Return the runs of joined words, from left to right."""
    runs = ndimage.find_objects(ndimage.label(joined)[0])
    return [(run.start, run.stop) for (run,) in runs]


def _borders(span: Span, n_words: int) -> list[tuple[int, Span]]:
    """Return the words next to a component, each with the component extended by the word."""
    start, end = span
    left = [(start - 1, (start - 1, end))] if start > 0 else []
    right = [(end, (start, end + 1))] if end < n_words else []
    return left + right
