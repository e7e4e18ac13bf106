"""The small language in which a claim says what to measure on a table; nothing of it is executed as Python.

A formula is made of the table's columns, numbers, texts in quotes and

======================================  ==================================================================
``+ - * /``, ``abs(x)``, ``log(x)``     row by row
``== != < <= > >=``, ``in ('a', 'b')``  conditions, combined with ``and``, ``or``, ``not``
``mean(x)``, ``sd(x)``                  with Student's t and the chi-square interval
``median min max sum distinct(x)``      ``distinct`` counts different values
``count()``, ``fraction(c)``            rows; share of rows with condition c (Clopper and Pearson's interval)
``difference(x, a, b)``                 mean over rows a minus mean over rows b, with Welch's interval
``change(x, a, b)``                     the same in percent of the mean over b, by the delta method
``spearman(x, y)``                      rank correlation
======================================  ==================================================================

Those from ``mean`` on take a further condition as their last argument: ``mean(x, kind == 'random')``. They
skip missing values; over no rows their value is missing (``count``, ``distinct`` and ``sum``: zero).
Intervals have 95%; a formula has one only when one of these functions is its outermost part.
"""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core import stats

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ROWWISE = {"abs": np.abs, "log": np.log}

Value = float | str | pd.Series


class FormulaError(ValueError):
    """A formula that cannot be read, or does not fit its table."""


@dataclass(frozen=True)
class Estimate:
    """A measured number and its interval; missing parts are NaN."""

    value: float
    low: float = math.nan
    high: float = math.nan


def columns_of(*formulas: str) -> set[str]:
    """Return the columns that formulas refer to.

    Raises
    ------
    FormulaError
        When one cannot be read.
    """
    names = set()
    for formula in formulas:
        tree = _parse(formula)
        functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in functions}
    return names


def select_rows(formula: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table which meet a condition.

    Raises
    ------
    FormulaError
        When the formula cannot be read, is no condition, or does not fit the table.
    """
    return table[_condition(_evaluate(_parse(formula), table), "the selection")].reset_index(drop=True)


def estimate(formula: str, table: pd.DataFrame, interval: str = "") -> Estimate:
    """Return the number that a formula gives on a table.

    Parameters
    ----------
    formula : str
        What to measure.
    table : pandas.DataFrame
        Its rows.
    interval : str
        Two formulas with a comma between, which give the ends of the interval in either order.

    Raises
    ------
    FormulaError
        When a formula cannot be read, gives no single number, or does not fit the table.
    """
    found = _evaluate(_parse(formula), table)
    found = found if isinstance(found, Estimate) else Estimate(_scalar(found))
    if not interval:
        return found
    ends = _parse(interval)
    if not isinstance(ends, ast.Tuple) or len(ends.elts) != 2:
        raise FormulaError(f"'{interval}' is no interval; write LOW, HIGH")
    low, high = sorted(_scalar(_evaluate(end, table)) for end in ends.elts)
    return Estimate(found.value, low, high)


def _parse(formula: str) -> ast.expr:
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise FormulaError(f"'{formula}' is no formula ({error.args[0]})") from error


def _evaluate(node: ast.expr, table: pd.DataFrame) -> Value | Estimate:
    """Return what a part of a formula stands for."""
    match node:
        case ast.Constant(value=bool()):
            raise FormulaError(f"'{node.value}' has no place in a formula")
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.Name():
            return _column(node.id, table)
        case ast.UnaryOp(op=ast.USub()):
            return _apply(operator.neg, node, table, node.operand)
        case ast.UnaryOp(op=ast.Not()):
            return ~_condition(_evaluate(node.operand, table), ast.unparse(node))
        case ast.BinOp() if type(node.op) in _BINARY:
            return _apply(_BINARY[type(node.op)], node, table, node.left, node.right)
        case ast.BoolOp():
            return _combine(node, table)
        case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple() as choices]):
            return _apply(lambda x: x.isin([c.value for c in choices.elts]), node, table, node.left)
        case ast.Compare(ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return _apply(_COMPARE[type(op)], node, table, node.left, right)
        case ast.Call(func=ast.Name(), keywords=[]):
            return _call(node, table)
    raise FormulaError(f"'{ast.unparse(node)}' has no place in a formula")


def _column(name: str, table: pd.DataFrame) -> pd.Series:
    if name not in table.columns:
        raise FormulaError(f"there is no column '{name}' (there are {', '.join(table.columns)})")
    return table[name]


def _apply(function: Callable, node: ast.expr, table: pd.DataFrame, *parts: ast.expr) -> Value:
    """Apply a row-by-row operation to parts of a formula; an estimate takes part with its value."""
    values = [_evaluate(part, table) for part in parts]
    try:
        return function(*(v.value if isinstance(v, Estimate) else v for v in values))
    except ZeroDivisionError:
        return math.nan
    except (TypeError, ValueError, AttributeError) as error:
        raise FormulaError(f"'{ast.unparse(node)}' does not fit the table ({error})") from error


def _combine(node: ast.BoolOp, table: pd.DataFrame) -> pd.Series:
    """Return the conjunction or disjunction of conditions."""
    conditions = [_condition(_evaluate(part, table), ast.unparse(part)) for part in node.values]
    both = operator.and_ if isinstance(node.op, ast.And) else operator.or_
    result = conditions[0]
    for condition in conditions[1:]:
        result = both(result, condition)
    return result


def _condition(value: Value | Estimate, what: str) -> pd.Series:
    if not isinstance(value, pd.Series) or value.dtype != bool:
        raise FormulaError(f"{what} is no condition on the rows")
    return value


def _scalar(value: Value | Estimate) -> float:
    if isinstance(value, Estimate):
        return value.value
    if isinstance(value, int | float | np.number):
        return float(value)
    raise FormulaError("the formula gives no single number; put mean(...) or the like around it")


def _call(node: ast.Call, table: pd.DataFrame) -> Value | Estimate:
    """Return what a function of the language gives."""
    name = node.func.id
    if name in _ROWWISE and len(node.args) == 1:
        return _apply(_ROWWISE[name], node, table, node.args[0])
    if name not in _REDUCTIONS:
        known = ", ".join(sorted([*_ROWWISE, *_REDUCTIONS]))
        raise FormulaError(
            f"there is no function '{name}' with {len(node.args)} arguments (there are {known})"
        )
    function, kinds = _REDUCTIONS[name]
    if len(node.args) not in (len(kinds), len(kinds) + 1):
        raise FormulaError(f"'{name}' takes {len(kinds)} arguments, and a condition")
    arguments = [_argument(a, kind, table) for a, kind in zip(node.args, [*kinds, "c"], strict=False)]
    where = arguments.pop() if len(arguments) > len(kinds) else pd.Series(True, index=table.index)
    return function(*(argument[where] for argument in arguments)) if kinds else Estimate(float(where.sum()))


def _argument(node: ast.expr, kind: str, table: pd.DataFrame) -> pd.Series:
    """Return an argument: a condition ("c"), numbers ("x") or values of any type ("v"), one for each row."""
    value, text = _evaluate(node, table), ast.unparse(node)
    if kind == "c":
        return _condition(value, f"'{text}'")
    if not isinstance(value, pd.Series):
        raise FormulaError(f"'{text}' is no column")
    try:
        return value if kind == "v" else pd.to_numeric(value).astype(float)
    except (TypeError, ValueError) as error:
        raise FormulaError(f"'{text}' holds no numbers ({error})") from error


def _plain(reduce: Callable[[np.ndarray], float]) -> Callable[[pd.Series], Estimate]:
    """Return a reduction without interval, missing over no rows."""

    def reduction(x: pd.Series) -> Estimate:
        present = x.dropna().to_numpy()
        return Estimate(float(reduce(present)) if len(present) else math.nan)

    return reduction


def _mean(x: pd.Series) -> Estimate:
    """Mean with Student's t interval."""
    present = x.dropna().to_numpy()
    return Estimate(float(np.mean(present)) if len(present) else math.nan, *stats.mean_interval(present))


def _fraction(c: pd.Series) -> Estimate:
    """Share of rows that meet a condition, with Clopper and Pearson's interval."""
    hits, n = int(c.sum()), len(c)
    return Estimate(hits / n if n else math.nan, *stats.share_interval(hits, n))


def _between(compare: Callable[..., tuple[float, float, float]]) -> Callable[..., Estimate]:
    """Return a reduction that compares the values over the rows a with those over the rows b."""
    return lambda x, a, b: Estimate(*compare(x[a].dropna(), x[b].dropna()))


def _spearman(x: pd.Series, y: pd.Series) -> Estimate:
    """Spearman's rank correlation; missing for fewer than two rows or a constant column."""
    present = x.notna() & y.notna()
    return Estimate(stats.rank_correlation(x[present], y[present]))


_REDUCTIONS: dict[str, tuple[Callable[..., Estimate] | None, str]] = {
    "mean": (_mean, "x"),
    "sd": (lambda x: Estimate(*stats.sd_interval(x.dropna())), "x"),
    "median": (_plain(np.median), "x"),
    "min": (_plain(np.min), "x"),
    "max": (_plain(np.max), "x"),
    "sum": (lambda x: Estimate(float(x.sum())), "x"),
    "distinct": (lambda v: Estimate(float(v.nunique())), "v"),
    "count": (None, ""),
    "fraction": (_fraction, "c"),
    "difference": (_between(stats.mean_difference), "xcc"),
    "change": (_between(stats.percent_change), "xcc"),
    "spearman": (_spearman, "xx"),
}
