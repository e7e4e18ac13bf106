import re

import pandas as pd
import pytest

from audit_data import claim
from biaslab.audit.html import PLOT_WIDTH, place_marks, write_html
from biaslab.audit.measure import measure_claims
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import write_tsv
from pages import Page


@pytest.fixture
def audit(tmp_path):
    """A measured registry with a claim of each verdict, and its page."""
    write_tsv(tmp_path / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    write_text(tmp_path / "origins/small/figures/fig 1.svg", "<svg/>")
    claims = [
        claim(shown="origins/{setup}/figures/*.svg", statement="Mean of <b>bold</b> & more"),
        claim(claim_id="t1-near", value=9.0, direction="> 0"),
        claim(claim_id="t1-far", value=-9.0, published="−9"),
        claim(claim_id="t2-nyt", setup="nyt", reason="the corpus is licensed"),
    ]
    write_tsv(tmp_path / "audit/claims.tsv", measure_claims(claims, tmp_path, {"origins": ["small"]}))
    return tmp_path / "audit/claims.tsv"


def render(audit):
    write_html(audit, audit.with_name("audit.html"))
    return audit.with_name("audit.html").read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_needs_nothing_else(audit):
    text = render(audit)
    page = Page(text)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert not [link for link in page.links if ":" in link or link.startswith("/")]
    assert not re.search(r"url\(|@import|https?:", text)


def test_every_claim_is_shown_with_number_interval_verdict_and_reason(audit):
    text = " ".join(" ".join(Page(render(audit)).texts).split())
    for part in ("t1-mean", "−0.4841 to 4.484", "✓ Reproduced", "≈ Direction only", "✗ Not reproduced"):
        assert part in text
    assert "off by 7, more than the tolerance of 0.5, but still > 0" in text
    assert "Doe 2020, setup nyt setup nyt not run: the corpus is licensed" in text


def test_texts_are_escaped(audit):
    text = render(audit)
    assert "Mean of &lt;b&gt;bold&lt;/b&gt; &amp; more" in text


def test_links_lead_from_the_page_to_the_results(audit):
    links = Page(render(audit)).links
    assert "../origins/small/a.tsv" in links
    assert (audit.parent / "../origins/small/a.tsv").exists()


def test_verdicts_are_counted_by_setup(audit):
    rows = re.findall(r'<tr><th scope="row">(\S+)</th>(.*?)</tr>', render(audit), flags=re.DOTALL)
    counts = {name: re.findall(r"<td[^>]*>(\d+)</td>", cells) for name, cells in rows}
    assert counts == {
        "small": ["1", "1", "1", "0", "3"],
        "nyt": ["0", "0", "0", "1", "1"],
        "All": ["1", "1", "1", "1", "4"],
    }


def test_the_same_table_gives_the_same_bytes(audit):
    assert render(audit) == render(audit)


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
