"""Declared tables that nobody is in, and all kinds of questions about them."""

from __future__ import annotations

from typing import Any

from curador import Curator, Neighbors, PureDP, Table

PEOPLE: dict[str, Any] = {
    "age": {"type": "integer", "bounds": [0, 120]},
    "income": {"type": "real", "bounds": [0, 1000]},
    "sex": {"type": "text", "keys": ["F", "M"]},
    "town": "text",
    "born": {"type": "date", "bounds": ["1950-01-01", "1950-01-31"]},
    "insured": "boolean",
}
VISITS: dict[str, Any] = {
    "pid": "integer",
    "place": {"type": "text", "keys": ["bar", "gym", "inn"]},
    "cost": {"type": "integer", "bounds": [0, 60]},
    "town": "text",
}


def people(neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Curator:
    """A row is a unit."""
    return Curator({"people": Table("no-such.csv", columns=PEOPLE, neighbors=neighbors)}, budget=PureDP(1))


def both() -> Curator:
    """Two tables about the same people, under one budget."""
    own = {"pid": "integer", "age": {"type": "integer", "bounds": [0, 120]}}
    tables = {
        "people": Table("no-such.csv", unit="pid", contribution=(1, 2), columns=own),
        "visits": Table("no-such-either.csv", unit="pid", contribution=(2, 3), columns=VISITS),
    }
    return Curator(tables, budget=PureDP(1))


def visits(neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Curator:
    """A unit has many rows, of which 2 x 3 count."""
    table = Table("no-such.csv", unit="pid", contribution=(2, 3), columns=VISITS, neighbors=neighbors)
    return Curator({"visits": table}, budget=PureDP(1))


SELECTING = {"epsilon": 30, "delta": "1e-3"}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("SELECT COUNT(*) AS n FROM people", {"epsilon": 1}),
    "filtered": ("SELECT COUNT(*) AS n FROM people WHERE age / (age - 79) < 5 OR insured", {"epsilon": 1}),
    "sums and means": ("SELECT AVG(age) AS a, SUM(income) AS s FROM people", {"epsilon": 1}),
    "spread by key": ("SELECT sex, COUNT(*) AS n, STDDEV(age) AS d FROM people GROUP BY sex", {"epsilon": 1}),
    "median and maximum": ("SELECT MEDIAN(income) AS m, MAX(age) AS x FROM people", {"epsilon": 1}),
    "quantiles": ("SELECT sex, MEDIAN(age) AS m FROM people GROUP BY sex", {"rho": 1}),
    "undeclared groups": ("SELECT town, COUNT(*) AS n FROM people GROUP BY town", SELECTING),
    "means of undeclared groups": ("SELECT town, AVG(age) AS a FROM people GROUP BY town", SELECTING),
    "concentrated": ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", {"rho": 1}),
    "Gaussian": ("SELECT AVG(age) AS a FROM people", {"epsilon": 1, "delta": "1e-6", "noise": "gaussian"}),
    "totals": ("SELECT sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex)", {"epsilon": 1}),
    "the largest": ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC LIMIT 1", {"epsilon": 1}),
    "mode": ("SELECT MODE(age) AS m FROM people", {"epsilon": 1}),
    "distinct": ("SELECT COUNT(DISTINCT town) AS n FROM people", {"epsilon": 1}),
}
BY_UNIT: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1}),
    "sums by place": ("SELECT place, SUM(cost) AS s FROM visits GROUP BY place", {"epsilon": 1}),
    "medians by place": ("SELECT place, MEDIAN(cost) AS m FROM visits GROUP BY place", {"epsilon": 1}),
    "undeclared groups": ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", SELECTING),
    "people": ("SELECT COUNT(DISTINCT pid) AS n FROM visits", {"epsilon": 1}),
    "of each person": (
        "SELECT AVG(n) AS m FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS t",
        {"epsilon": 1},
    ),
}
