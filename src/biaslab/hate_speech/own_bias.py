"""Measure how a user's classifier treats identity terms: in labelled texts, in news, in neutral sentences.

Terms are matched as entire words in the text, independently of a classifier's tokens, so that all classifiers
are measured on the same texts.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit

from biaslab.core.errors import InputError
from biaslab.core.stats import share_interval
from biaslab.hate_speech.metrics import auc, identity_table, measure
from biaslab.text.variants import capitalize, starts_sentence

ANY, NONE = "(any)", "(none)"
"""Rows for the texts with any identifier, and for the texts without identifiers."""
BLANK = "{}"
"""Placeholder of the identifier in a template."""
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
    """Return the performance of a classifier from logits and labels (1 or 0), (n,): one row a measure.

    A share is `hits` of `n`, with the 95% Clopper-Pearson interval. The interval of precision is conditional
    on the number of texts classified as positive. F1 and AUC are no shares and have no interval.
    """
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
    shown = [f"{term} {n:,}" if whole else f"{term} {n:,} of {total:,}" for n, total, term in rows[:_SHOWN]]
    more = [f"{len(rows) - _SHOWN:,} more terms"] if len(rows) > _SHOWN else []
    return f" ({', '.join([*shown, *more])})"


def labelled_bias(
    scores: np.ndarray, labels: np.ndarray, holds: np.ndarray, terms: Sequence[str]
) -> pd.DataFrame:
    """Return `identity_table` with a row `ANY` for texts with any identifier, and `NONE` for other texts."""
    has_any = holds.any(axis=1)
    return identity_table(scores, labels, np.column_stack([holds, has_any, ~has_any]), [*terms, ANY, NONE])


def macro_accuracy(news: pd.DataFrame) -> tuple[float, float]:
    """Return the share of news with an identifier that is classified negative, plain and by identifier.

    `news` is `labelled_bias` of texts that are all negative. The second number is the unweighted mean over
    the occurring identifiers; a text with several identifiers counts for each. NaN if no text has one.
    """
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
    """Return the probabilities of each word over t templates, from the logits of `fill_templates`.

    Identifiers come before neutral words; both are sorted by falling mean probability.
    """
    words = [*terms, *neutral]
    p = expit(np.asarray(scores, np.float64)).reshape(-1, len(words))
    is_positive = np.asarray(scores).reshape(p.shape) > 0
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
    return table.sort_values(["is_identifier", "mean"], ascending=False, kind="stable", ignore_index=True)


def template_spread(scores: np.ndarray, n_terms: int, n_words: int) -> dict[str, float]:
    """Return how much the probability of a sentence depends on its identifier.

    Means over the templates: range (largest minus smallest probability), sd (standard deviation over the
    identifiers, divisor k - 1) and gap, the counterfactual token fairness gap (Garg et al. 2019,
    "Counterfactual fairness in text classification through robustness"): the mean absolute difference over
    pairs of identifiers. With one identifier, sd and gap are NaN.
    """
    p = expit(np.asarray(scores, np.float64)).reshape(-1, n_words)[:, :n_terms]
    first, second = np.triu_indices(n_terms, k=1)
    is_single = n_terms < 2
    return {
        "range": float(np.ptp(p, axis=1).mean()),
        "sd": math.nan if is_single else float(p.std(axis=1, ddof=1).mean()),
        "gap": math.nan if is_single else float(np.abs(p[:, first] - p[:, second]).mean()),
    }
