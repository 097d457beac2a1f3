"""The builder and SQL: two views of one question."""

from __future__ import annotations

import pytest

from curador import Table
from curador.errors import InvalidParameter
from curador.server.console.questions.built import (
    LONGEST_REWRITTEN,
    Built,
    Condition,
    Measured,
    built_of,
    in_ranges,
    read_parts,
)

TABLES = {
    "people": Table(
        "people.csv",
        columns={
            "sex": {"type": "text", "keys": ["F", "M"]},
            "age": {"type": "integer", "bounds": [0, 100]},
            "pay": {"type": "real", "bounds": [0, 5000], "step": 0.5},
            "born": {"type": "date", "bounds": ["1900-01-01", "2020-12-31"]},
            "odd name": "boolean",
        },
    )
}


@pytest.mark.parametrize(
    "built",
    [
        Built("people"),
        Built("people", (), ("sex", "odd name"), (Measured("count", "", "n"), Measured("mean", "pay", "m"))),
        Built("people", (Condition("age", ">=", "18"), Condition("pay", "<", "10.5"), Condition("sex", "<>", "it's"))),
        Built(
            "people",
            (Condition("born", ">", "1990-05-01"), Condition("age", "IS NOT NULL"), Condition("pay", "IS NULL")),
        ),
        Built("people", (Condition("odd name", "=", "true"),), (), (Measured("quantiles", "age", "a"),)),
        Built("people", (), (), tuple(Measured(f, "age", f) for f in ("sum", "std", "count_distinct"))),
    ],
)
def test_what_is_built_is_read_back(built: Built) -> None:
    sql = built.sql(TABLES)
    found = built_of(sql, TABLES)
    assert found is not None
    assert {(f.column, f.op, f.value.lower()) for f in found.filters} == {
        (f.column, f.op, f.value.lower()) for f in built.filters
    }
    assert (found.table, found.groups) == (built.table, built.groups)
    assert [m.shown for m in found.measures] == [m.shown for m in built.measures]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people WHERE age > 3 OR sex = 'F'",
        "SELECT SUM(pay * 2) AS s FROM people",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 3",
        "SELECT QUANTILE(age, 0.9) AS q FROM people",
        "SELECT COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS m, MEDIAN(pay) AS d FROM people",
    ],
)
def test_more_than_the_builder_can_say_is_not_shown_there(sql: str) -> None:
    assert built_of(sql, TABLES) is None


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"table": "nowhere"}, "table"),
        ({"measure-0-function": "mean"}, "measure-0-column"),
        ({"where-0-column": "age", "where-0-op": ">", "where-0-value": "1 OR 1=1"}, "where-0-value"),
        ({"where-0-column": "age", "where-0-op": "; DROP", "where-0-value": "1"}, "where-0-column"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_field(fields: dict[str, str], place: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        read_parts({"table": "people", **fields}).sql(TABLES)
    assert refusal.value.facts["field"] == place


def test_a_long_text_is_not_looked_through_for_every_from() -> None:
    """Patterns try every FROM with every GROUP BY: 20 kB kept a server busy for seconds, for nothing."""
    tables = {"people": Table("people.csv", columns={"pay": {"type": "real", "bounds": [0, 10]}})}
    short = "SELECT pay, COUNT(*) AS n FROM people GROUP BY pay"
    assert "BIN(" in in_ranges(short, tables)
    assert in_ranges(short.replace("FROM", " " * LONGEST_REWRITTEN + "FROM"), tables) == ""
