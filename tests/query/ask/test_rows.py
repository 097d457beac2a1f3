"""Rows made of one unit's rows: the same question by SQL and step by step, its bounds, and what a unit keeps of it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import ApproxDP, Neighbors, PureDP
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.moments import mean
from curador.query.aggregates.sums import sum_
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Question
from curador.query.ask.sql.read import parse
from curador.query.language import expressions as ex
from curador.query.language.rows import OfUnit, PerUnit
from curador.query.plan.checked import check
from curador.query.plan.measurement import limits
from curador.query.plan.planner import plan
from curador.query.sql_plan.prepared import Prepared, schema_digest
from curador.query.tables.table import Table


def held(**own: Any) -> dict[str, Table]:
    cost = {"type": "real", "bounds": [0, 100], "step": 0.25}
    visits = {"pid": "integer", "cost": cost, "town": {"type": "text", "keys": ["Lugo", "Vigo"]}, "raw": "integer"}
    people = {"who": "integer", "age": {"type": "integer", "bounds": [0, 120]}, "town": "text"}
    return {
        "visits": Table("v.csv", unit="pid", columns=visits, **{"contribution": (2, 10), **own}),
        "people": Table("p.csv", unit="who", columns=people, neighbors=own.get("neighbors", Neighbors.ADD_REMOVE)),
        "towns": Table("t.csv", public=True, columns={"name": "text", "coast": "boolean"}),
        "rows": Table("r.csv", columns={"pid": "integer", "cost": cost}),
    }


TABLES = held()
VISITS, PEOPLE = TableQuery.of("visits", TABLES), TableQuery.of("people", TABLES)
TOTALS = VISITS.where("town = 'Lugo'").per_unit(n="COUNT(*)", total="SUM(cost)")

SAME: list[tuple[str, TableQuery]] = [
    (
        "SELECT AVG(total) AS t FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE town = 'Lugo' "
        "GROUP BY pid HAVING COUNT(*) > 2) x WHERE total > 5",
        TOTALS.where("n > 2").where("total > 5").aggregate(t=mean("total")),
    ),
    (
        "WITH x AS (SELECT pid, town AS k, MAX(cost) AS m FROM visits GROUP BY 1, k) SELECT k, COUNT(*) AS n FROM x "
        "GROUP BY k",
        VISITS.per_unit("town", m="MAX(cost)").with_columns(k="town").group_by("k").aggregate(n=count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT who FROM people WHERE age > 60)",
        VISITS.where("pid IN (SELECT who FROM people WHERE age > 60)").aggregate(n=count()),
    ),
    (
        "SELECT COUNT(DISTINCT pid) AS n, SUM(a) AS s FROM (SELECT pid, raw AS a FROM visits WHERE raw < 9 UNION ALL "
        "SELECT who, age FROM people) x WHERE a < 3 AND a > 0",
        VISITS.where("raw < 9")
        .with_columns(a="raw")
        .union_all(PEOPLE.with_columns(pid="who", a="age"))
        .where("a < 3 AND a > 0")
        .aggregate(n=count_distinct("pid"), s=sum_("CASE WHEN a > 0 THEN 1 ELSE 0 END")),
    ),
    (
        "SELECT AVG(age) AS a FROM visits RIGHT JOIN people ON pid = who WHERE cost > 1",
        PEOPLE.join("visits", {"who": "pid"}, how="left").where("cost > 1").aggregate(a=mean("age")),
    ),
    (
        "SELECT AVG(age) AS a FROM visits v, people p WHERE cost > 1 AND v.pid = p.who",
        VISITS.join("people", {"pid": "who"}).where("cost > 1").aggregate(a=mean("age")),
    ),
]


@pytest.mark.parametrize(("text", "built"), [*SAME[:3], *SAME[4:]])
def test_sql_and_the_builder_make_one_question(text: str, built: TableQuery) -> None:
    assert parse(text, TABLES) == built.question
    assert Question.from_json(built.question.to_json()) == built.question


def test_a_union_is_built_as_it_is_written() -> None:
    text = SAME[3][0].replace("SUM(a)", "SUM(CASE WHEN a > 0 THEN 1 ELSE 0 END)")
    assert parse(text, TABLES) == SAME[3][1].question
    assert parse(text, TABLES).reads == ("visits", "people")


def test_names_of_an_inner_query_are_not_in_the_question() -> None:
    one = parse("SELECT SUM(a) AS s FROM (SELECT pid, COUNT(*) AS a FROM visits GROUP BY pid) t", TABLES)
    other = parse("SELECT SUM(b) AS s FROM (SELECT COUNT(*) AS b, pid AS p FROM visits GROUP BY p) u", TABLES)
    assert one == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "SELECT SUM(n) AS s FROM (SELECT * FROM {a} WHERE n > 2) b",
            "SELECT SUM(n) AS s FROM {a} WHERE n > 2",
        ),
        (
            "WITH a AS (SELECT pid AS who, COUNT(*) AS n FROM visits GROUP BY who), b AS (SELECT n FROM a) "
            "SELECT SUM(n) AS s FROM b",
            "SELECT SUM(n) AS s FROM {a}",
        ),
        (
            "SELECT SUM(m) AS s FROM (SELECT who, MAX(n) AS m FROM (SELECT pid AS who, town, COUNT(*) AS n FROM visits "
            "GROUP BY who, town) a GROUP BY who) t",
            "SELECT SUM(m) AS s FROM (SELECT pid, MAX(n) AS m FROM (SELECT pid, town, COUNT(*) AS n FROM visits "
            "GROUP BY pid, town) a GROUP BY pid) t",
        ),
        (
            "SELECT SUM(x) AS s FROM (SELECT pid, COUNT(*) FILTER (WHERE cost > 5) AS x FROM visits GROUP BY pid) t",
            "SELECT SUM(x) AS s FROM (SELECT pid, COUNT_IF(cost > 5) AS x FROM visits GROUP BY pid) t",
        ),
        (
            "SELECT SUM(x) AS s FROM (SELECT pid, MAX(cost) FILTER (WHERE raw = 1) AS x FROM visits GROUP BY pid) t",
            "SELECT SUM(x) AS s FROM (SELECT pid, MAX(IF(raw = 1, cost, NULL)) AS x FROM visits GROUP BY pid) t",
        ),
    ],
)
def test_inner_queries_that_say_the_same_are_one_question(one: str, other: str) -> None:
    inner = "(SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) a"
    assert parse(one.format(a=inner), TABLES) == parse(other.format(a=inner), TABLES)


def test_an_alias_that_looks_like_an_id_is_not_one() -> None:
    with pytest.raises(QuestionRefused, match="noised answers"):
        parse("SELECT COUNT(*) AS n FROM (SELECT town AS pid, COUNT(*) AS c FROM visits GROUP BY town) t", TABLES)


# ---- bounds ------------------------------------------------------------------------------------------------------


def bounds(what: str, tables: dict[str, Table] = TABLES, **how: Any) -> Any:
    text = f"SELECT SUM(x) AS s FROM (SELECT pid, {what} AS x FROM visits GROUP BY pid) t"
    return check(parse(text, tables), tables).columns[0].bounds  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("what", "ends"),
    [
        ("COUNT(*)", (1, 20)),
        ("COUNT(cost)", (0, 20)),
        ("COUNT(DISTINCT town)", (0, 20)),
        ("COUNT(DISTINCT CASE WHEN cost > 1 THEN 1 ELSE 2 END)", (0, 2)),
        ("SUM(cost)", (0, 2000)),
        ("SUM(5 - cost)", (-1900, 100)),
        ("MIN(cost)", (0, 100)),
        ("AVG(cost)", (0, 100)),
        ("LEAST(COUNT(*), 7)", (1, 7)),
        ("LEAST(COUNT(*), 700)", (1, 700)),
        ("GREATEST(LEAST(SUM(raw), 9), -9)", (-9, 9)),
        ("SUM(cost) - SUM(cost)", (-2000, 2000)),
        ("CASE WHEN COUNT(*) > 500 THEN 1 ELSE 0 END", (0, 1)),
    ],
)
def test_bounds_follow_from_declarations(what: str, ends: tuple[int, int]) -> None:
    assert bounds(what) == ends


def test_without_a_contribution_bounds_are_asked_for() -> None:
    free = held(contribution=None)
    assert bounds("LEAST(COUNT(*), 7)", free) == (1, 7)
    question = parse("SELECT SUM(x) AS s FROM (SELECT pid, COUNT(*) AS x FROM visits GROUP BY pid) t", free)
    with pytest.raises(QuestionRefused, match=r"COUNT\(\*\) has no bounds.*LEAST"):
        plan(check(question, free), PureDP(1))


def test_a_question_may_say_how_many_rows_of_one_unit_count() -> None:
    built = VISITS.per_unit(n="COUNT(*)").bounded(groups=1, rows=7).aggregate(s=sum_("n"))
    assert check(built.question, TABLES).columns[0].bounds == (Fraction(1), Fraction(7))  # type: ignore[union-attr]


def test_comparisons_are_of_the_exact_number() -> None:
    """Clipped to twenty rows, more than a hundred would be nobody."""
    text = "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS x FROM visits GROUP BY pid HAVING COUNT(*) > 100) t"
    checked = check(parse(text, TABLES), TABLES)
    assert checked.question.where == ex.Compare(">", OfUnit("rows"), ex.Literal(100))


def test_sums_that_could_leave_62_bits_are_refused() -> None:
    with pytest.raises(QuestionRefused, match="62 bits"):
        bounds("SUM(cost)", held(contribution=(2**30, 2**30)))


# ---- what a unit keeps -------------------------------------------------------------------------------------------


def kept(text: str, tables: dict[str, Table] = TABLES) -> Contribution:
    return limits(check(parse(text, tables), tables))


def test_one_row_per_unit_is_not_cut() -> None:
    inner = "(SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t"
    assert kept(f"SELECT COUNT(*) AS c FROM {inner}") == Contribution(rows=1, groups=1)
    assert kept(f"SELECT n, COUNT(*) AS c FROM {inner} GROUP BY n", held(contribution=(9, 9))) == Contribution(1, 1)
    joined = f"SELECT AVG(age) AS c FROM {inner} JOIN people ON t.pid = who"
    assert kept(joined) == Contribution(rows=10, groups=1)
    further = "SELECT town, COUNT(*) AS c FROM (SELECT pid, town FROM visits GROUP BY pid, town) t GROUP BY town"
    assert kept(further) == Contribution(rows=10, groups=2)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_unit_may_come_and_go(neighbors: Neighbors) -> None:
    """Its row may be dropped by HAVING or have no rows behind it: the number of units is measured, never public."""
    tables = held(neighbors=neighbors, size=1000)
    question = parse("SELECT COUNT(*) AS c FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t", tables)
    (step,) = plan(check(question, tables), PureDP(1)).steps
    assert step.sensitivity.l1 == 1  # type: ignore[union-attr]
    assert step.mechanism is not None


def test_rows_that_are_units_are_not_grouped_by_them() -> None:
    with pytest.raises(QuestionRefused, match="one row would stand for many"):
        parse("SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS n FROM rows GROUP BY pid) t", TABLES)
    with pytest.raises(QuestionRefused, match="a unit is a row"):
        _ = TableQuery.of("rows", TABLES).per_unit(n="COUNT(*)").aggregate(n=count()).question


def test_units_of_other_neighbours_are_refused() -> None:
    mixed = TABLES | {"people": held(neighbors="replace")["people"]}
    for text in (
        "SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT who FROM people)",
        "SELECT COUNT(*) AS n FROM (SELECT pid FROM visits UNION ALL SELECT who FROM people) t",
    ):
        with pytest.raises(QuestionRefused, match="neighbours"):
            parse(text, mixed)


# ---- around it ---------------------------------------------------------------------------------------------------


def test_every_private_table_is_charged() -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE pid NOT IN (SELECT who FROM people)"
    made = plan(check(parse(text, TABLES), TABLES), PureDP(1))
    assert made.tables == ("visits", "people")
    assert made.reads == {"visits", "people"}


def test_a_prepared_copy_is_not_used() -> None:
    copy = Prepared("visits", (ex.Name("town"),), "x", "y", schema_digest(TABLES["visits"]))
    texts = {
        "SELECT town, COUNT(*) AS n FROM visits GROUP BY town": True,
        "SELECT town, COUNT(*) AS n FROM (SELECT pid, town FROM visits GROUP BY pid, town) t GROUP BY town": False,
        "SELECT town, COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits) GROUP BY town": False,
        "SELECT COUNT(*) AS n FROM (SELECT pid, town FROM visits UNION ALL SELECT pid, town FROM visits) t": False,
    }
    for text, covered in texts.items():
        assert copy.covers(check(parse(text, TABLES), TABLES)) is covered


@pytest.mark.parametrize("language", ["en", "es"])
def test_an_explanation_says_who_is_in_it(language: str) -> None:
    question = parse("SELECT AVG(n) AS a FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t", TABLES)
    told = plan(check(question, TABLES), ApproxDP(1, 1e-6)).explain(language)
    wanted = {"en": ("one row, made of all its rows", "without any are not in it", "clipped to what 20 rows")}
    wanted["es"] = ("una fila, hecha de todas las suyas", "los que no tienen ninguna no están", "20 filas")
    assert all(words in " ".join(told.split()) for words in wanted[language])
    assert isinstance(question.source, PerUnit)


def test_hostile_rows_are_refused() -> None:
    """Stored questions that nobody could have written are refusals, not errors."""
    union = parse(
        "SELECT SUM(a) AS s FROM (SELECT pid, raw AS a FROM visits UNION ALL SELECT who, age FROM people) t", TABLES
    )
    told = json.loads(json.dumps(union.to_json()))
    wrongs: list[Any] = [[], told["aggregates"][0]["aggregate"]["column"]["operands"] * 2]
    for wrong in wrongs:
        text = json.loads(json.dumps(told))
        text["aggregates"][0]["aggregate"]["column"]["operands"] = wrong
        with pytest.raises(QuestionRefused):
            check(Question.from_json(text), TABLES)
    per = json.loads(json.dumps(TOTALS.aggregate(n=sum_("n")).question.to_json()))
    for change in (
        {"most": 0},
        {"most": "9"},
        {"column": "median"},
        {"operand": None, "column": "sum"},
        {"table": "visits"},
    ):
        text = json.loads(json.dumps(per))
        text["aggregates"][0]["aggregate"]["column"] |= change
        with pytest.raises(QuestionRefused):
            check(Question.from_json(text), TABLES)
    loose = json.loads(json.dumps(per)) | {"source": None}
    with pytest.raises(QuestionRefused, match="no column"):
        check(Question.from_json(loose), TABLES)


def test_queries_are_not_nested_without_end() -> None:
    inner = "SELECT pid FROM visits"
    for _ in range(6):
        inner = f"SELECT pid FROM visits WHERE pid IN ({inner})"
    assert parse(f"SELECT COUNT(*) AS n FROM visits WHERE pid IN ({inner})", TABLES).rows.depth == 8
    with pytest.raises(QuestionRefused, match="nested"):
        parse(f"SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits WHERE pid IN ({inner}))", TABLES)


# ---- rows in all groups together ---------------------------------------------------------------------------------


def test_a_number_of_rows_alone_is_for_all_groups_together() -> None:
    tables = held(contribution=20)
    text = "SELECT town, SUM(cost) AS s, COUNT(DISTINCT pid) AS u FROM visits GROUP BY town"
    checked = check(parse(text, tables), tables)
    assert limits(checked) == Contribution(rows=20, groups=2, total=20)
    made = plan(checked, PureDP(1))
    moved = {step.measure.kind.value: step.sensitivity.l1 for step in made.steps}  # type: ignore[union-attr]
    assert moved == {"sum": 20 * 400, "units": 2}  # on a grid of a quarter; a unit is in both towns at most
    assert "20 rows in all" in made.explain()
    assert "20 filas en total" in made.explain("es")
    pairs = plan(check(parse(text, TABLES), TABLES), PureDP(1))
    assert pairs.identity != made.identity
    assert VISITS.bounded(rows=20).contribution == tables["visits"].contribution
    assert Question.from_json(VISITS.bounded(rows=20).aggregate(n=count()).question.to_json()).contribution is not None


def test_a_prepared_copy_is_not_used_for_rows_in_all() -> None:
    tables = held(contribution=20)
    copy = Prepared("visits", (ex.Name("town"),), "x", "y", schema_digest(tables["visits"]))
    text = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    assert not copy.covers(check(parse(text, tables), tables))
