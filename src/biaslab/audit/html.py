"""The audit as a self-contained page, without fonts, pictures or scripts from other files."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from biaslab.audit.claims import COUNTED, EVIDENCE, EXEMPT_KINDS, HYPOTHESIS, RESULT
from biaslab.audit.measure import NOT_MET
from biaslab.audit.summary import NO_ROW, accounting, headline, multiplicity, weak_rows
from biaslab.audit.verdicts import (
    DIRECTION_ONLY,
    FAILED_ELSEWHERE,
    HELD_ELSEWHERE,
    INCONCLUSIVE,
    NOT_ATTEMPTED,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
    format_number,
    is_weak,
    label,
    meets,
)
from biaslab.core.files import render, write_text

TEMPLATE = Path(__file__).parent / "audit.html.j2"

FAILURES_FIRST = (NOT_REPRODUCED, INCONCLUSIVE, DIRECTION_ONLY, REPRODUCED, FAILED_ELSEWHERE, HELD_ELSEWHERE)
MARKS = {
    REPRODUCED: "✓",
    DIRECTION_ONLY: "≈",
    INCONCLUSIVE: "?",
    NOT_REPRODUCED: "✗",
    HELD_ELSEWHERE: "△",
    FAILED_ELSEWHERE: "▽",
    NOT_ATTEMPTED: "–",
    NO_ROW: "○",
}

PLOT_WIDTH = 150.0
_PLOT_MARGIN = 0.08
_ORIGINS = {
    "text": "the paper's text, tables or captions",
    "figure": "read off a figure of the paper",
    "slides": "slides of third parties on the paper",
    "appendix": "an appendix that is not available",
    HYPOTHESIS: "not the paper's: a hypothesis of this project",
}
_UNCOUNTED = {"setting": "settings", "identity": "identities of the data"}
_DATA = {"own": "the paper's data", "other": "other data than the paper's", "any": "any data"}


@dataclass(frozen=True)
class Plot:
    """Positions of the marks in a claim's picture, in pixels from its left edge; `band` meets the claim."""

    band: tuple[float, float]
    published: float
    measured: float
    interval: tuple[float, float] | None


Row = dict[str, Any]  # a row of the audit, ready for display; see `_row`


@dataclass(frozen=True)
class Paper:
    """The content of the page about a paper.

    `counts` are the paper's lines of the headline, `main` the rows of its main claims, `judged` the counted
    rows by verdict, `missing` the rows that were not attempted, by reason, `aside` the rows that are not
    counted, by type, `weak` rows with the reason, and `items` the accounting.
    """

    name: str
    anchor: str
    about: dict[str, str]
    counts: list[dict[str, Any]]
    main: list[Row]
    judged: dict[str, list[Row]]
    missing: dict[str, list[Row]]
    aside: dict[str, list[Row]]
    weak: list[tuple[Row, str]]
    items: list[dict[str, Any]]

    def has(self, state: str) -> bool:
        """Return whether the page has a block of this verdict, or of items without a row."""
        return bool({NOT_ATTEMPTED: self.missing, NO_ROW: self.items}.get(state) or self.judged.get(state))


def write_html(
    table: pd.DataFrame,
    printed: pd.DataFrame,
    papers: pd.DataFrame,
    out: Path,
    frozen: object = None,
    has_manifest: bool = True,
) -> None:
    """Write the page of a measured registry (`read_measured`); equal tables give identical bytes.

    `frozen` is a `biaslab.audit.own.Freeze`. Links are relative to the folder ``audit`` of the results.
    """
    about = _papers(table, printed, papers)
    page = render(
        TEMPLATE,
        papers=about,
        filters={
            "Paper": {paper.anchor: paper.name for paper in about},
            "Verdict": {verdict: _words(verdict) for verdict in VERDICTS},
            "Kind of evidence": EVIDENCE,
        },
        multiplicity=multiplicity(table),
        frozen=frozen,
        has_manifest=has_manifest,
        marks=MARKS,
        states=(*VERDICTS, NO_ROW),
        failures_first=FAILURES_FIRST,
        evidence=EVIDENCE,
        words=_words,
        n_rows=len(table),
        width=PLOT_WIDTH,
    )
    write_text(out, page)


def place_marks(
    kind: str, value: float, tolerance: float, measured: float, interval: tuple[float, float] | None
) -> Plot | None:
    """Return the marks of a claim's picture, or None if all its numbers are equal."""
    low, high = value - tolerance, value + tolerance
    if kind == "sign":
        low, high = (0, math.inf) if value > 0 else (-math.inf, 0)
        value = 0
    elif kind == "at_least":
        high = math.inf
    elif kind == "at_most":
        low = -math.inf
    numbers = [x for x in (low, high, value, measured, *(interval or ())) if math.isfinite(x)]
    span = max(numbers) - min(numbers)
    if span == 0:
        return None
    start, scale = min(numbers) - _PLOT_MARGIN * span, PLOT_WIDTH / (span * (1 + 2 * _PLOT_MARGIN))

    def place(number: float) -> float:
        return round(min(max((number - start) * scale, 0.0), PLOT_WIDTH), 1)

    return Plot(
        (place(low), place(high)),
        place(value),
        place(measured),
        (place(interval[0]), place(interval[1])) if interval else None,
    )


def _papers(table: pd.DataFrame, printed: pd.DataFrame, papers: pd.DataFrame) -> list[Paper]:
    rows = pd.Series(
        [_row(record) for record in table.itertuples(index=False)], index=table.index, dtype=object
    )
    counts, items, weak = headline(table, printed), accounting(table, printed), weak_rows(table)
    sources, about = papers.set_index("paper").to_dict("index"), []
    for name, of_paper in rows.groupby(table["paper"], sort=False):
        by_verdict: dict[str, list[Row]] = {verdict: [] for verdict in FAILURES_FIRST}
        missing: dict[str, list[Row]] = {}
        aside: dict[str, list[Row]] = {}
        for row in of_paper:
            if row["counts_as"] not in COUNTED:
                kind = _UNCOUNTED.get(row["kind"], "checks of our own")
                if row["origin"] == HYPOTHESIS:
                    kind = "hypotheses of this project"
                elif row["counts_as"] == "derived":
                    kind = "orderings that follow from the cells"
                aside.setdefault(kind, []).append(row)
            elif row["verdict"] == NOT_ATTEMPTED:
                missing.setdefault(row["reason"], []).append(row)
            else:
                by_verdict[row["verdict"]].append(row)
        main = sources.get(name, {}).get("main", "").split()
        about.append(
            Paper(
                name,
                anchor="".join(c if c.isalnum() else "-" for c in name.lower()),
                about=sources.get(name, {}),
                counts=counts[counts["paper"] == name].to_dict("records"),
                main=[row for claim_id in main for row in of_paper if row["claim_id"] == claim_id],
                judged=by_verdict,
                missing=dict(sorted(missing.items(), key=lambda group: -len(group[1]))),
                aside=aside,
                weak=[(rows[i], reason) for i, reason in weak.loc[weak["paper"] == name, "why"].items()],
                items=items[items["paper"] == name].to_dict("records") if len(printed) else [],
            )
        )
    return about


def _row(record: Any) -> Row:
    """Return the columns of a row with what the page adds; `details` are those of the expanded row."""
    low, high = record.ci_low, record.ci_high
    interval = None if math.isnan(low) or math.isnan(high) else (low, high)
    is_attempted = record.verdict != NOT_ATTEMPTED
    return record._asdict() | {
        "anchor": f"{record.claim_id}--{record.setup.replace('+', '--')}",
        "number": _typeset(record.measured) if is_attempted else "",
        "range": f"{_typeset(low)} to {_typeset(high)}" if interval else "",
        "terms": [*filter(None, _terms(record))] if is_attempted else [],
        "details": [(name, text) for name, text in _details(record) if text],
        "links": [(quote(f"../{path}"), path) for path in record.source.split()],
        "plot": place_marks(record.kind, record.value, record.tolerance, record.measured, interval)
        if is_attempted
        else None,
    }


def _terms(record: Any) -> Iterable[str]:
    """Yield short terms of a measured row; "" for a term that the row lacks."""
    yield f"{record.setup}: {_DATA[record.data]}"
    met = "not all met" if any(text in record.reason for text in NOT_MET) else "met"
    yield f"gates: {len(record.gates.split())}, {met}" if record.gates else ""
    yield EVIDENCE[record.evidence] if record.verdict == REPRODUCED or record.evidence != RESULT else ""
    yield record.caveat.partition(":")[0]
    missing = math.isnan(record.ci_low) and record.kind not in EXEMPT_KINDS
    yield record.interval or ("no interval" if missing else "")


def _details(record: Any) -> Iterable[tuple[str, str]]:
    attempted = record.verdict != NOT_ATTEMPTED
    yield "Reason", record.reason
    if record.rule:
        yield "Holds when", _holds(record)
        yield "Tolerance from", record.rationale
    if attempted:
        yield "Null result", _null(record)
    yield "Counts only if", f"{', '.join(record.gates.split())} hold" if record.gates else ""
    yield "Caveat", record.caveat
    yield "Measured as", record.rule
    data = f" ({_DATA[record.data]})" if record.data else ""
    yield "Setup", f"{record.setup}{data}"
    yield "Where it stands", _ORIGINS.get(record.origin, record.origin)
    yield (
        "Counts as",
        record.counts_as + (f", part of {record.group}" if record.group != record.claim_id else ""),
    )
    yield "Claim", record.claim_id


def _holds(record: Any) -> str:
    value, tolerance = record.value, record.tolerance
    if record.kind == "sign":
        beyond = f", by more than {_typeset(tolerance)}" if tolerance > 0 else ""
        return f"the number is {'positive' if value > 0 else 'negative' if value < 0 else 'zero'}{beyond}"
    if record.kind in ("at_least", "at_most"):
        allowed = f", give or take {_typeset(tolerance)}" if tolerance > 0 else ""
        return f"{record.kind.replace('_', ' ')} {_typeset(value)}{allowed}"
    return (
        f"within {_typeset(tolerance)} of {_typeset(value)}"
        if tolerance > 0
        else f"equal to {_typeset(value)}"
    )


def _null(record: Any) -> str:
    if math.isnan(record.null):
        return ""
    if meets(record, record.null)[0]:
        verdict = "which meets the claim: the row can show nothing"
    elif is_weak(record, record.null):
        verdict = "which comes within two tolerances of the published number"
    else:
        verdict = "which does not meet the claim"
    return f"would measure {_typeset(record.null)}, {verdict}"


def _typeset(number: float) -> str:
    return format_number(number).replace("-", "−")


def _words(verdict: str) -> str:
    return label(verdict).capitalize()
