"""Ranks stored once: later questions read them, on all engines alike, and keep to the same limits."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Neighbors
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, KeyList, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import Checked, check
from curador.query.plan.measurement import recipes
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import Prepared, preparation
from curador.query.tables.columns import Key
from curador.query.tables.sources import Files, Frame
from curador.query.tables.table import Column, Table
from tests.engines.oracle import GOLDEN, PRIME, SHIFT, aggregate, mix, modulus, order, plain, unit_of, value
from tests.engines.samples import ADULT, EVERYTHING, FEW, TABLES, VISITS, named, stored, tables
from tests.engines.test_truncation import without
from tests.query.reference import evaluate, read
from tests.real_engines import Opened, shown, to_postgres

VISIT = TABLES["visits"]
KEPT = Contribution(rows=3, groups=2)
GROUPS = (ex.Name("town"), ex.Name("ok"))
FOUND = (ex.Name("free"),)
FINER = (ex.Name("town"), ex.Name("free"))
"""Groups of which one has no public keys, so that a copy holds all rows: also those that coarser groups need."""

ASKED = {
    "same": Question("visits", EVERYTHING, group_by=named("ok", "town"), where=ADULT),
    "coarser": Question("visits", FEW, group_by=named("town")),
    "none": Question("visits", FEW, where=ADULT),
    "listed": Question("visits", FEW, group_by=named("town"), keys=(KeyList(("town",), (("Lugo",), ("🦉",))),)),
}
COPIES = {"same": GROUPS, "coarser": FINER, "none": FINER, "listed": FINER}


def measured(question: Question, table: Table = VISIT) -> tuple[Checked, list[Measure]]:
    checked = check(question, {"visits": table})
    return checked, [
        *(m for r in recipes(checked, KEPT) for m in r.measures if m.kind is not MeasureKind.VALUES),
        Measure(MeasureKind.UNITS),
    ]


def ranked(rows: list[dict[str, Any]], groups: tuple[ex.Expr, ...]) -> list[tuple[Any, int, int, dict[ex.Name, Any]]]:
    """Every row with its unit and its two ranks, worked out in Python; those without a public key are left out."""
    names = [{ex.Name(c): x for c, x in r.items()} for r in rows]
    scope = check(Question("visits", (Output("n", count()),)), {"visits": VISIT}).scope
    domains = [[plain(k) for k in (scope[g].domain or ())] for g in groups if isinstance(g, ex.Name)]
    size = None if not all(domains) else len(domains[0]) * len(domains[-1])
    units: dict[Any, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for raw, row in zip(rows, names, strict=True):
        unit, group = unit_of(raw, VISIT), tuple(evaluate(g, row, scope) for g in groups)
        if unit is None or (size is not None and any(x not in d for x, d in zip(group, domains, strict=True))):
            continue
        place: Any = group
        if size is not None:
            place = domains[0].index(group[0]) * len(domains[1]) + domains[1].index(group[1])
        units[unit][place].append(row)
    found = []
    for unit, places in units.items():

        def first(g: Any, unit: Any = unit) -> Any:
            return mix(unit, g, size), g if size is not None else tuple(map(order, g))

        for d, group in enumerate(sorted(places, key=first), 1):
            mixed, prime = mix(unit, group, size), modulus(size)
            start = mixed * round(GOLDEN * prime) % prime
            by_value = sorted(places[group], key=lambda r: [order(read(r[n], scope[n])) for n in map(ex.Name, VISITS)])
            places_of = []
            for i, row in enumerate(by_value, 1):
                y = (start + i * round(GOLDEN * PRIME) % PRIME) ** 2 % PRIME + SHIFT
                places_of.append((y * y % PRIME, i, row))
            found += [(unit, d, p, r) for p, (_, _, r) in enumerate(sorted(places_of, key=lambda t: t[:2]), 1)]
    return found


def expected(
    checked: Checked, measures: list[Measure], rows: list[dict[str, Any]], groups: tuple[ex.Expr, ...]
) -> tuple[list[tuple[Key | None, ...]], dict[Measure, list[int]]]:
    cells: dict[Any, list[tuple[Any, dict[ex.Name, Any]]]] = defaultdict(list)
    question = checked.question
    for unit, d, p, row in ranked(rows, groups):
        passes = question.where is None or evaluate(question.where, row, checked.scope) is True
        if d <= KEPT.groups and p <= KEPT.rows and passes:
            cells[tuple(evaluate(g.expr, row, checked.scope) for g in question.group_by)].append((unit, row))
    keys: list[Any] = [tuple(map(plain, k)) for k in checked.keys or ()] or sorted(
        cells, key=lambda g: [*map(order, g)]
    )
    summed = {m.column for m in measures if m.kind in (MeasureKind.SUM, MeasureKind.CENTRED, MeasureKind.SQUARES)}

    def number(m: Measure, key: Any) -> int:
        if m.column is None:
            return aggregate(m, [(u, None) for u, _ in cells[key]], True)
        return aggregate(m, [(u, value(m, r, checked, summed)) for u, r in cells[key]], True)

    return keys, {m: [number(m, key) for key in keys] for m in measures}


def prepared(engine: Any, groups: tuple[ex.Expr, ...], path: Path | None) -> Prepared:
    done = preparation("visits", VISIT, groups)
    found = engine.prepare(done) if path is None or engine.name == "postgresql" else engine.prepare(done, str(path))
    assert isinstance(found, Prepared)
    return found


def test_postgres_stores_in_the_database(postgres_url: str, tmp_path: Path) -> None:
    from curador.engines.postgres import Postgres

    engine = Postgres({"visits": to_postgres(postgres_url, stored(tables(1, 5)["visits"], VISIT))})
    with pytest.raises(InvalidParameter, match="in the database"):
        engine.prepare(preparation("visits", VISIT, ()), tmp_path / "here")
    assert list(tmp_path.iterdir()) == []
    engine.close()


def test_prepared_answers(opened: Opened, tmp_path: Path) -> None:
    """The integers that Python works out from ranks of its own: for the same groups and coarser ones, public or not."""
    rows = tables(21, 200)["visits"]
    engine = opened({"visits": stored(rows, VISIT)})
    public = prepared(engine, GROUPS, tmp_path / "public")
    private = prepared(engine, FOUND, None)
    finer = prepared(engine, FINER, None if engine.name == "duckdb" else tmp_path / "finer")
    copies = {GROUPS: public, FINER: finer}
    cases: list[tuple[Question, Prepared, tuple[ex.Expr, ...]]] = [
        (q, copies[COPIES[name]], COPIES[name]) for name, q in ASKED.items()
    ]
    cases += [(Question("visits", FEW, group_by=named("free"), where=ADULT), private, FOUND)]
    for question, made, groups in cases:
        checked, measures = measured(question)
        answer = engine.run(lower(checked, measures, KEPT, made))
        keys, columns = expected(checked, measures, rows, groups)
        assert [tuple(map(plain, key)) for key in answer.keys] == keys
        assert {m: list(answer.column(m)) for m in measures} == columns


def run(name: str, rows: list[dict[str, Any]]) -> tuple[Contribution, dict[Measure, dict[Any, int]]]:
    checked, measures = measured(ASKED[name])
    engine = DuckDB({"visits": Frame(stored(rows, VISIT))}, threads=1, on_error=shown)
    exact = lower(checked, measures, KEPT, prepared(engine, COPIES[name], None))
    answer = engine.run(exact)
    engine.close()
    return exact.contribution, {m: dict(zip(answer.keys, answer.column(m), strict=True)) for m in measures}


@pytest.mark.parametrize("name", ASKED)
def test_neighbours_of_prepared_tables(name: str) -> None:
    """Prepared again without each unit: nothing moves further than is claimed of what is left to a unit."""
    question, data = ASKED[name], {"visits": tables(22, 120)["visits"]}
    checked, measures = measured(question)
    left, here = run(name, data["visits"])
    for unit in (1, *random.Random(1).sample(range(-3, 9), 4)):
        _, there = run(name, without(checked, data, unit)["visits"])
        for m in measures:
            moved = [abs(here[m][k] - there[m][k]) for k in here[m]]
            claim = m.sensitivity(left, Neighbors.ADD_REMOVE, len(checked.keys or ()))
            assert sum(moved) <= claim.l1
            assert sum(x * x for x in moved) <= claim.l2_squared
            assert max(moved) <= claim.linf


def test_coarser_groups_may_hold_all_of_a_unit() -> None:
    limits = {name: run(name, [])[0] for name in ASKED}
    assert limits == {
        "same": Contribution(rows=3, groups=2),
        "coarser": Contribution(rows=6, groups=2),
        "none": Contribution(rows=6, groups=1),
        "listed": Contribution(rows=6, groups=2),
    }


def test_what_a_prepared_table_does_not_answer() -> None:
    made = preparation("visits", VISIT, GROUPS).at("", "1")
    refused: list[tuple[Question, Mapping[str, Column]]] = [
        (Question("visits", FEW, group_by=named("age")), VISITS),
        (Question("visits", FEW, group_by=named("town", "ok", "age")), VISITS),
        (ASKED["coarser"], VISITS),  # rows without a public key of ok are not stored
        (ASKED["none"], VISITS),
        (ASKED["same"], {**VISITS, "pay": Column("real", bounds=(-10, 1000))}),
        (ASKED["same"], {**VISITS, "pay": Column("real", bounds=(-10, 100), step=1)}),
    ]
    for question, columns in refused:
        table = Table(Frame(None), unit="id", columns=columns, contribution=(2, 3))
        checked, measures = measured(question, table)
        assert not made.covers(checked)
        with pytest.raises(QuestionRefused, match="prepared for other groups, or its declaration has changed since"):
            lower(checked, measures, KEPT, made)
    with pytest.raises(QuestionRefused, match="nothing to truncate"):
        preparation("rows", TABLES["rows"], GROUPS)
    with pytest.raises(QuestionRefused, match="real numbers"):
        preparation("visits", VISIT, [ex.Name("pay")])


def test_a_snapshot_is_bound_to_its_file(tmp_path: Path) -> None:
    """A source may change, the snapshot answers as before; a snapshot that was changed is refused."""
    import pyarrow.parquet as pq

    source, place = tmp_path / "visits.parquet", tmp_path / "ready.duckdb"
    pq.write_table(stored(tables(23, 100)["visits"], VISIT), source)
    sources = {"visits": Files(str(source), "parquet")}
    checked, measures = measured(ASKED["same"])
    engine = DuckDB(sources, on_error=shown)
    made = prepared(engine, GROUPS, place)
    exact = lower(checked, measures, KEPT, made)
    before = [engine.run(exact).column(m) for m in measures]
    engine.close()

    pq.write_table(stored(tables(24, 50)["visits"], VISIT), source)
    again = DuckDB(sources, on_error=shown)
    again.attach(Prepared.from_json(made.to_json()))
    assert [again.run(exact).column(m) for m in measures] == before
    with pytest.raises(InvalidParameter, match=r"'ready\.duckdb' exists already"):
        prepared(again, GROUPS, place)
    again.close()

    place.write_bytes(place.read_bytes()[:-1] + b"x")
    third = DuckDB(sources)
    with pytest.raises(InvalidParameter, match="gone or was changed"):
        third.attach(made)
    third.close()


@pytest.mark.parametrize("in_file", [True, False])
def test_a_copy_has_a_database_of_its_own(in_file: bool, tmp_path: Path) -> None:
    """DuckDB may use its own statistics there, and only there; nothing else can be opened or changed in it."""
    import pyarrow.parquet as pq

    source = tmp_path / "visits.parquet"
    pq.write_table(stored(tables(23, 100)["visits"], VISIT), source)
    engine = DuckDB({"visits": Files(str(source), "parquet")}, on_error=shown)
    checked, measures = measured(ASKED["same"])
    made = [
        engine.prepare(preparation("visits", VISIT, GROUPS), tmp_path / f"{i}.prepared" if in_file else None)
        for i in range(2)  # each in its own, so that one does not disturb the other
    ]
    found = [[engine.run(lower(checked, measures, KEPT, m)).column(c) for c in measures] for m in made]
    assert found[0] == found[1]
    copy = engine._copies[made[0].relation].connection
    off = "SELECT current_setting('disabled_optimizers')"
    assert "filter_pushdown" in engine._connection.cursor().execute(off).fetchall()[0][0]
    assert copy.cursor().execute(off).fetchall() == [("",)]
    for text in (
        f"SELECT * FROM '{source}'",
        'SELECT * FROM "visits"',
        f"ATTACH '{tmp_path / 'new.duckdb'}'",
        f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
        "SET enable_external_access = true",
        "SET threads = 1",
    ):
        with pytest.raises(duckdb.Error):
            copy.cursor().execute(text)
    engine._copies[made[0].relation]._held = None  # as after an error that ends an instance
    engine.reopen()
    assert [engine.run(lower(checked, measures, KEPT, made[0])).column(c) for c in measures] == found[0]
    engine.close()


def test_ranks_do_not_depend_on_the_groups_name() -> None:
    """Grouping by an expression works as by a column."""
    bins = ex.Bin(ex.Name("age"), (0, 2, 6))  # type: ignore[arg-type]
    rows = tables(25, 80)["visits"]
    engine = DuckDB({"visits": Frame(stored(rows, VISIT))}, on_error=shown)
    made = engine.prepare(preparation("visits", VISIT, [bins]))
    checked, measures = measured(Question("visits", FEW, group_by=(Group("how old", bins),)))
    answer = engine.run(lower(checked, measures, KEPT, made))
    assert answer.keys == ((0,), (1,))
    assert 0 < sum(answer.column(Measure(MeasureKind.ROWS))) <= len(rows)
    engine.close()
