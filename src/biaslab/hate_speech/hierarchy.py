"""Build hierarchical explanations: join words to longer and longer phrases and score each phrase.

The agglomeration is ACD (Singh et al. 2019) with the scores of Jin et al. (2020), as in the published code of
Kennedy et al. (2020). It starts from the words with the highest tenth of importances. Neighbouring words form
a component. Every step scores each component as a phrase. An adjacent word gets the score of the phrase with
the word minus that of the phrase without it. Then the highest tenth of the words in no component joins.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # imports its submodules lazily

from biaslab.core.errors import InputError

Span = tuple[int, int]  # the words [start, end) of a sentence
Phrase = tuple[int, int, float]  # a span and its importance φ
Levels = Sequence[Sequence[Phrase]]
"""The phrases of a sentence, level by level, from left to right.

Level 0 has every word. Level k has the components of step k. Every component of level k - 1 lies inside
exactly one component of level k."""
PERCENTILE = 90  # words with scores at or above this percentile join, as published
MAX_LEVELS = 5  # maximum number of steps of an agglomeration, as published


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
    `Explainer.phrase_importance`. It is called once a step and never twice for the same span.
    """
    if n_words < 1:
        raise InputError("the sentence has no words to explain; supply at least one")
    values: dict[Span, float] = {}

    def phi(spans: Sequence[Span]) -> np.ndarray:
        new = [span for span in dict.fromkeys(spans) if span not in values]
        if new:
            values.update(zip(new, np.asarray(score_phrase(new), np.float64).tolist(), strict=True))
        return np.array([values[span] for span in spans])

    scores = phi([(i, i + 1) for i in range(n_words)])
    levels = [[(i, i + 1, float(score)) for i, score in enumerate(scores)]]
    joined = scores >= np.nanpercentile(scores, PERCENTILE)
    for _ in range(MAX_LEVELS):
        # the runs of joined words, and the words next to each run with the run extended by the word
        slices = scipy.ndimage.find_objects(scipy.ndimage.label(joined)[0])
        runs = [(run.start, run.stop) for (run,) in slices]
        borders = [
            (span, word, wider)
            for span in runs
            for word, wider in ((span[0] - 1, (span[0] - 1, span[1])), (span[1], (span[0], span[1] + 1)))
            if 0 <= word < n_words
        ]
        phi([*runs, *(wider for _, _, wider in borders)])
        levels.append([(*span, values[span]) for span in runs])
        for span, word, wider in borders:  # between two runs, the right run's score is kept, as published
            scores[word] = values[wider] - values[span]
        scores[joined] = np.nan
        if joined.all():
            break
        joined = joined | (scores >= np.nanpercentile(scores, PERCENTILE))
    return levels


def collapse(levels: Sequence[Iterable[Sequence[float]]]) -> list[list[Phrase]]:
    """Return the levels of a tree: every phrase once, one level above its highest part, above the words.

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
