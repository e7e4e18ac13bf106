"""A search for discriminatory texts, in chunks of seeds up to limits, and its finds in words."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.effort import Campaign
from biaslab.fairness_testing.text import answers, trails
from biaslab.fairness_testing.text.corpus import K
from biaslab.fairness_testing.text.discrimination import exchange
from biaslab.fairness_testing.text.flips import count_flips, flip_table
from biaslab.fairness_testing.text.invariants import Invariants, verify_global, verify_local
from biaslab.fairness_testing.text.own_texts import OwnTexts
from biaslab.fairness_testing.text.pairs import GLOBAL, IN_DATA, LOCAL, Pair
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    GlobalSearch,
    LocalSearch,
    draw_numbers,
    search_globally,
    search_locally,
)
from biaslab.fairness_testing.text.strategies import find_strategy
from biaslab.fairness_testing.text.subject import TextSubject, have_marked
from biaslab.text.models import TextModel
from biaslab.text.neighbours import nearest_words
from biaslab.text.words import Lexicon, Texts, concatenate

CHUNK_SEEDS = 20
"""Seeds between two looks at the limits; without limits, another number finds the same."""


@dataclass(frozen=True, kw_only=True)
class Plan(Campaign):
    """How much is searched, by which strategy of the global phase; its seeds are drawn from all such texts.

    The local phase is guided by gradients if the strategy is.
    """

    tester: str

    def __post_init__(self) -> None:
        find_strategy(self.tester)


@dataclass(frozen=True)
class Part:
    """What was made of some seeds."""

    indexes: np.ndarray  # (s,) int64: which of the texts the seeds are
    seeds: Texts
    globally: GlobalSearch
    starts: np.ndarray  # (w,) int64: the seeds whose finds walks start from
    locally: LocalSearch


@dataclass(frozen=True)
class Outcome:
    """What a search did, and how it ended."""

    n_mentioning: int  # texts that have a sensitive word
    parts: list[Part]
    stopped: str  # which limit ended it before all seeds were taken; empty where none did

    @property
    def indexes(self) -> np.ndarray:
        """Which of the texts were searched from, (s,) int64."""
        return np.concatenate([part.indexes for part in self.parts])


@dataclass(frozen=True)
class Finds:
    """All discriminatory pairs of a search, seed by seed, those of the global phase first."""

    indexes: np.ndarray  # (p,) int64: which of the texts each was found from
    is_local: np.ndarray  # (p,) bool
    texts: Texts  # x; a text may be there several times
    replaced: np.ndarray  # (p,) int32: the word of x that x' has another one for
    value: np.ndarray  # (p,) int32: and which

    @property
    def partners(self) -> Texts:
        """The partners x'."""
        return exchange(self.texts, self.replaced, self.value)

    def take(self, rows: np.ndarray) -> "Finds":
        """Return some of them."""
        columns = (column[rows] for column in (self.indexes, self.is_local, self.replaced, self.value))
        indexes, is_local, replaced, value = columns
        return Finds(indexes, is_local, self.texts.take(rows), replaced, value)


def subject_of(model: TextModel, lexicon: Lexicon, values: Sequence[str]) -> TextSubject:
    """Return a classifier under test for a feature, every word to be replaced by its nearest ones."""
    ids = np.array([lexicon.ids[value] for value in values], np.int32)
    return TextSubject(model, ids, nearest_words(lexicon, K, ids))


def search(subject: TextSubject, texts: Texts, plan: Plan, feature: str) -> Outcome:
    """Search from texts with a sensitive word until all are through or a limit is met after a chunk."""
    mentioning = np.flatnonzero(have_marked(texts, subject.is_value[texts.ids]))
    seeds = stream(plan.seed, "seeds of texts", feature).permutation(mentioning)[: plan.seeds]
    parts: list[Part] = []
    started: set[bytes] = set()
    stopped = ""
    began = time.monotonic()
    with tqdm(total=len(seeds), desc=feature, unit=" seeds", disable=None) as progress:
        for begin in range(0, len(seeds), CHUNK_SEEDS):
            indexes = seeds[begin : begin + CHUNK_SEEDS]
            parts.append(_search_from(subject, texts, indexes, plan, feature, started))
            progress.update(len(indexes))
            is_last = begin + CHUNK_SEEDS >= len(seeds)
            stopped = "" if is_last else plan.limit_met(began, lambda: _n_visited(parts), "texts")
            if stopped:
                break
    return Outcome(len(mentioning), parts, stopped)


def summarize(outcome: Outcome, plan: Plan) -> dict[str, object]:
    """Count what was found: different texts, but for n_raw, seeds that are discriminatory as they are."""
    parts = outcome.parts
    n_seeds = len(outcome.indexes)
    n_raw = sum(int((part.globally.found == 0).sum()) for part in parts)
    became = [part.globally.texts.take(np.flatnonzero(part.globally.found > 0)) for part in parts]
    n_visited, n_discriminatory = _n_visited(parts), len(trails.distinct(all_finds(outcome).texts))
    low, high = share_interval(n_raw, n_seeds)
    searches = [search for part in parts for search in (part.globally, part.locally)]
    return {
        "tester": plan.tester,
        "n_mentioning": outcome.n_mentioning,
        "n_seeds": n_seeds,
        "n_raw": n_raw,
        "raw_share": n_raw / n_seeds,
        "ci_low": low,
        "ci_high": high,
        "n_found": len(trails.distinct(concatenate(became))),
        "n_visited": n_visited,
        "n_discriminatory": n_discriminatory,
        "share": n_discriminatory / n_visited,
        "n_queries": sum(int(search.n_queries.sum()) for search in searches),
        "n_gradients": sum(int(search.n_gradients.sum()) for search in searches),
        "stopped": outcome.stopped,
    }


def all_finds(outcome: Outcome) -> Finds:
    """Return all pairs that were found."""
    found = [_finds_of(part) for part in outcome.parts]
    columns = ("indexes", "is_local", "replaced", "value")
    joined = {name: np.concatenate([getattr(finds, name) for finds in found]) for name in columns}
    return Finds(texts=concatenate([finds.texts for finds in found]), **joined)


def found_pairs(subject: TextSubject, own: OwnTexts, outcome: Outcome, feature: str) -> list[Pair]:
    """Return every different discriminatory text with its partner, in words."""
    finds = all_finds(outcome)
    finds = finds.take(trails.distinct(finds.texts))
    partners, seeds = finds.partners, own.texts.take(finds.indexes)
    outputs = [answers.probabilities(subject.model, texts) for texts in (finds.texts, partners)]
    labels = np.column_stack([answers.labels_of(output) for output in outputs]).tolist()
    p = np.column_stack([output[:, 1] for output in outputs]).tolist()
    found = np.concatenate([part.globally.found for part in outcome.parts])
    n_moves = dict(zip(outcome.indexes.tolist(), found.tolist(), strict=True))  # before each was found
    decode, words = own.lexicon.decode, own.lexicon.words
    pairs = []
    for i, index in enumerate(finds.indexes.tolist()):
        phase = LOCAL if finds.is_local[i] else GLOBAL if n_moves[index] else IN_DATA
        pairs.append(
            Pair(
                feature,
                int(own.rows[index]),
                phase,
                *(decode(texts.row(i)) for texts in (seeds, finds.texts, partners)),
                words[finds.replaced[i]],
                words[finds.value[i]],
                labels[i],
                p[i],
            )
        )
    return pairs


def invariant_table(subject: TextSubject, outcome: Outcome) -> pd.DataFrame:
    """Check all pairs once more, independently of how they were found: `Invariants` by phase."""
    rows = []
    finds = all_finds(outcome)
    for phase, is_local in ((GLOBAL, False), (LOCAL, True)):
        counted = [
            asdict(verify_local(subject, part.locally))
            if is_local
            else asdict(verify_global(subject, part.seeds, part.globally))
            for part in outcome.parts
        ]
        row = {field.name: sum(c[field.name] for c in counted) for field in fields(Invariants)}
        texts = finds.texts.take(np.flatnonzero(finds.is_local == is_local))
        row["n_duplicates"] = len(texts) - len(trails.distinct(texts))  # over all parts
        rows.append({"phase": phase, **row})
    return pd.DataFrame(rows)


def term_table(subject: TextSubject, own: OwnTexts, outcome: Outcome) -> pd.DataFrame:
    """Return how often exchanging each sensitive word changes the label of a text that was searched from."""
    flips = count_flips(subject, own.texts.take(outcome.indexes))
    names = own.lexicon.decode(subject.values)
    table = flip_table(names, flips.with_term, flips.flipped_without, "term")
    table = table[table["n_texts"] > 0]
    return table.sort_values(["share", "n_texts"], ascending=False, kind="stable", ignore_index=True)


def _search_from(
    subject: TextSubject,
    texts: Texts,
    indexes: np.ndarray,
    plan: Plan,
    feature: str,
    started: set[bytes],
) -> Part:
    """Search from some texts in both phases; walks start from finds that are not in `started`."""
    strategy = find_strategy(plan.tester)
    seeds, name = texts.take(indexes), f"own {feature} {plan.tester}"
    draws = draw_numbers(plan.seed, f"global {name}", indexes, MAX_ITER)
    globally = search_globally(subject, seeds, strategy, draws)
    starts = trails.starts_of(globally)
    keys = globally.texts.take(starts).keys()
    starts = starts[[key not in started for key in keys]]
    started.update(keys)
    draws = draw_numbers(plan.seed, f"local {name}", indexes[starts], plan.hops)
    is_guided = strategy.needs_gradient
    locally = search_locally(subject, globally.texts.take(starts), plan.hops, is_guided, draws)
    return Part(indexes, seeds, globally, starts, locally)


def _finds_of(part: Part) -> Finds:
    rows = np.flatnonzero(part.globally.found >= 0)
    hits = part.locally.discriminatory
    walks = part.starts[np.nonzero(hits)[0]]
    visits = np.flatnonzero(hits[part.locally.is_visit])
    texts = concatenate([part.globally.texts.take(rows), part.locally.texts().take(visits)])
    order = np.argsort(np.concatenate([rows, walks]), kind="stable")
    both = {
        name: np.concatenate([getattr(part.globally, name)[rows], getattr(part.locally, name)[hits]])
        for name in ("replaced", "value")
    }
    finds = Finds(
        part.indexes[np.concatenate([rows, walks])],
        np.arange(len(texts)) >= len(rows),
        texts,
        **both,
    )
    return finds.take(order)


def _n_visited(parts: Sequence[Part]) -> int:
    visited = [texts for part in parts for texts in (part.globally.texts, part.locally.texts())]
    return len(trails.distinct(concatenate(visited)))
