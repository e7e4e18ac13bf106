"""What a measured number says about a claim.

``reproduced``
    The number meets the claim: it is within the tolerance of the published one (kinds value, count, setting,
    identity), not below or not above the bound by more than the tolerance (at_least, at_most), or has the
    published sign and is further from zero than the tolerance (sign). Nothing speaks against it: the data and
    the settings are the paper's, a null result would not meet it, and its interval does not cover both. Only
    a number that is the same in every run, or of tests, or that holds by construction needs no interval.
``direction_only``
    It does not, but the number and its whole interval lie on the published side of a null result (without an
    interval: by more than the tolerance), where the row says that this is worth something.
``inconclusive``
    The interval covers both sides of the claim (of zero, of the bound, or both the claimed number and a null
    result), or the number is off while the interval covers the published one; or a null result would meet the
    claim as well; or it is met, or in its direction, without an effect that it names as its gate; or
    the number was drawn, and has no interval.
``not_reproduced``
    None of these.
``held_elsewhere``, ``failed_elsewhere``
    The first two, or the last, on other data or with other settings than the paper's: this neither confirms
    the paper nor refutes it.
``not_attempted``
    The claim cannot be measured, its area or setup was not run, the results lack what it needs, a condition
    of it does not hold (a classifier that beats chance), or the data are made up.

A null result is what the row names: no effect, after as before, equal methods, chance. So no verdict above
``inconclusive`` can be had by doing nothing.
"""

import math
from collections.abc import Sequence

from biaslab.audit.claims import EXEMPT_KINDS, Claim
from biaslab.audit.expressions import Estimate
from biaslab.core.stats import is_rounding

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction_only"
INCONCLUSIVE = "inconclusive"
NOT_REPRODUCED = "not_reproduced"
HELD_ELSEWHERE = "held_elsewhere"
FAILED_ELSEWHERE = "failed_elsewhere"
NOT_ATTEMPTED = "not_attempted"
ELSEWHERE = (HELD_ELSEWHERE, FAILED_ELSEWHERE)
VERDICTS = (REPRODUCED, DIRECTION_ONLY, INCONCLUSIVE, NOT_REPRODUCED, *ELSEWHERE, NOT_ATTEMPTED)

_WITH_DOUBTS = {
    REPRODUCED: HELD_ELSEWHERE,
    DIRECTION_ONLY: HELD_ELSEWHERE,
    INCONCLUSIVE: INCONCLUSIVE,
    NOT_REPRODUCED: FAILED_ELSEWHERE,
}

ROUNDING = 1e-9
"""How far from zero a sign must lie at least, where its row names no tolerance: float sums are not exact."""

_SIGNS = {-1: "negative", 0: "zero", 1: "positive"}


def judge(
    claim: Claim,
    found: Estimate,
    null: float = math.nan,
    doubts: Sequence[str] = (),
    lacks: Sequence[str] = (),
) -> tuple[str, str]:
    """Return the verdict on a measured claim, and the reason in one clause.

    `null` is NaN for settings and identities, which have none. `doubts` say why data or settings are not the
    paper's, `lacks` which effect is not there without which a number says nothing for the claim.
    """
    holds, clause = meets(claim, found.value)
    verdict, clause = (_judge_met if holds else _judge_missed)(claim, found, null, clause)
    if verdict != INCONCLUSIVE and claim.has_chance and math.isnan(found.low):
        verdict, clause = INCONCLUSIVE, f"{clause}, but without an interval, so that chance is not excluded"
    if lacks and verdict in (REPRODUCED, DIRECTION_ONLY):
        verdict = INCONCLUSIVE
    return _WITH_DOUBTS[verdict] if doubts else verdict, "; ".join([clause, *lacks, *doubts])


def meets(claim: Claim, number: float) -> tuple[bool, str]:
    """Return whether a number meets a claim, and why, in one clause."""
    value, tolerance = claim.value, claim.tolerance
    if claim.kind == "sign":
        is_so, should = _SIGNS[_sign(number, tolerance)], _SIGNS[_sign(value, 0.0)]
        return is_so == should, f"{is_so}, as published" if is_so == should else f"{is_so}, not {should}"
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
    """Return whether a null result would meet a claim, or come within two tolerances of its number."""
    if not math.isfinite(null):
        return False
    if claim.kind == "sign":
        return meets(claim, null)[0]
    return meets(claim, null)[0] or abs(null - claim.value) < 2 * claim.tolerance


def format_number(number: float) -> str:
    """Write a number for a reader: whole ones in full, others with four digits."""
    is_whole = math.isfinite(number) and (number == round(number) or abs(number) >= 1e4)
    return f"{number:,.0f}" if is_whole else f"{number:.4g}"


def _judge_met(claim: Claim, found: Estimate, null: float, clause: str) -> tuple[str, str]:
    """Return the verdict on a claim that the measured number meets."""
    if claim.kind not in EXEMPT_KINDS:
        if math.isfinite(null) and meets(claim, null)[0]:
            return INCONCLUSIVE, f"{clause}, but so would a null result ({format_number(null)})"
        if _covers(found, null if _has_published_number(claim) else _edge(claim)):
            return INCONCLUSIVE, f"{clause}, but the interval covers both sides of the claim"
    if _has_published_number(claim) and found.low < found.high and not _covers(found, claim.value):
        clause += ", though the published number lies outside the interval"
    return REPRODUCED, clause


def _judge_missed(claim: Claim, found: Estimate, null: float, clause: str) -> tuple[str, str]:
    """Return the verdict on a claim that the measured number does not meet."""
    if claim.direction and _is_beyond(claim, found, null):
        where = f"on the published side of a null result ({format_number(null)})"
        if _covers(found, null):
            return INCONCLUSIVE, f"{clause}; {where}, but the interval covers that too"
        return DIRECTION_ONLY, f"{clause}, but {where}"
    if _covers(found, _edge(claim)):
        goal = "the published number" if _has_published_number(claim) else "both sides of the claim"
        return INCONCLUSIVE, f"{clause}, though the interval covers {goal}"
    return NOT_REPRODUCED, clause


def _has_published_number(claim: Claim) -> bool:
    """Return whether the paper prints the number itself, not a bound or a sign."""
    return claim.kind in ("value", "count")


def _edge(claim: Claim) -> float:
    """Return the published number, or the number at which a claim about a bound or a sign turns."""
    if claim.kind == "sign":
        return 0.0
    slack = {"at_least": -claim.tolerance, "at_most": claim.tolerance}.get(claim.kind, 0.0)
    return claim.value + slack


def _is_beyond(claim: Claim, found: Estimate, null: float) -> bool:
    """Return whether a number lies on the published side of a null result; never where these coincide."""
    margin = 0.0 if found.low < found.high else claim.tolerance
    side = _sign(claim.value - null, 0.0) if math.isfinite(null) else 0
    return side != 0 and _sign(found.value - null, margin) == side


def _covers(found: Estimate, number: float) -> bool:
    """Return whether an interval of some width has a number inside; one of no width says nothing."""
    return found.low < found.high and found.low <= number <= found.high


def _is_within(gap: float, tolerance: float) -> bool:
    return gap <= tolerance or math.isclose(gap, tolerance, rel_tol=1e-9, abs_tol=1e-12)


def _sign(number: float, margin: float) -> int:
    """Return the sign of a number, 0 within the margin (at least that of rounding) of zero."""
    margin = max(margin, ROUNDING)
    return (number > margin) - (number < -margin)
