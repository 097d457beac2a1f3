"""The meaning of an expression: its type, and by interval arithmetic the bounds of its values.

Numbers are integers on a grid (see ``types``), and the meaning of each operation is fixed on them, so that every engine
gives the same bits:

* + and - put both sides on the finer grid; * adds the bits; a / b is floor(a * 2**s / b), s from
  :func:`division_shift`; a // b drops the fraction towards zero, and a % b = a - b * (a // b), on the finer grid.
  Division by zero is NULL, and so is arithmetic on NULL.
* A comparison is made on the finer grid of its sides that are not literals; a literal is rounded down onto it
  (:func:`compared_bits`), so that a value and the literal it was typed as compare equal.
* CASE, COALESCE, LEAST and GREATEST put their results on the finest of their grids.  LEAST and GREATEST ignore NULL.
* Conditions follow SQL's logic of true, false and NULL.
* A constant text beside a date is that date (:func:`resolved`): both spellings are one question, with one price.

An expression that could leave ±2**62, itself or on the way, is refused here, so that no engine can overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

from curador.errors import QuestionRefused
from curador.query.language import expressions as ex
from curador.query.language.answers import Applied, OverGroups
from curador.query.language.functions.dates import part_type
from curador.query.language.functions.numbers import RowFunction, too_wide
from curador.query.language.functions.texts import TextOrder
from curador.query.language.intervals import RULES, ValueRange
from curador.query.language.text import shortened
from curador.query.language.types import Scope, Type, grid_value, literal_bits, literal_on
from curador.query.language.unbounded import unbounded
from curador.query.tables.columns import WIDEST, Key, Kind
from curador.query.tables.names import listed, suggestion


@singledispatch
def typecheck(e: ex.Expr, scope: Scope) -> Type:
    """The type and bounds of an expression over the columns in ``scope``; refuses what has none.

    >>> age = {ex.Name("age"): Type(Kind.INTEGER, Fraction(17), Fraction(90))}
    >>> typecheck(ex.Arithmetic("*", ex.Name("age"), ex.Literal(-2)), age).bounds
    (Fraction(-180, 1), Fraction(-34, 1))
    """
    raise TypeError(f"no rule for {type(e).__name__}")


# ---- leaves --------------------------------------------------------------------------------------------------


@typecheck.register
def _(e: ex.Name, scope: Scope) -> Type:
    if e not in scope:
        known = [str(n) for n in scope]
        raise QuestionRefused(
            f"There is no column {str(e)!r} here.",
            fix=suggestion(str(e), known),
            code="no-such-column",
            facts={"column": str(e)[:60], "known": listed(known)},
        )
    return scope[e]


@typecheck.register
def _(e: ex.Literal, scope: Scope) -> Type:
    if e.kind is None:
        raise QuestionRefused(
            "NULL has no type of its own.",
            fix="Test for it with IS NULL, or use it as a result of CASE.",
            code="null-untyped",
        )
    if not e.kind.counted:
        return Type(e.kind, nullable=False, keys=None if e.kind is Kind.BOOLEAN else (e.value,))  # type: ignore[arg-type]
    value = grid_value(e)
    bits = literal_bits(value)
    point = Fraction(math.floor(value * 2**bits), 2**bits)
    keys = None if e.kind in (Kind.REAL, Kind.TIMESTAMP) else (e.value,)
    found = Type(e.kind, point, point, bits, nullable=False, keys=keys)  # type: ignore[arg-type]
    _fits(e, ValueRange(point, point, bits))
    return found


@typecheck.register(Applied)
@typecheck.register(OverGroups)
@typecheck.register(ex.ValuePair)
def _(e: ex.Expr, scope: Scope) -> Type:
    raise QuestionRefused(
        f"{shortened(e)} stands where a value of one row is needed.",
        fix="Compute it from aggregates, after the noise.",
        code="aggregate-in-row",
        facts={"word": shortened(e)},
    )


# ---- numbers -------------------------------------------------------------------------------------------------


@typecheck.register
def _(e: ex.Arithmetic, scope: Scope) -> Type:
    a, b = typecheck(e.left, scope), typecheck(e.right, scope)
    kind = _arithmetic_kind(e, a.kind, b.kind)
    left, right = _bounded(e, e.left, a, scope), _bounded(e, e.right, b, scope)
    found = RULES[e.op](left, right)
    if found is None:
        raise too_wide(e)
    by_zero = e.op in ("/", "//", "%") and right.low <= 0 <= right.high
    return Type(kind, found.low, found.high, found.bits, a.nullable or b.nullable or by_zero)


def _arithmetic_kind(e: ex.Arithmetic, a: Kind, b: Kind) -> Kind:
    dates = (a is Kind.DATE) + (b is Kind.DATE)
    if dates == 1 and e.op in ("+", "-") and {a, b} == {Kind.DATE, Kind.INTEGER} and (a is Kind.DATE or e.op == "+"):
        return Kind.DATE
    if dates == 2 and e.op == "-":
        return Kind.INTEGER
    if not (a.numeric and b.numeric):
        raise QuestionRefused(
            f"{shortened(e)} mixes {a} and {b}.",
            fix="Use numbers; whole days may be added to a date or taken away, or a date; for timestamps use DATEDIFF.",
            code="mixed-arithmetic",
            facts={"expression": shortened(e), "type": str(a), "type_other": str(b)},
        )
    return Kind.REAL if e.op == "/" or Kind.REAL in (a, b) else Kind.INTEGER


def _bounded(e: ex.Expr, operand: ex.Expr, t: Type, scope: Scope) -> ValueRange:
    if t.bounds is None:
        raise unbounded(f"{shortened(e)} could overflow", operand, scope)
    return ValueRange(*t.bounds, t.bits)


def division_shift(numerator: Type, denominator: Type, quotient: Type) -> int:
    """By how many bits a / b shifts a to the left before its floor division by b.

    >>> whole = Type(Kind.INTEGER, Fraction(1), Fraction(9))
    >>> third = ex.Arithmetic("/", ex.Name("a"), ex.Name("b"))
    >>> division_shift(whole, whole, typecheck(third, {ex.Name("a"): whole, ex.Name("b"): whole}))
    16
    """
    return denominator.bits - numerator.bits + quotient.bits


@typecheck.register
def _(e: ex.Negate, scope: Scope) -> Type:
    t = _number(e, e.operand, scope)
    low, high = t.bounds or (None, None)
    return replace(t, lower=None if high is None else -high, upper=None if low is None else -low, keys=None)


@typecheck.register
def _(e: ex.Abs, scope: Scope) -> Type:
    t = _number(e, e.operand, scope)
    if t.bounds is None:
        return replace(t, lower=Fraction(0), upper=None, keys=None)
    low, high = t.bounds
    least = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
    return replace(t, lower=least, upper=max(abs(low), abs(high)), keys=None)


@typecheck.register
def _(e: ex.Least, scope: Scope) -> Type:
    return _extreme(e, e.operands, scope, sign=1)


@typecheck.register
def _(e: ex.Greatest, scope: Scope) -> Type:
    return _extreme(e, e.operands, scope, sign=-1)


def _extreme(e: ex.Expr, operands: Sequence[ex.Expr], scope: Scope, sign: int) -> Type:
    """LEAST, and GREATEST by turning the sign.  An operand that is never NULL caps the least on its far side."""
    types = [typecheck(x, scope) for x in operands]
    t = _together(e, operands, types)
    if not t.kind.counted:
        raise QuestionRefused(
            f"{shortened(e)} orders values of type {t.kind}.",
            fix="Order numbers or dates only.",
            code="order-of-type",
            facts={"expression": shortened(e), "type": str(t.kind)},
        )
    ends = [(x.lower, x.upper) if sign > 0 else (_minus(x.upper), _minus(x.lower)) for x in types]
    near = None if any(a is None for a, _ in ends) else min(a for a, _ in ends if a is not None)
    sure = [b for (_, b), x in zip(ends, types, strict=True) if not x.nullable and b is not None]
    every = None if any(b is None for _, b in ends) else max(b for _, b in ends if b is not None)
    far = min(sure) if sure else every
    low, high = (near, far) if sign > 0 else (_minus(far), _minus(near))
    return replace(t, lower=low, upper=high, nullable=all(x.nullable for x in types), keys=None)


def _minus(x: Fraction | None) -> Fraction | None:
    return None if x is None else -x


def _number(e: ex.Expr, operand: ex.Expr, scope: Scope) -> Type:
    t = typecheck(operand, scope)
    if not t.kind.numeric:
        raise QuestionRefused(
            f"{shortened(e)} needs a number, and {shortened(operand)} is of type {t.kind}.",
            fix="Use a number.",
            code="needs-number",
            facts={"expression": shortened(e), "operand": shortened(operand), "type": str(t.kind)},
        )
    return t


@typecheck.register
def _(e: ex.DatePart, scope: Scope) -> Type:
    return part_type(e, typecheck(e.operand, scope))


@typecheck.register
def _(e: RowFunction, scope: Scope) -> Type:
    types = [typecheck(x, scope) for x in e.parts]
    for operand, t in zip(e.parts, types, strict=True):
        if e.needs_bounds and t.kind.counted:
            _bounded(e, operand, t, scope)
    return e.typed(types)


@typecheck.register
def _(e: ex.Bin, scope: Scope) -> Type:
    t = _number(e, e.operand, scope)
    if t.kind is Kind.INTEGER and any(x.denominator > 1 for x in e.edges):
        raise QuestionRefused(
            f"{shortened(e.operand)} is whole, and an edge is not.",
            fix="Use whole edges.",
            code="edges-whole",
            facts={"expression": shortened(e.operand)},
        )
    on_grid = [literal_on(x, t.bits) for x in e.edges]
    if len(set(on_grid)) < len(on_grid) or max(map(abs, on_grid)) > WIDEST:
        raise QuestionRefused(
            f"The bins of {shortened(e.operand)} are finer than its grid of 2**-{t.bits}, or beyond ±2**62.",
            fix="Use wider bins, or declare a finer step for the column.",
            code="bins-too-fine",
            facts={"expression": shortened(e.operand)},
        )
    return Type(Kind.INTEGER, Fraction(0), Fraction(len(e.edges) - 2), nullable=True)


# ---- truth ---------------------------------------------------------------------------------------------------

_TRUTH = Type(Kind.BOOLEAN)


@typecheck.register
def _(e: ex.Compare, scope: Scope) -> Type:
    a, b = typecheck(e.left, scope), typecheck(e.right, scope)
    _comparable(e, e.left, a, b)
    if e.op not in ("=", "<>") and not a.kind.counted:
        if a.kind is Kind.TEXT and isinstance(e.right, ex.Literal):
            return TextOrder(e.op, e.left, str(e.right.value)).typed((a,))
        raise QuestionRefused(
            f"{shortened(e)} orders values of type {a.kind}, which engines order differently.",
            fix="Compare by = or <>, or list values with IN; order a text with public keys beside a constant.",
            code="order-of-texts",
            facts={"expression": shortened(e), "type": str(a.kind)},
        )
    compared_bits(e, (e.left, e.right), (a, b))
    return replace(_TRUTH, nullable=a.nullable or b.nullable)


def _comparable(e: ex.Expr, left: ex.Expr, a: Type, b: Type) -> None:
    if a.kind is b.kind or (a.kind.numeric and b.kind.numeric):
        return
    hint = "Write CAST(timestamp AS DATE)." if Kind.TIMESTAMP in (a.kind, b.kind) else "Compare values of one type."
    hint = "Write dates as DATE '2020-01-31'." if {a.kind, b.kind} == {Kind.DATE, Kind.TEXT} else hint
    raise QuestionRefused(
        f"{shortened(e)} compares {a.kind} with {b.kind}; {shortened(left)} is of type {a.kind}.",
        fix=hint,
        code="compared-types",
        facts={"expression": shortened(e), "type": str(a.kind), "type_other": str(b.kind)},
    )


def compared_bits(e: ex.Expr, operands: Sequence[ex.Expr], types: Sequence[Type]) -> int:
    """The grid on which numbers are compared: literals are put on it by ``literal_on``, others by a shift.

    Refuses a fraction compared with an integer, since the whole number is clearer, and what does not fit the grid.
    """
    if not types[0].kind.counted:
        return 0
    fixed = [t for x, t in zip(operands, types, strict=True) if not isinstance(x, ex.Literal)]
    bits = max(t.bits for t in fixed or types)
    for x, t in zip(operands, types, strict=True):
        if isinstance(x, ex.Literal):
            value = grid_value(x)
            if value.denominator > 1 and fixed and all(f.kind is not Kind.REAL for f in fixed):
                raise QuestionRefused(
                    f"{shortened(e)} compares whole numbers with {shortened(x)}.",
                    fix=f"Compare with {math.floor(value)} or {math.ceil(value)}.",
                    code="compared-fraction",
                    facts={"expression": shortened(e), "below": math.floor(value), "above": math.ceil(value)},
                )
            _fits(e, ValueRange(value, value, bits))
        else:
            _shifts(e, x, t, bits)
    return bits


def _shifts(e: ex.Expr, operand: ex.Expr, t: Type, bits: int) -> None:
    """Refuse an operand that may not be shifted onto a finer grid."""
    if t.bits == bits:
        return
    if t.bounds is None:
        raise unbounded(f"{shortened(e)} needs {shortened(operand)} on a grid of 2**-{bits}", operand, {})
    _fits(e, ValueRange(*t.bounds, bits))


@typecheck.register
def _(e: ex.In, scope: Scope) -> Type:
    t = typecheck(e.operand, scope)
    for value in e.values:
        v = typecheck(value, scope)
        _comparable(e, e.operand, t, v)
        compared_bits(e, (e.operand, value), (t, v))
    return replace(_TRUTH, nullable=t.nullable)


@typecheck.register(ex.And)
@typecheck.register(ex.Or)
@typecheck.register(ex.Not)
def _(e: ex.Expr, scope: Scope) -> Type:
    found = [condition(x, scope) for x in e.parts]  # all of them: any() alone would stop at the first
    return replace(_TRUTH, nullable=any(t.nullable for t in found))


def condition(e: ex.Expr, scope: Scope) -> Type:
    """Typecheck what must be true, false or NULL, as WHERE needs."""
    t = typecheck(e, scope)
    if t.kind is not Kind.BOOLEAN:
        raise QuestionRefused(
            f"{shortened(e)} is not a condition but of type {t.kind}.",
            fix="Compare it with something.",
            code="not-a-condition",
            facts={"expression": shortened(e)},
        )
    return t


@typecheck.register
def _(e: ex.IsNull, scope: Scope) -> Type:
    typecheck(e.operand, scope)
    return replace(_TRUTH, nullable=False)


# ---- choices -------------------------------------------------------------------------------------------------


@typecheck.register
def _(e: ex.Case, scope: Scope) -> Type:
    for test, _ in e.whens:
        condition(test, scope)
    return _chosen(e, [value for _, value in e.whens] + [e.otherwise], scope)[0]


@typecheck.register
def _(e: ex.Coalesce, scope: Scope) -> Type:
    t, types = _chosen(e, e.operands, scope)
    return replace(t, nullable=all(x.nullable for x in types))


def _chosen(e: ex.Expr, results: Sequence[ex.Expr], scope: Scope) -> tuple[Type, list[Type]]:
    """The type of one of several results, and theirs; each is worked out once, or nesting would take for ever."""
    known = [x for x in results if x != ex.Literal(None)]
    if not known:
        raise QuestionRefused(
            f"{shortened(e)} is NULL whatever happens.",
            fix="Give it a value.",
            code="always-null",
            facts={"expression": shortened(e)},
        )
    types = [typecheck(x, scope) for x in known]
    t = _together(e, known, types)
    low = None if any(x.lower is None for x in types) else min(x.lower for x in types if x.lower is not None)
    high = None if any(x.upper is None for x in types) else max(x.upper for x in types if x.upper is not None)
    nullable = len(known) < len(results) or any(x.nullable for x in types)
    return replace(t, lower=low, upper=high, nullable=nullable, keys=_union(types)), types


def _together(e: ex.Expr, operands: Sequence[ex.Expr], types: Sequence[Type]) -> Type:
    """One kind and one grid for several values; integers join reals, nothing else joins anything."""
    kinds = {t.kind for t in types}
    if kinds == {Kind.INTEGER, Kind.REAL}:
        kinds = {Kind.REAL}
    if len(kinds) > 1:
        raise QuestionRefused(
            f"{shortened(e)} mixes {' and '.join(sorted(kinds))}.",
            fix="Give it values of one type.",
            code="mixed-types",
            facts={"expression": shortened(e)},
        )
    bits = max(t.bits for t in types)
    for x, t in zip(operands, types, strict=True):
        _shifts(e, x, t, bits)
    return Type(kinds.pop(), bits=bits)


def _union(types: Sequence[Type]) -> tuple[Key, ...] | None:
    """Public keys of a choice: all that its results have, in their order."""
    if any(t.domain is None for t in types) or all(t.keys is None for t in types):
        return None
    return tuple(dict.fromkeys(key for t in types for key in t.domain or ()))


def has_no_other_values(e: ex.Expr, scope: Scope) -> bool:
    """Whether a value that is not NULL is always one of the public values of its type, whatever is stored.

    A column with listed keys may hold what is no key; a range of bounds, a truth value or a constant has no others.

    >>> scope = {ex.Name("sex"): Type(Kind.TEXT, nullable=False, keys=("F", "M"))}
    >>> f, m = ex.Literal("F"), ex.Literal("M")
    >>> either = ex.Case(((ex.Compare("=", ex.Name("sex"), f), f),), m)
    >>> has_no_other_values(ex.Name("sex"), scope), has_no_other_values(either, scope)
    (False, True)
    """
    if isinstance(e, ex.Literal):  # also NULL, which has no type of its own
        return True
    t = typecheck(e, scope)
    if t.keys is None:
        return True
    if isinstance(e, ex.Case):
        return all(has_no_other_values(x, scope) for x in (*(value for _, value in e.whens), e.otherwise))
    if isinstance(e, ex.Coalesce):
        return all(has_no_other_values(x, scope) for x in e.operands)
    if isinstance(e, RowFunction):  # its keys are all that it gives, unless it leaves its operand as it is
        return all(has_no_other_values(x, scope) for x in e.parts if typecheck(x, scope) == t)
    return False


# ---- limits --------------------------------------------------------------------------------------------------


def _fits(e: ex.Expr, r: ValueRange) -> None:
    if not r.fits:
        raise too_wide(e)


# ---- constants beside dates ----------------------------------------------------------------------------------
