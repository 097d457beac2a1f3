"""The neutral SQL language: the closed set of nodes that plans are made of, the same for every engine.

Trees are immutable and are made by the functions below; :mod:`curador.engines.render` writes them as SQL text.  A node
knows columns, constants and other nodes, never SQL text, so a tree cannot say anything that is not in the language.
Integers are 64 bits wide; ``divide`` drops the fraction towards zero, and ``remainder`` has the sign of its left side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

OPERATORS = frozenset({"+", "-", "*", "//", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR"})
"""The operators between two operands; ``//`` is the division that drops the fraction."""

FunctionName = Literal[
    "ABS", "COALESCE", "CONCAT", "CONTAINS", "COUNT", "COUNT DISTINCT", "COUNT ROWS", "ENDS WITH", "GREATEST",
    "IS NULL", "LEAST", "MAX", "MIN", "NARROW", "NEGATE", "NOT", "NULLIF", "ROOT", "STARTS WITH", "SUM", "TEXT HASH",
    "WHOLE",
]  # fmt: skip
"""Functions, aggregates and operators of one operand; NARROW casts to 32 bits and WHOLE to 64, ROOT is a whole number
at most 1 from the square root of a number from 0 on, TEXT HASH is 28 bits of an MD5, and CONTAINS, ENDS WITH and STARTS
WITH compare the bytes of a text with those of a constant."""

DAY_PARTS = ("year", "quarter", "month", "day", "weekday")
"""The parts of a date that engines work out, all in the same way for the years 1 to 9999."""

Ranking = Literal["ROW_NUMBER", "DENSE_RANK", "COUNT"]
"""The number that a window gives each row: its place, the place of its value, or the number of rows."""


# ---- values --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the layer below."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """An integer.  A ``wide`` one has 64 bits by itself, another takes on the width of the column next to it."""

    value: int
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text constant."""

    value: str


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Null:
    """NULL."""


@dataclass(frozen=True, slots=True)
class Infix:
    """One of :data:`OPERATORS` between two operands."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A function, an aggregate, or an operator of one operand."""

    function: FunctionName
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class DayPart:
    """A part, such as the month, of the date that is ``days`` days after 1970-01-01."""

    part: str
    days: Node


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether a value is in a list."""

    operand: Node
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """The value of the first condition that is true, or else ``otherwise``, or else NULL."""

    whens: tuple[tuple[Node, Node], ...]
    otherwise: Node | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """A window: the rank of a row among the rows that agree with it in the columns ``partition``, or their number."""

    ranking: Ranking
    partition: tuple[str, ...]
    order: tuple[str, ...] = ()


Node = ColumnRef | Number | Text | Truth | Null | Infix | Call | DayPart | Membership | CaseWhen | Over
"""Every node that has a value in each row, or in each group."""


# ---- layers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table; the engine knows by the name how it is read (:class:`~curador.query.sql_plan.exact.Scan`)."""

    name: str


@dataclass(frozen=True, slots=True)
class ValuesList:
    """A constant table."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """A join with ``source``; ``alias`` names it if it is a layer.  With ``outer``, rows without a match are kept."""

    source: Source
    on: Node
    outer: bool
    alias: str


@dataclass(frozen=True, slots=True)
class Select:
    """One layer: named columns computed from ``source``; see :func:`select`."""

    columns: tuple[tuple[str, Node], ...]
    source: FromItem
    where: Node | None = None
    joins: tuple[Joined, ...] = ()
    group: tuple[str, ...] = ()
    fence: bool = False
    sets: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Stacked:
    """The rows of several layers with the same columns, one after the other."""

    layers: tuple[Select, ...]


FromItem = Select | TableRef | Stacked
"""The sources of a layer: the layer below, a table, or several layers together."""

Source = Select | TableRef | ValuesList | Stacked
"""The sources of a join."""

Tree = Node | Source | Joined


# ---- what a tree is made of ----------------------------------------------------------------------------------


def parts(tree: Tree) -> Sequence[Tree]:
    """The nodes directly below a node.

    >>> parts(plus(column("a"), number(1)))
    (ColumnRef(name='a'), Number(value=1, wide=False))
    """
    match tree:
        case Infix():
            return tree.left, tree.right
        case Call():
            return tree.operands
        case DayPart():
            return (tree.days,)
        case Membership():
            return tree.operand, *tree.values
        case CaseWhen():
            return *(node for when in tree.whens for node in when), *_given(tree.otherwise)
        case ValuesList():
            return [node for row in tree.rows for node in row]
        case Joined():
            return tree.source, tree.on
        case Stacked():
            return tree.layers
        case Select():
            return *(node for _, node in tree.columns), tree.source, *tree.joins, *_given(tree.where)
        case _:
            return ()


def _given(node: Node | None) -> tuple[Node, ...]:
    return () if node is None else (node,)


def walk(tree: Tree) -> Iterator[Tree]:
    """A tree and everything below it, from the top down; of any depth, because it does not recurse.

    >>> [node.name for node in walk(both(column("a"), opposite(column("b")))) if isinstance(node, ColumnRef)]
    ['a', 'b']
    """
    todo = deque([tree])
    while todo:
        node = todo.popleft()
        yield node
        todo.extend(parts(node))


# ---- making values -------------------------------------------------------------------------------------------


def column(text: str) -> ColumnRef:
    """A column of the layer below."""
    return ColumnRef(text)


def number(n: int) -> Node:
    """An integer next to a column, whose width it takes on."""
    return Number(n)


def constant(n: int) -> Node:
    """An integer that is 64 bits wide by itself: 32 bits could overflow where only constants meet."""
    return Number(n, wide=True)


def text(x: str) -> Node:
    return Text(x)


def truth(x: bool) -> Node:
    return Truth(x)


def null() -> Node:
    return Null()


def infix(op: str, left: Node, right: Node) -> Node:
    """left op right, for arithmetic and comparisons.

    >>> infix("+", column("a"), number(1))
    Infix(op='+', left=ColumnRef(name='a'), right=Number(value=1, wide=False))
    """
    return Infix(op, left, right)


def plus(left: Node, right: Node) -> Node:
    return Infix("+", left, right)


def minus(left: Node, right: Node) -> Node:
    return Infix("-", left, right)


def times(left: Node, right: Node) -> Node:
    return Infix("*", left, right)


def divide(left: Node, right: Node) -> Node:
    """left over right without its fraction; the right side is never zero."""
    return Infix("//", left, right)


def remainder(left: Node, right: Node) -> Node:
    """The remainder of ``divide``; the right side is never zero."""
    return Infix("%", left, right)


def negated(x: Node) -> Node:
    return Call("NEGATE", (x,))


def unless_zero(x: Node) -> Node:
    """x, or NULL where it is zero: a divisor that cannot fail."""
    return Call("NULLIF", (x, Number(0)))


def both(*conditions: Node) -> Node:
    """All of the conditions, as a balanced tree: engines limit how deep they nest.

    >>> both(column("a"), column("b"), column("c")).left
    ColumnRef(name='a')
    """
    return _balanced("AND", conditions)


def either(*conditions: Node) -> Node:
    return _balanced("OR", conditions)


def _balanced(op: str, conditions: Sequence[Node]) -> Node:
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return Infix(op, _balanced(op, conditions[:half]), _balanced(op, conditions[half:]))


def opposite(x: Node) -> Node:
    return Call("NOT", (x,))


def is_null(x: Node) -> Node:
    return Call("IS NULL", (x,))


def present(x: Node) -> Node:
    return opposite(is_null(x))


def within(x: Node, values: Iterable[Node]) -> Node:
    return Membership(x, tuple(values))


def case(whens: Iterable[tuple[Node, Node]], otherwise: Node | None = None) -> Node:
    """The value of the first condition that is true."""
    return CaseWhen(tuple(whens), otherwise)


def function(name: FunctionName, operands: Sequence[Node]) -> Node:
    """COALESCE, LEAST, GREATEST, CONCAT, or a comparison of bytes."""
    return Call(name, tuple(operands))


def absolute(x: Node) -> Node:
    return Call("ABS", (x,))


def day_part(part: str, days: Node) -> Node:
    """A part of a date that is given as a number of days; every engine spells it in its own way."""
    return DayPart(part, days)


def text_hash(x: Node) -> Node:
    """28 bits of the MD5 of a text, as a number."""
    return Call("TEXT HASH", (x,))


def narrow(x: Node) -> Node:
    """x as an integer of 32 bits, which sorts faster."""
    return Call("NARROW", (x,))


# ---- making aggregates and windows ---------------------------------------------------------------------------


def rows() -> Node:
    return Call("COUNT ROWS", ())


def count(x: Node) -> Node:
    return Call("COUNT", (x,))


def distinct(x: Node) -> Node:
    return Call("COUNT DISTINCT", (x,))


def total(x: Node) -> Node:
    """The sum, wide enough not to overflow; NULL of no rows."""
    return Call("SUM", (x,))


def least(x: Node) -> Node:
    """The least value; NULL of none."""
    return Call("MIN", (x,))


def largest(x: Node) -> Node:
    """The largest value; NULL of none."""
    return Call("MAX", (x,))


def whole(x: Node) -> Node:
    """A wide sum as an integer of 64 bits, which it is known to fit."""
    return Call("WHOLE", (x,))


def rank(partition: Sequence[str], order: Sequence[str], dense: bool) -> Node:
    """The place of a row, or with ``dense`` of its value, among the rows of its part; NULLs come first."""
    return Over("DENSE_RANK" if dense else "ROW_NUMBER", tuple(partition), tuple(order))


def rows_over(partition: Sequence[str]) -> Node:
    """The number of rows of a part."""
    return Over("COUNT", tuple(partition))


# ---- making layers -------------------------------------------------------------------------------------------


def table(text: str) -> TableRef:
    return TableRef(text)


def listed(text: str, columns: Sequence[str], values: Iterable[Sequence[Node]]) -> ValuesList:
    """A constant table."""
    return ValuesList(text, tuple(columns), tuple(map(tuple, values)))


def stacked(layers: Sequence[Select]) -> FromItem:
    """The rows of all layers."""
    return Stacked(tuple(layers)) if len(layers) > 1 else layers[0]


def join(source: Source, on: Node, outer: bool = False, alias: str = "b") -> Joined:
    """A join of what is read with another source."""
    return Joined(source, on, outer, alias)


def select(
    columns: Mapping[str, Node],
    source: FromItem,
    where: Node | None = None,
    joins: Sequence[Joined] = (),
    group: Sequence[str] = (),
    fence: bool = False,
    sets: Sequence[Sequence[str]] = (),
) -> Select:
    """One layer: named columns computed from the layer below.

    A ``fence`` asks the engine to work the layer out as written, so that nothing above computes it twice.  Groups are
    by columns of the layer below; with ``sets`` by each of these lists in turn, other columns being NULL.
    >>> select({"b": plus(column("a"), number(1))}, table("s0")).source
    TableRef(name='s0')
    """
    return Select(tuple(columns.items()), source, where, tuple(joins), tuple(group), fence, tuple(map(tuple, sets)))
