"""A curator after a fork: nothing is drawn twice for one charge, and nothing hangs."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars
import psycopg
import pyarrow as pa
import pytest

from curador.curator import prepared
from curador.curator.curator import Curator
from curador.curator.purchase import fingerprint
from curador.errors import CuradorError
from curador.forks import after_fork, cached_property, has_ended, process_name
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.tree import ContinualCount
from curador.privacy import PureDP
from curador.query.tables.table import Table
from tests.ledger.workers import forked
from tests.real_engines import to_postgres

COUNT = "SELECT COUNT(*) AS n FROM t"
X = {"x": {"type": "integer", "bounds": [0, 3]}}
ROWS = pa.table({"x": [1] * 100})
LONGEST = 20  # seconds; a child that hangs is ended


def in_child(work: Callable[[], object]) -> str:
    """What work returns in a forked child, or the code of its refusal."""
    read, write = os.pipe()

    def tell() -> None:
        signal.alarm(LONGEST)
        try:
            told = str(work())
        except CuradorError as refusal:
            told = refusal.code
        os.write(write, told.encode())

    child = forked(tell)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return told


def curator_of(source: object, folder: Path, **more: Any) -> Curator:
    return Curator({"t": Table(source, columns=X)}, budget=PureDP(100), ledger=folder / "ledger.db", **more)


def ask(curator: Curator, epsilon: float) -> int:
    value = curator.sql(COUNT, epsilon=epsilon, because="a test").value
    assert isinstance(value, int)
    return value


# ---- what draws for one charge -------------------------------------------------------------------------------------


def test_a_running_count_goes_on_in_its_own_process_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("day\n" + "2026-01-01\n" * 50)
    curator = Curator(
        {"t": Table(tmp_path / "t.csv", columns={"day": "date"})}, budget=PureDP(9), ledger=tmp_path / "ledger.db"
    )
    stream = curator.running_count(curator.table("t"), "day", date(2026, 1, 1), 5, epsilon=1)
    for _ in range(2):  # before the first day and after it
        assert in_child(stream.next) == in_child(stream.close) == "opened-before-fork"
        stream.next()
    assert len(curator.history()) == 1


@pytest.mark.parametrize(
    ("opened", "step"),
    [
        (ContinualCount(4, epsilon=1).open(), lambda held: held.add(1)),
        (AboveThreshold(0, epsilon=1, sensitivity=1).open(), lambda held: held.ask(1)),
    ],
    ids=["running count", "above threshold"],
)
def test_an_open_mechanism_is_neither_forked_nor_copied(opened: Any, step: Callable[[Any], object]) -> None:
    assert in_child(lambda: step(opened)) == "opened-before-fork"
    with opened._lock:  # as another thread of the parent holds it
        assert in_child(lambda: step(opened)) == "opened-before-fork"
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copied(opened)


def test_a_ledger_in_memory_is_not_spent_again_in_a_child() -> None:
    curator = Curator({"t": Table(ROWS, columns=X)}, budget=PureDP(1))
    ask(curator, 0.5)
    assert in_child(lambda: ask(curator, 0.4)) == in_child(curator.budgets) == "opened-before-fork"


# ---- a curator in a child ------------------------------------------------------------------------------------------


def stored_as(kind: str, folder: Path, request: pytest.FixtureRequest) -> object:
    if kind == "csv":
        (folder / "t.csv").write_text("x\n" + "1\n" * 100)
        return folder / "t.csv"
    if kind == "postgresql":
        return to_postgres(request.getfixturevalue("postgres_url"), ROWS)
    return {"arrow": ROWS, "pandas": ROWS.to_pandas(), "polars": polars.from_arrow(ROWS)}[kind]


@pytest.mark.parametrize("kind", ["csv", "arrow", "pandas", "polars", "postgresql"])
def test_a_curator_that_was_used_answers_in_a_child_and_after_it(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    curator = curator_of(stored_as(kind, tmp_path, request), tmp_path)
    first = ask(curator, 9)
    for epsilon in (8, 7):
        assert abs(int(in_child(lambda epsilon=epsilon: ask(curator, epsilon))) - 100) < 10  # type: ignore[misc]
    assert in_child(lambda: ask(curator, 9)) == str(first)
    assert abs(ask(curator, 6) - 100) < 10
    assert len([charge for charge in curator.history() if charge.settled]) == len(curator.history()) == 4
    curator.close()


@pytest.mark.parametrize(("kind", "told"), [("arrow", "100"), ("pandas", "100"), ("polars", "frame-before-fork")])
def test_a_frame_that_was_never_read_is_read_in_a_child_or_refused_at_no_cost(
    kind: str, told: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    curator = curator_of(stored_as(kind, tmp_path, request), tmp_path)
    assert in_child(lambda: round(ask(curator, 9), -1)) == told
    assert len(curator.history()) == (told == "100")


def test_a_child_ends_as_usual_though_it_holds_the_parents_engine(tmp_path: Path) -> None:
    curator = curator_of(ROWS, tmp_path)
    ask(curator, 9)
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        os.dup2(sys.stderr.fileno(), 2)
        code = 1
        try:
            curator._engines._open.clear()  # collects the engine
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_what_a_thread_of_the_parent_was_asking_can_be_asked_in_a_child(tmp_path: Path) -> None:
    curator = curator_of(ROWS, tmp_path)
    ask(curator, 9)
    inside, leave = threading.Event(), threading.Event()

    def wait(fraction: float) -> None:
        inside.set()
        leave.wait(LONGEST)

    def slowly() -> None:
        plan = curator.plan(COUNT, epsilon=8)
        name = fingerprint(plan, curator.scopes.held(plan.tables))
        with curator._buyer._flights.of(name, curator._buyer.turns.pace.passed).lock:
            wait(0)

    asking = threading.Thread(target=slowly)
    asking.start()
    inside.wait(LONGEST)
    with curator._engines._opening:
        assert abs(int(in_child(lambda: ask(curator, 8))) - 100) < 10
    leave.set()
    asking.join()


def test_a_plan_with_a_copy_in_memory_is_refused_in_a_child(tmp_path: Path) -> None:
    table = Table(pa.table({"id": [1, 2], "x": [1, 2]}), unit="id", columns={"id": "integer", **X}, contribution=(1, 1))
    curator = Curator({"t": table}, budget=PureDP(9), ledger=tmp_path / "ledger.db")
    curator.prepare("t")
    plan = curator.plan(COUNT, epsilon=1)
    assert plan.prepared is not None
    assert in_child(lambda: curator.release(plan)) == "data-changed"
    assert in_child(lambda: curator.plan(COUNT, epsilon=1).prepared) == "None"
    assert curator.history() == ()


def test_the_parents_session_outlives_a_child_that_ends(tmp_path: Path, postgres_url: str) -> None:
    curator = curator_of(to_postgres(postgres_url, ROWS), tmp_path)
    ask(curator, 9)
    engine: Any = curator._engines.of({"t"})
    before = engine._connection.info.backend_pid
    in_child(lambda: curator.close())
    ask(curator, 8)
    assert engine._connection.info.backend_pid == before
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [before]).fetchone()
    curator.close()


def test_made_up_tables_outlive_a_child_that_ends() -> None:
    stage = Curator({"t": Table("no.csv", columns=X)}, budget=PureDP(9)).rehearse(rows=10)
    folder = Path(str(stage.tables["t"].source.pattern)).parent  # type: ignore[union-attr]
    in_child(stage.close)
    assert folder.is_dir()
    stage.close()
    assert not folder.exists()


def test_a_killed_process_that_nobody_has_asked_about_has_ended() -> None:
    """A zombie, as in a container without an init: its question is free again at once."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, process_name().encode())
        signal.pause()
    name = os.read(read, 1000).decode()
    assert name
    assert not has_ended(name)
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # it is dead, and still listed
    assert os.path.exists(f"/proc/{child}")
    assert has_ended(name)
    assert has_ended(f"{name}:7")  # as the owner of a charge is written
    os.waitpid(child, 0)
    assert has_ended(name)
    os.close(read)
    os.close(write)


def test_a_child_works_out_what_a_thread_of_its_parent_was_working_out() -> None:
    """Until Python 3.12 functools has a lock there for all objects of a class, which nobody releases in a child."""
    begun, leave = threading.Event(), threading.Event()

    class Thing:
        @cached_property
        def answer(self) -> int:
            if threading.current_thread() is not threading.main_thread():
                begun.set()
                leave.wait(LONGEST)
            return 42

    thread = threading.Thread(target=lambda: Thing().answer)
    thread.start()
    assert begun.wait(LONGEST)
    assert in_child(lambda: Thing().answer) == "42"
    leave.set()
    thread.join()
    assert (thing := Thing()).answer == 42
    assert vars(thing) == {"answer": 42}


def test_what_a_thread_of_the_parent_was_making_keeps_nothing_from_being_made_anew(tmp_path: Path) -> None:
    class HalfMade:
        def made_anew(self) -> None:
            _ = self.lock  # type: ignore[attr-defined]  # not there yet

    half = [HalfMade() for _ in range(50)]
    curator = curator_of(ROWS, tmp_path)
    for thing in half:
        after_fork(thing)
    curator.sql(COUNT, epsilon=1)
    assert int(in_child(lambda: curator.sql(COUNT, epsilon=0.5).charge)) == 2
    curator.close()


def test_a_child_makes_files_as_others_may_read_them_while_a_thread_of_its_parent_prepares_a_copy() -> None:
    """The mask is the whole process's: a child kept it, and waited for a lock that a thread of its parent held."""
    usual = os.umask(0o022)
    try:
        with prepared._owner_only(), prepared._MASK.lock:
            assert in_child(lambda: oct(os.umask(0o022))) == oct(0o022)
            assert in_child(lambda: prepared._MASK.lock.locked()) == "False"
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(usual)
