"""The registry of claims: one row for every number, ordering or count that a paper prints.

The tables of the registry (``workflow/resources/claims/<area>.tsv``) are the only place of published numbers.
``workflow/schemas/claims.schema.yaml`` describes their columns.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, read_yaml

ANY_SETUP = "any"
STATEMENT = "statement"
CELL = "cell"
COUNTED = (STATEMENT, CELL)
JUDGED = (*COUNTED, "derived")  # rows that have a verdict on the paper; all other rows check this project

FOR_CHANCE = ("binomial", "spread")
"""How the rationale of a tolerance begins if the tolerance already allows for chance."""

EXACT = "exact"  # value of the column interval for a number that every run repeats exactly

CONDITION = "condition"
"""A row of this project that gates other rows: if its condition is not met, they have no verdict."""
HYPOTHESIS = "hypothesis"
WEAKER = "weaker than printed"
EXEMPT_KINDS = ("setting", "identity")
"""Kinds of claims about the inputs of a run, not its results. They may gate claims and are never counted."""

CONDITION_KINDS = (*EXEMPT_KINDS, "count")
"""Kinds of gates on data and settings. Gates of any other kind are effects."""

RESULT, CONVENTION, QUIRK, GIVEN = "result", "convention", "quirk", "given"
EVIDENCE = {
    RESULT: "independent result",
    CONVENTION: "convention chosen afterwards",
    QUIRK: "published code's quirk",
    GIVEN: "by construction, or a property of a shipped file",
}
"""The strength of the evidence if a claim is met, strongest first."""

_CAVEATS = {
    "tuned on this": CONVENTION,
    "convention chosen after seeing it": CONVENTION,
    "published code, not the printed algorithm": QUIRK,
    "by construction": GIVEN,
    "property of a shipped file": GIVEN,
}

_NUMBERS = ("value", "tolerance", "min_rows")
_FLAGS = ("direction", "other_data")


@dataclass(frozen=True)
class Claim:
    """A claim. The schema describes its columns; `where` is file and line, `area` the stem of the file."""

    claim_id: str
    paper: str
    item: str
    statement: str
    published: str
    origin: str
    counts_as: str
    part_of: str
    kind: str
    value: float | None
    tolerance: float
    rationale: str
    null: str
    direction: bool
    setup: str
    other_data: bool
    gates: str
    min_rows: int
    file: str
    select: str
    measure: str
    interval: str
    shown: str
    caveat: str
    reason: str
    where: str
    area: str

    @property
    def setups(self) -> tuple[str, ...]:
        """The setups with the paper's data, measured together; empty if any data will do."""
        return () if self.setup == ANY_SETUP else tuple(self.setup.split("+"))

    @property
    def group(self) -> str:
        """The printed statement that includes the claim: `part_of`, or else the claim itself."""
        return self.part_of or self.claim_id

    @property
    def evidence(self) -> str:
        """The strength of the evidence if the claim is met, from the first words of its caveat."""
        return next((kind for words, kind in _CAVEATS.items() if self.caveat.startswith(words)), RESULT)

    @property
    def ends(self) -> str:
        """The two formulas of the interval; empty if the measure computes the interval or there is none."""
        return "" if self.interval == EXACT else self.interval

    @property
    def formulas(self) -> list[str]:
        """The formulas of the row that are evaluated."""
        return [part for part in (self.select, self.measure, self.ends, self.null) if part]

    @property
    def has_chance(self) -> bool:
        """Whether the number varies by chance in a way that only an interval can measure."""
        if self.interval == EXACT or self.evidence == GIVEN or self.kind in EXEMPT_KINDS:
            return False
        return self.counts_as in JUDGED and not self.rationale.startswith(FOR_CHANCE)

    @property
    def is_counted(self) -> bool:
        """Whether the headline counts the claim as the paper's."""
        return self.counts_as in COUNTED


def read_claims(paths: Iterable[str | os.PathLike], schema: str | os.PathLike) -> list[Claim]:
    """Read registries of claims, each for the area in its file name, and check every row."""
    import jsonschema

    rules = _read_schema(schema)
    validator = jsonschema.Draft202012Validator(rules)
    claims: dict[str, Claim] = {}
    for path in paths:
        for line, row in read_text_table(path, list(rules["properties"]), exactly=True):
            where = f"{path}, line {line}"
            claim = _claim(row, validator, where, Path(path).stem)
            if claim.claim_id in claims:
                first = claims[claim.claim_id].where
                raise InputError(f"{where}: claim_id '{claim.claim_id}' is taken by {first}; rename one")
            claims[claim.claim_id] = claim
    for claim in claims.values():
        _check(claim, claims)
    return list(claims.values())


def columns_of_schema(schema: str | os.PathLike) -> list[str]:
    """Return the columns of a registry, in order."""
    return list(_read_schema(schema)["properties"])


def _check(claim: Claim, claims: dict[str, Claim]) -> None:
    if claim.is_counted and (claim.kind in EXEMPT_KINDS or claim.origin == HYPOTHESIS):
        problem = f"of kind '{claim.kind}'" if claim.kind in EXEMPT_KINDS else "that is a hypothesis"
        raise InputError(f"{claim.where}, column 'counts_as': a row {problem} is never counted; write none")
    if claim.direction and not claim.null:
        raise InputError(
            f"{claim.where}, column 'null': a direction needs a null result to lie beyond; name it"
        )
    for name in claim.gates.split():
        gate = claims.get(name)
        if gate is None or gate.area != claim.area or not gate.measure:
            raise InputError(
                f"{claim.where}, column 'gates': '{name}' is not a measured claim of this registry; "
                "name a measured claim"
            )


def _read_schema(path: str | os.PathLike) -> dict:
    schema = read_yaml(Path(path))
    if "properties" not in schema:
        raise InputError(f"{path}: not a schema of claims (no 'properties'); name claims.schema.yaml")
    return schema


def _claim(row: dict[str, str], validator: object, where: str, area: str) -> Claim:
    fields: dict[str, object] = {name: text for name, text in row.items() if text}
    for name in _NUMBERS:
        if name in fields:
            try:
                fields[name] = float(row[name])
            except ValueError as error:
                raise InputError(
                    f"{where}, column '{name}': '{row[name]}' is no number; write e.g. 0.957"
                ) from error
    errors = validator.iter_errors(fields)
    # Sort by column, so that the reported error is always the same.
    error = min(errors, key=lambda e: ([*map(str, e.absolute_path)], e.message), default=None)
    if error is not None:
        raise InputError(f"{where}{_explain(error)}")
    fields["tolerance"] = fields.get("tolerance", 0.0)
    fields["value"] = fields.get("value")
    fields["min_rows"] = int(fields.get("min_rows", 1))
    for name in _FLAGS:
        fields[name] = row[name] == "yes"
    return Claim(**dict.fromkeys(row, "") | fields, where=where, area=area)


def _explain(error: object) -> str:
    """Return which column of the row breaks the schema, and the allowed values."""
    if error.validator == "required":
        absent = next(name for name in error.validator_value if name not in error.instance)
        about = error.schema.get("properties", {}).get(absent, error.schema)
        return f": column '{absent}' is empty; {about.get('description', 'fill it in')}"
    column = error.absolute_path[0]
    return f", column '{column}': '{error.instance}' is not allowed; write {error.schema['description']}"
