"""What a second attack on curators found: other units, renewals, copies and interrupts meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.purchase import Request, fingerprint
from curador.errors import CuradorError, InvalidParameter, QuestionRefused
from curador.privacy import PureDP
from curador.query.tables.table import Table
from tests.ledger.interrupts import Interrupt, interrupted

COUNT = "SELECT COUNT(*) AS n FROM t"
BY_G = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
JOINED = "SELECT COUNT(*) AS n FROM t JOIN regions ON t.id = regions.id WHERE r = 'n'"
X = {"type": "integer", "bounds": [0, 3]}
G = {"type": "text", "keys": ["a", "b"]}


def file_of(folder: Path, **declared: Any) -> Table:
    (folder / "t.csv").write_text("id,g\n" + "".join(f"{i // 5},a\n" for i in range(100)))
    return Table(folder / "t.csv", columns={"id": "integer", "g": G}, **declared)


def frame_of(folder: Path, **declared: Any) -> Table:
    return Table(pa.table({"id": [i // 5 for i in range(100)]}), columns={"id": "integer"}, **declared)


@pytest.mark.parametrize("source", [file_of, frame_of])
def test_a_curator_of_another_unit_answers_nothing_after_the_decision(
    tmp_path: Path, source: Callable[..., Table]
) -> None:
    rows = Curator({"t": source(tmp_path)}, budget=PureDP(10), ledger=tmp_path / "x.db")
    rows.sql(COUNT, epsilon=1)
    rows.ledger.redeclare("t", "id: id", because="people have many rows")
    people = Curator(
        {"t": source(tmp_path, unit="id", contribution=(1, 5))}, budget=PureDP(10), ledger=tmp_path / "x.db"
    )
    people.sql(COUNT, epsilon=1)
    with pytest.raises(InvalidParameter) as refused:
        rows.sql(COUNT, epsilon=1, fresh=True)
    assert refused.value.code == "unit-changed"


def test_a_table_that_is_not_public_any_more_is_not_read_for_free(tmp_path: Path) -> None:
    regions = Table(pa.table({"id": [0, 1], "r": ["n", "s"]}), columns={"id": "integer", "r": "text"}, public=True)
    tables = {"t": file_of(tmp_path), "regions": regions}
    curator = Curator(tables, budget=PureDP(10), ledger=tmp_path / "x.db")
    plan = curator.plan(JOINED, epsilon=1)
    curator.release(plan)
    curator.ledger.redeclare("regions", "row", because="it lists people")
    for epsilon in (1, 2):  # also what was planned, and answered, before
        with pytest.raises(InvalidParameter) as refused:
            curator.release(plan if epsilon == 1 else curator.plan(JOINED, epsilon=epsilon), Request("again"))
        assert refused.value.code == "unit-changed"


@pytest.mark.parametrize("name", ["PEOPLE", "Main.people"])
def test_a_table_of_a_file_is_the_same_in_any_case(tmp_path: Path, name: str) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("CREATE TABLE People AS SELECT 1 AS x FROM range(100)")
    of = f"duckdb:///{tmp_path}/x.duckdb#"
    tables = {"a": Table(f"{of}people", columns={"x": X}), "b": Table(f"{of}{name}", columns={"x": X})}
    with pytest.raises(InvalidParameter) as refused:
        Curator(tables, budget=dict.fromkeys(tables, PureDP(1)), ledger=tmp_path / "x.db")
    assert refused.value.code == "table-read-twice"


def test_a_server_that_knows_its_table_can_be_asked_after_a_renewal(tmp_path: Path) -> None:
    def opened() -> Curator:
        return Curator({"t": file_of(tmp_path)}, budget={"t": PureDP(10)}, ledger=tmp_path / "x.db")

    one = opened()
    one.scopes.recognise({"t": ["server:1#t"]})
    one.renew("t", epsilon=10, because="new people")
    one.scopes.recognise({"t": ["server:1#t"]})
    other = opened()
    other.scopes.recognise({"t": ["server:1#t"]})
    found = other.ledger.registered("", "server:1#t")
    assert found is not None
    assert found.scope == "t, renewed 1"


def test_a_view_of_rows_that_were_renewed_is_renewed_with_them(tmp_path: Path) -> None:
    """Known by the server alone, as a view is: one budget for all tables is two after a renewal of one."""
    for name in "tv":
        (tmp_path / f"{name}.csv").write_text("x\n" + "1\n" * 10)

    def opened() -> Curator:
        tables = {name: Table(tmp_path / f"{name}.csv", columns={"x": X}) for name in "vt"}
        made = Curator(tables, budget=PureDP(10), ledger=tmp_path / "x.db")
        made.scopes.recognise({"v": ["server:1#t"], "t": ["server:1#t", "server:1#u"]})
        return made

    one = opened()
    one.renew("t", epsilon=10, because="new people")
    with pytest.raises(InvalidParameter) as refused:
        opened()
    assert refused.value.code == "table-read-twice"
    one.renew("t", "v", epsilon=10, because="new people")
    assert opened().scopes.roots() == ("t, renewed 2",)


def test_a_copy_of_rows_that_were_renewed_while_it_was_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> Curator:
        return Curator(
            {"t": file_of(tmp_path, unit="id", contribution=(1, 1))}, budget=PureDP(10), ledger=tmp_path / "x.db"
        )

    one, other = opened(), opened()
    engine = one._engines.of({"t"})
    plain = engine.prepare

    def prepare(*given: Any) -> Any:
        made = plain(*given)
        other.renew("t", epsilon=10, because="new people")
        return made

    monkeypatch.setattr(engine, "prepare", prepare)
    with suppress(CuradorError):
        one.prepare("t", ["g"])
    with pytest.raises(QuestionRefused):
        one.plan(BY_G, epsilon=1, prepared=True)
    assert one.plan(BY_G, epsilon=1).prepared is None


def test_an_interrupted_question_is_nobodys_lease(tmp_path: Path) -> None:
    curator = Curator({"t": file_of(tmp_path)}, budget=PureDP(1000), ledger=tmp_path / "x.db")
    plan = curator.plan(COUNT, epsilon="0.5")
    curator.release(plan)
    asked = [0]

    def ask() -> object:
        return curator.sql(COUNT, epsilon=1 - asked[0] / 10**6)

    files = ("/curator/purchase.py",)
    count = interrupted(ask, None, files)
    left = []
    for at in range(1, count + 1):
        asked[0] += 1
        with suppress(Interrupt, CuradorError):
            interrupted(ask, at, files)
        plan = curator.plan(COUNT, epsilon=1 - asked[0] / 10**6)
        named = fingerprint(plan, curator.scopes.held(["t"]))
        if curator.ledger.running(named) is not None:
            left.append(at)
    assert left == []
