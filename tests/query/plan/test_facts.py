"""Notes of a plan: rows that are in no group, counts that are public, and what limits cut; from declarations alone."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.privacy import ApproxDP, PureDP
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.tables.table import Table
from curador.show.explain import LIMITED, explain, note_text

COLUMNS: dict[str, object] = {
    "sex": {"type": "text", "keys": ["F", "M"], "nullable": False},
    "channel": {"type": "text", "keys": ["Web", "App"]},
    "free": "text",
    "day": {"type": "integer", "bounds": [1, 7]},
    "month": {"type": "integer", "bounds": [1, 12], "nullable": False},
    "ok": {"type": "boolean", "nullable": False},
    "carrier": {"type": "text", "keys": ["AA", "UA"]},
}
PLANES: dict[str, object] = {
    "carrier": "text",
    "maker": {"type": "text", "keys": ["Airbus", "Boeing"]},
    "seats": {"type": "integer", "bounds": [1, 9], "nullable": False},
}
TABLES = {
    "t": Table("no-such.csv", columns=COLUMNS, size=1000),
    "moved": Table("no-such.csv", columns=COLUMNS, size=1000, neighbors="replace"),
    "visits": Table(
        "no-such.csv",
        unit="id",
        size=500,
        contribution={"groups": 3, "rows": 20},
        columns={"id": "integer", "pay": {"type": "integer", "bounds": [0, 9]}},
    ),
    "planes": Table("no-such.csv", columns=PLANES, public=True),
}
JOINED = "SELECT p.{0}, COUNT(*) AS n FROM t {1} JOIN planes p ON t.carrier = p.carrier GROUP BY p.{0}"


def planned(text: str) -> Plan:
    return plan(check(parse(text, TABLES), TABLES), ApproxDP(1, 1e-6))


def noted(text: str, code: str) -> list[dict[str, Any]]:
    return [note for note in planned(text).facts["notes"] if note["code"] == code]


def by(group: str, where: str = "TRUE", more: str = "") -> str:
    condition = "" if where == "TRUE" else f"WHERE {where}"
    return f"SELECT {group} AS g, COUNT(*) AS n FROM t {condition} GROUP BY g {more}"


@pytest.mark.parametrize(
    ("text", "missing", "other"),
    [
        (by("channel"), ["g"], ["g"]),
        (by("sex"), [], ["g"]),  # never NULL, and a row may hold what is no key
        (by("day"), ["g"], []),
        (by("day // 2"), ["g"], []),
        (by("NULLIF(ok, TRUE)"), ["g"], []),
        (by("COALESCE(channel, '?')"), [], ["g"]),
        (by("CASE WHEN channel = 'Web' THEN 'Web' END"), ["g"], []),
        (by("CASE WHEN ok THEN channel ELSE 'other' END"), ["g"], ["g"]),
        (by("CASE WHEN ok THEN day ELSE 0 END"), ["g"], []),
        (by("BIN(month, 1, 6)"), [], ["g"]),
        (by("BIN(day, 1, 4, 7)"), ["g"], []),
        (by("channel", "channel <> 'x'"), [], ["g"]),
        (JOINED.format("maker", "LEFT"), ["maker"], ["maker"]),
        (JOINED.format("seats", "LEFT"), ["seats"], []),
        ("SELECT channel, day, COUNT(*) AS n FROM t GROUP BY ROLLUP (channel, day)", ["channel", "day"], ["channel"]),
    ],
)
def test_rows_that_may_be_in_no_group_are_said(text: str, missing: list[str], other: list[str]) -> None:
    """Found by an analyst: a share of 42.9 % where SQL says 37.8, and 16 % of a LEFT JOIN's rows, without a word."""
    assert noted(text, "without-keys") == [{"code": "without-keys", "missing": missing, "other": other}]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM t",
        by("free"),  # selected privately: NULL is a group there
        by("month"),
        by("month // 3"),
        by("ok"),
        by("channel IS NULL"),
        by("CASE WHEN channel = 'Web' THEN 'Web' ELSE 'other' END"),
        by("CASE WHEN channel IN ('Web', 'App') THEN channel ELSE 'other' END"),
        by("CASE WHEN day > 3 THEN day ELSE 0 END"),
        by("COALESCE(day, 1)"),
        by("BIN(month, 1, 6, 12)"),
        by("day", "day IS NOT NULL AND ok"),
        by("day // 2", "day BETWEEN 2 AND 5"),
        by("channel", "channel IN ('Web', 'App') AND ok"),
        by("channel", "channel = 'Web'"),
        JOINED.format("seats", ""),
    ],
)
def test_where_every_row_is_in_a_group_nothing_is_said(text: str) -> None:
    assert noted(text, "without-keys") == []


def test_the_note_on_groups_is_said_in_explain_and_beside_the_numbers_once() -> None:
    data = pa.table({"channel": ["Web", "App", None, "?"] * 20, "day": [1, None, 3, 4] * 20})
    table = Table(data, columns={name: COLUMNS[name] for name in data.column_names})
    text = "SELECT channel, day, COUNT(*) AS n FROM t GROUP BY ROLLUP (channel, day)"
    said = (
        "A row is in no group, and in no total of groups, if its channel is missing or is none of the declared values"
    )
    said += " or"
    with closing(Curator({"t": table}, budget=PureDP(100))) as curator:
        assert " ".join(str(curator.explain(text, epsilon=1)).split()).count(f"{said} its day is missing.") == 1
        found = curator.sql(text, epsilon=1)
        assert " ".join(str(found).split()).count(f"{said} its day is missing.") == 1
        assert said in found.report().html
        assert "si le falta channel o no es uno de los valores declarados o le falta day." in " ".join(
            str(curator.sql(text, epsilon=1, language="es")).split()
        )


def test_a_missing_value_of_a_column_that_is_never_null_is_in_no_group() -> None:
    """It was counted in the group of the first key, where nobody looks for it."""
    data = pa.table({"sex": ["F"] * 10 + [None] * 30 + ["M"] * 20})
    with closing(Curator({"t": Table(data, columns={"sex": COLUMNS["sex"]})}, budget=PureDP(10**6))) as curator:
        found = curator.sql("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", epsilon=1000, because="x", override=True)
        assert found["n"] == (10, 20)


# ---- public counts ---------------------------------------------------------------------------------------------------


def test_a_count_that_is_public_says_so_before_its_price() -> None:
    text = "SELECT COUNT(*) AS n FROM t"
    (note,) = noted(text, "public-count")
    assert note == {"code": "public-count", "outputs": "n", "size": 1000}
    assert "the table declares 1,000" in note_text(note)
    assert planned(text).facts["notes"][0] == note
    assert noted("SELECT COUNT(DISTINCT id) AS people FROM visits", "public-count")
    for other in (
        "SELECT COUNT(*) AS n FROM moved",  # free already
        "SELECT COUNT(*) AS n FROM visits",  # its size is a number of units
        "SELECT COUNT(*) AS n FROM t WHERE ok",
        "SELECT COUNT(day) AS n FROM t",
        "SELECT ok, COUNT(*) AS n FROM t GROUP BY ok",
        "SELECT AVG(day) AS n FROM t",
    ):
        assert noted(other, "public-count") == []


# ---- what limits cut -------------------------------------------------------------------------------------------------


def test_what_is_clipped_stands_first_and_names_the_setting() -> None:
    """Found by an analyst: 41 ± 0.4 for 83, and the note stood last, behind a star."""
    text = "SELECT AVG(n) AS m FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id) x"
    notes = planned(text).facts["notes"]
    assert notes[0] == {"code": "clipped-per-unit", "rows": 60, "unit": "id"}
    bullets = explain(planned(text).facts).split("\n* ")[1:]
    assert "clipped to what 60 rows can give (contribution)" in " ".join(bullets[0].split())
    assert "`limits` measures" in " ".join(bullets[1].split())
    plain = planned("SELECT SUM(pay) AS s FROM visits").facts["notes"]
    assert [note["code"] for note in plain[:2]] == ["rows-left-out", "covers"]
    assert not {note["code"] for note in planned(by("ok")).facts["notes"]} & set(LIMITED)
    assert "`limits`" not in explain(planned(by("ok")).facts)
    data = pa.table({"id": [i % 30 for i in range(3000)]})
    held = Table(data, unit="id", columns={"id": "integer"}, contribution={"groups": 3, "rows": 20})
    with closing(Curator({"visits": held}, budget=PureDP(100))) as curator:
        release = curator.sql(text, epsilon=5, because="a test")
        assert "clipped to what 60 rows can give" in " ".join(str(release).split())
        assert 'class="warn">What is counted or added up of one' in release.report().html
