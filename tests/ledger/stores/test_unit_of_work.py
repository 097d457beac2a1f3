"""What a batch remembers and what it takes back: a ledger that reads less must not know less."""

from __future__ import annotations

import fcntl
import itertools
import os
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.events import PureLoss
from curador.accounting.filters import Filter, open_filter, remaining
from curador.accounting.rules.costs import LOSS_UNIT
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerFailed
from curador.ledger.anchor.log import Anchor
from curador.ledger.book import Book
from curador.ledger.entries import Settled
from curador.ledger.opening import open_ledger
from curador.ledger.pricing import charged, covers
from curador.ledger.stores import unit_of_work
from curador.ledger.stores.group_commit import Job
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.reopened_file import ReopenedFile
from curador.ledger.stores.rows import ANSWER, BALANCE, CHARGE, ENTRY, QUESTION, REQUEST, Head, Rows, RowTable
from curador.ledger.stores.sql import create
from curador.ledger.stores.sqlite import TYPES
from curador.ledger.stores.unit_of_work import UnitOfWork, empty_cache
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from tests.ledger.conftest import Opener
from tests.ledger.workers import THOUSANDTH, forked

HALF = PureLoss(Fraction(1, 2))


def started(ledger: Book) -> Book:
    ledger.open("people", PureDP(1))
    ledger.open("visits", PureDP(1), parent="people")
    return ledger


# ---- remembered from batch to batch ------------------------------------------------------------------------------


def test_what_others_wrote_is_read_again(opener: Opener) -> None:
    one, two = started(opener()), opener()
    first = one.reserve("visits", HALF)
    two.reserve("visits", HALF)
    with pytest.raises(BudgetExceeded):  # it remembers a half that is left, and it is not
        one.reserve("visits", THOUSANDTH)
    two.settle(first.id, b"x")
    with pytest.raises(InvalidParameter, match="already"):
        one.settle(first.id, b"y")
    two.revoke("people")
    with pytest.raises(BudgetExceeded, match="closed"):
        one.reserve("visits", THOUSANDTH)
    assert one.balance("people").spent == PureDP(1)
    one.verify()


def test_a_store_that_trusts_its_memory_blindly_would_overspend(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: without the look at the head both halves and more are sold."""
    one, two = started(opener()), opener()
    one.reserve("visits", HALF)
    two.reserve("visits", HALF)
    store: Any = one._store
    known = store._memory[1]
    monkeypatch.setattr(store, "_recall", lambda head: known)
    one.reserve("visits", THOUSANDTH)
    with pytest.raises(LedgerBroken):
        one.verify()


def test_in_one_process_nothing_is_read_twice(opener: Opener) -> None:
    ledger = started(opener())
    ledger.reserve("visits", THOUSANDTH)
    read: list[RowTable] = []
    right = unit_of_work.ReadView.get

    def get(self: unit_of_work.ReadView, table: RowTable, *key: Any) -> Any:
        read.append(table)
        return right(self, table, *key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_of_work.ReadView, "get", get)
        charge = ledger.reserve("visits", THOUSANDTH)
        ledger.settle(charge.id, b"x")
    assert read == []


def test_of_answers_only_their_absence_is_remembered(opener: Opener) -> None:
    ledger = started(opener())
    charges = [ledger.reserve("visits", THOUSANDTH).id for _ in range(3)]
    ledger.settle(charges[1], b"x")
    remembered: Any = ledger._store._memory[1]  # type: ignore[attr-defined]
    assert remembered[ANSWER] == {(1,): None, (3,): None}
    assert not remembered[ENTRY]
    with pytest.raises(InvalidParameter, match="already"):
        ledger.settle(charges[1], b"y")
    assert remembered[ANSWER] == {(1,): None, (3,): None}
    assert [ledger.answer(charge) for charge in charges] == [None, b"x", None]


def test_after_a_commit_that_failed_nothing_is_remembered(opener: Opener) -> None:
    ledger = started(opener())
    ledger.reserve("visits", HALF)
    store: Any = ledger._store

    def fails() -> None:
        raise OSError("no room") if "Sqlite" in type(store).__name__ else LedgerFailed("no room", fix="Make room.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_commit", fails)
        with pytest.raises(LedgerFailed, match="no room"):
            ledger.reserve("visits", HALF)
    assert store._memory == (None, {})
    assert ledger.reserve("visits", HALF).id == "2"  # the half that failed is not spent
    with pytest.raises(BudgetExceeded):
        ledger.reserve("visits", THOUSANDTH)
    ledger.verify()


def test_no_more_is_remembered_than_is_good(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_of_work, "MOST_CACHED", 20)
    ledger = started(opener())
    store: Any = ledger._store
    most = 0
    for n in range(30):
        ledger.settle(ledger.reserve("visits", THOUSANDTH, fingerprint=f"q{n}").id, b"x" * 1000)
        most = max(most, sum(map(len, store._memory[1].values())))
        assert not any(kept for table, kept in store._memory[1].items() if table.append_only)
    assert 5 < most <= 20
    assert ledger.balance("people").state.spent == (30 * LOSS_UNIT // 1000,)
    ledger.verify()


# ---- within a batch ------------------------------------------------------------------------------------------------


def put(rows: Rows, table: RowTable, *row: Any) -> None:
    """Write a row as the rules do: with an entry, which moves the head."""
    rows.put(table, *row)
    if table is not ENTRY:
        rows.append(Head(rows.head.sequence + 1, 0, b"another"), "", Settled(0, ""))


def performed(ledger: Book, *works: Callable[[Rows], object]) -> list[Job]:
    store: Any = ledger._store
    jobs = [Job(work) for work in works]
    store._perform(jobs)
    return jobs


def test_a_refused_job_leaves_nothing_and_stops_nobody(opener: Opener) -> None:
    """In one transaction: the first writes, the second writes over it and is refused, the third sees the first's."""
    ledger = opener()

    def first(rows: Rows) -> None:
        put(rows, QUESTION, "f", 1)

    def second(rows: Rows) -> None:
        rows.put(QUESTION, "f", 2)
        rows.put(QUESTION, "g", 2)
        rows.put(BALANCE, "people", 0, 1, 2, 1)
        rows.head = Head(99, 99, b"")
        raise InvalidParameter("Refused.", fix="Nothing.")

    def third(rows: Rows) -> object:
        return rows.get(QUESTION, "f"), rows.get(QUESTION, "g"), rows.get(BALANCE, "people", 0), rows.head.sequence

    jobs = performed(ledger, first, second, third)
    assert isinstance(jobs[1].error, InvalidParameter)
    assert jobs[0].error is jobs[2].error is None
    assert jobs[2].result == (("f", 1), None, None, 1)
    assert ledger._store.read(lambda rows: list(rows.scan(QUESTION))) == [("f", 1)]


def test_what_is_kept_is_written_once(opener: Opener) -> None:
    ledger = started(opener())
    charge = ledger.reserve("visits", THOUSANDTH)
    with pytest.raises(LedgerFailed):
        performed(ledger, lambda rows: put(rows, ENTRY, 1, 0, "", b"", "over the first"))
    assert ledger.settle(charge.id, b"x") == b"x"
    one, other = (99, 0, "", b"", "a"), (99, 0, "", b"", "b")
    jobs = performed(ledger, lambda rows: put(rows, ENTRY, *one), lambda rows: put(rows, ENTRY, *other))
    assert isinstance(jobs[1].error, LedgerBroken)  # in the same batch


def test_rows_without_an_entry_are_refused(opener: Opener) -> None:
    """Others would not see by the head that something was written."""
    with pytest.raises(LedgerBroken, match="without an entry"):
        performed(opener(), lambda rows: rows.put(QUESTION, "f", 1))


def test_a_job_that_scans_sees_what_was_kept_before_it(opener: Opener) -> None:
    jobs = performed(opener(), lambda rows: put(rows, QUESTION, "f", 1), lambda rows: list(rows.scan(QUESTION)))
    assert jobs[1].result == [("f", 1)]


def test_a_job_cannot_scan_what_it_may_have_to_take_back(opener: Opener) -> None:
    def work(rows: Rows) -> None:
        rows.put(QUESTION, "f", 1)
        rows.scan(QUESTION)

    with pytest.raises(TypeError, match="before it writes"):
        performed(opener(), work)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from([QUESTION, REQUEST, CHARGE]), st.integers(0, 3), st.integers(0, 9)),
        st.tuples(st.just("get"), st.sampled_from([QUESTION, REQUEST, CHARGE]), st.integers(0, 3), st.just(0)),
        st.tuples(st.sampled_from(["savepoint", "rollback", "flush", "again"]), st.none(), st.just(0), st.just(0)),
    ),
    max_size=40,
)


@given(STEPS)
def test_a_unit_of_work_is_the_rows_in_memory(steps: list[tuple[str, RowTable, int, int]]) -> None:
    """Any order of reading, writing, taking back and flushing gives what plain dictionaries give."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for table in (ENTRY, QUESTION, REQUEST, CHARGE):
        connection.execute(create(table, TYPES))
    known = empty_cache()
    mine, model = UnitOfWork(connection, Head(0, 0, b""), known), MemoryRows(b"")

    def row(table: RowTable, key: int, value: int) -> tuple[Any, ...]:
        name: Any = key if table is CHARGE else str(key)
        return {QUESTION: (name, value), REQUEST: (name, None, value), CHARGE: (name, value, None, None)}[table]

    for act, table, key, value in steps:
        if act == "put":
            put(mine, table, *row(table, key, value))
            put(model, table, *row(table, key, value))
        elif act == "get":
            assert mine.get(table, row(table, key, 0)[0]) == model.get(table, row(table, key, 0)[0])
        elif act == "rollback":
            mine.rollback()
            model.rollback()
        else:
            mine.savepoint()
            model.savepoint()
            if act != "savepoint":
                mine.flush()
            if act == "again":  # the next batch, which remembers
                mine = UnitOfWork(connection, mine.head, known)
        assert mine.head == model.head
    mine.rollback()
    model.rollback()
    mine.flush()
    for table in (QUESTION, REQUEST, CHARGE):
        assert connection.execute(f"SELECT * FROM {table.name} ORDER BY 1").fetchall() == list(model.scan(table))
        for key_, row_ in known[table].items():
            assert row_ == model.get(table, *key_)
    connection.close()


# ---- whether a charge fits -----------------------------------------------------------------------------------------

BUDGETS: list[tuple[Guarantee, dict[str, Any]]] = [
    (PureDP(1), {}),
    (ApproxDP(1, 1e-6), {}),
    (ZCDP(1), {}),
    (RenyiDP({2: 1, 8: 2}), {}),
    (ApproxDP(1, 1e-6), {"rule": "renyi-any", "orders": (16, 64)}),
]


@given(st.sampled_from(BUDGETS), st.data())
def test_a_charge_fits_exactly_if_the_rule_of_its_budget_holds(
    budget: tuple[Guarantee, dict[str, Any]], data: st.DataObject
) -> None:
    """`covers`, which transactions ask, and the filters, against the rule written out; near every ceiling."""
    fresh = open_filter(budget[0], **budget[1])
    quantified = any if budget[1].get("rule") == "renyi-any" else all
    near = [st.integers(0, 5) | st.integers(max(0, c - 5), c + 5) | st.integers(0, 2 * c + 2) for c in fresh.ceiling]
    spent = data.draw(st.tuples(*near))
    try:
        state = Filter(fresh.currency, fresh.guarantee, fresh.neighbors, fresh.ceiling, spent)
    except InvalidParameter:
        assert not quantified(s <= c for s, c in zip(spent, fresh.ceiling, strict=True))
        return  # no charges can have led there
    left = [max(0, c - s) for c, s in zip(fresh.ceiling, spent, strict=True)]
    near = [st.integers(0, 5) | st.integers(max(0, x - 3), x + 3) | st.integers(0, 2**63) for x in left]
    amount = data.draw(st.tuples(*near))
    after = tuple(s + a for s, a in zip(spent, amount, strict=True))
    within = quantified(x <= c for x, c in zip(after, fresh.ceiling, strict=True))
    fits = within and max(after) < 2**63
    assert covers(state.currency.rule, state.ceiling, state.spent, amount) is fits
    if fits:
        assert charged("people", state, amount).spent == after
    else:
        with pytest.raises(BudgetExceeded) as refused:
            charged("people", state, amount)
        assert refused.value.facts["remaining"] == remaining(state).to_json()
        assert {"scope", "asked", "spent"} <= refused.value.facts.keys()


def test_the_wall_in_sql_is_the_wall_in_memory() -> None:
    """Every row near the ceiling is accepted by SQLite's CHECK exactly if it is accepted by rows in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(create(BALANCE, TYPES, " STRICT"))
    verdicts = set()
    for spent, ceiling, every in itertools.product(range(-2, 4), range(-2, 4), (0, 1)):
        row = ("people", 0, spent, ceiling, every)
        try:
            connection.execute(unit_of_work.insert(BALANCE), row)
            allowed = True
        except sqlite3.IntegrityError:
            allowed = False
        try:
            MemoryRows(b"").put(BALANCE, *row)
            assert allowed
        except LedgerBroken:
            assert not allowed
        verdicts.add(allowed)
    assert verdicts == {True, False}
    connection.close()


# ---- files that stay open, and the mark ------------------------------------------------------------------------------


def test_a_child_does_not_share_its_parents_locks(tmp_path: Path) -> None:
    held = ReopenedFile(tmp_path / "x", os.O_RDWR | os.O_CREAT)
    parents = held.descriptor()
    same = os.dup(parents)
    fcntl.flock(parents, fcntl.LOCK_EX)

    def work() -> None:
        fcntl.flock(same, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the parent's own file does not keep its child out
        with pytest.raises(BlockingIOError):
            fcntl.flock(held.descriptor(), fcntl.LOCK_EX | fcntl.LOCK_NB)

    assert os.waitpid(forked(work), 0)[1] == 0
    assert held.descriptor() == parents
    os.close(same)
    held.close()


def test_a_file_of_the_same_name_is_opened_again(tmp_path: Path) -> None:
    held = ReopenedFile(tmp_path / "x", os.O_RDWR)
    with pytest.raises(FileNotFoundError):
        held.descriptor()
    for content in (b"one", b"two"):
        (tmp_path / "new").write_bytes(content)
        (tmp_path / "new").replace(tmp_path / "x")
        assert os.pread(held.descriptor(), 9, 0) == content
    (tmp_path / "x").unlink()
    with pytest.raises(FileNotFoundError):
        held.descriptor()
    held.close()


@pytest.mark.parametrize("beside", [True, False])
def test_the_anchor_is_at_the_charge_when_its_answer_is_told(
    opener: Opener, address: dict[str, str], beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curador.ledger.stores.sql.WORTH_A_THREAD", 0 if beside else 1000)
    ledger = started(opener())
    anchor = Anchor(Path(address["keep"]), ledger._key)
    for n in range(3, 9, 2):
        charge = ledger.reserve("visits", THOUSANDTH)
        ledger.settle(charge.id, b"x")
        mark = anchor.read()
        assert mark is not None
        assert mark[0].sequence == n  # two scopes were opened, then pairs: each charge's own entry
        assert mark[0].charges == int(charge.id)
        spent = {scope: spent for scope, _, spent, _, _ in mark[1].scan(BALANCE)}
        assert spent == dict.fromkeys(("people", "visits"), int(charge.id) * LOSS_UNIT // 1000)


def test_whoever_reads_an_answer_marks_its_charge_first(
    opener: Opener, address: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process does that reads between another's commit and its mark, or after its death."""
    one, two = started(opener()), opener()
    store: Any = one._store
    anchor = Anchor(Path(address["keep"]), one._key)

    def marked() -> int:
        mark = anchor.read()
        assert mark is not None
        return mark[0].sequence

    monkeypatch.setattr(store, "_mark", lambda head, _: head)  # the mark is not there yet
    first, second = (one.reserve("visits", THOUSANDTH) for _ in range(2))
    one.settle(first.id, b"x")
    assert two.answer(second.id) is None  # nothing leaves
    assert two.history()
    assert marked() == 2  # the two scopes
    assert two.answer(first.id) == b"x"
    assert marked() == 5
    one.settle(second.id, b"y")
    assert two.answer(first.id) == b"x"  # its charge is covered
    assert marked() == 5
    two.verify()


def test_where_no_thread_can_be_had_marks_are_made_all_the_same(
    opener: Opener, address: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curador.ledger.stores.sql.WORTH_A_THREAD", 0)
    ledger = started(opener())
    ledger.settle(ledger.reserve("visits", THOUSANDTH).id, b"x")
    store: Any = ledger._store
    store._helper.shutdown()  # as at the end of a process
    assert ledger.settle(ledger.reserve("visits", THOUSANDTH).id, b"x") == b"x"
    mark = Anchor(Path(address["keep"]), ledger._key).read()
    assert mark is not None
    assert mark[0].sequence == 5


def test_turns_and_anchors_let_go_when_a_ledger_is_closed(quick: Path) -> None:
    def files() -> list[str]:
        found = []
        for name in os.listdir("/proc/self/fd"):
            try:
                found.append(os.readlink(f"/proc/self/fd/{name}"))
            except FileNotFoundError:
                continue
        return [path for path in found if str(quick) in path]

    ledger = started(open_ledger(quick / "x.db"))
    ledger.settle(ledger.reserve("visits", THOUSANDTH).id, b"x")
    assert files()
    ledger.close()
    assert not files()
