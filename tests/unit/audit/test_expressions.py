import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biaslab.audit.expressions import CellError, FormulaError, MissingError, columns_of, estimate, select_rows
from biaslab.core.stats import Estimate, mean_difference, mean_interval, sd_interval, share_interval
from properties import examples

TABLE = pd.DataFrame(
    {
        "weat": ["a", "a", "b", "b", None],
        "kind": ["random", "increase", "random", "decrease", "random"],
        "x": [1.0, 2.0, 4.0, 8.0, np.nan],
        "y": [2.0, 3.0, 5.0, 4.0, 1.0],
        "text": ["1", "2", "3", "4", "5"],
        "flag": [True, False, True, False, True],
        "f1-score": 0.5,
        "macro avg": 0.25,
    }
)

samples = st.lists(st.floats(-100, 100).map(lambda v: round(v, 3)), min_size=2, max_size=12, unique=True)


def value(formula, table=TABLE):
    return estimate(formula, table).value


WHOLE = TABLE.dropna()


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("mean(x, present(x))", 3.75),
        ("mean(x, weat == 'a')", 1.5),
        ("mean(text)", 3),
        ("sd(y)", np.std([2, 3, 5, 4, 1], ddof=1)),
        ("min(x, kind == 'random' and present(x))", 1),
        ("max(y)", 5),
        ("sum(x, y > 1)", 15),
        ("count()", 5),
        ("count(y > 9)", 0),
        ("count(present(x) and x > 1)", 3),
        ("count(weat != 'a')", 3),
        ("count(not present(weat))", 1),
        ("distinct(weat, present(weat))", 2),
        ("distinct(kind, weat == 'a')", 2),
        ("fraction(y > 2)", 0.6),
        ("fraction(y > 2, weat in ('a', 'b'))", 0.75),
        ("difference(x, weat == 'b', weat == 'a')", 4.5),
        ("change(x, weat == 'b', weat == 'a')", 300),
        ("spearman(x, y, present(x))", stats.spearmanr([1, 2, 4, 8], [2, 3, 5, 4]).statistic),
        ("100 * max(x, y > 1) / mean(y) - 1", 100 * 8 / 3 - 1),
        ("-mean(abs(-x), y > 1)", -3.75),
        ("mean(log(x), weat == 'b')", (math.log(4) + math.log(8)) / 2),
        ("count(abs(y) < 0.5 * max(abs(y))) / count()", 0.4),
        ("count(present(x) and not (weat == 'a' or x > 5) and y >= 1)", 1),
        ("count(y in (1, 2))", 2),
        ("count(x > 1 or y < 2)", 4),  # known in spite of a missing number
        ("count(x > 1 and y > 1)", 3),
        ("3", 3),
        ("0.3 - 0.1 * 3", 0),  # 0.3 - 0.30000000000000004
        ("sum(y * 0.1 * 3 - y * 0.3)", 0),
        ("mean(text + text)", 6),  # numbers, although the column holds texts
        ("count(text > 2.5)", 3),
        ("count(text == '2')", 1),
        ("count(text in (2, 3))", 2),
        ("count(weat == kind)", 0),
        ("mean(flag + flag)", 1.2),
        ("mean(`f1-score`)", 0.5),
        ("mean(`macro avg`, `f1-score` == 0.5 and kind != '`')", 0.25),
        ("count(`kind` == 'random')", 3),
    ],
)
def test_formulas(formula, expected):
    assert value(formula) == pytest.approx(expected)


@pytest.mark.parametrize(
    "formula",
    [
        "mean(x, y > 9)",
        "max(x, y > 9)",
        "sd(x, y > 9)",
        "sd(x, weat == 'a' and x > 1)",
        "min(x, y > 9)",
        "fraction(x > 1, y > 9)",
        "difference(x, y > 9, y < 9)",
        "change(x, y < 9, y > 9)",
        "spearman(x, y, y > 9)",
        "spearman(x, y, x == 1)",
        "count() / 0",
        "count(y > 99) / count(y > 99)",
    ],
)
def test_what_has_no_rows_is_missing(formula):
    with pytest.raises(MissingError, match=r"cannot be told from [0-4] rows|is not a finite number"):
        value(formula, WHOLE)


def test_differences_are_exactly_zero_where_numbers_are_equal_and_infinite_ones_stay():
    for formula in ("0.3 - 0.1 * 3", "max(y * 0.1 * 3 - y * 0.3)", "12345678.9 - 12345678.9"):
        assert value(formula) == 0
    table = pd.DataFrame({"x": [np.inf, 1.0]})
    assert value("count(x - 5 > 0)", table) == 1
    with pytest.raises(MissingError):
        value("mean(x - 5)", table)


def test_a_change_from_what_is_zero_but_for_rounding_cannot_be_told():
    rest = 0.1 + 0.2 - 0.3
    table = pd.DataFrame({"x": [0.3, 0.5, 0.3, -0.3, rest], "k": list("aabbb")})
    with pytest.raises(MissingError, match="cannot be told from 5 rows"):
        value("change(x, k == 'a', k == 'b')", table)


def test_a_word_outside_the_selection_changes_no_number():
    table = TABLE.assign(text=["1", "2", "NA", "4", "x"])
    chosen = select_rows("y in (2, 3, 4)", table)
    assert chosen["text"].tolist() == ["1", "2", "4"]
    assert value("mean(text + 10 * text)", chosen) == pytest.approx(11 * 7 / 3)
    with pytest.raises(CellError, match="text is 'NA' in row 3, which is no number"):
        value("mean(text + 10 * text)", table)


def test_columns_are_named_without_backticks_and_functions():
    names = columns_of("mean(x, weat == 'a') - abs(min(y))", "kind in ('a', 'b')")
    assert names == {"x", "y", "weat", "kind"}
    assert columns_of("mean(`f1-score`, `class` == 'a`b')", "kind == '`x`'") == {"f1-score", "class", "kind"}


@pytest.mark.parametrize("name", ["mean", "sd", "median", "min", "max", "sum", "distinct", "spearman"])
def test_a_missing_number_is_never_skipped_unless_it_is_named(name):
    arguments = "x, y" if name == "spearman" else "x"
    with pytest.raises(MissingError, match="x is missing in 1 of 5 rows"):
        value(f"{name}({arguments})")
    assert math.isfinite(value(f"{name}({arguments}, present(x))"))


def test_a_difference_needs_the_numbers_that_it_compares_and_no_others():
    assert value("difference(x, y > 3, y == 2)") == 5
    with pytest.raises(MissingError, match="x is missing in 1 of 2 rows"):
        value("difference(x, y > 3, y <= 2)")
    with pytest.raises(MissingError, match="x is missing in 1 of 2 rows"):
        value("change(x, y <= 2, y > 3)")
    assert value("difference(x, y > 3, y <= 2, present(x))") == 5


@pytest.mark.parametrize(
    "formula",
    [
        "count(x > 1)",
        "count(not x > 1)",
        "fraction(x > 1)",
        "mean(y, x > 1)",
        "distinct(kind, x <= 1)",
        "sum(y, x == 1)",
        "difference(y, x > 1, x <= 1)",
        "count(x in (1, 2))",
        "count(x > 1 or y > 2)",
    ],
)
def test_an_unknown_condition_makes_everything_missing(formula):
    with pytest.raises(MissingError, match="missing values in 1 of 5 rows leave open whether"):
        value(formula)
    assert math.isfinite(value(formula, WHOLE))


@pytest.mark.parametrize("formula", ["count()", "distinct(x)", "sum(x)", "count(x > 1)", "3", "max(x)"])
def test_an_empty_table_tells_nothing(formula):
    with pytest.raises(MissingError, match="no row that the claim is about"):
        value(formula, TABLE[:0])


def test_an_interval_of_missing_ends_and_one_of_one_row_are_none():
    for formula, interval, value_ in (("mean(y)", "min(x), max(x)", 3), ("mean(x, y == 2)", "", 1)):
        found = estimate(formula, TABLE, interval)
        assert found.value == value_
        assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("mean(z)", "the column 'z' is missing"),
        ("mean(x", "is no formula"),
        ("x", "gives no single number"),
        ("foo(x)", "no function 'foo'"),
        ("abs(x, y)", "no function 'abs' has 2 arguments"),
        ("mean()", "'mean' takes 1 arguments"),
        ("mean(x, y > 1, y > 2)", "'mean' takes 1 arguments"),
        ("mean(x, y)", "'y' is no condition"),
        ("mean(3)", "'3' is no column"),
        ("mean(weat)", "weat is 'a' in row 1, which is no number"),
        ("count(weat < 3)", "weat is 'a' in row 1, which is no number"),
        ("count(x == '1')", "compares numbers with the text '1'"),
        ("count(text in ('1', 2))", "mixes numbers and texts"),
        ("count(text > '2')", "computes with the text '2'"),
        ("100 * mean(2 * kind)", "kind is 'random' in row 1"),
        ("mean(f1-score)", "the column 'f1' is missing.*in backticks, as in mean"),
        ("mean(macro avg)", "is no formula .*in backticks"),
        ("mean('f1-score')", "is no column; write a column whose name .*in backticks"),
        ("count(not x)", "is no condition"),
        ("'a' + 1", "computes with the text 'a'"),
        ("count(x in (y,))", "has no place"),
        ("count(x in ())", "has no place"),
        ("mean(x=1)", "has no place"),
        ("True", "has no place"),
        ("x ** 2", "has no place"),
        ("x.mean()", "has no place"),
        ("(lambda: 1)()", "has no place"),
        ("__import__('os')", "no function '__import__'"),
        ("", "is no formula"),
    ],
)
def test_what_is_no_formula_is_refused(formula, message):
    with pytest.raises(FormulaError, match=message):
        value(formula)


def test_select_keeps_rows_that_meet_the_condition():
    assert select_rows("kind == 'random' and x > 1", WHOLE)["y"].tolist() == [5.0]
    assert select_rows("weat == 'c'", TABLE).empty
    assert len(select_rows("present(x) and x > 1", TABLE)) == 3
    with pytest.raises(MissingError, match="leave open whether x > 1"):
        select_rows("x > 1", TABLE)
    with pytest.raises(FormulaError, match="the selection is no condition"):
        select_rows("x + 1", TABLE)


@examples(30)
@given(samples, samples)
def test_intervals_are_those_of_the_statistics(xs, ys):
    """The tests of core.stats compare these with their textbook formulas."""
    table = pd.DataFrame({"v": [*xs, *ys], "g": ["x"] * len(xs) + ["y"] * len(ys)})
    for formula, expected in (
        ("mean(v, g == 'x')", mean_interval(xs)),
        ("sd(v, g == 'x')", sd_interval(xs)[1:]),
        ("fraction(v > 0, g == 'x')", share_interval(sum(x > 0 for x in xs), len(xs))),
        ("difference(v, g == 'x', g == 'y')", mean_difference(xs, ys)[1:3]),
    ):
        found = estimate(formula, table)
        assert (found.low, found.high) == pytest.approx(expected)


def test_a_change_against_a_sure_baseline_has_the_scaled_interval_of_a_mean():
    table = pd.DataFrame({"v": [1.0, 2.0, 4.0, 2.0, 2.0], "g": list("xxxbb")})
    found, mean = estimate("change(v, g == 'x', g == 'b')", table), estimate("mean(v, g == 'x')", table)
    assert found.low == pytest.approx(100 * (mean.low / 2 - 1))
    assert found.high == pytest.approx(100 * (mean.high / 2 - 1))


def test_a_change_covers_the_true_one_in_95_of_100_cases():
    rng = np.random.default_rng(1)
    groups = ["x"] * 5 + ["b"] * 10
    hits = 0
    for _ in range(200):
        table = pd.DataFrame({"v": [*rng.normal(0.5, 0.1, 5), *rng.normal(1, 0.15, 10)], "g": groups})
        found = estimate("change(v, g == 'x', g == 'b')", table)
        hits += found.low <= -50 <= found.high
    assert 0.91 <= hits / 200 <= 0.99


def test_intervals_may_come_from_columns_in_either_order():
    assert estimate("mean(x, y == 2)", TABLE, "max(y), min(y)") == Estimate(1, 1, 5)
    with pytest.raises(FormulaError, match="is no interval"):
        estimate("mean(y)", TABLE, "min(y)")
