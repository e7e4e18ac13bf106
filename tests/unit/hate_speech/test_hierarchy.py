"""Hierarchical explanations: agglomeration against the literal code of ACD; coloured text, and the figure."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from biaslab.core.io import read_tsv
from biaslab.hate_speech.hierarchy import Explained, agglomerate, collapse, colours
from biaslab.hate_speech.pages import to_html, to_terminal
from biaslab.hate_speech.report.hierarchies import draw_hierarchies
from biaslab.run.area import FIGURE, SUFFIXES, Unit
from biaslab.run.plan.reports import Results
from biaslab.text.masking import digest
from naive import hate_speech_explanations as naive
from pages import Page
from refusals import refused


def scorer(seed, n_words):
    """Return scores of all phrases: of their words, and something of their own."""
    rng = np.random.default_rng(seed)
    words, own = rng.normal(size=n_words), rng.normal(size=(n_words + 1, n_words + 1))

    def phi(start, end):
        return words[start:end].sum() + 0.7 * own[start, end] * (end - start > 1)

    return phi


def batched(phi):
    return lambda spans: np.array([phi(*span) for span in spans])


CASES = [(n_words, seed) for n_words in (1, 2, 3, 20, 41) for seed in range(10)]


@pytest.mark.parametrize(("n_words", "seed"), CASES)
def test_phrases_are_those_of_the_published_code(n_words, seed):
    phi = scorer(seed, n_words)
    found = agglomerate(batched(phi), n_words)
    lists = naive.agglomerate(lambda first, last: phi(first, last + 1), n_words)
    assert found == naive.levels(*lists)
    assert collapse(found) == naive.collapse_tree(*lists, published=False)
    assert 2 <= len(found) <= 6


def test_levels_read_from_json_collapse_alike():
    levels = agglomerate(batched(scorer(2, 20)), 20)
    assert collapse([[list(span) for span in level] for level in levels]) == collapse(levels)
    assert collapse([]) == []
    with refused("no words"):
        agglomerate(batched(scorer(1, 1)), 0)


WORDS = ["the", "baker", "never", "pays"]
LEVELS = [[(0, 1, 0.1), (1, 2, 2.0), (2, 3, -0.5), (3, 4, 0.0)], [(1, 2, 2.0)], [(1, 3, -4.0)], [(0, 3, 1.0)]]


def explained(words=WORDS, mask=str):
    return Explained(words, LEVELS, -1.25).masked(mask)


def shown(text, width=100):
    file = io.StringIO()
    Console(file=file, width=width).print(text)
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


def test_the_terminal_shows_a_line_a_level_with_words_below_themselves():
    lines = shown(to_terminal(explained())).splitlines()
    assert [line.split() for line in lines] == [
        WORDS,
        ["baker", "never"],
        ["the", "baker", "never"],
        ["s(x)", "=", "-1.25"],
    ]
    assert len({line.index("baker") for line in lines[:3]}) == 1


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


TEXTS = (
    "the baker on the corner says that gardeners never pay for their bread",
    "cyclists are welcome here - and $5 is _all_ it costs",
)
SENTENCES = [text.split() for text in TEXTS]


def explanations():
    rows = []
    for number, words in enumerate(SENTENCES):
        phi = batched(scorer(number, len(words)))
        for method, factor in (("vanilla", 1.0), ("soc-0.1", 0.3)):
            levels = agglomerate(lambda spans, phi=phi, factor=factor: factor * phi(spans), len(words))
            rows.append({"sentence": words, "method": method, "score": 20 * factor, "levels": levels})
    return rows


@pytest.fixture
def make(tmp_path):
    def make(rows, name="stormfront", unmask=True, **files):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        content = rows if isinstance(rows, str) else json.dumps(rows)
        (folder / "hierarchies.json").write_text(content)
        return Results(Unit(name, (), {"unmask": unmask}, files), folder)

    return make


def test_the_figure_shows_every_phrase_of_the_results(make, tmp_path):
    rows = explanations()
    stem = tmp_path / "figure"
    draw_hierarchies([make(rows), make(rows, "ghc")], stem)
    data = read_tsv(f"{stem}.tsv").groupby("corpus")
    assert data["sentence"].unique().map(list).to_dict() == {"ghc": [1, 2], "stormfront": [1, 2]}
    data = data.get_group("stormfront")
    for i, row in enumerate(rows):
        part = data[(data["sentence"] == 1 + i // 2) & (data["method"] == row["method"])]
        tree = collapse(row["levels"])
        expected = [(level, *phrase) for level, phrases in enumerate(tree) for phrase in phrases]
        expected.append((len(tree), 0, len(row["sentence"]), row["score"]))
        found = part[["level", "start", "end", "phi"]].to_numpy()
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9)
        assert part["words"].iloc[-1] == " ".join(row["sentence"])
    assert all((tmp_path / f"figure{suffix}").stat().st_size for suffix in SUFFIXES[FIGURE])


def test_listed_words_are_masked_unless_asked_for(make, tmp_path):
    (tmp_path / "digests.txt").write_text(digest("baker") + "\n")
    stem = tmp_path / "figure"
    draw_hierarchies([make(explanations(), unmask=False, masked_words=str(tmp_path / "digests.txt"))], stem)
    assert not read_tsv(f"{stem}.tsv")["words"].str.contains("baker").any()
    assert read_tsv(f"{stem}.tsv")["words"].str.contains("b***r", regex=False).any()
    draw_hierarchies([make(explanations())], stem)
    assert read_tsv(f"{stem}.tsv")["words"].str.contains("baker").any()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no sentence is explained"),
        ("{", "not readable as JSON"),
        ([{"sentence": ["a"]}], "no list of explanations"),
        ({"sentence": ["a"]}, "no list of explanations"),
    ],
)
def test_wrong_results_are_refused(make, tmp_path, rows, message):
    with refused(message):
        draw_hierarchies([make(rows)], tmp_path / "figure")
