"""The paper on the software, its form and references; the forms for reports; the checks of pushed code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_, HEADER, TEXT = (ROOT / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_every_reference_is_cited_and_every_citation_is_there():
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(entries) == len(set(entries))
    assert set(re.findall(r"@(\w+)", TEXT)) == set(entries)


def test_every_action_is_pinned_by_its_digest():
    """Nobody can move it then."""
    uses = [line for file in WORKFLOWS for line in file.read_text().splitlines() if "uses:" in line]
    assert uses
    pinned = re.compile(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    assert [line for line in uses if not pinned.search(line)] == []
