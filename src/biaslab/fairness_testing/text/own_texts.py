"""A user's texts, the candidate words, the features in the texts, and facts about a classifier on them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.core.settings import validate
from biaslab.fairness_testing.text.corpus import Labelled
from biaslab.fairness_testing.text.experiment import measure_quality
from biaslab.text.labelled import LeftOut, read_labelled, read_texts
from biaslab.text.models import TextModel
from biaslab.text.recurrent import Recurrent, initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.splits import split_shares
from biaslab.text.words import Lexicon, Texts, build_lexicon, split_words

_VALIDATION_SHARE = 0.2
_LABELLED = 1000  # first texts, used to check accuracy and whether all have one label
_DRAWN = 32  # dimensions of random vectors: enough that no word is near many words


@dataclass(frozen=True)
class OwnTexts:
    """Non-empty texts for a test."""

    lexicon: Lexicon  # the words of all texts and features, and their candidate replacements
    texts: Texts
    rows: np.ndarray  # (n,) int64: index of each text in the data, from 0
    n_wordless: int  # texts of the data that are omitted because they have no words

    def describe(self, has_vectors: bool) -> str:
        """Describe the texts and their words in a line."""
        omitted = f" ({self.n_wordless:,} without words omitted)" if self.n_wordless else ""
        near = (
            f"{self.lexicon.is_known[self.texts.ids].mean():.1%} of the words have a vector of their own"
            if has_vectors
            else "without vectors, any other word of the texts can replace a word"
        )
        return (
            f"{len(self.texts):,} texts{omitted} of {self.texts.lengths.mean():.1f} words on average; {near}"
        )


def read(
    data: Path, text_column: str, label_column: str, positive: str | None, is_labelled: bool
) -> tuple[list[str], np.ndarray, list[str]]:
    """Return the texts, only labelled ones on request, their labels (NaN if missing), and all changes."""
    names, left_out = (text_column, label_column, None, positive), LeftOut()
    if is_labelled:
        table = read_labelled(data, *names, left_out=left_out)
        labels = table["label"].to_numpy()
    else:
        table = read_texts(data, text_column, left_out)
        try:
            of_labels = LeftOut()
            classes = [positive] if positive else []
            labelled = read_labelled(data, *names, classes=classes, left_out=of_labels)
            left_out.changes.extend(of_labels.changes)
            labels = labelled.set_index("row")["label"].reindex(table["row"]).to_numpy(np.float64)
        except InputError:
            labels = np.full(len(table), np.nan)
    sentence = left_out.sentence(data)
    return list(table["text"]), labels, ([sentence] if sentence else []) + left_out.changes


def prepare(
    data: Sequence[str],
    vector_words: Sequence[str],
    vectors: np.ndarray,
    features: Mapping[str, Sequence[str]],
    n_candidates: int,
) -> OwnTexts:
    """Return texts as words with vectors, (v, d) float32, sorted by descending frequency.

    The first `n_candidates` words with a vector are candidate replacements, in addition to all words of texts
    and features. Punctuation and words with capitals do not count.
    """
    split = [split_words(text) for text in data]
    rows = np.array([i for i, words in enumerate(split) if words], np.int64)
    if not len(rows):
        raise InputError(f"the {len(data)} texts contain no word; give texts with letters or digits")
    needed = {word for words in (*split, *features.values()) for word in words}
    indexes, n_plain = [], 0
    for i, word in enumerate(vector_words):
        is_candidate = n_plain < n_candidates and split_words(word) == [word]
        n_plain += is_candidate
        if is_candidate or word in needed:
            indexes.append(i)
    words_kept = [vector_words[i] for i in indexes]
    has_vector = set(words_kept)
    if not any(has_vector.intersection(words) for words in split):
        raise InputError(
            "no word of the texts has a vector; name lower-case vectors of the language of the texts"
        )
    lexicon = build_lexicon(words_kept, vectors[indexes], [*split, *features.values()])
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
    chosen = {name: terms[name] for name in names or terms if not words.isdisjoint(terms[name])}
    absent = [f"the feature '{name}'" for name in names if name not in chosen]
    if absent or not chosen:
        what = absent[0] if absent else f"any feature ({', '.join(terms)})"
        raise InputError(
            f"{where}: no text contains a sensitive word, a value of {what}; name other texts or --terms"
        )
    return chosen


def describe_unknown(own: OwnTexts, features: Mapping[str, Sequence[str]]) -> list[str]:
    """Name the features with values that share the mean vector."""
    is_known, ids = own.lexicon.is_known, own.lexicon.ids
    counts = {name: sum(not is_known[ids[value]] for value in values) for name, values in features.items()}
    return [
        f"{name}: {n} of {len(features[name])} values have no vector of their own; a network that reads these"
        " vectors cannot distinguish these values"
        for name, n in counts.items()
        if n
    ]


def describe_accuracy(classifier: TextModel, own: OwnTexts, labels: np.ndarray) -> str:
    """Describe the accuracy of a classifier, and of always giving the more frequent label."""
    first = np.flatnonzero(~np.isnan(labels))[:_LABELLED]
    if not len(first):
        return "how often the classifier is right is not known: the texts have no labels of two classes"
    quality = measure_quality(classifier, Labelled(own.texts.take(first), labels[first].astype("int64")))
    share, majority = quality["accuracy"], quality["majority"]
    doubt = "; no better than that: check --positive and the reading below" if share <= majority else ""
    return (
        f"the classifier labels {share:.1%} of {len(first):,} texts as the data do ({majority:.1%} have"
        f" the more frequent label{doubt})"
    )


def describe_reading(classifier: TextModel, own: OwnTexts) -> list[str]:
    """Describe how a classifier reads texts; warn if all get one label, so that no find is no evidence."""
    reading = getattr(classifier, "reading", "positive is label 1")
    lengths = getattr(classifier, "lengths", None)
    cut = f" {lengths(own.texts).sentence()}" if lengths else ""
    facts = [f"how texts are read: {reading}; words in lower case, without punctuation.{cut}"]
    first = own.texts.take(range(min(len(own.texts), _LABELLED)))
    labels = set(classifier.probabilities(first).argmax(axis=1).tolist())
    if len(labels) == 1:
        facts.append(f"no all-clear: the classifier gives the label {min(labels)} to all texts")
    return facts


def train(
    kind: str, own: OwnTexts, labels: np.ndarray, epochs: int, seed: int, file: Path
) -> tuple[Recurrent, str]:
    """Train a network on most texts, save it in a file, and describe its accuracy on the rest."""
    shares = (1 - _VALIDATION_SHARE, _VALIDATION_SHARE)
    learnt, held_out = split_shares(labels, shares, stream(seed, "validation texts"))
    negative_weight = min(1.0, labels[learnt].sum() / max(1, (1 - labels[learnt]).sum()))
    validation = Labelled(own.texts.take(held_out), labels[held_out])
    network, _ = train_recurrent(
        initial_recurrent(kind, own.lexicon.vectors, seed),
        own.texts.take(learnt),
        labels[learnt],
        validate(TrainingSettings, {"epochs": epochs, "negative_weight": float(negative_weight)}),
        seed,
        validation,
    )
    network.save(file)
    quality = measure_quality(network, validation)
    return network, (
        f"the network labels {quality['accuracy']:.1%} of {len(held_out):,} texts that it was not trained on"
        f" as the data do ({quality['majority']:.1%} have the more frequent label); it is in {file}"
    )
