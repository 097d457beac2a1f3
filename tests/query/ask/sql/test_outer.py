"""A query over the answers of another is the inner question, presented in another way; it may not aggregate them."""

from __future__ import annotations

import pytest

from curador.errors import QuestionRefused
from curador.query.ask.question import Question
from curador.query.ask.sql.read import parse
from curador.query.language.trees import names
from curador.query.tables.table import Table

TABLES = {
    "visits": Table(
        "no-such.csv",
        unit="id",
        contribution=(1, 1),
        columns={
            "id": "integer",
            "town": {"type": "text", "keys": ["Lugo", "Vigo"]},
            "cost": {"type": "integer", "bounds": [0, 9]},
        },
    )
}
INNER = "SELECT town, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY town"


def asked(text: str) -> Question:
    return parse(text, TABLES)


@pytest.mark.parametrize(
    ("outer", "same"),
    [
        ("SELECT town, n, s FROM ({})", "{}"),
        ("SELECT * FROM ({}) AS a", "{}"),
        ("WITH a AS ({}) SELECT town, n, s FROM a", "{}"),
        ("WITH a AS ({}), b AS (SELECT * FROM a) SELECT * FROM b", "{}"),
        (
            "SELECT a.town, a.n, s FROM ({}) a WHERE a.n > 5 ORDER BY 2 DESC LIMIT 1",
            "{} HAVING n > 5 ORDER BY n DESC LIMIT 1",
        ),
        ("SELECT * FROM ({} HAVING n > 5) WHERE s > 1", "{} HAVING s > 1 AND n > 5"),
        ("SELECT * FROM ({} ORDER BY n DESC LIMIT 1)", "{} ORDER BY n DESC LIMIT 1"),
        ("SELECT * FROM ({}) WHERE town = 'Lugo' OFFSET 1", "{} HAVING town = 'Lugo' OFFSET 1"),
    ],
)
def test_an_outer_query_is_the_inner_one_presented(outer: str, same: str) -> None:
    assert asked(outer.format(INNER)) == asked(same.format(INNER))


def test_names_may_be_given_again() -> None:
    found = asked(f"SELECT town, s - n AS s, n AS people FROM ({INNER}) ORDER BY s")
    assert found.outputs == ("town", "s", "people")
    assert {d.name: str(d.expr) for d in found.derived} == {"s": "s_2 - n", "people": "n"}
    assert [o.name for o in found.aggregates] == ["n", "s_2"]
    assert found.order_by[0].name == "s"


def test_a_group_may_be_given_another_name() -> None:
    found = asked(f"SELECT town AS n, n AS people, s AS town FROM ({INNER}) ORDER BY town, n")
    assert found.outputs == ("n", "people", "town")
    assert [(g.name, str(g.expr)) for g in found.group_by] == [("n", "town")]
    assert [o.name for o in found.order_by] == ["town", "n"]


def test_where_reads_the_names_of_the_inner_query_and_order_by_those_given() -> None:
    found = asked(f"SELECT town, n AS s, s AS n FROM ({INNER}) WHERE n > 5 ORDER BY n")
    measured = {o.name: o.aggregate.function for o in found.aggregates}
    shown = {d.name: measured[str(d.expr)] for d in found.derived}
    assert shown == {"s": "count", "n": "sum"}
    assert {measured[name.column] for name in names(found.having)} == {"count"}  # type: ignore[arg-type]
    assert found.order_by[0].name == "n"


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (f"SELECT MAX(n) FROM ({INNER})", "inner query", "MAX(n) OVER ()"),
        (f"SELECT COUNT(*) FROM ({INNER})", "inner query", "one query"),
        (f"SELECT town, n FROM ({INNER}) GROUP BY town, n", "GROUP", "one query"),
        (f"SELECT n FROM ({INNER}) AS a JOIN visits ON a.town = visits.town", "JOINS", ""),
        (f"SELECT n FROM ({INNER} LIMIT 1) WHERE n > 5", "LIMIT", "one query"),
        (f"SELECT n FROM ({INNER} LIMIT 1) ORDER BY n", "LIMIT", "one query"),
        (f"SELECT n / SUM(n) OVER () AS x FROM ({INNER} LIMIT 1)", "LIMIT", "one query"),
        ("SELECT x FROM (SELECT town, SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY town) WHERE x > 1", "window", ""),
        (f"SELECT town FROM ({INNER})", "no answers", "Select an answer"),
        (f"SELECT 1 AS x FROM ({INNER})", "constant", ""),
        (f"SELECT cost FROM ({INNER})", "'cost' is not a column of the answer", ""),
        (f"SELECT b.n FROM ({INNER}) AS a", "'n' is not a column of the answer", ""),
        (f"WITH a AS ({INNER}) SELECT COUNT(*) FROM visits", "'a', which is not read", "Leave it out"),
        (f"WITH a AS ({INNER}), a AS ({INNER}) SELECT n FROM a", "twice", ""),
        ("WITH a AS (SELECT n FROM a) SELECT n FROM a", "no table 'a'", ""),
        (f"SELECT n FROM (WITH a AS ({INNER}) SELECT n FROM a)", "WITH", ""),
        (f"SELECT DISTINCT n FROM ({INNER})", "DISTINCT", ""),
        (f"SELECT n FROM ({INNER}) ORDER BY 7", "number 7", ""),
    ],
)
def test_what_would_aggregate_answers_is_refused(text: str, what: str, fix: str) -> None:
    with pytest.raises(QuestionRefused) as caught:
        asked(text)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_in_an_expression_that_sorts_a_name_is_the_inner_querys() -> None:
    """Alone it is what this query calls by it, as on every engine; another row was the first of a LIMIT."""
    swapped = f"SELECT town, n AS s, s AS n FROM ({INNER}) ORDER BY "
    alone, computed = asked(swapped + "s DESC LIMIT 1"), asked(swapped + "s + 0 DESC LIMIT 1")
    counted = {o.name: o.aggregate.function for o in alone.aggregates}
    assert counted[str(shown_by(alone, alone.order_by[0].name))] == "count"
    assert counted[str(shown_by(computed, computed.order_by[0].name))] == "sum"


def shown_by(question: Question, name: str) -> object:
    """The aggregate that a column of the answer is made of."""
    for derived in question.derived:
        if derived.name == name:
            (inside,) = names(derived.expr)
            return shown_by(question, inside.column)
    return name


def test_names_that_fold_into_one_are_refused_as_such() -> None:
    with pytest.raises(QuestionRefused, match="engines fold case"):
        asked('SELECT town, COUNT(*) AS "Town" FROM visits GROUP BY town')
    found = asked("SELECT QUANTILE(cost, [0.1234567, 0.1234568]) AS q FROM visits")  # refused later, for being so fine
    assert found.outputs == ("q_p12.34567", "q_p12.34568")
