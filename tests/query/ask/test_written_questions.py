"""Questions as JSON, as a server's callers may write them: what no builder makes is refused before it is planned.

A question in JSON does not come through the parser, so everything that its promise rests on is checked here again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from typing import Any

import pyarrow as pa
import pytest

import curador as cu
from curador.curator.table import question_from, question_of
from curador.errors import CuradorError, QuestionRefused
from curador.query.aggregates.counts import count
from curador.query.ask.question import Output, Question
from curador.query.language import expressions as ex
from curador.query.language import rows as rowsets
from curador.query.language.rows import BesideUnit, InUnits, OfUnit, PerUnit, RowSet, UnionAll
from tests.audit.doors.moves import changes

X: Any = {"type": "integer", "bounds": [0, 9]}
VISITS = {"id": [1] * 9 + [2, 3], "x": [9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0]}
STAYS = {"id": [1, 1, 2], "y": [1, 2, 3]}


def curator(unit: int | None = None, apart: bool = True) -> cu.Curator:
    """Tables of three kinds of unit, without one person; each with a budget, or one for all of the same neighbours."""

    def table(rows: dict[str, list[int]], **own: Any) -> cu.Table:
        kept = [i for i, id in enumerate(rows["id"]) if id != unit]
        held = pa.table({name: [values[i] for i in kept] for name, values in rows.items()})
        return cu.Table(held, columns={"id": X, **{n: X for n in rows if n != "id"}}, **own)

    tables = {
        "visits": table(VISITS, unit="id", contribution=(1, 1)),
        "stays": table(STAYS, unit="id", contribution=(2, 2)),
        "replaced": table(STAYS, unit="id", contribution=(1, 1), neighbors="replace"),
        "named": cu.Table(pa.table({"id": ["p"], "y": [1]}), unit="id", columns={"id": "text", "y": X}, contribution=1),
        "rows": cu.Table(pa.table({"y": [1, 2]}), columns={"y": X}),
    }
    if apart:
        return cu.Curator(tables, budget=dict.fromkeys(tables, cu.PureDP(10)))
    return cu.Curator({n: t for n, t in tables.items() if n != "replaced"}, budget=cu.PureDP(10))


V, N = RowSet("visits"), (Output("n", count()),)

ELSEWHERE: dict[str, Callable[[], Question]] = {
    "rows over a union": lambda: Question("rows", N, source=UnionAll((V, V))),
    "rows over one row per unit and value": lambda: Question("rows", N, source=PerUnit(V, (ex.Name("x"),))),
    "other limits": lambda: Question("stays", N, source=UnionAll((V, V))),
    "other neighbours": lambda: Question("replaced", N, source=UnionAll((V, V))),
    "other ids": lambda: Question("named", N, source=PerUnit(V)),
    "inside": lambda: Question("visits", N, source=PerUnit(RowSet("rows", UnionAll((V, V))))),
    "in a list": lambda: Question("visits", N, where=InUnits("in", rows=RowSet("stays", PerUnit(RowSet("named"))))),
    "beside": lambda: Question(
        "visits",
        N,
        where=ex.IsNull(BesideUnit("beside", operand=OfUnit("rows"), rows=RowSet("stays", PerUnit(RowSet("named"))))),
    ),
    "of nothing": lambda: Question("visits", N, source=UnionAll(())),
}
"""Rows that say they are of another table than they are made of: its unit and limits would be those of the answer."""


@pytest.mark.parametrize("name", ELSEWHERE)
def test_rows_are_of_the_table_that_they_are_made_of(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as unchecked:
        unchecked.setattr(rowsets, "_check_first", lambda rows: None)
        written = json.loads(json.dumps(ELSEWHERE[name]().to_json()))
    with closing(curator()) as asked:
        with pytest.raises(QuestionRefused, match="not the first one"):
            asked.ask(question_from(written), epsilon=1)
        assert asked.history() == ()


def test_without_that_a_unit_would_move_an_answer_by_all_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table's unit is a row, so that nothing is cut: it was paid for one row, and moved by eighteen."""
    monkeypatch.setattr(rowsets, "_check_first", lambda rows: None)
    with closing(curator(apart=False)) as here, closing(curator(1, apart=False)) as there:
        plan = here.plan(ELSEWHERE["rows over a union"](), epsilon=1)
        with pytest.raises(AssertionError):
            changes(plan, *(c._engines.of(plan.reads).run(plan.exact) for c in (here, there)))


SQL = {
    "quantile": "SELECT QUANTILE(x, 0.5) AS a FROM visits",
    "point": "SELECT APPROX_QUANTILE(x, 0.5) AS a FROM visits",
    "max": "SELECT MAX(x) AS a FROM visits",
    "bounds": "SELECT BOUNDS(x) AS a FROM visits",
    "variance": "SELECT VARIANCE(x) AS a FROM visits",
    "std": "SELECT STDDEV(x) AS a FROM visits",
    "covariance": "SELECT COVAR_POP(x, id) AS a FROM visits",
    "mean of a pair": "SELECT REGR_AVGX(x, id) AS a FROM visits",
    "top": "SELECT x, TOP_K(2) AS a FROM visits GROUP BY x",
    "count": "SELECT COUNT(*) AS a FROM visits",
    "mean": "SELECT AVG(x) AS a FROM visits",
}
WRONG = {
    **dict.fromkeys(("quantile", "point"), ([], ["5"], ["-1"], ["1/2", "1/4"], ["1/2", "1/2"])),
    **dict.fromkeys(("max", "bounds", "count", "mean"), (["1"], ["1/2"])),
    **dict.fromkeys(("variance", "std", "covariance", "mean of a pair"), ([], ["2"], ["-1"], ["1/2"], ["1", "0"])),
    "top": ([], ["0"], ["-1"], ["5/2"], ["1", "2"], ["9" * 20]),
}


@pytest.mark.parametrize(("name", "parameters"), [(name, p) for name, some in WRONG.items() for p in some])
def test_parameters_that_no_function_has_are_refused_before_the_charge(name: str, parameters: list[str]) -> None:
    """Some were an error of Python's own, after the charge: nothing was answered."""
    with closing(curator()) as asked:
        written = json.loads(json.dumps(question_of(SQL[name], asked.tables).to_json()))
        question_from(written)
        written["aggregates"][0]["aggregate"]["parameters"] = parameters
        with pytest.raises(QuestionRefused, match="parameters"):
            question_from(written)


@pytest.mark.parametrize("order", [{"name": "a", "descending": "yes"}, {"name": 3, "descending": True}])
def test_an_order_that_is_none_is_refused_before_the_charge(order: dict[str, Any]) -> None:
    with closing(curator()) as asked:
        written = json.loads(json.dumps(question_of(SQL["top"], asked.tables).to_json()))
    with pytest.raises(QuestionRefused, match="sorted"):
        question_from({**written, "order_by": [order]})


@pytest.mark.parametrize("totals", [[[["N"], 10**400]], [[["N"], 5], [["N"], 7]]])
def test_totals_that_no_count_has_are_refused_before_the_charge(totals: list[Any]) -> None:
    """The first was an error of Python's own, after the charge; of the others the last one counted."""
    tree = {"levels": ["l1", "l2"], "children": {"N": ["n"], "S": ["s"]}}
    held = {"t": cu.Table("no-such.csv", columns={"l1": "text", "l2": "text"}, trees={"place": tree})}
    text = "SELECT l1, l2, COUNT(*) AS n FROM t GROUP BY ROLLUP (l1, l2)"
    written = json.loads(json.dumps(question_of(text, held).to_json()))
    assert question_from({**written, "totals": [[["N"], 5]]}).totals == ((("N",), 5),)
    with pytest.raises(QuestionRefused, match="total"):
        question_from({**written, "totals": totals})


def test_no_question_names_the_counts_of_a_tree() -> None:
    with closing(curator()) as asked:
        written = json.loads(json.dumps(question_of(SQL["count"], asked.tables).to_json()))
    written["aggregates"][0]["aggregate"]["function"] = "tree"
    with pytest.raises(QuestionRefused):
        question_from(written)


MADE = {
    "of_parts": "SELECT x, COUNT(*) AS n FROM (SELECT id, x FROM visits UNION ALL SELECT id, y FROM stays) q "
    "GROUP BY x",
    "in_units": "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM stays WHERE y > 1)",
    "beside_unit": "SELECT q.m, COUNT(*) AS n FROM visits LEFT JOIN (SELECT id, MAX(y) AS m FROM stays GROUP BY id) q "
    "ON visits.id = q.id GROUP BY q.m",
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("table", ["stays", "nowhere"])
def test_a_column_that_is_made_of_rows_is_of_no_joined_table(kind: str, table: str) -> None:
    """Found by attack: keys were read from that table, or it was an error of Python's own; no identity names it."""
    with closing(curator()) as asked:
        held = {name: one for name, one in asked.tables.items() if name in ("visits", "stays")}
        written = json.loads(json.dumps(question_of(MADE[kind], held).to_json()))
    made = [part for _, part in places(written) if isinstance(part, dict) and part.get("is") == kind]
    assert made
    made[0]["table"] = table
    with pytest.raises(QuestionRefused, match="no joined table"):
        question_from(written)


LIMITED = [
    "SELECT x, MEDIAN(id) AS m FROM visits GROUP BY x",
    "SELECT x, COUNT(DISTINCT id) AS n FROM visits GROUP BY x",
    "SELECT x > 3 AS more, COUNT(*) AS n, COUNT(DISTINCT id) AS d FROM visits GROUP BY more",
]


@pytest.mark.parametrize("text", LIMITED)
def test_rows_that_are_limited_in_all_groups_may_be_in_any_of_them(text: str) -> None:
    """Found by attack: limits of 9 rows in all, in one group, were paid for one group and cut to none."""
    with closing(curator()) as here, closing(curator(1)) as there:
        written = json.loads(json.dumps(question_of(text, here.tables).to_json()))
        written["contribution"] = {"rows": 9, "groups": 1, "fewest": 0, "total": 9}
        plan = here.plan(question_from(written), epsilon=1)
        assert plan.contribution.groups > 1
        changes(plan, *(c._engines.of(plan.reads).run(plan.exact) for c in (here, there)))


# ---- anything else ---------------------------------------------------------------------------------------------

WHOLE = [
    *SQL.values(),
    "SELECT SUM(n) AS s FROM (SELECT id, COUNT(*) AS n, MAX(x) AS m FROM visits GROUP BY id) q WHERE m > 2",
    "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM stays WHERE y > 1)",
    "SELECT SUM(x) AS s FROM (SELECT id, x FROM visits UNION ALL SELECT id, y FROM stays) q",
    "SELECT SUM(stays.y) AS s FROM visits JOIN stays ON visits.id = stays.id",
    "SELECT SUM(q.m) AS s FROM visits LEFT JOIN (SELECT id, MAX(y) AS m FROM stays GROUP BY id) q ON visits.id = q.id",
    "SELECT x, COUNT(*) AS n FROM visits GROUP BY ROLLUP (x)",
    "SELECT COUNT(*) AS n FROM rows",
]


def places(x: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], object]]:
    """Every part of a document, with the way to it."""
    yield path, x
    inside = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for name, part in inside:
        yield from places(part, (*path, name))


def changed(draw: random.Random, documents: list[Any]) -> Any:
    """A document with one or two parts exchanged for parts of the same name, or of any, elsewhere."""
    made = deepcopy(draw.choice(documents))
    for _ in range(draw.choice([1, 1, 2])):
        path, _ = draw.choice([p for p in places(made) if p[0]])
        alike = [x for d in documents for p, x in places(d) if p and p[-1] == path[-1]]
        other = [x for d in documents for _, x in places(d)]
        place = made
        for name in path[:-1]:
            place = place[name]
        odd = ["rows", "named", "each", -1, 2**62, None, [], {}, True]
        place[path[-1]] = deepcopy(draw.choice([draw.choice(alike), draw.choice(other), draw.choice(odd)]))
    return made


@pytest.mark.parametrize("apart", [True, False])
def test_any_other_document_is_refused_in_our_words_or_moves_by_no_more_than_is_paid(apart: bool) -> None:
    draw, ran = random.Random(random.getrandbits(64)), 0
    with closing(curator(apart=apart)) as here, closing(curator(1, apart=apart)) as there:
        documents = [json.loads(json.dumps(question_of(text, here.tables).to_json())) for text in WHOLE]
        for _ in range(150):
            written = changed(draw, documents)
            try:
                plan = here.plan(question_from(written), epsilon=1)
            except CuradorError:
                continue
            changes(plan, *(c._engines.of(plan.reads).run(plan.exact) for c in (here, there)))
            ran += 1
    assert ran > 15  # or nothing was tested
