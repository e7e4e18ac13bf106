"""The audit's headline is the same wherever it stands, and counts what the registries count."""

import re

import pytest

from biaslab.audit.claims import CELL, COUNTED, read_claims
from biaslab.audit.summary import read_printed
from biaslab.run.areas import AREAS
from consoles import ROOT

HEADER = "| paper | statements reproduced | cells reproduced |\n"


def headline(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8").split(HEADER)[1].split("\n\n")[0]


def printed(area: str) -> tuple[str, list[int]]:
    """Return a paper with the number of statements and cells that it prints, each counted once."""
    schema = ROOT / "workflow/schemas/claims.schema.yaml"
    claims = read_claims([ROOT / f"workflow/resources/claims/{area}.tsv"], schema)
    table = read_printed([ROOT / f"workflow/resources/printed/{area}.tsv"])
    counts = []
    for kind in COUNTED:
        names = {one.claim_id if kind == CELL else one.group for one in claims if one.counts_as == kind}
        counts.append(len(names) + int(table[table["counts_as"] == kind]["absent"].sum()))
    return claims[0].paper, counts


def test_headline_is_one() -> None:
    assert headline("README.md") == headline("docs/audit.md")


@pytest.mark.parametrize("area", AREAS)
def test_headline_counts_what_is_printed(area: str) -> None:
    paper, counts = printed(area)
    (row,) = [row for row in headline("README.md").splitlines() if row.startswith(f"| {paper}")]
    assert [int(number) for number in re.findall(r"\d+ of (\d+)", row)] == counts


@pytest.mark.parametrize(("what", "column"), [("statements", 0), ("cells", 1)])
def test_totals_add_up(what: str, column: int) -> None:
    text = " ".join((ROOT / "docs/audit.md").read_text(encoding="utf-8").split())
    sentence = re.search(rf"of all ([\d,]+) {what} [^;.]*", text, re.IGNORECASE)[0]
    total, *verdicts = (int(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*", sentence))
    papers = re.findall(r"\d+ of (\d+) \(", headline("docs/audit.md"))[column::2]
    assert len(verdicts) == 6
    assert total == sum(verdicts) == sum(map(int, papers))
