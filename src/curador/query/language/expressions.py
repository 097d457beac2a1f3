"""Our small expression language: immutable trees over the columns of one row.

Trees are made canonical as they are built: literals stand on the right of comparisons, AND and OR are flat, sorted
and free of repeats.  So two spellings of one condition are one value, with one hash.  The meaning of an expression,
and the bounds of its values, are defined in :mod:`curador.query.language.bounds`; every expression has a value for
every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import rational, set_fields
from curador.query.language.nodes import DEEPEST as DEEPEST
from curador.query.language.nodes import LARGEST as LARGEST
from curador.query.language.nodes import Expr as Expr
from curador.query.language.nodes import order as order
from curador.query.tables.columns import WIDEST, Kind, iso_date, iso_moment, text_value
from curador.query.tables.names import identifier

Value = int | Fraction | str | bool | date | None
"""The values that a literal may stand for."""


# ---- leaves --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name(Expr, tag="name"):
    """A column; ``table`` is given for columns of joined tables only.

    >>> Name("age"), Name("population", "regions")
    (Name(column='age', table=None), Name(column='population', table='regions'))
    """

    column: str
    table: str | None = None

    def __post_init__(self) -> None:
        identifier(self.column, "A column")
        if self.table is not None:
            identifier(self.table, "A table")
        super().__post_init__()


@dataclass(frozen=True)
class Literal(Expr, tag="literal"):
    """A constant; a float stands for the decimal it prints as, a whole fraction is an integer, None is NULL.

    >>> Literal(0.1), Literal(2.0), Literal(True) == Literal(1)
    (Literal(value=Fraction(1, 10), kind=<Kind.REAL: 'real'>), Literal(value=2, kind=<Kind.INTEGER: 'integer'>), False)
    """

    value: Value
    kind: Kind | None = field(init=False)  # keeps 1 and True apart, which Python thinks equal

    def __post_init__(self) -> None:
        value, kind = _literal(self.value)
        set_fields(self, value=value, kind=kind)
        super().__post_init__()

    def to_json(self) -> dict[str, object]:
        value = self.value if isinstance(self.value, bool | None) else str(self.value)
        return {"is": self.tag, "kind": self.kind, "value": value}

    @property
    def number(self) -> Fraction:
        """The value of a numeric literal."""
        return rational(self.value, "a literal")


def _literal(x: object) -> tuple[Value, Kind | None]:
    if x is None:
        return None, None
    if isinstance(x, bool):
        return x, Kind.BOOLEAN
    if isinstance(x, str):
        return text_value(x), Kind.TEXT
    if isinstance(x, datetime):
        return iso_moment(x), Kind.TIMESTAMP
    if isinstance(x, date):
        return iso_date(x), Kind.DATE
    value = rational(x, "a literal")
    if abs(value) > WIDEST or value.denominator > WIDEST:
        raise QuestionRefused(
            "A number is beyond ±2**62, or has too many decimals.",
            fix="Round it, or scale the column.",
            code="number-too-large",
        )
    return (value.numerator, Kind.INTEGER) if value.denominator == 1 else (value, Kind.REAL)


# ---- numbers -------------------------------------------------------------------------------------------------

ARITHMETIC = ("+", "-", "*", "/", "//", "%")


@dataclass(frozen=True)
class Arithmetic(Expr, tag="arithmetic"):
    """left op right, for op one of + - * / // %.

    / is real division, // drops the fraction towards zero, % has the sign of its left side; by zero each is NULL.

    >>> str(Arithmetic("+", Name("age"), Literal(1)))
    'age + 1'
    """

    op: str
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        _require_known(self.op, ARITHMETIC)
        super().__post_init__()


@dataclass(frozen=True)
class Negate(Expr, tag="negate"):
    """- operand.  Build it with :func:`negate`."""

    operand: Expr

    @classmethod
    def build(cls, **own: Any) -> Expr:
        return negate(own["operand"])


def negate(e: Expr) -> Expr:
    """- e, worked out where e is a number.

    >>> negate(Literal(5)).value
    -5
    """
    return Literal(-e.number) if isinstance(e, Literal) and e.kind in (Kind.INTEGER, Kind.REAL) else Negate(e)


@dataclass(frozen=True)
class Abs(Expr, tag="abs"):
    """The size of a number, without its sign."""

    operand: Expr


@dataclass(frozen=True)
class _Choice(Expr):
    operands: tuple[Expr, ...]

    def __post_init__(self) -> None:
        _several(self, "operands")
        super().__post_init__()


class Least(_Choice, tag="least"):
    """The smallest of its operands that are not NULL, as DuckDB, PostgreSQL and Spark have it."""


class Greatest(_Choice, tag="greatest"):
    """The largest of its operands that are not NULL."""


class Coalesce(_Choice, tag="coalesce"):
    """The first of its operands that is not NULL."""


DATE_PARTS = {
    "year": "YEAR",
    "quarter": "QUARTER",
    "month": "MONTH",
    "day": "DAY",
    "weekday": "ISODOW",
    "weekday from sunday": "DAYOFWEEK",
    "day of year": "DAYOFYEAR",
    "week": "WEEK",
    "year of week": "ISOYEAR",
    "quarters": "QUARTER_NUMBER",
    "months": "MONTH_NUMBER",
    "weeks": "WEEK_NUMBER",
}
"""The parts of a date, and the SQL word of each.  Numbers count from the first quarter, month or week of year 0 or 1:
the difference of two is that of DATEDIFF."""


@dataclass(frozen=True)
class DatePart(Expr, tag="date-part"):
    """A part of a date: one of :data:`DATE_PARTS`.  Weeks are ISO weeks, they begin on Monday."""

    part: str
    operand: Expr

    def __post_init__(self) -> None:
        _require_known(self.part, DATE_PARTS)
        super().__post_init__()


@dataclass(frozen=True)
class Bin(Expr, tag="bin"):
    """Which bin a number falls in: i where edges[i] <= x < edges[i+1]; the last bin holds its upper edge too.

    Outside all bins it is NULL.

    >>> Bin(Name("age"), (0, 18, 65, 120)).labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    """

    operand: Expr
    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        edges = tuple(rational(x, "an edge") for x in self.edges)
        if not 2 <= len(edges) <= LARGEST or any(a >= b for a, b in pairwise(edges)):
            raise QuestionRefused(
                f"Bins need 2 to {LARGEST} edges that grow.",
                fix="List the edges from the lowest to the highest.",
                code="bin-edges",
                facts={"most": LARGEST},
            )
        if max(map(abs, edges)) > WIDEST:
            raise QuestionRefused("An edge is beyond ±2**62.", fix="Write smaller edges.", code="number-too-large")
        set_fields(self, edges=edges)
        super().__post_init__()

    def to_json(self) -> dict[str, object]:
        return {"is": self.tag, "operand": self.operand.to_json(), "edges": [str(x) for x in self.edges]}

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each bin when it is shown."""
        shown = [str(float(x)) if x.denominator > 1 else str(x) for x in self.edges]
        closed = [")"] * (len(shown) - 2) + ["]"]
        return tuple(f"[{a}, {b}{c}" for a, b, c in zip(shown[:-1], shown[1:], closed, strict=True))


# ---- truth ---------------------------------------------------------------------------------------------------

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Compare(Expr, tag="compare"):
    """left op right; NULL where either side is.  Text and booleans know only = and <>.

    >>> Compare("<", Literal(17), Name("age")) == Compare(">", Name("age"), Literal(17))
    True
    """

    op: str
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        _require_known(self.op, COMPARISONS)
        sides = (isinstance(self.left, Literal), isinstance(self.right, Literal))
        if sides == (True, False):
            flip = True
        elif self.op in ("=", "<>") and sides == (False, False):
            flip = order(self.right) < order(self.left)
        else:
            flip = sides == (False, False) and self.op in (">", ">=")
        if flip:
            set_fields(self, op=_FLIPPED[self.op], left=self.right, right=self.left)
        super().__post_init__()


@dataclass(frozen=True)
class _Joined(Expr):
    operands: tuple[Expr, ...]

    def __post_init__(self) -> None:
        found = _members(type(self), self.operands)
        if len(found) < 2:
            raise InvalidParameter(f"{self.tag.upper()} joins two conditions or more.", fix="Use all_of() or any_of().")
        set_fields(self, operands=tuple(sorted(found, key=order)))
        super().__post_init__()

    @classmethod
    def build(cls, **own: Any) -> Expr:
        found = _members(cls, own["operands"])
        return cls(tuple(found)) if len(found) != 1 else found.pop()


class And(_Joined, tag="and"):
    """All of several conditions, in SQL's logic of true, false and NULL.  Build it with :func:`all_of`."""


class Or(_Joined, tag="or"):
    """At least one of several conditions.  Build it with :func:`any_of`."""


@dataclass(frozen=True)
class Not(Expr, tag="not"):
    """The opposite of a condition; NULL stays NULL."""

    operand: Expr


@dataclass(frozen=True)
class IsNull(Expr, tag="is-null"):
    """Whether a value is NULL: true or false, never NULL."""

    operand: Expr


@dataclass(frozen=True)
class In(Expr, tag="in"):
    """Whether a value is one of several literals; NULL where it is NULL."""

    operand: Expr
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        values = tuple(sorted(set(self.values), key=order))
        if not values or any(v.kind is None for v in values):
            raise QuestionRefused(
                "IN needs values, and NULL is not one.", fix="List the values; test NULL by IS NULL.", code="in-values"
            )
        set_fields(self, values=values)
        super().__post_init__()


def all_of(*conditions: Expr) -> Expr:
    """Every condition at once.

    >>> a, b = IsNull(Name("a")), IsNull(Name("b"))
    >>> all_of(a, b) == all_of(b, all_of(a, b)), all_of(a, a) == a
    (True, True)
    """
    return And.build(operands=conditions)


def any_of(*conditions: Expr) -> Expr:
    """At least one of the conditions."""
    return Or.build(operands=conditions)


def one_of(operand: Expr, values: Iterable[Literal]) -> Expr:
    """operand IN (values), which for one value is an equality.

    >>> one_of(Name("sex"), [Literal("F")]) == Compare("=", Name("sex"), Literal("F"))
    True
    """
    found = In(operand, tuple(values))
    return found if len(found.values) > 1 else Compare("=", operand, found.values[0])


def _members(kind: type[Expr], conditions: Iterable[Expr]) -> set[Expr]:
    found: set[Expr] = set()
    for e in conditions:
        found |= set(e.parts) if type(e) is kind else {e}
    return found


# ---- choices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case(Expr, tag="case"):
    """The value of the first condition that is true; else ``otherwise``, which may be NULL."""

    whens: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr = Literal(None)

    def __post_init__(self) -> None:
        _several(self, "whens")
        super().__post_init__()


@dataclass(frozen=True)
class ValuePair(Expr, tag="pair"):
    """Two values of one row, for an aggregate of pairs; it has no value of its own.

    >>> str(ValuePair(Name("spend"), Name("minutes")))
    'spend, minutes'
    """

    first: Expr
    second: Expr

    def written(self, parts: Sequence[str]) -> str:
        return ", ".join(parts)


# ---- what all share ------------------------------------------------------------------------------------------


def _require_known(op: str, ops: Iterable[str]) -> None:
    if op not in ops:
        raise InvalidParameter(f"No operation is called {op!r}.", fix=f"Use one of {', '.join(ops)}.")


def _several(e: Expr, name: str) -> None:
    values = tuple(getattr(e, name))
    if not values:
        raise QuestionRefused(
            f"{e.tag.upper()} needs something to choose from.",
            fix="Give it a value.",
            code="nothing-to-choose",
            facts={"word": e.tag.upper()},
        )
    set_fields(e, **{name: values})
