"""Tables with budgets of their own: a unit that leaves one of them, and stays in the others, is paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import curador as cu
from curador.engines.duckdb.engine import DuckDB
from curador.errors import QuestionRefused
from curador.learn import GaussianNB
from curador.query.plan.steps import Noised
from curador.query.tables.sources import Frame

X: Mapping[str, Any] = {"type": "integer", "bounds": [0, 9]}

VISITS = {"id": [1, 1, 2, 3], "x": [1, 2, 3, 4]}
ILL = {"id": [1, 2, 2], "y": [5, 6, 7]}
BESIDE = "(SELECT id, MAX(y) AS y FROM ill GROUP BY id) q"

CHANGED = [
    "SELECT f, COUNT(*) AS n FROM (SELECT id, id IN (SELECT id FROM ill) AS f FROM visits) t GROUP BY f",
    "SELECT COUNT(*) AS n FROM visits WHERE id NOT IN (SELECT id FROM ill)",
    "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM ill) OR x > 2",
    f"SELECT SUM(COALESCE(q.y, 9)) AS n FROM visits LEFT JOIN {BESIDE} ON visits.id = q.id",
    "SELECT SUM(ill.y) AS n FROM visits LEFT JOIN ill ON visits.id = ill.id",
    "SELECT SUM(v) AS n FROM (SELECT id, x AS v FROM visits UNION ALL SELECT id, y FROM ill) t",
    "SELECT SUM(c) AS n FROM (SELECT id, COUNT(*) AS c FROM visits GROUP BY id, id IN (SELECT id FROM ill)) t",
]
"""Questions to which a unit still adds something when its rows in the second table are gone."""

ALL_OR_NOTHING = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT x > 1 AS f, SUM(ill.y) AS n FROM visits JOIN ill ON visits.id = ill.id GROUP BY f",
    f"SELECT x > 1 AS f, SUM(q.y) AS n FROM visits JOIN {BESIDE} ON visits.id = q.id GROUP BY f",
    f"SELECT SUM(q.y) AS n FROM visits LEFT JOIN {BESIDE} ON visits.id = q.id WHERE q.y > 5",
    "SELECT f, COUNT(*) AS n FROM (SELECT id, id IN (SELECT id FROM ill) AS f FROM visits) t "
    "WHERE id IN (SELECT id FROM ill) GROUP BY f",
    "SELECT SUM(v) AS n FROM (SELECT id, x AS v FROM visits UNION ALL SELECT id, 1 FROM visits WHERE x > 1) t "
    "JOIN ill ON t.id = ill.id",
]


def tables(neighbors: str = "add-remove") -> dict[str, cu.Table]:
    own: dict[str, Any] = {"unit": "id", "contribution": (2, 2), "neighbors": neighbors}
    return {
        "visits": cu.Table(pa.table(VISITS), columns={"id": "integer", "x": X}, **own),
        "ill": cu.Table(pa.table(ILL), columns={"id": "integer", "y": X}, **own),
    }


def curator(neighbors: str = "add-remove") -> cu.Curator:
    return cu.Curator(tables(neighbors), budget={"visits": cu.PureDP(10), "ill": cu.PureDP(10)})


def without(rows: Mapping[str, list[int]], unit: int) -> pa.Table:
    kept = [i for i, id in enumerate(rows["id"]) if id != unit]
    return pa.table({name: [values[i] for i in kept] for name, values in rows.items()})


def moved(plan: Any, table: str, unit: int) -> list[tuple[Fraction, Fraction]]:
    """How far each measure moves when a unit leaves one table alone, and how far it may."""
    whole = {"visits": pa.table(VISITS), "ill": pa.table(ILL)}
    other = {**whole, table: without({"visits": VISITS, "ill": ILL}[table], unit)}
    here, there = (DuckDB({n: Frame(t) for n, t in held.items()}, threads=1) for held in (whole, other))
    one, two = here.run(plan.exact), there.run(plan.exact)
    here.close()
    there.close()
    assert one.keys == two.keys
    measures = [(s.measure, s.sensitivity.l1) for s in plan.steps if isinstance(s, Noised)]
    pairs = [(zip(one.column(m), two.column(m), strict=True), most) for m, most in measures]
    return [(sum((Fraction(abs(int(a) - int(b))) for a, b in both), Fraction(0)), most) for both, most in pairs]


def test_a_unit_that_leaves_one_table_may_move_an_answer_twice_as_far() -> None:
    """Why they are refused: it leaves one group and joins another, and a unit that comes or goes does one of them."""
    together = cu.Curator(tables(), budget=cu.PureDP(10))  # where it may be planned
    ((far, most),) = moved(together.plan(CHANGED[0], epsilon=1, contribution=(1, 1)), "ill", 1)
    assert far == 2
    assert most == 1


@pytest.mark.parametrize("text", CHANGED)
def test_what_one_table_alone_changes_is_refused_at_no_cost(text: str) -> None:
    asked = curator()
    with pytest.raises(QuestionRefused) as refused:
        asked.sql(text, epsilon=1)
    assert refused.value.code == "budgets-apart"
    assert refused.value.facts["table"] in ("visits", "ill")
    assert asked.history() == ()


@pytest.mark.parametrize("text", [CHANGED[0], CHANGED[4]])
def test_who_only_plans_it_is_refused_alike(text: str) -> None:
    """So that nobody learns of it only when asking."""
    asked = curator()
    with pytest.raises(QuestionRefused) as refused:
        asked.ask(text, epsilon=1)
    planned: list[Callable[[], object]] = [
        lambda: asked.plan(text, epsilon=1),
        lambda: asked.plan(text, accuracy=cu.within(5)),
        lambda: asked.explain(text, epsilon=1),
        lambda: asked.how_many(text, epsilon=1),
        lambda: asked.batch({"plain": ALL_OR_NOTHING[0], "changed": text}, epsilon=1),
    ]
    for plan in planned:
        with pytest.raises(QuestionRefused) as alike:
            plan()
        assert str(alike.value) == str(refused.value)
        assert alike.value.code == "budgets-apart"
    assert asked.history() == ()


def test_a_plan_from_before_a_renewal_is_refused_when_it_is_bought() -> None:
    asked = cu.Curator(tables(), budget=cu.PureDP(10))
    batch = asked.batch({"changed": CHANGED[0]}, epsilon=1)
    asked.renew("ill", epsilon=10, because="other people")
    with pytest.raises(QuestionRefused, match="budget of its own"):
        asked.publish(batch)
    assert asked.history() == ()


@pytest.mark.parametrize("text", ALL_OR_NOTHING)
def test_what_a_unit_needs_both_tables_for_is_answered(text: str) -> None:
    asked = curator()
    plan = asked.plan(text, epsilon=1)
    for table in plan.tables:
        for unit in (1, 2, 3):
            assert all(far <= most for far, most in moved(plan, table, unit))
    asked.sql(text, epsilon=1)
    assert len(asked.history()) == 1


@pytest.mark.parametrize("text", CHANGED)
def test_one_budget_has_all_that_it_needs(text: str) -> None:
    """Of one budget, neighbours differ in all rows of a unit; replaced, it adds anything else."""
    cu.Curator(tables(), budget=cu.PureDP(10)).sql(text, epsilon=1)
    cu.Curator(tables("replace"), budget=cu.PureDP(10)).sql(text, epsilon=1)


@pytest.mark.parametrize("text", CHANGED)
def test_a_unit_may_take_the_place_of_another_in_one_table(text: str) -> None:
    with pytest.raises(QuestionRefused, match="budget of its own"):
        curator("replace").sql(text, epsilon=1)


@pytest.mark.parametrize("text", ALL_OR_NOTHING)
def test_replaced_units_that_need_both_tables_are_answered(text: str) -> None:
    curator("replace").sql(text, epsilon=1)


def test_two_units_that_change_places_in_one_table_move_an_answer_twice_as_far() -> None:
    """Why: each of them stays in the other table, and adds something else there."""
    own: dict[str, Any] = {"unit": "id", "contribution": (1, 1), "neighbors": "replace"}
    w = {"type": "integer", "bounds": [-9, 9]}
    text = "SELECT SUM(CASE WHEN id IN (SELECT id FROM ill) THEN w ELSE -w END) AS n FROM visits"
    found = []
    for ill in ([1, 2], [3, 2]):  # of as many units
        held = {
            "visits": cu.Table(pa.table({"id": [1, 2, 3], "w": [-9, 0, 9]}), columns={"id": "integer", "w": w}, **own),
            "ill": cu.Table(pa.table({"id": ill}), columns={"id": "integer"}, **own),
        }
        with closing(cu.Curator(held, budget=cu.PureDP(10))) as together:
            plan = together.plan(text, epsilon=1)
            found.append(together._engines.of(plan.reads).run(plan.exact))
        with closing(cu.Curator(held, budget=dict.fromkeys(held, cu.PureDP(10)))) as apart:
            for refused in (apart.plan, apart.sql):
                with pytest.raises(QuestionRefused, match="budget of its own"):
                    refused(text, epsilon=1)
    (step,) = (s for s in plan.steps if isinstance(s, Noised))
    (one,), (two,) = (rows.column(step.measure) for rows in found)
    assert abs(int(one) - int(two)) == 36
    assert step.sensitivity.l1 == 18


def test_tables_that_a_renewal_set_apart_are_refused(tmp_path: Path) -> None:
    asked = cu.Curator(tables(), budget=cu.PureDP(10), ledger=tmp_path / "x.db")
    asked.sql(CHANGED[0], epsilon=1)
    asked.renew("ill", epsilon=10, because="other people")
    with pytest.raises(QuestionRefused, match="budget of its own"):
        asked.sql(CHANGED[0], epsilon=1)
    asked.close()


def test_a_model_is_learned_from_units_of_both_tables_or_of_none() -> None:
    asked = curator()
    model = GaussianNB(epsilon=1, classes=[0, 1, 2], keys={"ill": [False, True]})
    features = {"ill": "id IN (SELECT id FROM ill)"}
    with pytest.raises(QuestionRefused, match="budget of its own"):
        asked.training(model, "visits", features=features, label="x", contribution=1)
    with pytest.raises(QuestionRefused, match="budget of its own"):
        asked.fit(model, "visits", features=features, label="x", contribution=1)
    assert asked.history() == ()
    asked.fit(model, asked.table("visits").where("id IN (SELECT id FROM ill)"), features=features, label="x")
    assert len(asked.history()) == 1
