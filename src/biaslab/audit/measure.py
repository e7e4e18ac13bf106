"""Measures claims on results and gives each a verdict.

A claim is measured where its own setups were run (the setups whose data are the paper's), on every setup
when it is about any data, and with ``other_data`` also on each other setup that was run and has the files
which the claim reads. The verdict:

``reproduced``
    The measured number meets the claim: it is within the tolerance of the published one (kinds value,
    count, setting, identity), not below or not above the bound by more than the tolerance (at_least,
    at_most), or has the published sign (sign).
``direction_only``
    It does not, but the row's weaker ``direction`` holds, e.g. ``> 0``; or it does, but on other data than
    the paper's. Data are the paper's when the setup is the claim's and meets every ``identity`` claim of that
    setup, which are counts of the corpus; settings and claims about any data need none of this.
``not_reproduced``
    Neither the claim nor its direction holds.
``not_attempted``
    The claim cannot be measured yet, its area or setup was not run, or the setup has no row that the claim is
    about.

Verdicts follow from the measured number alone; the interval (95%) beside it says how sure the number is, and
when it covers the published number of an unmet claim, the reason says so.
"""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.audit.expressions import Estimate, FormulaError, columns_of, estimate, select_rows
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction_only"
NOT_REPRODUCED = "not_reproduced"
NOT_ATTEMPTED = "not_attempted"
VERDICTS = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, NOT_ATTEMPTED)

COLUMNS = (
    "claim_id",
    "paper",
    "item",
    "statement",
    "published",
    "value",
    "kind",
    "tolerance",
    "measured",
    "ci_low",
    "ci_high",
    "setup",
    "verdict",
    "reason",
    "source",
)

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_PATH = "path of the file"
_SIGNS = {-1: "negative", 0: "zero", 1: "positive"}
_OTHER_DATA = "measured on other data than the paper's"


@dataclass(frozen=True)
class _Measured:
    """What a claim gives on one or several setups, the files read, and those that had rows for it."""

    estimate: Estimate
    read: list[Path]
    used: list[Path]


def measure_claims(
    claims: Sequence[Claim],
    results: Path,
    setups: Mapping[str, Sequence[str]],
    absent: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Measure every claim on the setups that were run.

    Parameters
    ----------
    claims : sequence of Claim
        The registry.
    results : pathlib.Path
        The results folder.
    setups : mapping of str to sequence of str
        The areas that were run, each with its setups.
    absent : mapping of str to str, optional
        Setups that could not be run, each with the reason; of others the registry tells it.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`; a row for each claim and setup, in the order of the claims. ``source`` names the
        result files, then the tables and figures that show the claim, relative to `results`, separated by
        spaces.

    Raises
    ------
    InputError
        When a file that a claim needs is missing, or its formulas do not fit the file.
    """
    strangers = _strangers(claims, results, setups)
    rows = []
    for claim in claims:
        if claim.area in setups or not claim.measure:
            rows += _rows(claim, results, setups.get(claim.area, ()), strangers, absent or {})
        else:
            rows.append(_row(claim, claim.setup, NOT_ATTEMPTED, _why_not_run(claim, absent or {})))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def judge(claim: Claim, found: Estimate, other_data: str = "") -> tuple[str, str]:
    """Return the verdict on a measured claim, and the reason in one clause.

    Parameters
    ----------
    claim : Claim
        With its value, tolerance and direction.
    found : Estimate
        The measured number.
    other_data : str
        Why the data are not the paper's; empty when they are, or when the claim is about any data.
    """
    holds, clause = _meets(claim, found)
    if holds:
        return (DIRECTION_ONLY, f"{clause}, but {other_data}") if other_data else (REPRODUCED, clause)
    tail = f"; {other_data}" if other_data else ""
    if not claim.direction:
        return NOT_REPRODUCED, clause + tail
    sign, bound = claim.direction.split()
    if _COMPARE[sign](found.value, float(bound)):
        return DIRECTION_ONLY, f"{clause}, but still {claim.direction}{tail}"
    return NOT_REPRODUCED, f"{clause}, and not {claim.direction}{tail}"


def _rows(
    claim: Claim,
    results: Path,
    setups: Sequence[str],
    strangers: Mapping[str, str],
    absent: Mapping[str, str],
) -> Iterable[dict[str, object]]:
    """Yield the rows of one claim."""
    if not claim.measure:
        yield _row(claim, claim.setup, NOT_ATTEMPTED, claim.reason)
        return
    own, missing = claim.setups, [s for s in claim.setups if s not in setups]
    if missing:
        plural = "setups" if len(missing) > 1 else "setup"
        reasons = "; ".join(absent[s] for s in missing if s in absent) or claim.reason
        reason = f"{plural} {' and '.join(missing)} not run{': ' if reasons else ''}{reasons}"
        yield _row(claim, claim.setup, NOT_ATTEMPTED, reason)
    elif own:
        exempt = claim.kind in ("identity", "setting")
        doubt = "" if exempt else next((strangers[s] for s in own if s in strangers), "")
        yield _measured_row(claim, own, results, doubt)
    if claim.other_data or not own:
        for setup in setups:
            if not own or (setup not in own and _has_files(claim, setup, results)):
                yield _measured_row(claim, (setup,), results, _OTHER_DATA if own else "")


def _has_files(claim: Claim, setup: str, results: Path) -> bool:
    """Return whether another setup has what a claim reads: one of another kind has other files."""
    patterns = claim.file.replace("{setup}", setup).split()
    return all(any(results.glob(pattern)) for pattern in patterns)


def _why_not_run(claim: Claim, absent: Mapping[str, str]) -> str:
    """Return why the area of a claim was not run."""
    reasons = "; ".join(absent[setup] for setup in claim.setups if setup in absent)
    return f"area {claim.area} not run{': ' if reasons else ''}{reasons}"


def _measured_row(claim: Claim, setups: tuple[str, ...], results: Path, other_data: str) -> dict[str, object]:
    """Return the row of a claim that is measured on some setups together."""
    measured, name = _measure(claim, setups, results), "+".join(setups)
    source = _source(claim, setups, results, measured.used)
    if not math.isfinite(measured.estimate.value):
        names = " and ".join(sorted({path.name for path in measured.read}))
        reason = f"{names} of this setup: no row that the claim is about"
        return _row(claim, name, NOT_ATTEMPTED, reason, source=source)
    verdict, reason = judge(claim, measured.estimate, other_data)
    return _row(claim, name, verdict, reason, measured.estimate, source)


def _row(
    claim: Claim, setup: str, verdict: str, reason: str, found: Estimate | None = None, source: str = ""
) -> dict[str, object]:
    found = found or Estimate(math.nan)
    fields = {name: getattr(claim, name) for name in COLUMNS[:6]}
    return fields | {
        "kind": claim.kind,
        "tolerance": claim.tolerance if claim.measure else None,
        "measured": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "setup": setup,
        "verdict": verdict,
        "reason": reason,
        "source": source,
    }


def _strangers(claims: Sequence[Claim], results: Path, setups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the setups that fail an identity claim of their name, each with the reason."""
    failed: dict[str, str] = {}
    for claim in claims:
        if (
            claim.kind != "identity"
            or not claim.measure
            or not (set(claim.setups) <= set(setups.get(claim.area, ())))
        ):
            continue
        if not _meets(claim, _measure(claim, claim.setups, results).estimate)[0]:
            failed.update(
                (s, f"{_OTHER_DATA} (see {claim.claim_id})") for s in claim.setups if s not in failed
            )
    return failed


def _meets(claim: Claim, found: Estimate) -> tuple[bool, str]:
    """Return whether a measured number meets a claim, and why, in one clause."""
    number, value, tolerance = found.value, claim.value, claim.tolerance
    if claim.kind == "sign":
        is_so, should = _SIGNS[_sign(number)], _SIGNS[_sign(value)]
        return is_so == should, f"{is_so}, as published" if is_so == should else f"{is_so}, not {should}"
    if claim.kind in ("at_least", "at_most"):
        excess = value - number if claim.kind == "at_least" else number - value
        holds = _is_within(excess, tolerance)
        bound = f"{claim.kind.replace('_', ' ')} {format_number(value)}"
        allowed = f" (tolerance {format_number(tolerance)})" if tolerance else ""
        clause = f"{format_number(number)} is {'' if holds else 'not '}{bound}{allowed}"
    else:
        gap = abs(number - value)
        holds = _is_within(gap, tolerance)
        limit = f", {'within' if holds else 'more than'} the tolerance of {format_number(tolerance)}"
        clause = f"off by {format_number(gap)}{limit if tolerance else ''}" if gap else "equal"
    if not holds and found.low <= value <= found.high:
        clause += ", though the interval covers the published number"
    return holds, clause


def _is_within(gap: float, tolerance: float) -> bool:
    return gap <= tolerance or math.isclose(gap, tolerance, rel_tol=1e-9, abs_tol=1e-12)


def format_number(number: float) -> str:
    """Write a number for a reader: whole ones in full, others with four digits."""
    is_whole = math.isfinite(number) and (number == round(number) or abs(number) >= 1e4)
    return f"{number:,.0f}" if is_whole else f"{number:.4g}"


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _measure(claim: Claim, setups: tuple[str, ...], results: Path) -> _Measured:
    """Read the files of a claim and evaluate its formulas."""
    files = {setup: _files(claim.file, setup, results, claim.where) for setup in setups}
    try:
        names = columns_of(*filter(None, (claim.select, claim.measure, claim.interval)))
        parts = [_labelled(_read(path, names), path, s) for s in setups for path in files[s]]
        table = pd.concat(parts, ignore_index=True)
        rows = select_rows(claim.select, table) if claim.select else table
        found = estimate(claim.measure, rows, claim.interval)
    except FormulaError as error:
        raise InputError(
            f"{claim.where}, claim '{claim.claim_id}': {error}; mend its select, measure or file"
        ) from error
    return _Measured(found, [p for s in setups for p in files[s]], [Path(p) for p in rows[_PATH].unique()])


def _files(patterns: str, setup: str, results: Path, where: str) -> list[Path]:
    """Return the files that patterns stand for; every pattern must find one."""
    found = []
    for pattern in patterns.split():
        pattern = pattern.replace("{setup}", setup)
        paths = sorted(results.glob(pattern))
        if not paths:
            raise InputError(
                f"{results / pattern}: no such file; run the step that makes it, or mend {where}"
            )
        found += paths
    return found


def _read(path: Path, names: set[str]) -> pd.DataFrame:
    """Read a result table; of Parquet files only the columns in `names`."""
    if path.suffix == ".tsv":
        return read_tsv(path)
    if path.suffix != ".parquet":
        raise InputError(f"{path}: a claim can only be measured on .tsv and .parquet files")
    known = read_parquet_columns(path)
    return read_parquet(path, [name for name in known if name in names] or known[:1])


def _labelled(table: pd.DataFrame, path: Path, setup: str) -> pd.DataFrame:
    """Return the table with the columns file, setup and path; one that spans setups keeps its own setup."""
    labelled = table.assign(**{"file": path.stem, _PATH: str(path)})
    return labelled if "setup" in table else labelled.assign(setup=setup)


def read_parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file.

    Raises
    ------
    InputError
        When it is not Parquet.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_schema(path).names
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise InputError(f"{path}: not a readable Parquet table ({str(error).splitlines()[0]})") from error


def _source(claim: Claim, setups: tuple[str, ...], results: Path, files: list[Path]) -> str:
    """Return the files behind a measurement, then those which show it and exist."""
    shown = [
        path
        for pattern in claim.shown.split()
        for setup in setups
        for path in sorted(results.glob(pattern.replace("{setup}", setup)))
    ]
    unique = dict.fromkeys([*files, *shown])
    return " ".join(path.relative_to(results).as_posix() for path in unique)
