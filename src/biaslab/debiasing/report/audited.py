"""The answer of the audit of embeddings, and of their ranking by bias: lines, page and numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.answers import Answer, Chart, Section, build_section, estimate, listed
from biaslab.bias.measures import MEASURES
from biaslab.debiasing.auditing import N_DIRECTIONS, Audit
from biaslab.debiasing.embedding_ranks import N_DRAWS, Ranking
from biaslab.debiasing.word_lists import describe_recased

N_ENDS = 8
N_LOST = 8

_LEVEL = 0.05
_DISTINGUISHED = 0.95
LIMITS = [
    "The audit covers only the words of the word lists and tests. The embedding may have other biases.",
    "The audit scales vectors to length one, so it compares only directions.",
    "Bias in vectors does not measure the harm of applications that use them, in either direction.",
    "The audit debiases in memory and does not change your files. biaslab debiasing apply writes"
    " a debiased embedding.",
    "Tests have few words. A test that is not significant does not show that there is no bias.",
]
_PREDICTORS = {
    "classifier_accuracy": "a classifier trained on a fifth of these words",
    "cluster_accuracy": "two clusters of these words",
}
_PARTITIONS = {True: "exact, all {:,} partitions", False: "random, {:,} partitions"}
"""The origin of a p-value, by whether it is exact."""


def answer(audits: Sequence[Audit], method: str, ranked: Ranking | None = None) -> Answer:
    """Return the answer of the audits of embeddings, with their ranking if there are several."""
    is_single = len(audits) == 1
    names = ", ".join(item.name for item in audits)
    rows = []  # DirectBias along the bias direction and the random directions
    for item in audits:
        quantiles, share = np.quantile(item.random, (0.5, 0.025, 0.975)), item.before.subspace.shares[0]
        rows.append([item.name, item.bias, *quantiles, item.share_below, share])
    columns = ["name", "bias", "random", "random_low", "random_high", "below", "first"]
    directions, lines = pd.DataFrame(rows, columns=columns), []
    for item, direction in zip(audits, directions.to_dict("records"), strict=True):
        lines += _lines(item, direction, method, "" if is_single else f"In {item.name}, ")
    sections = [
        _direct(directions),
        *([_tests(audits)] if len(audits[0].tests) else []),
        _remaining(audits, method),
        *map(_occupations, audits),
    ]
    numbers = {}
    for item in audits:
        numbers[str(item.file)] = {
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
    if ranked:
        lines += ranking_lines(ranked)
        sections = [*([_ranking(ranked), _values(ranked)] if ranked.tests else []), *sections]
        numbers["ranks"] = vars(ranked) | {"tests": [vars(test) for test in ranked.tests]}
    return Answer(
        command="biaslab debiasing audit",
        question=f"How biased {'is' if is_single else 'are'} {names}, and how much bias remains"
        " after debiasing?",
        data={item.name: f"{item.n_words:,} words{_lost(item)}" for item in audits} | {"Debiased by": method},
        files=[item.file for item in audits],
        lines=lines,
        sections=sections,
        limits=LIMITS,
        numbers=numbers,
    )


def ranking_lines(ranked: Ranking) -> list[str]:
    """Describe the ranks of embeddings, and the omitted tests."""
    lines = []
    for row in ranked.ranking.to_dict("records"):
        text = (
            f"Rank {row['place']}: {row['embedding']}, mean rank over {_count(ranked)} {row['mean_rank']:.2f}"
            f" of {len(ranked.ranking)} ({row['mean_rank_low']:.2f} to {row['mean_rank_high']:.2f} with"
            " resampled words)"
        )
        if not pd.isna(row["before_next"]):
            judgement = "distinguished" if row["before_next"] >= _DISTINGUISHED else "not distinguished"
            share = f"{row['before_next']:.0%} of the draws"
            text += f"; less biased than the next embedding in {share}: {judgement} by these words"
        lines.append(f"{text}.")
    return lines + [f"{name} is omitted from the ranking: {why}." for name, why in ranked.left_out.items()]


def _lost(item: Audit) -> str:
    parts = [
        f"{len(words)} of {name} ({', '.join(words[:N_LOST])}{', ...' * (len(words) > N_LOST)})"
        for name, words in item.lost.items()
        if words
    ]
    lost = f"; missing: {'; '.join(parts)}" if parts else ""
    return lost + (f"; present: {describe_recased(item.recased)}" if item.recased else "")


def _lines(item: Audit, direction: dict, method: str, head: str) -> list[str]:
    first, second = item.before.axis
    conclusion = "differs from random directions."
    if item.share_below < 1 - _LEVEL:
        conclusion = (
            "does not differ from random directions. This result does not prove that the embedding is"
            " harmless."
        )
    lines = [
        f"{head}DirectBias is {item.bias:.3f}, the mean absolute cosine of occupations with the bias"
        f" direction ({first} - {second}); 0 is unbiased. Along differences of two random words, DirectBias"
        f" is {direction['random']:.3f} (95% interval {direction['random_low']:.3f} to"
        f" {direction['random_high']:.3f}). {item.share_below:.1%} of {N_DIRECTIONS} random directions have a"
        f" smaller DirectBias: the bias direction {conclusion}"
    ]
    if item.recased:
        word, form = next(iter(item.recased.items()))
        lines.append(
            f"{head}{len(item.recased)} of the listed words are present in another letter case only"
            f" ({word} as {form}); the audit uses these forms."
        )
    lines += [head + _test_line(test, method) for test in item.tests.to_dict("records")]
    rest = item.remaining.set_index("measure").loc["classifier_accuracy"]
    after, chance = (estimate(name, ".1%").format(**rest) for name in ("after", "chance"))
    lines.append(
        f"{head}after {method} debiasing, DirectBias along the same direction is"
        f" {abs(item.after.values['direct_bias_neutral']):.3f}. A classifier still predicts the original end"
        f" ({first} or {second}) of {after} of held-out words. For comparison: {rest['before']:.1%} before"
        f" debiasing, 50% by guessing, and {chance} after the removal of a random direction."
    )
    return [*(line[:1].upper() + line[1:] for line in lines), *item.notes]


def _test_line(test: dict, method: str) -> str:
    if test["problem"]:
        return f"{test['title']} ({test['weat']}): not measured, {test['problem']}."
    lost = f"; without {test['lost'].replace(',', ', ')}" if test["lost"] else ""
    partitions = _PARTITIONS[test["exact"]].format(test["permutations"])
    before = (
        f"effect size {test['before']:+.2f} of at most {test['largest']:.2f} for sets of these sizes,"
        f" one-sided p = {test['p_value']:.2g} ({partitions}), corrected {test['p_corrected']:.2g}:"
        f" {'significant' if test['p_corrected'] <= _LEVEL else 'not significant'}"
    )
    after = f"{test['after']:+.2f} (p = {test['p_after']:.2g})"
    undefined = "undefined, because all targets are equally near to both attributes"
    if np.isnan(test["before"]):
        before = f"the effect size is {undefined} up to rounding"
    if np.isnan(test["after"]):
        after = undefined
    return f"{test['title']} ({test['weat']}): {before}{lost}. After {method} debiasing: {after}."


def _direct(directions: pd.DataFrame) -> Section:
    series = {"bias direction": "bias", "random directions": "random"}
    return build_section(
        "The bias direction",
        "DirectBias is the mean absolute cosine of neutral occupations with the direction in which the"
        " defining pairs differ. DirectBias is above 0 along almost every direction, so the section also"
        " shows the directions of differences of two random words.",
        directions,
        {
            "Embedding": "{name}",
            "DirectBias": "{bias:.4f}",
            "Along random directions": estimate("random", ".4f"),
            "Random directions with less": "{below:.1%}",
            "Share of the first component": "{first:.1%}",
        },
        f"Bars: the middle 95% of {N_DIRECTIONS} random directions.",
        Chart("name", series, "DirectBias", "{name} {bias:.3f}"),
    )


def _tests(audits: Sequence[Audit]) -> Section:
    tests = pd.concat([item.tests.assign(file=item.name) for item in audits], ignore_index=True)
    measured = tests[tests["problem"] == ""]
    if measured.empty:
        return Section(
            "Association tests", ["No test is measured: the embedding lacks the words of the tests."]
        )
    labels = measured["weat"] + (": " + measured["file"] if len(audits) > 1 else "")
    partitions = [
        _PARTITIONS[is_exact].format(n)
        for is_exact, n in zip(measured["exact"], measured["permutations"], strict=True)
    ]
    return build_section(
        "Association tests (WEAT)",
        "The effect size is how much nearer the first target words are to the first attribute words than"
        " the second targets are, in standard deviations. Maximum is the largest possible effect size of"
        " sets of these sizes. p is one-sided: the probability of at least this effect size if the"
        " targets are divided at random. Corrected p accounts for the number of tests and embeddings"
        " (Holm). Effect sizes have no interval: the words are fixed.",
        measured.assign(partitions=partitions),
        {
            "Test": "{weat}",
            "Embedding": "{file}",
            "Before": "{before:.2f}",
            "Maximum": "{largest:.2f}",
            "p": "{p_value:.2g}",
            "Partitions": "{partitions}",
            "Corrected p": "{p_corrected:.2g}",
            "After": "{after:.2f}",
            "p after": "{p_after:.2g}",
        },
        listed(audits[0].tests, "{weat}: {title}"),
        Chart(labels, {"before": "before", "after": "after"}, "Effect size", "{weat} {before:.2f}", line=0.0),
    )


def _remaining(audits: Sequence[Audit], method: str) -> Section:
    table = pd.concat([item.remaining.assign(file=item.name) for item in audits], ignore_index=True)
    labels = table["measure"].str.partition("_")[0] + (": " + table["file"] if len(audits) > 1 else "")
    series = {"before": "before", "after": "after", "a random direction": "chance"}
    return build_section(
        f"Bias that remains after {method} debiasing",
        "The section tests whether the original end of the most biased words can still be predicted. If"
        " so, the bias is hidden, not removed. The removal of any direction leaves a trace. For"
        " comparison, the last column shows the removal of the difference of two random words.",
        table.assign(by=table["measure"].map(_PREDICTORS), label=labels),
        {
            "Predicted by": "{by}",
            "Embedding": "{file}",
            "Words": "{n}",
            "Before": "{before:.1%}",
            "After": "{after:.1%}",
            "After a random direction": estimate("chance", ".1%"),
        },
        "Bars: 95% intervals by Student's t, over splits or random directions.",
        Chart(
            "label",
            series,
            "Share of words with the correct end",
            "{label} {after:.1%}",
            line=0.5,
            line_label="guessing",
        ),
    )


def _occupations(item: Audit) -> Section:
    occupations = item.before.occupations
    n = min(N_ENDS, len(occupations) // 2)
    parts = {}
    for end, rows, blank in zip(
        item.before.axis, (occupations.head(n), occupations.tail(n).iloc[::-1]), ("", " "), strict=True
    ):
        parts[f"Nearest to {end}"] = rows["word"].to_numpy()
        parts[f"cosine{blank}"] = [f"{x:+.3f}" for x in rows["projection"]]  # headers must differ
    return Section(f"Occupations at either end: {item.name}", table=pd.DataFrame(parts))


def _count(ranked: Ranking) -> str:
    return "one test" if len(ranked.tests) == 1 else f"{len(ranked.tests)} tests"


def _ranking(ranked: Ranking) -> Section:
    titles = "; ".join(f"{test.title} ({test.measure})" for test in ranked.tests)
    return build_section(
        "The ranking",
        f"By {_count(ranked)}: {titles}.\n\n"
        "Every test ranks the embeddings by the distance of its measure from no bias; rank 1 is the"
        " nearest. The mean rank averages over the tests. Equally biased embeddings would each have mean"
        f" rank {(len(ranked.ranking) + 1) / 2:g}, and would be less biased than the next in half of the"
        " draws.",
        ranked.ranking,
        {
            "Place": "{place}",
            "Embedding": "{embedding}",
            "Mean rank": estimate("mean_rank", ".2f"),
            "Less biased than the next": "{before_next:.0%}",
        },
        f"Bars: the middle 95% of {N_DRAWS} draws of the words of every set, the same for all embeddings. The"
        " rank compares the embeddings by these tests and sets no limit for bias. All"
        " tests have the same weight, so words that two tests share count twice.",
        Chart("embedding", {"mean rank": "mean_rank"}, "Mean rank", "{embedding} {mean_rank:.2f}"),
    )


def _values(ranked: Ranking) -> Section:
    at_one = " and ".join(measure.name for measure in MEASURES.values() if measure.unbiased == 1)
    lost = "; ".join(f"{name} without {', '.join(words)}" for name, words in ranked.lost.items() if words)
    return build_section(
        "The tests",
        f"Result of each test, in units of its measure: no bias is 0, or 1 for {at_one}.",
        ranked.values,
        {
            "Test": "{weat}",
            "Measure": "{measure}",
            "Embedding": "{embedding}",
            "Value": estimate("value", ".3f"),
            "Rank": "{rank:g}",
        },
        "In brackets: the middle 95% with resampled words of the test. Every test uses"
        f" the words that all embeddings have{f' ({lost})' if lost else ''}.",
    )
