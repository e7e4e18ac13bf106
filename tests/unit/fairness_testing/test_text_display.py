"""Pairs as a reader sees them: what changed is marked, and nothing is shown that is to be masked."""

import json

import pytest
from rich.console import Console

from biaslab.fairness_testing.text.campaign import Pair
from biaslab.fairness_testing.text.display import (
    EXCHANGED,
    SUBSTITUTED,
    first_of_each_seed,
    legend,
    lines_of,
    to_html,
    to_terminal,
)
from biaslab.fairness_testing.text.summary import write_pairs
from biaslab.text.masking import Masker, digest
from pages import Page

SEED = ["the", "bakers", "sang", "a", "song", "and", "bakers", "danced"]
TEXT = ["the", "bakers", "hummed", "a", "song", "and", "bakers", "danced"]
PARTNER = ["the", "sailors", "hummed", "a", "song", "and", "sailors", "danced"]
FOUND = Pair("trade", 4, "global", SEED, TEXT, PARTNER, "bakers", "sailors", [0, 1], [0.25, 0.75])
AS_IS = Pair("trade", 9, "data", SEED, SEED, PARTNER, "bakers", "sailors", [1, 0], [0.5004, 0.49])
TERMS = [{"term": "bakers", "n_texts": 8, "n_flips": 2, "share": 0.25, "ci_low": 0.03, "ci_high": 0.65}]
MASK = Masker(frozenset({digest("sailors"), digest("sang")}))


def section(pairs, terms=TERMS, n_more=0):
    facts = [("Search", "adf_asc & 3 seeds")]
    return {"feature": "trade", "facts": facts, "terms": terms, "pairs": pairs, "n_more": n_more}


def plain(text, **options):
    console = Console(width=200, **options)
    with console.capture() as captured:
        console.print(text, end="")
    return captured.get()


def test_positions():
    assert (FOUND.changed, FOUND.exchanged) == ([2], [1, 6])
    assert AS_IS.changed == []


def test_lines_mark_both_kinds_of_change():
    seed, text, partner = lines_of(FOUND)
    assert [line.name for line in (seed, text, partner)] == ["row 4", "found", "partner"]
    assert [mark.kind for mark in seed.words] == ["", "", SUBSTITUTED, "", "", "", "", ""]
    for line, words in ((text, TEXT), (partner, PARTNER)):
        assert [mark.word for mark in line.words] == words
        kinds = ["", EXCHANGED, SUBSTITUTED, "", "", "", EXCHANGED, ""]
        assert [mark.kind for mark in line.words] == kinds
    assert (seed.answer, text.answer, partner.answer) == (
        "",
        "label 0 (p = 0.250)",
        "label 1 (p = 0.750)",
    )


def test_a_text_as_it_is_needs_two_lines():
    assert [line.name for line in lines_of(AS_IS)] == ["row 9", "partner"]


def test_the_terminal_marks_without_colours_too():
    assert plain(to_terminal(FOUND)).splitlines() == [
        "  row 4     the bakers [sang] a song and bakers danced",
        "  found     the <bakers> [hummed] a song and <bakers> danced  label 0 (p = 0.250)",
        "  partner   the <sailors> [hummed] a song and <sailors> danced  label 1 (p = 0.750)",
    ]
    assert plain(legend()) == (
        "<sensitive word> exchanged between a text and its partner;  [word] put in place of another"
    )


@pytest.mark.parametrize(
    "show",
    [lambda pair: plain(to_terminal(pair, MASK)), lambda pair: to_html("Pairs", [section([pair])], MASK)],
)
def test_words_are_masked_and_marked(show):
    shown = show(FOUND)
    assert "sailors" not in shown
    assert "sang" not in shown
    assert "s*****s" in shown
    assert "s**g" in shown
    assert "hummed" in shown


def test_a_page_is_whole_escaped_and_needs_no_other_file():
    words = [*TEXT[:-1], "<b>&"]
    strange = Pair(
        "trade", 4, "local", SEED, words, [*words[:1], "a\"b'", *words[2:]], "x", "y", [0, 1], [0, 1]
    )
    page = Page(to_html("<i>Pairs</i>", [section([strange], n_more=1234)]))
    assert page.links == []
    assert not {"b", "i", "script", "link"} & set(page.tags)
    assert {"<b>&", "a\"b'", "<i>Pairs</i>", "adf_asc & 3 seeds"} <= set(page.texts)
    assert "1,234 more in found.jsonl." in page.texts
    assert {"25.0%", "3.0% to 65.0%"} <= set(page.texts)
    assert "row 4" in page.texts


def test_a_page_marks_what_the_lines_mark():
    page = to_html("Pairs", [section([FOUND])])
    assert page.count('<mark class="exchanged">sailors</mark>') == 2
    assert page.count('<mark class="exchanged">bakers</mark>') == 2
    assert page.count('<mark class="substituted">hummed</mark>') == 2
    assert page.count('<mark class="substituted">sang</mark>') == 1
    assert "the <mark" in page


def test_pairs_to_look_at():
    local = Pair("trade", 4, "local", SEED, TEXT, PARTNER, "bakers", "sailors", [0, 1], [0.2, 0.8])
    other = Pair("colour", 4, "local", SEED, TEXT, PARTNER, "bakers", "sailors", [0, 1], [0.2, 0.8])
    assert first_of_each_seed([local, FOUND, other, AS_IS]) == [AS_IS, FOUND, other]


def test_the_file_of_pairs(tmp_path):
    write_pairs(tmp_path / "found.jsonl", [FOUND, AS_IS])
    first, second = map(json.loads, (tmp_path / "found.jsonl").read_text().splitlines())
    assert first["text"] == TEXT
    assert first["changed"] == [2]
    assert second["changed"] == []
    assert Pair(**{k: v for k, v in first.items() if k != "changed"}) == FOUND
    write_pairs(tmp_path / "none.jsonl", [])
    assert (tmp_path / "none.jsonl").read_text() == ""
