"""Prepared copies that outlive a curator: attached for the tables that are asked, and only of their present rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from threading import Barrier, Event, Thread
from typing import Any

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.prepared import StoredCopies, _owner_only, prepare_stored
from curador.errors import InvalidParameter, QuestionRefused
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.tables.table import Table

STUDY = """
[budget]
epsilon = 3

[tables.a]
source = "a.csv"
unit = "pid"
columns = { pid = "integer", town = { type = "text", keys = ["Lugo"] } }

[tables.visits_a]
source = "a.csv"
unit = "pid"
contribution = { groups = 1, rows = 1 }
columns = { pid = "integer", town = { type = "text", keys = ["Lugo"] } }

[tables.towns]
source = "towns.csv"
public = true
columns = { town = "text" }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "a.csv").write_text("pid,town\n" + "".join(f"{i},Lugo\n" for i in range(50)))
    (tmp_path / "towns.csv").write_text("town\nLugo\n")
    return tmp_path / "study.toml"


@pytest.fixture
def curator(study: Path) -> Iterator[Curator]:
    opened = Curator(study)
    yield opened
    opened.close()


def copies_of(curator: Curator) -> StoredCopies:
    assert curator.copies is not None
    return curator.copies


def test_copies_are_attached_for_the_tables_that_are_asked_about_only(study: Path, curator: Curator) -> None:
    """Also where the name of one table is a part of another's; and once."""
    for table in ("a", "visits_a"):
        prepare_stored(curator, table, ["town"])
    other = Curator(study)
    attached: list[str] = []
    other._use = lambda prepared, known: attached.append(prepared.table)  # type: ignore[method-assign]
    for _ in range(2):
        other.plan("SELECT town, COUNT(*) AS n FROM visits_a GROUP BY town", epsilon=1)
    assert attached == ["visits_a"]
    other.close()


def test_only_copies_of_the_present_rows_are_found(study: Path, curator: Curator) -> None:
    copies = copies_of(curator)
    assert not copies
    made = prepare_stored(curator, "a", ["town"])
    assert copies
    assert [p.place for p in copies.for_table("a")] == [str(study.parent / made.prepared.place)]
    assert copies.for_table("visits_a") == []
    curator.reload("a")
    assert copies.for_table("a") == []
    prepare_stored(curator, "a")
    assert [p.group_by for p in copies.for_table("a")] == [()]  # the copy of the old rows is gone
    assert not (study.parent / made.prepared.place).exists()


def test_a_copy_that_is_removed_is_returned(study: Path, curator: Curator) -> None:
    made = prepare_stored(curator, "a", ["town"])
    assert made.in_file
    assert copies_of(curator).remove("a") == [made]
    assert copies_of(curator).remove("a") == []
    assert list(study.parent.glob("*.prepared")) == []


@pytest.mark.parametrize("table", ["towns", "nowhere"])
def test_only_private_tables_are_prepared(study: Path, curator: Curator, table: str) -> None:
    with pytest.raises(InvalidParameter, match="not a private table"):
        prepare_stored(curator, table)


def test_copies_are_kept_beside_a_study_file(study: Path) -> None:
    from_python = Curator({"a": Curator(study, ledger="memory:").tables["a"]}, PureDP(1))
    assert from_python.copies is None
    with pytest.raises(InvalidParameter, match="next to a study file"):
        prepare_stored(from_python, "a")
    from_python.close()


@pytest.mark.parametrize("text", ["", "{", "3", "[1]", '[{"table": "a"}]', '[{"data": 3}]', "{}x"])
def test_a_list_that_cannot_be_read(study: Path, text: str) -> None:
    (study.parent / "study.prepared.json").write_text(text)
    with pytest.raises(InvalidParameter, match=r"study\.prepared\.json cannot be read"):
        StoredCopies(study, lambda table: ("", 1, 1)).for_table("a")


def people(keys: list[str] | None = None) -> Curator:
    """A hundred people, each once: half in 'F', a quarter each in 'M' and 'other'; k is 1 for every other one."""
    rows = {"id": range(100), "s": (["F", "M", "F", "other"] * 25), "k": [0, 1] * 50}
    columns = {"id": "integer", "s": {"type": "text", "keys": keys} if keys else "text"}
    own = {"columns": {**columns, "k": {"type": "integer", "keys": [1]}}, "contribution": (2, 1), "unit": "id"}
    return Curator({"t": Table(pa.table({n: list(x) for n, x in rows.items()}), **own)}, PureDP(10**6))  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [["other", "F"], ["F"], ["M", "F"], ["nobody"]])
def test_keys_given_with_a_question_are_answered_as_without_a_copy(keys: list[str]) -> None:
    """A copy holds the rows of the declared keys alone: it is not used for others, nor left to count them as none."""
    curator = people(["F", "M"])
    asked = curator.table("t").group_by("s", keys={"s": keys}).aggregate(n=count())
    loud: dict[str, Any] = {"epsilon": 1000, "because": "a test", "override": True}
    before = asked.ask(**loud)["n"]
    curator.prepare("t", ["s"])
    assert asked.ask(fresh=True, **loud)["n"] == before
    if set(keys) <= {"F", "M"}:
        assert asked.ask(prepared=True, fresh=True, **loud)["n"] == before
        assert any("more groups" in note for note in asked.ask(prepared=True, **loud).notes) is (len(keys) == 1)
    else:
        with pytest.raises(QuestionRefused, match="holds all rows that these groups need"):
            asked.plan(prepared=True, epsilon=1)
    curator.close()


def test_a_copy_without_all_rows_answers_for_no_coarser_groups() -> None:
    """Prepared by (s, k), where half of the rows have no key of k: 50 of 100 is no answer."""
    curator = people(["F", "M", "other"])
    curator.prepare("t", ["s", "k"])
    with pytest.raises(QuestionRefused, match="holds all rows that these groups need"):
        curator.plan("SELECT COUNT(*) AS n FROM t", epsilon=1, prepared=True)
    curator.close()
    unlisted = people()
    unlisted.prepare("t", ["s", "k"])
    found = unlisted.ask("SELECT COUNT(*) AS n FROM t", epsilon=1000, because="x", override=True, prepared=True)
    assert found.value == 100
    unlisted.close()


def test_a_copy_of_rows_that_another_process_reloaded_is_passed_over(study: Path, curator: Curator) -> None:
    curator.prepare("visits_a")
    asked = "SELECT COUNT(*) AS n FROM visits_a"
    before = curator.plan(asked, epsilon=1)
    assert before.prepared is not None
    other = Curator(study)
    other.reload("visits_a")
    other.close()
    with pytest.raises(InvalidParameter) as refused:
        curator.release(before)  # what was planned with it is not answered
    assert refused.value.code == "data-changed"
    assert curator.plan(asked, epsilon=1).prepared is None
    curator.sql(asked, epsilon=1)
    with pytest.raises(QuestionRefused):
        curator.plan(asked, epsilon=1, prepared=True)
    curator.prepare("visits_a")
    assert curator.plan(asked, epsilon=1).prepared is not None


def test_all_who_serve_a_study_plan_alike_after_one_of_them_made_a_copy(study: Path, curator: Curator) -> None:
    asked = "SELECT town, COUNT(*) AS n FROM visits_a GROUP BY town"
    other = Curator(study)
    try:
        before = other.plan(asked, epsilon=1)
        assert before.prepared is None
        prepare_stored(curator, "visits_a", ["town"])
        plans = [one.plan(asked, epsilon=1) for one in (curator, other)]
        assert plans[0].prepared is not None
        assert plans[0].identity == plans[1].identity != before.identity
        first = curator.release(plans[0])
        assert other.release(plans[1]).columns == first.columns
        prepare_stored(curator, "visits_a", ["town"])  # in place of the first, whose file is gone
        again = [one.plan(asked, epsilon="1/2") for one in (curator, other)]
        assert again[0].identity == again[1].identity
        assert other.release(again[1]).columns == curator.release(again[0]).columns
        assert curator.charge_count() == 2
    finally:
        other.close()


def test_copies_that_are_made_at_once_are_their_owners_alone(tmp_path: Path) -> None:
    usual = os.umask(0o022)
    inside, leave = Barrier(2), Event()

    def first() -> None:
        with _owner_only():
            inside.wait()

    def second() -> None:
        with _owner_only():
            inside.wait()
            leave.wait(10)
            (tmp_path / "copy").write_text("rows")

    try:
        threads = [Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        threads[0].join()  # the other has not made its file yet
        leave.set()
        threads[1].join()
        assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600
        assert os.umask(0o022) == 0o022  # as it was
    finally:
        os.umask(usual)


def test_the_same_groups_are_prepared_again_and_again(curator: Curator) -> None:
    """A copy that was replaced may be open still: its name is not given again."""
    places = [prepare_stored(curator, "a", ["town"]).prepared.place for _ in range(4)]
    assert len(set(places)) == 4


@pytest.mark.parametrize("key", ["kept", "new"])
def test_a_copy_is_not_used_under_another_ledger(tmp_path: Path, key: str) -> None:
    """Each counts versions from its own beginning: the copy would be of people who were replaced since."""

    def write(town: str, n: int) -> None:
        (tmp_path / "a.csv").write_text("pid,t\n" + "".join(f"{i},{town}\n" for i in range(n)))

    def asked(curator: Curator) -> list[float]:
        found = curator.ask("SELECT t, COUNT(*) AS n FROM a GROUP BY t", epsilon=1, contribution=(1, 1))
        return [round(n, -2) for n in found.numbers("n")]

    study = tmp_path / "study.toml"
    study.write_text(
        '[tables.a]\nsource = "a.csv"\nunit = "pid"\n[tables.a.columns]\npid = {type = "integer"}\n'
        't = {type = "text", keys = ["u", "v"]}\n[budget]\nepsilon = 30\n'
    )
    write("u", 5000)
    curator = Curator(study)
    prepare_stored(curator, "a", ["t"])
    assert asked(curator) == [5000, 0]
    curator.close()
    assert asked(Curator(study)) == [5000, 0]
    write("v", 700)
    for path in tmp_path.glob("study.ledger*"):
        if not path.is_dir():
            path.unlink()
        elif key == "new":
            rmtree(path)
        else:
            (path / "anchor").unlink()
            (path / "verified").unlink(missing_ok=True)
    assert asked(Curator(study)) == [0, 700]
