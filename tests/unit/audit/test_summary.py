import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, norm

from biaslab.audit.claims import EVIDENCE
from biaslab.audit.measure import COLUMNS
from biaslab.audit.summary import (
    NO_ROW,
    PAPERS,
    PRINTED,
    accounting,
    count_once,
    headline,
    multiplicity,
    read_papers,
    read_printed,
    weak_rows,
    worst,
)
from biaslab.audit.verdicts import VERDICTS
from biaslab.core.errors import InputError


def row(claim_id="c", **fields):
    texts = dict.fromkeys(COLUMNS, "") | {"claim_id": claim_id, "group": claim_id, "paper": "Doe 2020"}
    texts |= {"item": "Table 1", "counts_as": "cell", "kind": "value"}
    texts |= {"data": "own", "setup": "small", "evidence": "result"}
    names = ("value", "tolerance", "measured", "ci_low", "ci_high", "p_value", "null")
    numbers = dict.fromkeys(names, math.nan)
    return texts | numbers | {"weak": "no", "verdict": "reproduced"} | fields


def table(*rows):
    return pd.DataFrame(rows, columns=list(COLUMNS))


def lines(path, columns, *rows):
    path.write_text("\n".join("\t".join(map(str, fields)) for fields in (columns, *rows)) + "\n")
    return path


def printed(*rows):
    return pd.DataFrame(rows, columns=list(PRINTED))


NOTHING = printed()


def verdict(*rows):
    (found,) = count_once(table(*rows))["verdict"]
    return found


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["reproduced", "direction_only"], "direction_only"),
        (["direction_only", "inconclusive"], "inconclusive"),
        (["inconclusive", "failed_elsewhere"], "failed_elsewhere"),
        (["held_elsewhere", "reproduced"], "held_elsewhere"),
        (["inconclusive", "not_reproduced", "reproduced"], "not_reproduced"),
        (["not_attempted", "reproduced"], "reproduced"),
        (["not_attempted"], "not_attempted"),
    ],
)
def test_the_worst_of_several_verdicts(verdicts, expected):
    assert {worst(order) for order in permutations(verdicts)} == {expected}


def test_a_cell_counts_once_however_many_setups_measure_it_and_by_the_worst():
    rows = [row(data="any", setup=s, verdict=v) for s, v in (("a", "reproduced"), ("b", "inconclusive"))]
    assert verdict(*rows) == "inconclusive"
    assert len(count_once(table(*(row(name, group="t1") for name in "ab")))) == 2
    (line, _) = headline(table(*rows), NOTHING).sort_values("printed", ascending=False).to_dict("records")
    assert (line["printed"], line["inconclusive"], line["reproduced"]) == (1, 1, 0)


def test_other_data_count_only_where_the_papers_own_were_not_measured():
    assert verdict(row(), row(data="other", verdict="inconclusive")) == "reproduced"
    other = row(setup="b", data="other", verdict="held_elsewhere")
    assert verdict(row(), other) == "reproduced"
    assert verdict(row(verdict="not_reproduced"), other) == "not_reproduced"
    assert verdict(row(verdict="not_attempted", data=""), other) == "held_elsewhere"
    assert verdict(row(verdict="not_attempted"), other) == "held_elsewhere"
    failing = row(setup="c", data="other", verdict="failed_elsewhere")
    assert verdict(row(verdict="not_attempted", data=""), other, failing) == "failed_elsewhere"
    unfair = row(setup="d", data="any", verdict="failed_elsewhere")
    assert verdict(row(setup="e", data="any"), unfair) == "reproduced"


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [(["result", "result"], "result"), (["result", "quirk"], "quirk"), (["given", "convention"], "given")],
)
def test_what_is_reproduced_is_worth_its_weakest_row(kinds, expected):
    parts = [row(f"c{n}", counts_as="statement", group="s", evidence=kind) for n, kind in enumerate(kinds)]
    (line, _) = headline(table(*parts), NOTHING).to_dict("records")
    assert {kind: line[kind] for kind in EVIDENCE} == dict.fromkeys(EVIDENCE, 0) | {expected: 1}
    parts.append(row("x", counts_as="statement", group="s", verdict="inconclusive"))
    (line, _) = headline(table(*parts), NOTHING).to_dict("records")
    assert {line[kind] for kind in EVIDENCE} == {0}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "not_reproduced"], "not_reproduced"),
        (["reproduced", "not_attempted"], "inconclusive"),
        (["direction_only", "not_attempted"], "inconclusive"),
        (["not_reproduced", "not_attempted"], "not_reproduced"),
        (["not_attempted", "not_attempted"], "not_attempted"),
    ],
)
def test_a_statement_in_parts_counts_once(verdicts, expected):
    parts = [row(f"c{n}", counts_as="statement", group="s", verdict=v) for n, v in enumerate(verdicts)]
    assert verdict(*parts) == expected


def test_the_headline_has_two_lines_a_paper_and_adds_up():
    rows = [row(str(n), counts_as="statement", verdict=v) for n, v in enumerate(VERDICTS)]
    rows += [row("d", counts_as="derived"), row("n", counts_as="none"), row("x", paper="Roe 2021")]
    items = [(paper, "Table 1", "cell", 7, 4, "no curve") for paper in ("Doe 2020", "Poe 2022")]
    found = headline(table(*rows), printed(*items)).set_index(["paper", "counts_as"])
    assert list(found.index) == [(p, c) for p in ("Doe 2020", "Roe 2021") for c in ("statement", "cell")]
    assert found.loc[("Doe 2020", "statement")].tolist() == [7, 1, 0, 0, 0, *[1] * 7, 0]
    assert found.loc[("Doe 2020", "cell")].tolist() == [4, *[0] * 11, 4]
    assert (found[[*VERDICTS, NO_ROW]].sum(axis=1) == found["printed"]).all()


def test_the_accounting_says_what_does_not_add_up():
    rows = [row("a"), row("b"), row("b", setup="other"), row("d", counts_as="derived", item="Table 9")]
    rows += [row(f"s{n}", counts_as="statement", group="s") for n in range(3)]
    rows += [row("z", item="Table 3")]
    items = [
        ("Doe 2020", "Table 1", "statement", 1, 0, ""),
        ("Doe 2020", "Table 1", "cell", 4, 1, "unreadable"),
        ("Doe 2020", "Table 2", "cell", 3, 3, "a picture"),
    ]
    found = accounting(table(*rows), printed(*items))
    assert found["item"].tolist() == ["Table 1", "Table 1", "Table 2", "Table 3"]
    assert found["counts_as"].tolist() == ["statement", "cell", "cell", "cell"]
    assert found["present"].tolist() == [1, 2, 0, 1]
    assert found["sums_up"].tolist() == [True, False, True, False]
    assert found["printed"].isna().tolist() == [False, False, False, True]


def sign(name, p, measured=1.0, half=0.5, **fields):
    low, high = (math.nan, math.nan) if math.isnan(p) else (measured - half, measured + half)
    numbers = {"value": 1.0, "tolerance": 0.0, "measured": measured}
    numbers |= {"ci_low": low, "ci_high": high, "p_value": p}
    return row(name, kind="sign", **numbers | fields)


def test_multiplicity_counts_what_survives_the_number_of_tests():
    p_values = [0.001, 0.03, 0.04, 0.045, 0.6, 0.8]
    rows = [sign(f"c{n}", p, half=0.5 if p < 0.05 else 2) for n, p in enumerate(p_values)]
    rows += [sign("wrong", 0.0001, measured=-1.0), sign("unknown", math.nan), row("v")]
    rows += [sign("unused", 0.0001, counts_as="none"), sign("later", 0.0001, verdict="not_attempted")]
    found = multiplicity(table(*rows))
    q = false_discovery_control([*p_values, 0.0001])
    assert (found.measured, found.tested, found.clear, found.untested) == (8, 7, 4, 1)
    assert found.kept == sum(q[:4] <= 0.05) == 1
    assert found.sentence.startswith("1 of 8 measured signs")
    none = multiplicity(table(row()))
    assert (none.measured, none.tested, none.clear, none.kept) == (0, 0, 0, 0)
    below, across = sign("below", 0.001, -1.0, value=-1.0), sign("across", 0.3, -1.0, half=2.0, value=-1.0)
    negative = multiplicity(table(below, across))
    assert (negative.tested, negative.clear, negative.kept) == (2, 1, 1)


def test_noise_that_looks_clear_does_not_survive():
    z = np.random.default_rng(5).normal(size=200)
    rows = [sign(f"c{n}", float(2 * norm.sf(abs(x))), measured=x, half=1.96) for n, x in enumerate(z)]
    found = multiplicity(table(*rows))
    assert found.clear >= 3
    assert found.kept == 0


def test_weak_rows_say_why():
    tuned, weaker = "tuned on this: the same sets", "weaker than printed: a bound"
    rows = [row("a"), row("b", weak="yes"), row("c", caveat=tuned), row("d", weak="yes", caveat=weaker)]
    rows += [row("e", weak="yes", verdict="not_attempted")]
    found = weak_rows(table(*rows)).set_index("claim_id")["why"]
    assert found.to_dict() == {"b": "a null result would meet it, or come close", "c": tuned, "d": weaker}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("Doe", "Table 1", "derived", 1, 0, "")], r"line 2, column 'counts_as': 'derived' is not allowed"),
        ([("Doe", "Table 1", "cell", "some", 0, "")], r"column 'printed': 'some' is no number of things"),
        ([("Doe", "Table 1", "cell", 1, -1, "")], r"column 'absent': '-1' is no number of things"),
        ([("Doe", "Table 1", "cell", 1, 2, "why")], r"2 absent of 1 printed"),
        ([("Doe", "Table 1", "cell", 1, 1, "")], r"column 'reason': empty; state why 1 have no row"),
        ([("Doe", "Table 1", "cell", 1, 0, "")] * 2, r"line 3: Doe, Table 1, cell has a row already"),
    ],
)
def test_a_wrong_account_of_what_is_printed_is_refused(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_printed([lines(tmp_path / "x.tsv", PRINTED, *rows)])
    papers = lines(tmp_path / "p.tsv", PAPERS, ("Doe 2020", "On x", "the text", "figures", ""))
    with pytest.raises(InputError, match="Doe 2020 has a row already"):
        read_papers([papers, papers])
