"""The verdict on a claim from a measured number.

``reproduced``
    The number meets the claim: it is within the tolerance of the published number (value, count, setting,
    identity), beyond the bound by at most the tolerance (at_least, at_most), or has the published sign and is
    further from zero than the tolerance (sign). In addition, data and settings are the paper's, a null result
    does not meet the claim, and the interval does not cover both sides. The interval may be missing only if
    the number is the same in every run, or of tests, or given by construction.
``direction_only``
    The claim is not met, but the number and its entire interval are on the published side of a null result
    (without an interval: by more than the tolerance), and the row counts the direction as evidence.
``inconclusive``
    The interval covers both sides of the claim (of zero, of the bound, or the claimed number and a null
    result), or the number is off and the interval covers the published number. Or a null result also meets
    the claim. Or the claim or its direction is met without an effect that the row names as its gate. Or the
    number varies by chance and has no interval.
``not_reproduced``
    No other verdict applies.
``held_elsewhere``, ``failed_elsewhere``
    One of the first two verdicts, or the last, on other data or settings than the paper's. The result neither
    confirms nor refutes the paper.
``not_attempted``
    The claim cannot be measured, its area or setup was not run, an input is missing in the results, a
    condition is not met (for example a classifier that beats chance), or the data are made up.

The row names its null result: no effect, no change, equal methods, chance. Doing nothing therefore never
earns a verdict above ``inconclusive``.
"""

import math
from collections.abc import Sequence

from biaslab.audit.claims import EXEMPT_KINDS, Claim
from biaslab.core.stats import Estimate, is_rounding

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction_only"
INCONCLUSIVE = "inconclusive"
NOT_REPRODUCED = "not_reproduced"
HELD_ELSEWHERE = "held_elsewhere"
FAILED_ELSEWHERE = "failed_elsewhere"
NOT_ATTEMPTED = "not_attempted"
ELSEWHERE = (HELD_ELSEWHERE, FAILED_ELSEWHERE)
VERDICTS = (REPRODUCED, DIRECTION_ONLY, INCONCLUSIVE, NOT_REPRODUCED, *ELSEWHERE, NOT_ATTEMPTED)

_LABELS = {HELD_ELSEWHERE: "consistent on other data", FAILED_ELSEWHERE: "inconsistent on other data"}

_WITH_DOUBTS = {
    REPRODUCED: HELD_ELSEWHERE,
    DIRECTION_ONLY: HELD_ELSEWHERE,
    INCONCLUSIVE: INCONCLUSIVE,
    NOT_REPRODUCED: FAILED_ELSEWHERE,
}

ROUNDING = 1e-9
"""The least distance of a sign from zero if its row has no tolerance, because float sums are inexact."""

_WITH_NUMBER = ("value", "count")
"""Kinds of claims of which the paper prints the number itself, not a bound or a sign."""

_SIGNS = {-1: "negative", 0: "zero", 1: "positive"}


def label(verdict: str) -> str:
    """Return the name of a verdict for readers."""
    return _LABELS.get(verdict, verdict.replace("_", " "))


def judge(
    claim: Claim,
    estimate: Estimate,
    null: float = math.nan,
    doubts: Sequence[str] = (),
    lacks: Sequence[str] = (),
) -> tuple[str, str]:
    """Return the verdict on a measured claim, and the reason in one clause.

    `null` is NaN for settings and identities, which have no null result. `doubts` are reasons why data or
    settings are not the paper's. `lacks` are missing effects without which the number is no evidence.
    """
    holds, clause = meets(claim, estimate.value)
    verdict, clause = (_judge_met if holds else _judge_missed)(claim, estimate, null, clause)
    if verdict != INCONCLUSIVE and claim.has_chance and math.isnan(estimate.low):
        verdict, clause = INCONCLUSIVE, f"{clause}, but without an interval, so that chance is not excluded"
    if lacks and verdict in (REPRODUCED, DIRECTION_ONLY):
        verdict = INCONCLUSIVE
    return _WITH_DOUBTS[verdict] if doubts else verdict, "; ".join([clause, *lacks, *doubts])


def meets(claim: Claim, number: float) -> tuple[bool, str]:
    """Return whether a number meets a claim, and the reason in one clause."""
    value, tolerance = claim.value, claim.tolerance
    if claim.kind == "sign":
        actual, expected = _SIGNS[_sign(number, tolerance)], _SIGNS[_sign(value, 0.0)]
        return (
            actual == expected,
            f"{actual}, as published" if actual == expected else f"{actual}, not {expected}",
        )
    if claim.kind in ("at_least", "at_most"):
        excess = value - number if claim.kind == "at_least" else number - value
        holds = _is_within(excess, tolerance)
        bound = f"{claim.kind.replace('_', ' ')} {format_number(value)}"
        allowed = f" (tolerance {format_number(tolerance)})" if tolerance else ""
        return holds, f"{format_number(number)} is {'' if holds else 'not '}{bound}{allowed}"
    gap = abs(number - value)
    holds = _is_within(gap, tolerance)
    limit = f", {'within' if holds else 'more than'} the tolerance of {format_number(tolerance)}"
    is_equal = is_rounding(gap, max(abs(number), abs(value)))
    return holds, "equal" if is_equal else f"off by {format_number(gap)}{limit if tolerance else ''}"


def is_weak(claim: Claim, null: float) -> bool:
    """Return whether a null result meets a claim or is within two tolerances of its number."""
    if not math.isfinite(null):
        return False
    if claim.kind == "sign":
        return meets(claim, null)[0]
    return meets(claim, null)[0] or abs(null - claim.value) < 2 * claim.tolerance


def format_number(number: float) -> str:
    """Write a number for readers: integers in full, other numbers with four digits."""
    is_whole = math.isfinite(number) and (number == round(number) or abs(number) >= 1e4)
    return f"{number:,.0f}" if is_whole else f"{number:.4g}"


def _judge_met(claim: Claim, estimate: Estimate, null: float, clause: str) -> tuple[str, str]:
    if claim.kind not in EXEMPT_KINDS:
        if math.isfinite(null) and meets(claim, null)[0]:
            return INCONCLUSIVE, f"{clause}, but so would a null result ({format_number(null)})"
        if _covers(estimate, null if claim.kind in _WITH_NUMBER else _edge(claim)):
            return INCONCLUSIVE, f"{clause}, but the interval covers both sides of the claim"
    if claim.kind in _WITH_NUMBER and estimate.low < estimate.high and not _covers(estimate, claim.value):
        clause += ", though the published number lies outside the interval"
    return REPRODUCED, clause


def _judge_missed(claim: Claim, estimate: Estimate, null: float, clause: str) -> tuple[str, str]:
    side = _sign(claim.value - null, 0.0) if claim.direction and math.isfinite(null) else 0
    margin = 0.0 if estimate.low < estimate.high else claim.tolerance
    if side and _sign(estimate.value - null, margin) == side:
        where = f"on the published side of a null result ({format_number(null)})"
        if _covers(estimate, null):
            return INCONCLUSIVE, f"{clause}; {where}, but the interval covers that too"
        return DIRECTION_ONLY, f"{clause}, but {where}"
    if _covers(estimate, _edge(claim)):
        goal = "the published number" if claim.kind in _WITH_NUMBER else "both sides of the claim"
        return INCONCLUSIVE, f"{clause}, though the interval covers {goal}"
    return NOT_REPRODUCED, clause


def _edge(claim: Claim) -> float:
    """Return the published number, or the threshold of a claim about a bound or a sign."""
    if claim.kind == "sign":
        return 0.0
    slack = {"at_least": -claim.tolerance, "at_most": claim.tolerance}.get(claim.kind, 0.0)
    return claim.value + slack


def _covers(estimate: Estimate, number: float) -> bool:
    """Return whether an interval covers a number; false for an interval of no width."""
    return estimate.low < estimate.high and estimate.low <= number <= estimate.high


def _is_within(gap: float, tolerance: float) -> bool:
    return gap <= tolerance or math.isclose(gap, tolerance, rel_tol=1e-9, abs_tol=1e-12)


def _sign(number: float, margin: float) -> int:
    """Return the sign of a number; 0 within the margin (at least `ROUNDING`) of zero."""
    margin = max(margin, ROUNDING)
    return (number > margin) - (number < -margin)
