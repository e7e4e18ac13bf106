"""Pairs as a reader sees them: what changed is marked, and nothing is shown that is to be masked."""

import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from biaslab.fairness_testing.report.finds import first_of_each_seed, to_html, to_terminal, write_pairs
from biaslab.fairness_testing.text.own_texts import Pair
from biaslab.text.masking import Masker, digest
from pages import Page

SEED = ["the", "bakers", "sang", "a", "song", "and", "bakers", "danced"]
TEXT = ["the", "bakers", "hummed", "a", "song", "and", "bakers", "danced"]
PARTNER = ["the", "sailors", "hummed", "a", "song", "and", "sailors", "danced"]
FOUND = Pair("trade", 4, "global", SEED, TEXT, PARTNER, "bakers", "sailors", [0, 1], [0.25, 0.75])
AS_IS = Pair("trade", 9, "data", SEED, SEED, PARTNER, "bakers", "sailors", [1, 0], [0.5004, 0.49])
TERMS = [{"term": "bakers", "n_texts": 8, "n_flips": 2, "share": 0.25, "ci_low": 0.03, "ci_high": 0.65}]
MASK = Masker(frozenset({digest("sailors"), digest("sang")}))


def section(pairs):
    facts = [("Search", "adf_asc & 3 seeds")]
    return {"feature": "trade", "facts": facts, "terms": TERMS, "pairs": pairs, "n_more": 0}


def plain(text, **options):
    console = Console(width=200, **options)
    with console.capture() as captured:
        console.print(text, end="")
    return captured.get()


def test_the_terminal_marks_without_colours_too():
    assert len(plain(to_terminal(AS_IS)).splitlines()) == 2
    assert plain(to_terminal(FOUND)).splitlines()[1:] == [
        "  found     the <bakers> [hummed] a song and <bakers> danced  label 0 (p = 0.250)",
        "  partner   the <sailors> [hummed] a song and <sailors> danced  label 1 (p = 0.750)",
    ]


@pytest.mark.parametrize(
    "show",
    [lambda pair: plain(to_terminal(pair, MASK)), lambda pair: to_html("Pairs", [section([pair])], MASK)],
)
def test_words_are_masked_and_marked(show):
    shown = show(FOUND)
    assert not {"sailors", "sang"} & set(re.findall(r"\w+", shown))
    assert all(word in shown for word in ("s*****s", "s**g", "hummed"))


def test_a_page_is_whole_escaped_and_needs_no_other_file():
    words = [*TEXT[:-1], "<b>&"]
    strange = Pair(
        "trade", 4, "local", SEED, words, [*words[:1], "a\"b'", *words[2:]], "x", "y", [0, 1], [0, 1]
    )
    page = Page(to_html("<i>Pairs</i>", [section([strange])]))
    assert page.links == []
    assert not {"b", "i", "script", "link"} & set(page.tags)
    assert {"<b>&", "a\"b'", "<i>Pairs</i>", "adf_asc & 3 seeds"} <= set(page.texts)
    assert {"25.0%", "3.0% to 65.0%"} <= set(page.texts)


def test_pairs_to_look_at_are_the_first_of_each_seed_and_feature():
    local = replace(FOUND, phase="local")
    other = replace(local, feature="colour")
    assert first_of_each_seed([local, FOUND, other, AS_IS]) == [AS_IS, FOUND, other]


def test_the_file_of_pairs_gives_them_back(tmp_path):
    write_pairs(tmp_path / "found.jsonl", [FOUND, AS_IS])
    first, second = map(json.loads, (tmp_path / "found.jsonl").read_text().splitlines())
    assert (first.pop("changed"), second.pop("changed")) == ([2], [])
    assert (Pair(**first), Pair(**second)) == (FOUND, AS_IS)
    write_pairs(tmp_path / "none.jsonl", [])
    assert (tmp_path / "none.jsonl").read_text() == ""
