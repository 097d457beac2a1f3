"""Expressions: canonical, bounded, total; checked row by row against plain Python and against DuckDB."""

from __future__ import annotations

import json
import math
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curador.errors import CuradorError, QuestionRefused
from curador.query.ask.sql.read import parse_expression
from curador.query.language import expressions as ex
from curador.query.language.bounds import compared_bits, condition, division_shift, typecheck
from curador.query.language.expressions import (
    Abs,
    And,
    Arithmetic,
    Bin,
    Case,
    Coalesce,
    Compare,
    DatePart,
    Expr,
    Greatest,
    In,
    IsNull,
    Least,
    Literal,
    Name,
    Negate,
    Not,
    Or,
    all_of,
    any_of,
    one_of,
)
from curador.query.language.functions.dates import TRUNCATIONS, AddMonths, DateTrunc
from curador.query.language.functions.numbers import ROUNDINGS, Cast, Rounded, RowFunction, Sign
from curador.query.language.intervals import RULES, ValueRange
from curador.query.language.trees import expr_from_json, names, substitute
from curador.query.language.types import Type, column_type, literal_bits, literal_on
from curador.query.tables.columns import WIDEST, Column, Kind
from tests.query.reference import evaluate, read
from tests.seeded import examples

COLUMNS = {
    "i": Column("integer", bounds=(-9, 9)),
    "n": Column("integer", bounds=(0, 1000), nullable=False),
    "k": Column("integer"),
    "x": Column("real", bounds=(-2, 3), step=0.25),
    "y": Column("real", bounds=(0, 1), step=0.01, nullable=False),
    "t": Column("text", keys=["a", "b"]),
    "b": Column("boolean"),
    "d": Column("date", bounds=("1968-02-27", "2024-03-01")),
}
SCOPE = {Name(name): column_type(c) for name, c in COLUMNS.items()}

# ---- strategies ----------------------------------------------------------------------------------------------

fractions = ("0.5", "-0.75", "0.1", "1.21", "0.001")
numbers = st.integers(-12, 12).map(Literal) | st.sampled_from([Literal(Fraction(x)) for x in fractions])
number_leaves = st.sampled_from([Name("i"), Name("n"), Name("x"), Name("y"), Name("k")]) | numbers
dates = st.just(Name("d")) | st.dates(date(2000, 1, 1), date(2001, 1, 1)).map(Literal)
texts = st.just(Name("t")) | st.sampled_from(["a", "b", "c", "it's"]).map(Literal)


def _numbers(inner: st.SearchStrategy[Expr], truths: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from(ex.ARITHMETIC), inner, inner),
        inner.map(ex.negate),
        inner.map(Abs),
        several.map(Least),
        several.map(Greatest),
        several.map(Coalesce),
        st.builds(lambda c, a, b: Case(((c, a),), b), truths, inner, inner | st.just(Literal(None))),
        st.builds(DatePart, st.sampled_from(sorted(ex.DATE_PARTS)), dates),
        st.builds(lambda a, b: Arithmetic("-", a, b), dates, dates),
        inner.map(lambda e: Bin(e, tuple(map(Fraction, (-4, 0, 2, 7))))),
        st.builds(Rounded, st.sampled_from(ROUNDINGS), inner, st.integers(-2, 2)),
        inner.map(Sign),
        st.builds(Cast, st.sampled_from(["integer", "real"]), inner | truths),
        st.builds(
            lambda unit, a, b: Arithmetic("-", DateTrunc(unit, a), b), st.sampled_from(TRUNCATIONS), dates, dates
        ),
        # Not of 0 months: that text is read as 0 days, the same date.
        st.builds(
            lambda a, n: Arithmetic("-", AddMonths(a, n), Name("d")),
            st.just(Name("d")),
            st.integers(-20, 20).filter(bool),
        ),
    )


def _truths(inner: st.SearchStrategy[Expr], values: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pair = st.tuples(inner, inner)
    ops = st.sampled_from(ex.COMPARISONS)
    return st.one_of(
        st.builds(Compare, ops, values, values),
        st.builds(Compare, ops, dates, dates),
        st.builds(Compare, st.sampled_from(["=", "<>"]), texts, texts),
        st.builds(one_of, values, st.lists(numbers, min_size=1, max_size=3)),
        st.builds(one_of, texts, st.lists(st.sampled_from("abc").map(Literal), min_size=1, max_size=3)),
        pair.map(lambda p: all_of(*p)),
        pair.map(lambda p: any_of(*p)),
        inner.map(Not),
        (values | dates | texts | inner).map(IsNull),
    )


def _level(depth: int) -> tuple[st.SearchStrategy[Expr], st.SearchStrategy[Expr]]:
    truths: st.SearchStrategy[Expr] = st.just(Name("b")) | st.booleans().map(Literal)
    values: st.SearchStrategy[Expr] = number_leaves
    for _ in range(depth):
        values, truths = values | _numbers(values, truths), truths | _truths(truths, values)
    return values, truths


values, truths = _level(2)
expressions = values | truths

rows = st.fixed_dictionaries(
    {
        Name("i"): st.none() | st.integers(-30, 30),
        Name("n"): st.integers(-5, 2000),
        Name("k"): st.none() | st.integers(-5, 5) | st.sampled_from([2**62, 2**62 + 1, -(2**63)]),
        Name("x"): st.none() | st.floats(-4, 4) | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e308]),
        Name("y"): st.floats(-1, 2),
        Name("t"): st.none() | st.sampled_from(["a", "b", "c", ""]),
        Name("b"): st.none() | st.booleans(),
        Name("d"): st.none() | st.dates(date(1960, 1, 1), date(2030, 1, 1)),
    }
)


def typed(e: Expr) -> Type:
    """The type, discarding what is rightly refused."""
    try:
        return typecheck(e, SCOPE)
    except QuestionRefused:
        assume(False)
        raise


# ---- bounds hold, everything has a value ---------------------------------------------------------------------


@examples(400)
@given(expressions, st.lists(rows, min_size=1, max_size=8))
def test_every_row_has_a_value_within_the_bounds(e: Expr, table: list[dict[Name, object]]) -> None:
    t = typed(e)
    for row in table:
        value = evaluate(e, row, SCOPE)
        assert value is not None or t.nullable
        if value is None:
            continue
        if not t.kind.counted:
            assert isinstance(value, bool if t.kind is Kind.BOOLEAN else str)
            continue
        assert abs(int(value)) <= WIDEST
        low, high = t.lower, t.upper
        assert low is None or int(value) >= low * 2**t.bits
        assert high is None or int(value) <= high * 2**t.bits


@examples(300)
@given(values, rows)
def test_no_step_of_an_arithmetic_leaves_64_bits(e: Expr, row: dict[Name, object]) -> None:
    typed(e)
    todo = [e]
    while todo:
        one = todo.pop()
        todo += one.parts
        if not isinstance(one, Arithmetic):
            continue
        a, b = evaluate(one.left, row, SCOPE), evaluate(one.right, row, SCOPE)
        if a is None or b is None:
            continue
        ta, tb = typecheck(one.left, SCOPE), typecheck(one.right, SCOPE)
        if one.op == "/":
            assert abs(int(a) << division_shift(ta, tb, typecheck(one, SCOPE))) <= WIDEST
        elif one.op != "*":
            finer = max(ta.bits, tb.bits)
            assert abs(int(a) << (finer - ta.bits)) <= WIDEST
            assert abs(int(b) << (finer - tb.bits)) <= WIDEST


ranges = st.builds(
    lambda a, b, bits: ValueRange(Fraction(min(a, b), 2**bits), Fraction(max(a, b), 2**bits), bits),
    st.integers(-6, 6),
    st.integers(-6, 6),
    st.integers(0, 2),
)


def _points(r: ValueRange) -> list[Fraction]:
    low, high = int(r.low * 2**r.bits), int(r.high * 2**r.bits)
    return [Fraction(n, 2**r.bits) for n in range(low, high + 1)]


def _exact(op: str, x: Fraction, y: Fraction, bits: int) -> Fraction:
    quotient = Fraction(0) if y == 0 else x / y
    return {
        "+": x + y,
        "-": x - y,
        "*": x * y,
        "/": Fraction(math.floor(quotient * 2**bits), 2**bits),
        "//": Fraction(math.trunc(quotient)),
        "%": x - y * math.trunc(quotient),
    }[op]


@examples(300)
@given(st.sampled_from(ex.ARITHMETIC), ranges, ranges)
def test_ranges_hold_every_pair_and_are_as_tight_as_they_can(op: str, a: ValueRange, b: ValueRange) -> None:
    found = RULES[op](a, b)
    assert found is not None
    pairs = [(x, y) for x in _points(a) for y in _points(b) if op in "+-*" or y != 0]
    exact = [_exact(op, x, y, found.bits) for x, y in pairs]
    assert all(found.low <= z <= found.high for z in exact)
    assert all((z * 2**found.bits).denominator == 1 for z in exact)
    if exact and op != "%":  # a remainder's range is a bound, not always reached
        assert (min(exact), max(exact)) == (found.low, found.high)


def test_what_could_leave_62_bits_is_refused() -> None:
    wide = {Name("w"): column_type(Column("integer", bounds=(0, 2**40)))}
    w = Name("w")
    assert typecheck(Arithmetic("+", w, w), wide).upper == 2**41
    with pytest.raises(QuestionRefused, match="62 bits"):
        typecheck(Arithmetic("*", w, w), wide)
    fine = {Name("w"): column_type(Column("real", bounds=(0, 2**20), step=2.0**-40))}
    with pytest.raises(QuestionRefused, match="62 bits"):
        typecheck(Arithmetic("+", w, w), {**fine, w: Type(Kind.REAL, Fraction(0), Fraction(2**22), 40)})
    # Quotients give up fractional bits before they give up.
    assert typecheck(Arithmetic("/", w, Literal(3)), wide).bits == 16
    assert typecheck(Arithmetic("/", w, Literal(3)), {w: Type(Kind.INTEGER, Fraction(0), Fraction(2**60))}).bits == 2


def test_sides_that_do_not_fit_the_finer_grid_are_refused() -> None:
    """The sum would fit, and so would the remainder; the side that is shifted would not."""
    fine = Type(Kind.REAL, Fraction(0), Fraction(0), 40)
    wide = {Name("w"): Type(Kind.INTEGER, Fraction(0), Fraction(2**40)), Name("f"): fine}
    for op in ("+", "-", "%", "//"):
        with pytest.raises(QuestionRefused, match="62 bits"):
            typecheck(Arithmetic(op, Name("w"), Name("f")), wide)
    for text in ("w = f", "COALESCE(w, f) IS NULL", "LEAST(w, f) = 1", "w < f + f"):
        with pytest.raises(QuestionRefused, match="62 bits"):
            typecheck(parse_expression(text), wide)


@pytest.mark.parametrize(
    ("text", "nullable"),
    [
        ("n + 1", False),
        ("n + i", True),
        ("n / 2", False),
        ("n / (n - 5)", True),
        ("5 // n", True),
        ("5 % n", True),
        ("5 % (n + 1)", False),
        ("CASE WHEN b THEN n END", True),
        ("CASE WHEN b THEN n ELSE 2 END", False),
        ("CASE WHEN b THEN NULL ELSE n END", True),
        ("COALESCE(i, n)", False),
        ("COALESCE(i, k)", True),
        ("n > 5", False),
        ("i > 5", True),
        ("i IS NULL", False),
        ("n > 5 AND b", True),
        ("BIN(n, 0, 1)", True),
        ("GREATEST(i, n)", False),
        ("GREATEST(i, k)", True),
    ],
)
def test_what_may_be_null(text: str, nullable: bool) -> None:
    assert typecheck(parse_expression(text), SCOPE).nullable is nullable


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("i * 1000", (-9000, 9000)),
        ("i * i", (-81, 81)),  # interval arithmetic does not know that both are one
        ("ABS(i)", (0, 9)),
        ("-n", (-1000, 0)),
        ("CASE WHEN b THEN 5 ELSE i END", (-9, 9)),
        ("COALESCE(i, 100)", (-9, 100)),
        ("LEAST(n, 10)", (0, 10)),
        ("GREATEST(LEAST(k, 10), 0)", (0, 10)),
        ("i // 4", (-2, 2)),
        ("n % 7", (0, 6)),
        ("i % 7", (-6, 6)),
        ("1 / i", (-1, 1)),
        ("YEAR(d)", (1968, 2024)),
        ("d - DATE '1970-01-01'", (-674, 19783)),
        ("x * 0", (0, 0)),
        ("1 / (n - n)", (-1, 1)),
    ],
)
def test_bounds_of_derived_columns(text: str, bounds: object) -> None:
    assert typecheck(parse_expression(text), SCOPE).bounds == bounds


def test_least_of_a_nullable_column_may_exceed_its_bound() -> None:
    # LEAST ignores NULL: with i NULL the answer is n, up to 1000.
    t = typecheck(Least((Name("i"), Name("n"))), SCOPE)
    assert t.bounds == (Fraction(-9), Fraction(1000))
    assert not t.nullable
    both = typecheck(Least((Name("i"), Arithmetic("+", Name("i"), Literal(50)))), SCOPE)
    assert both.bounds == (Fraction(-9), Fraction(59))
    assert both.nullable


# ---- the same meaning as SQL ---------------------------------------------------------------------------------


def _duck(e: Expr, table: list[dict[Name, Any]]) -> list[object]:
    """The expression as SQL text, run by DuckDB on clipped integers: an oracle that shares nothing with ours."""
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute("CREATE TABLE rows (place INT, i BIGINT, n BIGINT, t TEXT, b BOOLEAN, d DATE)")
    for place, row in enumerate(table):
        day = read(row[Name("d")], SCOPE[Name("d")])
        cells = [read(row[Name(c)], SCOPE[Name(c)]) for c in "intb"]
        as_date = None if day is None else date(1970, 1, 1) + timedelta(days=int(day))
        connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", [place, *cells, as_date])
    return [row[0] for row in connection.execute(f"SELECT {e} FROM rows ORDER BY place").fetchall()]


def _whole(e: Expr) -> bool:
    """Whether an expression is one that DuckDB computes on integers, too."""
    inexact = (Bin,) if not isinstance(e, Arithmetic) or e.op != "/" else (Expr,)
    real = isinstance(e, Literal) and e.kind is Kind.REAL
    other = isinstance(e, Name) and e.column in "xyk"
    other |= isinstance(e, RowFunction) or (isinstance(e, DatePart) and e.part in ("months", "quarters", "weeks"))
    return not isinstance(e, inexact) and not real and not other and all(map(_whole, e.parts))


@examples(120)
@given(expressions.filter(_whole), st.lists(rows, min_size=1, max_size=6))
def test_duckdb_agrees(e: Expr, table: list[dict[Name, Any]]) -> None:
    typed(e)
    assert _duck(e, table) == [evaluate(e, row, SCOPE) for row in table]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 // 2", 3),
        ("-7 // 2", -3),
        ("7 // -2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("5 // 0", None),
        ("5 % 0", None),
        ("5 / 0", None),
        ("LEAST(NULLIF(1, 1), 5)", 5),
        ("1 / 3", 21845),
        ("-1 / 3", -21846),
        ("0.1", 838860),
        ("2.5 * 2", 10),
        ("ISODOW(DATE '2020-01-05')", 7),
        ("QUARTER(DATE '2020-12-31')", 4),
        ("DATE '2020-03-01' - DATE '2020-02-28'", 2),
        ("BIN(7, 0, 5, 10)", 1),
        ("BIN(10, 0, 5, 10)", 1),
        ("BIN(5, 0, 5, 10)", 1),
        ("BIN(-1, 0, 5, 10)", None),
        ("NOT (b AND FALSE)", True),
        ("b OR TRUE", True),
        ("b AND TRUE", None),
        ("b IS NULL", True),
        ("t IN ('a')", None),
        ("t = 'a' OR 1 = 1", True),
        ("CASE WHEN b THEN 1 END", None),
        ("CASE WHEN b THEN 1 ELSE 2 END", 2),
        ("CASE t WHEN 'a' THEN 1 ELSE 2 END", 2),
        ("COALESCE(i, k, 3)", 3),
    ],
)
def test_values(text: str, expected: object) -> None:
    nothing: dict[Name, object] = dict.fromkeys(SCOPE)
    assert evaluate(parse_expression(text), nothing, SCOPE) == expected


def test_a_value_and_the_literal_it_was_typed_as_compare_equal() -> None:
    """0.1 is no binary fraction: the literal is rounded onto the column's grid, as the value is."""
    equal = parse_expression("y = 0.1")
    at_least = parse_expression("y >= 0.1")
    for x in (0.1, 0.3, 0.7):
        row: dict[Name, object] = {Name("y"): x}
        assert evaluate(parse_expression(f"y = {x}"), row, SCOPE) is True
        assert evaluate(parse_expression(f"y >= {x}"), row, SCOPE) is True
        assert evaluate(parse_expression(f"y < {x}"), row, SCOPE) is False
    assert compared_bits(equal, equal.parts, [typecheck(p, SCOPE) for p in equal.parts]) == COLUMNS["y"].bits
    assert evaluate(at_least, {Name("y"): 0.05}, SCOPE) is False


def test_reading_a_row() -> None:
    x, k, d = (SCOPE[Name(c)] for c in "xkd")
    assert [read(v, x) for v in (math.nan, math.inf, None, "1", True)] == [None] * 5
    assert [read(v, x) for v in (-0.1, 0.3, 99.0, -99, 1e308)] == [-1, 1, 12, -8, 12]
    assert [read(v, k) for v in (2**62, 2**62 + 1, -(2**62) - 1, 1.0)] == [2**62, None, None, None]
    assert read(date(1800, 1, 1), d) == d.lower


# ---- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("agee = 1", "no column 'agee'", "Known are"),
        ("xx = 1", "no column 'xx'", "Did you mean 'x'"),
        ("k + 1", "'k' has no declared bounds", "bounds for k"),
        ("ABS(k) * 2", "'k' has no declared bounds", "bounds for k"),
        ("t < t", "orders values of type text", "IN"),
        ("b < TRUE", "orders values of type boolean", "IN"),
        ("t + 1", "mixes text and integer", "numbers"),
        ("t = 1", "compares text with integer", "one type"),
        ("d = '2020-01-01'", "compares date with text", "DATE '2020-01-31'"),
        ("d * 2", "mixes date and integer", "whole days"),
        ("i - d", "mixes integer and date", "whole days"),
        ("d + x", "mixes date and real", "whole days"),
        ("i > 2.5", "compares whole numbers with 2.5", "2 or 3"),
        ("i IN (1, 2.5)", "compares whole numbers", "2 or 3"),
        ("CASE WHEN i THEN 1 END", "not a condition", "Compare"),
        ("NOT i", "not a condition", "Compare"),
        ("CASE WHEN b THEN 1 ELSE 'a' END", "mixes integer and text", "one type"),
        ("CASE WHEN b THEN NULL END", "NULL whatever happens", "value"),
        ("i = NULL", "NULL has no type", "IS NULL"),
        ("YEAR(i)", "needs a date", "date"),
        ("ABS(t)", "needs a number", "number"),
        ("LEAST(t, 'a')", "orders values of type text", "numbers or dates"),
        ("BIN(i, 0.5, 3)", "an edge is not", "whole edges"),
        ("BIN(x, 0, 0.1, 3)", "finer than its grid", "wider bins"),
        ("YEAR(d + 10000000)", "years 1 to 9999", "bounds"),
        ("k = 0.5 * i", "needs k on a grid", "Declare bounds"),
    ],
)
def test_refusals_name_the_column_and_the_fix(text: str, what: str, fix: str) -> None:
    with pytest.raises(QuestionRefused) as caught:
        typecheck(parse_expression(text), SCOPE)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_no_part_of_a_condition_escapes_the_check() -> None:
    with pytest.raises(QuestionRefused, match="nobody"):
        condition(parse_expression("b OR nobody"), SCOPE)
    with pytest.raises(QuestionRefused, match="nobody"):
        condition(parse_expression("NOT b AND (i > 1 OR nobody)"), SCOPE)


def test_growth_by_sharing_is_seen_before_it_happens() -> None:
    def grown(e: Expr, times: int) -> Expr:
        for _ in range(times):
            e = Arithmetic("+", e, e)
        return e

    def nested(e: Expr, times: int) -> Expr:
        for _ in range(times):
            e = Not(e)
        return e

    assert grown(Name("i"), 8).size == 511
    assert nested(Name("b"), 99).depth == 100
    with pytest.raises(QuestionRefused, match="1023 parts"):
        grown(Name("i"), 200)
    with pytest.raises(QuestionRefused, match="101 deep"):
        nested(Name("b"), 200)


@pytest.mark.parametrize("value", [2**62 + 1, -(2**63), Fraction(1, 2**70), Fraction(2**130, 3), 1e300])
def test_literals_out_of_range(value: Any) -> None:
    with pytest.raises(QuestionRefused, match=r"2\*\*62"):
        Literal(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, "a\0b", "\ud800", "x" * 1001, object()])
def test_literals_that_are_none(value: Any) -> None:
    with pytest.raises(CuradorError):
        Literal(value)


@pytest.mark.parametrize("edges", [(), (1,), (2, 1), (1, 1), tuple(range(1002)), (0, 2**63)])
def test_edges_that_make_no_bins(edges: tuple[int, ...]) -> None:
    with pytest.raises(QuestionRefused, match="edge"):
        Bin(Name("i"), edges)  # type: ignore[arg-type]


# ---- canonical -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("i > 5", "5 < i"),
        ("i = n", "n = i"),
        ("i > n", "n < i"),
        ("i BETWEEN 1 AND 5", "i <= 5 AND 1 <= i"),
        ("b AND i = 1 AND b", "i = 1 AND (b AND i = 1)"),
        ("t IN ('b', 'a', 'b')", "t IN ('a', 'b')"),
        ("t IN ('a')", "t = 'a'"),
        ("t NOT IN ('a', 'b')", "NOT (t IN ('b', 'a'))"),
        ("i != 3", "3 <> i"),
        ("x > 2.50", "x > 2.5"),
        ("i > 2.0", "i > 2"),
        ("IF(b, 1, 2)", "CASE WHEN b THEN 1 ELSE 2 END"),
        ("-(5)", "-5"),
        ("EXTRACT(MONTH FROM d)", "month(d)"),
        ("d + INTERVAL 2 WEEK", "d + INTERVAL '14' DAY"),
    ],
)
def test_two_spellings_are_one(one: str, other: str) -> None:
    a, b = parse_expression(one), parse_expression(other)
    assert a == b
    assert hash(a) == hash(b)
    assert a.to_json() == b.to_json()


@pytest.mark.parametrize(
    ("one", "other"),
    [("i > 5", "i >= 5"), ("i < n", "n < i"), ("1 = 1", "TRUE = TRUE"), ("i - n", "n - i"), ("b", "NOT b")],
)
def test_different_questions_differ(one: str, other: str) -> None:
    assert parse_expression(one) != parse_expression(other)


@examples(200)
@given(expressions)
def test_text_and_json_read_back(e: Expr) -> None:
    assert expr_from_json(json.loads(json.dumps(e.to_json()))) == e
    assert parse_expression(str(e)) == e


@examples(100)
@given(truths, truths, truths)
def test_and_is_a_set(a: Expr, b: Expr, c: Expr) -> None:
    assert all_of(a, all_of(b, c)) == all_of(all_of(c, a), b, a)
    assert any_of(a, any_of(b, c)) == any_of(any_of(c, a), b, a)


def test_substitution_keeps_trees_canonical() -> None:
    e = parse_expression("(i > 5 OR n > 5) AND -i < 3")
    found = substitute(e, {Name("i"): Name("n")})
    assert found == parse_expression("n > 5 AND -n < 3")
    assert substitute(parse_expression("5 < i"), {Name("i"): Literal(3)}) == Compare(">", Literal(3), Literal(5))
    assert names(found) == {Name("n")}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"is": "nothing"},
        {"is": "name"},
        {"is": "name", "column": 5},
        {"is": "literal", "kind": "integer", "value": "1e999999999"},
        {"is": "literal", "kind": "integer", "value": 5},
        {"is": "literal", "kind": "date", "value": "yesterday"},
        {"is": "bin", "operand": {"is": "name", "column": "x"}, "edges": ["0", "1e99999999"]},
        {"is": "and", "operands": []},
        {"is": "not", "operand": "x"},
        {"is": "compare", "op": ";", "left": {"is": "name", "column": "x"}, "right": {"is": "name", "column": "x"}},
    ],
)
def test_json_that_is_no_expression(data: object) -> None:
    with pytest.raises(QuestionRefused):
        expr_from_json(data)


def test_json_deep_beyond_reason() -> None:
    data: object = {"is": "name", "column": "b"}
    for _ in range(5000):
        data = {"is": "not", "operand": data}
    with pytest.raises(QuestionRefused):
        expr_from_json(data)


def test_one_and_true_are_not_one_literal() -> None:
    assert Literal(1) != Literal(True)
    assert len({Literal(1), Literal(True), Literal("1"), Literal(date(1970, 1, 2))}) == 4


# ---- keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("t", ("a", "b")),
        ("CASE WHEN i < 0 THEN 'low' WHEN i > 5 THEN 'high' ELSE 'mid' END", ("low", "high", "mid")),
        ("CASE WHEN b THEN t ELSE 'c' END", ("a", "b", "c")),
        ("COALESCE(t, 'none')", ("a", "b", "none")),
        ("i > 0", (False, True)),
        ("QUARTER(d)", (1, 2, 3, 4)),
        ("i // 5", (-1, 0, 1)),
        ("BIN(x, -2, 0, 3)", (0, 1)),
        ("k", None),
        ("n", None),
    ],
)
def test_public_keys_of_expressions(text: str, keys: object) -> None:
    assert typecheck(parse_expression(text), SCOPE).domain == keys


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_literals_keep_their_leading_bits(value: Fraction) -> None:
    bits = literal_bits(value)
    kept = Fraction(literal_on(value, bits), 2**bits)
    assert value - kept >= 0
    assert value.denominator & (value.denominator - 1) or kept == value
    assert bits == 0 or value - kept < value * Fraction(1, 2**19)


def test_direct_construction_is_guarded() -> None:
    with pytest.raises(CuradorError):
        And((Name("b"),))
    with pytest.raises(CuradorError):
        Or(())
    with pytest.raises(CuradorError):
        In(Name("t"), (Literal(None),))
    with pytest.raises(CuradorError):
        Arithmetic("**", Name("i"), Name("i"))
    with pytest.raises(CuradorError):
        Least(())
    assert Negate.build(operand=Literal(5)) == Literal(-5)
