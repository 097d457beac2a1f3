"""Every declaration that bounds rest on is enforced by reading, on every engine; and what is free is never read."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.engines.duckdb.engine import DuckDB
from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution, Sensitivity
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.sums import sum_
from curador.query.ask.question import Join, Output, Question
from curador.query.ask.sql.expressions import parse_expression
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.types import column_type
from curador.query.plan.checked import check
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import preparation
from curador.query.tables.columns import WIDEST, Column, days
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.engines.by_row import as_number, declared, numbered, values
from tests.real_engines import Opened, shown

# ---- never NULL ----------------------------------------------------------------------------------------------------

UNFIT: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int64(), [None, 5, 2**63 - 1, -(2**63), WIDEST + 1]),
    "float": (pa.float64(), [None, math.nan, math.inf, -math.inf, 1.5]),
    "decimal": (pa.decimal128(38, 2), [None, Decimal("1.25"), Decimal(10) ** 35, Decimal(3), -(Decimal(10) ** 35)]),
    "text": (pa.string(), [None, "", "NaN", "1e999", "9" * 60]),
    "day": (pa.date32(), [None, date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 2), None]),
    "truth": (pa.bool_(), [None, True, False, None, None]),
}
"""Stored columns of five rows, most of which do not fit what is declared of them."""

DECLARED: dict[str, Column] = {
    "integer": Column("integer", bounds=(2, 9), nullable=False),
    "keyed": Column("integer", keys=[7, 3], nullable=False),
    "real": Column("real", bounds=(Decimal("0.5"), 9), nullable=False),
    "date": Column("date", nullable=False),
    "near": Column("date", bounds=("1970-01-01", "1970-01-09"), nullable=False),
    "boolean": Column("boolean", nullable=False),
    "text": Column("text", keys=["F", "M"], nullable=False),
}
READABLE = {
    "integer": ("integer", "keyed", "real", "boolean", "text"),
    "float": ("integer", "keyed", "real", "boolean"),
    "decimal": ("integer", "keyed", "real", "boolean"),
    "text": ("integer", "keyed", "real", "date", "near", "boolean", "text"),
    "day": ("date", "near"),
    "truth": ("boolean",),
}


def number_of(name: str, declaration: str) -> ex.Expr:
    column = ex.Name(name)
    if declaration == "boolean":
        return as_number(column)
    return as_number(ex.Not(ex.IsNull(column))) if declaration == "text" else column


def test_what_is_declared_never_null_is_never_read_as_null(opened: Opened) -> None:
    """NULL, NaN, infinities and what does not fit are the lower bound, no key at all, or False."""
    arrays = {f"{s} as {d}": pa.array(raw, kind) for s, (kind, raw) in UNFIT.items() for d in READABLE[s]}
    columns = {name: DECLARED[name.rpartition(" ")[2]] for name in arrays}
    engine, table = opened({"t": numbered(arrays)}), declared(columns, 5)
    expressions = [number_of(name, name.rpartition(" ")[2]) for name in columns]
    found = dict(zip(columns, values(engine, table, expressions), strict=True))
    for name, seen in found.items():
        assert None not in seen, name
        t = column_type(columns[name])
        if t.grid_bounds is not None:
            assert all(t.grid_bounds[0] <= x <= t.grid_bounds[1] for x in seen), name
    unit = 2 ** DECLARED["real"].bits
    assert found["float as integer"] == [2, 2, 2, 2, 2]
    assert found["float as real"] == [unit // 2] * 4 + [3 * unit // 2]
    assert found["integer as keyed"] == [0, 5, 0, 0, 0]
    assert found["decimal as integer"] == [2, 2, 9, 3, 2]
    assert found["text as real"] == [unit // 2] * 4 + [9 * unit]  # a number, clipped
    assert found["text as date"] == [days(date(1, 1, 1))] * 5
    assert found["day as near"] == [0, 0, 8, 1, 0]
    assert found["truth as boolean"] == [0, 1, 0, 0, 0]
    assert found["integer as boolean"] == [0] * 5
    first = as_number(ex.Compare("=", ex.Name("text as text"), ex.Literal("F")))
    assert values(engine, table, [first]) == [[0, 0, 0, 0, 0]]


@pytest.mark.parametrize("kind", ["integer", "real", "text"])
def test_a_column_with_nothing_to_read_instead_of_null_may_be_null(kind: str) -> None:
    """Without bounds and keys nothing is declared that could stand for NULL, so no bounds rest on its absence."""
    assert column_type(Column(kind, nullable=False)).nullable
    table = Table("x.csv", columns={"x": Column(kind, nullable=False)})
    (step,) = plan(check(Question("t", (Output("n", count("x")),)), {"t": table}), PureDP(1)).steps
    assert isinstance(step, Noised)
    assert step.measure.kind is MeasureKind.PRESENT


# ---- bounds rest on nothing else -------------------------------------------------------------------------------------

PAIR = {
    "x": Column("integer", bounds=(0, 100_000)),
    "y": Column("real", bounds=(0, 10), step=1, nullable=False),
    "free": Column("integer"),
}
VICTIM: dict[str, Any] = {"x": 87_654, "y": math.inf, "free": 900_000_000}
OTHERS: list[dict[str, Any]] = [{"x": 5, "y": 1.0, "free": 3}] * 12
ASKED = [
    "LEAST(x, y) // 11",
    "LEAST(x, y) % 11",
    "GREATEST(LEAST(x, y), 0)",
    "GREATEST(LEAST(free, y), 0)",
    "0 - GREATEST(0 - x, 0 - y)",
    "LEAST(x, COALESCE(y, 3))",
    "CASE WHEN x > 9 THEN LEAST(x, y) ELSE y END",
]


def pair(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {"x": pa.int64(), "y": pa.float64(), "free": pa.int64()}
    return pa.table({n: pa.array([r[n] for r in rows], kind) for n, kind in kinds.items()})


@pytest.mark.parametrize("y", [math.inf, math.nan, -math.inf, None])
def test_least_of_a_column_declared_never_null_keeps_its_bounds(opened: Opened, y: float | None) -> None:
    """An outsider read 7968 = 87654 // 11 off a free sum, since LEAST skipped the NULL that infinity was read as."""
    table = Table(Frame(None), columns=PAIR)
    scope = {ex.Name(n): column_type(c) for n, c in PAIR.items()}
    checked = check(Question("t", (Output("n", count()),)), {"t": table})
    measures = []
    for text in ASKED:
        e = parse_expression(text)
        ends = typecheck(e, scope).grid_bounds
        assert ends is not None
        measures.append(Measure(MeasureKind.SUM, e, *ends))
    here, there = (
        opened({"t": pair(rows)}).run(lower(checked, measures, Contribution()))
        for rows in (OTHERS, [*OTHERS, {**VICTIM, "y": y}])
    )
    for m in measures:
        moved = abs(there.column(m)[0] - here.column(m)[0])
        assert moved <= m.sensitivity(Contribution(), table.neighbors, 1).linf, m.label


def test_a_measure_that_no_unit_moves_is_the_constant_of_its_bounds_and_is_not_read() -> None:
    """A reader that broke its promise would still release nothing: the engine is not even asked."""
    curator = Curator({"t": Table(pair([*OTHERS, VICTIM]), columns=PAIR)}, PureDP(1))
    made = curator.plan("SELECT SUM(LEAST(x, y) // 11) AS s FROM t", epsilon=0.5)
    assert made.guarantee == PureDP(0)
    assert (made.measures, made.exact.statements) == ((), ())
    answer = curator.release(made)
    assert answer.numbers("s") == (0,)
    assert curator.sql("SELECT SUM(LEAST(x, y) // 11) AS s, AVG(LEAST(x, y) // 11) AS m FROM t", epsilon=0.5)
    step = made.steps[0]
    assert isinstance(step, Noised)
    assert step.noise([7968]).tolist() == [0]


def test_a_free_step_needs_its_constant() -> None:
    with pytest.raises(InvalidParameter, match="needs noise"):
        Noised(Measure(MeasureKind.ROWS), Sensitivity(Fraction(0), Fraction(0), Fraction(0)), None)


def test_rows_that_are_replaced_are_free_where_their_number_is_declared_and_only_there() -> None:
    """What a reader counts is not what was declared: without a size the count is bought."""
    columns = {"x": {"type": "integer", "bounds": [0, 9], "nullable": False}}
    data = pa.table({"x": [1] * 13})
    for size, free in ((12, True), (None, False)):
        curator = Curator({"t": Table(data, columns=columns, neighbors="replace", size=size)}, PureDP(100))
        for asked in ("COUNT(*)", "COUNT(x)"):
            made = curator.plan(f"SELECT {asked} AS n FROM t", epsilon=0.5)
            assert (made.guarantee == PureDP(0)) is free
            if free:
                assert curator.release(made).numbers("n") == (12,)


# ---- joins and copies ------------------------------------------------------------------------------------------------

TOWNS = {"code": Column("integer", bounds=(0, 9)), "size": Column("integer", bounds=(3, 7), nullable=False)}


@pytest.mark.parametrize("outer", [False, True])
def test_an_outer_join_makes_null_of_what_is_never_null(opened: Opened, outer: bool) -> None:
    """Read, a missing size is 3; where no row matches it is NULL, and its type says so."""
    people = Table(
        Frame(None), columns={"home": Column("integer", bounds=(0, 9)), "x": Column("integer", bounds=(0, 99))}
    )
    tables = {"people": people, "towns": Table(Frame(None), columns=TOWNS, public=True)}
    size, least = ex.Name("size", "towns"), parse_expression("LEAST(x, 50)")
    joins = (Join("public", "towns", ((ex.Name("home"), "code"),), outer=outer),)
    capped = ex.Least((ex.Name("x"), size))
    asked = (Output("n", count()), Output("s", sum_(capped)), Output("z", sum_(size)), Output("l", sum_(least)))
    checked = check(Question("people", asked, joins=joins), tables)
    assert typecheck(size, checked.scope).nullable is outer
    assert typecheck(capped, checked.scope).upper == (99 if outer else 7)
    measures = [Measure(MeasureKind.ROWS), Measure(MeasureKind.SUM, capped), Measure(MeasureKind.PRESENT, size)]
    engine = opened(
        {
            "people": pa.table({"home": [1, 2, 3], "x": [90, 90, 90]}),
            "towns": pa.table({"code": [1, 2], "size": pa.array([None, 99], pa.int64())}),
        }
    )
    answer = engine.run(lower(checked, measures, Contribution()))
    assert [answer.column(m)[0] for m in measures] == ([3, 3 + 7 + 90, 2] if outer else [2, 3 + 7, 2])


def test_a_prepared_copy_holds_what_was_read(opened: Opened, engine_name: str, tmp_path: Path) -> None:
    columns = {"id": Column("integer", nullable=False), "y": PAIR["y"], "x": PAIR["x"], "k": DECLARED["text"]}
    table = Table(Frame(None), unit="id", columns=columns, contribution=(1, 2))
    data = pa.table(
        {
            "id": pa.array([1, 2, None], pa.int64()),
            "y": pa.array([math.nan, 4.0, 1.0], pa.float64()),
            "x": pa.array([87_654, 2, 1], pa.int64()),
            "k": pa.array([None, "M", "F"], pa.string()),
        }
    )
    engine = opened({"t": data})
    least = parse_expression("LEAST(x, y)")
    checked = check(Question("t", (Output("s", sum_(least)),)), {"t": table})
    measures = [Measure(MeasureKind.SUM, least), Measure(MeasureKind.ROWS)]
    plain = engine.run(lower(checked, measures, Contribution(rows=2)))
    made = engine.prepare(preparation("t", table, []))
    stored = engine.run(lower(checked, measures, Contribution(rows=2), made))
    for answer in (plain, stored):  # a row without an id is nobody's, whatever is declared of the column
        assert [answer.column(m)[0] for m in measures] == [0 + 2, 2]


def test_keys_that_are_not_there_are_not_null() -> None:
    """A text that is no key stays what it is, and NULL is read as none of them: it was counted as the first one."""
    source = Frame(pa.table({"k": ["F", "other", None, "M"]}))
    table = Table(source, columns={"k": DECLARED["text"]})
    engine = DuckDB({"t": source}, on_error=shown)
    checked = check(Question("t", (Output("n", count()),), group_by=()), {"t": table})
    e = [ex.Compare("=", ex.Name("k"), ex.Literal(x)) for x in ("F", "M", "other")]
    measures = [Measure(MeasureKind.SUM, as_number(x)) for x in e]
    assert [engine.run(lower(checked, measures, Contribution())).column(m)[0] for m in measures] == [1, 1, 1]
    engine.close()
