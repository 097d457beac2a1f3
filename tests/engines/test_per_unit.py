"""One row per unit, lists of units and tables put together: what plain DuckDB finds, alike on every engine."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.engines.sql_engine import SqlEngine
from curador.errors import CuradorError
from curador.query.aggregates.measure import MeasureKind
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.measurement import limits, recipes
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.lower import lower
from curador.query.tables.table import Table
from tests.engines.samples import TABLES, stored, tables
from tests.engines.statements import Statements, declared, rows
from tests.engines.test_aggregates import UNITS, plain
from tests.real_engines import Opened, shown


def found(engine: SqlEngine, text: str, held: Any) -> dict[Any, list[Any]]:
    """The exact numbers of a statement, by group: how many rows, how many values, their sum."""
    checked = check(parse(text, held), held, lambda name, columns: [("Lugo",), ("Vigo",), ("Lorca",)])
    made = recipes(checked, limits(checked))
    measures = list(dict.fromkeys(m for recipe in made for m in recipe.measures))
    answer = engine.run(lower(checked, measures, limits(checked)))
    columns = {}
    for recipe in made:
        (m,) = recipe.measures
        columns[recipe.name] = [Fraction(int(x), 2**m.bits) for x in answer.column(m)]
    return {key: [columns[name][i] for name in ("n", "c", "s")] for i, key in enumerate(answer.keys)}


def plainly(connection: duckdb.DuckDBPyConnection, text: str) -> dict[Any, list[Any]]:
    """What DuckDB finds, by group; those with NULL as their key are not asked for."""
    answer = {}
    for row in connection.execute(text).fetchall():
        *key, n, c, s = row
        answer[tuple(key)] = [Fraction(n), Fraction(c), Fraction(s or 0)]
    return answer


def compared(worlds: int, statements: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for _ in range(worlds):
        draw = random.Random(random.getrandbits(64))
        data = rows(draw)
        held = declared(data)
        engine = DuckDB({name: held[name].source for name in data}, threads=1, on_error=shown)
        with duckdb.connect() as connection:
            for name, table in data.items():
                connection.register(name, table.filter(_known(table)) if name != "sizes" else table)
            for _ in range(statements):
                text = Statements(draw).statement()
                print(text)  # shown if it fails
                try:
                    here = found(engine, text, held)
                except CuradorError as refusal:
                    print(refusal)
                    seen["refused"] += 1
                    continue
                there = plainly(connection, text)
                for key, numbers in here.items():
                    assert numbers == there.get(key, [0, 0, 0]), key
                listed = {k for k in there if None not in k and k != ("elsewhere",)}
                assert listed <= set(here)
                seen["answered"] += 1
        engine.close()
    return seen


def _known(table: Any) -> Any:
    """Rows that belong to somebody: others are never read."""
    return [x is not None for x in table.column(0).to_pylist()]


def test_statements_find_what_duckdb_finds() -> None:
    seen = compared(worlds=4, statements=30)
    assert seen["answered"] >= 100, seen


@pytest.mark.slow
def test_many_statements_find_what_duckdb_finds() -> None:
    seen = compared(worlds=100, statements=50)
    assert seen["answered"] >= 4000, seen


# ---- alike on every engine ---------------------------------------------------------------------------------------

AWKWARD = [
    """SELECT SUM(s) AS s, COUNT(m) AS n, AVG(a) AS a, SUM(c) AS c, SUM(d) AS d, MEDIAN(x) AS x
    FROM (SELECT id, SUM(pay) AS s, GREATEST(LEAST(SUM(raw), 9), -9) AS m, AVG(pay) AS a, COUNT(pay) AS c,
    COUNT(DISTINCT free) AS d, MAX(age) AS x FROM visits GROUP BY id HAVING SUM(raw) IS NOT NULL) t""",
    """SELECT ok, COUNT(*) AS n, SUM(p) AS p
    FROM (SELECT id, ok, MIN(pay) - AVG(age) AS p FROM visits GROUP BY id, ok) t GROUP BY ok""",
    "SELECT SUM(GREATEST(LEAST(t, 5), -5)) AS a FROM (SELECT id, SUM(code) AS t FROM visits GROUP BY id) t",
    """SELECT town, COUNT(*) AS n FROM visits WHERE id IN (SELECT who FROM people WHERE height > 1)
    OR id NOT IN (SELECT id FROM visits GROUP BY id HAVING MIN(day) < DATE '1970-01-02') GROUP BY town""",
    """SELECT free, COUNT(*) AS n, SUM(h) AS h FROM (SELECT id, free, pay AS h FROM visits
    UNION ALL SELECT who, name, height * 2.5 FROM people) t GROUP BY free""",
    """SELECT AVG(p) AS p, COUNT(*) AS n FROM (SELECT id, SUM(pay) AS p FROM visits GROUP BY id) t
    JOIN people ON t.id = who WHERE height IS NOT NULL""",
    """SELECT COUNT(*) AS n, SUM(p) AS p, AVG(GREATEST(LEAST(r, 9), -9)) AS r, SUM(height) AS h FROM people
    LEFT JOIN (SELECT id, SUM(pay) AS p, SUM(raw) AS r FROM visits GROUP BY id HAVING COUNT(*) > 1) t ON t.id = who""",
    """SELECT COUNT(*) AS n, SUM(size) AS s, SUM(k) AS k FROM people
    JOIN (SELECT id, COUNT(*) AS k, MIN(age) AS a FROM visits GROUP BY id) t ON t.id = who
    LEFT JOIN regions ON k = size JOIN visits ON visits.id = who AND a = age""",
    """SELECT ok, COUNT(*) AS n, SUM(pay - m) AS s FROM visits JOIN (SELECT id, MAX(pay) AS m FROM visits GROUP BY id) t
    USING (id) WHERE m > 0 GROUP BY ok""",
    """SELECT COUNT(*) AS n, SUM(m) AS m FROM (SELECT free, MAX(k) AS m
    FROM (SELECT free, town, COUNT(*) AS k FROM named GROUP BY free, town) a GROUP BY free) t""",
    """SELECT k, SUM(n) AS n FROM (SELECT id, k, SUM(one) AS n FROM (SELECT id, 1 AS one, 'here' AS k FROM visits
    UNION ALL SELECT who, 0, 'there' FROM people) a GROUP BY id, k) t GROUP BY k""",
    "SELECT AVG(z) AS z FROM (SELECT id, MAX(size) AS z FROM visits JOIN regions ON town = place GROUP BY id) t",
    """SELECT COUNT(*) AS n, SUM(GREATEST(LEAST(a, 1000000), -1000000)) AS a
    FROM (SELECT id, AVG(raw) AS a FROM visits GROUP BY id) t""",
]


def exact_of(text: str) -> tuple[Exact, list[Any]]:
    checked = check(parse(text, TABLES), TABLES)
    measures = list(dict.fromkeys([*(m for r in recipes(checked, limits(checked)) for m in r.measures), UNITS]))
    if checked.rows.single:
        measures = [m for m in measures if m.kind is not MeasureKind.UNITS]
    return lower(checked, measures, limits(checked)), measures


def test_engines_find_the_same(opened: Opened) -> None:
    """Awkward values, text ids, sums beyond 64 bits: the same integers as DuckDB's."""
    data = tables(21, 200)
    here = opened({name: stored(some, TABLES[name]) for name, some in data.items()})
    there = DuckDB({n: TABLES[n].source.__class__(stored(some, TABLES[n])) for n, some in data.items()}, on_error=shown)  # type: ignore[call-arg]
    for text in AWKWARD:
        exact, measures = exact_of(text)
        one, other = plain(here.run(exact), measures), plain(there.run(exact), measures)
        assert (set(one.keys), one.columns, one.lists) == (set(other.keys), other.columns, other.lists), text
    there.close()


def test_means_of_wide_values_are_exact() -> None:
    """Their sum leaves 62 bits, and was cut off before it was divided: means of times in nanoseconds were wrong."""
    wide, draw = 2**57, random.Random(4)
    ends = [(-wide, wide), (wide - 9, wide), (-wide, -wide), (-9, 9)] * 3
    values = [(unit, draw.randint(*of)) for unit, of in enumerate(ends) for _ in range(draw.choice([1, 3, 700]))]
    data = pa.table({"id": [u for u, _ in values], "x": [x for _, x in values]})
    columns = {"id": "integer", "x": {"type": "integer", "bounds": [-wide, wide]}}
    held = {"t": Table(data, unit="id", columns=columns, contribution=(1, 9))}
    engine = DuckDB({"t": held["t"].source}, threads=1, on_error=shown)
    of = {u: [x for v, x in values if v == u] for u, _ in values}
    means = [Fraction(math.floor(Fraction(8 * sum(xs), len(xs))), 8) for xs in of.values()]  # 3 bits are left
    text = "SELECT COUNT(*) AS n, COUNT(a) AS c, SUM(a) AS s FROM (SELECT id, AVG(x) AS a FROM t GROUP BY id) t"
    assert found(engine, text, held) == {(): [len(means), len(means), sum(means)]}
    engine.close()
