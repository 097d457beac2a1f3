"""Random declarations, random rows of random people, and random questions in our own SQL; all from one ``Random``.

Most questions are accepted: operands have bounds, and nesting is shallow.  Some are refused, which must then be so
whatever the rows are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any

import pyarrow as pa

KEYS = ["a", "b", "ñ", "it's"]
TEXTS: list[Any] = [*KEYS, *KEYS, None, "", "?", "other", "A", "a ", 'x"y', "1, 2", "🦉"]
INTEGERS: list[Any] = [0, 1, 2, 3, -3, 10, None, None, 99, -99, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
REALS: list[Any] = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, None, math.nan, math.inf, -math.inf, 1e308, 5e-324, -7.25, 0.1]
DATES: list[Any] = [date(2020, 1, 1), date(2020, 2, 29), date(2021, 12, 31), None, date(1, 1, 1), date(9999, 12, 31)]
TYPES = {
    "id": pa.int64(),
    "k": pa.string(),
    "g": pa.string(),
    "w": pa.int64(),
    "x": pa.int64(),
    "v": pa.int64(),
    "y": pa.float64(),
    "u": pa.float64(),
    "z": pa.int64(),
    "d": pa.date32(),
    "b": pa.bool_(),
}
OWED = {"id": pa.int64(), "owed": pa.int64(), "k": pa.string()}
PUBLIC = pa.table({"k": ["a", "b", "b", "c"], "size": [3, 5, 9, 1], "area": ["N", "S", None, "N"]})
PUBLIC_COLUMNS = {"k": "text", "size": {"type": "integer", "bounds": [0, 9]}, "area": "text"}

GROUPS = [
    "DATE_TRUNC('month', t.d)",
    "STRFTIME(t.d, '%Y-%m')",
    "ROUND(t.y)",
    "FLOOR(t.u / 10)",
    "UPPER(t.k)",
    "LAST_DAY(t.d)",
]
PARTS = ["DAYOFYEAR(t.d)", "WEEK(t.d)", "DATEDIFF('week', '2020-01-01', t.d)", "LENGTH(t.k)", "SIGN(t.z)"]
PATTERNS = ["'a%'", "'%s'", "'%ñ%'", "'%'", "'a'", "'_'"]
TYPE_NAMES = ["BIGINT", "DOUBLE"]

People = list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]
"""For each person, the rows in the main table and those in the table of bills."""


@dataclass(frozen=True)
class World:
    """What is declared, and two databases that differ by one unit."""

    columns: dict[str, dict[str, Any]]
    owed: dict[str, dict[str, Any]]
    own: dict[str, Any]
    pair: tuple[tuple[pa.Table, pa.Table], tuple[pa.Table, pa.Table]]


def world(draw: Random, *, texts: bool = False) -> World:
    """``texts``: all columns are kept as text, whatever they are declared to be."""
    by_row, replaced = draw.random() < 0.35, draw.random() < 0.4
    ids: Any = range(20)
    if draw.random() < 0.3:
        ids = [*"PQRSTUVW", "p", "Ñ", "", "P ", "it's", "o", "x", "y", "z", "zz", "zzz", "q"]
    columns = declared(draw, "text" if isinstance(ids, list) else "integer")
    others: People = [person(draw, i, by_row) for i in draw.sample(ids[:15], draw.randint(1, 6))]
    victim = person(draw, ids[16], by_row)
    instead = person(draw, draw.choice([ids[16], ids[17]]), by_row) if replaced else ([], [])
    place = draw.randint(0, len(others))
    people = [[*others[:place], one, *others[place:]] for one in (victim, instead)]
    # A unit that has no id at all belongs to nobody; the rest is in any order.
    nobody = person(draw, None, by_row) if draw.random() < 0.3 else ([], [])
    own: dict[str, Any] = {"neighbors": "replace" if replaced else "add-remove"}
    if not by_row:
        own |= {"unit": "id", "contribution": (draw.choice([1, 2, 3]), draw.choice([1, 2, 4]))}
    kinds = TYPES | {"id": pa.string() if isinstance(ids, list) else pa.int64()}
    pair = tuple(
        (
            tabled([r for p in [*some, nobody] for r in p[0]], kinds, texts),
            tabled([r for p in [*some, nobody] for r in p[1]], OWED | {"id": kinds["id"]}, texts),
        )
        for some in people
    )
    owed = {"id": columns["id"], "owed": {"type": "integer", "bounds": [0, 5]}, "k": {"type": "text"}}
    return World(columns, owed, own, pair)  # type: ignore[arg-type]


def declared(draw: Random, id: str) -> dict[str, dict[str, Any]]:
    """Every declaration that a column can have, some of them at random."""

    def some(**settings: Any) -> dict[str, Any]:
        return {name: x for name, x in settings.items() if draw.random() < 0.7}

    never = draw.choice([0, 0.3, 0.9])

    def column(kind: str, **settings: Any) -> dict[str, Any]:
        return {"type": kind, **settings, **({"nullable": False} if draw.random() < never else {})}

    low = draw.choice([-3, 0, 1])
    return {
        "id": {"type": id},
        "k": column("text", **some(keys=KEYS[: draw.randint(1, 4)])),
        "g": column("text"),
        "w": column("integer", **some(keys=draw.sample(range(-3, 5), 3), bounds=[-3, 4])),
        "x": column("integer", bounds=[low, draw.choice([low, 5, 10, 10**6])]),
        "v": column("integer", bounds=[0, draw.choice([10, 100_000])]),
        "y": column("real", bounds=[-1, draw.choice([1, 2.5])], **some(step=0.25)),
        "u": column("real", bounds=[0, 100]),
        "z": column("integer"),
        "d": column("date", bounds=["2020-01-01", "2021-12-31"]),
        "b": column("boolean"),
    }


def person(draw: Random, id: Any, by_row: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows = 1 if by_row else draw.choice([0, 1, 1, 2, 9])

    def row() -> dict[str, Any]:
        numbers = {name: draw.choice(INTEGERS) for name in ("w", "x", "v", "z")}
        reals = {name: draw.choice(REALS) for name in ("y", "u")}
        texts = {name: draw.choice(TEXTS) for name in ("k", "g")}
        return {"id": id, **numbers, **reals, **texts, "d": draw.choice(DATES), "b": draw.choice([True, False, None])}

    bills = 0 if by_row else draw.choice([0, 1, 5])
    owed = [{"id": id, "owed": draw.choice([None, 0, 5, 9]), "k": draw.choice(TEXTS)} for _ in range(bills)]
    return [row() for _ in range(rows)], owed


def tabled(rows: list[dict[str, Any]], kinds: dict[str, pa.DataType], texts: bool) -> pa.Table:
    columns = {name: pa.array([r[name] for r in rows], kind) for name, kind in kinds.items()}
    return pa.table({n: c.cast(pa.string()) for n, c in columns.items()} if texts else columns)


# ---- questions -------------------------------------------------------------------------------------------------------


class Questions:
    """Random questions about a table ``t`` with those columns, a table ``bills`` and a public table ``towns``."""

    def __init__(self, draw: Random, *, by_row: bool) -> None:
        self.draw, self.by_row = draw, by_row

    def question(self) -> str:
        draw = self.draw
        joined = draw.choice(["", "", "", "towns"] if self.by_row else ["", "", "", "towns", "bills", "both"])
        source, outer = "t", draw.choice(["JOIN", "LEFT JOIN"])
        if joined in ("bills", "both"):
            source += f" {outer} bills ON t.id = bills.id" + draw.choice(["", " AND t.k = bills.k"])
        if joined in ("towns", "both"):
            source += f" {outer} towns ON t.k = towns.k"
        self.names = ["t.x", "t.v", "t.y", "t.u", "t.w"] + (["bills.owed"] * 2 if "bills" in source else [])
        self.names += ["towns.size"] if "towns" in source else []
        groups = draw.choice(
            [[], [], ["t.k"], ["t.g"], ["t.k", "t.w"], ["t.b"], ["EXTRACT(month FROM t.d)"], ["t.w"], ["*"]]
        )
        if groups == ["*"]:
            groups = [draw.choice(GROUPS)]
        if "towns" in source and draw.random() < 0.3:
            groups = ["towns.area"]
        columns = [f"{g} AS g{i}" for i, g in enumerate(groups)]
        columns += [f"{self.aggregate()} AS o{i}" for i in range(draw.randint(1, 3))]
        where = f" WHERE {self.condition(2)}" if draw.random() < 0.4 else ""
        grouped = f" GROUP BY {', '.join(groups)}" if groups else ""
        return f"SELECT {', '.join(columns)} FROM {source}{where}{grouped}"

    def aggregate(self) -> str:
        number = self.number(2)
        plain = ["COUNT(*)", f"COUNT({number})", "COUNT(DISTINCT t.k)", f"MEDIAN({number})"]
        plain += [] if self.by_row else ["COUNT(DISTINCT t.id)"]
        summed = [f"{f}({number})" for f in ("SUM", "SUM", "SUM", "AVG", "VARIANCE", "STDDEV", "MAX")]
        plain += [f"COUNT(DISTINCT {number})", "COUNT(DISTINCT t.g)", "MAX(t.d)"]
        one, other = self.draw.sample(sorted({*self.names} - {"t.w"}), 2)  # t.w has no bounds
        paired = [f"{f}({one}, {other})" for f in ("CORR", "COVAR_POP", "REGR_INTERCEPT")]
        return self.draw.choice([*plain, *summed, *paired])

    def number(self, depth: int) -> str:
        draw = self.draw
        if depth == 0 or draw.random() < 0.25:
            return draw.choice([*self.names, *self.names, "t.z", str(draw.randint(-3, 12)), "2.5"])

        def inner() -> str:
            return self.number(depth - 1)

        kind = draw.randrange(12)
        if kind > 8:
            return f"{draw.choice(['LEAST', 'GREATEST'])}({draw.choice(self.names)}, {draw.choice(self.names)})"
        if kind < 3:
            return f"({inner()} {draw.choice(['+', '-', '*', '/', '//', '%'])} {inner()})"
        if kind < 5:
            return f"{draw.choice(['LEAST', 'GREATEST', 'COALESCE'])}({inner()}, {inner()})"
        if kind < 7:
            otherwise = draw.choice([f" ELSE {inner()}", ""])
            return f"CASE WHEN {self.condition(depth - 1)} THEN {inner()}{otherwise} END"
        if draw.random() < 0.5:
            rounding, digits = draw.choice(["ROUND", "FLOOR", "CEIL", "TRUNC"]), draw.choice(["", ", 1", ", -1"])
            return draw.choice(
                [f"{rounding}({inner()}{digits})", f"CAST({inner()} AS {draw.choice(TYPE_NAMES)})", *PARTS]
            )
        return draw.choice([f"ABS({inner()})", f"(-{inner()})", "EXTRACT(year FROM t.d)", "EXTRACT(weekday FROM t.d)"])

    def condition(self, depth: int) -> str:
        draw = self.draw
        if depth > 0 and draw.random() < 0.5:
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return draw.choice([f"NOT ({one})", f"({one} AND {other})", f"({one} OR {other})"])
        number = self.number(max(0, depth - 1))
        quoted = ["'" + k.replace("'", "''") + "'" for k in KEYS]
        return draw.choice(
            [
                f"{number} {draw.choice(['<', '<=', '=', '<>', '>'])} {self.number(0)}",
                f"{number} BETWEEN 0 AND 3",
                f"{draw.choice([*self.names, 't.z', 't.k', 't.d', 't.b'])} IS {draw.choice(['', 'NOT '])}NULL",
                f"t.k = {draw.choice(quoted)}",
                f"t.g IN ({', '.join(draw.sample(quoted, 2))})",
                "t.b",
                f"t.d {draw.choice(['<', '>='])} DATE '2020-02-29'",
                "t.z > 2",
                f"t.{draw.choice('kg')} LIKE {draw.choice(PATTERNS)}",
                f"t.d + INTERVAL {draw.randint(-9, 9)} MONTH < '2020-06-30'",
                draw.choice(["UPPER(t.k) = 'A'", "t.k > 'a'", "t.k || 'x' <> 'ax'", "t.k IS DISTINCT FROM 'a'"]),
            ]
        )
