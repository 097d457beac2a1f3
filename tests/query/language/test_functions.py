"""Functions of numbers, dates and texts: their types and public values, the calendar day by day, and their refusals."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CuradorError, QuestionRefused
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.ask.sql.read import parse, parse_expression
from curador.query.language.bounds import typecheck
from curador.query.language.expressions import Expr, Literal, Name
from curador.query.language.functions.curves import TabledCurve
from curador.query.language.functions.dates import AddMonths, DateText, DateTrunc, LastDay, month_start
from curador.query.language.functions.numbers import Cast, Rounded, rounded
from curador.query.language.functions.texts import Like, TextFunction
from curador.query.language.resolve import resolved
from curador.query.language.types import column_type
from curador.query.plan.checked import check
from curador.query.tables.columns import Column, day_of, days
from curador.query.tables.table import Table
from tests.query.reference import evaluate
from tests.steps import at_most

COLUMNS = {
    "i": Column("integer", bounds=(-9, 9)),
    "n": Column("integer", bounds=(0, 999), nullable=False),
    "k": Column("integer"),
    "x": Column("real", bounds=(-2, 3), step=0.25),
    "spend": Column("real", bounds=(0, 500), step=0.01),
    "loose": Column("real"),
    "town": Column("text", keys=["Lugo", "Vigo", "Madrid"]),
    "free": Column("text"),
    "b": Column("boolean", nullable=False),
    "d": Column("date", bounds=("2024-11-15", "2025-02-20")),
    "far": Column("date"),
    "sure": Column("date", bounds=("2024-11-15", "2025-02-20"), nullable=False),
    "at": Column("timestamp", bounds=("2025-01-01 06:00:00", "2025-01-03 05:59:59")),
    "later": Column("timestamp"),
    "one": Column("text", keys=["a"], nullable=False),  # may hold another text, which is no key
    "many": Column("text", keys=[f"k{i}" for i in range(1001)]),
}
SCOPE = {Name(name): column_type(c) for name, c in COLUMNS.items()}

# ---- types and public values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "bounds"),
    [
        ("ROUND(x)", "integer", (-2, 3)),
        ("FLOOR(spend / 100)", "integer", (0, 5)),
        ("CEIL(-x)", "integer", (-3, 2)),
        ("ROUND(n, -2)", "integer", (0, 1000)),
        ("TRUNC(n, -2)", "integer", (0, 900)),
        ("ROUND(n, 2)", "integer", (0, 999)),
        ("SIGN(n)", "integer", (0, 1)),
        ("SIGN(k)", "integer", (-1, 1)),
        ("CAST(n AS DOUBLE)", "real", (0, 999)),
        ("CAST(x AS INT)", "integer", (-2, 3)),
        ("CAST(b AS INT)", "integer", (0, 1)),
        ("WIDTH_BUCKET(n, 0, 900, 3)", "integer", (0, 4)),
        ("DATEDIFF('month', DATE '2024-12-31', d)", "integer", (-1, 2)),
        ("DATEDIFF('week', DATE '2024-12-31', d)", "integer", (-6, 7)),
        ("DATEDIFF('year', d, DATE '2025-01-01')", "integer", (0, 1)),
        ("DAYOFYEAR(d)", "integer", (1, 366)),
        ("WEEK(d)", "integer", (1, 53)),
        ("DAYOFWEEK(d)", "integer", (0, 6)),
        ("LENGTH(town)", "integer", (4, 6)),
        ("ROUND(loose)", "integer", None),
        ("SQRT(n + 25)", "real", (5, 32)),
        ("EXP(i - 9)", "real", (0, 1)),
        ("LOG2(n + 1)", "real", (0, Fraction(653117, 65536))),
        ("POWER(n, 2)", "integer", (0, 998001)),
        ("HOUR(at)", "integer", (0, 23)),
        ("DATEDIFF('hour', TIMESTAMP '2025-01-01 00:30:00', at)", "integer", (6, 53)),
        ("CAST(at AS DATE)", "date", (20089, 20091)),
        ("CAST(d AS TIMESTAMP)", "timestamp", (20042 * 86400, 20139 * 86400)),
    ],
)
def test_types_and_bounds(text: str, kind: str, bounds: object) -> None:
    t = typecheck(parse_expression(text), SCOPE)
    assert (t.kind, t.bounds) == (kind, bounds)


MONTHS = (date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1), date(2025, 2, 1))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("DATE_TRUNC('month', d)", MONTHS),
        ("DATE_TRUNC('quarter', d)", (date(2024, 10, 1), date(2025, 1, 1))),
        ("DATE_TRUNC('year', d)", (date(2024, 1, 1), date(2025, 1, 1))),
        ("LAST_DAY(d)", (date(2024, 11, 30), date(2024, 12, 31), date(2025, 1, 31), date(2025, 2, 28))),
        ("STRFTIME(d, '%Y-%m')", ("2024-11", "2024-12", "2025-01", "2025-02")),
        ("STRFTIME(far, '%a')", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
        ("DATE_TRUNC('month', far)", None),
        ("ROUND(n, -2)", tuple(range(0, 1001, 100))),
        ("CAST(at AS DATE)", (date(2025, 1, 1), date(2025, 1, 2), date(2025, 1, 3))),
        ("STRFTIME(later, '%Hh')", tuple(f"{h:02}h" for h in range(24))),
        ("at", None),
        ("FLOOR(spend / 100)", (0, 1, 2, 3, 4, 5)),
        ("WIDTH_BUCKET(n, 0, 900, 3)", (0, 1, 2, 3, 4)),
        ("UPPER(town)", ("LUGO", "VIGO", "MADRID")),
        ("RIGHT(town, 2)", ("go", "id")),
        ("LENGTH(town)", (4, 6)),
        ("town LIKE '%go'", (False, True)),
        ("town || '-' || CAST(b AS VARCHAR)", ("Lugo-false", "Lugo-true", "Vigo-false", "Vigo-true", "Madrid-false",
                                               "Madrid-true")),
        ("COALESCE(UPPER(town), 'none')", ("LUGO", "VIGO", "MADRID", "none")),
    ],
)  # fmt: skip
def test_public_values(text: str, keys: object) -> None:
    assert typecheck(parse_expression(text), SCOPE).domain == keys


def test_a_week_is_never_left_out() -> None:
    keys = typecheck(parse_expression("DATE_TRUNC('week', d)"), SCOPE).domain
    assert keys is not None
    assert keys[0] == date(2024, 11, 11)
    assert keys[-1] == date(2025, 2, 17)
    assert len(keys) == 15


@pytest.mark.parametrize(
    ("text", "nullable"),
    [
        ("ROUND(n)", False),
        ("CAST(b AS INT)", False),
        ("UPPER(town)", True),
        ("CAST(b AS VARCHAR)", False),
        ("one || 'x'", True),
        ("'a' || 'b'", False),
        ("UPPER(one)", True),
        ("one > 'a'", True),
        ("one LIKE '_'", True),
        ("free LIKE 'a%'", True),
        ("COALESCE(free, 'a') LIKE 'a%'", False),
        ("SQRT(n)", False),
        ("SQRT(n - 1)", True),
        ("LN(n)", True),
        ("LN(n + 1)", False),
        ("DATE_TRUNC('month', sure)", False),
        ("STRFTIME(sure, '%m')", False),
        ("MAKE_DATE(n, 1, 1)", True),
        ("SIGN(i)", True),
    ],
)
def test_what_may_be_null(text: str, nullable: bool) -> None:
    assert typecheck(parse_expression(text), SCOPE).nullable is nullable


# ---- values --------------------------------------------------------------------------------------------------

WAYS = {"floor": ROUND_FLOOR, "ceil": ROUND_CEILING, "trunc": ROUND_DOWN, "round": ROUND_HALF_UP}


@given(st.sampled_from(sorted(WAYS)), st.integers(-(10**6), 10**6), st.sampled_from([1, 2, 4, 10, 64, 1000]))
def test_rounding_is_that_of_decimals(way: str, n: int, under: int) -> None:
    assert rounded(way, n, under) == int((Decimal(n) / Decimal(under)).to_integral_value(WAYS[way]))


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("ROUND(spend, 1)", 0.25, Fraction(3, 10)),
        ("ROUND(spend, 2)", 1.005, 1),  # 1.005 is read as 128/128 on a grid of 2**-7
        ("FLOOR(spend, 1)", 0.75, Fraction(7, 10)),
        ("ROUND(spend, -1)", 5.0, 10),
        ("ROUND(spend)", 2.5, 3),
        ("CAST(spend AS INT)", 3.5, 4),
    ],
)
def test_decimals(text: str, x: float, expected: Any) -> None:
    e = parse_expression(text)
    bits = typecheck(e, SCOPE).bits
    assert evaluate(e, {Name("spend"): x}, SCOPE) == int(Fraction(expected) * 2**bits // 1)
    equal = parse_expression(f"{text} = {float(expected)}")
    assert evaluate(equal, {Name("spend"): x}, SCOPE) is True


def test_every_day_of_the_calendar() -> None:
    """The formula against Python's calendar, month by month through all years, and the functions at their ends."""
    d, months = date(1, 1, 1), 12
    while d.year < 9999:
        assert month_start(months) == days(d)
        months += 1
        d = date(d.year + d.month // 12, d.month % 12 + 1, 1)
    assert day_of(month_start(12 * 10000) - 1) == date.max
    last, later = LastDay(Name("d")), AddMonths(Name("d"), 1)
    for year in (1, 1900, 2000, 2023, 2024, 9998):
        day = date(year, 1, 1)
        previous = -(10**9)
        while day.year == year:
            found = later.day(day)
            assert previous <= found
            assert (day_of(found).month - day.month) % 12 == 1
            assert day_of(found).day == min(day.day, day_of(last.day(day_of(found))).day)
            for unit in ("week", "month", "quarter", "year"):
                first = DateTrunc(unit, Name("d")).day(day)
                assert first <= days(day)
            previous, day = found, day + timedelta(1)


@pytest.mark.parametrize("format", ["%Y-%m-%d", "%y%m", "%b %d", "%A", "%j", "%G-W%V", "%u", "%w", "%B %Y", "100%% %d"])
def test_formats_are_those_of_strftime(format: str) -> None:
    made = DateText(format, Name("d"))
    for day in (date(2024, 2, 29), date(2024, 12, 30), date(2021, 1, 3), date(2020, 12, 31)):
        assert made.text(day) == day.strftime(format)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [("substring", (0, 2), "L"), ("substring", (-2,), "go"), ("substring", (2,), "ugo"), ("left", (-1,), "Lug"),
     ("right", (-1,), "ugo"), ("trim", ("Lo",), "ug"), ("ltrim", ("L",), "ugo"), ("rtrim", ("o",), "Lug"),
     ("replace", ("", "x"), "Lugo"), ("strpos", ("z",), 0)],
)  # fmt: skip
def test_texts_are_cut_as_duckdb_cuts_them(name: str, arguments: tuple[Any, ...], expected: object) -> None:
    import duckdb

    assert TextFunction(name, Name("town"), arguments).value("Lugo") == expected
    listed = ", ".join(repr(x) for x in ("Lugo", *arguments))
    assert duckdb.execute(f"SELECT {name}({listed})").fetchall() == [(expected,)]


@given(st.text("ab%_\\x", max_size=8), st.text("abx%_", max_size=8), st.booleans())
def test_patterns_are_those_of_duckdb(pattern: str, text: str, fold: bool) -> None:
    import duckdb

    try:
        found = Like(Name("town"), pattern, fold).value(text)
    except QuestionRefused:
        return
    word = "ILIKE" if fold else "LIKE"
    assert duckdb.execute(f"SELECT ? {word} ? ESCAPE '\\'", [text, pattern]).fetchall() == [(found,)]


def test_a_pattern_takes_no_long_time() -> None:
    assert Like(Name("town"), "%a" * 100 + "b").value("a" * 1000) is False
    with at_most(5_000_000):
        for pattern in ("%" + "a" * 900 + "b%", "%" + "a" * 800 + "_" * 99 + "b%"):
            assert Like(Name("town"), pattern).value("a" * 500_000) is False


TEXTS = ["".join(text) for size in range(5) for text in product("ab", repeat=size)]


def test_patterns_match_as_regular_expressions_do() -> None:
    for size in range(6):
        for pattern in map("".join, product("ab%_", repeat=size)):
            known = re.compile(pattern.replace("%", ".*").replace("_", "."), re.DOTALL)
            for text in TEXTS:
                assert Like(Name("town"), pattern).value(text) == (known.fullmatch(text) is not None), (pattern, text)


# ---- one question, whatever the spelling ---------------------------------------------------------------------

TABLE = Table("t.csv", columns=COLUMNS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("d >= '2025-01-01'", "d >= DATE '2025-01-01'"),
        ("'2025-01-01' <= d", "d >= DATE '2025-01-01'"),
        ("d BETWEEN '2025-01-01' AND '2025-01-31'", "d BETWEEN DATE '2025-01-01' AND DATE '2025-01-31'"),
        ("d IN ('2025-01-01', '2025-01-02')", "d IN (DATE '2025-01-01', DATE '2025-01-02')"),
        ("COALESCE(d, '2025-01-01') IS NULL", "COALESCE(d, DATE '2025-01-01') IS NULL"),
        ("DATE_TRUNC('month', d) = '2025-01-01'", "DATE_TRUNC('month', d) = CAST('2025-01-01' AS DATE)"),
        ("d < DATE '2025-01-31' + INTERVAL 1 MONTH", "d < '2025-02-28'"),
        ("free LIKE 'a%'", "STARTS_WITH(free, 'a')"),
        ("at >= '2025-01-02'", "at >= TIMESTAMP '2025-01-02 00:00:00'"),
        ("at >= DATE '2025-01-02'", "at >= '2025-01-02T02:00:00+02:00'"),
        ("MONTH(at) = 1", "MONTH(CAST(at AS DATE)) = 1"),
        ("at + INTERVAL 1 DAY > '2025-01-02'", "at + INTERVAL 24 HOUR > '2025-01-02'"),
        ("DATEDIFF('day', d, d) = 0", "d - d = 0"),
        ("DATEDIFF('week', DATE '2024-12-29', d) = 1", "(d - DATE '2024-12-29') // 7 = 1"),
        (
            "DATEDIFF('day', TIMESTAMP '2025-01-01 09:00:00', at) = 1",
            "DATE(at) - CAST(TIMESTAMP '2025-01-01 09:00:00' AS DATE) = 1",
        ),
        ("DATEDIFF('hour', d, at) = 1", "DATEDIFF('hour', CAST(d AS TIMESTAMP), at) = 1"),
        ("DATE(d) = '2025-01-01'", "d = DATE '2025-01-01'"),
        ("free LIKE '%a'", "SUFFIX(free, 'a')"),
        ("x::INT = 1", "TRY_CAST(x AS BIGINT) = 1"),
        ("EXTRACT(DOW FROM d) = 1", "DAYOFWEEK(d) = 1"),
        ("CONCAT(town, 'a', 'b') = 'x'", "town || 'a' || 'b' = 'x'"),
    ],
)
def test_spellings_are_one_question_at_both_doors(one: str, other: str) -> None:
    tables = {"t": TABLE}
    found = [parse(f"SELECT COUNT(*) AS n FROM t WHERE {text}", tables) for text in (one, other)]
    built = [TableQuery.of("t", tables).where(text).aggregate(n=count()).question for text in (one, other)]
    assert found[0] == found[1] == built[0] == built[1]


def test_a_text_beside_a_text_stays_one() -> None:
    e = parse_expression("free = '2025-01-01' AND town <> '2025-01-01'")
    assert resolved(e, SCOPE) == e


def test_having_reads_dates_too() -> None:
    text = "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM t GROUP BY m HAVING m >= {}"
    assert parse(text.format("'2025-01-01'"), {"t": TABLE}) == parse(text.format("DATE '2025-01-01'"), {"t": TABLE})


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("ROUND(town)", "needs a number", "number"),
        ("ROUND(loose, 2)", "'loose' has no declared bounds", "bounds for loose"),
        ("ROUND(k, -1)", "'k' has no declared bounds", "bounds for k"),
        ("ROUND(x, 16)", "16 digits", "15"),
        ("SIGN(d)", "needs a number", "number"),
        ("CAST(free AS INT)", "not listed", "Declare the column with the type"),
        ("CAST(k AS VARCHAR)", "not listed", "keys"),
        ("CAST(d AS INT)", "is no integer", "DATEDIFF"),
        ("UPPER(free)", "has none", "LIKE 'a%'"),
        ("UPPER(i)", "needs a text", "text"),
        ("UPPER(many)", "more than 1000", "keys"),
        ("free LIKE '_a'", "engines fold", "keys"),
        ("free ILIKE 'a%'", "engines fold", "keys"),
        ("free > 'a'", "order texts differently", "keys"),
        ("free || 'a'", "longer than an engine", "keys"),
        ("town || n", "joins texts", "CAST(n AS VARCHAR)"),
        ("DATE_TRUNC('month', i)", "needs a date", "date"),
        ("LAST_DAY(far + 1)", "years 1 to 9999", "bounds"),
        ("STRFTIME(far, '%Y-%m')", "more than 1000", "DATE_TRUNC"),
        ("MAKE_DATE(x, 1, 1)", "a whole number", "whole"),
        ("MAKE_DATE(n + 20000, 1, 1)", "years 1 to 9999", "years"),
        ("DAYOFYEAR(town)", "needs a date", "date"),
        ("SQRT(k)", "'k' has no declared bounds", "bounds for k"),
        ("SQRT(town)", "needs a number", "number"),
        ("SQRT(n - 5000)", "NULL whatever happens", "out"),
        ("LN(spend + 1)", "round logarithms", "LN(ROUND(spend + 1))"),
        ("LN(-n - 1)", "NULL whatever happens", "out"),
        ("EXP(n)", "62 bits", "Narrow"),
        ("LN(town)", "needs a number", "number"),
        ("HOUR(d)", "needs a timestamp", "timestamp"),
        ("at - at", "mixes timestamp", "DATEDIFF"),
        ("at = d", "compares timestamp with date", "CAST(timestamp AS DATE)"),
        ("CAST(at AS VARCHAR)", "is no text", ""),
        ("STRFTIME(later, '%Y-%m-%d %H:00')", "more than 1000", "bounds"),
        ("HOUR(later + INTERVAL 1 HOUR)", "years 1 to 9999", "bounds"),
    ],
)
def test_refusals(text: str, what: str, fix: str) -> None:
    with pytest.raises(QuestionRefused) as caught:
        typecheck(resolved(parse_expression(text), SCOPE), SCOPE)
    assert what in caught.value.what
    assert fix in caught.value.fix


MADE: list[Any] = [
    lambda: Rounded("up", Name("x")),
    lambda: Rounded("round", Name("x"), 99),
    lambda: Rounded("round", "x"),  # type: ignore[arg-type]
    lambda: Cast("money", Name("x")),
    lambda: DateTrunc("second", Name("d")),
    lambda: AddMonths(Name("d"), 10**9),
    lambda: DateText("%H", Name("d")),
    lambda: DateText("plain", Name("d")),
    lambda: TextFunction("repeat", Name("town"), (10**9,)),
    lambda: TextFunction("left", Name("town")),
    lambda: TextFunction("left", Name("town"), (10**9,)),
    lambda: Like(Name("town"), "a\\"),
    lambda: Like(Name("town"), "a\0"),
]


@pytest.mark.parametrize("make", MADE)
def test_direct_construction_is_guarded(make: Any) -> None:
    with pytest.raises(CuradorError):
        make()


@given(st.integers(1, 10**6))
def test_logarithms_are_rounded_down(n: int) -> None:
    """By whole numbers alone: with k the numerator over 2**16, 2**k <= n**65536 < 2**(k + 1)."""
    k = TabledCurve("log2", Name("n")).value(n) * 2**16  # type: ignore[operator]
    assert (n**65536).bit_length() - 1 == k


@pytest.mark.parametrize(("name", "n", "near"), [("ln", 10, math.log(10)), ("log10", 999, math.log10(999)),
                                                 ("exp", -3, math.exp(-3)), ("exp", 20, math.exp(20))])  # fmt: skip
def test_curves_are_near_doubles(name: str, n: int, near: float) -> None:
    found = TabledCurve(name, Name("n")).value(n)
    assert found is not None
    assert 0 <= near - float(found) < 2**-16 + 1e-6  # type: ignore[arg-type]


def test_constants_are_worked_out() -> None:
    assert parse_expression("DATE '2024-01-31' + INTERVAL 1 MONTH") == Literal(date(2024, 2, 29))
    past: Expr = parse_expression("DATE '0001-01-31' - INTERVAL 1 MONTH")
    assert isinstance(past, AddMonths)  # no date, so left as it is


def test_timestamps_at_the_doors() -> None:
    text = "SELECT {} AS g, COUNT(*) AS n FROM t GROUP BY g"
    for group, keys in (
        ("STRFTIME(at, '%Y-%m-%d %H:00')", 48),
        ("HOUR(at)", 24),
        ("DATE_TRUNC('day', at)", 3),
        ("DATE_TRUNC('hour', at)", 48),
    ):
        found = check(parse(text.format(group), {"t": TABLE}), {"t": TABLE}).keys
        assert found is not None
        assert len(found) == keys
    for group, why in (("at", "groups by a timestamp"), ("DATE_TRUNC('minute', at)", "the most is 1000")):
        with pytest.raises(QuestionRefused, match=why) as caught:
            parse(text.format(group), {"t": TABLE})
        assert "DATE_TRUNC('hour', at)" in caught.value.fix
    with pytest.raises(QuestionRefused, match="type timestamp"):
        parse("SELECT AVG(at) AS m FROM t", {"t": TABLE})
    for bad in ({"keys": ["2025-01-01"]}, {"bounds": ["yesterday", "2025-01-01"]}, {"step": 1}):
        with pytest.raises(CuradorError):
            Column("timestamp", **bad)
