"""A user's texts, the candidate words, and the features in the texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.text.words import Lexicon, Texts, build_lexicon, split_words

_DRAWN = 32  # dimensions of random vectors: enough that no word is near many words


@dataclass(frozen=True)
class OwnTexts:
    """Non-empty texts for a test."""

    lexicon: Lexicon  # the words of all texts and features, and their candidate replacements
    texts: Texts
    rows: np.ndarray  # (n,) int64: index of each text in the data, from 0
    n_wordless: int  # texts of the data that are omitted because they have no words

    @property
    def known_share(self) -> float:
        """The share of all words of the texts that have a vector of their own."""
        return float(self.lexicon.is_known[self.texts.ids].mean())


def prepare(
    data: Sequence[str],
    vector_words: Sequence[str],
    vectors: np.ndarray,
    features: Mapping[str, Sequence[str]],
    n_candidates: int,
) -> OwnTexts:
    """Return texts as words with vectors, (v, d) float32, sorted by descending frequency.

    The first `n_candidates` words with a vector are candidate replacements, in addition to all words of texts
    and features. Only words as they occur in texts count: no punctuation, no capitals.
    """
    split = [split_words(text) for text in data]
    rows = np.array([i for i, words in enumerate(split) if words], np.int64)
    if not len(rows):
        raise InputError(f"the {len(data)} texts contain no word; give texts with letters or digits")
    used = {word for words in (*split, *features.values()) for word in words}
    kept, n_plain = [], 0
    for i, word in enumerate(vector_words):
        is_candidate = n_plain < n_candidates and split_words(word) == [word]
        n_plain += is_candidate
        if is_candidate or word in used:
            kept.append(i)
    known = [vector_words[i] for i in kept]
    has_vector = set(known)
    if not any(has_vector.intersection(words) for words in split):
        raise InputError(
            "no word of the texts has a vector; name lower-case vectors of the language of the texts"
        )
    lexicon = build_lexicon(known, vectors[kept], [*split, *features.values()])
    texts = lexicon.encode([split[i] for i in rows])
    return OwnTexts(lexicon, texts, rows, len(data) - len(rows))


def drawn_vectors(data: Sequence[str], seed: int) -> tuple[list[str], np.ndarray]:
    """Return the words of texts, the most frequent first, with random vectors that are unrelated to them."""
    counts = Counter(word for text in data for word in split_words(text))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    rng = stream(seed, "vectors of words")
    return words, rng.normal(size=(len(words), _DRAWN)).astype(np.float32)


def choose_features(
    terms: Mapping[str, tuple[str, ...]], names: Sequence[str], data: Sequence[str], where: str
) -> dict[str, tuple[str, ...]]:
    """Return the features to test: the named features, else all features in the texts."""
    for number, name in enumerate(names):
        if name not in terms:
            near = suggest(name, terms) or f" (known: {', '.join(terms)})"
            raise InputError(f"--feature {name}: unknown feature{near}")
        if name in names[:number]:
            raise InputError(f"--feature {name}: the feature is repeated; give each feature once")
    words = {word for text in data for word in split_words(text)}
    for name in names:
        if words.isdisjoint(terms[name]):
            raise InputError(_unmentioned(where, f"the feature '{name}'"))
    chosen = {name: terms[name] for name in names or terms if not words.isdisjoint(terms[name])}
    if not chosen:
        raise InputError(_unmentioned(where, f"any feature ({', '.join(terms)})"))
    return chosen


def _unmentioned(where: str, what: str) -> str:
    return f"{where}: no text contains a sensitive word, a value of {what}; name other texts or --terms"
