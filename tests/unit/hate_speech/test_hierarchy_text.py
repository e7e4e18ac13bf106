"""Hierarchies as coloured text."""

import io
import re

import pytest
from rich.console import Console

from biaslab.hate_speech.hierarchy import Hierarchy
from biaslab.hate_speech.hierarchy_text import Explained, colours, scale_of, to_html, to_terminal
from pages import Page

WORDS = ["the", "baker", "never", "pays"]
LEVELS = [
    [(0, 1, 0.1), (1, 2, 2.0), (2, 3, -0.5), (3, 4, 0.0)],
    [(1, 2, 2.0)],
    [(1, 3, -4.0)],
    [(0, 3, 1.0)],
]


def explained(words=WORDS, mask=str):
    return Explained([mask(word) for word in words], Hierarchy(4, LEVELS), -1.25)


def shown(text, width=100, colour=None):
    file = io.StringIO()
    Console(file=file, force_terminal=bool(colour), color_system=colour, width=width).print(text)
    return file.getvalue()


def rgb(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_blue_is_negative_grey_zero_red_positive_and_ends_are_kept():
    negative, zero, positive = (rgb(colours(phi, 2.0)[0]) for phi in (-2.0, 0.0, 2.0))
    assert negative[2] > negative[0] + 100
    assert positive[0] > positive[2] + 100
    assert max(zero) - min(zero) < 5
    assert colours(-9.0, 2.0) == colours(-2.0, 2.0)
    assert colours(9.0, 2.0) == colours(2.0, 2.0)


@pytest.mark.parametrize("step", range(-10, 11))
def test_text_can_be_read_on_its_background(step):
    def luminance(colour):
        parts = [c / 255 for c in rgb(colour)]
        return sum(
            weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for weight, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    low, high = sorted(map(luminance, colours(step / 10, 1.0)))
    assert (high + 0.05) / (low + 0.05) > 4.5  # WCAG 2, AA


def test_the_scale_is_the_greatest_importance_of_a_phrase():
    assert scale_of([explained()]) == 4.0
    zero = Explained(["a"], Hierarchy(1, [[(0, 1, 0.0)]]), 3.0)
    assert scale_of([zero]) == 1.0
    assert scale_of([zero, explained()]) == 4.0


def test_the_terminal_shows_a_line_a_level_with_words_below_themselves():
    lines = shown(to_terminal(explained())).splitlines()
    assert [line.split() for line in lines] == [
        WORDS,
        ["baker", "never"],
        ["the", "baker", "never"],
        ["s(x)", "=", "-1.25"],
    ]
    assert len({line.index("baker") for line in lines[:3]}) == 1


def test_the_terminal_shows_each_phrase_in_its_colour():
    text = to_terminal(explained())
    found = {text.plain[s.start : s.end].strip(): str(s.style) for s in text.spans}
    assert set(WORDS) | {"baker   never", "the   baker   never", "s(x) = -1.25"} <= set(found)
    assert found["baker   never"] == "{1} on {0}".format(*colours(-4.0, 4.0))
    assert found["pays"] == "{1} on {0}".format(*colours(0.0, 4.0))
    wider = to_terminal(explained(), scale=8.0)
    again = {wider.plain[s.start : s.end].strip(): str(s.style) for s in wider.spans}
    assert again["baker   never"] == "{1} on {0}".format(*colours(-4.0, 8.0))
    assert "\x1b[" in shown(text, colour="truecolor")


def test_a_sentence_wider_than_the_terminal_goes_on_below():
    lines = shown(to_terminal(explained(), width=16), width=16).splitlines()
    assert max(map(len, lines)) <= 16
    assert [line.split() for line in lines] == [
        ["the", "baker"],
        ["baker"],
        ["the", "baker"],
        ["never", "pays"],
        ["never"],
        ["never"],
        ["s(x)", "=", "-1.25"],
    ]
    narrow = shown(to_terminal(explained(), width=1)).splitlines()
    assert [line.split() for line in narrow[:-1:3]] == [[word] for word in WORDS]


def test_words_are_masked_before_they_are_shown():
    one = explained(mask=lambda word: word[0] + "*" * (len(word) - 1) if word == "baker" else word)
    for content in (shown(to_terminal(one)), to_html([one], "page")):
        assert "baker" not in content
        assert "b****" in content


def test_the_page_is_whole_escaped_and_fetches_nothing():
    words = ["<script>alert(1)</script>", '"baker"', "&", "pays"]
    content = to_html([explained(words), explained()], "<b>two</b> & more")
    page = Page(content)
    assert page.tags.count("table") == 2
    assert not {"script", "i", "b", "link", "img"} & set(page.tags)
    assert page.links == []
    assert "url(" not in content
    assert "http" not in content
    texts = [text.strip() for text in page.texts if text.strip()]
    assert words[0] in texts
    assert f"{words[1]} {words[2]}" in texts
    assert texts.count("s(x) = -1.25") == 2


def test_rows_of_the_page_have_a_column_for_every_word():
    content = to_html([explained()], "page")
    rows = re.findall(r"<tr>(.*?)</tr>", content, re.S)
    assert len(rows) == 4
    for row in rows:
        assert sum(map(int, re.findall(r'colspan="(\d+)"', row))) == len(WORDS)
    assert colours(-4.0, 4.0)[0] in rows[1]
    assert 'title="-4.000"' in rows[1]


def test_equal_explanations_make_equal_pages():
    assert to_html([explained()], "page") == to_html([explained()], "page")
