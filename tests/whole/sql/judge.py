"""Plain DuckDB as the judge of our SQL: the same statement over cleaned tables, compared group by group.

The budget is so large that noise is zero but for a chance below 1e-100, so that an answer is the exact one up to
rounding.  Where our words have another meaning than DuckDB's, ``MEANING`` and ``REWRITTEN`` say so, once; everything
there is documented in docs/reference/sql.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from curador.engines.duckdb.engine import DuckDB
from curador.engines.sql_engine import SqlEngine
from curador.privacy import ApproxDP, PureDP
from curador.query.answer.noise import noise
from curador.query.answer.postprocess import Answered, answered
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from tests.real_engines import shown
from tests.whole.sql.worlds import World

MEANING = {
    "whatever is divided by zero is NULL": (
        'CREATE MACRO "/"(a, b) AS CASE WHEN b <> 0 THEN system.main."/"(a::DOUBLE, b::DOUBLE) END'
    ),
    "// drops the fraction, of reals too": (
        'CREATE MACRO "//"(a, b) AS CASE WHEN b <> 0 THEN system.main.trunc(system.main."/"(a::DOUBLE, b::DOUBLE)) END'
    ),
    "so is what is left of a division by zero": (
        'CREATE MACRO "%"(a, b) AS CASE WHEN b <> 0 THEN system.main."%"(a, b) END'
    ),
    "the root of a negative number is NULL": ("CREATE MACRO sqrt(x) AS CASE WHEN x >= 0 THEN system.main.sqrt(x) END"),
    "so is the logarithm of what is not positive": (
        "CREATE MACRO ln(x) AS CASE WHEN x > 0 THEN system.main.ln(x) END;"
        "CREATE MACRO log2(x) AS CASE WHEN x > 0 THEN system.main.log2(x) END;"
        "CREATE MACRO log10(x) AS CASE WHEN x > 0 THEN system.main.log10(x) END;"
        "CREATE MACRO log(x) AS CASE WHEN x > 0 THEN system.main.log10(x) END"
    ),
    "CONCAT is NULL where a part is": "CREATE MACRO concat(a, b) AS a || b, (a, b, c) AS a || b || c",
    "no date is NULL": "CREATE MACRO make_date(y, m, d) AS TRY(system.main.make_date(y, m, d))",
    "FLOOR and CEIL take digits, as ROUND does": (
        "CREATE MACRO floor(x) AS system.main.floor(x), (x, d) AS system.main.floor(x * 10 ** d) * 10.0 ** -d;"
        "CREATE MACRO ceil(x) AS system.main.ceil(x), (x, d) AS system.main.ceil(x * 10 ** d) * 10.0 ** -d"
    ),
    "buckets are numbered from 1": (
        "CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1"
        " WHEN x IS NOT NULL THEN system.main.floor((x - low) * n / (high - low)) + 1 END"
    ),
    "bins are named by their edges": (
        "CREATE MACRO bin(x, a, b, c) AS CASE WHEN x >= a AND x < b THEN format('[{}, {})', a, b)"
        " WHEN x >= b AND x <= c THEN format('[{}, {}]', b, c) END"
    ),
    "a quantile is judged by its rank among these values": (
        "CREATE MACRO median(x) AS list(x); CREATE MACRO quantile(x, p) AS list(x)"
    ),
    "a mean of booleans is the part that is true": "",
}
"""What our words mean where DuckDB means something else."""

REWRITTEN = [
    (
        r"CAST\(((?:visits\.)?(?:pay|cost|amount)) AS BIGINT\)|\b(pay)::BIGINT",
        r"CAST(system.main.round(\1\2) AS BIGINT)",
    )
]
"""A real becomes whole by rounding halves away from zero; DuckDB takes the even one."""

ROUNDED = re.compile(r"/|SQRT|LN|LOG|EXP|AVG|ROUND|POWER|\*\*", re.I)
"""Whatever is rounded down to 16 fractional bits in each row, so that sums may be off by some of those."""


CHOICES = ("quantiles", "minimum", "maximum", "top_k")
"""Aggregates that are chosen, and not noised."""


@dataclass(frozen=True)
class Case:
    """A statement, and DuckDB's own where the words cannot be the same; ``place`` is its line."""

    text: str
    own: str | None = None
    place: int = 0


def sections(path: Path) -> dict[str, list[Case]]:
    """The statements of a file under their titles: each ends with a semicolon; ``--= …`` is what DuckDB is asked."""
    text = path.read_text()
    found: dict[str, list[Case]] = {}
    for part in re.finditer(
        r"^-- ## ([^\n]*)$|^((?:SELECT|WITH)\b.*?);\n((?:--= [^\n]*\n)*)", text, re.M | re.S | re.I
    ):
        if part[1]:
            found[part[1]] = here = []
            continue
        own = " ".join(line.removeprefix("--= ") for line in part[3].splitlines())
        here.append(Case(part[2], own or None, text[: part.start()].count("\n") + 1))
    return found


class NotJudged(Exception):
    """DuckDB's answer says nothing about ours: groups that only we show, or leave out, would change it."""


class Judge:
    """Asks us and plain DuckDB, and says where the answers differ."""

    def __init__(self, world: World) -> None:
        self.world = world
        for macro in MEANING.values():
            if macro:
                world.plain.execute(macro)
        self.engine: SqlEngine = DuckDB(
            {name: t.source for name, t in world.declared.items()}, threads=1, on_error=shown
        )

    def close(self) -> None:
        self.engine.close()
        self.world.plain.close()

    def ours(self, text: str, engine: SqlEngine | None = None) -> tuple[Plan, Answered]:
        """Our answer without noise."""
        checked = check(parse(text, self.world.declared), self.world.declared, self.world.public_rows)
        chooses = any(o.aggregate.function in CHOICES for o in checked.question.aggregates)
        pure = PureDP(1e18 if chooses else 1e30)  # choices take no more than 2**64
        made = plan(checked, pure if checked.keys is not None else ApproxDP(1e15, 1e-9))
        return made, answered(made, noise(made, (engine or self.engine).run(made.exact)))

    def theirs(self, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """DuckDB's."""
        for pattern, instead in REWRITTEN:
            text = re.sub(pattern, instead, text)
        found: duckdb.DuckDBPyConnection = self.world.plain.execute(text)
        return [d[0] for d in found.description or ()], found.fetchall()

    def difference(self, case: Case) -> str | None:
        """What differs; None where nothing does."""
        made, ours = self.ours(case.text)
        names, rows = self.theirs(case.own or case.text)
        if list(ours.columns) != names:
            return f"columns {list(ours.columns)} are not {names}"
        return _Compared(
            case.text, made, ours, [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        ).found()


def _plain(x: Any) -> Any:
    if isinstance(x, datetime) and x == datetime(x.year, x.month, x.day):
        return x.date()
    return float(x) if isinstance(x, Decimal) else x


@dataclass(frozen=True)
class _Compared:
    text: str
    plan: Plan
    ours: Answered
    theirs: list[dict[str, Any]]

    def found(self) -> str | None:
        q = self.plan.question
        mine = [dict(zip(self.ours.columns, row, strict=True)) for row in zip(*self.ours.columns.values(), strict=True)]
        theirs = self._selected(self.theirs)
        if q.order_by or q.limit is not None or q.offset:
            keys = [[self._key(row) for row in some] for some in (mine, theirs)]
            if keys[0] != keys[1]:
                return f"rows {keys[0]} are not {keys[1]}"
        there = {self._key(row): row for row in theirs}
        extra = set(there) - {self._key(row) for row in mine}
        if extra:
            return f"groups {sorted(map(str, extra))} are missing"
        for row in mine:
            other = there.get(self._key(row))
            if other is None and q.having is not None:
                return f"group {self._key(row)} is shown"
            for name in row:
                if name not in self.ours.groups and (wrong := self._cell(name, row[name], other)):
                    return f"{name} of {self._key(row)}: {wrong}"
        return None

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(_plain(row[name]) for name in self.ours.groups)

    def _selected(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The groups that we may show: public ones, or those of two units and more."""
        keys, q = self.plan.checked.keys, self.plan.question
        if keys is None:
            if any("units" not in row for row in rows):
                raise NotJudged("groups are selected: select COUNT(DISTINCT pid) AS units")
            return [row for row in rows if row["units"] >= 2]
        if q.tree is not None:
            return rows
        labels = [tuple(self._label(i, x) for i, x in enumerate(key)) for key in keys]
        public = {tuple(map(_plain, key)) for key in labels}
        left = [row for row in rows if self._key(row) in public]
        looks = q.order_by or q.limit is not None or q.offset or q.having is not None or " OVER " in self.text.upper()
        cut = q.having is not None or q.limit is not None or q.offset
        if looks and (len(left) < len(rows) or (len(left) < len(public) and not cut)):
            raise NotJudged("DuckDB looks at other groups than we do")
        return left

    def _label(self, i: int, x: Any) -> Any:
        labels = getattr(self.plan.question.group_by[i].expr, "labels", None)
        return x if labels is None or x is None else labels[x]

    def _cell(self, name: str, mine: Any, row: dict[str, Any] | None) -> str | None:
        recipe = next((r for r in self.plan.recipes if name in r.outputs), None)
        function = None if recipe is None else recipe.function
        other = None if row is None else row[name]
        if other is None:  # of no rows or values: counts and sums are 0, others some number within bounds
            if function in ("count", "count_distinct", "sum") and mine != 0:
                return f"{mine} of no values"
            return f"NULL of {function}" if recipe is not None and mine is None else None
        if mine is None:
            return f"NULL is not {other}"
        if isinstance(other, list):
            assert recipe is not None
            return _rank(mine, recipe.parameters[recipe.outputs.index(name)], [x for x in other if x is not None])
        if isinstance(other, bool | str | date):
            return None if mine == other and type(mine) is type(other) else f"{mine!r} is not {other!r}"
        loose = ROUNDED.search(self.text)
        room = 1e-7 if not loose else 1e-4 if function == "mean" else 0.02
        near = abs(mine - other) <= room + 1e-9 * abs(other) * (1000 if loose else 1)
        return None if near else f"{mine!r} is not {other!r}"


def _rank(mine: Any, p: Any, values: list[Any]) -> str | None:
    """A quantile p has at most p n values below, and at least p n up to it."""
    below, upto = sum(x < mine for x in values), sum(x <= mine for x in values)
    if not values or below <= float(p) * len(values) <= upto:
        return None
    return f"{mine} has {below} values below and {upto} up to it, of {len(values)}; the quantile is {p}"
