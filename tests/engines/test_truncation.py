"""Truncation against its claims, by really building neighbours; and that it favours no value and no group."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.engines.duckdb.engine import DuckDB
from curador.mechanisms.sensitivity import Contribution, in_all
from curador.privacy import Neighbors
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Join, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import Checked, check
from curador.query.plan.measurement import limits
from curador.query.sql_plan import truncate
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.lower import lower
from curador.query.sql_plan.prepared import preparation
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from tests.engines.oracle import Expected, kept, unit_of
from tests.engines.samples import EVERYTHING, FEW, QUESTIONS, TABLES, stored, tables
from tests.engines.test_aggregates import plain, planned
from tests.real_engines import shown

Data = Mapping[str, list[dict[str, Any]]]

FAR = 6.0
"""Deviations; each of some hundred frequencies below is further off with probability 2e-9, all together below 1e-6."""


def deviations(observed: np.ndarray[Any, Any], size: int, share: float) -> float:
    """How far the furthest frequency is from ``share`` of ``size``, in standard deviations."""
    return float(np.max(np.abs(observed - size * share)) / math.sqrt(size * share * (1 - share)))


def _whole() -> dict[str, object]:
    return {"type": "integer", "bounds": [-1000, 1000]}


def answered(exact: Exact, measures: list[Measure], data: Data) -> Expected:
    engine = DuckDB({n: Frame(stored(rows, TABLES[n])) for n, rows in data.items()}, threads=1, on_error=shown)
    try:
        return plain(engine.run(exact), measures)
    finally:
        engine.close()


def units(checked: Checked, data: Data) -> list[Any]:
    """The units of a question's tables: ids, or places of rows."""
    name = checked.question.table
    if checked.table.unit.id is None:
        return list(range(len(data[name])))
    return sorted({unit_of(r, checked.table) for r in data[name]} - {None}, key=str)


def without(checked: Checked, data: Data, unit: Any) -> dict[str, list[dict[str, Any]]]:
    """The tables without everything of one unit, in all private tables that share it."""
    name, found = checked.question.table, {n: list(rows) for n, rows in data.items()}
    if checked.table.unit.id is None:
        del found[name][unit]
        return found
    for table in (name, *(j.table for j in checked.question.joins if j.kind == "unit")):
        found[table] = [r for r in data[table] if unit_of(r, TABLES[table]) != unit]
    return found


def replaced(checked: Checked, data: Data, unit: Any, rng: random.Random) -> dict[str, list[dict[str, Any]]]:
    """One unit's rows exchanged for others: those of another made-up unit, many or few."""
    found, name = without(checked, data, unit), checked.question.table
    id = checked.table.unit.id
    if id is None:
        found[name].insert(unit, rng.choice(tables(rng.randrange(10**6), 5)[name]))
        return found
    more = tables(rng.randrange(10**6), rng.choice([3, 60]))
    for table in (name, *(j.table for j in checked.question.joins if j.kind == "unit")):
        found[table] += [{**r, str(TABLES[table].unit.id): unit} for r in more[table]]
    return found


def moves(m: Measure, a: Expected, b: Expected) -> list[int]:
    """How far each number of a measure moved: of lists, by how many rows each group's multisets differ."""
    keys = list(dict.fromkeys([*a.keys, *b.keys]))

    def cell(answer: Expected, key: Any) -> Any:
        empty: Any = [] if m.kind is MeasureKind.VALUES else 0
        found: Any = answer.lists if m.kind is MeasureKind.VALUES else answer.columns
        return found[m][answer.keys.index(key)] if key in answer.keys else empty

    if m.kind is not MeasureKind.VALUES:
        return [abs(cell(a, key) - cell(b, key)) for key in keys]
    found = []
    for key in keys:
        x, y = dict(cell(a, key)), dict(cell(b, key))
        more = sum(max(0, x.get(v, 0) - y.get(v, 0)) for v in x)
        fewer = sum(max(0, y.get(v, 0) - x.get(v, 0)) for v in y)
        found.append(max(more, fewer))
    return found


def exceeded(
    checked: Checked, measures: list[Measure], exact: Exact, data: Data, others: Iterator[Data], kind: Neighbors
) -> list[str]:
    """The measures that move further between the data and its neighbours than is claimed of them."""
    cells, found = None if checked.keys is None else len(checked.keys), []
    here = answered(exact, measures, data)
    for other in others:
        there = answered(exact, measures, other)
        for m in measures:
            claim, moved = m.sensitivity(exact.contribution, kind, cells), moves(m, here, there)
            norms = sum(moved), sum(x * x for x in moved), max(moved, default=0)
            if any(x > y for x, y in zip(norms, (claim.l1, claim.l2_squared, claim.linf), strict=True)):
                found.append(m.label)
    return found


@pytest.mark.thin(8)
@pytest.mark.parametrize("name", QUESTIONS)
def test_neighbours_move_no_further_than_claimed(name: str) -> None:
    """Every unit removed in turn (of rows, a few), and some replaced; the unit 1 has a third of all rows."""
    rng = random.Random(11)
    checked, measures = planned(QUESTIONS[name])
    exact, data = lower(checked, measures, limits(checked)), tables(12, 120)
    every = units(checked, data)
    some = every if checked.table.unit.id is not None else rng.sample(every, 5)
    removed = (without(checked, data, u) for u in some)
    assert exceeded(checked, measures, exact, data, removed, Neighbors.ADD_REMOVE) == []
    changed = (replaced(checked, data, u, rng) for u in rng.sample(some, 3))
    assert exceeded(checked, measures, exact, data, changed, Neighbors.REPLACE) == []


@pytest.mark.parametrize("name", ["towns", "found", "quantiles"])
def test_neighbours_move_no_further_with_rows_limited_in_all_groups(name: str) -> None:
    """The same, where a unit keeps so many rows in all its groups together: noise is for that number alone."""
    rng = random.Random(13)
    checked, measures = planned(replace(QUESTIONS[name], contribution=in_all(3)))
    kept, data = limits(checked), tables(12, 50)
    exact = lower(checked, measures, kept)
    rows = [m for m in measures if m.kind is MeasureKind.ROWS]
    assert all(m.sensitivity(kept, Neighbors.ADD_REMOVE, 9).l1 == 3 for m in rows)
    every = units(checked, data)
    assert (
        exceeded(checked, measures, exact, data, (without(checked, data, u) for u in every), Neighbors.ADD_REMOVE) == []
    )
    changed = (replaced(checked, data, u, rng) for u in rng.sample(every, 3))
    assert exceeded(checked, measures, exact, data, changed, Neighbors.REPLACE) == []


def test_one_row_more_in_all_groups_is_seen() -> None:
    checked, measures = planned(replace(QUESTIONS["towns"], contribution=in_all(4)))
    looser, data = lower(checked, measures, limits(checked)), tables(12, 120)
    claimed = Exact(looser.scans, looser.statements, looser.keys, looser.kinds, in_all(3))
    removed = (without(checked, data, u) for u in (1, 2))
    assert "rows" in exceeded(checked, measures, claimed, data, removed, Neighbors.ADD_REMOVE)


def test_rows_limited_in_all_groups_are_spread_over_them() -> None:
    """Of a unit with ten rows in each of four groups, eight in all: two in each."""
    table = Table(Frame(None), unit="id", columns={"id": "integer", "g": {"type": "integer", "bounds": [0, 3]}})
    asked = Question("t", (Output("n", count()),), group_by=(Group("g", ex.Name("g")),), contribution=in_all(8))
    checked = check(asked, {"t": table})
    rows = pa.table({"id": [i for i in range(50) for _ in range(40)], "g": [i % 4 for i in range(2000)]})
    engine = DuckDB({"t": Frame(rows)}, threads=1, on_error=shown)
    measure = Measure(MeasureKind.ROWS)
    assert list(engine.run(lower(checked, [measure], limits(checked))).column(measure)) == [100, 100, 100, 100]
    engine.close()


def test_more_than_claimed_is_seen() -> None:
    """The same check refuses a plan that keeps one row or one group more than it claims, also on arrays."""
    for outputs, arrays in ((EVERYTHING, False), (FEW, True)):
        _more_than_claimed_is_seen(replace(QUESTIONS["towns"], aggregates=outputs), arrays)


def _more_than_claimed_is_seen(question: Question, arrays: bool) -> None:
    checked, measures = planned(question)
    data = tables(12, 120)
    for more, seen in ((Contribution(rows=4, groups=2), "rows"), (Contribution(rows=3, groups=3), "units")):
        looser = lower(checked, measures, more)
        assert (looser.bounded is not None) is arrays
        claimed = replace(looser, contribution=Contribution(rows=3, groups=2))
        removed = (without(checked, data, u) for u in (1, 2))
        assert seen in exceeded(checked, measures, claimed, data, removed, Neighbors.ADD_REMOVE)


ADDITIVE = (
    MeasureKind.ROWS,
    MeasureKind.UNITS,
    MeasureKind.PRESENT,
    MeasureKind.SUM,
    MeasureKind.CENTRED,
    MeasureKind.SQUARES,
)


@pytest.mark.thin(6)
@pytest.mark.parametrize("name", [n for n, q in QUESTIONS.items() if TABLES[q.table].unit.id is not None])
def test_a_units_rows_are_chosen_without_looking_at_others(name: str) -> None:
    """Sums over the table are the sums of those over each unit alone."""
    checked, measures = planned(QUESTIONS[name])
    exact, data = lower(checked, measures, limits(checked)), tables(13, 100)
    additive = [m for m in dict.fromkeys(measures) if m.kind in ADDITIVE]
    whole = answered(exact, measures, data)
    parts: dict[tuple[Measure, Any], int] = {}
    for unit in units(checked, data):
        alone = {n: list(rows) for n, rows in data.items()}
        for table in {checked.question.table, *(j.table for j in checked.question.joins if j.kind == "unit")}:
            alone[table] = [r for r in data[table] if unit_of(r, TABLES[table]) == unit]
        one = answered(exact, measures, alone)
        for m in additive:
            for key, n in zip(one.keys, one.columns[m], strict=True):
                parts[m, key] = parts.get((m, key), 0) + n
        if any(m.kind is MeasureKind.ROWS for m in measures):
            rows = one.columns[Measure(MeasureKind.ROWS)]
            assert max(rows, default=0) <= exact.contribution.rows
            assert sum(n > 0 for n in rows) <= exact.contribution.groups
    for m in additive:
        assert whole.columns[m] == [parts.get((m, key), 0) for key in whole.keys], m.label


# ---- private tables joined ---------------------------------------------------------------------------------------

LEFT = Table(Frame(None), unit="id", columns={"id": "integer", "a": _whole(), "k": "integer"})
RIGHT = Table(Frame(None), unit="id", columns={"id": "integer", "b": _whole(), "k": "integer"})


def pairs(ids: list[int], rows: int, most: int, key: str | None = None) -> dict[tuple[int, int], int]:
    """How often each pair of values is joined, where every unit has the values 0 … rows - 1 on both sides.

    The key of a row is its value on one side, and on the other the value in the opposite order.
    """
    sides = {}
    for name, turn in (("a", 1), ("b", -1)):
        value = np.tile(np.arange(rows), len(ids))
        keys = value if turn == 1 else rows - 1 - value
        sides[name] = pa.table({"id": np.repeat(ids, rows), name: value, "k": keys})
    on = ((ex.Name("id"), "id"), *([(ex.Name(key), key)] if key else []))
    pair = (Group("a", ex.Name("a")), Group("b", ex.Name("b", "right")))
    asked = Question("left", (Output("n", count()),), joins=(Join("unit", "right", on),), group_by=pair)
    checked = check(asked, {"left": LEFT, "right": RIGHT})
    checked = replace(checked, rows=replace(checked.rows, most_joined=most))
    engine = DuckDB({"left": Frame(sides["a"]), "right": Frame(sides["b"])}, threads=1, on_error=shown)
    answer = engine.run(lower(checked, [Measure(MeasureKind.ROWS)], Contribution(rows=10**6, groups=10**6)))
    engine.close()
    counts = zip(answer.keys, answer.column(Measure(MeasureKind.ROWS)), strict=True)
    return {(int(a), int(b)): n for (a, b), n in counts if isinstance(a, int) and isinstance(b, int)}


def test_a_unit_makes_no_more_joined_rows_than_is_said() -> None:
    """Each side is cut to the root of the limit: 20 by 20 rows are 4 by 4, and with a limit of 400 all."""
    for most, left in ((16, 16), (24, 16), (25, 25), (400, 400)):
        assert sum(pairs([7], 20, most).values()) == left


def test_no_pair_of_rows_is_favoured() -> None:
    """Of 6 rows on each side 2 are kept: each of the 36 pairs by one unit in nine, whichever values they have."""
    found = pairs(list(range(5000)), 6, 4)
    assert sum(found.values()) == 5000 * 4
    assert len(found) == 36
    assert deviations(np.array(list(found.values())), 5000, 1 / 9) < FAR


def test_sides_that_keep_the_same_places_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same check refuses sides that are cut alike: the pairs of equal places would be kept most."""
    same = truncate.ranked
    monkeypatch.setattr(truncate, "ranked", lambda a, b, c, d, turned: same(a, b, c, d))
    found = pairs(list(range(5000)), 6, 4)
    assert deviations(np.array([found.get((i, j), 0) for i in range(6) for j in range(6)]), 5000, 1 / 9) > FAR


def test_rows_that_match_are_kept_together() -> None:
    """Rows that are matched one to one keep their partners: of 60, the 10 that are brought all find theirs."""
    found = pairs(list(range(2000)), 60, 100, "k")
    assert all(a + b == 59 for a, b in found)
    assert sum(found.values()) == 2000 * 10
    assert deviations(np.array([found.get((a, 59 - a), 0) for a in range(60)]), 2000, 1 / 6) < FAR


# ---- no favourites -----------------------------------------------------------------------------------------------


def chosen(ids: list[Any], groups: int, rows: int, keep: Contribution, prepared: bool = False) -> np.ndarray[Any, Any]:
    """How often each (group, value) is kept, where every unit has the values 0 … rows - 1 in every group."""
    kind = "text" if isinstance(ids[0], str) else "integer"
    columns = {
        "id": kind,
        "g": {"type": "integer", "bounds": [0, groups - 1]},
        "v": {"type": "integer", "bounds": [0, rows - 1]},
    }
    table = Table(Frame(None), unit="id", columns=columns, contribution=keep)
    size = len(ids)
    every = pa.table(
        {
            "id": pa.array([u for u in ids for _ in range(groups * rows)]),
            "g": pa.array(np.tile(np.repeat(np.arange(groups), rows), size)),
            "v": pa.array(np.tile(np.arange(rows), groups * size)),
        }
    )
    engine = DuckDB({"t": Frame(every)}, on_error=shown)
    asked = Question("t", (Output("n", count()),), group_by=(Group("g", ex.Name("g")),))
    checked = check(asked, {"t": table})
    values = Measure(MeasureKind.VALUES, ex.Name("v"), 0, rows - 1)
    ready = engine.prepare(preparation("t", table, [ex.Name("g")])) if prepared else None
    answer = engine.run(lower(checked, [values], keep, ready))
    engine.close()
    found = np.zeros((groups, rows))
    for g, (v, n) in enumerate(answer.values(values)):
        found[g, v] = n
    return found


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("ids", ["sequence", "steps", "random", "text"])
def test_no_value_and_no_group_is_favoured(ids: str, prepared: bool) -> None:
    """Of 20 groups of 7 rows, 3 groups of 2 rows are kept: each row by three in twenty times two in seven units."""
    rng = random.Random(1)
    some: dict[str, list[Any]] = {
        "sequence": list(range(6000)),
        "steps": [1_000_000_007 * i for i in range(6000)],
        "random": [rng.randrange(-(2**63), 2**63) for _ in range(6000)],
        "text": [f"patient {i}" for i in range(6000)],
    }
    found = chosen(some[ids], 20, 7, Contribution(rows=2, groups=3), prepared)
    assert found.sum() == 6000 * 3 * 2
    assert deviations(found, 6000, 3 / 20 * 2 / 7) < FAR
    assert deviations(found.sum(axis=1) / 2, 6000, 3 / 20) < FAR


def test_small_and_large_values_are_favoured_by_other_rules() -> None:
    """The check sees a rule that keeps the smallest values, or the smallest hash of the values."""
    first = np.zeros((20, 7))
    first[:, :2] = 6000 * 3 / 20
    assert deviations(first, 6000, 3 / 20 * 2 / 7) > FAR


def test_equal_values_are_rows_of_their_own() -> None:
    """Nine rows of 10 and one of 20: the 20 is kept by one unit in ten, not by one in two, as by a hash of values."""
    rows = [(u, 0, (10,)) for u in range(4000) for _ in range(9)] + [(u, 0, (20,)) for u in range(4000)]
    rare = sum(v == (20,) for _, _, v in kept(rows, 1, Contribution(rows=1, groups=1)))
    assert abs(rare - 400) < FAR * math.sqrt(4000 * 0.1 * 0.9)
    assert abs(2000 - 400) > FAR * math.sqrt(4000 * 0.1 * 0.9)


def test_systematic_samples_have_their_size_and_chance() -> None:
    """For every n and every start: exactly R rows; over all starts each place is kept R times in n."""
    for n in range(1, 40):
        for most in range(1, n + 1):
            times = [0] * n
            for start in range(n):
                places = [i for i in range(1, n + 1) if (i * most + start) % n < most]
                assert len(places) == most
                for i in places:
                    times[i - 1] += 1
            assert [Fraction(t, n) for t in times] == [Fraction(most, n)] * n
