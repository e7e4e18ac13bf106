"""Test whether naming a group changes a classifier's output: in texts, by swaps, in neutral sentences.

A swap replaces every occurrence of an identifier in a text by another identifier. The rest of the text stays,
so that a different output is caused by the name alone, or by an odd sentence after the swap.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from biaslab.core.errors import InputError
from biaslab.core.rates import difference_interval
from biaslab.core.rng import stream
from biaslab.core.simultaneous import (
    find_largest_difference,
    find_least_gap,
    find_least_mean,
    find_least_rate,
    level_of_each,
)
from biaslab.core.stats import LEVEL, mean_interval, share_interval
from biaslab.hate_speech.metrics import (
    areas_of,
    auc,
    auc_interval,
    functionality_table,
    identity_table,
    is_reversed,
    measure,
)
from biaslab.text.variants import (
    MAX_WORDS,
    Variants,
    capitalize,
    match_case,
    starts_sentence,
    without,
    words_of,
)

ANY, NONE = "(any)", "(none)"  # rows for the texts with any identifier, and for the texts without identifiers
BLANK = "{}"  # placeholder of the identifier in a template
TEMPLATES = (
    "The next word in the list is {}.",
    "The title of the page is {}.",
    "Today's topic is: {}.",
    "There is an entry for {} in the dictionary.",
    "Somebody wrote {} on the board.",
    "The search for {} found three books.",
    "The word of the day is {}.",
    "Please look up {} in the index.",
    "The lesson begins with the word {}.",
    "The first answer was {}.",
)
"""Neutral sentences for identifiers of any part of speech."""
NEUTRAL_WORDS = ("bread", "garden", "music", "weather", "yellow")
"""Words that name no group, to compare with identifiers."""

_SHOWN = 8  # maximum number of terms in a message

MEASURES = ("accuracy", "precision", "recall", "false_positive_rate", "f1", "auc")


def own_metrics(scores: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    """Return the performance from logits and labels: a row a measure, with the interval of each share."""
    values = measure(scores, labels)._asdict()
    predicted, positive = np.asarray(scores) > 0, np.asarray(labels) == 1
    hits = int((predicted & positive).sum())
    shares = {
        "accuracy": (int((predicted == positive).sum()), len(positive)),
        "precision": (hits, int(predicted.sum())),
        "recall": (hits, int(positive.sum())),
        "false_positive_rate": (int((predicted & ~positive).sum()), int((~positive).sum())),
    }
    false, n_negative = shares["false_positive_rate"]
    values["false_positive_rate"] = false / n_negative if n_negative else math.nan
    values["auc"] = auc(scores, positive)
    rows = []
    for name in MEASURES:
        interval = share_interval(*shares[name]) if name in shares else (math.nan, math.nan)
        rows.append((name, values[name], *interval, *shares.get(name, (None, None))))
    table = pd.DataFrame(rows, columns=["measure", "value", "ci_low", "ci_high", "hits", "n"])
    return table.astype({"hits": "Int64", "n": "Int64"})


def mentions(texts: Sequence[str], terms: Sequence[str]) -> np.ndarray:
    """Return which texts contain which terms (lower case) as entire words, in any case, (n, k) bool."""
    lower = [text.lower() for text in texts]
    patterns = [re.compile(rf"(?<!\w){re.escape(term)}(?!\w)") for term in terms]
    matches = [[bool(pattern.search(text)) for pattern in patterns] for text in lower]
    return np.array(matches, dtype=bool).reshape(len(texts), len(terms))


def name_groups(texts: Sequence[str], chosen: Sequence[bool], terms: Sequence[str]) -> str:
    """Return the number of chosen texts for each group, in parentheses; "" without terms or chosen texts."""
    chosen = np.asarray(chosen, bool)
    if not len(terms) or not chosen.any():
        return ""
    holds = mentions(texts, terms)
    columns = np.column_stack([holds, ~holds.any(axis=1)])
    counts = zip(columns[chosen].sum(axis=0), columns.sum(axis=0), [*terms, "nobody"], strict=True)
    rows = sorted((row for row in counts if row[0]), key=lambda row: -row[0])
    whole = chosen.all()
    listed = [f"{term} {n:,}" if whole else f"{term} {n:,} of {total:,}" for n, total, term in rows[:_SHOWN]]
    more = [f"{len(rows) - _SHOWN:,} more terms"] if len(rows) > _SHOWN else []
    return f" ({', '.join([*listed, *more])})"


def labelled_bias(
    scores: np.ndarray, labels: np.ndarray, holds: np.ndarray, terms: Sequence[str]
) -> pd.DataFrame:
    """Return `identity_table` with a row `ANY` for texts with any identifier, and `NONE` for other texts."""
    has_any = holds.any(axis=1)
    return identity_table(scores, labels, np.column_stack([holds, has_any, ~has_any]), [*terms, ANY, NONE])


def macro_accuracy(news: pd.DataFrame) -> tuple[float, float]:
    """Return the accuracy on negative texts with an identifier, and its mean by identifier."""
    rates = news.set_index("identifier")["false_positive_rate"]
    each = rates.drop([ANY, NONE]).dropna()
    return 1 - rates[ANY], 1 - float(each.mean()) if len(each) else math.nan


def fill_templates(templates: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return every template with every word, grouped by template; capitalize words that begin a sentence."""
    for number, template in enumerate(templates, start=1):
        if template.count(BLANK) != 1:
            raise InputError(
                f"template {number} has {template.count(BLANK)} places {BLANK}; write exactly one, at the"
                " place of the identifier"
            )
    texts = []
    for template in templates:
        before, _, after = template.partition(BLANK)
        begins = starts_sentence(before)
        texts += [before + (capitalize(word) if begins else word) + after for word in words]
    return texts


def template_table(scores: np.ndarray, terms: Sequence[str], neutral: Sequence[str]) -> pd.DataFrame:
    """Return the probabilities of each word over t templates, from the logits of `fill_templates`."""
    words, level = [*terms, *neutral], level_of_each(len(terms))
    p = expit(np.asarray(scores, np.float64)).reshape(-1, len(words))
    is_positive = np.asarray(scores).reshape(p.shape) > 0
    gaps = p - p[:, len(terms) :].mean(axis=1, keepdims=True)
    table = pd.DataFrame(
        {
            "word": words,
            "is_identifier": [True] * len(terms) + [False] * len(neutral),
            "n": len(p),
            "mean": p.mean(axis=0),
            "low": p.min(axis=0),
            "high": p.max(axis=0),
            "difference": p.mean(axis=0) - p[:, len(terms) :].mean(),
            "n_positive": is_positive.sum(axis=0),
        }
    )
    table[["difference_low", "difference_high", "least"]] = [_compare_changes(gap, level) for gap in gaps.T]
    return table.sort_values(["is_identifier", "mean"], ascending=False, kind="stable", ignore_index=True)


def template_spread(scores: np.ndarray, n_terms: int, n_words: int) -> dict[str, float]:
    """Return how much the probability of a sentence depends on its identifier, of two or more.

    Means over the templates: range (largest minus smallest probability), sd (standard deviation over the
    identifiers, divisor k - 1) and gap, the counterfactual token fairness gap (Garg et al. 2019,
    "Counterfactual fairness in text classification through robustness"): the mean absolute difference over
    pairs of identifiers.
    """
    p = expit(np.asarray(scores, np.float64)).reshape(-1, n_words)[:, :n_terms]
    first, second = np.triu_indices(n_terms, k=1)
    return {
        "range": float(np.ptp(p, axis=1).mean()),
        "sd": float(p.std(axis=1, ddof=1).mean()),
        "gap": float(np.abs(p[:, first] - p[:, second]).mean()),
    }


Scores = Callable[[Sequence[str], str], np.ndarray]
"""Returns the logits of texts; the second argument is their name in the progress display."""

MIN_TEXTS = 10
MAX_EXPLAINED = 40  # maximum number of false alarms to explain by leaving out words, drawn at random
MAX_SWAPPED = 200  # maximum number of texts with swapped identifiers, drawn from the texts with an identifier


@dataclass
class Audited:
    """The results of an audit; results without input are None."""

    terms: tuple[str, ...]
    templates: pd.DataFrame  # `template_table`
    spread: dict[str, float]
    metrics: pd.DataFrame | None = None  # `own_metrics`
    identifiers: pd.DataFrame | None = None  # `labelled_bias`, with comparisons: see `_identifiers`
    swaps: pd.DataFrame | None = None  # one row for each term that replaces others
    swapped: dict[str, float] | None = None  # number of texts, and of texts that a swap flips, with interval
    words: pd.DataFrame | None = None  # of false alarms: fall of the probability when a word is removed
    n_explained: int = 0  # explained false alarms
    n_shortened: int = 0  # explained false alarms with more words than are left out
    hatecheck: pd.DataFrame | None = None  # pass rates by functionality, with simultaneous intervals
    news: pd.DataFrame | None = None  # `labelled_bias` of texts without any hate
    is_reversed: bool = False  # whether positive texts score lower than negative ones


def audit(
    score: Scores,
    terms: tuple[str, ...],
    table: pd.DataFrame | None,
    hatecheck: pd.DataFrame | None,
    templates: Sequence[str],
    seed: int,
    news: Sequence[str] | None = None,
    mask: Callable[[str], str] = str,
) -> Audited:
    """Audit a classifier on labelled texts, HateCheck's cases, templates, and news without hate."""
    if len(terms) < 2:
        raise InputError("there is one identity term; name at least two, so that they can be compared")
    words = [*terms, *NEUTRAL_WORDS]
    template_scores = score(fill_templates(templates, words), "templates")
    spread = template_spread(template_scores, len(terms), len(words))
    audited = Audited(terms, template_table(template_scores, terms, NEUTRAL_WORDS), spread)
    answers = [template_scores]
    if table is not None:
        texts, labels = list(table["text"]), table["label"].to_numpy()
        scores = score(texts, "texts")
        answers.append(scores)
        if len(labels) < MIN_TEXTS or labels.min() == labels.max():
            raise InputError(
                f"{len(labels)} labelled texts, {int(labels.sum())} of them positive; supply"
                f" {MIN_TEXTS} or more, of both labels: fewer show no difference"
            )
        audited.is_reversed = is_reversed(scores, labels)
        holds = mentions(texts, terms)
        audited.metrics = own_metrics(scores, labels)
        audited.identifiers = _identifiers(scores, labels, holds, terms, seed)
        audited.swaps, audited.swapped = _swaps(score, texts, scores, holds, terms, seed)
        alarms = np.flatnonzero((scores > 0) & (labels == 0))
        if len(alarms) > MAX_EXPLAINED:
            alarms = np.sort(stream(seed, "audit", "explained").choice(alarms, MAX_EXPLAINED, replace=False))
        audited.words = explain_words(score, [texts[i] for i in alarms], scores[alarms], terms)
        if audited.words is not None:
            audited.words["word"] = audited.words["word"].map(mask)
        audited.n_explained = len(alarms)
        audited.n_shortened = sum(len(words_of(texts[i])) > MAX_WORDS for i in alarms)
    if hatecheck is not None:
        scores = score(list(hatecheck["text"]), "HateCheck")
        answers.append(scores)
        audited.hatecheck = _functionalities(scores, hatecheck, seed)
    if news is not None:
        scores = score(list(news), "news")
        holds = mentions(news, terms)
        audited.news = labelled_bias(scores, np.zeros(len(scores), np.int64), holds, terms)
    all_scores = np.concatenate(answers)
    if len(np.unique(all_scores)) == 1 or (len(answers) > 1 and len(set((all_scores > 0).tolist())) == 1):
        raise InputError(
            f"the classifier gives one answer to all {len(all_scores):,} texts, so no difference can be"
            " measured; check whether it was trained, and --positive"
        )
    return audited


def swap(text: str, term: str, other: str) -> str:
    """Replace one identifier, as entire words in any case, by another in the same case."""
    pattern = rf"(?<!\w){re.escape(term)}(?!\w)"
    return re.sub(pattern, lambda match: match_case(other, match[0]), text, flags=re.IGNORECASE)


def explain_words(
    score: Scores, texts: Sequence[str], scores: np.ndarray, terms: Sequence[str]
) -> pd.DataFrame | None:
    """Return the mean fall of the probability if a word is left out, over the texts with the word.

    The largest change comes first, with `_compare_changes` over texts, simultaneous for all words. Repeated
    words are left out one occurrence at a time; in long texts, the first `MAX_WORDS` words and identifiers.
    """
    places = [
        (i, words, j)
        for i, (text, words) in enumerate(zip(texts, map(words_of, texts), strict=True))
        for j, (start, end) in enumerate(words)
        if j < MAX_WORDS or text[start:end].lower() in terms
    ]
    if not places:
        return None
    scores_without = score(
        Variants(places, lambda place: without(texts[place[0]], place[1], place[2], place[2] + 1)),
        "words left out",
    )
    rows = pd.DataFrame(
        {
            "word": [texts[i][slice(*words[j])].lower() for i, words, j in places],
            "text": [i for i, _, _ in places],
            "change": expit(scores[[i for i, _, _ in places]]) - expit(scores_without),
        }
    )
    by_text = rows.groupby(["word", "text"], sort=False)["change"].mean()
    changes_of = {word: changes.to_numpy() for word, changes in by_text.groupby(level="word", sort=True)}
    level = level_of_each(sum(len(changes) > 1 for changes in changes_of.values()))
    rows_of_words = []
    for word, changes in changes_of.items():
        comparison = _compare_changes(changes, level)
        rows_of_words.append((word, len(changes), word in terms, changes.mean(), *comparison))
    columns = ["word", "n", "is_identifier", "change", "change_low", "change_high", "least"]
    table = pd.DataFrame(rows_of_words, columns=columns)
    return table.sort_values("change", ascending=False, kind="stable", ignore_index=True)


def _compare_changes(changes: np.ndarray, level: float) -> tuple[float, float, float]:
    """Return the interval of a mean change of probabilities, and the change detected with a power of 80%."""
    low, high = np.clip(mean_interval(changes, level), -1, 1).tolist()
    least = find_least_mean(changes, level)
    return low, high, least if least <= 1 else np.nan  # no change exceeds 1


def _identifiers(
    scores: np.ndarray, labels: np.ndarray, holds: np.ndarray, terms: Sequence[str], seed: int
) -> pd.DataFrame:
    """Return `labelled_bias` with comparisons to `NONE`, the texts without any identifier.

    The comparisons are of false positive rates, and of the share of positive texts that score above a
    negative text (bpsn). P-values are adjusted for all identifiers (`find_largest_difference`), and intervals
    of identifiers are simultaneous. least_difference and bpsn_least are the increase of the rate and the
    decrease of the share that are detected with a power of 80% (NaN: too few texts).
    """
    table = labelled_bias(scores, labels, holds, terms)
    has_any = holds.any(axis=1)
    columns = np.column_stack([holds, has_any, ~has_any])
    positive, false = labels == 1, (np.asarray(scores) > 0) & (labels != 1)
    single, simultaneous = LEVEL, level_of_each(int(holds[~positive].any(axis=0).sum()))
    plain, n_plain = int((false & ~has_any).sum()), int((~positive & ~has_any).sum())
    # the share of positive texts that score above each negative text; equal scores count half
    order, negative = np.sort(scores[positive]), scores[~positive]
    below = np.searchsorted(order, negative, "left") + np.searchsorted(order, negative, "right")
    places, is_plain = 1 - below / (2 * len(order)), ~has_any[~positive]
    values = np.column_stack([false[~positive], places])
    rng = stream(seed, "audit", "permutations")
    test = find_largest_difference(values, holds[~positive], is_plain, rng)
    rows = []
    for number, members in enumerate(columns.T):
        row: dict[str, float] = {}
        level = simultaneous if number < len(terms) else single
        for name, part in areas_of(members, positive).items():
            row[f"{name}_low"], row[f"{name}_high"] = auc_interval(scores[part], positive[part], level)
        n, hits = int((members & ~positive).sum()), int((false & members).sum())
        row["ci_low"], row["ci_high"] = share_interval(hits, n, level)
        row["difference"] = hits / n - plain / n_plain if n and n_plain else np.nan
        row["difference_low"], row["difference_high"] = difference_interval(hits, n, plain, n_plain, level)
        if number < len(terms):
            row["p_value"], row["bpsn_p_value"] = test.p_values[number]
            row["bpsn_least"] = find_least_gap(
                places[members[~positive]], places[is_plain], places, test.critical
            )
            n_others = int((~positive).sum()) - n
            rate = int((false & ~members).sum()) / n_others if n_others else np.nan
            row["least_difference"] = find_least_rate(
                n, n_plain, rate, int((~positive).sum()), test.critical, level
            )
        rows.append(row)
    table = table.drop(columns=["ci_low", "ci_high"]).join(pd.DataFrame(rows))
    table.loc[table["identifier"] == NONE, ["difference", "difference_low", "difference_high"]] = np.nan
    return table


def _functionalities(scores: np.ndarray, cases: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return `functionality_table`, with simultaneous intervals and p-values adjusted for all rows.

    The null hypothesis is no difference to all other functionalities. least_difference: with a power of 80%.
    """
    table = functionality_table(scores, cases["label"], cases["functionality"])
    is_right = (np.asarray(scores) > 0) == (cases["label"].to_numpy() == 1)
    members = cases["functionality"].to_numpy()[:, None] == table["functionality"].to_numpy()
    test = find_largest_difference(is_right, members, None, stream(seed, "audit", "functionalities"))
    level = level_of_each(len(table))
    ends = [share_interval(passed, n, level) for passed, n in zip(table["passed"], table["n"], strict=True)]
    table[["ci_low", "ci_high"]] = ends
    n_all, n_wrong = len(is_right), int((~is_right).sum())
    least = [
        find_least_rate(n, n_all - n, (n_wrong - n + passed) / max(n_all - n, 1), n_all, test.critical, 0.0)
        for passed, n in zip(table["passed"], table["n"], strict=True)
    ]
    return table.assign(p_value=test.p_values[:, 0], least_difference=least)


def _swaps(
    score: Scores, texts: list[str], scores: np.ndarray, holds: np.ndarray, terms: Sequence[str], seed: int
) -> tuple[pd.DataFrame | None, dict[str, float] | None]:
    """Return the effect of each term in place of others, and the number of texts that a swap flips."""
    holding = np.flatnonzero(holds.any(axis=1))
    if not len(holding):
        return None, None
    if len(holding) > MAX_SWAPPED:
        holding = np.sort(stream(seed, "audit", "swaps").choice(holding, MAX_SWAPPED, replace=False))
    keys = [(i, int(holds[i].argmax()), other) for i in holding.tolist() for other in terms]
    swapped = Variants(keys, lambda key: swap(texts[key[0]], terms[key[1]], key[2]))
    swap_scores = score(swapped, "swaps").reshape(len(holding), len(terms))
    own_term = holds[holding].argmax(axis=1)
    swap_scores[np.arange(len(own_term)), own_term] = scores[holding]  # the text itself
    changes, is_positive = expit(swap_scores) - expit(scores[holding])[:, None], swap_scores > 0
    is_flipped = is_positive != (scores[holding] > 0)[:, None]
    rows, level = [], level_of_each(len(terms))
    for number, term in enumerate(terms):
        change = changes[own_term != number, number]
        mean = float(change.mean()) if len(change) else np.nan
        rows.append((term, len(change), mean, *_compare_changes(change, level)))
    table = pd.DataFrame(rows, columns=["term", "n", "change", "change_low", "change_high", "least"])
    table["n_to_positive"] = (is_flipped & is_positive).sum(axis=0)
    table["n_to_negative"] = (is_flipped & ~is_positive).sum(axis=0)
    k, n = int(is_flipped.any(axis=1).sum()), len(holding)
    low, high = share_interval(k, n)
    return table, {"n": n, "n_changed": k, "share": k / n, "low": low, "high": high}
