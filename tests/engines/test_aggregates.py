"""Whole questions on all engines: the same integers as plain Python, for every form, key, join and unit."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from curador.engines.engine import ExactCounts
from curador.engines.sql_engine import SqlEngine
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Question
from curador.query.plan.checked import Checked, check
from curador.query.plan.measurement import limits, recipes
from curador.query.sql_plan.lower import lower
from tests.engines.oracle import Expected, oracle
from tests.engines.samples import QUESTIONS, TABLES, stored, tables
from tests.real_engines import Opened

UNITS = Measure(MeasureKind.UNITS)
ALIKE = ("all", "one key", "rows", "rows found", "outer")
"""Questions whose plans are made of parts that other questions have too."""


def planned(question: Question, most_joined: int = 9) -> tuple[Checked, list[Measure]]:
    """The question checked, with its measures; private tables bring few rows into joins, so that they are cut."""
    checked = check(question, TABLES)
    checked = replace(checked, rows=replace(checked.rows, most_joined=most_joined))
    return checked, [*(m for recipe in recipes(checked, limits(checked)) for m in recipe.measures), UNITS]


def opened_on(opened: Opened, rows: Mapping[str, list[dict[str, Any]]]) -> SqlEngine:
    engine = opened({name: stored(some, TABLES[name]) for name, some in rows.items()})
    engine.check(TABLES)
    return engine


def plain(answer: ExactCounts, measures: Sequence[Measure]) -> Expected:
    """An answer as the oracle gives it."""
    columns = {m: list(answer.column(m)) for m in measures if m.kind is not MeasureKind.VALUES}
    lists = {
        m: [list(zip(v.tolist(), n.tolist(), strict=True)) for v, n in answer.values(m)]
        for m in measures
        if m.kind is MeasureKind.VALUES
    }
    return Expected(list(answer.keys), columns, lists)


def test_questions(opened: Opened, engine_name: str) -> None:
    """On tables of several hundred rows and on empty ones; Spark, which compiles every plan, sees one of them."""
    spark = engine_name == "spark"
    for seed, size in [(1, 300)] if spark else [(1, 300), (2, 300), (3, 40), (4, 1), (5, 0)]:
        rows = tables(seed, size)
        engine = opened_on(opened, rows)
        for name, question in QUESTIONS.items():
            if spark and name in ALIKE:
                continue
            checked, measures = planned(question)
            found = engine.run(lower(checked, measures, limits(checked)))
            assert plain(found, measures) == oracle(checked, measures, limits(checked), rows), (name, seed)


@pytest.mark.parametrize("engine_name", ["duckdb", "postgresql"])
def test_order_of_rows_does_not_matter(opened: Opened) -> None:
    rows = tables(7)
    mixed = {name: random.Random(8).sample(some, len(some)) for name, some in rows.items()}
    first, second = opened_on(opened, rows), opened_on(opened, mixed)
    for question in QUESTIONS.values():
        checked, measures = planned(question)
        exact = lower(checked, measures, limits(checked))
        assert plain(first.run(exact), measures) == plain(second.run(exact), measures)


def test_empty_groups_are_there(opened: Opened) -> None:
    """On an empty table every public key has its row of zeros; there are no other groups."""
    engine = opened_on(opened, tables(9, 0))
    checked, measures = planned(QUESTIONS["listed"])
    found = engine.run(lower(checked, measures, limits(checked)))
    assert list(found.keys) == list(checked.keys or ())
    assert all(list(found.column(m)) == [0] * 3 for m in measures)
    checked, measures = planned(QUESTIONS["rows found"])
    assert engine.run(lower(checked, measures, limits(checked))).keys == ()
