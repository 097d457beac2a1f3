"""Joins of people: ids of every size are found, and what a join leaves out is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.curator.curator import Curator
from curador.privacy import ApproxDP
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table

IDS = [-(2**63), -(2**62) - 1, -5, 0, 7, 2**62 + 1, 2**63 - 1]
X: dict[str, Any] = {"type": "integer", "bounds": [0, 9]}


@pytest.fixture
def hashed() -> Curator:
    """Two rows of each of seven people, and a row beside of the first five; ids as 64-bit hashes are."""
    t = pa.table({"id": pa.array([i for i in IDS for _ in range(2)], pa.int64()), "x": [1] * 14})
    b = pa.table({"id": pa.array(IDS[:5], pa.int64()), "y": [2] * 5})
    own: dict[str, Any] = {"unit": "id", "contribution": (1, 5)}
    tables = {n: Table(Frame(d), columns={"id": "integer", v: X}, **own) for n, d, v in (("t", t, "x"), ("b", b, "y"))}
    return Curator(tables, budget=ApproxDP(10**6, 1e-3))


def told(curator: Curator, sql: str) -> tuple[int, set[str]]:
    found = curator.sql(sql, epsilon=10**4, because="a test", override=True)
    return int(str(found.value)), {note["code"] for note in found.remarks}


@pytest.mark.parametrize(
    ("sql", "n"),
    [
        ("SELECT COUNT(*) AS n FROM t JOIN b ON t.id = b.id", 10),
        ("SELECT COUNT(*) AS n FROM t JOIN (SELECT id, SUM(y) AS s FROM b GROUP BY id) o ON t.id = o.id", 10),
        (
            "SELECT COUNT(*) AS n FROM (SELECT id, SUM(x) AS s FROM t GROUP BY id) a "
            "JOIN (SELECT id, SUM(y) AS s FROM b GROUP BY id) o USING (id)",
            5,
        ),
        (
            "SELECT COUNT(*) AS n FROM t LEFT JOIN (SELECT id, SUM(y) AS s FROM b GROUP BY id) o ON t.id = o.id "
            "WHERE o.id IS NULL",
            4,
        ),
        ("SELECT COUNT(*) AS n FROM t LEFT JOIN b ON t.id = b.id WHERE b.id IS NULL", 4),
        ("SELECT COUNT(*) AS n FROM t LEFT JOIN b ON t.id = b.id WHERE b.id IS NOT NULL", 10),
        ("SELECT COUNT(*) AS n FROM t LEFT JOIN b ON t.id = b.id AND t.x = b.y WHERE b.id IS NULL", 14),
        ("SELECT COUNT(*) AS n FROM t WHERE id IS NOT NULL", 14),
        ("SELECT COUNT(id) AS n FROM t", 14),
        ("SELECT COUNT(b.id) AS n FROM t LEFT JOIN b ON t.id = b.id", 10),
        ("SELECT COUNT(b.id) AS n FROM t JOIN b ON t.id = b.id", 10),
    ],
)
def test_people_are_found_whatever_their_ids_are(hashed: Curator, sql: str, n: int) -> None:
    assert told(hashed, sql)[0] == n


def test_a_public_table_whose_keys_repeat_is_joined_once_and_said_so() -> None:
    t, p = (
        pa.table({"k": ["a", "b", "b", "c"], "id": [1, 2, 3, 4]}),
        pa.table({"k": ["a", "b", "b"], "size": [3, 5, 9]}),
    )
    columns: dict[str, Any] = {"k": "text", "id": "integer"}
    units: list[tuple[dict[str, Any], int]] = [({}, 3), ({"unit": "id", "contribution": (1, 5)}, 5)]
    for own, n in units:
        public = Table(Frame(p), columns={"k": "text", "size": X}, public=True)
        curator = Curator({"t": Table(Frame(t), columns=columns, **own), "p": public}, budget=ApproxDP(10**6, 1e-3))
        counted, notes = told(curator, "SELECT COUNT(*) AS n FROM t JOIN p ON t.k = p.k")
        assert counted == n
        assert ("public-join-once" in notes) == (n == 3)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(LEAST(n, 9)) AS s FROM (SELECT t.id, COUNT(*) AS n FROM t JOIN b ON t.id = b.id GROUP BY t.id) u",
        "SELECT COUNT(*) AS s FROM t WHERE id IN (SELECT t.id FROM t JOIN b ON t.id = b.id GROUP BY t.id)",
    ],
)
def test_a_join_inside_a_query_says_what_it_leaves_out(hashed: Curator, sql: str) -> None:
    assert "joined-inside" in told(hashed, sql)[1]


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_an_id_means_the_same_signed_or_not(kind: str, tmp_path: Path) -> None:
    """2**64 - 1 there was read as -1 here: one person moved two counts, and paid for one."""
    kinds = {"signed": ([-1, 5], pa.int64()), "unsigned": ([2**64 - 1, 5], pa.uint64())}
    tables = {}
    for name, (ids, type_) in kinds.items():
        table = pa.table({"id": pa.array(ids, type_), "x": [1, 2]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
        source = Frame(table) if kind == "frame" else tmp_path / f"{name}.parquet"
        tables[name] = Table(source, unit="id", columns={"id": "integer", "x": X}, contribution=(1, 5))
    curator = Curator(tables, ApproxDP(10**6, 1e-3))
    for sql, n in (
        ("SELECT COUNT(*) AS n FROM signed s JOIN unsigned u ON s.id = u.id", 1),
        ("SELECT COUNT(*) AS n FROM signed s LEFT JOIN unsigned u ON s.id = u.id WHERE u.id IS NULL", 1),
        ("SELECT COUNT(*) AS n FROM signed WHERE id IN (SELECT id FROM unsigned)", 1),
        ("SELECT COUNT(*) AS n FROM unsigned WHERE id NOT IN (SELECT id FROM signed)", 0),
        ("SELECT COUNT(DISTINCT id) AS n FROM (SELECT id FROM signed UNION ALL SELECT id FROM unsigned) u", 2),
        ("SELECT COUNT(DISTINCT id) AS n FROM unsigned", 1),
        ("SELECT SUM(s) AS n FROM (SELECT id, SUM(x) AS s FROM unsigned GROUP BY id) u", 2),
    ):
        assert told(curator, sql)[0] == n, sql


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_hashes_are_people_where_they_are_declared_as_text(kind: pa.DataType) -> None:
    ids = [5, 2**63 - 1] if kind == pa.int64() else [5, 2**63 + 7, 2**64 - 1]
    table = pa.table({"id": pa.array([i for i in ids for _ in range(2)], kind), "x": [1] * 2 * len(ids)})
    own: dict[str, Any] = {"unit": "id", "columns": {"id": "text", "x": X}, "contribution": (1, 5)}
    curator = Curator(
        {"a": Table(Frame(table), **own), "b": Table(Frame(table.slice(2)), **own)}, ApproxDP(10**6, 1e-3)
    )
    assert told(curator, "SELECT COUNT(DISTINCT id) AS n FROM a")[0] == len(ids)
    assert told(curator, "SELECT COUNT(*) AS n FROM a JOIN b ON a.id = b.id")[0] == 4 * (len(ids) - 1)


def test_no_refusal_depends_on_a_type_that_was_taken_from_the_rows() -> None:
    """Of pandas' columns one id of 2**63 and more makes all of them unsigned."""
    beside = pd.DataFrame({"id": [1, 2, 3], "y": [5, 6, 7]})
    own: dict[str, Any] = {"unit": "id", "contribution": (1, 3)}
    for ids in ([1, 2, 3], [1, 2, 3, 2**63 + 5]):
        frame = pd.DataFrame({"id": ids, "x": [1] * len(ids)})
        sources = (("t", frame, "x"), ("b", beside, "y"))
        tables = {n: Table(d, columns={"id": "integer", v: X}, **own) for n, d, v in sources}
        assert told(Curator(tables, ApproxDP(10**6, 1e-3)), "SELECT COUNT(*) AS n FROM t JOIN b ON t.id = b.id")[0] == 3


@pytest.fixture
def visits() -> Curator:
    """Person p has 2p visits of cost 5, in two months; a person's visits count up to 8, and a person once."""
    rows = [(p, 5, 1 + i % 2) for p in range(1, 21) for i in range(2 * p)]
    pid, cost, month = (pa.array(list(column)) for column in zip(*rows, strict=True))
    columns: dict[str, Any] = {"pid": "integer", "cost": X, "m": {"type": "integer", "bounds": [1, 2]}}
    visited = Table(
        Frame(pa.table({"pid": pid, "cost": cost, "m": month})), unit="pid", contribution=(2, 4), columns=columns
    )
    people = Frame(pa.table({"person": list(range(1, 21))}))
    return Curator(
        {"visits": visited, "people": Table(people, unit="person", contribution=(1, 1), columns={"person": "integer"})},
        budget=ApproxDP(10**6, 1e-3),
    )


MONTHS = "(SELECT pid, m, COUNT(*) AS n FROM visits GROUP BY pid, m) a"


@pytest.mark.parametrize(
    ("sql", "note"),
    [
        (f"SELECT SUM(most) AS s FROM (SELECT pid, MAX(n) AS most FROM {MONTHS} GROUP BY pid) t", "clipped-per-unit"),
        (
            f"SELECT COUNT(*) AS s FROM (SELECT pid, SUM(n) AS k FROM {MONTHS} GROUP BY pid) t WHERE k > 6",
            "clipped-per-unit",
        ),
        (
            "SELECT COUNT(*) AS s FROM people JOIN (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid "
            "HAVING COUNT(*) * 2 > 20) t ON people.person = t.pid",
            "clipped-beside",
        ),
        (
            "SELECT SUM(k) AS s FROM (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid UNION ALL "
            "SELECT person, 1 FROM people) u",
            "clipped-beside",
        ),
        (
            "SELECT COUNT(*) AS s FROM people WHERE person IN "
            "(SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) * 2 > 6)",
            "clipped-beside",
        ),
        ("SELECT COUNT(*) AS s FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t WHERE n > 20", ""),
        ("SELECT COUNT(*) AS s FROM people WHERE person IN (SELECT pid FROM visits WHERE cost > 3)", ""),
    ],
)
def test_what_is_clipped_of_a_person_is_said_wherever_it_is_counted(visits: Curator, sql: str, note: str) -> None:
    _, notes = told(visits, sql)
    assert {code for code in notes if code.startswith("clipped")} == ({note} if note else set())


def test_what_is_said_to_be_clipped_is_what_is_counted(visits: Curator) -> None:
    inner = "SELECT person FROM people GROUP BY person HAVING COUNT(*) + 1 > 1"
    sql = f"SELECT SUM(n) AS s FROM (SELECT pid, COUNT(*) AS n FROM visits WHERE pid IN ({inner}) GROUP BY pid) t"
    found = visits.sql(sql, epsilon=10**4, because="a test", override=True)
    assert [note["rows"] for note in found.remarks if note["code"] == "clipped-per-unit"] == [8]


@pytest.mark.parametrize(
    ("having", "n"), [("COUNT(*) * 2 > 6", 19), ("SUM(cost) / COUNT(*) < 6", 4), ("COUNT(*) > 6", 17)]
)
def test_lists_of_people_are_clipped_as_their_own_table_says(visits: Curator, having: str, n: int) -> None:
    """They were by that of the table which is asked about people, of whom each has one row there."""
    listed = f"SELECT pid FROM visits GROUP BY pid HAVING {having}"
    assert told(visits, f"SELECT COUNT(*) AS n FROM people WHERE person IN ({listed})")[0] == n
    assert told(visits, f"SELECT COUNT(*) AS n FROM ({listed}) t")[0] == n


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(*) AS n FROM s WHERE id IN (SELECT {one})", True),
        ("SELECT SUM(n) AS n FROM (SELECT id, COUNT(*) AS n FROM (SELECT {one}) i GROUP BY id) u", True),
        ("SELECT COUNT(*) AS n FROM s WHERE id IN (SELECT v.id FROM v JOIN p ON v.x = p.m WHERE k = 'b')", False),
    ],
)
def test_a_public_table_that_is_joined_once_inside_is_said_so(sql: str, said: bool) -> None:
    one = "t.id FROM (SELECT id, MAX(x) AS m FROM v GROUP BY id) t JOIN p ON t.m = p.m WHERE k = 'b'"
    own: dict[str, Any] = {"unit": "id", "contribution": (1, 5)}
    curator = Curator(
        {
            "v": Table(
                Frame(pa.table({"id": [1, 1, 2, 3], "x": [1, 0, 1, 2]})), columns={"id": "integer", "x": X}, **own
            ),
            "s": Table(Frame(pa.table({"id": [1, 2, 3]})), columns={"id": "integer"}, **own),
            "p": Table(
                Frame(pa.table({"m": [1, 1, 2], "k": ["a", "b", "c"]})),
                public=True,
                columns={"m": "integer", "k": "text"},
            ),
        },
        budget=ApproxDP(10**6, 1e-3),
    )
    assert ("public-join-once" in told(curator, sql.format(one=one))[1]) == said
