import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_data import claim
from biaslab.audit.verdicts import is_weak, judge, meets
from biaslab.core.stats import Estimate

numbers = st.floats(-100, 100).map(lambda x: round(x, 3))
SIGN = {"kind": "sign", "value": 1.0, "tolerance": 0.0}


def verdict(fields, *found, null=-9.0, doubts=()):
    exact = {"interval": "exact" if len(found) == 1 else ""}
    return judge(claim(**exact | fields), Estimate(*found), null, doubts)


@pytest.mark.parametrize(
    ("fields", "number", "expected"),
    [
        ({}, 2.5, ("reproduced", "off by 0.5, within the tolerance of 0.5")),
        ({}, 2.6, ("not_reproduced", "off by 0.6, more than the tolerance of 0.5")),
        ({}, 2.0, ("reproduced", "equal")),
        ({"tolerance": 0.0}, 3.0, ("not_reproduced", "off by 1")),
        ({"kind": "count", "tolerance": 0.0}, 2.0, ("reproduced", "equal")),
        ({"kind": "at_least", "tolerance": 0.0}, 2.0, ("reproduced", "2 is at least 2")),
        ({"kind": "at_least", "tolerance": 0.0}, 1.9, ("not_reproduced", "1.9 is not at least 2")),
        ({"kind": "at_least"}, 1.5, ("reproduced", "1.5 is at least 2 (tolerance 0.5)")),
        ({"kind": "at_least"}, 1.4, ("not_reproduced", "1.4 is not at least 2 (tolerance 0.5)")),
        ({"kind": "at_most", "tolerance": 0.0}, 2.1, ("not_reproduced", "2.1 is not at most 2")),
        ({"kind": "at_most"}, 2.5, ("reproduced", "2.5 is at most 2 (tolerance 0.5)")),
        ({"kind": "at_most"}, 2.6, ("not_reproduced", "2.6 is not at most 2 (tolerance 0.5)")),
        (SIGN, 0.1, ("reproduced", "positive, as published")),
        (SIGN | {"value": -1.0}, -0.1, ("reproduced", "negative, as published")),
        (SIGN | {"value": -1.0}, 0.1, ("not_reproduced", "positive, not negative")),
        (SIGN, 0.0, ("not_reproduced", "zero, not positive")),
        (SIGN, 1e-15, ("not_reproduced", "zero, not positive")),
        (SIGN | {"tolerance": 0.2}, 0.1, ("not_reproduced", "zero, not positive")),
    ],
)
def test_a_number_without_an_interval(fields, number, expected):
    null = {"at_most": 99.0, "sign": 0.0}.get(fields.get("kind"), -9.0)
    assert verdict(fields, number, null=null) == expected


def test_the_published_side_of_a_null_result_is_worth_something_only_where_the_row_says_so():
    far = {"direction": True}
    assert verdict(far, 9.0, null=0.0) == (
        "direction_only",
        "off by 7, more than the tolerance of 0.5, but on the published side of a null result (0)",
    )
    assert verdict({}, 9.0, null=0.0)[0] == "not_reproduced"
    assert {verdict(far, number, null=0.0)[0] for number in (-9.0, 0.0, 0.5)} == {"not_reproduced"}
    for found in ((0.5, 0.4, 0.6), (9.0, 7.0, 11.0)):
        assert verdict(far, *found, null=0.0)[0] == "direction_only"
    assert verdict(far, 9.0, -1.0, 19.0, null=0.0)[0] == "inconclusive"


@pytest.mark.parametrize(
    ("fields", "found", "null", "reason"),
    [
        ({}, (2.2, -1.0, 5.4), 0.0, "but the interval covers both sides of the claim"),
        ({"kind": "sign", "value": 1.0}, (2.0, -1.0, 5.0), 0.0, "but the interval covers both sides"),
        ({"kind": "at_most", "tolerance": 0.0}, (0.0, 0.0, 3.0), 9.0, "but the interval covers both"),
        ({"kind": "at_least", "tolerance": 0.0}, (2.5, 1.9, 3.1), 0.0, "but the interval covers both"),
        ({"kind": "at_least", "tolerance": 0.0}, (1.9, 1.0, 2.8), 0.0, "though the interval covers both"),
        ({}, (3.0, 1.9, 4.1), 0.0, "though the interval covers the published number"),
    ],
)
def test_an_interval_that_covers_both_sides_is_inconclusive(fields, found, null, reason):
    name, clause = verdict(fields, *found, null=null)
    assert name == "inconclusive"
    assert reason in clause


def test_with_doubts_a_claim_is_neither_confirmed_nor_refuted():
    doubts = ["elsewhere", "other hops"]
    assert verdict({}, 2.0, doubts=doubts) == ("held_elsewhere", "equal; elsewhere; other hops")
    assert verdict({}, 9.0, doubts=doubts)[0] == "failed_elsewhere"
    assert verdict({}, 2.0, null=2.0, doubts=doubts)[0] == "inconclusive"
    found = verdict({"direction": True}, 9.0, null=0.0, doubts=doubts)
    assert found[0] == "held_elsewhere"
    assert found[1].endswith("; elsewhere; other hops")


def test_without_an_effect_that_it_needs_a_claim_is_open_at_best():
    one = claim(direction=True, interval="exact")
    lacks = ["no effect"]
    assert judge(one, Estimate(2.0), 0.0, (), lacks) == ("inconclusive", "equal; no effect")
    assert judge(one, Estimate(9.0), 0.0, (), lacks)[0] == "inconclusive"
    assert judge(one, Estimate(-9.0), 0.0, (), lacks)[0] == "not_reproduced"
    assert judge(one, Estimate(2.0), 0.0, ["elsewhere"], lacks)[0] == "inconclusive"


@pytest.mark.parametrize("number", [2.0, 9.0, -9.0])
def test_a_number_that_was_drawn_says_nothing_without_an_interval(number):
    one = claim(direction=True)
    name, clause = judge(one, Estimate(number), 0.0)
    assert name == "inconclusive"
    assert clause.endswith("but without an interval, so that chance is not excluded")
    assert judge(one, Estimate(number), 0.0, ["elsewhere"])[0] == "inconclusive"
    for fields in (
        {"interval": "exact"},
        {"caveat": "by construction: it is so"},
        {"counts_as": "none"},
        {"rationale": "binomial: error of 100 trials"},
    ):
        assert judge(claim(direction=True, **fields), Estimate(number), 0.0)[0] != "inconclusive"


def test_settings_have_no_null_result():
    setting = {"kind": "setting", "tolerance": 0.0}
    assert verdict(setting, 2.0, 1.0, 3.0, null=math.nan) == ("reproduced", "equal")
    assert verdict(setting, 3.0, null=math.nan)[0] == "not_reproduced"


@given(
    st.sampled_from(["value", "count", "at_least", "at_most", "sign"]),
    numbers,
    st.floats(0, 50),
    numbers,
    st.booleans(),
    st.floats(0, 20),
)
def test_no_null_result_is_reproduced_or_holds_in_direction(kind, value, tolerance, null, direction, half):
    one = claim(kind=kind, value=value, tolerance=tolerance, direction=direction)
    found = Estimate(null, null - half, null + half)
    assert judge(one, found, null)[0] in ("inconclusive", "not_reproduced")


def test_a_claim_is_weak_when_a_null_result_is_not_far():
    assert is_weak(claim(), 1.6)
    assert is_weak(claim(), 1.1)
    assert not is_weak(claim(), 0.9)
    assert not is_weak(claim(), math.nan)
    assert is_weak(claim(kind="at_least"), 1.5)
    assert not is_weak(claim(kind="sign", value=1.0), 0.0)
    assert is_weak(claim(kind="sign", value=1.0), 3.0)


def test_rounding_does_not_break_a_tie():
    assert meets(claim(value=0.3, tolerance=0.1), 0.1 + 0.1)[0]
