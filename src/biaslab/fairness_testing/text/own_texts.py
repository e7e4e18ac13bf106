"""A user's texts and classifier: the candidate words, facts, and a search for discriminatory texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.core.settings import validate
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.text.corpus import K, Labelled, measure_quality
from biaslab.fairness_testing.text.discrimination import (
    TextSubject,
    count_flips,
    have_marked,
    labels_of,
    probabilities,
)
from biaslab.fairness_testing.text.search import (
    GLOBAL,
    LOCAL,
    MAX_ITER,
    Finds,
    GlobalSearch,
    Strategy,
    count_global,
    distinct,
    draw_numbers,
    global_finds,
    join_finds,
    local_finds,
    search_globally,
    search_locally,
    starts_of,
)
from biaslab.text.labelled import LeftOut, read_labelled, read_texts
from biaslab.text.models import TextModel
from biaslab.text.recurrent import Recurrent, initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.similarity import nearest_words
from biaslab.text.splits import split_shares
from biaslab.text.words import Lexicon, Texts, build_lexicon, concatenate, split_words

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


IN_DATA = "data"
PHASES = (IN_DATA, GLOBAL, LOCAL)
"""The origin of a pair: a text of the data itself, or one of the two phases of the search."""


@dataclass(frozen=True)
class Pair:
    """A text and its partner with another label."""

    feature: str
    row: int  # the text of the data from which the search started, from 0
    phase: str  # of `PHASES`
    seed: list[str]  # the words of that text; text and partner have the same number of words
    text: list[str]
    partner: list[str]
    replaced: str  # the sensitive word of the text
    value: str  # the sensitive word in the partner
    labels: list[int]  # of the text and of the partner, 0 or 1
    probabilities: list[float]  # of label 1, for both

    @property
    def changed(self) -> list[int]:
        """Positions at which the text differs from the text of the data, from 0."""
        return [i for i, (a, b) in enumerate(zip(self.seed, self.text, strict=True)) if a != b]

    @property
    def exchanged(self) -> list[int]:
        """Positions at which the partner differs from the text, from 0."""
        return [i for i, (a, b) in enumerate(zip(self.text, self.partner, strict=True)) if a != b]


@dataclass(frozen=True)
class FeatureResult:
    """The results for one feature."""

    feature: str
    summary: dict[str, object]
    pairs: list[Pair]
    terms: pd.DataFrame


def audit_feature(
    model: TextModel,
    own: OwnTexts,
    feature: str,
    values: Sequence[str],
    strategy: Strategy,
    campaign: Campaign,
) -> FeatureResult:
    """Search for texts that a classifier labels by the values of a feature."""
    ids = np.array([own.lexicon.ids[value] for value in values], np.int32)
    subject = TextSubject(model, ids, nearest_words(own.lexicon, K, ids))
    name, seed, hops = f"own {feature} {strategy.name}", campaign.seed, campaign.hops
    mentioning = np.flatnonzero(have_marked(own.texts, subject.is_value[own.texts.ids]))
    seeds = stream(seed, "seeds of texts", feature).permutation(mentioning)[: campaign.seeds]
    seed_texts = own.texts.take(seeds)
    draws = draw_numbers(seed, f"global {name}", seeds, MAX_ITER)
    globally = search_globally(subject, seed_texts, strategy, draws)
    starts = starts_of(globally)
    draws = draw_numbers(seed, f"local {name}", seeds[starts], hops)
    locally = search_locally(subject, globally.texts.take(starts), hops, strategy.needs_gradient, draws)
    pairs = found_pairs(subject, own, feature, seeds, globally, local_finds(locally, starts))
    n_raw, n_found = count_global(globally)
    n_visited = len(distinct(concatenate([globally.texts, locally.texts()])))
    low, high = share_interval(n_raw, len(seeds))
    summary = {
        "tester": strategy.name,
        "n_mentioning": len(mentioning),
        "n_seeds": len(seeds),
        "n_raw": n_raw,
        "raw_share": n_raw / len(seeds),
        "ci_low": low,
        "ci_high": high,
        "n_found": n_found,
        "n_visited": n_visited,
        "n_discriminatory": len(pairs),
        "share": len(pairs) / n_visited,
        "n_queries": int(globally.n_queries.sum() + locally.n_queries.sum()),
        "n_gradients": int(globally.n_gradients.sum() + locally.n_gradients.sum()),
    }
    return FeatureResult(feature, summary, pairs, term_table(subject, own, seed_texts))


def found_pairs(
    subject: TextSubject,
    own: OwnTexts,
    feature: str,
    indexes: np.ndarray,
    search: GlobalSearch,
    walked: Finds,
) -> list[Pair]:
    """Return every distinct discriminatory text with its partner as words, seed by seed.

    The seeds of the search are the texts at `indexes`; `walked` are the finds of the local phase.
    """
    found = global_finds(search, np.arange(len(indexes)))
    is_local = np.arange(len(found) + len(walked)) >= len(found)
    found = join_finds([found, walked])
    order = np.argsort(found.origins, kind="stable")  # finds of the global phase from a seed come first
    order = order[distinct(found.texts.take(order))]
    found, is_local = found.take(order), is_local[order]
    outputs = [probabilities(subject.model, texts) for texts in (found.texts, found.partners)]
    labels = np.column_stack([labels_of(output) for output in outputs]).tolist()
    p = np.column_stack([output[:, 1] for output in outputs]).tolist()
    pairs = []
    for i, seed in enumerate(found.origins):
        phase = LOCAL if is_local[i] else GLOBAL if search.found[seed] else IN_DATA
        rows = own.texts.row(indexes[seed]), found.texts.row(i), found.partners.row(i)
        words, text, partner = map(own.lexicon.decode, rows)
        place = int((rows[1] != rows[2]).argmax())
        row = int(own.rows[indexes[seed]])
        exchanged = text[place], partner[place]
        pairs.append(Pair(feature, row, phase, words, text, partner, *exchanged, labels[i], p[i]))
    return pairs


def term_table(subject: TextSubject, own: OwnTexts, seeds: Texts) -> pd.DataFrame:
    """Return how often exchanging each sensitive word changes the label of a seed."""
    counts = zip(*count_flips(subject, seeds), strict=True)
    rows = [
        (term, n_texts, n_flips, n_flips / n_texts, *share_interval(int(n_flips), int(n_texts)))
        for term, (n_texts, n_flips) in zip(own.lexicon.decode(subject.values), counts, strict=True)
        if n_texts
    ]
    table = pd.DataFrame(rows, columns=["term", "n_texts", "n_flips", "share", "ci_low", "ci_high"])
    return table.sort_values(["share", "n_texts"], ascending=False, kind="stable", ignore_index=True)
