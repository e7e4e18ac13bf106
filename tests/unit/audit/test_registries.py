"""The committed registries: what a null result gets, what is accounted for, and where the numbers stand."""

import math
import os
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from audit_data import claim
from biaslab.audit.claims import HYPOTHESIS, WEAKER, Claim, read_claims
from biaslab.audit.summary import PRINTED, accounting, read_papers, read_printed
from biaslab.audit.verdicts import DIRECTION_ONLY, REPRODUCED, judge, meets
from biaslab.core.stats import Estimate
from biaslab.run.areas import AREAS
from papers_text import is_near, is_number, misses, number_of, one_digit_off, printed_numbers

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
RESOURCES = ROOT / "workflow/resources"
PAPERS = os.environ.get("BIASLAB_PAPERS")
"""A folder with the papers' texts, each named by its first author and year; the project has none."""

with_papers = pytest.mark.skipif(not PAPERS, reason="BIASLAB_PAPERS names no folder with the papers' texts")
each_area = pytest.mark.parametrize("area", AREAS)


@cache
def registry(area: str) -> list[Claim]:
    return read_claims([RESOURCES / f"claims/{area}.tsv"], SCHEMA)


@cache
def printed(area: str) -> pd.DataFrame:
    return read_printed([RESOURCES / f"printed/{area}.tsv"])


@cache
def text_of(paper: str) -> str:
    """Return the text of a paper, such as that of ``Doe et al. 2020`` in ``doe2020-on-x.txt``."""
    author, year = re.match(r"(\w+).*?(\d{4})$", paper).groups()
    (path,) = Path(PAPERS).glob(f"{author.lower()}{year}*.txt")
    return path.read_text(encoding="utf-8")


def met_by_null(claims: list[Claim]) -> list[str]:
    """Return the measured rows of the paper's whose null result, a number, would be worth something."""
    found = []
    for one in claims:
        null = constant(one.null)
        if one.measure and one.counts_as != "none" and not one.caveat.startswith(WEAKER) and null is not None:
            verdicts = {judge(one, estimate, null)[0] for estimate in (Estimate(null), near(null))}
            if meets(one, null)[0] or verdicts & {REPRODUCED, DIRECTION_ONLY}:
                found.append(one.claim_id)
    return found


def near(number: float) -> Estimate:
    """A measured number with an interval of hardly any width."""
    return Estimate(number, number - 1e-12 * max(1, abs(number)), number + 1e-12 * max(1, abs(number)))


def constant(null: str) -> float | None:
    try:
        return float(null)
    except ValueError:
        return None


def unaccounted(claims: list[Claim], items: pd.DataFrame) -> list[str]:
    """Return what does not add up: items, and rows of no item."""
    rows = pd.DataFrame([vars(one) | {"group": one.group} for one in claims])
    table = accounting(rows, items)
    wrong = [
        f"{row.item}, {row.counts_as}s: {row.printed} printed, {row.present} present, {row.absent} absent"
        for row in table[~table["sums_up"]].itertuples()
    ]
    wrong += [
        f"{row.item}, {row.counts_as}s: no reason why something printed has no row"
        for row in items.itertuples()
        if row.absent and not row.reason
    ]
    known = set(zip(items["paper"], items["item"], strict=True))
    wrong += [
        f"{one.claim_id}: {one.item}"
        for one in claims
        if one.origin != HYPOTHESIS and (one.paper, one.item) not in known
    ]
    return wrong


def misquoted(claims: list[Claim]) -> list[str]:
    """Return the measured cells whose value is not what is printed, up to sign and per cent."""
    found = []
    for one in claims:
        if one.measure and one.counts_as == "cell" and one.kind in ("value", "count"):
            numbers = [float(number_of(number)) for number in printed_numbers(one.published)]
            scaled = [abs(one.value) * scale for scale in (1, 100, 0.01)]
            is_there = any(math.isclose(n, s, abs_tol=1e-12) for n in numbers for s in scaled)
            if is_number(one.published) and not is_there:
                found.append(f"{one.claim_id}: {one.value}, printed {one.published}")
    return found


def quoted(claims: list[Claim]) -> list[tuple[Claim, str]]:
    looked_up = [one for one in claims if one.is_counted and one.origin in ("text", "slides")]
    return [(one, number) for one in looked_up for number in printed_numbers(one.published)]


@each_area
def test_a_null_result_is_worth_nothing(area):
    assert met_by_null(registry(area)) == []


@each_area
def test_all_that_is_printed_is_accounted_for(area):
    assert unaccounted(registry(area), printed(area)) == []


def test_identifiers_are_unique_among_all_papers():
    names = [one.claim_id for area in AREAS for one in registry(area)]
    assert len(set(names)) == len(names)


@each_area
def test_every_paper_is_described(area):
    described = read_papers([RESOURCES / f"papers/{area}.tsv"])
    assert set(described["paper"]) == {one.paper for one in registry(area)}
    assert (described[["title", "at_hand"]] != "").all(axis=None)


@each_area
def test_cells_have_the_printed_number(area):
    assert misquoted(registry(area)) == []


@with_papers
@each_area
def test_published_numbers_stand_near_their_items(area):
    lost = [
        f"{one.claim_id}: {number} near {one.item}"
        for one, number in quoted(registry(area))
        if not is_near(number, one.item, text_of(one.paper))
    ]
    assert lost == []


@with_papers
@each_area
def test_other_numbers_seldom_stand_there(area):
    changed = [
        (len(one_digit_off(n)), len(misses(n, one.item, text_of(one.paper))))
        for one, n in quoted(registry(area))
    ]
    tried, found = map(sum, zip(*changed, strict=True))
    assert found < 0.25 * tried, f"{found} of {tried} numbers with a changed digit would pass"


class TestOnSmallOnes:
    """The checks can fail."""

    @pytest.mark.parametrize(
        "fields",
        [
            {"null": "2.3"},
            {"kind": "at_least", "value": 0.0, "tolerance": 0.0, "null": "0"},
            {"kind": "at_most", "value": 1.0, "null": "0", "counts_as": "statement"},
            {"kind": "sign", "value": 1.0, "tolerance": 0.0, "null": "0.1", "counts_as": "derived"},
        ],
    )
    def test_a_null_result_that_is_worth_something_is_found(self, fields):
        assert met_by_null([claim(**fields)]) == ["t1-mean"]
        assert met_by_null([claim(**fields, caveat="weaker than printed: a bound")]) == []
        assert met_by_null([claim(**fields | {"counts_as": "none"})]) == []
        assert met_by_null([claim(), claim(kind="sign", value=1.0, null="0", direction=True)]) == []

    def test_what_is_not_accounted_for_is_found(self):
        rows = [("Doe 2020", "Table 1", "cell", 1, 0, ""), ("Doe 2020", "Section 2", "statement", 1, 0, "")]
        items = pd.DataFrame(rows, columns=list(PRINTED))
        part = {"counts_as": "statement", "part_of": "s", "item": "Section 2"}
        good = [claim(), claim(claim_id="a", **part), claim(claim_id="b", **part)]
        good += [claim(claim_id="h", item="Section 9", origin=HYPOTHESIS, counts_as="none")]
        assert unaccounted(good, items) == []
        assert len(unaccounted(good[1:], items)) == 1
        assert len(unaccounted([*good, claim(claim_id="c")], items)) == 1
        assert len(unaccounted([*good, claim(claim_id="n", item="Table 9", counts_as="none")], items)) == 1
        again = claim(claim_id="d", **part | {"item": "Table 1"})
        assert len(unaccounted([*good, again], items)) == 1
        assert len(unaccounted(good, items.assign(printed=[2, 1], absent=[1, 0]))) == 1

    def test_a_cell_with_another_number_is_found(self):
        cells = [("2.0", 2.0), ("−147%", -1.47), ("many", 9.0)]
        assert misquoted([claim(published=text, value=value) for text, value in cells]) == []
        assert len(misquoted([claim(published="62.8 (all: 23.46)", value=39.34)])) == 1


class TestTextOfAPaper:
    TEXT = (
        "A title\nIn short: 12% better.\n1 Introduction\nSee Table 1.\n" + "filler " * 900 + "\n2 Results\n"
        "Seven of 26,377 words, 252525 in all, at 0.830.830.83 seconds.\n"
        "1 A footnote\n2.1 More\nIt is 4.5 here.\n3 End\n99\n"
        + "filler " * 900
        + "\nTable 1: Counts\na 0.957 (0.150)\nb [4,1,38]\n"
    )

    @pytest.mark.parametrize(
        ("item", "near", "elsewhere"),
        [
            ("Abstract", ["12"], ["99"]),
            ("Section 2", ["26377", "7", "25", "0.83", "4.5"], ["12", "99", "26378"]),
            ("Section 2 (RQ1)", ["26,377"], []),
            ("Section 2.1", ["4.5"], []),
            ("Table 1", ["0.957"], ["0.956"]),
            ("Section 3, Table 1", ["4"], []),
            ("Tables 1 and 2", ["38"], []),
            ("Figure 1", [], ["5"]),
        ],
    )
    def test_a_number_is_found_near_its_item_alone(self, item, near, elsewhere):
        found = [number for number in (*near, *elsewhere) if is_near(number, item, self.TEXT)]
        assert found == near

    def test_the_numbers_of_what_is_published(self):
        assert printed_numbers("−147% of 26,377 (10 words), .5") == ["147", "26,377", ".5"]
        assert [is_number(text) for text in ("≈ 4 times", "4 Firms Sold", "none")] == [True, False, False]
        assert one_digit_off("0.95") == ["5.95", "0.55", "0.91"]
        assert misses("0.957", "Table 1", "Table 1: 0.957 5.957") == ["5.957"]
        assert is_near("33", "A/B test (slides)", "from 33% to 95%")
        assert not is_near("33", "A/B test (slides)", "from 33% to 95%" + " " * 30_000)
