"""The audit of a run, and users' own registries: folders of claims about the results of any workflow.

The folder NAME contains ``NAME.tsv`` (claims), ``paper.tsv`` (the paper and its main claims), ``printed.tsv``
(printed results without a row, and why) and, once frozen, ``frozen.json``. Own registries are read, measured
and judged like the registries of biaslab's papers, and have the same page.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from biaslab.audit.claims import Claim, columns_of_schema, read_claims
from biaslab.audit.html import write_html
from biaslab.audit.measure import measure_claims
from biaslab.audit.summary import (
    PAPERS,
    PRINTED,
    in_words,
    read_measured,
    read_papers,
    read_printed,
    write_summary,
)
from biaslab.core.errors import InputError
from biaslab.core.files import parse_json, read_text, write_json, write_text
from biaslab.core.io import write_tsv
from biaslab.run.record.manifest import write_manifest

FROZEN = "frozen.json"
PAPER, PRINTS, EXAMPLES, SCHEMA = "paper.tsv", "printed.tsv", "examples.tsv", "claims.schema.yaml"
JUDGED_BY = ("counts_as", "part_of", "kind", "value", "tolerance", "null", "direction", "setup", "other_data")
JUDGED_BY += ("gates", "min_rows", "file", "select", "measure", "interval")
"""The columns that decide a verdict; freezing a registry freezes these columns."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class Freeze:
    """The date and sha256 of a frozen registry, and the changes since."""

    date: str
    sha256: str
    changes: tuple[str, ...]


def audit_run(
    registries: list[Path],
    schema: Path,
    printed: list[Path],
    papers: list[Path],
    results: Path,
    planned: Path,
    units: dict[str, Any],
    record: dict[str, Any],
    config: Path,
    claims: Path,
    page: Path,
    manifest: Path,
    say: Callable[[str], None],
) -> None:
    """Measure every published claim; write the verdicts, their summary, the page and the manifest of the run.

    `units` has the arguments of `measure_claims` by name, and `record` those of `write_manifest`. The file
    `planned` lists the results of the run; results of earlier configurations are not measured. A workflow
    that uses this one as a module writes no list.
    """
    of_this_run = parse_json(read_text(planned, "list of planned results")) if planned.is_file() else None
    made_up = {(area, name) for area, name in units["made_up"]}
    registry = read_claims(registries, schema)
    table = measure_claims(registry, results, **units | {"made_up": made_up, "planned": of_this_run})
    write_tsv(claims, table)
    tables = read_measured(claims), read_printed(printed), read_papers(papers)
    write_summary(*tables, claims.with_name("summary"), say)
    write_html(*tables, page)
    write_manifest(results, manifest, config, **record)


def start_registry(folder: Path, schema: Path, examples: Path) -> list[Path]:
    """Write a registry without claims, with its schema and examples of every kind; return the files."""
    _check_name(folder.name)
    if folder.exists():
        raise InputError(f"{folder} exists; choose another name, or remove the folder")
    paper = ("Doe et al. 2020", "Title of the paper", "the text with its tables", "its supplement", "")
    texts = {
        f"{folder.name}.tsv": "\t".join(columns_of_schema(schema)) + "\n",
        EXAMPLES: read_text(examples, "table of examples"),
        SCHEMA: read_text(schema, "schema"),
        PAPER: "".join("\t".join(line) + "\n" for line in (PAPERS, paper)),
        PRINTS: "\t".join(PRINTED) + "\n",
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def read_registry(folder: Path, schema: Path) -> list[Claim]:
    """Read and check a registry, its paper and its printed items."""
    if not folder.is_dir():
        raise InputError(f"{folder}: the folder does not exist; create it with biaslab audit init")
    claims = read_claims([folder / f"{folder.resolve().name}.tsv"], schema)
    if not claims:
        raise InputError(f"{folder}: no claims yet; {EXAMPLES} has a row of every kind")
    read_printed([folder / PRINTS])
    claim_ids = {claim.paper: set() for claim in claims}
    for claim in claims:
        claim_ids[claim.paper].add(claim.claim_id)
    papers = read_papers([folder / PAPER])
    for paper, main in zip(papers["paper"], papers["main"], strict=True):
        if unknown := set(main.split()) - claim_ids.get(paper, set()):
            raise InputError(
                f"{folder / PAPER}, column 'main': '{min(unknown)}' is no claim of {paper}; write others"
            )
    return claims


def counts_in_words(claims: Sequence[Claim]) -> str:
    """Return the number of claims of each kind as a text."""
    kinds = Counter(claim.kind for claim in claims)
    return f"{len(claims)} claims: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items())


def measure_registry(
    folder: Path, results: Path, schema: Path, setups: Sequence[str], say: Callable[[str], None]
) -> None:
    """Measure a registry on results, and write table, headline and page to the folder ``audit``."""
    claims = read_registry(folder, schema)
    frozen = compare_frozen(folder / FROZEN, claims)
    area, out = claims[0].area, results / "audit"
    if not results.is_dir():
        raise InputError(f"{results}: the folder does not exist; name the results of the workflow")
    for setup in setups:
        _check_name(setup)
    table = measure_claims(claims, results, {area: list(setups) or [area]})
    write_tsv(out / "claims.tsv", table)
    sources = read_printed([folder / PRINTS]), read_papers([folder / PAPER])
    tables = read_measured(out / "claims.tsv"), *sources
    write_summary(*tables, out / "summary", lambda _: None)
    write_html(*tables, out / "audit.html", frozen, has_manifest=False)
    say(in_words(table))
    for change in frozen.changes if frozen else ():
        say(f"changed since {frozen.date}: {change}")


def freeze_claims(path: Path, claims: Sequence[Claim]) -> Freeze:
    """Write the rules of claims, their sha256 and the date; fail if the file exists."""
    if path.exists():
        raise InputError(f"{path} exists; show the changes with biaslab audit measure, or remove the file")
    rules = _rules(claims)
    record = {"date": date.today().isoformat(), "sha256": _digest(rules), "claims": rules}
    write_json(path, record)
    return Freeze(record["date"], record["sha256"], ())


def compare_frozen(path: Path, claims: Sequence[Claim]) -> Freeze | None:
    """Return the changes of claims since they were frozen; None if they were not frozen."""
    if not path.exists():
        return None
    try:
        record = parse_json(read_text(path, "frozen registry"))
        day, sha256, before = (record[name] for name in ("date", "sha256", "claims"))
        rules = {claim_id: {name: row[name] for name in JUDGED_BY} for claim_id, row in before.items()}
        frozen_on = date.fromisoformat(day).isoformat()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not what biaslab audit measure --freeze writes; restore it") from error
    changes = [] if _digest(before) == sha256 else [f"{path.name} itself: its sha256 is another one"]
    current = _rules(claims)
    changes += [f"{name}: removed" for name in rules if name not in current]
    changes += [f"{name}: added" for name in current if name not in rules]
    changes += [
        f"{name}: {column} was {before or 'empty'}, is {current[name][column] or 'empty'}"
        for name, row in rules.items()
        if name in current
        for column, before in row.items()
        if before != current[name][column]
    ]
    return Freeze(frozen_on, str(sha256), tuple(changes))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name}' is no name; write small letters, digits, - and _, a letter first")


def _rules(claims: Sequence[Claim]) -> dict[str, dict[str, Any]]:
    return {claim.claim_id: {name: getattr(claim, name) for name in JUDGED_BY} for claim in claims}


def _digest(rules: object) -> str:
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
