"""Made-up tables full of awkward values, and questions about them that use everything a question may have."""

from __future__ import annotations

import random
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa

from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.moments import mean, variance
from curador.query.aggregates.pairs.pairs import correlation, slope
from curador.query.aggregates.quantiles.ranks import bounds, median, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.ask.question import Group, Join, KeyList, Output, Question
from curador.query.language import expressions as ex
from curador.query.tables.columns import Kind
from curador.query.tables.sources import Frame
from curador.query.tables.table import Column, Table

TOWNS = ["Lugo", "l'Hospitalet", 'a"b', "ñ; DROP TABLE t --", "", "${spark}", "\\n", "東京", "🦉"]
HUGE = "long" * 3000

VISITS = {
    "id": Column("integer"),
    "town": Column("text", keys=TOWNS),
    "free": Column("text"),
    "age": Column("integer", bounds=(0, 5)),
    "code": Column("integer", keys=[7, -3, 2**61, 0]),
    "pay": Column("real", bounds=(-10, 100)),
    "raw": Column("real"),
    "ok": Column("boolean"),
    "day": Column("date", bounds=("1969-12-30", "1970-01-04")),
    "any day": Column("date"),
}
PEOPLE = {
    "who": Column("integer"),
    "name": Column("text"),
    "height": Column("real", bounds=(0, 3)),
    "code": Column("integer", keys=[7, -3, 2**61, 0]),
}
REGIONS = {"place": Column("text"), "size": Column("integer", bounds=(0, 1000)), "area": Column("real", bounds=(0, 9))}

TABLES = {
    "visits": Table(Frame(None), unit="id", columns=VISITS, contribution=(2, 3)),
    "rows": Table(Frame(None), columns=VISITS),
    "named": Table(Frame(None), unit="free", columns=VISITS, contribution=(2, 2)),
    "people": Table(Frame(None), unit="who", columns=PEOPLE, contribution=(1, 1)),
    "regions": Table(Frame(None), columns=REGIONS, public=True),
}

ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
}
REALS = [0.0, -0.0, 5e-324, -1e-9, 1e308, -1e308, float("nan"), float("inf"), -float("inf"), 99.99, 1 / 3, 12.5]
DAYS = [date(1969, 12, 31), date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 3)]
IDS = [*range(-3, 9), 2**63 - 1, -(2**63), 2**62 + 1, 1073741789]


def visit(rng: random.Random) -> dict[str, Any]:
    town = rng.choice([*TOWNS, None, "elsewhere"])
    return {
        "id": rng.choice([None, *IDS, *[1] * 8]),
        "town": town,
        "free": rng.choice([town, "x", HUGE, None]),
        "age": rng.choice([None, 0, 1, 2, 5, -9, 99, 2**63 - 1]),
        "code": rng.choice([7, -3, 2**61, 0, 1, None, -(2**63)]),
        "pay": rng.choice([None, *REALS, rng.uniform(-20, 120)]),
        "raw": rng.choice([None, *REALS, rng.gauss(0, 1e6)]),
        "ok": rng.choice([True, False, None]),
        "day": rng.choice([None, *DAYS]),
        "any day": rng.choice([None, *DAYS]),
    }


def tables(seed: int, size: int = 300) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table; some rows are there twice."""
    rng = random.Random(seed)
    visits = [visit(rng) for _ in range(size)]
    visits += rng.choices(visits, k=size // 10) if visits else []
    people = [
        {
            "who": rng.choice([None, *IDS]),
            "name": rng.choice(["x", "y", None]),
            "height": rng.choice([None, 1.7, float("nan"), rng.uniform(0, 4)]),
            "code": rng.choice([7, -3, None]),
        }
        for _ in range(size // 8)
    ]
    places = [*TOWNS[:6], *TOWNS[:3]]
    regions = [{"place": p, "size": rng.choice([None, 5, 700, 2000]), "area": rng.uniform(0, 10)} for p in places]
    return {"visits": visits, "rows": visits, "named": visits, "people": people, "regions": regions}


def stored(rows: list[dict[str, Any]], table: Table) -> pa.Table:
    return pa.table({n: pa.array([r[n] for r in rows], ARROW[c.kind]) for n, c in table.columns.items()})


def named(*names: str) -> tuple[Group, ...]:
    return tuple(Group(n, ex.Name(n)) for n in names)


EVERYTHING = (
    Output("n", count()),
    Output("paid", count("pay")),
    Output("units", count_distinct()),
    Output("total", sum_("age")),
    Output("pay", variance("pay")),
    Output("mean", mean(ex.Arithmetic("*", ex.Name("age"), ex.Name("pay")))),
    Output("towns", count_distinct("town")),
    Output("days", count_distinct("day")),
    Output("truths", count_distinct("ok")),
    Output("texts", count_distinct("free")),
    Output("reals", count_distinct("raw")),
    Output("half", median("pay")),
)
FEW = (Output("n", count()), Output("u", count_distinct()), Output("s", sum_("pay")))
ADULT = ex.Compare(">=", ex.Name("age"), ex.Literal(1))
NEAR = Join("public", "regions", ((ex.Name("town"), "place"),))
SIZE = ex.Name("size", "regions")
KNOWN, SMALL = ex.Not(ex.IsNull(ex.Name("age"))), ex.Compare("<", SIZE, ex.Literal(900))
PAIRS = ((7, "Lugo"), (0, "🦉"), (7, ""))
BINS = ex.Bin(ex.Name("pay"), tuple(map(Fraction, (-10, 0, 12, 50, 100))))

QUESTIONS = {
    "all": Question("visits", EVERYTHING),
    "towns": Question("visits", EVERYTHING, group_by=named("town"), where=ADULT),
    "product": Question("visits", FEW, group_by=named("code", "town", "ok", "age")),
    "days": Question("visits", FEW, group_by=(*named("day"), Group("bin", BINS))),
    "found": Question("visits", EVERYTHING, group_by=named("free", "any day", "ok"), where=KNOWN),
    "listed": Question(
        "visits", FEW, group_by=named("town", "code"), keys=(KeyList(("code", "town"), PAIRS),)
    ),
    "one key": Question("visits", FEW, group_by=named("town"), keys=(KeyList(("town",), (("Lugo",),)),)),
    "rows": Question("rows", EVERYTHING, group_by=named("town")),
    "rows found": Question("rows", FEW, group_by=named("free")),
    "text ids": Question("named", FEW, group_by=named("town")),
    "quantiles": Question(
        "visits",
        (Output("q", quantiles("pay", [0.1, 0.9])), Output("b", bounds("raw")), Output("d", median("day"))),
        group_by=named("ok"),
    ),
    "pairs": Question(
        "visits", (Output("r", correlation("pay", "age")), Output("s", slope("age", "pay"))), group_by=named("ok")
    ),
    "near rows": Question("rows", (Output("z", sum_(SIZE)), *FEW), joins=(NEAR,), group_by=named("ok")),
    "near": Question("visits", (Output("z", sum_(SIZE)), *FEW), joins=(NEAR,), where=SMALL),
    "outer": Question(
        "rows",
        (Output("n", count()), Output("s", count(SIZE))),
        joins=(Join("public", "regions", ((ex.Name("town"), "place"),), outer=True),),
    ),
    "people": Question(
        "visits",
        (Output("h", mean(ex.Name("height", "people"))), *FEW),
        joins=(Join("unit", "people", ((ex.Name("id"), "who"), (ex.Name("code"), "code"))),),
        group_by=named("town"),
        where=ex.And((KNOWN, ex.Not(ex.IsNull(ex.Name("name", "people"))))),
    ),
    "people outer": Question(
        "visits",
        (Output("h", sum_(ex.Name("height", "people"))), *FEW),
        joins=(Join("unit", "people", ((ex.Name("id"), "who"),), outer=True),),
    ),
}  # fmt: skip
