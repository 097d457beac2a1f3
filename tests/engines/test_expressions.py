"""Random expressions over awkward rows: every engine gives the bits that plain Python gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa

from curador.engines.sql_engine import SqlEngine
from curador.errors import QuestionRefused
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.functions import dates, texts
from curador.query.language.functions import numbers as fn
from curador.query.language.types import Scope, Type, column_type
from curador.query.tables.columns import Kind
from curador.query.tables.table import Column, Table
from tests.engines.by_row import as_number, declared, numbered, values
from tests.query.reference import evaluate
from tests.real_engines import Opened

BIG = 2**63 - 1
COLUMNS = {
    "a": Column("integer", bounds=(-7, 9)),
    "b": Column("integer", bounds=(-2, 3)),
    "wide": Column("integer"),
    "x": Column("real", bounds=(-2, 3)),
    "y": Column("real", bounds=(0, 100), step=0.1),
    "any": Column("real"),
    "s": Column("text", keys=["", "it's", 'a"b', "ñandú", "${x}", "\\", "--", "🦉", "a\nb"]),
    "t": Column("text"),
    "f": Column("boolean"),
    "d": Column("date"),
    "e": Column("date", bounds=("1890-05-17", "2101-03-01")),
    "sure a": Column("integer", bounds=(-3, 4), nullable=False),
    "sure code": Column("integer", keys=[7, -3], nullable=False),
    "sure wide": Column("integer", nullable=False),  # without bounds or keys there is nothing to read instead of NULL
    "sure x": Column("real", bounds=(-1, 2), nullable=False),
    "sure s": Column("text", keys=["it's", "a"], nullable=False),
    "sure f": Column("boolean", nullable=False),
    "sure e": Column("date", bounds=("1969-12-30", "1970-01-04"), nullable=False),
}
TEXTS = ["", "it's", 'a"b', "ñandú", "${x}", "\\", "--", "🦉", "a\nb", "a", "A", " a", "huge" * 5000]
AWKWARD: dict[str, list[Any]] = {
    "a": [0, 1, -1, 9, 10, -7, -8, BIG, -BIG - 1, 3],
    "b": [0, 0, 1, -1, 2, 3, -2, 5],
    "wide": [0, 5, -5, 2**62, 2**62 + 1, -(2**62), -(2**62) - 1, BIG, -BIG - 1],
    "x": [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        1e308,
        -1e308,
        float("nan"),
        float("inf"),
        -float("inf"),
        0.1,
        -1.9999999999999998,
    ],
    "y": [0.0, 0.1, 33.3, 99.95, 100.0, 100.00000000000001, 1e-300, float("nan"), 2.0**-7, 2.0**53],
    "any": [0.5, -0.5, 2.0**46, -(2.0**46), 2.0**46 + 2**-6, 1e300, float("-inf"), 1e-5],
    "s": TEXTS,
    "t": TEXTS,
    "f": [True, False],
    "d": [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(1900, 3, 1)],
    "e": [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(1891, 1, 1)],
}
AWKWARD |= {name: AWKWARD[name.removeprefix("sure ")] for name in COLUMNS if name.removeprefix("sure ") in AWKWARD}
AWKWARD["sure code"] = AWKWARD["wide"]
ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
KINDS = [kind for kind in Kind if kind is not Kind.TIMESTAMP]  # in test_functions.py
SCOPE: Scope = {ex.Name(n): column_type(c) for n, c in COLUMNS.items()}


def rows(rng: random.Random, size: int) -> list[dict[str, Any]]:
    return [{n: rng.choice([None, *AWKWARD[n]]) for n in COLUMNS} for _ in range(size)]


class Made:
    """Random expressions of a kind; many are refused by the types and tried again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def of(self, kind: Kind, depth: int) -> ex.Expr:
        leaf = depth == 0 or self.rng.random() < 0.2
        rules = self.leaves(kind) if leaf else self.leaves(kind)[:1] + self.branches(kind, depth - 1)
        return self.rng.choice(rules)()

    def leaves(self, kind: Kind) -> list[Callable[[], ex.Expr]]:
        names = [n for n, c in COLUMNS.items() if c.kind is kind and n not in ("any", "sure wide")]
        literals: dict[Kind, list[Any]] = {
            Kind.INTEGER: [0, 1, -1, 2, 7, 100],
            Kind.REAL: [Fraction(1, 10), Fraction(-3, 2), Fraction(5, 7), Fraction(1, 1024)],
            Kind.TEXT: [x for x in TEXTS if len(x) < 100],
            Kind.BOOLEAN: [True, False],
            Kind.DATE: [date(1970, 1, 1), date(1969, 12, 31), date(2000, 2, 29)],
        }
        return [lambda: ex.Name(self.rng.choice(names)), lambda: ex.Literal(self.rng.choice(literals[kind]))]

    def number(self, depth: int) -> ex.Expr:
        return self.of(self.rng.choice([Kind.INTEGER, Kind.INTEGER, Kind.REAL]), depth)

    def branches(self, kind: Kind, depth: int) -> list[Callable[[], ex.Expr]]:
        def some(least: int = 1) -> tuple[ex.Expr, ...]:
            return tuple(self.of(kind, depth) for _ in range(self.rng.randint(least, 3)))

        def case() -> ex.Expr:
            whens = tuple((self.of(Kind.BOOLEAN, depth), self.of(kind, depth)) for _ in range(self.rng.randint(1, 2)))
            return ex.Case(whens, self.rng.choice([ex.Literal(None), self.of(kind, depth)]))

        both: list[Callable[[], ex.Expr]] = [case, lambda: ex.Coalesce(some(2))]
        if kind is Kind.BOOLEAN:
            return both + self.conditions(depth)
        if kind is Kind.TEXT:
            return both
        both += [lambda: ex.Least(some()), lambda: ex.Greatest(some())]
        if kind is Kind.DATE:
            units = list(dates.TRUNCATIONS)
            return [
                *both,
                lambda: ex.Arithmetic(self.rng.choice("+-"), ex.Name("e"), ex.Name(self.rng.choice("ab"))),
                lambda: dates.DateTrunc(self.rng.choice(units), self.of(kind, depth)),
                lambda: dates.LastDay(self.of(kind, depth)),
                lambda: dates.AddMonths(self.of(kind, depth), self.rng.randint(-30, 30)),
            ]
        both += [lambda: ex.Negate(self.number(depth)), lambda: ex.Abs(self.number(depth))]
        ops = ("/", "+", "-", "*", "//", "%") if kind is Kind.REAL else ("+", "-", "*", "//", "%")
        both += [lambda: ex.Arithmetic(self.rng.choice(ops), self.number(depth), self.number(depth))] * 4
        ways = list(fn.ROUNDINGS)
        digits = range(1, 4) if kind is Kind.REAL else range(-2, 1)
        both += [lambda: fn.Rounded(self.rng.choice(ways), self.number(depth), self.rng.choice(digits))]
        both += [lambda: fn.Cast(kind, self.of(self.rng.choice([Kind.INTEGER, Kind.REAL, Kind.BOOLEAN]), depth))]
        if kind is Kind.REAL:
            return both
        both += [lambda: fn.Sign(self.number(depth)), lambda: texts.TextFunction("length", ex.Name("s"))]
        part = lambda: ex.DatePart(self.rng.choice(sorted(ex.DATE_PARTS)), self.of(Kind.DATE, depth))  # noqa: E731

        def edges() -> list[int]:
            return sorted(self.rng.sample(range(-9, 60), self.rng.randint(2, 6)))

        days = lambda: ex.Arithmetic("-", self.of(Kind.DATE, depth), self.of(Kind.DATE, depth))  # noqa: E731
        return [*both, part, days, lambda: ex.Bin(self.number(depth), tuple(map(Fraction, edges())))]

    def conditions(self, depth: int) -> list[Callable[[], ex.Expr]]:
        def compare() -> ex.Expr:
            kind = self.rng.choice(KINDS)
            op = self.rng.choice(ex.COMPARISONS if kind.counted else ("=", "<>"))
            return ex.Compare(op, self.of(kind, depth), self.of(kind, depth))

        def member() -> ex.Expr:
            kind = self.rng.choice([Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE])
            few = [self.leaves(kind)[1]() for _ in range(3)]
            return ex.In(self.of(kind, depth), tuple(x for x in few if isinstance(x, ex.Literal)))

        def joined() -> ex.Expr:
            both = (self.of(Kind.BOOLEAN, depth), self.of(Kind.BOOLEAN, depth))
            return self.rng.choice([ex.all_of, ex.any_of])(*both)

        wide = lambda: ex.Compare(  # noqa: E731
            self.rng.choice(ex.COMPARISONS), ex.Name(self.rng.choice(["wide", "any"])), ex.Literal(2**62)
        )
        patterns = ["a%", "%a", "%🦉%", "%", "it's", "a\\%"]
        like = lambda: texts.Like(self.of(Kind.TEXT, depth), self.rng.choice(patterns))  # noqa: E731
        kinds = KINDS
        null = lambda: ex.IsNull(self.of(self.rng.choice(kinds), depth))  # noqa: E731
        return [compare, compare, member, joined, null, like, lambda: ex.Not(self.of(Kind.BOOLEAN, depth)), wide]


def expressions(rng: random.Random) -> Iterator[ex.Expr]:
    """Numeric expressions that pass the types, without end."""
    made = Made(rng)
    while True:
        try:
            kind = rng.choice([Kind.INTEGER, Kind.REAL, Kind.BOOLEAN, Kind.DATE])
            e = made.of(kind, rng.randint(1, 4))
            e = as_number(e) if kind is Kind.BOOLEAN else e
            if typecheck(e, SCOPE).bounds is not None:
                yield e
        except QuestionRefused:
            continue


def stored(opened: Opened, data: list[dict[str, Any]]) -> tuple[SqlEngine, Table, list[dict[ex.Name, Any]]]:
    columns = {n: pa.array([r[n] for r in data], ARROW[c.kind]) for n, c in COLUMNS.items()}
    raw = [{ex.Name(n): v for n, v in r.items()} for r in data]
    return opened({"t": numbered(columns)}), declared(COLUMNS, len(data)), raw


def test_random_expressions(opened: Opened, engine_name: str) -> None:
    """Spark compiles every statement for seconds, so it gets fewer, though the first of the same ones."""
    rng = random.Random(6)
    engine, table, raw = stored(opened, rows(rng, 40))
    source = expressions(rng)
    kinds: set[type[ex.Expr]] = set()
    for _ in range(3 if engine_name == "spark" else 12):
        some = list({str(e): e for e in (next(source) for _ in range(30))}.values())
        for e, found in zip(some, values(engine, table, some), strict=True):
            assert found == [evaluate(e, row, SCOPE) for row in raw], str(e)
            assert fit(found, typecheck(e, SCOPE)), str(e)
            kinds |= {type(x) for x in walk(e)}
    assert kinds >= {ex.Arithmetic, ex.Bin, ex.Case, ex.Compare, ex.DatePart, ex.In, ex.Least, ex.Or, ex.IsNull}
    assert kinds >= {fn.Rounded, fn.Cast, texts.Like, dates.DateTrunc, dates.AddMonths}


def fit(found: list[int | None], t: Type) -> bool:
    """Whether every value has its type: all that sensitivities rest on."""
    assert t.grid_bounds is not None
    low, high = t.grid_bounds
    return all(t.nullable if x is None else low <= x <= high for x in found)


def walk(e: ex.Expr) -> Iterator[ex.Expr]:
    yield e
    for part in e.parts:
        yield from walk(part)


def nested(depth: int, wrap: Callable[[ex.Expr], ex.Expr], leaf: ex.Expr) -> ex.Expr:
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


DEEP = [
    nested(20, lambda e: ex.Arithmetic("/", e, ex.Name("b")), ex.Name("a")),
    nested(25, lambda e: ex.Coalesce((ex.Negate(e), ex.Name("b"))), ex.Name("a")),
    nested(9, lambda e: ex.Bin(e, tuple(map(Fraction, range(-9, 20)))), ex.Name("a")),
    as_number(ex.any_of(*(ex.Compare("=", ex.Name("a"), ex.Literal(i)) for i in range(120)))),
]


def test_deep_expressions_stay_small(opened: Opened) -> None:
    """What is used several times is bound to a name: written out, twenty divisions would be 4**20 columns."""
    data = rows(random.Random(5), 12)
    engine, table, raw = stored(opened, data)
    assert values(engine, table, DEEP) == [[evaluate(e, row, SCOPE) for row in raw] for e in DEEP]
