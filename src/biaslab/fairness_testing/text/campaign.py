"""A search for discriminatory texts from a user's texts, and its finds as words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.text.corpus import K
from biaslab.fairness_testing.text.discrimination import (
    TextSubject,
    count_flips,
    have_marked,
    labels_of,
    probabilities,
)
from biaslab.fairness_testing.text.own_texts import OwnTexts
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    Finds,
    GlobalSearch,
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
from biaslab.fairness_testing.text.strategies import Strategy
from biaslab.text.models import TextModel
from biaslab.text.similarity import nearest_words
from biaslab.text.words import Texts, concatenate

IN_DATA, GLOBAL, LOCAL = PHASES = ("data", "global", "local")
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
