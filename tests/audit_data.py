"""A claim for the tests of the audit, and registries with it."""

from collections.abc import Iterable, Mapping
from dataclasses import fields as fields_of
from pathlib import Path

import yaml

from biaslab.audit.claims import Claim

SCHEMA = Path(__file__).parents[1] / "workflow/schemas/claims.schema.yaml"
COLUMNS = list(yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))["properties"])
CLAIM = {
    "claim_id": "t1-mean",
    "paper": "Doe 2020",
    "item": "Table 1",
    "statement": "Mean",
    "published": "2.0",
    "origin": "text",
    "counts_as": "cell",
    "kind": "value",
    "value": "2.0",
    "tolerance": "0.5",
    "rationale": "judgement: made up",
    "null": "-9",
    "direction": "no",
    "setup": "small",
    "other_data": "no",
    "file": "origins/{setup}/a.tsv",
    "measure": "mean(x)",
}
"""A row of a registry: a claim on the mean of the column x of origins/{setup}/a.tsv."""


def claim(**fields):
    empty = dict.fromkeys((field.name for field in fields_of(Claim)), "")
    typed = {"value": 2.0, "tolerance": 0.5, "direction": False, "other_data": False, "min_rows": 1}
    return Claim(**empty | CLAIM | typed | {"where": "claims.tsv, line 2", "area": "origins"} | fields)


def with_gates(claims: Mapping[str, Claim], names: Iterable[str]) -> list[Claim]:
    """Return claims with their gates and the identities of the data, on which their verdicts depend."""
    needed = set(names) | {name for name, claim in claims.items() if claim.kind == "identity"}
    while more := {gate for name in needed for gate in claims[name].gates.split()} - needed:
        needed |= more
    return [claim for name, claim in claims.items() if name in needed]


def write_registry(path, *rows, columns=COLUMNS):
    lines = ["\t".join(columns), *("\t".join(row.get(column, "") for column in columns) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
