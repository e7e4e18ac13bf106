import re
from html import unescape

import pandas as pd
import pytest

from audit_data import claim
from biaslab.audit.claims import EVIDENCE
from biaslab.audit.html import PLOT_WIDTH, place_marks, write_html
from biaslab.audit.measure import measure_claims
from biaslab.audit.summary import PAPERS, PRINTED
from biaslab.audit.verdicts import VERDICTS
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import write_tsv
from pages import Page


@pytest.fixture
def audit(tmp_path):
    """A measured registry with a claim of each verdict, and its page."""
    write_tsv(tmp_path / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    write_text(tmp_path / "origins/small/figures/fig1.svg", "<svg/>")
    claims = [
        claim(shown="origins/{setup}/figures/*.svg", statement="Mean of <b>bold</b> & more"),
        claim(claim_id="t1-near", value=9.0, direction=True, caveat="tuned on this: the same sets"),
        claim(
            claim_id="t1-open", value=4.0, null="3.2", counts_as="statement", rationale="spread: of Table 1"
        ),
        claim(claim_id="t1-far", value=-9.0, published="−9", null="9"),
        claim(claim_id="t1-order", counts_as="derived"),
        claim(claim_id="t1-rows", kind="setting", counts_as="none", null=""),
        claim(claim_id="t1-guess", origin="hypothesis", counts_as="none"),
        claim(claim_id="t2-nyt", setup="nyt", reason="the corpus is licensed"),
        claim(claim_id="t3-nyt", setup="nyt", reason="the corpus is licensed"),
        claim(claim_id="t4-none", measure="", reason="a picture"),
    ]
    write_tsv(tmp_path / "audit/claims.tsv", measure_claims(claims, tmp_path, {"origins": ["small"]}))
    return tmp_path / "audit/claims.tsv"


@pytest.fixture
def sources(tmp_path):
    """What the paper prints, and what was at hand of it."""
    printed, papers = tmp_path / "printed.tsv", tmp_path / "papers.tsv"
    lines = ["Doe 2020\tTable 1\tcell\t5\t2\tunreadable", "Doe 2020\tTable 1\tstatement\t1\t0\t"]
    write_text(printed, "\n".join(["\t".join(PRINTED), *lines]) + "\n")
    write_text(papers, "\t".join(PAPERS) + "\nDoe 2020\tOn x\tits text\tits figures\t\n")
    return [printed], [papers]


def render(audit, *sources):
    write_html(audit, audit.with_name("audit.html"), *sources)
    return audit.with_name("audit.html").read_text(encoding="utf-8")


def said(page):
    """What the page says, in one line."""
    return " ".join(" ".join(Page(page).texts).split())


def opened(page, claim_id):
    """The row of a claim: what stands in its summary, and what below it."""
    found = re.search(rf'<details class="row" id="{claim_id}--.*?</details>', page, flags=re.S)[0]
    return tuple(
        " ".join(unescape(re.sub("<[^>]*>", " ", part)).split()) for part in found.split("</summary>")
    )


class TestPage:
    @pytest.fixture
    def page(self, audit, sources):
        return render(audit, *sources)

    def test_it_is_well_formed_and_needs_nothing_else(self, page):
        parsed = Page(page)
        assert not {"link", "img", "iframe", "table"} & set(parsed.tags)
        assert not [link for link in parsed.links if ":" in link or link.startswith("/")]
        assert not re.search(r"url\(|@import|https?:|src=", page)

    def test_failures_come_first_and_all_is_folded(self, page):
        section = page[page.index("<section") :]
        heads = re.findall(r'<details class="fold"[^>]*><summary[^>]*>(.*?)</summary>', section, flags=re.S)
        names = [re.sub(r"<[^>]*>", "", head).strip() for head in heads]
        assert names[:5] == [
            "✗ Not reproduced 1 row",
            "? Inconclusive 1 row",
            "≈ Direction only 1 row",
            "✓ Reproduced 1 row",
            "– Not attempted 3 rows, by reason",
        ]
        assert "<details open" not in page
        assert section.index('class="fold"') < section.index('class="row"')

    def test_rows_can_be_filtered(self, page):
        choices = re.findall(r"<label>(.*?) <select>(.*?)</select>", page)
        assert [name for name, _ in choices] == ["Paper", "Verdict", "Kind of evidence"]
        values = [set(re.findall('value="([^"]+)"', options)) for _, options in choices]
        assert values == [{"doe-2020"}, set(VERDICTS), set(EVIDENCE)]
        rows = re.findall(r'class="row" id="[^"]+" data-verdict="([^"]+)" data-kind="([^"]+)"', page)
        assert len(rows) == page.count('class="row" ')
        assert {verdict for verdict, _ in rows} <= values[1]
        assert {kind for _, kind in rows} == {"result", "convention"}

    def test_an_opened_row_tells_all_behind_its_verdict(self, page):
        closed, below = opened(page, "t1-near")
        assert "small: the paper's data · convention chosen afterwards · tuned on this" in closed
        for part in (
            "Reason off by 7, more than the tolerance of 0.5, but on the published side",
            "Holds when within 0.5 of 9",
            "Null result would measure −9, which does not meet the claim",
            "Measured as mean(x) on origins/{setup}/a.tsv",
            "Files origins/small/a.tsv",
        ):
            assert part in below
        closed, below = opened(page, "t1-open")
        assert closed == "? Inconclusive Table 1 Mean small: the paper's data 2.0 2 −0.4841 to 4.484"
        assert "which comes within two tolerances of the published number" in below

    def test_what_is_counted_is_what_the_table_has(self, page, audit):
        first = said(page)[: said(page).index("How to read this page")]
        assert "0 of 1 statement reproduced" in first
        assert "1 of 8 cells reproduced" in first
        assert said(page).count("tuned on this: the same sets") == 2
        account = "cells: 5 printed, 6 with a row, 2 without (unreadable); this does not add up"
        assert f"Table 1 , {account}" in said(page)
        assert "Mean of &lt;b&gt;bold&lt;/b&gt; &amp; more" in page
        rows = re.findall(r'<details class="row" id="([^"]+)"', page)
        table = pd.read_csv(audit, sep="\t")
        assert sorted(rows) == sorted(f"{row.claim_id}--{row.setup}" for row in table.itertuples())

    def test_rows_that_were_not_attempted_stand_under_their_reason(self, page):
        assert "setup nyt not run: the corpus is licensed 2 rows" in said(page)
        assert said(page).index("2 rows – Not attempted Table 1") < said(page).index("a picture 1 row")

    @pytest.mark.parametrize(
        ("name", "claim_id"),
        [
            ("orderings that follow from the cells", "t1-order"),
            ("settings", "t1-rows"),
            ("hypotheses of this project", "t1-guess"),
        ],
    )
    def test_what_does_not_count_stands_aside_folded(self, page, name, claim_id):
        block = page[page.index(f"Not counted: {name}") :]
        assert f'id="{claim_id}--small"' in block[: block.index("</div></details>")]

    def test_links_within_it_lead_somewhere(self, page):
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert {link[1:] for link in Page(page).links if link.startswith("#")} <= set(ids)


def test_links_lead_from_the_page_to_the_results(audit):
    links = Page(render(audit)).links
    for link in ("../origins/small/a.tsv", "../origins/small/figures/fig1.svg"):
        assert link in links
        assert (audit.parent / link).exists()


def test_1300_rows_make_less_than_three_megabytes(audit):
    table = pd.read_csv(audit, sep="\t", keep_default_na=False)
    many = pd.concat([table.iloc[:4].assign(setup=f"s{n}", reason="why " * 30) for n in range(325)])
    write_tsv(audit, many)
    assert len(render(audit).encode()) < 3e6


def test_a_registry_that_is_wholly_measured_or_not_at_all_has_a_page(audit):
    table = pd.read_csv(audit, sep="\t")
    for part in (table[table["verdict"] == "not_attempted"], table[table["verdict"] != "not_attempted"]):
        write_tsv(audit, part)
        Page(render(audit))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\treproduced\t", "\tperhaps\t", r"claims\.tsv, line 2: 'perhaps' is no verdict"),
        ("\t2\t-0.484", "\ttwo\t-0.484", r"line 2: 'two' is no number"),
        ("verdict", "judgement", r"column 'verdict' is missing"),
    ],
)
def test_a_damaged_table_is_refused(audit, old, new, message):
    audit.write_text(audit.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        render(audit)


def test_marks_lie_in_order_inside_the_picture():
    plot = place_marks("value", 2.0, 0.5, 3.0, (2.8, 3.2))
    assert (
        0 < plot.band[0] < plot.published < plot.band[1] < plot.interval[0] < plot.measured < plot.interval[1]
    )
    assert plot.interval[1] < PLOT_WIDTH


@pytest.mark.parametrize(
    ("kind", "value", "band"),
    [("at_least", 2.0, (None, PLOT_WIDTH)), ("at_most", 2.0, (0.0, None)), ("sign", -1.0, (0.0, None))],
)
def test_bands_of_bounds_reach_the_edge(kind, value, band):
    plot = place_marks(kind, value, 0.0, 3.0, None)
    assert [
        b for b, expected in zip(plot.band, band, strict=True) if expected is not None and b != expected
    ] == []
    assert plot.interval is None
    if kind == "sign":
        assert plot.band[1] == plot.published < plot.measured


def test_equal_numbers_have_no_picture():
    assert place_marks("count", 10.0, 0.0, 10.0, None) is None
