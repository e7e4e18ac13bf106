"""A literal reading of the registries' formulas: rows are dictionaries, a missing value is None."""

import ast
import math
import operator
import statistics
from collections.abc import Callable
from functools import cache

import pyarrow.parquet as pq
from scipy import stats

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.USub: operator.neg,
}


class MissingError(Exception):
    """What a formula needs is not there."""


@cache
def read(path) -> list[dict]:
    """The rows of a table; a column is one of numbers, or of truth values, if all its values are."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    head, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    columns = [typed(list(values)) for values in zip(*lines, strict=True)] or [[] for _ in head]
    return [dict(zip(head, values, strict=True)) for values in zip(*columns, strict=True)]


def typed(values: list[str]) -> list:
    if set(values) <= {"True", "False"}:
        return [value == "True" for value in values]
    try:
        return [float(value) if value else None for value in values]
    except ValueError:
        return [value or None for value in values]


def rows_of(results, patterns: str, setups: list[str]) -> list[dict]:
    """The rows of the files of a claim, with the columns setup and file."""
    found = []
    for setup in setups:
        for pattern in patterns.split():
            for path in sorted(results.glob(pattern.replace("{setup}", setup))):
                found += [{"setup": setup} | row | {"file": path.stem} for row in read(path)]
    names = {name for row in found for name in row}
    return [{name: row.get(name) for name in names} for row in found]


def chosen(formula: str, rows: list[dict]) -> list[dict]:
    if not formula or not rows:
        return rows
    return [row for row, holds in zip(rows, known(evaluate(formula, rows)), strict=True) if holds]


def number(formula: str, rows: list[dict]) -> float:
    if not rows:
        raise MissingError
    found = evaluate(formula, rows)
    if not math.isfinite(found):
        raise MissingError
    return found


def evaluate(formula: str, rows: list[dict]):
    return _value(ast.parse(formula.strip(), mode="eval").body, rows)


def interval(formula: str, rows: list[dict]) -> tuple[float, float] | None:
    """The 95% interval of the outermost function, where SciPy has one."""
    node = ast.parse(formula.strip(), mode="eval").body
    if not isinstance(node, ast.Call) or node.func.id not in ("mean", "fraction", "difference"):
        return None
    if node.func.id == "difference":
        x, a, b = (_value(part, rows) for part in node.args)
        sides = [[v for v, is_in in zip(x, known(side), strict=True) if is_in] for side in (a, b)]
        if min(map(len, sides)) < 2 or len({*sides[0]}) == len({*sides[1]}) == 1:
            return None
        return tuple(stats.ttest_ind(*sides, equal_var=False).confidence_interval())
    values = arguments(node, rows, 1)[0]
    if node.func.id == "fraction":
        return tuple(stats.binomtest(sum(values), len(values)).proportion_ci(method="exact"))
    if len(values) < 2 or len({*values}) == 1:
        return None
    return stats.t.interval(0.95, len(values) - 1, statistics.fmean(values), stats.sem(values))


def _value(node: ast.expr, rows: list[dict]):
    match node:
        case ast.Constant():
            return node.value
        case ast.Tuple():
            return tuple(_value(part, rows) for part in node.elts)
        case ast.Name():
            return [row[node.id] for row in rows]
        case ast.UnaryOp(op=ast.Not()):
            return [None if holds is None else not holds for holds in _value(node.operand, rows)]
        case ast.UnaryOp():
            return lift(OPERATORS[type(node.op)], _value(node.operand, rows))
        case ast.BinOp():
            return lift(OPERATORS[type(node.op)], _value(node.left, rows), _value(node.right, rows))
        case ast.BoolOp():
            parts = [_value(part, rows) for part in node.values]
            return [conjunction(row, isinstance(node.op, ast.And)) for row in zip(*parts, strict=True)]
        case ast.Compare(ops=[ast.In()]):
            choices = _value(node.comparators[0], rows)
            return compare(lambda x, _: x in choices, _value(node.left, rows), choices[0], len(rows))
        case ast.Compare():
            sides = _value(node.left, rows), _value(node.comparators[0], rows)
            return compare(OPERATORS[type(node.ops[0])], *sides, len(rows))
        case ast.Call():
            return call(node, rows)
    raise AssertionError(ast.dump(node))


def lift(function: Callable, *values):
    """Apply a function to numbers, or row by row; of a missing number nothing comes."""
    if not any(isinstance(value, list) for value in values):
        try:
            return None if None in values else function(*values)
        except ZeroDivisionError:
            return math.nan
    n = max(len(value) for value in values if isinstance(value, list))
    columns = [value if isinstance(value, list) else [value] * n for value in values]
    return [lift(function, *row) for row in zip(*columns, strict=True)]


def compare(function: Callable, x, y, n: int) -> list:
    """Compare row by row; beside a text a missing value is no text, beside a number it leaves all open."""
    columns = [value if isinstance(value, list) else [value] * n for value in (x, y)]
    if any(isinstance(value, str) for column in columns for value in column):
        return [function(*row) for row in zip(*columns, strict=True)]
    return [None if None in row else function(*row) for row in zip(*columns, strict=True)]


def conjunction(parts: tuple, is_and: bool):
    decisive = not is_and
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def known(conditions: list) -> list:
    if None in conditions:
        raise MissingError
    return conditions


def arguments(node: ast.Call, rows: list[dict], n: int) -> list[list]:
    """The values of the first n arguments in the rows where the last one holds, if there is one more."""
    values = [_value(part, rows) for part in node.args]
    if len(values) > n:
        where = known(values.pop())
        values = [[v for v, holds in zip(column, where, strict=True) if holds] for column in values]
        if not values:
            return [[True] * sum(where)]
    for column in values:
        if any(v is None or (isinstance(v, float) and not math.isfinite(v)) for v in column):
            raise MissingError
    return values


def call(node: ast.Call, rows: list[dict]):
    name = node.func.id
    if name in ("abs", "log"):
        return lift({"abs": abs, "log": math.log}[name], _value(node.args[0], rows))
    if name == "present":
        return [value is not None for value in _value(node.args[0], rows)]
    if name == "count":
        return float(len(arguments(node, rows, 0)[0])) if node.args else float(len(rows))
    if name in ("difference", "change"):
        x, *sides = (_value(part, rows) for part in node.args)
        parts = [[v for v, holds in zip(x, known(side), strict=True) if holds] for side in sides]
        if any(None in part or not part for part in parts):
            raise MissingError
        a, b = map(statistics.fmean, parts)
        return a - b if name == "difference" else 100 * (a - b) / b
    if name == "spearman":
        return float(stats.spearmanr(*arguments(node, rows, 2)).statistic)
    (values,) = arguments(node, rows, 1)
    if name == "distinct":
        return float(len(set(values)))
    if not values or (name == "sd" and len(values) < 2):
        raise MissingError
    reductions = {"mean": statistics.fmean, "fraction": statistics.fmean, "median": statistics.median}
    reductions |= {"sd": statistics.stdev, "min": min, "max": max, "sum": math.fsum}
    return float(reductions[name](values))
