"""What a third attack on curators found: answers of other questions, rows of other people, words of other analysts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curador.accounting.events import PureLoss
from curador.curator.curator import Curator
from curador.curator.purchase import Request
from curador.curator.releases.release import Release
from curador.curator.study.file import Analyst
from curador.engines.sql_engine import SqlEngine
from curador.errors import CuradorError, InvalidParameter, NotPromised
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.tables.table import Table

X: Mapping[str, Any] = {"type": "integer", "bounds": [0, 9]}


def number(release: Release) -> float:
    assert isinstance(release.value, int)
    return release.value


# ---- a batch of a public table in a database -------------------------------------------------------------------------


def visits(folder: Path) -> Curator:
    with duckdb.connect(str(folder / "h.duckdb")) as made:
        made.execute("CREATE TABLE v AS SELECT CASE WHEN i < 1000 THEN 'A' ELSE 'B' END town FROM range(1007) t(i)")
        made.execute("CREATE TABLE towns AS SELECT * FROM (VALUES ('A', 'north'), ('B', 'south')) t(name, region)")
    of = f"duckdb:///{folder}/h.duckdb#"
    tables = {
        "v": Table(f"{of}v", columns={"town": "text"}),
        "towns": Table(f"{of}towns", public=True, columns={"name": "text", "region": "text"}),
    }
    return Curator(tables, budget=PureDP(100), ledger=folder / "x.db")


def counted_in(curator: Curator, region: str) -> TableQuery:
    return curator.table("v").join("towns", {"town": "name"}).where(f"towns.region = '{region}'").aggregate(n=count())


def test_a_batch_is_bought_each_time_if_one_of_its_questions_is(tmp_path: Path) -> None:
    curator = visits(tmp_path)
    single = {"all": curator.table("v").aggregate(n=count())}
    north, south = (curator.batch({"n": counted_in(curator, r), **single}, epsilon=1) for r in ("north", "south"))
    assert north.identity is south.identity is None
    assert curator.batch(single, epsilon=1).identity is not None
    for batch, true in ((north, 1000), (south, 7), (north, 1000)):
        made = curator.publish(batch)
        assert not made.repeated
        assert abs(number(made["n"]) - true) < 200
    assert curator.charge_count() == 3
    both = {region: counted_in(curator, region) for region in ("north", "south")}
    for named in (both, dict(reversed(both.items()))):
        made = curator.publish(curator.batch(named, epsilon=1))
        assert abs(number(made["north"]) - 1000) < 200
        assert abs(number(made["south"]) - 7) < 200


def test_what_is_bought_each_time_is_bought_once_under_a_key(tmp_path: Path) -> None:
    curator = visits(tmp_path)
    north, south = (counted_in(curator, region) for region in ("north", "south"))
    first, again = (curator.ask(north, epsilon=1, key="k") for _ in range(2))
    assert (again.columns, again.charge, again.repeated) == (first.columns, first.charge, True)
    with pytest.raises(CuradorError) as refused:
        curator.ask(south, epsilon=1, key="k")
    assert refused.value.code == "key-reused"
    assert curator.ask(north, epsilon=1, key="another").charge != first.charge
    batch = curator.batch({"north": north, "south": south}, epsilon=1)
    both = [curator.publish(batch, key="b") for _ in range(2)]
    assert both[1].repeated
    assert [made["south"].columns for made in both] == [both[0]["south"].columns] * 2
    assert curator.charge_count() == 3


def test_a_part_of_a_batch_is_read_back_for_its_own_question_alone(tmp_path: Path) -> None:
    curator = visits(tmp_path)
    asked = {town: curator.table("v").where(f"town = '{town}'").aggregate(n=count()) for town in ("A", "B")}
    batch = curator.batch(asked, epsilon=1)
    stored = curator.buy(batch).measurement
    assert set(batch.measurements(stored)) == {"A", "B"}
    first, second = json.loads(stored)["batch"]
    for wrong in ([second, first], [first], [first[1], second[1]]):
        with pytest.raises(CuradorError):
            batch.measurements(json.dumps({"batch": wrong}).encode())
    with pytest.raises(CuradorError):
        curator.batch(dict.fromkeys("AB", asked["A"]), epsilon=1).measurements(stored)


# ---- a curator that was opened with another source -------------------------------------------------------------------


def survey(folder: Path, file: str, rows: int) -> Curator:
    (folder / file).write_text("x\n" + "1\n" * rows)
    return Curator({"p": Table(folder / file, columns={"x": X})}, budget=PureDP(10), ledger=folder / "x.db")


@pytest.mark.parametrize("renewed", [True, False])
def test_a_curator_with_an_older_source_answers_nothing_until_it_is_opened_again(tmp_path: Path, renewed: bool) -> None:
    old, new = survey(tmp_path, "2026.csv", 1000), survey(tmp_path, "2027.csv", 7)
    if renewed:
        new.renew("p", because="others", epsilon=10)
    asked = old.ledger.count()
    calls: tuple[Callable[[], object], ...] = (
        lambda: old.sql("SELECT COUNT(*) AS n FROM p", epsilon=1),
        lambda: old.reload("p"),
        lambda: old.renew("p", because="others", epsilon=1),
    )
    for call in calls:
        with pytest.raises(InvalidParameter) as refused:
            call()
        assert refused.value.code == "source-changed"
    assert old.ledger.count() == asked
    release = new.sql("SELECT COUNT(*) AS n FROM p", epsilon=1)
    assert not release.repeated
    assert abs(number(release) - 7) < 200
    if not renewed:
        again = survey(tmp_path, "2026.csv", 1000)  # a known name with another source: the budget is kept
        assert abs(number(again.sql("SELECT COUNT(*) AS n FROM p", epsilon=1)) - 1000) < 200
        with pytest.raises(InvalidParameter):
            new.sql("SELECT COUNT(*) AS n FROM p", epsilon=2, because="once more")


def test_a_source_that_changes_while_rows_are_read_throws_the_answer_away(tmp_path: Path) -> None:
    old = survey(tmp_path, "2026.csv", 1000)
    held = [replace(found, source="file:elsewhere") for found in old.scopes.held(["p"]).values()]
    with pytest.raises(InvalidParameter) as refused:
        old.ledger.reserve("p", PureLoss(Fraction(1)), planned=held)
    assert refused.value.code == "planned-for-other-data"
    charge = old.ledger.reserve("p", PureLoss(Fraction(1))).id
    with pytest.raises(InvalidParameter) as refused:
        old.ledger.settle(charge, b"old people", planned=held)
    assert refused.value.code == "data-changed-while-read"


def test_the_order_in_which_tables_of_one_file_are_declared_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("x\n" + "1\n" * 100)

    def opened(*names: str) -> Curator:
        table = Table(tmp_path / "v.csv", columns={"x": X})
        return Curator(dict.fromkeys(names, table), budget=PureDP(1), ledger=tmp_path / "x.db")

    first = opened("a", "b")
    known = first.scopes.held(["a", "b"])
    for names in (("b", "a"), ("b",), ("a",), ("c", "b", "a"), ("a", "b")):
        found = opened(*names).scopes.held([name for name in names if name in known])
        assert found == {name: known[name] for name in found}
    first.sql("SELECT COUNT(*) AS n FROM b", epsilon=0.1)


# ---- a running count after a decision --------------------------------------------------------------------------------


@pytest.mark.parametrize("meanwhile", [False, True])
@pytest.mark.parametrize(("table", "unit"), [("v", "id: person"), ("towns", "row")])
def test_an_open_running_count_ends_with_a_decision_about_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, unit: str, meanwhile: bool
) -> None:
    (tmp_path / "v.csv").write_text("day,town\n" + "2020-01-01,A\n" * 100)
    (tmp_path / "towns.csv").write_text("name,region\nA,north\n")
    dated = {"day": {"type": "date", "bounds": ["2019-01-01", "2021-01-01"]}, "town": "text"}
    tables = {
        "v": Table(tmp_path / "v.csv", columns=dated),
        "towns": Table(tmp_path / "towns.csv", public=True, columns={"name": "text", "region": "text"}),
    }
    curator = Curator(tables, budget=PureDP(10), ledger=tmp_path / "x.db")
    joined = curator.table("v").join("towns", {"town": "name"})
    counts = [curator.running_count(q, "day", date(2020, 1, 1), 5, epsilon=1) for q in (joined, curator.table("v"))]
    for stream in counts:
        stream.next()

    def decide() -> None:
        curator.ledger.redeclare(table, unit, because="it was another")

    if meanwhile:  # while the rows are read
        real = SqlEngine.run

        def run(*given: Any) -> object:
            found = real(*given)
            decide()
            return found

        monkeypatch.setattr(SqlEngine, "run", run)
    else:
        decide()
    with pytest.raises(InvalidParameter) as refused:
        counts[0].next()
    assert refused.value.code == "unit-changed"
    with pytest.raises(NotPromised):  # a day that fails ends it
        counts[0].next()
    charged = curator.ledger.count()
    with pytest.raises(InvalidParameter) as refused:
        curator.running_count(joined, "day", date(2020, 1, 1), 5, epsilon=1)
    assert refused.value.code == "unit-changed"
    assert curator.ledger.count() == charged  # a new one is refused before it is paid for
    if table == "towns":
        counts[1].next()  # reads another table alone


# ---- who asked first, and why ----------------------------------------------------------------------------------------


def test_a_repeated_answer_keeps_the_reason_of_who_asks_and_shows_no_other(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("x\n" + "1\n" * 100)
    people = Table(tmp_path / "v.csv", columns={"x": X})
    analysts = {name: Analyst(PureDP(5)) for name in ("alice", "bob", "eve")}
    curator = Curator({"p": people}, budget=PureDP(20), ledger=tmp_path / "x.db", analysts=analysts)
    plan = curator.plan("SELECT COUNT(*) AS n FROM p", epsilon=2)
    curator.release(plan, Request(because="ALICE merges", analyst="alice"))
    curator.release(plan, Request(because="bob audits", analyst="bob"))
    again = curator.buy(plan, Request(because="bob audits again", analyst="bob", key="k"))
    owner = curator.buy(plan, Request(because="the owner looks"))
    eve = curator.buy(plan, Request(because="eve learns", analyst="eve", key="k"))
    stated = [bought.charge.note["because"] for bought in (again, owner, eve)]
    assert stated == ["bob audits", "the owner looks", "eve learns"]  # a record says what its own charge was bought for
    assert again.because == "bob audits again"
    for name in ("bob", "eve"):
        for charge in curator.history(name):
            assert "alice" not in f"{charge} {dict(charge.note)}".lower()
            assert charge.note["receiver"] == charge.receiver == name
    reasons = [(c.receiver, c.note["because"]) for c in curator.history()]
    assert reasons[:2] == [("alice", "ALICE merges"), ("bob", "bob audits")]
    assert ("eve", "eve learns") in reasons
    curator.ledger.verify()
    curator.close()
    reopened = Curator({"p": people}, budget=PureDP(20), ledger=tmp_path / "x.db", analysts=analysts)
    assert [(c.receiver, c.note["because"]) for c in reopened.history()] == reasons


# ---- questions of any length -----------------------------------------------------------------------------------------


def test_a_note_is_short_however_long_the_question_is(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("g\na\n")
    people = Table(tmp_path / "v.csv", columns={"g": "text"})
    curator = Curator({"p": people}, budget=PureDP(1), ledger=tmp_path / "x.db")
    keys = [f"{i:05d}" + "x" * 100 for i in range(2000)]
    grouped = curator.table("p").group_by("g", keys={"g": keys}).aggregate(n=count())
    listed = " OR ".join(f"g = '{key}'" for key in keys[:150])
    curator.release(curator.plan(grouped, epsilon="1e-9"))
    curator.sql(f"SELECT COUNT(*) AS n FROM p WHERE {listed}", epsilon="1e-9")
    batch = curator.batch({"n" * 50 + str(i): curator.table("p").aggregate(n=count()) for i in range(60)}, epsilon=0.1)
    curator.publish(batch)
    with sqlite3.connect(tmp_path / "x.db") as database:
        reserved = ('"kind":"reserve"',)
        found = database.execute("SELECT length(body) FROM entry WHERE instr(body, ?)", reserved).fetchall()
    database.close()
    assert len(found) == 3
    assert max(found) < (5000,)
    asked = curator.history()[0].note["asked"]
    assert isinstance(asked, Mapping)
    assert asked["characters"] > 200_000
    assert curator.release(curator.plan(grouped, epsilon="1e-9")).repeated
    with pytest.raises(InvalidParameter, match="at most"):
        curator.sql("SELECT COUNT(*) AS n FROM p", epsilon="0.1", because="x" * 2001)
