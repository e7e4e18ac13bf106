"""The output of ``biaslab fairness-testing search`` and ``audit-texts`` for readers."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.table import Table
from rich.text import Text

from biaslab.core.files import render, write_text
from biaslab.core.io import write_tsv
from biaslab.fairness_testing.own_tables import OwnTable
from biaslab.fairness_testing.text.own_texts import IN_DATA, PHASES, FeatureResult, Pair
from biaslab.run.commands.terminal import page_console

TEMPLATE = Path(__file__).parent / "found_pairs.html.j2"

SUBSTITUTED, EXCHANGED = "substituted", "exchanged"
"""A word that the search substituted; the sensitive word in which text and partner differ."""

_BRACKETS = {"": ("", ""), SUBSTITUTED: ("[", "]"), EXCHANGED: ("<", ">")}
_STYLES = {"": "", SUBSTITUTED: "bold cyan", EXCHANGED: "bold magenta"}

Mask = Callable[[str], str]
N_PRINTED, N_ON_PAGE = 2, 200
"""Printed pairs of a feature, of original and of perturbed texts; pairs on the page."""
N_TERMS = 10  # sensitive words of a feature on the page; the table contains all


def _facts_table(kind: str, name: str, facts: Iterable[tuple[str, str]]) -> Table:
    """Return facts by topic as a table, below the name of the tested classifier."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    table.add_row(Text(kind, style="dim"), Text(name, style="bold"))
    for fact in facts:
        table.add_row(*fact)
    return table


def show_samples(
    own: OwnTable, labels: np.ndarray, summary: pd.DataFrame, found: pd.DataFrame, reading: Sequence[str]
) -> None:
    """Print a summary of the data, the finds, an example, and the fairness of the classifier."""
    data, schema = own.table, own.schema
    console = page_console()
    console.print(Text(str(own.path), style="bold"))
    console.print(
        f"{len(data.X):,} rows of {schema.domain.n_attributes} attributes, {data.n_outside:,} with a value"
        f" outside the domain; {data.n_missing:,} left out because a value is missing; the classifier labels"
        f" {float((labels == data.y).mean()):.1%} as the data do"
    )
    for line in reading:
        console.print(Text(line))
    for row in summary.to_dict("records"):
        share = f" ({row['share']:.1%})" if row["n_samples"] else ""
        counts = f"{row['n_discriminatory']:,} of {row['n_samples']:,} different samples{share}"
        uniform = f"{row['uniform_share']:.2%} [{row['ci_low']:.2%}, {row['ci_high']:.2%}]"
        facts = [
            ("Search", f"{row['tester']}: {row['n_seeds']:,} seeds; {row['n_queries']:,} model queries"),
            ("Discriminatory", counts),
            ("In the whole domain", f"{uniform} of {row['n_uniform']:,} uniform samples are discriminatory"),
            ("In the data", f"{row['data_share']:.2%} of the rows are discriminatory"),
        ]
        console.print()
        console.print(_facts_table("Protected", str(row["protected"]), facts))
        finds = found[found["protected"] == row["protected"]]
        if not len(finds):
            console.print("No discriminatory sample was found.")
            continue
        first = finds.iloc[0]
        protected = first["protected"].split(",")
        own = ", ".join(first[protected])
        console.print(
            f"For example: {first['protected']} {own} gets {first['label']}, but {first['other_value']} gets"
            f" {first['other_label']}, for"
        )
        rest = [f"{name} {first[name]}" for name in schema.domain.names if name not in protected]
        console.print(Text(f"  {'; '.join(rest)}"))


class Line(NamedTuple):
    """A displayed text."""

    name: str  # its role: a row of the data (from 1), the found text, or its partner
    words: list[tuple[str, str]]  # each with its mark: `SUBSTITUTED`, `EXCHANGED`, or "" for none
    answer: str  # of the classifier; "" for the original text of the data


def lines_of(pair: Pair, mask: Mask = str) -> list[Line]:
    """Return a pair line by line: the original text if it was changed, the found text, and its partner."""
    substituted = dict.fromkeys(pair.changed, SUBSTITUTED)
    marks = substituted | dict.fromkeys(pair.exchanged, EXCHANGED)
    row, is_own = f"row {pair.row}", pair.phase == IN_DATA
    answers = zip(pair.labels, pair.probabilities, strict=True)
    own, partner = (f"label {label} (p = {p:.3f})" for label, p in answers)
    rows = [] if is_own else [(row, pair.seed, substituted, "")]
    rows.append((row if is_own else "found", pair.text, marks, own))
    rows.append(("partner", pair.partner, marks, partner))
    return [
        Line(name, [(mask(word), kinds.get(i, "")) for i, word in enumerate(words)], answer)
        for name, words, kinds, answer in rows
    ]


def to_terminal(pair: Pair, mask: Mask = str) -> Text:
    """Return a pair for rich's console, one line per `lines_of`."""
    text = Text()
    for line in lines_of(pair, mask):
        text.append(f"  {line.name:<10}", "dim")
        for number, (word, mark) in enumerate(line.words):
            opening, closing = _BRACKETS[mark]
            text.append(" " if number else "")
            text.append(f"{opening}{word}{closing}", _STYLES[mark])
        text.append(f"  {line.answer}\n" if line.answer else "\n", "dim")
    text.right_crop(1)
    return text


def first_of_each_seed(pairs: Sequence[Pair]) -> list[Pair]:
    """Return one pair per text of the data: the text itself, else a global find, else a local find."""
    first: dict[tuple[str, int], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: PHASES.index(pair.phase)):
        first.setdefault((pair.feature, pair.row), pair)
    return list(first.values())


def to_html(title: str, sections: Sequence[Mapping[str, Any]], mask: Mask = str) -> str:
    """Return a self-contained page; the terms of sections are already masked."""
    filled = [
        {**section, "pairs": [lines_of(pair, mask) for pair in section["pairs"]]} for section in sections
    ]
    return render(TEMPLATE, title=title, sections=filled)


def write_texts(out: Path, title: str, results: Sequence[FeatureResult], mask: Mask) -> None:
    """Write found.jsonl (whose words are not masked), summary.tsv, words.tsv and found.html."""
    write_pairs(out / "found.jsonl", [pair for result in results for pair in result.pairs])
    write_tsv(out / "summary.tsv", pd.DataFrame([{"feature": r.feature, **r.summary} for r in results]))
    parts = [result.terms.assign(feature=result.feature) for result in results]
    terms = pd.concat(parts, ignore_index=True)[["feature", *parts[0].columns.drop("feature")]]
    write_tsv(out / "words.tsv", terms.assign(term=[mask(term) for term in terms["term"]]))
    sections = []
    for result in results:
        pairs, top = first_of_each_seed(result.pairs)[:N_ON_PAGE], result.terms.head(N_TERMS)
        sections.append(
            {
                "feature": result.feature,
                "facts": [fact for fact in _facts(result, mask) if fact[0] != "Changing labels"],
                "terms": top.assign(term=[mask(term) for term in top["term"]]).to_dict("records"),
                "pairs": pairs,
                "n_more": len(result.pairs) - len(pairs),
            }
        )
    write_text(out / "found.html", to_html(title, sections, mask))


def write_pairs(path: Path, pairs: Sequence[Pair]) -> None:
    """Write one JSON object per line: a `Pair` and its ``changed`` positions."""
    lines = (json.dumps({**asdict(pair), "changed": pair.changed}, ensure_ascii=False) for pair in pairs)
    write_text(path, "".join(f"{line}\n" for line in lines))


def show_texts(title: str, facts: Sequence[str], results: Sequence[FeatureResult], mask: Mask) -> None:
    """Print a summary of the input, the finds, and a few pairs."""
    console = page_console()
    console.print(Text(title, style="bold"))
    for fact in facts:
        console.print(fact)
    if any(result.pairs for result in results):
        words = (("<sensitive word>", _STYLES[EXCHANGED]), ("[word]", _STYLES[SUBSTITUTED]))
        uses = (" exchanged between a text and its partner;  ", " put in place of another")
        console.print(Text.assemble(words[0], uses[0], words[1], uses[1]))
    for result in results:
        console.print()
        console.print(_facts_table("Feature", result.feature, _facts(result, mask)))
        first = first_of_each_seed(result.pairs)
        as_they_are = [pair for pair in first if pair.phase == IN_DATA]
        perturbed = [pair for pair in first if pair.phase != IN_DATA]
        for pair in [*as_they_are[:N_PRINTED], *perturbed[:N_PRINTED]]:
            console.print()
            console.print(to_terminal(pair, mask), soft_wrap=True)
        if not first:
            console.print("No discriminatory text was found.")


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
