"""The language of formulas in which a claim defines its measurement; no formula is executed as Python.

A formula consists of columns of the table, numbers, quoted texts and the functions below. Write a column name
with blanks or signs in backticks: ``mean(`f1-score`)``.

======================================  ==================================================================
``+ - * /``, ``abs(x)``, ``log(x)``     row by row
``== != < <= > >=``, ``in ('a', 'b')``  conditions, combined with ``and``, ``or``, ``not``
``mean(x)``, ``sd(x)``                  with Student's t interval and the chi-square interval
``median min max sum distinct(x)``      ``distinct`` counts different values
``count()``, ``fraction(c)``            rows; share of rows with condition c (Clopper and Pearson's interval)
``present(x)``                          condition: the row has a value in x
``difference(x, a, b)``                 mean over rows a minus mean over rows b, with Welch's interval
``change(x, a, b)``                     the difference in percent of the mean over b, by the delta method
``spearman(x, y)``                      rank correlation
======================================  ==================================================================

All functions from ``mean`` on, except ``present``, accept a condition as an additional last argument:
``mean(x, kind == 'random')``. Intervals have 95% confidence. A formula has an interval only if such a
function is its outermost part.

Missing values are never imputed. A condition on a missing number is unknown; a missing text differs from
every text. Unknown conditions, missing numbers and too few rows make the value of a function missing:
`MissingError`. ``count`` and ``distinct`` are zero if no row meets their condition, but missing on an empty
table. Exclude rows without a value explicitly: ``present(x) and x < 0.05`` is false, not unknown, if x is
missing.

Operators, ``< <= > >=`` and functions of numbers accept only numbers. A column that was read as text, because
a cell contains a word, is converted to numbers. A cell that is not a number raises `CellError`, also in an
equality with a number. A comparison of numbers with a text raises `FormulaError`.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import cache, reduce

import numpy as np
import pandas as pd

from biaslab.core import stats
from biaslab.core.errors import number_of
from biaslab.core.stats import Estimate


def _subtract(x: float | pd.Series, y: float | pd.Series) -> float | pd.Series:
    """Return x - y, exactly 0 if both are equal up to rounding."""
    difference = x - y
    is_zero = np.abs(difference) <= stats.ROUNDING * np.maximum(np.abs(x), np.abs(y))
    is_zero &= np.isfinite(difference)
    if isinstance(difference, pd.Series):
        return difference.mask(is_zero, 0.0)
    return 0.0 if is_zero else difference


_BINARY = {ast.Add: operator.add, ast.Sub: _subtract, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ROWWISE = {"abs": np.abs, "log": np.log}
_TEXT_OR_NAME = re.compile(r"""'[^']*'|"[^"]*"|`([^`]+)`""")
_BACKTICKS = "write a column whose name has blanks or signs in backticks, as in mean(`f1-score`)"

Value = float | str | pd.Series  # the value of a part of a formula, if not an Estimate


class FormulaError(ValueError):
    """A formula that cannot be parsed or does not fit its table."""


class CellError(FormulaError):
    """A cell that a formula needs as a number but that is not a number."""

    def __init__(self, column: str, row: int, cell: object) -> None:
        super().__init__(f"{column} is '{cell}' in row {row + 1}, which is no number")
        self.column, self.row, self.cell = column, row, cell  # row: index in the table, from 0


class MissingError(ValueError):
    """Input that a formula needs is missing in the table; the message names the input in one clause."""


def columns_of(*formulas: str) -> set[str]:
    """Return the columns in formulas."""
    names = set()
    for formula in formulas:
        tree = _parse(formula)
        functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names |= {
            node.id.strip("`")
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and id(node) not in functions
        }
    return names


def select_rows(formula: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that meet a condition; `MissingError` if the condition is unknown for a row."""
    chosen = _as_booleans(_condition(_evaluate(_parse(formula), table), "the selection"), formula)
    return table[chosen].reset_index(drop=True)


def estimate(formula: str, table: pd.DataFrame, interval: str = "") -> Estimate:
    """Return the value of a formula; `interval` contains two formulas for its ends, in either order."""
    if table.empty:
        raise MissingError("no row that the claim is about")
    result = _evaluate(_parse(formula), table)
    result = result if isinstance(result, Estimate) else Estimate(_scalar(result))
    if not math.isfinite(result.value):
        raise MissingError(f"{formula} is not a finite number")
    if not interval:
        return result
    ends = _parse(interval)
    if not isinstance(ends, ast.Tuple) or len(ends.elts) != 2:
        raise FormulaError(f"'{interval}' is no interval; write LOW, HIGH")
    try:
        low, high = sorted(_scalar(_evaluate(end, table)) for end in ends.elts)
    except MissingError:  # the table lacks a value of an end
        return Estimate(result.value)
    return Estimate(result.value, low, high)


@cache
def _parse(formula: str) -> ast.expr:
    """Return the syntax tree of a formula; names keep their backticks, for messages."""
    names: dict[str, str] = {}

    def hide(match: re.Match) -> str:
        if match[1] is None:
            return match[0]
        hidden = f"__column_{len(names)}"
        names[hidden] = match[0]
        return hidden

    try:
        tree = ast.parse(_TEXT_OR_NAME.sub(hide, formula.strip()), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise FormulaError(f"'{formula}' is no formula ({error.args[0]}); {_BACKTICKS}") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return tree


def _evaluate(node: ast.expr, table: pd.DataFrame) -> Value | Estimate:
    match node:
        case ast.Constant(value=bool()):
            raise FormulaError(f"'{node.value}' has no place in a formula")
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.Name():
            name = node.id.strip("`")
            if name not in table.columns:
                columns = [column for column in table.columns if not column.startswith("__")]
                hint = "" if all(column.isidentifier() for column in columns) else f"; {_BACKTICKS}"
                raise FormulaError(f"the column '{name}' is missing (columns: {', '.join(columns)}){hint}")
            return table[name]
        case ast.UnaryOp(op=ast.USub()):
            return _compute(operator.neg, node, table, node.operand)
        case ast.UnaryOp(op=ast.Not()):
            return ~_condition(_evaluate(node.operand, table), ast.unparse(node))
        case ast.BinOp() if type(node.op) in _BINARY:
            return _compute(_BINARY[type(node.op)], node, table, node.left, node.right)
        case ast.BoolOp():
            parts = [_condition(_evaluate(part, table), ast.unparse(part)) for part in node.values]
            if any(part.dtype != bool for part in parts):
                # The nullable type: false and unknown is false, true or unknown is true.
                parts = [part.astype("boolean") for part in parts]
            return reduce(operator.and_ if isinstance(node.op, ast.And) else operator.or_, parts)
        case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple(elts=[_, *_]) as choices]):
            return _choose(node, choices.elts, table)
        case ast.Compare(ops=[op], comparators=[right]) if type(op) in _COMPARE:
            sides = _evaluate(node.left, table), _evaluate(right, table)
            sides = _as_numbers(node, *sides) if isinstance(op, _ORDERS) else _comparable(node, *sides)
            return _unknown_where_missing(_operate(_COMPARE[type(op)], node, *sides), *sides)
        case ast.Call(func=ast.Name(), keywords=[]):
            return _call(node, table)
    raise FormulaError(f"'{ast.unparse(node)}' has no place in a formula")


def _choose(node: ast.Compare, choices: Sequence[ast.expr], table: pd.DataFrame) -> pd.Series:
    if other := next((choice for choice in choices if not isinstance(choice, ast.Constant)), None):
        raise FormulaError(f"'{ast.unparse(other)}' has no place in a formula")
    values = [choice.value for choice in choices]
    if len(set(map(_is_text, values))) > 1:
        raise FormulaError(f"'{ast.unparse(node)}' mixes numbers and texts")
    left, _ = _comparable(node, _evaluate(node.left, table), values[0])
    condition = _operate(lambda x: x.isin(values), node, left)
    return condition if _is_text(values[0]) else _unknown_where_missing(condition, left)


def _compute(function: Callable, node: ast.expr, table: pd.DataFrame, *parts: ast.expr) -> Value:
    return _operate(function, node, *_as_numbers(node, *(_evaluate(part, table) for part in parts)))


def _as_numbers(node: ast.expr, *values: Value | Estimate) -> list[Value | Estimate]:
    if text := next((value for value in values if isinstance(value, str)), None):
        raise FormulaError(f"'{ast.unparse(node)}' computes with the text '{text}'")
    return [_numbers(value) if isinstance(value, pd.Series) else value for value in values]


def _numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, truth values as 0 and 1; `CellError` for a cell that is not a number."""
    if column.dtype == "boolean":
        return pd.Series(column.to_numpy(float, na_value=np.nan), column.index, name=column.name)
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype(float)
    if not _is_text(column):
        try:
            return column.astype(float)
        except (TypeError, ValueError) as error:
            raise FormulaError(f"'{column.name}' holds no numbers ({error})") from error
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    wrong = (numbers.isna() & column.notna()).to_numpy().nonzero()[0]
    spelled = (i for i in wrong if str(column.iloc[i]).strip().lower() != "nan")
    if (row := next(spelled, None)) is not None:
        raise CellError(str(column.name), int(row), column.iloc[row])
    return numbers


def _comparable(node: ast.expr, *sides: Value | Estimate) -> Sequence[Value | Estimate]:
    """Return the sides of an equality as comparable values: all texts, or all numbers."""
    texts = [side for side in sides if isinstance(side, str)]
    if not texts:
        return sides if all(map(_is_text, sides)) else _as_numbers(node, *sides)
    numbers = [side for side in sides if not _is_text(side)]
    if any(not isinstance(side, pd.Series) or side.notna().any() for side in numbers):
        raise FormulaError(f"'{ast.unparse(node)}' compares numbers with the text '{texts[0]}'")
    return sides


def _operate(function: Callable, node: ast.expr, *values: Value | Estimate) -> Value:
    """Apply a row-by-row operation to values; estimates are replaced by their values."""
    try:
        return function(*(v.value if isinstance(v, Estimate) else v for v in values))
    except ZeroDivisionError:
        return math.nan
    except (TypeError, ValueError, AttributeError) as error:
        raise FormulaError(f"'{ast.unparse(node)}' does not fit the table ({error})") from error


def _unknown_where_missing(result: Value, *values: Value | Estimate) -> Value:
    """Return a condition that is unknown if a compared number is missing.

    A missing text differs from every text, so that a condition on texts is always known.
    """
    if not isinstance(result, pd.Series) or any(map(_is_text, values)):
        return result
    missing = np.zeros(len(result), bool)
    for value in values:
        number = value.value if isinstance(value, Estimate) else value
        missing |= np.asarray(pd.isna(number))
    return result.astype("boolean").mask(missing) if missing.any() else result  # the plain type is faster


def _is_text(value: Value | Estimate) -> bool:
    if not isinstance(value, pd.Series):
        return isinstance(value, str)
    return value.dtype == object or isinstance(value.dtype, pd.StringDtype)


def _condition(value: Value | Estimate, description: str) -> pd.Series:
    if not isinstance(value, pd.Series) or not pd.api.types.is_bool_dtype(value.dtype):
        raise FormulaError(f"{description} is no condition on the rows")
    return value


def _as_booleans(condition: pd.Series, text: str) -> pd.Series:
    if condition.dtype == bool:
        return condition
    unknown = int(condition.isna().sum())
    if unknown:
        raise MissingError(f"missing values in {unknown} of {len(condition)} rows leave open whether {text}")
    return condition.astype(bool)


def _scalar(value: Value | Estimate) -> float:
    if isinstance(value, Estimate):
        return value.value
    if isinstance(value, int | float | np.number):
        return float(value)
    raise FormulaError("the formula gives no single number; put mean(...) or the like around it")


def _call(node: ast.Call, table: pd.DataFrame) -> Value | Estimate:
    name = node.func.id
    if name in _ROWWISE and len(node.args) == 1:
        return _compute(_ROWWISE[name], node, table, node.args[0])
    if name == "present" and len(node.args) == 1:
        return _operate(pd.Series.notna, node, _evaluate(node.args[0], table))
    if name not in _REDUCTIONS:
        names = ", ".join(sorted([*_ROWWISE, *_REDUCTIONS, "present"]))
        raise FormulaError(
            f"no function '{name}' has {number_of(len(node.args), 'argument')} (functions: {names})"
        )
    function, kinds = _REDUCTIONS[name]
    if len(node.args) not in (len(kinds), len(kinds) + 1):
        raise FormulaError(f"'{name}' takes {len(kinds)} arguments, and a condition")
    return _reduce(node, function, kinds, table)


def _reduce(node: ast.Call, function: Callable[..., Estimate], kinds: str, table: pd.DataFrame) -> Estimate:
    """Return the value of a function over the rows that meet the condition in its last argument.

    `kinds` has a letter for each argument: a condition (c), numbers (x, n) or any values (v).
    """
    arguments = []
    for argument, kind in zip(node.args, [*kinds, "c"], strict=False):
        values, text = _evaluate(argument, table), ast.unparse(argument)
        if kind == "c":
            values = _condition(values, f"'{text}'")
        elif not isinstance(values, pd.Series):
            raise FormulaError(f"'{text}' is no column; {_BACKTICKS}")
        arguments.append((values if kind in "cv" else _numbers(values), kind, text))
    where = pd.Series(True, index=table.index)
    if len(arguments) > len(kinds):
        condition, _, text = arguments.pop()
        where = _as_booleans(condition, text)
    chosen = []
    for values, kind, text in arguments:
        if kind == "c":
            chosen.append(_as_booleans(values[where], text))
        elif kind == "n":  # the function itself checks the numbers that it needs
            chosen.append(values[where].rename(text))
        else:
            chosen.append(_require_all(values[where], text))
    result = function(*chosen) if kinds else Estimate(float(where.sum()))
    if math.isnan(result.value):
        raise MissingError(f"{ast.unparse(node)} cannot be told from {int(where.sum())} rows")
    return result


def _require_all(values: pd.Series, name: str) -> pd.Series:
    is_number = pd.api.types.is_float_dtype(values.dtype)
    missing = int((~np.isfinite(values) if is_number else values.isna()).sum())
    if missing:
        raise MissingError(f"{name} is missing in {missing} of {len(values)} rows")
    return values


def _without_interval(function: Callable[[np.ndarray], float]) -> Callable[[pd.Series], Estimate]:
    """Return a reduction without an interval; its value is missing for no rows."""
    return lambda x: Estimate(float(function(x.to_numpy())) if len(x) else math.nan)


def _between(compare: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Return a reduction that compares the values in rows a with the values in rows b."""
    return lambda x, a, b: compare(_require_all(x[a], x.name), _require_all(x[b], x.name))


_REDUCTIONS: dict[str, tuple[Callable[..., Estimate] | None, str]] = {
    "mean": (lambda x: Estimate(float(np.mean(x)), *stats.mean_interval(x), df=len(x) - 1), "x"),
    "sd": (lambda x: Estimate(*stats.sd_interval(x)), "x"),
    "median": (_without_interval(np.median), "x"),
    "min": (_without_interval(np.min), "x"),
    "max": (_without_interval(np.max), "x"),
    "sum": (_without_interval(np.sum), "x"),
    "distinct": (lambda v: Estimate(float(v.nunique())), "v"),
    "count": (None, ""),
    "fraction": (lambda c: Estimate(float(c.mean()), *stats.share_interval(int(c.sum()), len(c))), "c"),
    "difference": (_between(stats.mean_difference), "ncc"),
    "change": (_between(stats.percent_change), "ncc"),
    "spearman": (lambda x, y: Estimate(stats.rank_correlation(x, y)), "xx"),
}
