"""The checks of pushed code use actions that nobody can move: by their digests, with the version beside."""

import re
from pathlib import Path

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github/workflows").glob("*.yml"))


def test_every_action_is_pinned_by_its_digest():
    uses = [line for file in WORKFLOWS for line in file.read_text().splitlines() if "uses:" in line]
    assert uses
    pinned = re.compile(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    assert [line for line in uses if not pinned.search(line)] == []
