"""Questions as JSON that nobody built: whatever is changed in one, it is refused in our own words before the charge."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields
from random import Random
from typing import Any

import pyarrow
import pytest

from curador.curator.curator import Curator
from curador.curator.table import question_from, question_of
from curador.errors import CuradorError, QuestionRefused
from curador.privacy import ApproxDP
from curador.query.language.nodes import SHAPES, TAGS
from curador.query.tables.table import Table

PEOPLE = Table(
    pyarrow.table({"sex": ["F", "M", None] * 20, "age": [20, None, 40] * 20}),
    columns={"sex": {"type": "text", "keys": ["F", "M"]}, "age": {"type": "integer", "bounds": [0, 100]}},
)
VISITS = Table(
    pyarrow.table({"pid": [i % 9 for i in range(60)], "town": ["Lugo", "Vigo"] * 30}),
    unit="pid",
    columns={"pid": "integer", "town": {"type": "text", "keys": ["Lugo", "Vigo"]}},
    contribution=(2, 3),
)
TOWNS = Table(
    pyarrow.table({"town": ["Lugo", "Vigo"], "region": ["a", "b"]}),
    public=True,
    columns={"town": "text", "region": {"type": "text", "keys": ["a", "b"]}},
)
TABLES = {"people": PEOPLE, "visits": VISITS, "towns": TOWNS}
ASKED = (
    "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people WHERE age > 20 GROUP BY sex HAVING COUNT(*) > 3 ORDER BY n",
    "SELECT MEDIAN(age) AS m, STDDEV(age) AS s FROM people",
    "SELECT BIN(age, 0, 10, 100) AS b, COUNT(*) AS n FROM people GROUP BY BIN(age, 0, 10, 100)",
    "SELECT region, COUNT(*) AS n FROM visits JOIN towns ON visits.town = towns.town GROUP BY region",
    "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) v WHERE k > 3",
    "SELECT sex, ROUND(AVG(age), 1) AS a, RANK() OVER (PARTITION BY sex ORDER BY COUNT(*) DESC, a) AS place, "
    "SUM(COUNT(*)) OVER () AS s FROM people WHERE sex ILIKE 'f%' AND SUBSTR(sex, 1, 1) = 'F' GROUP BY sex",
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 10**30, 0.5, 1e308, "", "sex", "n", "1/0", "1/3", "9" * 50, chr(0), "x" * 3000),
    *([], [[]], {}, {"a": {}}, ["sex"] * 9, "postgresql://elsewhere/x#t", "../study.toml"),
)

Place = tuple[str | int, ...]


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    made = Curator(TABLES, budget=ApproxDP(10**6, 0.5))
    yield made
    made.close()


def places(x: Any, here: Place = ()) -> Iterator[Place]:
    for name, inner in x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ():
        yield (*here, name)
        yield from places(inner, (*here, name))


def at(x: Any, place: Place) -> Any:
    for name in place:
        x = x[name]
    return x


def changed(x: Any, place: Place, value: Any) -> Any:
    made = copy.deepcopy(x)
    at(made, place[:-1])[place[-1]] = copy.deepcopy(value)
    return made


def forged(random: Random) -> Iterator[dict[str, Any]]:
    """One question after the other with one to three values that are others, odd ones or parts of other questions."""
    built = [json.loads(json.dumps(question_of(sql, TABLES).to_json())) for sql in ASKED]
    parts = [at(question, place) for question in built for place in places(question)]
    while True:
        made = random.choice(built)
        for _ in range(random.choice((1, 1, 2, 3))):
            value = random.choice(random.choice((ODD, parts)))
            made = changed(made, random.choice(list(places(made))), value)
        yield made


@pytest.mark.parametrize("times", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_forged_question_is_refused_or_answered(curator: Curator, times: int) -> None:
    answered, costs = 0, set()
    for _, question in zip(range(times), forged(Random(times)), strict=False):
        try:
            found = curator.ask(question_from(question), epsilon="0.1", delta="1e-7", fresh=True, anyway=True)
        except CuradorError as refusal:
            costs.add(refusal.cost)
        else:
            answered += 1
            json.dumps(found.to_dict(), allow_nan=False)
    assert costs == {"nothing was drawn, nothing was spent"}
    assert answered > times // 100


SEX = {"is": "name", "column": "sex", "table": None}
MADE: dict[str, tuple[int, Place, Any]] = {
    "the tree of nothing": (0, ("aggregates", 0, "aggregate", "function"), "tree"),
    "a parameter of a count": (0, ("aggregates", 0, "aggregate", "parameters"), ["5"]),
    "no quantile": (1, ("aggregates", 0, "aggregate", "parameters"), []),
    "quantiles in disorder": (1, ("aggregates", 0, "aggregate", "parameters"), ["1/2", "1/4"]),
    "no divisor": (1, ("aggregates", 1, "aggregate", "parameters"), []),
    "a divisor of one's own": (1, ("aggregates", 1, "aggregate", "parameters"), ["99999999999999999999"]),
    "an edge at infinity": (2, ("group_by", 0, "expr", "edges"), ["0", "1/0"]),
    "a table that is a list": (3, ("joins", 0, "table"), []),
    "a condition of one side": (3, ("joins", 0, "on"), [[]]),
    "an order neither way": (0, ("order_by", 0, "descending"), None),
    "a total without a path": (0, ("totals",), [5]),
    "a tree that is a list": (0, ("tree",), ["sex"]),
    "a window that is down": (5, ("derived", 1, "expr", "descending", 0), "down"),
    "a window that is 1": (5, ("derived", 1, "expr", "descending", 1), 1),
    "a window's order that is a text": (5, ("derived", 1, "expr", "descending"), "du"),
    "a pattern that is a list": (5, ("where",), {"is": "like", "operand": SEX, "pattern": [], "fold": False}),
    "a pattern of texts": (5, ("where",), {"is": "like", "operand": SEX, "pattern": ["f", "%"], "fold": False}),
    "a join that is perhaps outer": (3, ("joins", 0, "outer"), "no"),
    "a join with the column 7": (3, ("joins", 0, "on", 0, 1), 7),
    "the table 7 inside": (4, ("source", "per_unit", "table"), 7),
    "columns that are numbers": (0, ("shown",), [7]),
    "a set of letters": (0, ("sets",), ["sex"]),
}


@pytest.mark.parametrize("name", MADE)
def test_what_was_found_by_forging_is_refused(curator: Curator, name: str) -> None:
    number, place, value = MADE[name]
    question = changed(question_of(ASKED[number], TABLES).to_json(), place, value)
    with pytest.raises(QuestionRefused):
        curator.plan(question_from(question), epsilon="0.1", delta="1e-7")


def test_no_field_of_a_question_holds_another_type(curator: Curator) -> None:
    """Every place in turn: an answer that is refused, or stumbles, after its charge is paid for and read by nobody."""
    question = json.loads(json.dumps(question_of(ASKED[5], TABLES).to_json()))
    kept, costs = [], set()
    odd: tuple[Any, ...] = ([], {}, "down", 7, 1.5, True, None)
    for place in places(question):
        if isinstance(at(question, place), dict | list):
            continue
        for value in odd:
            try:
                found = question_from(changed(question, place, value))
                curator.plan(found, epsilon="0.1", delta="1e-7")
            except CuradorError as refusal:
                costs.add(refusal.cost)
                continue
            kept.append((place, value, type(value) is type(at(question, place))))
            made = curator.ask(found, epsilon="0.1", delta="1e-7", fresh=True, anyway=True)
            json.dumps(made.to_dict(), allow_nan=False)
            made.to_csv()
    assert costs == {"nothing was drawn, nothing was spent"}
    allowed = {"limit", "offset", "table", "value", "kind", "where", "having", "contribution", "tree", "source", "most"}
    assert [(place, value) for place, value, same in kept if not same and place[-1] not in allowed] == []


def test_the_type_of_every_field_of_an_expression_is_checked() -> None:
    for kind in TAGS.values():
        assert {str(field.type) for field in fields(kind)} <= set(SHAPES), kind  # type: ignore[arg-type]
