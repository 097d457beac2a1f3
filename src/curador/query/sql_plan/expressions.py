"""Expressions as neutral trees over read columns, with the meaning that :mod:`curador.query.language.bounds` fixes.

Most operations use each operand once.  Those that use one several times have it bound to a name
(:mod:`curador.query.sql_plan.bindings`).  So are nested COALESCEs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from curador.query.language import expressions as ex
from curador.query.language.bounds import compared_bits, division_shift
from curador.query.language.functions.numbers import RowFunction
from curador.query.language.functions.texts import TextOrder
from curador.query.language.rows import InUnits
from curador.query.language.types import Type, grid_value, literal_on
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.bindings import Bindings as Bindings
from curador.query.sql_plan.calendar import day_part
from curador.query.sql_plan.functions import function_node
from curador.query.sql_plan.ir import Node
from curador.query.tables.columns import Kind


@singledispatch
def lowered(e: ex.Expr, at: Bindings) -> Node:
    """The neutral tree of an expression.

    >>> age = ex.Name("age")
    >>> at = Bindings({age: Type(Kind.INTEGER)}, {age: "c0"})
    >>> lowered(ex.Compare(">=", age, ex.Literal(18)), at) == nt.infix(">=", nt.column("c0"), nt.number(18))
    True
    """
    raise TypeError(f"no rule for {type(e).__name__}")


@lowered.register
def _(e: ex.Name, at: Bindings) -> Node:
    return nt.column(at.columns[e])


@lowered.register
def _(e: InUnits, at: Bindings) -> Node:
    return nt.present(nt.column(at.columns[e]))  # the unit's id in the list, NULL where it is not there


@lowered.register
def _(e: ex.Literal, at: Bindings) -> Node:
    if e.kind is None:
        return nt.null()
    if e.kind.counted:
        return nt.constant(literal_on(grid_value(e), at.type(e).bits))
    return nt.truth(bool(e.value)) if e.kind is Kind.BOOLEAN else nt.text(str(e.value))


# ---- numbers -------------------------------------------------------------------------------------------------


def on_grid(e: ex.Expr, bits: int | None, at: Bindings) -> Node:
    """The neutral tree of an expression, put on a grid at least as fine as its own if ``bits`` are given."""
    return lowered(e, at) if bits is None else _shifted(e, bits, at)


def _shifted(e: ex.Expr, bits: int, at: Bindings) -> Node:
    """A number on a finer grid."""
    node = lowered(e, at)
    if isinstance(node, nt.Null):
        return node
    extra = bits - at.type(e).bits
    return nt.times(node, nt.constant(1 << extra)) if extra else node


@lowered.register
def _(e: ex.Arithmetic, at: Bindings) -> Node:
    a, b = at.type(e.left), at.type(e.right)
    if e.op == "*":
        return nt.times(lowered(e.left, at), lowered(e.right, at))
    if e.op == "/":
        shift = division_shift(a, b, at.type(e))
        over = nt.times(lowered(e.left, at), nt.constant(1 << shift)) if shift else lowered(e.left, at)
        return floor_division(at.bind(over), at.bind(lowered(e.right, at)))
    finer = max(a.bits, b.bits)
    left, right = _shifted(e.left, finer, at), _shifted(e.right, finer, at)
    return nt.infix(e.op, left, right if e.op in "+-" else nt.unless_zero(right))


def floor_division(a: Node, b: Node) -> Node:
    """floor(a / b), NULL by zero; only non-negative numbers are divided, and a + b - 1 stays below 2**63."""

    def positive(x: Node, y: Node) -> Node:
        below = nt.minus(nt.plus(nt.negated(x), y), nt.number(1))
        divisor = nt.unless_zero(y)  # the CASE keeps zero out; an engine that looks ahead must not fail either
        return nt.case(
            [(nt.infix(">=", x, nt.number(0)), nt.divide(x, divisor))], nt.negated(nt.divide(below, divisor))
        )

    return nt.case(
        [
            (nt.infix(">", b, nt.number(0)), positive(a, b)),
            (nt.infix("<", b, nt.number(0)), positive(nt.negated(a), nt.negated(b))),
        ]
    )


@lowered.register
def _(e: ex.Negate, at: Bindings) -> Node:
    return nt.negated(lowered(e.operand, at))


@lowered.register
def _(e: ex.Abs, at: Bindings) -> Node:
    return nt.absolute(lowered(e.operand, at))


@lowered.register
def _(e: ex.Least, at: Bindings) -> Node:
    return _together("LEAST", e, e.operands, at)


@lowered.register
def _(e: ex.Greatest, at: Bindings) -> Node:
    return _together("GREATEST", e, e.operands, at)


@lowered.register
def _(e: ex.Coalesce, at: Bindings) -> Node:
    return _together("COALESCE", e, e.operands, at)


def _together(name: nt.FunctionName, e: ex.Expr, operands: Sequence[ex.Expr], at: Bindings) -> Node:
    t = at.type(e)
    nodes = [_result(x, t, at) for x in operands]
    if name == "COALESCE":  # nested ones take Spark's compiler exponential time
        nodes = [at.bind(node) if _has_coalesce(node) else node for node in nodes]
    return nodes[0] if len(nodes) == 1 else nt.function(name, nodes)


def _has_coalesce(node: Node) -> bool:
    return any(isinstance(x, nt.Call) and x.function == "COALESCE" for x in nt.walk(node))


def _result(e: ex.Expr, t: Type, at: Bindings) -> Node:
    """One of several results, on the grid they share."""
    return _shifted(e, t.bits, at) if t.kind.counted else lowered(e, at)


@lowered.register
def _(e: ex.DatePart, at: Bindings) -> Node:
    return day_part(e.part, lowered(e.operand, at), at)


@lowered.register
def _(e: RowFunction, at: Bindings) -> Node:
    return function_node(e, [lowered(x, at) for x in e.parts], at)


@lowered.register
def _(e: ex.Bin, at: Bindings) -> Node:
    edges = [literal_on(x, at.type(e.operand).bits) for x in e.edges]
    x = at.bind(lowered(e.operand, at))
    tests = [nt.infix("<", x, nt.number(edge)) for edge in edges[:-1]]
    tests.append(nt.infix("<=", x, nt.number(edges[-1])))
    return nt.case(zip(tests, [nt.null(), *map(nt.constant, range(len(edges) - 1))], strict=True))


# ---- truth ---------------------------------------------------------------------------------------------------


@lowered.register
def _(e: ex.Compare, at: Bindings) -> Node:
    if e.op not in ("=", "<>") and not at.type(e.left).kind.counted:
        assert isinstance(e.right, ex.Literal)
        return lowered(TextOrder(e.op, e.left, str(e.right.value)), at)
    sides = (e.left, e.right)
    bits = compared_bits(e, sides, [at.type(x) for x in sides])
    return nt.infix(e.op, *(_compared(x, bits, at) for x in sides))


def _compared(e: ex.Expr, bits: int, at: Bindings) -> Node:
    """A side of a comparison on its grid; a literal is rounded down onto it."""
    if not at.type(e).kind.counted:
        return lowered(e, at)
    return nt.number(literal_on(grid_value(e), bits)) if isinstance(e, ex.Literal) else _shifted(e, bits, at)


@lowered.register
def _(e: ex.In, at: Bindings) -> Node:
    t = at.type(e.operand)
    grids = [compared_bits(e, (e.operand, v), (t, at.type(v))) for v in e.values]
    if len(set(grids)) == 1:
        return nt.within(_compared(e.operand, grids[0], at), [_compared(v, grids[0], at) for v in e.values])
    # Only a literal has no grid of its own: it meets each value on that value's.
    pairs = zip(e.values, grids, strict=True)
    return nt.either(*(nt.infix("=", _compared(e.operand, b, at), _compared(v, b, at)) for v, b in pairs))


@lowered.register
def _(e: ex.And, at: Bindings) -> Node:
    return nt.both(*(lowered(x, at) for x in e.operands))


@lowered.register
def _(e: ex.Or, at: Bindings) -> Node:
    return nt.either(*(lowered(x, at) for x in e.operands))


@lowered.register
def _(e: ex.Not, at: Bindings) -> Node:
    return nt.opposite(lowered(e.operand, at))


@lowered.register
def _(e: ex.IsNull, at: Bindings) -> Node:
    return nt.is_null(lowered(e.operand, at))


@lowered.register
def _(e: ex.Case, at: Bindings) -> Node:
    t = at.type(e)
    whens = [(lowered(test, at), _result(value, t, at)) for test, value in e.whens]
    return nt.case(whens, _result(e.otherwise, t, at))
