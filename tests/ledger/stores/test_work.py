"""A long history costs nothing: a charge and a balance do the same work after 10,000 charges as after ten."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from curador.ledger.book import Book
from curador.ledger.entries import Reserved
from curador.ledger.opening import open_ledger
from curador.ledger.posting import append
from curador.ledger.stores.rows import DbValue, Rows
from curador.privacy import PureDP
from tests.ledger.workers import THOUSANDTH


def started(ledger: Book) -> Book:
    ledger.open("people", PureDP(1000))
    ledger.open("visits", PureDP(1000), parent="people")
    ledger.open("ana", PureDP(1000), parent="people")
    return ledger


def ask(ledger: Book, question: str) -> None:
    charge = ledger.reserve("visits", THOUSANDTH, fingerprint=question, key=question, receiver="ana")
    ledger.settle(charge.id, b"an answer")


def instructions(ledger: Book, work: Callable[[], object]) -> int:
    """How many steps SQLite's machine takes on both connections."""
    store: Any = ledger._store
    counted = [0]

    def count() -> int:
        counted[0] += 1
        return 0

    ledger.balance("people")  # both connections are open now
    for connection in store._connections.values():
        connection.set_progress_handler(count, 1)
    work()
    for connection in store._connections.values():
        connection.set_progress_handler(None, 1)
    return counted[0]


def test_sqlite_does_the_same_work_after_ten_thousand_charges(quick: Path) -> None:
    ledger = started(open_ledger(quick / "x.db"))

    def measured(n: int) -> tuple[int, int]:
        ask(ledger, f"warm {n}")
        return (
            instructions(ledger, lambda: ask(ledger, f"question {n}")),
            instructions(ledger, lambda: ledger.balance("visits")),
        )

    early = measured(0)
    for n in range(10_000):
        ledger.reserve("visits", THOUSANDTH, fingerprint=f"{n}", receiver="ana")
    assert measured(1) == early
    assert early[0] > 100, "the count counts"
    # Reading the history does grow: this way of counting would see it.
    assert instructions(ledger, lambda: ledger.history(last=None)) > 100 * early[0]
    ledger.close()


def test_postgresql_looks_everything_up_by_key(postgres_url: str, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    from curador.ledger.stores import postgres

    schema = f"w{uuid.uuid4().hex[:12]}"
    ledger = started(open_ledger(postgres_url, keep=quick / "keep", schema=schema))
    seen: list[tuple[str, Any]] = []

    class Spying(postgres._Database):
        def execute(self, statement: str, values: Sequence[DbValue]) -> Any:
            seen.append((statement, values))
            return super().execute(statement, values)

    monkeypatch.setattr(postgres, "_Database", Spying)

    def statements(question: str) -> tuple[int, int]:
        """How many when the last batch was its own, and how many when it remembers nothing, as after another's."""
        store: Any = ledger._store
        ask(ledger, f"{question}, warm")
        seen.clear()
        ask(ledger, f"{question}, remembering")
        ledger.balance("visits")
        remembering = len(seen)
        seen.clear()
        plain = store._recall
        with monkeypatch.context() as patch:
            patch.setattr(store, "_recall", lambda head: plain(None))
            ask(ledger, question)
        ledger.balance("visits")
        return remembering, len(seen)

    early = statements("first")
    assert early[0] < early[1]

    def fill(rows: Rows) -> None:
        for _ in range(10_000):
            entry = Reserved(rows.head.charges + 1, ["people"], [[1]], THOUSANDTH.to_json(), fingerprint="f")
            append(rows, ledger._key, entry, "then")

    ledger._store.write(fill)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT set_config('search_path', %s, false)", (schema,))
        other.execute("ANALYZE")
        assert statements("last") == early
        ledger.history(last=5)
        ledger.history("people", last=5)
        looked_up = [
            (statement, values)
            for statement, values in seen
            if statement.startswith("SELECT")
            and any(f'FROM "{schema}".{t} ' in statement for t in ("entry", "charge", "paid"))
        ]
        assert looked_up
        for statement, values in looked_up:
            rows = other.execute(f"EXPLAIN {statement.replace('?', '%s')}".encode(), values).fetchall()
            assert "Index Scan" in str(rows), statement
    ledger.verify()
    ledger.close()
