"""Measurement of claims on results.

A claim is measured on its own setups (with the paper's data) if they were run. A claim about any data is
measured on every setup. With ``other_data``, a claim is also measured on each other setup that was run and
has the files of the claim. `biaslab.audit.verdicts` defines the verdict on the number.

Data are the paper's if the setup is the claim's and meets every ``identity`` claim (count of the data) of
that setup. Settings, identities and claims about any data are exempt. Settings are the paper's if the
settings and counts in the row's gates are met on the same setup. Without the paper's data and settings, a
claim is only consistent or inconsistent on other data. A gate of another kind is an effect: without the
effect, a row is inconclusive at best. If a condition is not met, or the data are made up, nothing is
measured.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.audit.claims import CONDITION, CONDITION_KINDS, EXACT, EXEMPT_KINDS, WEAKER, Claim
from biaslab.audit.expressions import CellError, FormulaError, MissingError, columns_of, estimate, select_rows
from biaslab.audit.verdicts import NOT_ATTEMPTED, REPRODUCED, is_weak, judge, meets
from biaslab.core import columns
from biaslab.core.errors import InputError, number_of
from biaslab.core.files import line_of_row, parse_json, read_text
from biaslab.core.io import read_parquet, read_tsv
from biaslab.core.stats import Estimate, p_value

COLUMNS = columns.columns_of(Path(__file__).with_name("columns.tsv"))["claims"]
OWN, OTHER, ANY = "own", "other", "any"
"""Column ``data``: the paper's data, other data, or any data for claims about any data."""

_PATH, _ROW = "__path", "__row"  # row of a file; expressions.py hides such columns
NOT_MET = ("not under the paper's conditions", "without the effect that it needs")
"""How a reason begins if a gate is not met: a setting or count, or an effect."""

_OTHER_DATA = "measured on other data than the paper's"


@dataclass(frozen=True)
class _Measurement:
    """The numbers of a claim and its null result on setups, and the files with rows for the claim."""

    estimate: Estimate | None  # None if an input is missing
    null: float
    used: list[Path]
    missing: str = ""  # inputs that the claim needs and the results lack


def measure_claims(
    claims: Sequence[Claim],
    results: Path,
    setups: Mapping[str, Sequence[str]],
    absent: Mapping[str, str] | None = None,
    made_up: Collection[tuple[str, str]] = (),
    lacking: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    planned: Collection[str] | None = None,
) -> pd.DataFrame:
    """Measure every claim on the setups that were run: columns `COLUMNS`, a row per claim and setup.

    `absent` has the reasons why setups were not run; the registry has reasons for other setups. `made_up` are
    areas and names of setups with made-up data. `lacking` has, by ``AREA/SETUP`` and reason (or ""), patterns
    of the files that a setup omits, relative to `results`. All other files of the setup's claims must exist.
    Only files in `planned` are read (relative to `results`), by default all.
    Column ``source`` lists the result files, then the tables and figures that show the claim, relative to
    `results` and separated by blanks.
    """
    by_id = {claim.claim_id: claim for claim in claims}
    of_this_run = None if planned is None else frozenset(planned)
    audit = _Audit(by_id, results, setups, absent or {}, made_up, lacking or {}, of_this_run)
    rows = [row for claim in claims for row in audit.rows(claim)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


@dataclass
class _Audit:
    """The registry and the setups that were run; measures a claim at most once per setups."""

    _claims: Mapping[str, Claim]
    _results: Path
    _setups: Mapping[str, Sequence[str]]
    _absent: Mapping[str, str]
    _made_up: Collection[tuple[str, str]]
    _lacking: Mapping[str, Mapping[str, Sequence[str]]]
    _planned: frozenset[str] | None
    _measured: dict[tuple[str, tuple[str, ...]], _Measurement] = field(default_factory=dict)
    _tables: dict[tuple[str, tuple[str, ...]], pd.DataFrame] = field(default_factory=dict)
    _met: dict[tuple[str, tuple[str, ...]], bool] = field(default_factory=dict)

    def rows(self, claim: Claim) -> Iterator[dict[str, object]]:
        setups, own = self._setups.get(claim.area, ()), claim.setups
        if not claim.measure:
            yield _table_row(claim, claim.setup, NOT_ATTEMPTED, claim.reason)
            return
        if claim.area not in self._setups:
            summary = f"area {claim.area} not run"
            yield _table_row(claim, claim.setup, NOT_ATTEMPTED, summary + self._why(own))
            return
        others = []
        if claim.other_data or not own:
            # Another setup must have the files of the claim; a claim about any setup requires them.
            others = [s for s in setups if s not in own and not self._lost_file(claim, (s,))]
            others = [s for s in others if not own or self._has_files(claim, (s,))]
        missing = [setup for setup in own if setup not in setups]
        stand_ins = setups if (claim.other_data or not own) and not others else ()
        lost = self._lost_file(claim, own if own and not missing else stand_ins)
        omission = f"this run does without {lost[0]}" + (f": {lost[1]}" if lost[1] else "") if lost else ""
        if missing:
            summary = f"setup{'s' if len(missing) > 1 else ''} {' and '.join(missing)} not run"
            cause = self._why(missing) or (claim.reason and f": {claim.reason}")
            reason = "; ".join(filter(None, [summary + cause, omission]))
            yield _table_row(claim, claim.setup, NOT_ATTEMPTED, reason)
        elif lost:
            reason = omission if lost[1] or not claim.reason else f"{omission}: {claim.reason}"
            yield _table_row(claim, claim.setup or "+".join(setups), NOT_ATTEMPTED, reason)
        elif own:
            yield self._row(claim, own, OWN)
        for setup in others:
            yield self._row(claim, (setup,), OTHER if own else ANY)

    def _row(self, claim: Claim, setups: tuple[str, ...], data: str) -> dict[str, object]:
        measured = self._measure(claim, setups)
        patterns = [p.replace("{setup}", setup) for p in claim.shown.split() for setup in setups]
        # The measured files, then existing files that show the measurement.
        files = [*measured.used, *(path for p in patterns for path in self._matching(p))]
        source = " ".join(path.relative_to(self._results).as_posix() for path in dict.fromkeys(files))
        name = "+".join(setups)
        reason = measured.missing
        if measured.estimate is not None and claim.kind not in EXEMPT_KINDS:  # a reason why it is no evidence
            if any((claim.area, setup) in self._made_up for setup in setups):
                reason = "measured on made-up data, which tell nothing of the paper"
            for gate in [self._claims[gate] for gate in claim.gates.split()] if not reason else ():
                if gate.counts_as == CONDITION and not self._is_met(gate, setups):
                    condition = f"{gate.statement} (see {gate.claim_id})"
                    reason = f"nothing to measure: it does not hold that {condition}"
                    break
        if reason:
            return _table_row(claim, name, NOT_ATTEMPTED, reason, data=data, source=source)
        data, doubts, lacks = self._doubts(claim, setups, data)
        verdict, reason = judge(claim, measured.estimate, measured.null, doubts, lacks)
        return _table_row(claim, name, verdict, reason, measured, data, source)

    def _doubts(self, claim: Claim, setups: tuple[str, ...], data: str) -> tuple[str, list[str], list[str]]:
        """Return the type of the data, doubts about data and settings, and missing effects."""
        failures = [self._strangers[s] for s in setups if data == OWN and s in self._strangers]
        doubts = [_OTHER_DATA] if data == OTHER else [] if claim.kind in EXEMPT_KINDS else failures[:1]
        failed = [name for name in claim.gates.split() if not self._is_met(self._claims[name], setups)]
        effects = [name for name in failed if self._claims[name].kind not in CONDITION_KINDS]
        settings = [name for name in failed if name not in effects]
        unmet_settings, lacks = (
            [f"{text} (see {', '.join(names)})"] if names else []
            for text, names in zip(NOT_MET, (settings, effects), strict=True)
        )
        return OTHER if failures else data, doubts + unmet_settings, lacks

    def _is_met(self, gate: Claim, setups: tuple[str, ...]) -> bool:
        """Return whether a gate can be measured on setups, and is met."""
        key = gate.claim_id, setups
        if key not in self._met:
            measured = self._measure(gate, setups) if self._has_files(gate, setups) else None
            if measured is None or measured.estimate is None:
                self._met[key] = False
            elif gate.kind in EXEMPT_KINDS:
                self._met[key] = meets(gate, measured.estimate.value)[0]
            else:
                self._met[key] = judge(gate, measured.estimate, measured.null)[0] == REPRODUCED
        return self._met[key]

    @cached_property
    def _strangers(self) -> dict[str, str]:
        """Setups that fail an identity claim of their own, with the reason."""
        failed: dict[str, str] = {}
        for claim in self._claims.values():
            own = claim.setups
            was_run = own and set(own) <= set(self._setups.get(claim.area, ()))
            if claim.kind != "identity" or not claim.measure or not was_run or self._lost_file(claim, own):
                continue
            if not self._is_met(claim, own):
                failed |= {s: f"{_OTHER_DATA} (see {claim.claim_id})" for s in own if s not in failed}
        return failed

    def _measure(self, claim: Claim, setups: tuple[str, ...]) -> _Measurement:
        """Evaluate the formulas of a claim on its files, once per setups."""
        if (claim.claim_id, setups) in self._measured:
            return self._measured[claim.claim_id, setups]
        files = []
        for setup in setups:
            for pattern in claim.file.replace("{setup}", setup).split():
                if not (paths := self._matching(pattern)):
                    path = self._results / pattern
                    raise InputError(
                        f"{path}: no such file; run the step that makes it, or fix {claim.where}"
                    )
                files += [(setup, path) for path in paths]
        used: list[Path] = []
        rows = pd.DataFrame()
        try:
            key = claim.file, setups
            if (table := self._tables.get(key)) is None:
                names = columns_of(*claim.formulas)
                parts = []
                for setup, path in files:
                    part = _read(path, names)
                    part = part.assign(**{"file": path.stem, _PATH: str(path), _ROW: np.arange(len(part))})
                    # A table of several setups keeps its own column.
                    parts.append(part if "setup" in part else part.assign(setup=setup))
                table = pd.concat(parts, ignore_index=True)
                if not any(path.suffix == ".parquet" for _, path in files):
                    self._tables[key] = table  # of Parquet files, each claim reads other columns
            rows = table  # in case that the selection fails
            rows = select_rows(claim.select, table) if claim.select else table
            used = [Path(path) for path in rows[_PATH].unique()]
            if 0 < len(rows) < claim.min_rows:
                few = number_of(len(rows), "row")
                raise MissingError(f"{few} that the claim is about, which needs {claim.min_rows}")
            measured = estimate(claim.measure, rows, claim.ends)
            null = estimate(claim.null, rows).value if claim.null else math.nan
        except CellError as error:
            path, row = Path(rows[_PATH].iloc[error.row]), int(rows[_ROW].iloc[error.row])
            place = f"{path}, row {row + 1}"
            if path.suffix == ".tsv":
                line = line_of_row(path, row, "\t")
                place = f"{path}, line {line}"
            raise InputError(
                f"{place}: {error.column} is '{error.cell}', which is no number; correct the cell, or the"
                f" select or measure of {claim.where}, claim '{claim.claim_id}'"
            ) from error
        except FormulaError as error:
            raise InputError(
                f"{claim.where}, claim '{claim.claim_id}': {error}; fix its select, measure, null or file"
            ) from error
        except MissingError as error:
            names = " and ".join(sorted({path.name for _, path in files}))
            result = _Measurement(None, math.nan, used, f"{names} of this setup: {error}")
        else:
            result = _Measurement(measured, null, used)
        self._measured[claim.claim_id, setups] = result
        return result

    def _lost_file(self, claim: Claim, setups: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the first file that a claim reads and a setup omits, and the reason."""
        for setup in setups:
            for file in claim.file.replace("{setup}", setup).split():
                for reason, patterns in self._lacking.get(f"{claim.area}/{setup}", {}).items():
                    if any(fnmatch(file, pattern) or fnmatch(pattern, file) for pattern in patterns):
                        return file, reason
        return None

    def _matching(self, pattern: str) -> list[Path]:
        """Return the results of this run that match a pattern."""
        try:
            paths = sorted(self._results.glob(pattern))
        except (ValueError, NotImplementedError) as error:
            raise InputError(
                f"'{pattern}' is no pattern of files ({error}); correct it in the registry"
            ) from error
        planned = self._planned
        return [p for p in paths if planned is None or p.relative_to(self._results).as_posix() in planned]

    def _has_files(self, claim: Claim, setups: tuple[str, ...]) -> bool:
        """Return whether setups have the files of a claim; setups of another kind have other files."""
        patterns = [p.replace("{setup}", setup) for setup in setups for p in claim.file.split()]
        return all(self._matching(pattern) for pattern in patterns)

    def _why(self, setups: Sequence[str]) -> str:
        """Return why setups were not run, after a colon; empty if no reason is known."""
        texts = [self._absent.get(setup) for setup in setups]
        reasons = "; ".join(dict.fromkeys(filter(None, texts)))
        return f": {reasons}" if reasons else ""


def _table_row(
    claim: Claim,
    setup: str,
    verdict: str,
    reason: str,
    measured: _Measurement | None = None,
    data: str = "",
    source: str = "",
) -> dict[str, object]:
    result = measured.estimate if measured else Estimate(math.nan)
    null = measured.null if measured else math.nan
    is_sign = claim.kind == "sign"
    where = f" where {claim.select}" if claim.select else ""
    null_text = f"; null result: {claim.null}" if claim.null else ""
    return {name: getattr(claim, name) for name in COLUMNS if hasattr(claim, name)} | {
        "tolerance": claim.tolerance if claim.measure else None,
        "interval": EXACT if claim.interval == EXACT else "",
        "measured": result.value,
        "ci_low": result.low,
        "ci_high": result.high,
        "p_value": p_value(result.value, result.low, result.high, result.df) if is_sign else math.nan,
        "null": null,
        "weak": "yes" if is_weak(claim, null) or claim.caveat.startswith(WEAKER) else "no",
        "setup": setup,
        "data": data,
        "verdict": verdict,
        "reason": reason,
        "rule": f"{claim.measure} on {claim.file}{where}{null_text}" if claim.measure else "",
        "source": source,
    }


def _read(path: Path, names: set[str]) -> pd.DataFrame:
    """Read a result table; of a Parquet file, only the columns in `names`."""
    if path.suffix == ".tsv":
        return read_tsv(path)
    if path.suffix == ".json":
        return _read_json(path)
    if path.suffix != ".parquet":
        raise InputError(f"{path}: the format is not supported; name a .tsv, .json or .parquet file")
    stored = read_parquet_columns(path)
    return read_parquet(path, [name for name in stored if name in names] or stored[:1])


def _read_json(path: Path) -> pd.DataFrame:
    """Read an object, or a list of objects, as rows; join the names of nested values by _."""
    try:
        value = parse_json(read_text(path, "JSON file"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON ({error}); write it again") from error
    rows = value if isinstance(value, list) else [value]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            f"{path}: the JSON is neither an object nor a list of objects; write one object for each row"
        )
    table = pd.json_normalize(rows, sep="_")
    kept = [name for name in table if not table[name].map(lambda cell: isinstance(cell, list)).any()]
    return table[kept]


def read_parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_schema(path).names
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise InputError(f"{path}: not a readable Parquet table ({str(error).splitlines()[0]})") from error
