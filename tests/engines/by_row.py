"""Seeing what an engine makes of single rows: each row is a group of its own, so that aggregates show its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from curador.engines.sql_engine import SqlEngine
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.sql_plan.lower import lower
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table

ROW = "row number"


def numbered(columns: Mapping[str, pa.Array]) -> pa.Table:
    """A table of these columns and the number of each row."""
    size = len(next(iter(columns.values())))
    return pa.table({ROW: pa.array(range(size), pa.int64()), **columns})


def declared(columns: Mapping[str, object], size: int) -> Table:
    """A table of these declarations whose rows are told by their number."""
    return Table(Frame(None), columns={ROW: {"type": "integer", "bounds": [0, size - 1]}, **columns})


def values(engine: SqlEngine, table: Table, expressions: Sequence[ex.Expr], name: str = "t") -> list[list[Any]]:
    """The value of every numeric expression in every row, as the engine works it out; None for NULL."""
    question = Question(name, (Output("n", count()),), group_by=(Group("row", ex.Name(ROW)),))
    checked = check(question, {name: table})
    measures = [(Measure(MeasureKind.SUM, e), Measure(MeasureKind.PRESENT, e)) for e in expressions]
    answer = engine.run(lower(checked, [m for both in measures for m in both], Contribution()))
    found = []
    for summed, counted in measures:
        pairs = zip(answer.column(summed), answer.column(counted), strict=True)
        found.append([total if present else None for total, present in pairs])
    return found


def as_number(e: ex.Expr) -> ex.Expr:
    """A condition as 1, 0 or NULL."""
    return ex.Case(((e, ex.Literal(1)), (ex.Not(e), ex.Literal(0))))
