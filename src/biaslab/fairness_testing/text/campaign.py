"""A search for discriminatory texts among the user's, and its finds in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.settings import Campaign
from biaslab.fairness_testing.text import answers
from biaslab.fairness_testing.text.corpus import K
from biaslab.fairness_testing.text.discrimination import count_flips, exchange
from biaslab.fairness_testing.text.finds import count_global, distinct, starts_of
from biaslab.fairness_testing.text.own_texts import OwnTexts
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    GlobalSearch,
    LocalSearch,
    draw_numbers,
    search_globally,
    search_locally,
)
from biaslab.fairness_testing.text.strategies import Strategy
from biaslab.fairness_testing.text.subject import TextSubject, have_marked
from biaslab.text.models import TextModel
from biaslab.text.neighbours import nearest_words
from biaslab.text.words import Lexicon, Texts, concatenate

IN_DATA, GLOBAL, LOCAL = PHASES = ("data", "global", "local")
"""How a pair was found: a text of the data as it is, or by one of the two phases of the search."""


@dataclass(frozen=True)
class Pair:
    """A text and its partner, to which the classifier gives another label."""

    feature: str
    row: int  # the text of the data that the search started from, from 0
    phase: str  # of `PHASES`
    seed: list[str]  # the words of that text; as many as text and partner have
    text: list[str]
    partner: list[str]
    replaced: str  # the sensitive word of the text
    value: str  # which one the partner has in its place
    labels: list[int]  # of the text and of the partner, 0 or 1
    probabilities: list[float]  # of label 1, for both

    @property
    def changed(self) -> list[int]:
        """Positions at which the text differs from the one of the data, from 0."""
        return [i for i, words in enumerate(zip(self.seed, self.text, strict=True)) if words[0] != words[1]]

    @property
    def exchanged(self) -> list[int]:
        """Positions at which the partner differs from the text, from 0."""
        return [
            i for i, words in enumerate(zip(self.text, self.partner, strict=True)) if words[0] != words[1]
        ]


@dataclass(frozen=True)
class Outcome:
    """What a search did."""

    n_mentioning: int  # texts that have a sensitive word
    indexes: np.ndarray  # (s,) int64: which of the texts the seeds are
    globally: GlobalSearch
    starts: np.ndarray  # (w,) int64: the seeds whose finds walks start from
    locally: LocalSearch


def subject_of(model: TextModel, lexicon: Lexicon, values: Sequence[str]) -> TextSubject:
    """Return a classifier under test for a feature, every word to be replaced by its nearest ones."""
    ids = np.array([lexicon.ids[value] for value in values], np.int32)
    return TextSubject(model, ids, nearest_words(lexicon, K, ids))


def search(
    subject: TextSubject, texts: Texts, strategy: Strategy, campaign: Campaign, feature: str
) -> Outcome:
    """Search in both phases from texts with a sensitive word; the seeds are drawn from all such texts.

    The local phase is guided by gradients if the strategy of the global one is.
    """
    name = f"own {feature} {strategy.name}"
    mentioning = np.flatnonzero(have_marked(texts, subject.is_value[texts.ids]))
    indexes = stream(campaign.seed, "seeds of texts", feature).permutation(mentioning)[: campaign.seeds]
    draws = draw_numbers(campaign.seed, f"global {name}", indexes, MAX_ITER)
    globally = search_globally(subject, texts.take(indexes), strategy, draws)
    starts = starts_of(globally)
    draws = draw_numbers(campaign.seed, f"local {name}", indexes[starts], campaign.hops)
    from_finds = globally.texts.take(starts)
    locally = search_locally(subject, from_finds, campaign.hops, strategy.needs_gradient, draws)
    return Outcome(len(mentioning), indexes, globally, starts, locally)


def summarize(outcome: Outcome, strategy: Strategy, n_discriminatory: int) -> dict[str, object]:
    """Count what was found: different texts, but for n_raw, seeds that are discriminatory as they are."""
    globally, locally, n_seeds = outcome.globally, outcome.locally, len(outcome.indexes)
    n_raw, n_found = count_global(globally)
    n_visited = len(distinct(concatenate([globally.texts, locally.texts()])))
    low, high = share_interval(n_raw, n_seeds)
    return {
        "tester": strategy.name,
        "n_mentioning": outcome.n_mentioning,
        "n_seeds": n_seeds,
        "n_raw": n_raw,
        "raw_share": n_raw / n_seeds,
        "ci_low": low,
        "ci_high": high,
        "n_found": n_found,
        "n_visited": n_visited,
        "n_discriminatory": n_discriminatory,
        "share": n_discriminatory / n_visited,
        "n_queries": int(globally.n_queries.sum() + locally.n_queries.sum()),
        "n_gradients": int(globally.n_gradients.sum() + locally.n_gradients.sum()),
    }


def found_pairs(subject: TextSubject, own: OwnTexts, outcome: Outcome, feature: str) -> list[Pair]:
    """Return every different discriminatory text with its partner, in words: seed by seed."""
    globally, locally = outcome.globally, outcome.locally
    raw, hits = np.flatnonzero(globally.found >= 0), locally.discriminatory
    visited = locally.texts().take(np.flatnonzero(hits[locally.is_visit]))
    texts = concatenate([globally.texts.take(raw), visited])
    seeds = np.concatenate([raw, outcome.starts[np.nonzero(hits)[0]]])
    replaced = np.concatenate([globally.replaced[raw], locally.replaced[hits]])
    value = np.concatenate([globally.value[raw], locally.value[hits]])
    order = np.argsort(seeds, kind="stable")  # what the global phase found from a seed comes first
    order = order[distinct(texts.take(order))]
    texts = texts.take(order)
    partners = exchange(texts, replaced[order], value[order])
    outputs = [answers.probabilities(subject.model, some) for some in (texts, partners)]
    labels = np.column_stack([answers.labels_of(output) for output in outputs]).tolist()
    p = np.column_stack([output[:, 1] for output in outputs]).tolist()
    decode, words = own.lexicon.decode, own.lexicon.words
    pairs = []
    for i, place in enumerate(order.tolist()):
        seed = seeds[place]
        phase = LOCAL if place >= len(raw) else GLOBAL if globally.found[seed] else IN_DATA
        index = outcome.indexes[seed]
        pairs.append(
            Pair(
                feature,
                int(own.rows[index]),
                phase,
                *(decode(row) for row in (own.texts.row(index), texts.row(i), partners.row(i))),
                words[replaced[place]],
                words[value[place]],
                labels[i],
                p[i],
            )
        )
    return pairs


def term_table(subject: TextSubject, own: OwnTexts, outcome: Outcome) -> pd.DataFrame:
    """Return how often exchanging each sensitive word changes the label of a text that was searched from."""
    counts = zip(*count_flips(subject, own.texts.take(outcome.indexes)), strict=True)
    rows = [
        (term, n_texts, n_flips, n_flips / n_texts, *share_interval(int(n_flips), int(n_texts)))
        for term, (n_texts, n_flips) in zip(own.lexicon.decode(subject.values), counts, strict=True)
        if n_texts
    ]
    table = pd.DataFrame(rows, columns=["term", "n_texts", "n_flips", "share", "ci_low", "ci_high"])
    return table.sort_values(["share", "n_texts"], ascending=False, kind="stable", ignore_index=True)
