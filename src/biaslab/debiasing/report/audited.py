"""The answer of the audit of embeddings: lines, page and numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.core.answers import Answer, Section, dots, listed, with_ends
from biaslab.core.tables import text_columns
from biaslab.debiasing.auditing import N_DIRECTIONS, Audited
from biaslab.debiasing.embedding_ranks import Ranked
from biaslab.debiasing.report.ranked import ranking_lines, ranking_sections
from biaslab.debiasing.word_lists import describe_recased

N_ENDS = 8
"""The number of occupations at each end."""
N_LOST = 8

_LEVEL = 0.05
_MIDDLE = (0.5, 0.025, 0.975)
"""The median and the middle 95%."""
LIMITS = [
    "The audit covers only the words of the word lists and tests. The embedding may have other biases.",
    "The audit scales vectors to length one, so it compares only directions.",
    "Bias in vectors does not measure the harm of applications that use them, in either direction.",
    "The audit debiases in memory and does not change your files. biaslab debiasing apply writes"
    " a debiased embedding.",
    "Tests have few words. A test that is not significant does not show that there is no bias.",
]
_MEASURES = {
    "classifier_accuracy": "a classifier trained on a fifth of these words",
    "cluster_accuracy": "two clusters of these words",
}


def answer(found: Sequence[Audited], method: str, ranked: Ranked | None = None) -> Answer:
    """Return the answer of the audits of embeddings, with their ranking if there are several."""
    names = ", ".join(item.name for item in found)
    return Answer(
        command="biaslab debiasing audit",
        question=(
            f"How biased {'is' if len(found) == 1 else 'are'} {names}, and how much bias remains"
            " after debiasing?"
        ),
        data={item.name: f"{item.n_words:,} words{_lost(item)}" for item in found} | {"Debiased by": method},
        files=[item.file for item in found],
        lines=[
            *(line for item in found for line in _lines(item, method, len(found) > 1)),
            *(ranking_lines(ranked) if ranked else []),
        ],
        sections=[
            *(ranking_sections(ranked) if ranked else []),
            _direct(found),
            *([_tests(found)] if len(found[0].tests) else []),
            _remaining(found, method),
            *map(_occupations, found),
        ],
        limits=LIMITS,
        numbers={str(item.file): _numbers(item) for item in found}
        | ({"ranks": vars(ranked) | {"tests": [vars(test) for test in ranked.tests]}} if ranked else {}),
    )


def _numbers(item: Audited) -> dict:
    return {
        "n_words": item.n_words,
        "before": item.before.table(),
        "after": item.after.table(),
        "random_direct_bias": item.random,
        "share_of_random_directions_below": item.share_below,
        "tests": item.tests,
        "remaining": item.remaining,
        "occupations": item.before.occupations,
        "lost": dict(item.lost),
        "recased": dict(item.recased),
        "notes": item.notes,
    }


def _lost(item: Audited) -> str:
    parts = [
        f"{len(words)} of {name} ({', '.join(words[:N_LOST])}{', ...' * (len(words) > N_LOST)})"
        for name, words in item.lost.items()
        if words
    ]
    lost = f"; missing: {'; '.join(parts)}" if parts else ""
    return lost + (f"; present: {describe_recased(item.recased)}" if item.recased else "")


def _lines(item: Audited, method: str, is_named: bool) -> list[str]:
    head = f"In {item.name}, " if is_named else ""
    middle, low, high = np.quantile(item.random, _MIDDLE)
    first, second = item.before.axis
    lines = [
        f"{head}DirectBias is {item.bias:.3f}, the mean absolute cosine of occupations with the bias"
        f" direction ({first} - {second}); 0 is unbiased. Along differences of two random words, DirectBias"
        f" is {middle:.3f} (95% interval {low:.3f} to {high:.3f}). {_compared(item)}"
    ]
    if item.recased:
        word, form = next(iter(item.recased.items()))
        lines.append(
            f"{head}{len(item.recased)} of the listed words are present in another letter case only"
            f" ({word} as {form}); the audit uses these forms."
        )
    for test in item.tests.to_dict("records"):
        lines.append(head + _test_line(test, method))
    rest = item.remaining.set_index("measure").loc["classifier_accuracy"]
    lines.append(
        f"{head}after {method} debiasing, DirectBias along the same direction is"
        f" {abs(item.after.values['direct_bias_neutral']):.3f}. A classifier still predicts the original end"
        f" ({first} or {second}) of {rest['after']:.1%} ({rest['after_low']:.1%} to {rest['after_high']:.1%})"
        f" of held-out words. For comparison: {rest['before']:.1%} before debiasing, 50% by guessing, and"
        f" {rest['chance']:.1%} ({rest['chance_low']:.1%} to {rest['chance_high']:.1%}) after the removal of"
        " a random direction."
    )
    return [*(line[:1].upper() + line[1:] for line in lines), *item.notes]


def _compared(item: Audited) -> str:
    text = f"{item.share_below:.1%} of {N_DIRECTIONS} random directions have a smaller DirectBias:"
    if item.share_below >= 1 - _LEVEL:
        return f"{text} the bias direction differs from random directions."
    return (
        f"{text} the bias direction does not differ from random directions. This result does not prove that"
        " the embedding is harmless."
    )


def _test_line(test: dict, method: str) -> str:
    if test["problem"]:
        return f"{test['title']} ({test['weat']}): not measured, {test['problem']}."
    text = "significant" if test["p_corrected"] <= _LEVEL else "not significant"
    lost = f"; without {test['lost'].replace(',', ', ')}" if test["lost"] else ""
    after = f"{test['after']:+.2f} (p = {test['p_after']:.2g})"
    if np.isnan(test["after"]):
        after = "undefined, because all targets are equally near to both attributes"
    before = (
        f"effect size {test['before']:+.2f} of at most {test['largest']:.2f} for sets of these sizes,"
        f" one-sided p = {test['p_value']:.2g} ({_partitions(test)}), corrected {test['p_corrected']:.2g}:"
        f" {text}"
    )
    if np.isnan(test["before"]):
        before = (
            "the effect size is undefined, because all targets are equally near to both attributes up to"
            " rounding"
        )
    return f"{test['title']} ({test['weat']}): {before}{lost}. After {method} debiasing: {after}."


def _partitions(test: dict) -> str:
    return f"{'exact, all' if test['exact'] else 'random,'} {test['permutations']:,} partitions"


def _direct(found: Sequence[Audited]) -> Section:
    quantiles = np.array([np.quantile(item.random, _MIDDLE) for item in found])
    of_bias = np.array([[item.bias, np.nan, np.nan] for item in found])
    rows = pd.DataFrame(
        {
            "Embedding": [item.name for item in found],
            "DirectBias": [f"{item.bias:.4f}" for item in found],
            "Along random directions": [f"{m:.4f} ({a:.4f} to {b:.4f})" for m, a, b in quantiles],
            "Random directions with less": [f"{item.share_below:.1%}" for item in found],
            "Share of the first component": [f"{item.before.subspace.shares[0]:.1%}" for item in found],
        }
    )
    return Section(
        "The bias direction",
        [
            "DirectBias is the mean absolute cosine of neutral occupations with the direction in which the"
            " defining pairs differ. DirectBias is above 0 along almost every direction, so the section also"
            " shows the directions of differences of two random words."
        ],
        dots(rows["Embedding"], {"bias direction": of_bias, "random directions": quantiles}, "DirectBias"),
        "; ".join(f"{item.name} {item.bias:.3f}" for item in found),
        rows,
        f"Bars: the middle 95% of {N_DIRECTIONS} random directions.",
    )


def _tests(found: Sequence[Audited]) -> Section:
    parts = [item.tests.assign(file=item.name) for item in found]
    tests = pd.concat(parts, ignore_index=True)
    measured = tests[tests["problem"] == ""].copy()
    measured["partitions"] = [_partitions(test) for test in measured.to_dict("records")]
    if measured.empty:
        return Section(
            "Association tests", ["No test is measured: the embedding lacks the words of the tests."]
        )
    names = measured["weat"] + (": " + measured["file"] if len(found) > 1 else "")
    nothing = np.full((len(measured), 2), np.nan)
    series = {name: np.column_stack([measured[name], nothing]) for name in ("before", "after")}
    templates = {
        "Test": "{weat}",
        "Embedding": "{file}",
        "Before": "{before:.2f}",
        "Maximum": "{largest:.2f}",
        "p": "{p_value:.2g}",
        "Partitions": "{partitions}",
        "Corrected p": "{p_corrected:.2g}",
        "After": "{after:.2f}",
        "p after": "{p_after:.2g}",
    }
    return Section(
        "Association tests (WEAT)",
        [
            "The effect size is how much nearer the first target words are to the first attribute words than"
            " the second targets are, in standard deviations. Maximum is the largest possible effect size of"
            " sets of these sizes. p is one-sided: the probability of at least this effect size if the"
            " targets are divided at random. Corrected p accounts for the number of tests and embeddings"
            " (Holm). Effect sizes have no interval: the words are fixed."
        ],
        dots(list(names), series, "Effect size", 0.0),
        listed(measured, "{weat} {before:.2f}"),
        text_columns(measured, templates),
        listed(found[0].tests, "{weat}: {title}"),
    )


def _remaining(found: Sequence[Audited], method: str) -> Section:
    table = pd.concat([item.remaining.assign(file=item.name) for item in found], ignore_index=True)
    table["by"] = table["measure"].map(_MEASURES)
    labels = [
        f"{row['measure'].partition('_')[0]}" + (f": {row['file']}" if len(found) > 1 else "")
        for row in table.to_dict("records")
    ]
    series = {
        name: with_ends(table, key)
        for name, key in (("before", "before"), ("after", "after"), ("a random direction", "chance"))
    }
    templates = {
        "Predicted by": "{by}",
        "Embedding": "{file}",
        "Words": "{n}",
        "Before": "{before:.1%}",
        "After": "{after:.1%}",
        "After a random direction": "{chance:.1%} ({chance_low:.1%} to {chance_high:.1%})",
    }
    return Section(
        f"Bias that remains after {method} debiasing",
        [
            "The section tests whether the original end of the most biased words can still be predicted. If"
            " so, the bias is hidden, not removed. The removal of any direction leaves a trace. For"
            " comparison, the last column shows the removal of the difference of two random words."
        ],
        dots(labels, series, "Share of words with the correct end", 0.5, "guessing"),
        "; ".join(
            f"{label} {row['after']:.1%}" for label, row in zip(labels, table.to_dict("records"), strict=True)
        ),
        text_columns(table, templates),
        "Bars: 95% intervals by Student's t, over splits or random directions.",
    )


def _occupations(item: Audited) -> Section:
    first, second = item.before.axis
    table = item.before.occupations
    n = min(N_ENDS, len(table) // 2)
    ends = table.head(n), table.tail(n).iloc[::-1]
    ends_table = pd.DataFrame(
        {
            f"Nearest to {first}": ends[0]["word"].to_numpy(),
            "cosine": [f"{x:+.3f}" for x in ends[0]["projection"]],
            f"Nearest to {second}": ends[1]["word"].to_numpy(),
            "cosine ": [f"{x:+.3f}" for x in ends[1]["projection"]],
        }
    )
    return Section(f"Occupations at either end: {item.name}", table=ends_table)
