"""The registry of claims: one row for every number, ordering or count that a paper prints.

Its tables (``workflow/resources/claims/<area>.tsv``; columns: ``workflow/schemas/claims.schema.yaml``) are
the only place where published numbers stand.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table

ANY_SETUP = "any"
STATEMENT = "statement"
CELL = "cell"
COUNTED = (STATEMENT, CELL)
JUDGED = (*COUNTED, "derived")
"""What a verdict is about: the paper, not our checks."""

FOR_CHANCE = ("binomial", "spread")
"""How rationales of tolerances begin that chance is in already."""

EXACT = "exact"
"""In the column interval: the number is the same in every run, so that there is none."""

CONDITION = "condition"
"""A row of our own that gates others: where it does not hold, they have no verdict."""
HYPOTHESIS = "hypothesis"
WEAKER = "weaker than printed"
EXEMPT_KINDS = ("setting", "identity")
"""Kinds that say what was run, not what came out; they may gate other claims and are never counted."""

CONDITION_KINDS = (*EXEMPT_KINDS, "count")
"""Kinds of gates that tell whether data and settings are the paper's; the others are effects."""

RESULT, CONVENTION, QUIRK, GIVEN = "result", "convention", "quirk", "given"
EVIDENCE = {
    RESULT: "independent result",
    CONVENTION: "convention chosen afterwards",
    QUIRK: "published code's quirk",
    GIVEN: "by construction, or a property of a shipped file",
}
"""What it is worth that a claim is met, the best first."""

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
    """One claim; the schema describes the columns, `where` is file and line, `area` the stem of that file."""

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
        """The setups whose data are the paper's, measured together; empty when any data will do."""
        return () if self.setup == ANY_SETUP else tuple(self.setup.split("+"))

    @property
    def group(self) -> str:
        """The printed statement that the claim is a part of: its own unless `part_of` names one."""
        return self.part_of or self.claim_id

    @property
    def evidence(self) -> str:
        """What it is worth that the claim is met (of `EVIDENCE`): how its caveat begins tells."""
        return next((kind for words, kind in _CAVEATS.items() if self.caveat.startswith(words)), RESULT)

    @property
    def ends(self) -> str:
        """The two formulas of its interval; empty where the measure gives one, or there is none."""
        return "" if self.interval == EXACT else self.interval

    @property
    def formulas(self) -> list[str]:
        """What is evaluated of the row."""
        return [part for part in (self.select, self.measure, self.ends, self.null) if part]

    @property
    def has_chance(self) -> bool:
        """Whether chance has a part in the number that only an interval can tell."""
        if self.interval == EXACT or self.evidence == GIVEN or self.kind in EXEMPT_KINDS:
            return False
        return self.counts_as in JUDGED and not self.rationale.startswith(FOR_CHANCE)

    @property
    def is_counted(self) -> bool:
        """Whether the claim counts as the paper's in the headline."""
        return self.counts_as in COUNTED


def read_claims(paths: Iterable[str | os.PathLike], schema: str | os.PathLike) -> list[Claim]:
    """Read claim registries, each about the area that its stem names, and check every row."""
    import jsonschema

    rules = _read_schema(schema)
    validator = jsonschema.Draft202012Validator(rules)
    columns = columns_of_schema(schema)
    claims: dict[str, Claim] = {}
    for path in paths:
        for line, row in read_text_table(path, columns, exactly=True):
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
    """Refuse a row whose columns contradict each other or the other rows."""
    if claim.is_counted and (claim.kind in EXEMPT_KINDS or claim.origin == HYPOTHESIS):
        what = f"of kind '{claim.kind}'" if claim.kind in EXEMPT_KINDS else "that is a hypothesis"
        raise InputError(f"{claim.where}, column 'counts_as': a row {what} is never counted; write none")
    if claim.direction and not claim.null:
        raise InputError(
            f"{claim.where}, column 'null': a direction needs a null result to lie beyond; name it"
        )
    for name in claim.gates.split():
        gate = claims.get(name)
        if gate is None or gate.area != claim.area or not gate.measure:
            raise InputError(
                f"{claim.where}, column 'gates': '{name}' is no measured claim of this registry; write others"
            )


def _read_schema(path: str | os.PathLike) -> dict:
    import yaml

    try:
        schema = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name the schema of the claims"
        ) from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML; restore the schema of the claims") from error
    if not isinstance(schema, dict) or "properties" not in schema:
        raise InputError(f"{path}: not a schema of claims (no 'properties'); name claims.schema.yaml")
    return schema


def _claim(row: dict[str, str], validator: object, where: str, area: str) -> Claim:
    """Return the claim of one row; empty fields are absent ones."""
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
    # The first by column, so that the same one is always reported.
    error = min(errors, key=lambda one: ([*map(str, one.absolute_path)], one.message), default=None)
    if error is not None:
        raise InputError(f"{where}{_explain(error)}")
    fields["tolerance"] = fields.get("tolerance", 0.0)
    fields["value"] = fields.get("value")
    fields["min_rows"] = int(fields.get("min_rows", 1))
    for name in _FLAGS:
        fields[name] = row[name] == "yes"
    return Claim(**dict.fromkeys(row, "") | fields, where=where, area=area)


def _explain(error: object) -> str:
    """Say in which column the row breaks the schema, and what may stand there."""
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        about = error.schema.get("properties", {}).get(missing, error.schema)
        return f": column '{missing}' is empty; {about.get('description', 'fill it in')}"
    column = error.absolute_path[0]
    return f", column '{column}': '{error.instance}' is not allowed; write {error.schema['description']}"
