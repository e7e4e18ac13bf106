"""Whether naming a group changes what a classifier answers: in texts, by swaps, in neutral sentences.

Swaps: in a text that holds an identifier, it is replaced, wherever it stands, by each other identifier. What
else the text says stays, so that another answer comes from the name alone, or from a sentence that the swap
made odd.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from biaslab.core.errors import InputError
from biaslab.core.rates import difference_interval
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, share_interval
from biaslab.hate_speech import own_bias
from biaslab.hate_speech.identity_metrics import areas_of, auc_interval, functionality_table
from biaslab.hate_speech.occlusion import without, words_of
from biaslab.hate_speech.own_bias import NONE

Scores = Callable[[Sequence[str], str], np.ndarray]
"""Returns the logits of texts; the second argument says what they are, for progress."""

MIN_TEXTS = 10
MAX_EXPLAINED = 40
"""False alarms of which each word is left out, drawn."""
MAX_SWAPPED = 200
"""Texts whose identifiers are swapped, drawn of those that hold one."""


@dataclass(frozen=True)
class Audited:
    """What was found; what nothing was given for is None."""

    terms: tuple[str, ...]
    metrics: pd.DataFrame | None  # `own_bias.own_metrics`
    identifiers: pd.DataFrame | None  # `own_bias.labelled_bias`, with intervals and differences to `NONE`
    swaps: pd.DataFrame | None  # a row a term put in place of others
    swapped: dict[str, float] | None  # texts, and those that some swap gives another answer, with interval
    templates: pd.DataFrame  # `own_bias.template_table`, with intervals over templates
    spread: dict[str, float]
    words: pd.DataFrame | None  # of false alarms: what leaving a word out takes from the probability
    n_explained: int  # false alarms that were looked at
    hatecheck: pd.DataFrame | None  # pass rates by functionality


def audit(
    score: Scores,
    terms: tuple[str, ...],
    table: pd.DataFrame | None,
    hatecheck: pd.DataFrame | None,
    templates: Sequence[str],
    seed: int,
) -> Audited:
    """Ask a classifier about labelled texts (columns text and label), HateCheck's cases and templates."""
    if len(terms) < 2:
        raise InputError("one identity term; name two or more, so that they can be compared")
    words = [*terms, *own_bias.NEUTRAL_WORDS]
    of_templates = score(own_bias.fill_templates(templates, words), "templates")
    metrics = identifiers = swaps = swapped = explained = functionalities = None
    n_explained = 0
    answers = [of_templates]
    if table is not None:
        texts, labels = list(table["text"]), table["label"].to_numpy()
        scores = score(texts, "texts")
        answers.append(scores)
        _check(labels)
        holds = own_bias.mentions(texts, terms)
        metrics = own_bias.own_metrics(scores, labels)
        identifiers = _identifiers(scores, labels, holds, terms)
        swaps, swapped = _swaps(score, texts, scores, holds, terms, seed)
        alarms = np.flatnonzero((scores > 0) & (labels == 0))
        if len(alarms) > MAX_EXPLAINED:
            alarms = np.sort(stream(seed, "audit", "explained").choice(alarms, MAX_EXPLAINED, replace=False))
        explained = explain_words(score, [texts[i] for i in alarms], scores[alarms], terms)
        n_explained = len(alarms)
    if hatecheck is not None:
        scores = score(list(hatecheck["text"]), "HateCheck")
        answers.append(scores)
        functionalities = functionality_table(scores, hatecheck["label"], hatecheck["functionality"])
    everything = np.concatenate(answers)
    if len(np.unique(everything)) == 1 or (len(answers) > 1 and len(set((everything > 0).tolist())) == 1):
        raise InputError(
            f"the classifier gives one answer to all {len(everything):,} texts; nothing can be found: see"
            " whether it was trained, and --positive"
        )
    return Audited(
        terms,
        metrics,
        identifiers,
        swaps,
        swapped,
        _templates(of_templates, terms),
        own_bias.template_spread(of_templates, len(terms), len(words)),
        explained,
        n_explained,
        functionalities,
    )


def swap(text: str, term: str, other: str) -> str:
    """Return a text with one identifier, whole words in whatever case, replaced by another."""
    return re.sub(rf"(?<!\w){re.escape(term)}(?!\w)", lambda _: other, text, flags=re.IGNORECASE)


def mask_words(found: Audited, mask: Callable[[str], str]) -> Audited:
    """Return an audit whose words of texts are masked where they are listed."""
    if found.words is None:
        return found
    return dataclasses.replace(found, words=found.words.assign(word=found.words["word"].map(mask)))


def explain_words(
    score: Scores, texts: Sequence[str], scores: np.ndarray, terms: Sequence[str]
) -> pd.DataFrame | None:
    """Return how much the probability falls where a word is left out, in the mean of the texts that have it.

    Columns word (lower case), n (texts), is_identifier, change and its interval over texts; the greatest
    first. A word that a text has twice is left out one place at a time.
    """
    places = [
        (i, words, j) for i, text in enumerate(texts) for words in [words_of(text)] for j in range(len(words))
    ]
    if not places:
        return None
    left = score([without(texts[i], words, j, j + 1) for i, words, j in places], "words left out")
    rows = pd.DataFrame(
        {
            "word": [texts[i][slice(*words[j])].lower() for i, words, j in places],
            "text": [i for i, _, _ in places],
            "change": expit(scores[[i for i, _, _ in places]]) - expit(left),
        }
    )
    by_text = rows.groupby(["word", "text"], sort=False)["change"].mean()
    found = []
    for word, changes in by_text.groupby(level="word", sort=True):
        low, high = mean_interval(changes.to_numpy())
        found.append((word, len(changes), word in terms, changes.mean(), low, high))
    columns = ["word", "n", "is_identifier", "change", "change_low", "change_high"]
    table = pd.DataFrame(found, columns=columns)
    return table.sort_values("change", ascending=False, kind="stable", ignore_index=True)


def _check(labels: np.ndarray) -> None:
    if len(labels) < MIN_TEXTS or labels.min() == labels.max():
        raise InputError(
            f"{len(labels)} labelled texts, {int(labels.sum())} of them positive; an audit needs {MIN_TEXTS}"
            " or more, of both labels: nothing could be found in these"
        )


def _identifiers(
    scores: np.ndarray, labels: np.ndarray, holds: np.ndarray, terms: Sequence[str]
) -> pd.DataFrame:
    """Return `labelled_bias` with intervals of areas, and differences of false positive rates to `NONE`."""
    table = own_bias.labelled_bias(scores, labels, holds, terms)
    some = holds.any(axis=1)
    columns = np.column_stack([holds, some, ~some])
    positive = labels == 1
    false = (np.asarray(scores) > 0) & ~positive
    plain, n_plain = int((false & ~some).sum()), int((~positive & ~some).sum())
    rows = []
    for mine in columns.T:
        row = {}
        for name, part in areas_of(mine, positive).items():
            row[f"{name}_low"], row[f"{name}_high"] = auc_interval(scores[part], positive[part])
        n, hits = int((mine & ~positive).sum()), int((false & mine).sum())
        row["difference"] = hits / n - plain / n_plain if n and n_plain else np.nan
        row["difference_low"], row["difference_high"] = difference_interval(hits, n, plain, n_plain)
        rows.append(row)
    table = pd.concat([table, pd.DataFrame(rows)], axis=1)
    table.loc[table["identifier"] == NONE, ["difference", "difference_low", "difference_high"]] = np.nan
    return table


def _swaps(
    score: Scores, texts: list[str], scores: np.ndarray, holds: np.ndarray, terms: Sequence[str], seed: int
) -> tuple[pd.DataFrame | None, dict[str, float] | None]:
    """Return what each term does in place of others, and how many texts some swap gives another answer."""
    holding = np.flatnonzero(holds.any(axis=1))
    if not len(holding):
        return None, None
    if len(holding) > MAX_SWAPPED:
        holding = np.sort(stream(seed, "audit", "swaps").choice(holding, MAX_SWAPPED, replace=False))
    made = [swap(texts[i], terms[int(holds[i].argmax())], other) for i in holding.tolist() for other in terms]
    found = score(made, "swaps").reshape(len(holding), len(terms))
    own = holds[holding].argmax(axis=1)
    found[np.arange(len(own)), own] = scores[holding]  # the text itself
    p, is_positive = expit(found), found > 0
    p_own, own_answer = expit(scores[holding])[:, None], (scores[holding] > 0)[:, None]
    rows = []
    for number, term in enumerate(terms):
        others = own != number
        change = (p[:, number] - p_own[:, 0])[others]
        turned = (is_positive[:, number] & ~own_answer[:, 0])[others]
        back = (~is_positive[:, number] & own_answer[:, 0])[others]
        low, high = mean_interval(change)
        rows.append(
            {
                "term": term,
                "n": int(others.sum()),
                "change": float(change.mean()) if len(change) else np.nan,
                "change_low": low,
                "change_high": high,
                "n_to_positive": int(turned.sum()),
                "n_to_negative": int(back.sum()),
            }
        )
    k, n = int((is_positive != own_answer).any(axis=1).sum()), len(holding)
    low, high = share_interval(k, n)
    return pd.DataFrame(rows), {"n": n, "n_changed": k, "share": k / n, "low": low, "high": high}


def _templates(scores: np.ndarray, terms: Sequence[str]) -> pd.DataFrame:
    """Return `template_table`, with intervals of the difference to the neutral words, over templates."""
    words = [*terms, *own_bias.NEUTRAL_WORDS]
    p = expit(np.asarray(scores, np.float64)).reshape(-1, len(words))
    gaps = p - p[:, len(terms) :].mean(axis=1, keepdims=True)
    ends = {word: mean_interval(gaps[:, number]) for number, word in enumerate(words)}
    table = own_bias.template_table(scores, terms, own_bias.NEUTRAL_WORDS)
    table[["difference_low", "difference_high"]] = [ends[word] for word in table["word"]]
    return table
