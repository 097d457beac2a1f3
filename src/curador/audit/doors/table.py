"""The attacks that concern questions, each once, as data: what is sent, to which pair of tables, what is safe.

The ids are those of the threat list: E errors, P partitions and order, S sensitivity, M mechanisms, B budgets, H
hostile requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from curador.audit.doors.run import AttackRequest
from curador.audit.doors.scenes import GROUPS, HOSTILE, ODD_VALUES, ROWS, VICTIM


class Safe(StrEnum):
    """The behaviour of a safe system: the same to D and to D', and this."""

    ANSWERED = "answered, and only noised numbers differ"
    SHUFFLED = "answered, in an order and length that follow from noised numbers"
    REFUSED = "refused before any data is read, at no cost"


_EPSILON: Mapping[str, Any] = MappingProxyType({"epsilon": 1})
_SELECTING: Mapping[str, Any] = MappingProxyType({"epsilon": 10, "delta": 1e-9})
"""Enough to show groups of 60 all but surely, and one of a single unit with a chance of at most delta."""
_LOUD: Mapping[str, Any] = MappingProxyType({"epsilon": 100_000})
"""So large that noise all but vanishes: what is left of the distance is the effect of one unit."""


@dataclass(frozen=True)
class Attack:
    """One attack.  ``most`` is how far one unit may move all numbers together; ``everywhere`` asks for every engine.

    >>> ATTACKS[0].id, str(ATTACKS[0].safe)
    ('E1', 'answered, and only noised numbers differ')
    """

    id: str
    name: str
    sql: str = field(repr=False)
    safe: Safe
    budget: Mapping[str, Any] = field(default_factory=lambda: _EPSILON, repr=False)
    victim: str = "plain"
    most: float | None = None
    prepare: tuple[str, tuple[str, ...]] | None = None
    everywhere: bool = True

    @property
    def request(self) -> AttackRequest:
        """The request that is sent to both."""
        return AttackRequest(self.sql, self.budget, self.prepare)


def _answered(id: str, texts: Iterable[str], **other: Any) -> list[Attack]:
    return [Attack(id, t[:70], t, Safe.ANSWERED, **other) for t in texts]


def _refused(id: str, texts: Iterable[str], **other: Any) -> list[Attack]:
    return [Attack(id, t[:70], t, Safe.REFUSED, **{"everywhere": False, **other}) for t in texts]


def _where(*conditions: str) -> list[str]:
    return [f"SELECT COUNT(*) AS n FROM people WHERE {c}" for c in conditions]


def _select(*columns: str) -> list[str]:
    return [f"SELECT {c} FROM people" for c in columns]


# ---- E: errors and odd values ------------------------------------------------------------------------------------

_TOTAL = [
    *_answered("E1", _where("1 / (age - 79) < 5", "1 // (age - 79) < 5", "1 % (age - 79) < 5")),
    *_answered("E1", _select("AVG(age % (age - 79)) AS m", "SUM(1 / (age - 79)) AS s")),
    *_answered("E2", _where(f"CASE WHEN pid = {VICTIM} THEN 1 / (age - 79) ELSE 1 END > 0")),
    *_answered("E2", _select(f"SUM(CASE WHEN pid = {VICTIM} THEN age // 0 ELSE 1 END) AS s")),
]
_DOMAINS = [
    *_refused("E3", _where("LN(income) > 1", "POWER(age, 1000) > 1", "EXP(age) > 1", "CBRT(age) > 1")),
    *_answered("E3", _where("SQRT(age - 79) > 1", "LN(age - 79) > 1", "CAST(code AS INTEGER) > 1"), victim="broken"),
    *_answered("E3", _where("ROUND(loose) > 3", "MAKE_DATE(wide, code, age) IS NULL"), victim="broken"),
    *_answered("E3", _where("DATE_TRUNC('month', born) + INTERVAL 9999 YEAR > born"), victim="broken"),
    *_refused("E3", _where("CAST(town AS DATE) IS NULL", "SUBSTRING(town, -1) = 'a'")),
    *_refused("E3", _where("town LIKE '(', '", "REGEXP_MATCHES(town, '(')", "town SIMILAR TO '('", "loose + 1 > 0")),
    *_refused("E3", _where("wide * wide > 0", "loose * 2 > 0")),
    *_answered("E3", _where("code > 3", "code * 100 > 3", "ABS(loose) > 3", "-loose < 3"), victim="broken"),
    *_answered("E3", _where("born + 9999999 > born", "EXTRACT(year FROM born) > 1990"), victim="broken"),
    *_refused(
        "E4", ["", "SELECT", "SELECT COUNT(*) FROM nothing", "SELECT 'open", "SELECT COUNT(*) FROM people WHERE"]
    ),
    *_refused("E4", _select("AVG(loose) AS m", "SUM(town) AS s", "AVG(nothing) AS m")),
    *_refused(
        "E5",
        [
            "SELECT COUNT(*) AS n FROM people WHERE REPEAT('x', CASE WHEN pid = 5000 THEN 1000000000 ELSE 1 END) = 'x'",
            "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) AS n FROM r",
            "SELECT COUNT(*) AS n FROM people, people AS b, people AS c",
            "SELECT COUNT(*) AS n FROM generate_series(1, 1000000000)",
            "SELECT COUNT(*) AS n FROM people WHERE pg_sleep(pid) IS NULL",
        ],
    ),
]

_READS: Mapping[str, tuple[str, ...]] = {
    "pid": ("SELECT COUNT(DISTINCT pid) AS n FROM people", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"),
    "age": ("SELECT AVG(age) AS m, COUNT(age) AS n FROM people", "SELECT MEDIAN(age) AS m FROM people"),
    "income": (
        "SELECT SUM(income) AS s, AVG(income) AS m FROM people",
        "SELECT MAX(income) AS m FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE income > 10.5 OR income / (income - 0.5) < 3",
    ),
    "sex": ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "SELECT COUNT(*) AS n FROM people WHERE sex <> 'F'"),
    "town": ("SELECT COUNT(*) AS n FROM people WHERE town IN ('Lugo', 'Zamora')",),
    "slot": ("SELECT slot, COUNT(*) AS n FROM people GROUP BY slot",),
    "born": (
        "SELECT AVG(EXTRACT(month FROM born)) AS m FROM people",
        "SELECT MEDIAN(born - DATE '1900-01-01') AS m FROM people",
    ),
    "insured": ("SELECT COUNT(insured) AS n FROM people WHERE NOT insured",),
    "code": ("SELECT SUM(code) AS s FROM people", "SELECT COUNT(*) AS n FROM people WHERE code IS NULL"),
    "loose": ("SELECT COUNT(*) AS n FROM people WHERE loose = 0 OR ABS(loose) > 5",),
    "wide": (
        "SELECT SUM(wide) AS s FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE wide // 3 > 1 OR wide % 7 = 1",
    ),
}
_GROUPED = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
"""Undeclared groups: those of one unit show with a chance of at most delta."""

_VALUES = [
    *(a for texts in _READS.values() for a in _answered("E6", texts, victim="broken")),
    *_answered("E6", [_GROUPED], victim="broken", budget=_SELECTING),
    *(
        a
        for column, values in ODD_VALUES.items()
        for i in range(len(values))
        for a in _answered("E6", _READS[column], victim=f"{column} {i}", everywhere=False)
    ),
    *(
        a
        for column in ("pid", "town")
        for i in range(len(ODD_VALUES[column]))
        for a in _answered("E6", [_GROUPED], victim=f"{column} {i}", budget=_SELECTING, everywhere=False)
    ),
    *_answered("E7", [t.replace("people", "empty") for texts in _READS.values() for t in texts], everywhere=False),
    *_answered("E7", ["SELECT sex, COUNT(*) AS n, AVG(age) AS m, MEDIAN(age) AS h FROM empty GROUP BY sex"]),
    *_answered("E7", [_GROUPED.replace("people", "empty")], budget=_SELECTING),
    *_answered("E7", ["SELECT sex, AVG(income) AS m FROM people WHERE age > 500 GROUP BY sex"]),
    *_answered("E7", ["SELECT slot, COUNT(*) AS n, STDDEV(age) AS d FROM people WHERE slot = 77 GROUP BY slot"]),
]

# ---- P: partitions, order, singling out --------------------------------------------------------------------------

_SINGLED = "pid = 5000", "pid IN (5000)", "town = 'Zamora'", "age = 79 AND slot = 77"
_PARTITIONS = [
    *_answered("P1", [_GROUPED, "SELECT town, sex, AVG(age) AS m FROM people GROUP BY town, sex"], budget=_SELECTING),
    *_answered("P1", ["SELECT pid, COUNT(*) AS n FROM people GROUP BY pid"], budget=_SELECTING),
    *_answered("P2", ["SELECT slot, COUNT(*) AS n FROM people GROUP BY slot"]),
    *_refused("P3", ["SELECT income FROM people ORDER BY income DESC LIMIT 1", "SELECT * FROM people LIMIT 1"]),
    *_refused("P3", ["SELECT COUNT(*) AS n FROM people ORDER BY income"]),
    *_refused("P3", ["SELECT AVG(age) AS m FROM (SELECT age FROM people ORDER BY income DESC LIMIT 1) AS t"]),
    *(
        Attack("P3", t, t, Safe.SHUFFLED)
        for t in [
            "SELECT slot, COUNT(*) AS n FROM people GROUP BY slot ORDER BY n DESC LIMIT 3",
            "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY MAX(income)",
            "SELECT MODE(age) AS m FROM people",
        ]
    ),
    *(
        Attack("P4", t, t, Safe.SHUFFLED)
        for t in [
            "SELECT slot, COUNT(*) AS n FROM people GROUP BY slot HAVING COUNT(*) = 1",
            "SELECT slot, COUNT(*) AS n FROM people GROUP BY slot HAVING MAX(income) = 100000",
        ]
    ),
    *_refused("P4", _where("COUNT(*) = 1", "income = (SELECT MAX(income) FROM people)")),
    *_answered("P5", _where(*_SINGLED)),
    *_answered("P5", ["SELECT AVG(income) AS m, MEDIAN(income) AS h FROM people WHERE pid = 5000"]),
    *_answered("P5", _where("town LIKE 'Zam%'")),
    *_refused("P5", _where("EXISTS (SELECT 1 FROM people WHERE pid = 5000)")),
    *_answered("P7", _select("MIN(income) AS m", "MAX(income) AS m", "MEDIAN(age) AS m", "COUNT(DISTINCT sex) AS n")),
    *_refused("P7", _select("DISTINCT town", "STRING_AGG(town, ',') AS t", "ARRAY_AGG(income) AS t")),
    *_refused("P7", _select("ANY_VALUE(age) AS a", "FIRST(age) AS a", "ARG_MAX(town, income) AS a", "LIST(age) AS a")),
    *_refused("P7", _select("BIT_XOR(pid) AS x", "HASH(pid) AS x", "PRODUCT(age) AS x")),
]

# ---- S: sensitivity ----------------------------------------------------------------------------------------------

_MANY: Mapping[str, Any] = MappingProxyType({"victim": "many rows", "budget": _LOUD})
_JOINED = "FROM people JOIN visits ON people.pid = visits.pid"
_RELABELLED = (
    "SELECT g AS g, COUNT(*) AS n FROM (SELECT CASE WHEN sex = 'F' THEN 'a' ELSE 'a' END AS g FROM people) AS t"
)
_SENSITIVITY = [
    *_refused("S1", ["SELECT COUNT(*) AS n FROM people AS a JOIN people AS b ON a.town = b.town"]),
    *_refused("S1", ["SELECT COUNT(*) AS n FROM people JOIN visits ON people.age = visits.cost"]),
    *_answered("S1", [f"SELECT COUNT(*) AS n {_JOINED}"], most=ROWS, **_MANY),
    *_answered("S1", [f"SELECT place, COUNT(*) AS n {_JOINED} GROUP BY place"], most=GROUPS * ROWS, **_MANY),
    *_answered("S1", [f"SELECT SUM(visits.cost) AS s {_JOINED}"], most=ROWS * 60, **_MANY),
    *_answered("S1", ["SELECT COUNT(*) AS n FROM people JOIN towns ON people.town = towns.town"], most=ROWS, **_MANY),
    *_answered("S2", [f"{_RELABELLED} GROUP BY g"], most=ROWS, **_MANY),
    *_answered("S2", ["SELECT COUNT(*) AS n FROM people"], most=GROUPS * ROWS, prepare=("people", ("sex",)), **_MANY),
    *_answered("S3", _select("COUNT(*) AS n"), most=ROWS, **_MANY),
    *_answered("S3", _select("COUNT(DISTINCT pid) AS n"), most=1, **_MANY),
    *_answered("S3", _select("COUNT(DISTINCT income) AS n"), most=ROWS, **_MANY),
    *_answered("S3", _select("COUNT(DISTINCT town) AS n"), most=1, victim="plain", budget=_LOUD),
    *_answered("S3", _select("SUM(income) AS s"), most=ROWS * 1e5, **_MANY),
    *_answered("S3", ["SELECT slot, COUNT(*) AS n FROM people GROUP BY slot"], most=GROUPS * ROWS, **_MANY),
    *_refused(
        "S4",
        [
            "SELECT COUNT(*) AS n FROM people UNION ALL SELECT COUNT(*) AS n FROM people",
            "SELECT COUNT(*) OVER (PARTITION BY town) AS n FROM people",
            "SELECT SUM(r) AS s FROM (SELECT ROW_NUMBER() OVER (ORDER BY income) AS r FROM people) AS t",
            "SELECT SUM(x) AS s FROM (VALUES (1), (2)) AS t(x)",
            "SELECT COUNT(*) AS n FROM people, LATERAL (SELECT pid FROM people AS b WHERE b.town = people.town) AS t",
            "SELECT MAX(n) AS m FROM (SELECT town, COUNT(*) AS n FROM people GROUP BY town) AS t",
            "SELECT COUNT(*) AS n FROM people CROSS JOIN UNNEST([1, 2, 3])",
            "SELECT COUNT(*) AS n FROM people WHERE town IN (SELECT town FROM people WHERE income > 90000)",
        ],
    ),
    *_answered(
        "S4",
        ["SELECT COUNT(*) AS n FROM (SELECT pid FROM people UNION ALL SELECT pid FROM people) AS t"],
        most=ROWS,
        **_MANY,
    ),
    *_answered("S4", ["SELECT COUNT(*) AS n FROM people WHERE pid IN (SELECT pid FROM visits)"]),
    *_answered("S4", ["SELECT AVG(n) AS m FROM (SELECT pid, COUNT(*) AS n FROM people GROUP BY pid) AS t"], **_MANY),
    *_answered("S4", ["SELECT SUM(s) AS s FROM (SELECT pid, SUM(income) AS s FROM people GROUP BY pid) AS t"], **_MANY),
    *_answered(
        "S4", ["WITH t AS (SELECT age AS x FROM people WHERE age > 30) SELECT SUM(x) AS s FROM t"], most=360, **_MANY
    ),
    *_answered("S5", _select("SUM(income * 1000) AS s"), most=ROWS * 1e8, **_MANY),
    *_answered("S5", _select("SUM(CASE WHEN age > 100 THEN age * 1000 ELSE age END) AS s"), most=360_000, **_MANY),
    *_answered("S5", ["SELECT SUM(age) AS s FROM (SELECT age * 1000 AS age FROM people) AS t"], most=360_000, **_MANY),
    *_refused("S5", _select("SUM(loose) AS s", "SUM(loose * 0) AS s")),
    *_answered("S6", _select("SUM(wide) AS s", "AVG(wide) AS m")),
    *_refused("S6", _select("SUM(wide * 2) AS s", "SUM(wide + wide) AS s", "VARIANCE(wide * wide) AS v")),
]

# ---- M, B, H: budgets and hostile requests -----------------------------------------------------------------------

_EXTREMES: list[dict[str, Any]] = [
    *({"epsilon": x} for x in (0, -1, math.nan, math.inf, -math.inf, 1e-300, 1e300, "1e9", True, None, "x", [1])),
    *({"epsilon": 1, "delta": x} for x in (1, 2, -1e-9, math.nan, math.inf, "1", 1e-300)),
    *({"rho": x} for x in (0, -1, math.nan, math.inf, 1e300)),
    {},
    {"epsilon": 1, "rho": 1},
    {"epsilon": 1, "confidence": 2},
    {"epsilon": 1, "noise": "none"},
    {"epsilon": 1, "weights": {"n": 0}},
    {"epsilon": 1, "rows": -1},
    {"accuracy": (1, 0.95)},
]
# This many days after a birth before 2020 is a date; after one in 2030 it lies beyond the year 9999.
_BEYOND = "SELECT born + 2914482 AS d, COUNT(*) AS n FROM people GROUP BY born + 2914482"
_BUDGETS = [
    *_refused("E3", [_BEYOND], budget=_SELECTING, victim="late"),
    *(Attack("M3", str(b), "SELECT COUNT(*) AS n FROM people", Safe.REFUSED, b, everywhere=False) for b in _EXTREMES),
    *_refused("P6", _select("COUNT(*) AS n"), budget={"epsilon": 999_999}),
    *_answered("B14", _where("pid = 5000", "pid <> 5000", "age > 200")),
]
_HOSTILE = [
    *_refused("H4", ["SELECT COUNT(*) AS n FROM people WHERE town = '" + "x" * 10_000_000 + "'"]),
    *_refused("H4", ["x" * 10_000_000, "(" * 10_000_000, "/*" + "*" * 10_000_000]),
    *_refused("H4", _where("(" * 3000 + "age = 1" + ")" * 3000, " OR ".join(["age = 1"] * 10_000))),
    *_refused(
        "H4", _where("NOT " * 3000 + "insured", "-" + " -" * 3000 + "age = 1", "+".join(["age"] * 1900) + " > 0")
    ),
    *_refused("H4", _where("CASE WHEN insured THEN " * 900 + "1" + " END" * 900 + " = 1")),
    *_answered("H4", _where(" AND ".join(["age=1"] * 990))),
    *_refused(
        "H5",
        [
            "SELECT COUNT(*) AS n FROM people; DROP TABLE people",
            "COPY people TO '/tmp/out.csv'",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT COUNT(*) AS n FROM read_csv('/etc/passwd')",
            "SELECT COUNT(*) AS n FROM '/etc/passwd'",
            "SELECT COUNT(*) AS n FROM information_schema.tables",
            "SELECT COUNT(*) AS n FROM people WHERE query_to_xml('SELECT 1', true, true, '') IS NULL",
            'SELECT COUNT(*) AS n FROM "people"" ; DROP TABLE people; --"',
            'SELECT COUNT("a""; DROP TABLE people; --") AS n FROM people',
            "ATTACH '/tmp/x.db'",
            "SET memory_limit = '1TB'",
            "PRAGMA database_list",
            "SELECT getenv('HOME') AS h, COUNT(*) AS n FROM people",
            "SELECT COUNT(*) AS n FROM people WHERE town = $1",
        ],
    ),
    *_answered(
        "H5",
        [
            "SELECT COUNT(*) AS n FROM people WHERE town = '''; DROP TABLE people; --'",
            "SELECT COUNT(*) AS n FROM people WHERE town = '\\' OR town = ' OR 1=1 --'",
            "SELECT COUNT(*) AS n /* '; DROP TABLE people; */ FROM people -- ; COPY people TO 'x'",
            'SELECT COUNT(*) AS "n""; DROP TABLE people; --" FROM people',
        ],
    ),
    *_answered(
        "H5", ['SELECT {0}, SUM("select") AS s FROM odd GROUP BY {0}'.format('"' + HOSTILE.replace('"', '""') + '"')]
    ),
]

ATTACKS: tuple[Attack, ...] = (
    *_TOTAL,
    *_DOMAINS,
    *_VALUES,
    *_PARTITIONS,
    *_SENSITIVITY,
    *_BUDGETS,
    *_HOSTILE,
)
"""All attacks."""
