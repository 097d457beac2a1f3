"""Reads the aggregates of SQL from an allow-list into our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from sqlglot import exp

from curador.query.aggregates import counts, moments, sums, top
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.pairs import pairs
from curador.query.aggregates.quantiles import ranks
from curador.query.ask.sql.expressions import Reader, number
from curador.query.ask.sql.text import only, refuse, word
from curador.query.language import expressions as ex

_SIMPLE: dict[type[exp.Expr], Callable[[ex.Expr], Aggregate]] = {
    exp.Sum: sums.sum_,
    exp.Avg: moments.mean,
    exp.Variance: moments.variance,
    exp.VariancePop: lambda x: moments.variance(x, population=True),
    exp.Stddev: moments.std,
    exp.StddevSamp: moments.std,
    exp.StddevPop: lambda x: moments.std(x, population=True),
    exp.Median: ranks.median,
    exp.Min: ranks.minimum,
    exp.Max: ranks.maximum,
}

_PAIRS: dict[type[exp.Expr], Callable[[ex.Expr, ex.Expr], Aggregate]] = {
    exp.Corr: pairs.correlation,
    exp.CovarPop: lambda x, y: pairs.covariance(x, y, population=True),
    exp.CovarSamp: pairs.covariance,
    exp.RegrSlope: pairs.slope,
    exp.RegrIntercept: pairs.intercept,
    exp.RegrR2: pairs.r_squared,
    exp.RegrCount: pairs.pair_count,
    exp.RegrAvgx: lambda y, x: pairs.pair_mean(y, x, of_x=True),
    exp.RegrAvgy: lambda y, x: pairs.pair_mean(y, x, of_x=False),
}


def aggregate_of(node: exp.Expr, rows: Reader, is_unit: Callable[[ex.Expr], bool]) -> Aggregate:
    """The aggregate a node of SELECT stands for; ``is_unit`` knows the column whose distinct values are units."""
    kind = type(node)
    if kind is exp.Count:
        return _count(node, rows, is_unit)
    if kind is exp.CountIf:
        only(node, rows.text, "this")
        return counts.count(_where(rows.read(node.this), ex.Literal(1)))
    if kind is exp.Filter:
        return _filtered(node, rows, is_unit)
    if kind in _SIMPLE:
        only(node, rows.text, "this")
        return _SIMPLE[kind](rows.read(node.this))
    if kind in _PAIRS:
        only(node, rows.text, "this", "expression")
        return _PAIRS[kind](rows.read(node.this), rows.read(node.expression))
    if kind is exp.Mode:
        only(node, rows.text, "this")
        return top.mode(rows.read(node.this))
    if kind is exp.ApproxTopK:
        only(node, rows.text, "this", "expression")
        return top.top_k(number(node.expression, rows.text), rows.read(node.this))  # type: ignore[arg-type]
    if kind is exp.ApproxDistinct:
        only(node, rows.text, "this")
        what = rows.read(node.this)
        return counts.count_distinct(None if is_unit(what) else what)
    if kind in (exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc):
        only(node, rows.text, "this", "quantile", "expression")
        return _quantiles(rows.read(node.this), node.args.get("quantile") or node.args.get("expression"), node, rows)
    if kind is exp.WithinGroup:
        return _within_group(node, rows)
    if kind is exp.Anonymous:
        return _ours(node, rows)
    refuse(node, rows.text)


def _count(node: exp.Expr, rows: Reader, is_unit: Callable[[ex.Expr], bool]) -> Aggregate:
    only(node, rows.text, "this", "big_int")
    inside = node.this
    if inside is None or type(inside) is exp.Star:
        if inside is not None:
            only(inside, rows.text)
        return counts.count()
    if type(inside) is exp.Distinct:
        only(inside, rows.text, "expressions")
        if len(inside.expressions) != 1:
            refuse(
                inside, rows.text, "DISTINCT counts one column.", "Count one column at a time.", code="sql-distinct-one"
            )
        what = rows.read(inside.expressions[0])
        return counts.count_distinct(None if is_unit(what) else what)
    what = rows.read(inside)
    if isinstance(what, ex.Name):  # an id is there or not, also where it is too large to be read as a number
        absent = rows.read(exp.Is(this=inside, expression=exp.Null()))
        if not isinstance(absent, ex.IsNull):
            return counts.count(None if absent == ex.Literal(False) else _where(ex.Not(absent), ex.Literal(1)))
    return counts.count(None if isinstance(what, ex.Literal) and what.kind is not None else what)


def _where(condition: ex.Expr, value: ex.Expr) -> ex.Expr:
    """A value in the rows of a condition, NULL in the others: what an aggregate leaves out."""
    return ex.Case(((condition, value),))


def _filtered(node: exp.Expr, rows: Reader, is_unit: Callable[[ex.Expr], bool]) -> Aggregate:
    only(node, rows.text, "this", "expression")
    only(node.expression, rows.text, "this")
    if type(node.this) is exp.Filter:
        refuse(node, rows.text, "FILTER stands on a FILTER.", "Join the conditions by AND.", code="filter-twice")
    what = aggregate_of(node.this, rows, is_unit)
    condition = rows.read(node.expression.this)
    if what.function == "count" and what.column is None:
        return counts.count(_where(condition, ex.Literal(1)))
    if what.column is None or what.function == "histogram":
        refuse(
            node,
            rows.text,
            f"FILTER does not go with {word(node.this)} here.",
            "Filter in WHERE, in a question of its own.",
            code="filter-not-here",
            word=word(node.this),
        )
    if isinstance(what.column, ex.ValuePair):
        return replace(what, column=ex.ValuePair(_where(condition, what.column.first), what.column.second))
    return replace(what, column=_where(condition, what.column))


def _quantiles(what: ex.Expr, wanted: exp.Expr | None, node: exp.Expr, rows: Reader) -> Aggregate:
    if wanted is None:
        refuse(
            node,
            rows.text,
            f"{word(node, rows.text)} does not say which quantile.",
            "Write QUANTILE(column, 0.9).",
            code="sql-which-quantile",
        )
    listed = [wanted]
    if type(wanted) is exp.Array:
        only(wanted, rows.text, "expressions")
        listed = wanted.expressions
    alone = type(node) is exp.ApproxQuantile
    return ranks.quantiles(what, [number(p, rows.text) for p in listed], interval=not alone)


def _within_group(node: exp.Expr, rows: Reader) -> Aggregate:
    only(node, rows.text, "this", "expression")
    inner, order = node.this, node.expression
    if (
        type(inner) not in (exp.PercentileCont, exp.PercentileDisc, exp.Mode)
        or type(order) is not exp.Order
        or len(order.expressions) != 1
    ):
        refuse(
            node,
            rows.text,
            "WITHIN GROUP goes with PERCENTILE_CONT or PERCENTILE_DISC over one column.",
            _PERCENTILE,
            code="within-group",
        )
    only(inner, rows.text, "this")
    only(order, rows.text, "expressions")
    only(order.expressions[0], rows.text, "this")  # DESC would turn the quantile around
    if type(inner) is exp.Mode:
        if inner.this is not None:
            refuse(node, rows.text, "MODE names two columns.", "Write MODE(column).", code="mode-of-two")
        return top.mode(rows.read(order.expressions[0].this))
    return _quantiles(rows.read(order.expressions[0].this), inner.this, node, rows)


_PERCENTILE = "Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column), or QUANTILE(column, 0.9)."


def _ours(node: exp.Expr, rows: Reader) -> Aggregate:
    only(node, rows.text, "this", "expressions")
    name, arguments = node.name.upper(), node.expressions
    if name == "TOP_K" and len(arguments) == 2:
        return top.top_k(number(arguments[1], rows.text), rows.read(arguments[0]))  # type: ignore[arg-type]
    if name == "TOP_K" and len(arguments) == 1:
        return top.top_k(number(arguments[0], rows.text))  # type: ignore[arg-type]
    if name == "MEAN" and len(arguments) == 1:
        return moments.mean(rows.read(arguments[0]))
    if name == "BOUNDS" and len(arguments) == 1:
        return ranks.bounds(rows.read(arguments[0]))
    if name == "HISTOGRAM" and len(arguments) > 2:
        return counts.histogram(rows.read(arguments[0]), [number(edge, rows.text) for edge in arguments[1:]])
    refuse(node, rows.text, f"{name} has the wrong number of arguments.", _OURS, code="sql-arguments", word=name)


_OURS = "Write TOP_K(5), TOP_K(column, 5), BOUNDS(column) or HISTOGRAM(column, edge, edge, …)."


def default_name(what: Aggregate, called: Mapping[ex.Expr, str] = MappingProxyType({})) -> str:
    """The name of an aggregate that was given none; ``called`` says what an inner query calls its columns.

    >>> default_name(moments.mean("age")), default_name(counts.count()), default_name(ranks.median("age"))
    ('mean_age', 'count', 'median_age')
    >>> default_name(pairs.correlation("pay", "age")), default_name(top.mode("town"))
    ('correlation_pay_age', 'mode_town')
    """
    of = what.column.parts if isinstance(what.column, ex.ValuePair) else (what.column,)
    own = (called.get(e) or (e.column if isinstance(e, ex.Name) else None) for e in of if e is not None)
    named = [name for name in own if name is not None]
    most_frequent = what.function == "top_k" and what.column is not None and int(what.parameters[0]) == 1
    middle = what.function == "quantiles" and what.parameters == (Fraction(1, 2),)
    stem = "mode" if most_frequent else "median" if middle else what.function
    return "_".join([stem, *named]) if len(named) == len(of) else stem
