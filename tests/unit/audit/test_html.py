import re

import pandas as pd
import pytest

from audit_data import claim
from biaslab.audit.claims import EVIDENCE
from biaslab.audit.html import PLOT_WIDTH, place_marks, write_html
from biaslab.audit.measure import measure_claims
from biaslab.audit.summary import PAPERS, PRINTED, read_measured, read_papers, read_printed
from biaslab.audit.verdicts import VERDICTS
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import write_tsv
from pages import Page


@pytest.fixture
def audit(tmp_path):
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
    printed, papers = tmp_path / "printed.tsv", tmp_path / "papers.tsv"
    lines = ["Doe 2020\tTable 1\tcell\t5\t2\tunreadable", "Doe 2020\tTable 1\tstatement\t1\t0\t"]
    write_text(printed, "\n".join(["\t".join(PRINTED), *lines]) + "\n")
    write_text(papers, "\t".join(PAPERS) + "\nDoe 2020\tOn x\tits text\tits figures\t\n")
    return [printed], [papers]


def render(audit, printed=(), papers=()):
    tables = read_measured(audit), read_printed(printed), read_papers(papers)
    write_html(*tables, audit.with_name("audit.html"))
    return audit.with_name("audit.html").read_text(encoding="utf-8")


def test_a_page_is_well_formed_and_needs_nothing_else(audit, sources):
    page = render(audit, *sources)
    parsed = Page(page)
    assert not {"link", "img", "iframe", "table"} & set(parsed.tags)
    assert not [link for link in parsed.links if ":" in link or link.startswith("/")]
    assert not re.search(r"url\(|@import|https?:|src=", page)
    assert "Mean of &lt;b&gt;bold&lt;/b&gt; &amp; more" in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in parsed.links if link.startswith("#")} <= set(ids)


def test_a_page_has_every_row_and_the_counts_of_the_table(audit, sources):
    page = render(audit, *sources)
    table = pd.read_csv(audit, sep="\t")
    rows = re.findall(r'<details class="row" id="([^"]+)" data-verdict="([^"]+)"', page)
    assert sorted(rows) == sorted((f"{one.claim_id}--{one.setup}", one.verdict) for one in table.itertuples())
    options = [set(re.findall('value="([^"]+)"', of)) for of in re.findall("<select>(.*?)</select>", page)]
    assert options == [{"doe-2020"}, set(VERDICTS), set(EVIDENCE)]
    text = " ".join(" ".join(Page(page).texts).split())
    for part in (
        "0 of 1 statement reproduced",
        "1 of 8 cells reproduced",
        "Table 1 , cells: 5 printed, 6 with a row, 2 without (unreadable); this does not add up",
        "Reason off by 7, more than the tolerance of 0.5, but on the published side",
        "setup nyt not run: the corpus is licensed 2 rows",
    ):
        assert part in text


def test_links_lead_from_the_page_to_the_results(audit):
    links = Page(render(audit)).links
    for link in ("../origins/small/a.tsv", "../origins/small/figures/fig1.svg"):
        assert link in links
        assert (audit.parent / link).exists()


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


def test_equal_numbers_have_no_picture():
    assert place_marks("count", 10.0, 0.0, 10.0, None) is None
