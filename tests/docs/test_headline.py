"""The headlines come from recorded runs, which count what the registries count."""

import csv
import importlib.util
import json

import pytest

from biaslab.audit.claims import CELL, COUNTED, read_claims
from biaslab.audit.summary import NO_ROW, read_printed
from biaslab.audit.verdicts import VERDICTS
from biaslab.run.areas import AREAS
from consoles import ROOT

_SPEC = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
generated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generated)
RECORDS = ROOT / "docs/records"


def recorded(name: str) -> list[dict[str, str]]:
    with (RECORDS / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def printed(area: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Return how many statements and cells of a paper are printed, each counted once, and have no row."""
    schema = ROOT / "workflow/schemas/claims.schema.yaml"
    claims = read_claims([ROOT / f"workflow/resources/claims/{area}.tsv"], schema)
    table = read_printed([ROOT / f"workflow/resources/printed/{area}.tsv"])
    counts = {}
    for kind in COUNTED:
        names = {one.claim_id if kind == CELL else one.group for one in claims if one.counts_as == kind}
        absent = int(table[table["counts_as"] == kind]["absent"].sum())
        counts[claims[0].paper, kind] = (len(names) + absent, absent)
    return counts


@pytest.mark.parametrize("name", generated.RECORDS)
def test_a_recorded_run_counts_what_is_printed(name: str) -> None:
    expected = {key: counts for area in AREAS for key, counts in printed(area).items()}
    rows = recorded(name)
    found = {(row["paper"], row["counts_as"]): (int(row["printed"]), int(row[NO_ROW])) for row in rows}
    assert found == expected, "run make reproduce, then docs/record.py: the registries have other rows"
    for row in rows:
        assert sum(int(row[column]) for column in (*VERDICTS, NO_ROW)) == int(row["printed"])


@pytest.mark.parametrize("name", generated.RECORDS)
def test_a_recorded_run_measured_something_of_every_paper(name: str) -> None:
    measured = {}
    for row in recorded(name):
        counts = [int(row[one]) for one in VERDICTS if one != "not_attempted"]
        measured[row["paper"]] = measured.get(row["paper"], 0) + sum(counts)
    assert len(measured) == len(AREAS)
    # No package holds posts labelled by people, and nothing of a paper is measured on made-up ones.
    nothing = {"Kennedy et al. 2020"} if name == "packages" else set()
    assert {paper for paper, n in measured.items() if not n} == nothing


@pytest.mark.parametrize("name", generated.RECORDS)
def test_a_record_says_where_it_was_made(name: str) -> None:
    made = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    assert set(made) == {"cpu", "cpus", "time", "signs", "commit"}
    assert all(made.values())
