"""Random statements over tables of one unit that plain DuckDB reads as well, and tables that hold no awkward values.

Reals lie on the grid of their column and every bound is far away, so that reading clips nothing and rounds nothing:
the exact integers behind an answer must be what DuckDB itself finds.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa

from curador.query.tables.sources import Frame
from curador.query.tables.table import Table

TOWNS = ["Lugo", "Vigo", "Lorca"]

VISITS = pa.schema(
    {
        "pid": pa.int64(),
        "age": pa.int64(),
        "cost": pa.float64(),
        "day": pa.int64(),
        "town": pa.string(),
        "ok": pa.bool_(),
    }
)
STAYS = pa.schema({"person": pa.int64(), "nights": pa.int64(), "place": pa.string()})
SIZES = pa.schema({"name": pa.string(), "size": pa.int64()})

LIMITS = (50, 200)
"""No unit has as many groups or rows, so that nothing is cut."""


def rows(draw: Random) -> dict[str, pa.Table]:
    """The same tables for the same draws."""

    def some(*values: Any) -> Any:
        return draw.choice([*values, None])

    ids = [*range(12), 2**62, -5]
    visits = [
        {"pid": some(*ids), "age": some(0, 7, 30, 90), "cost": some(0.0, 2.25, 17.5, -3.75), "day": some(1, 2, 3),
         "town": some(*TOWNS, "elsewhere"), "ok": some(True, False)} for _ in range(90)
    ]  # fmt: skip
    stays = [{"person": some(*ids[4:], 99), "nights": some(0, 3, 8), "place": some(*TOWNS)} for _ in range(40)]
    sizes = [{"name": name, "size": i} for i, name in enumerate(TOWNS)]
    named = {"visits": (visits, VISITS), "stays": (stays, STAYS), "sizes": (sizes, SIZES)}
    return {name: pa.Table.from_pylist(some, schema) for name, (some, schema) in named.items()}


def declared(held: dict[str, pa.Table]) -> dict[str, Table]:
    """The tables as a curator declares them."""
    whole, real = {"type": "integer", "bounds": [-1000, 1000]}, {"type": "real", "bounds": [-999, 999], "step": 0.25}
    keyed = {"type": "text", "keys": TOWNS}
    columns: dict[str, dict[str, object]] = {
        "visits": {"pid": "integer", "age": whole, "cost": real, "day": whole, "town": keyed, "ok": "boolean"},
        "stays": {"person": "integer", "nights": whole, "place": keyed},
        "sizes": {"name": "text", "size": whole},
    }
    own: dict[str, dict[str, Any]] = {
        "visits": {"unit": "pid", "contribution": LIMITS},
        "stays": {"unit": "person", "contribution": LIMITS},
        "sizes": {"public": True},
    }
    return {name: Table(Frame(held[name]), columns=columns[name], **own[name]) for name in held}


class Statements:
    """Draws statements whose answers are counts and sums."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw

    def statement(self) -> str:
        kinds = [self.per_unit, self.per_unit, self.further, self.nested, self.listed, self.together, self.joined]
        return self.draw.choice([*kinds, self.beside])()

    # -- parts

    def maybe(self, text: str, chance: float = 0.5) -> str:
        return text if self.draw.random() < chance else ""

    def condition(self, v: str = "") -> str:
        tests = [f"{v}age > 5", f"{v}cost <= 2.25", f"{v}town = 'Lugo'", f"{v}ok", f"NOT {v}ok", f"{v}age IS NULL"]
        tests += [f"{v}town IN ('Vigo', 'elsewhere')", f"({v}day = 1 OR {v}age < 50)", f"{v}cost + {v}age > 3"]
        return self.draw.choice(tests)

    def aggregate(self) -> str:
        found = ["COUNT(*)", "COUNT(age)", "COUNT(DISTINCT town)", "COUNT(DISTINCT cost)", "SUM(cost)", "SUM(age)"]
        found += [
            "MIN(cost)",
            "MAX(age)",
            "SUM(age * 2 - day)",
            "MAX(CASE WHEN ok THEN 1 ELSE 0 END)",
            "MIN(pid) - MIN(pid)",
        ]
        found += [
            "LEAST(COUNT(*), 3)",
            "MAX(age) - MIN(age)",
            "COALESCE(SUM(age), 0)",
            "SUM(CASE WHEN ok THEN cost END)",
        ]
        return self.draw.choice(found[:10] + found[11:])

    def having(self) -> str:
        tests = ["COUNT(*) > 2", "SUM(cost) > 3", "MIN(age) IS NULL", "MAX(day) = 3", "AVG(age) > 20", "AVG(cost) <= 2"]
        return self.maybe(f" HAVING {self.draw.choice(tests)}", 0.4)

    def inner(self) -> str:
        p, q = self.aggregate(), self.aggregate()
        where = self.maybe(f" WHERE {self.condition()}", 0.4)
        return f"SELECT pid, {p} AS p, {q} AS q FROM visits{where} GROUP BY pid{self.having()}"

    def asked(self, source: str, values: list[str], groups: list[str], where: str = "") -> str:
        value = self.draw.choice(
            [*values, f"{values[0]} + {values[-1]}", f"CASE WHEN {values[0]} > 2 THEN 1 ELSE 0 END"]
        )
        group = self.draw.choice(
            [*groups, f"CASE WHEN {values[0]} > 3 THEN 'more' ELSE 'less' END", f"{values[-1]} > 1"]
        )
        shown = f"COUNT(*) AS n, COUNT({value}) AS c, SUM({value}) AS s"
        where = where or self.maybe(f" WHERE {self.draw.choice(values)} < 9", 0.3)
        if self.draw.random() < 0.5:
            return f"SELECT {shown} FROM {source}{where}"
        return f"SELECT {group} AS g, {shown} FROM {source}{where} GROUP BY g"

    # -- statements

    def per_unit(self) -> str:
        return self.asked(f"({self.inner()}) t", ["p", "q"], [])

    def further(self) -> str:
        where = self.maybe(f" WHERE {self.condition()}", 0.4)
        by = self.draw.choice(["town", "ok"])
        inner = f"SELECT pid, {by} AS k, {self.aggregate()} AS p FROM visits{where} GROUP BY pid, {by}{self.having()}"
        return self.asked(f"({inner}) t", ["p"], ["k"])

    def nested(self) -> str:
        by = self.draw.choice(["town", "day"])
        inner = f"SELECT pid, {by}, {self.aggregate()} AS a FROM visits GROUP BY pid, {by}"
        outer = f"SELECT pid, MAX(a) AS p, SUM(a) AS q FROM ({inner}) i GROUP BY pid"
        return self.asked(f"({outer}) t", ["p", "q"], [])

    def listed(self) -> str:
        units = self.draw.choice(
            [
                "SELECT person FROM stays WHERE person IS NOT NULL AND nights > 2",
                "SELECT DISTINCT person FROM stays WHERE person IS NOT NULL",
                f"SELECT pid FROM visits WHERE pid IS NOT NULL GROUP BY pid{self.having()}",
            ]
        )
        test = f"pid {self.maybe('NOT ')}IN ({units})"
        where = f" WHERE pid IS NOT NULL AND {self.draw.choice([test, f'({test} OR ok)'])}"
        return self.asked("visits", ["age", "cost"], ["town", f"{test}"], where)

    def together(self) -> str:
        parts = ["SELECT pid, age AS p, town AS k FROM visits WHERE pid IS NOT NULL"]
        parts += ["SELECT person, nights, place FROM stays WHERE person IS NOT NULL"]
        parts += [f"SELECT pid, day, town FROM visits WHERE pid IS NOT NULL AND {self.condition()}"]
        rows = " UNION ALL ".join([parts[0], *self.draw.sample(parts[1:], self.draw.choice([1, 2]))])
        if self.draw.random() < 0.5:
            return self.asked(
                f"(SELECT pid, COUNT(*) AS p, SUM(p) AS q FROM ({rows}) a GROUP BY pid) t", ["p", "q"], []
            )
        return self.asked(f"({rows}) t", ["p"], ["k"])

    def beside(self) -> str:
        how = self.draw.choice(["JOIN", "LEFT JOIN"])
        one, other = (
            f"({self.inner()}) t",
            f"(SELECT person, COUNT(*) AS c FROM stays GROUP BY person{self.maybe(' HAVING COUNT(*) > 1')}) o",
        )
        sources = {
            f"stays {how} {one} ON t.pid = stays.person": (["p", "nights"], ["place"], "stays.person"),
            f"visits {how} {other} ON o.person = visits.pid": (["c", "age"], ["town"], "visits.pid"),
            f"{one} {how} {other} ON t.pid = o.person": (["p", "c"], [], "t.pid"),
            # Tables joined by a column that stands beside a row.
            f"visits {how} {other} ON o.person = visits.pid {how} sizes ON o.c = sizes.size": (
                ["c", "size"], ["name"], "visits.pid"),
            f"stays JOIN (SELECT pid, MIN(day) AS d FROM visits GROUP BY pid) t ON t.pid = stays.person "
            f"{how} visits ON visits.pid = stays.person AND t.d = visits.day": (
                ["d", "visits.age"], ["place"], "stays.person"),
        }  # fmt: skip
        source = self.draw.choice(list(sources))
        values, groups, id = sources[source]
        return self.asked(source, values, groups, f" WHERE {id} IS NOT NULL")

    def joined(self) -> str:
        sources = [
            f"({self.inner()}) t JOIN stays ON t.pid = stays.person",
            "stays, visits WHERE stays.person = visits.pid",
        ]
        sources += ["visits RIGHT JOIN stays ON visits.pid = stays.person WHERE stays.person IS NOT NULL"]
        sources += ["visits JOIN sizes ON visits.town = sizes.name WHERE pid IS NOT NULL"]
        chosen = self.draw.randrange(4)
        values = [["p", "nights"], ["age", "nights"], ["age", "nights"], ["age", "size"]][chosen]
        source, _, where = sources[chosen].partition(" WHERE ")
        return self.asked(
            source, values, [["place"], ["place", "town"], ["place"], ["name"]][chosen], where and f" WHERE {where}"
        )
