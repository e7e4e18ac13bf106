"""The output of ``biaslab fairness-testing audit-texts`` for readers."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.text import Text

from biaslab.core.files import write_text
from biaslab.core.io import write_tsv
from biaslab.fairness_testing.summary import facts_table
from biaslab.fairness_testing.text import display
from biaslab.fairness_testing.text.campaign import IN_DATA, Pair
from biaslab.fairness_testing.text.display import Mask
from biaslab.run.terminal import page_console

N_PRINTED, N_ON_PAGE = 2, 200
"""Printed pairs of a feature, of original and of perturbed texts; pairs on the page."""
N_TERMS = 10
"""Sensitive words of a feature on the page; the table contains all."""


@dataclass(frozen=True)
class FeatureResult:
    """The results for one feature, from `campaign`."""

    feature: str
    summary: dict[str, object]
    pairs: list[Pair]
    terms: pd.DataFrame


def write(out: Path, title: str, results: Sequence[FeatureResult], mask: Mask) -> None:
    """Write found.jsonl (whose words are not masked), summary.tsv, words.tsv and found.html."""
    write_pairs(out / "found.jsonl", [pair for result in results for pair in result.pairs])
    write_tsv(out / "summary.tsv", pd.DataFrame([{"feature": r.feature, **r.summary} for r in results]))
    parts = [result.terms.assign(feature=result.feature) for result in results]
    terms = pd.concat(parts, ignore_index=True)[["feature", *parts[0].columns.drop("feature")]]
    write_tsv(out / "words.tsv", terms.assign(term=[mask(term) for term in terms["term"]]))
    write_text(out / "found.html", display.to_html(title, [_section(r, mask) for r in results], mask))


def write_pairs(path: Path, pairs: Sequence[Pair]) -> None:
    """Write one JSON object per line: a `Pair` and its ``changed`` positions; words are not masked here."""
    lines = (json.dumps({**asdict(pair), "changed": pair.changed}, ensure_ascii=False) for pair in pairs)
    write_text(path, "".join(f"{line}\n" for line in lines))


def show(title: str, facts: Sequence[str], results: Sequence[FeatureResult], mask: Mask) -> None:
    """Print a summary of the input, the finds, and a few pairs."""
    console = page_console()
    console.print(Text(title, style="bold"))
    for fact in facts:
        console.print(fact)
    if any(result.pairs for result in results):
        console.print(display.legend())
    for result in results:
        console.print()
        console.print(facts_table("Feature", result.feature, _facts(result, mask)))
        shown = _examples(result.pairs)
        for pair in shown:
            console.print()
            console.print(display.to_terminal(pair, mask), soft_wrap=True)
        if not shown:
            console.print("No discriminatory text was found.")


def _examples(pairs: Sequence[Pair]) -> list[Pair]:
    first = display.first_of_each_seed(pairs)
    as_they_are = [pair for pair in first if pair.phase == IN_DATA]
    perturbed = [pair for pair in first if pair.phase != IN_DATA]
    return [*as_they_are[:N_PRINTED], *perturbed[:N_PRINTED]]


def _facts(result: FeatureResult, mask: Mask) -> list[tuple[str, str]]:
    row = result.summary
    facts = [
        (
            "Search",
            f"{row['tester']}: {row['n_seeds']:,} of {row['n_mentioning']:,} texts with a sensitive"
            f" word; {row['n_queries']:,} model queries, {row['n_gradients']:,} gradients",
        ),
        (
            "As they are",
            f"{row['n_raw']:,} ({row['raw_share']:.1%} [{row['ci_low']:.1%}, {row['ci_high']:.1%}]) of these"
            " texts are discriminatory",
        ),
        ("Perturbed", f"{row['n_found']:,} more texts became so in the global phase"),
        (
            "In all",
            f"{row['n_discriminatory']:,} of {row['n_visited']:,} different texts ({row['share']:.1%})",
        ),
    ]
    flipping = result.terms[result.terms["n_flips"] > 0].head(5)
    if len(flipping):
        named = (f"{mask(term.term)} {term.n_flips}/{term.n_texts}" for term in flipping.itertuples())
        facts.append(("Changing labels", f"exchanging {', '.join(named)}"))
    return facts


def _section(result: FeatureResult, mask: Mask) -> dict[str, Any]:
    terms = result.terms.head(N_TERMS)
    pairs = display.first_of_each_seed(result.pairs)[:N_ON_PAGE]
    return {
        "feature": result.feature,
        "facts": [fact for fact in _facts(result, mask) if fact[0] != "Changing labels"],
        "terms": terms.assign(term=[mask(term) for term in terms["term"]]).to_dict("records"),
        "pairs": pairs,
        "n_more": len(result.pairs) - len(pairs),
    }
