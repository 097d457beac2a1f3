"""The neutral language: the few SQL nodes a plan is made of, each spelt the same way for every engine.

Trees are made by these functions alone.  :mod:`curador.engines.render` writes them out and refuses every other node.
Integers are 64 bits wide; ``divide`` drops the fraction towards zero, and ``remainder`` has the sign of its left side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

Node = exp.Expr

DATE_PART, TEXT_HASH = "DATE_PART", "TEXT_HASH"
"""The helper functions that every engine spells in its own way: a part of a day number, 28 bits of a text's MD5."""


def name(text: str) -> exp.Identifier:
    return exp.Identifier(this=text, quoted=True)


def column(text: str) -> exp.Column:
    """A column of the layer below.

    >>> column("c0").name
    'c0'
    """
    return exp.Column(this=name(text))


def number(n: int) -> Node:
    """An integer beside a column, whose width it takes on."""
    return exp.Literal(this=str(n), is_string=False)


def constant(n: int) -> Node:
    """An integer that is 64 bits wide by itself: 32 bits could overflow where only constants meet."""
    return exp.Cast(this=number(n), to=exp.DataType(this=exp.DataType.Type.BIGINT))


def text(x: str) -> Node:
    return exp.Literal(this=x, is_string=True)


def truth(x: bool) -> Node:
    return exp.Boolean(this=x)


def null() -> Node:
    return exp.Null()


_INFIX = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "%": exp.Mod,
    "//": exp.IntDiv,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def infix(op: str, left: Node, right: Node) -> Node:
    """left op right, for arithmetic and comparisons.

    >>> infix("+", column("a"), number(1)).sql()
    '"a" + 1'
    """
    return _INFIX[op](this=left, expression=right)


def plus(left: Node, right: Node) -> Node:
    return infix("+", left, right)


def minus(left: Node, right: Node) -> Node:
    return infix("-", left, right)


def times(left: Node, right: Node) -> Node:
    return infix("*", left, right)


def divide(left: Node, right: Node) -> Node:
    """left over right without its fraction; the right side is never zero."""
    return infix("//", left, right)


def remainder(left: Node, right: Node) -> Node:
    """What is left of a division; the right side is never zero."""
    return infix("%", left, right)


def negated(x: Node) -> Node:
    return exp.Neg(this=x)


def unless_zero(x: Node) -> Node:
    """x, or NULL where it is zero: what may be divided by."""
    return exp.Nullif(this=x, expression=number(0))


def both(*conditions: Node) -> Node:
    """All of the conditions, as a balanced tree: engines limit how deep they nest."""
    return _balanced(exp.And, conditions)


def either(*conditions: Node) -> Node:
    return _balanced(exp.Or, conditions)


def _balanced(kind: type[Node], conditions: Sequence[Node]) -> Node:
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return kind(this=_balanced(kind, conditions[:half]), expression=_balanced(kind, conditions[half:]))


def opposite(x: Node) -> Node:
    return exp.Not(this=x)


def is_null(x: Node) -> Node:
    return exp.Is(this=x, expression=exp.Null())


def present(x: Node) -> Node:
    return opposite(is_null(x))


def within(x: Node, values: Iterable[Node]) -> Node:
    return exp.In(this=x, expressions=list(values))


def case(whens: Iterable[tuple[Node, Node]], otherwise: Node | None = None) -> Node:
    """The value beside the first condition that is true."""
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in whens], default=otherwise)


def function(kind: type[Node], operands: Sequence[Node]) -> Node:
    """COALESCE, LEAST or GREATEST of its operands."""
    return kind(this=operands[0], expressions=list(operands[1:]))


def absolute(x: Node) -> Node:
    return exp.Abs(this=x)


def helper(which: str, *operands: Node) -> Node:
    return exp.Anonymous(this=which, expressions=list(operands))


def narrow(x: Node) -> Node:
    """x as an integer of 32 bits: what is sorted is smaller."""
    return exp.Cast(this=x, to=exp.DataType(this=exp.DataType.Type.INT))


# ---- aggregates and windows ----------------------------------------------------------------------------------


def rows() -> Node:
    return exp.Count(this=exp.Star())


def count(x: Node) -> Node:
    return exp.Count(this=x)


def distinct(x: Node) -> Node:
    return exp.Count(this=exp.Distinct(expressions=[x]))


def total(x: Node) -> Node:
    """The sum, wide enough not to overflow; NULL of no rows."""
    return exp.Sum(this=x)


def rank(partition: Sequence[str], order: Sequence[str], dense: bool) -> Node:
    """The place of a row, or with ``dense`` of its value, among the rows of its part."""
    kind = exp.DenseRank() if dense else exp.RowNumber()
    return _over(kind, partition, [exp.Ordered(this=column(c), nulls_first=True) for c in order])


def rows_over(partition: Sequence[str]) -> Node:
    """The number of rows of a part."""
    return _over(rows(), partition, [])


def _over(what: Node, partition: Sequence[str], order: list[exp.Ordered]) -> Node:
    ordered = exp.Order(expressions=order) if order else None
    return exp.Window(this=what, partition_by=[column(c) for c in partition], order=ordered)


# ---- layers --------------------------------------------------------------------------------------------------

FromItem = exp.Select | exp.Table
"""What a layer reads: the layer below, or a table."""


def table(text: str) -> exp.Table:
    return exp.Table(this=name(text))


def listed(text: str, columns: Sequence[str], values: Iterable[Sequence[Node]]) -> exp.Values:
    """A constant table."""
    alias = exp.TableAlias(this=name(text), columns=[name(c) for c in columns])
    return exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in values], alias=alias)


def beside(source: exp.Table | exp.Values | exp.Select, on: Node, outer: bool = False, alias: str = "b") -> exp.Join:
    """A join of what is read with another source."""
    return exp.Join(this=_from(source, alias), on=on, side="LEFT" if outer else None)


def select(
    columns: Mapping[str, Node],
    source: FromItem,
    where: Node | None = None,
    joins: Sequence[exp.Join] = (),
    group: Sequence[str] = (),
    fence: bool = False,
) -> exp.Select:
    """One layer: named columns computed from the layer below.

    A ``fence`` asks the engine to work the layer out as written, so that what is used twice above is not computed
    twice.  Groups are by columns of the layer below.

    >>> select({"b": plus(column("a"), number(1))}, table("s0")).sql()
    'SELECT "a" + 1 AS "b" FROM "s0"'
    """
    return exp.Select(
        expressions=[exp.Alias(this=node, alias=name(text)) for text, node in columns.items()],
        from_=exp.From(this=_from(source, "a")),
        joins=list(joins) or None,
        where=None if where is None else exp.Where(this=where),
        group=exp.Group(expressions=[column(c) for c in group]) if group else None,
        offset=exp.Offset(expression=number(0)) if fence else None,
    )


def _from(source: exp.Select | exp.Table | exp.Values, alias: str) -> Node:
    if isinstance(source, exp.Select):
        return exp.Subquery(this=source, alias=exp.TableAlias(this=name(alias)))
    return source
