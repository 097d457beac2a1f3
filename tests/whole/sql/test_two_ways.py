"""The same question written in two ways: one identity, or the same exact answer.  No oracle is needed for that."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from curador.errors import CuradorError
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.aggregates.sums import sum_
from curador.query.ask.builder import TableQuery
from curador.query.ask.sql.read import parse
from tests.whole.sql.drawn import Drawn
from tests.whole.sql.judge import Judge
from tests.whole.sql.worlds import world


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge(world(77))
    yield found
    found.close()


def drawn(judge: Judge, name: str, how_many: int, deep: int = 3) -> Iterator[str]:
    """Parts of statements that can be asked with."""
    made = Drawn(random.Random(random.getrandbits(64)), deep)
    while how_many:
        text = made.part(name)
        try:
            parse(f"SELECT SUM(CASE WHEN ({text}) IS NULL THEN 1 ELSE 0 END) AS n FROM visits", judge.world.declared)
        except CuradorError:
            continue
        how_many -= 1
        yield text


def values(judge: Judge, text: str) -> dict[str, object]:
    """The one row of an answer."""
    print(text)  # shown if it fails
    _, found = judge.ours(text)
    return {name: column[0] for name, column in found.columns.items()}


def test_conditions_are_the_same_in_every_place(judge: Judge, request: pytest.FixtureRequest) -> None:
    for c in drawn(judge, "truth", 200 if request.config.getoption("--fuzz-until") else 15):
        found = values(
            judge,
            f"""SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE {c}) AS filtered, COUNT_IF({c}) AS counted,
            SUM(CASE WHEN {c} THEN 1 ELSE 0 END) AS summed, COUNT(CASE WHEN {c} THEN 'x' END) AS chosen,
            COUNT(*) FILTER (WHERE NOT ({c})) AS otherwise, COUNT(*) FILTER (WHERE ({c}) IS NULL) AS unknown,
            SUM(age) AS a, SUM(age) FILTER (WHERE {c}) AS b, SUM(CASE WHEN {c} THEN age END) AS d,
            SUM(IF({c}, 0, age)) AS rest, COUNT(*) FILTER (WHERE ({c}) IS NOT TRUE) AS untrue FROM visits""",
        )
        here = values(judge, f"SELECT COUNT(*) AS n, SUM(age) AS s FROM visits WHERE {c}")
        inner = values(judge, f"SELECT COUNT(*) AS n FROM (SELECT pid, {c} AS c FROM visits) t WHERE c")
        n = found["filtered"]
        assert [found[name] for name in ("counted", "summed", "chosen")] == [n] * 3
        assert (here["n"], here["s"], inner["n"]) == (n, found["b"], n)
        assert n + found["otherwise"] + found["unknown"] == found["n"] == n + found["untrue"]  # type: ignore[operator]
        assert found["b"] == found["d"] == found["a"] - found["rest"]  # type: ignore[operator]


def test_values_are_the_same_however_deep(judge: Judge, request: pytest.FixtureRequest) -> None:
    for x in drawn(judge, "number", 200 if request.config.getoption("--fuzz-until") else 12, deep=2):
        one = values(
            judge, f"SELECT SUM({x}) AS s, COUNT({x}) AS n, COUNT_IF(({x}) IS NULL) AS u, COUNT(*) AS c FROM visits"
        )
        other = values(
            judge,
            f"SELECT SUM(y) AS s, COUNT(y) AS n, SUM(CASE WHEN y IS NULL THEN 1 ELSE 0 END) AS u, COUNT(*) AS c "
            f"FROM (SELECT *, x AS y FROM (SELECT pid, {x} AS x FROM visits) a) b",
        )
        per_unit = values(judge, f"SELECT SUM(n) AS n FROM (SELECT pid, COUNT({x}) AS n FROM visits GROUP BY pid) t")
        assert one == other
        assert per_unit["n"] == one["n"]
        assert one["n"] + one["u"] == one["c"]  # type: ignore[operator]


def test_conditions_are_the_same_question_at_both_doors(judge: Judge) -> None:
    tables = judge.world.declared
    for c in drawn(judge, "truth", 40):
        built = TableQuery.of("visits", tables).where(c).group_by("town").aggregate(n=count(), a=mean("age"))
        assert (
            parse(f"SELECT town, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE {c} GROUP BY town", tables)
            == built.question
        )


PAIRS = [
    re.findall(r"^(SELECT.*)\n= (.*)$", part, re.M)
    for part in Path(__file__).with_name("two_ways.sql").read_text().split("-- ## ")[1:]
]


@pytest.mark.parametrize(("one", "other"), PAIRS[0])
def test_one_measurement(judge: Judge, one: str, other: str) -> None:
    (first, _), (second, _) = judge.ours(one), judge.ours(other)
    assert first.identity == second.identity


@pytest.mark.parametrize(("one", "other"), PAIRS[1])
def test_the_same_answer(judge: Judge, one: str, other: str) -> None:
    (_, first), (_, second) = judge.ours(one), judge.ours(other)
    for name in first.columns:
        assert first.columns[name] == pytest.approx(second.columns[name]), name


def test_statements_are_built_as_they_are_written(judge: Judge) -> None:
    tables = judge.world.declared
    visits, stays = TableQuery.of("visits", tables), TableQuery.of("stays", tables)
    pairs = [
        (
            "SELECT town, SUM(pay) AS s, COUNT(*) AS n, s / n AS m FROM visits WHERE ok GROUP BY town "
            "HAVING n > 5 ORDER BY m DESC LIMIT 2",
            visits.where("ok").group_by("town").aggregate(s=sum_("pay"), n=count()).derive(m="s / n").having("n > 5")
            .order_by("m", descending=True).limit(2),
        ),
        (
            "SELECT SUM(p) AS s FROM (SELECT pid, COUNT(*) FILTER (WHERE ok) AS p FROM visits GROUP BY pid) t "
            "WHERE p > 1",
            visits.per_unit(p="COUNT(*) FILTER (WHERE ok)").where("p > 1").aggregate(s=sum_("p")),
        ),
        (
            "SELECT coast, COUNT(*) AS n FROM visits LEFT JOIN places USING (town) GROUP BY coast",
            visits.join("places", "town", how="left").group_by("coast").aggregate(n=count()),
        ),
        (
            "SELECT SUM(nights) AS s FROM stays WHERE person IN (SELECT pid FROM visits WHERE ok)",
            stays.where("person IN (SELECT pid FROM visits WHERE ok)").aggregate(s=sum_("nights")),
        ),
    ]  # fmt: skip
    for text, built in pairs:
        assert parse(text, tables) == built.question, text
