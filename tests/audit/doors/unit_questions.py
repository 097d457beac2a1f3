"""Random questions about one row per unit, lists of units and tables put together, over the tables of random worlds."""

from __future__ import annotations

from random import Random

from tests.audit.doors.random_worlds import Questions


class UnitQuestions:
    """Random questions about ``t``, ``bills`` and ``towns`` that make other rows of a unit's rows first."""

    def __init__(self, draw: Random, *, by_row: bool) -> None:
        self.draw, self.by_row = draw, by_row
        self.inside = Questions(draw, by_row=by_row)
        self.inside.names = ["t.x", "t.v", "t.y", "t.u", "t.w"]

    def question(self) -> str:
        return self.draw.choice(
            [
                self.per_unit,
                self.per_unit,
                self.nested,
                self.listed,
                self.together,
                self.joined,
                self.beside,
                self.beside,
            ]
        )()

    # -- rows

    def aggregates(self) -> list[str]:
        draw, number = self.draw, self.inside.number
        found = ["COUNT(*)", f"COUNT({number(1)})", f"COUNT(DISTINCT {draw.choice(['t.k', 't.x', 't.d', 't.b'])})"]
        found += [f"SUM({number(1)})", f"AVG({number(1)})", f"MIN({number(1)})", f"MAX({number(1)})", "MAX(t.z)"]
        found += [
            "LEAST(COUNT(*), 3)",
            "GREATEST(LEAST(SUM(t.z), 9), -9)",
            "SUM(t.x) / COUNT(*)",
            "SUM(t.v) - MAX(t.v)",
        ]
        return draw.sample(found, 3)

    def inner(self, by: str = "") -> str:
        """A query with one row per unit, with columns id, p, q and r."""
        draw, (p, q, r) = self.draw, self.aggregates()
        source = draw.choice(["t", "t", "t JOIN bills ON t.id = bills.id", "t LEFT JOIN towns ON t.k = towns.k"])
        where = f" WHERE {self.inside.condition(1)}" if draw.random() < 0.4 else ""
        having = (
            f" HAVING {draw.choice(['COUNT(*) > 1', 'SUM(t.x) >= 3', 'MIN(t.z) IS NULL'])}"
            if draw.random() < 0.4
            else ""
        )
        also, grouped = (f", {by} AS k", f", {by}") if by else ("", "")
        return (
            f"SELECT t.id AS id{also}, {p} AS p, {q} AS q, {r} AS r FROM {source}{where} GROUP BY t.id{grouped}{having}"
        )

    def units(self) -> str:
        """A query for ids."""
        return self.draw.choice(
            [
                "SELECT id FROM bills WHERE owed > 2",
                "SELECT DISTINCT id FROM bills",
                f"SELECT t.id FROM t WHERE {self.inside.condition(1)}",
                "SELECT t.id FROM t GROUP BY t.id HAVING COUNT(*) > 1",
                "SELECT bills.id FROM bills JOIN t ON bills.id = t.id WHERE t.b",
            ]
        )

    # -- questions

    def per_unit(self) -> str:
        return self.asked(f"({self.inner()}) s", ["s.p", "s.q", "s.r"])

    def nested(self) -> str:
        by = self.draw.choice(["t.k", "t.b", "t.w", "EXTRACT(month FROM t.d)"])
        if self.draw.random() < 0.5:
            return self.asked(f"({self.inner(by)}) s", ["s.p", "s.q"], ["s.k"])
        middle = (
            f"SELECT a.id AS id, MAX(a.p) AS p, SUM(a.q) AS q, COUNT(*) AS r FROM ({self.inner(by)}) a GROUP BY a.id"
        )
        return self.asked(f"({middle}) s", ["s.p", "s.q", "s.r"])

    def listed(self) -> str:
        test = f"t.id {self.draw.choice(['', 'NOT '])}IN ({self.units()})"
        if self.draw.random() < 0.3:
            test = f"({test} OR t.b)"
        return self.asked("t", ["t.x", "t.y"], ["t.k"], test)

    def together(self) -> str:
        parts = ["SELECT id, x AS p, k AS k FROM t", "SELECT id, owed, k FROM bills", "SELECT id, w, g FROM t WHERE b"]
        rows = " UNION ALL ".join(self.draw.sample(parts, self.draw.choice([2, 3])))
        if not rows.startswith(parts[0]):
            rows = " UNION ALL ".join([parts[0], rows])
        if self.draw.random() < 0.4:
            return self.asked(f"(SELECT id, COUNT(*) AS p, SUM(p) AS q FROM ({rows}) a GROUP BY id) s", ["s.p", "s.q"])
        return self.asked(f"({rows}) s", ["s.p"], ["s.k"])

    def joined(self) -> str:
        how = self.draw.choice(["JOIN", "LEFT JOIN"])
        return self.asked(f"({self.inner()}) s {how} bills ON s.id = bills.id", ["s.p", "bills.owed"], ["bills.k"])

    def beside(self) -> str:
        how = self.draw.choice(["JOIN", "LEFT JOIN"])
        source, values, groups = self.draw.choice(
            [
                ("bills s", ["o.p", "s.owed"], ["s.k"]),
                ("t s", ["o.q", "s.x"], ["s.k"]),
                (f"({self.inner()}) s", ["s.p", "o.r"], []),
            ]
        )
        return self.asked(f"{source} {how} ({self.inner()}) o ON s.id = o.id", values, groups)

    def asked(self, source: str, values: list[str], groups: list[str] | None = None, test: str = "") -> str:
        draw = self.draw
        cases = [
            f"CASE WHEN {draw.choice(values)} > 1 THEN 'more' ELSE 'less' END",
            f"{values[0]} > 0",
            *(groups or []),
        ]
        grouped = [draw.choice(cases)] if draw.random() < 0.5 else []
        value = draw.choice([*values, f"({values[0]} + {values[-1]})", f"COALESCE({values[0]}, 1)"])
        found = ["COUNT(*)", f"COUNT({value})", f"SUM({value})", f"SUM({value})", f"AVG({value})", f"MEDIAN({value})"]
        found += [f"VARIANCE({value})", f"COUNT(DISTINCT {source.split()[-1] if source == 't' else 's'}.id)"]
        shown = [f"{g} AS g{i}" for i, g in enumerate(grouped)]
        if "joined" in source or "UNION" in source:
            found = [f for f in found if "DISTINCT" not in f]
        shown += [f"{a} AS o{i}" for i, a in enumerate(draw.sample(found, draw.randint(1, 3)))]
        tests = [t for t in (test, f"{draw.choice(values)} < 4" if draw.random() < 0.4 else "") if t]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"SELECT {', '.join(shown)} FROM {source}{where}" + (f" GROUP BY {grouped[0]}" if grouped else "")
