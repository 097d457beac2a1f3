"""Values that a question compares with and that no declaration allows: found wherever they stand, and nothing else."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest

from curador.query.ask.sql.read import parse
from curador.query.ask.typed import MOST_NEAR, NAMED
from curador.query.plan.checked import check
from curador.query.tables.table import Table

COLUMNS = {
    "origin": {"type": "text", "keys": ["EWR", "JFK", " LGA"]},
    "carrier": "text",
    "month": {"type": "integer", "bounds": [1, 12]},
    "age": {"type": "integer", "bounds": [18, 90]},
    "load": {"type": "real", "bounds": [0, 1], "step": 0.25},
    "day": {"type": "date", "bounds": ["2013-01-01", "2013-12-31"]},
    "late": "boolean",
}
OF_TRIPS = {"pid": "integer", "town": {"type": "text", "keys": ["Lugo", "Vigo"]}, "cost": "integer"}
TABLES = {
    "flights": Table("flights.csv", columns=COLUMNS),
    "trips": Table("trips.csv", unit="pid", contribution=(2, 5), columns=OF_TRIPS),
    "stays": Table("stays.csv", unit="pid", contribution=(2, 5), columns=OF_TRIPS),
    "airports": Table(
        "airports.csv", public=True, columns={"code": "text", "zone": {"type": "text", "keys": ["N", "S"]}}
    ),
}
COUNT = "SELECT COUNT(*) AS n FROM flights WHERE"
PEOPLE = "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS k, MIN(cost) AS low FROM trips"


def found(sql: str) -> list[tuple[str, str, str]]:
    """The column and the value of each, with what is near or what is allowed."""
    notes = check(parse(sql, TABLES), TABLES).undeclared
    return [(note["column"], note["value"], note.get("near", note.get("range", ""))) for note in notes]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        (f"{COUNT} origin = 'ewr'", ("origin", "ewr", "EWR")),
        (f"{COUNT} origin = 'LGA'", ("origin", "LGA", " LGA")),
        (f"{COUNT} origin <> ' jfk '", ("origin", " jfk ", "JFK")),
        (f"{COUNT} origin IN ('EWR', 'SFO')", ("origin", "SFO", "")),
        (f"{COUNT} NOT (late OR 13 = month)", ("month", "13", "1 … 12")),
        (f"{COUNT} load = 1.5", ("load", "1.5", "0 … 1")),
        (f"{COUNT} day = '2014-01-01'", ("day", "2014-01-01", "2013-01-01 … 2013-12-31")),
        (f"{COUNT} MONTH(day) = 13", ("MONTH(day)", "13", "1 … 12")),
        (f"{COUNT} age // 10 = 0", ("age // 10", "0", "1 … 9")),
        (f"{COUNT} LOWER(origin) = 'EWR'", ("LOWER(origin)", "EWR", "ewr")),
        (f"{COUNT} CASE WHEN age > 60 THEN 'old' ELSE 'young' END = 'Old'", (
            "CASE WHEN age > 60 THEN 'old' ELSE 'young' END", "Old", "old")),
        ("SELECT AVG(CASE origin WHEN 'ewr' THEN 1 ELSE 0 END) AS a FROM flights", ("origin", "ewr", "EWR")),
        ("SELECT COUNT(*) FILTER (WHERE month = 0) AS n FROM flights", ("month", "0", "1 … 12")),
        ("SELECT COUNT_IF(origin = 'ewr') AS n FROM flights", ("origin", "ewr", "EWR")),
        ("SELECT origin = 'ewr' AS ours, COUNT(*) AS n FROM flights GROUP BY 1", ("origin", "ewr", "EWR")),
        ("SELECT origin AS o, COUNT(*) AS n FROM flights GROUP BY 1 HAVING o = 'ewr'", ("o", "ewr", "EWR")),
        ("SELECT month, COUNT(*) AS n FROM flights GROUP BY 1 HAVING month IN (1, 13) AND n > 5", (
            "month", "13", "1 … 12")),
        ("SELECT origin, CASE WHEN origin = 'ewr' THEN COUNT(*) ELSE 0 END AS n FROM flights GROUP BY origin", (
            "origin", "ewr", "EWR")),
        (f"{COUNT} airports.zone = 'n'".replace("WHERE", "JOIN airports ON carrier = airports.code WHERE"), (
            "airports.zone", "n", "N")),
        (f"{PEOPLE} WHERE town = 'lugo' GROUP BY pid) WHERE k > 1", ("town", "lugo", "Lugo")),
        (f"{PEOPLE} GROUP BY pid) WHERE k = 0", ("COUNT(*)", "0", "≥ 1")),
        ("SELECT COUNT(*) AS n FROM trips WHERE pid IN (SELECT pid FROM stays WHERE town = 'lugo')", (
            "town", "lugo", "Lugo")),
        ("SELECT COUNT(*) AS n FROM (SELECT town FROM trips UNION ALL SELECT town FROM stays) WHERE town = 'X'", (
            "town | town", "X", "")),
    ],
)  # fmt: skip
def test_a_value_that_no_declaration_allows_is_named(sql: str, named: tuple[str, str, str]) -> None:
    assert found(sql) == [named]


@pytest.mark.parametrize(
    "sql",
    [
        f"{COUNT} origin = 'EWR' AND origin IN ('JFK', ' LGA') AND month = 12 AND load = 0.1 AND day = '2013-12-31'",
        f"{COUNT} age > 17 AND age >= 0 AND age < 200 AND age BETWEEN 0 AND 99 AND age <= 5 AND day < '2020-01-01'",
        f"{COUNT} origin LIKE 'ewr' OR origin > 'Z' OR carrier = 'any' OR late = TRUE OR 1 = 2 OR month = age",
        f"{COUNT} COALESCE(origin, 'none') = 'none' AND MONTH(day) = 12 AND COALESCE(month, 0) = 0",
        "SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin HAVING n = -5 OR origin = 'JFK'",
        "SELECT origin, RANK() OVER (ORDER BY COUNT(*) DESC) = 99 AS r FROM flights GROUP BY origin",
        f"{PEOPLE} GROUP BY pid) WHERE k = 10 AND low = 7",
        f"{COUNT} origin <> '' AND month <> 0 AND NOT origin <> 'JFK'",
    ],
)
def test_what_declarations_allow_or_leave_open_is_not_named(sql: str) -> None:
    assert found(sql) == []


def test_keys_that_are_given_with_the_question_are_what_its_groups_have() -> None:
    from curador.query.aggregates.counts import count
    from curador.query.ask.builder import TableQuery

    asked = TableQuery.of("flights", TABLES).group_by("origin", keys={"origin": ["EWR", "SFO"]}).aggregate(n=count())
    sfo, lga = (check(asked.having(f"origin = '{x}'").question, TABLES).undeclared for x in ("SFO", "LGA"))
    assert sfo == ()
    assert [note["code"] for note in lga] == ["undeclared-value"]


def test_hundreds_of_texts_among_many_keys_compare_few(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[SequenceMatcher[str]] = []
    ratio = SequenceMatcher.real_quick_ratio

    def counted(one: SequenceMatcher[str]) -> float:
        compared.append(one)
        return ratio(one)

    def asked(keys: list[str]) -> list[dict[str, object]]:
        tables = {"people": Table("people.csv", columns={"town": {"type": "text", "keys": keys}})}
        texts = ", ".join(f"'Comuna {i:03} de la Regiom'" for i in range(700))
        return list(
            check(parse(f"SELECT COUNT(*) AS n FROM people WHERE town IN ({texts})", tables), tables).undeclared
        )

    monkeypatch.setattr(SequenceMatcher, "real_quick_ratio", counted)
    notes = asked([f"Comuna {i:03} de la Region" for i in range(MOST_NEAR)])
    assert [note["code"] for note in notes] == ["undeclared-near"] * NAMED + ["undeclared-more"]
    assert (notes[0]["near"], notes[-1]["n"]) == ("Comuna 000 de la Region", 700 - NAMED)
    assert 0 < len(compared) <= NAMED * MOST_NEAR
    compared.clear()
    assert asked([f"Comuna {i:04}" for i in range(MOST_NEAR + 1)])[0]["code"] == "undeclared-value"
    assert not compared
