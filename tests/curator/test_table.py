"""A curator's table, asked step by step: its last step is the curator's own, with the same question and options."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from inspect import signature
from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.study.tables import read_table, settings_of
from curador.curator.table import CuratorTable, described
from curador.errors import InvalidParameter, QuestionRefused
from curador.privacy import ApproxDP, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.ask.builder import TableQuery
from curador.query.plan.expected import within
from curador.query.tables.table import Table
from curador.remote.sent import priced

AGE = {"type": "integer", "bounds": [0, 100], "nullable": False}
COLUMNS: dict[str, object] = {"id": "integer", "age": AGE, "sex": {"type": "text", "keys": ["F", "M"]}}
ROWS = pa.table(
    {"id": [i // 3 for i in range(300)], "age": [i % 100 for i in range(300)], "sex": ["F", "M", "F"] * 100}
)


@pytest.fixture
def curator() -> Iterator[Curator]:
    tables = {
        "people": Table(ROWS, columns=COLUMNS, size=300),
        "visits": Table(pa.table(ROWS.to_pydict()), unit="id", contribution=(2, 2), columns=COLUMNS),
    }
    made = Curator(tables, ApproxDP(100, 1e-3))
    yield made
    made.close()


def test_every_step_keeps_the_curator(curator: Curator) -> None:
    start = curator.table("people")
    assert isinstance(start, CuratorTable)
    assert isinstance(start, TableQuery)
    steps = [
        start.where("age > 20"),
        start.with_columns(old="age > 60"),
        start.group_by("sex"),
        start.aggregate(n=count()),
        start.aggregate(n=count()).having("n > 3").order_by("n").limit(1),
        curator.table("visits").bounded(groups=1, rows=1),
    ]
    assert all(isinstance(step, CuratorTable) and step.curator is curator for step in steps)
    assert "curator" not in repr(start)


@pytest.mark.parametrize(
    ("name", "ours"), [("filter", "where"), ("groupby", "group_by"), ("agg", "aggregate"), ("assign", "with_columns")]
)
def test_names_of_data_frame_libraries_point_to_ours(curator: Curator, name: str, ours: str) -> None:
    with pytest.raises(AttributeError, match=rf"'CuratorTable' object has no attribute '{name}'\. Use {ours}\(\)\."):
        getattr(curator.table("people"), name)
    assert not hasattr(curator.table("people"), "rows_of_people")
    assert copy.copy(curator.table("people")) == curator.table("people")


def test_a_table_is_joined_by_its_name(curator: Curator) -> None:
    with pytest.raises(QuestionRefused, match=r"Write join\('visits', on="):
        curator.table("people").join(curator.table("visits"), on="id")  # type: ignore[arg-type]


def test_what_a_curator_takes_is_said(curator: Curator) -> None:
    frames: tuple[Any, ...] = (ROWS, ROWS.to_pandas(), ROWS.to_pandas()["sex"], [curator.tables["people"]])
    for given in frames:
        with pytest.raises(InvalidParameter, match=r"Pass {'name': Table\(frame, columns={…}\)}"):
            Curator(given, PureDP(1))
    bare: Any = {"people": ROWS}
    with pytest.raises(InvalidParameter, match=r"Write {'people': Table\(frame, columns={…}\)}"):
        Curator(bare, PureDP(1))
    budgets: tuple[Any, ...] = (1, "0.5", {"people": 2, "visits": PureDP(1)})
    for budget, said in zip(budgets, ("PureDP(1)", "PureDP('0.5')", "PureDP(2)"), strict=True):
        with pytest.raises(InvalidParameter, match=f"Write {re.escape(said)} for that epsilon"):
            Curator({**curator.tables}, budget)


def test_a_built_question_is_the_one_that_is_written(curator: Curator) -> None:
    built = curator.table("people").where("age > 30").group_by("sex").aggregate(n=count(), m=mean("age"))
    text = "SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM people WHERE age > 30 GROUP BY sex"
    plain = TableQuery.of("people", curator.tables).where("age > 30").group_by("sex")
    assert built.question == plain.aggregate(n=count(), m=mean("age")).question
    assert built.plan(epsilon=0.1) == curator.plan(text, epsilon=0.1) == curator.plan(built, epsilon=0.1)


OPTIONS: list[dict[str, Any]] = [
    {"epsilon": 0.1},
    {"epsilon": 1, "delta": 1e-6, "noise": "gaussian"},
    {"rho": 0.1},
    {"accuracy": within(5, output="n")},
    {"epsilon": 0.1, "weights": {"n": 5}, "confidence": 0.5, "rows": 77},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_planning_and_explaining_are_the_curators(curator: Curator, options: dict[str, Any]) -> None:
    built = curator.table("people").group_by("sex").aggregate(n=count(), m=mean("age"))
    assert built.plan(**options) == curator.plan(built.question, **options)
    assert str(built.explain(**options)) == str(curator.explain(built.question, **options))
    shown, plain = built.explain(**options, sql=True, language="es"), built.explain(**options)
    assert shown.engine == "duckdb"
    assert any("SELECT" in statement for statement in shown.statements)
    assert (plain.engine, plain.statements) == (None, ())
    assert curator.history() == ()  # free


def test_asking_is_the_curators(curator: Curator) -> None:
    built = curator.table("people").group_by("sex").aggregate(n=count())
    first = built.ask(epsilon=0.1)
    assert curator.ask(built.question, epsilon=0.1).repeated
    assert curator.ask(built.question, epsilon=0.1) == first
    assert curator.budget().spent == ApproxDP(0.1, 0)
    again = built.ask(epsilon=0.1, fresh=True)
    assert (again.repeated, again.charge == first.charge) == (False, False)
    assert built.ask(epsilon=2, because="a test of reasons", language="es").language == "es"
    *_, last = curator.history()
    assert last.note["because"] == "a test of reasons"
    with pytest.raises(QuestionRefused, match="reason"):
        built.ask(epsilon=2, fresh=True)
    curator.grant("ana", epsilon=1)
    built.ask(epsilon=0.2, analyst="ana", key="mine")
    assert curator.budget("ana").spent == PureDP(0.2)
    with pytest.raises(InvalidParameter, match="key"):
        built.where("age > 3").ask(epsilon=0.2, analyst="ana", key="mine")


def test_a_whole_table_is_prepared_and_nothing_less(curator: Curator) -> None:
    visits = curator.table("visits")
    for part in (
        visits.where("age > 3"),
        visits.group_by("sex"),
        visits.aggregate(n=count()),
    ):
        with pytest.raises(QuestionRefused, match="prepared whole"):
            part.prepare(["sex"])
    made = visits.prepare(["sex"])
    assert made.table == "visits"
    counted = visits.group_by("sex").aggregate(n=count())
    assert counted.plan(epsilon=1).prepared == made
    assert counted.plan(epsilon=1, prepared=False).prepared is None
    assert curator.history() == ()


@pytest.mark.parametrize("method", ["plan", "explain", "ask"])
def test_an_option_that_there_is_not_is_refused_by_name(curator: Curator, method: str) -> None:
    call = getattr(curator.table("people").aggregate(n=count()), method)
    with pytest.raises(InvalidParameter, match="no option 'epsilom'") as caught:
        call(epsilom=1)
    assert "epsilon" in caught.value.fix
    assert curator.history() == ()


@pytest.mark.parametrize("method", ["plan", "explain", "ask"])
def test_a_table_has_the_options_of_its_curator(method: str) -> None:
    """The same names, defaults and types, so that neither door can have what the other lacks."""
    of_table, of_curator = (dict(signature(getattr(c, method)).parameters) for c in (CuratorTable, Curator))
    of_curator.pop("question")
    of_curator.pop("contribution")  # bounded() is the builder's word for it
    assert list(map(str, of_table.values())) == list(map(str, of_curator.values()))


def test_a_query_without_a_curator_asks_nothing(curator: Curator) -> None:
    plain = TableQuery.of("people", curator.tables).aggregate(n=count())
    assert not any(hasattr(plain, method) for method in ("plan", "ask", "explain", "prepare"))
    assert curator.plan(plain, epsilon=1) == curator.table("people").aggregate(n=count()).plan(epsilon=1)


def test_a_table_that_there_is_not_is_refused_by_name(curator: Curator) -> None:
    with pytest.raises(QuestionRefused, match="no table 'peple'") as caught:
        curator.table("peple")
    assert "people" in caught.value.fix


def test_a_description_holds_declarations_and_no_rows(curator: Curator) -> None:
    found = described(curator.tables["visits"], "en")
    assert found["unit"] == "id"
    assert [c["name"] for c in found["columns"]] == ["id", "age", "sex"]
    assert found["size"] is None


def test_rows_in_all_stay_so_wherever_they_are_told() -> None:
    """They were told as so many rows in each of as many groups: through a server, twenty times the noise."""
    table = Table("x.csv", unit="id", columns={"id": "integer"}, contribution={"rows": 20})
    assert settings_of(table)["contribution"] == {"rows": 20}
    assert read_table("t", {"source": "x.csv", **settings_of(table)}).contribution == table.contribution
    assert described(table, "en")["contribution"] == {"groups": None, "rows": 20}
    assert priced(1, None, None, None, None, None, 0.95, None, 20)["contribution"] == {"rows": 20}
    assert priced(1, None, None, None, None, None, 0.95, None, (3, 20))["contribution"] == {"groups": 3, "rows": 20}
