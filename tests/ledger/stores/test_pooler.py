"""PostgreSQL behind pgbouncer in transaction mode: sessions are shared, and nothing is assumed of them."""

from __future__ import annotations

import itertools
import threading
import uuid
from pathlib import Path

import pytest

from curador.errors import InvalidParameter
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from tests.ledger.workers import THOUSANDTH


def test_two_ledgers_in_one_pool_stay_in_their_own_schemas(pooled_url: str, postgres_url: str, quick: Path) -> None:
    """One session serves both, in turn and in threads at once; what it was last used for does not matter."""
    schemas = [f"{name}{uuid.uuid4().hex[:8]}" for name in ("a", "b")]
    ledgers = [open_ledger(pooled_url, keep=quick / schema, schema=schema) for schema in schemas]
    for ledger in ledgers:
        ledger.open("people", PureDP(1))
        ledger.open("visits", PureDP(1), parent="people")

    questions = itertools.count()

    def ask(ledger: Book, times: int) -> None:
        for _ in range(times):
            charge = ledger.reserve("visits", THOUSANDTH, fingerprint=str(next(questions)))
            assert ledger.settle(charge.id, b"x") == ledger.answer(charge.id) == b"x"

    for _ in range(12):
        for ledger in ledgers:
            ask(ledger, 2)
    threads = [threading.Thread(target=ask, args=(ledger, 10)) for ledger in ledgers for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for schema, ledger in zip(schemas, ledgers, strict=True):
        assert len(ledger.history("visits")) == 44
        assert ledger.balance("people").state.spent == (44 * 10**9,)
        assert ledger.verify() == 90
        ledger.close()
        direct = open_ledger(postgres_url, keep=quick / schema, schema=schema)
        assert (direct.verify(), len(direct.history())) == (90, 44)
        direct.close()


def test_a_commit_waits_for_the_disk_whatever_the_session_was_set_to(pooled_url: str, quick: Path) -> None:
    """Somebody left synchronous_commit off and another search path in the session that all share."""
    import psycopg

    ledger = open_ledger(pooled_url, keep=quick / "keep", schema=(schema := f"s{uuid.uuid4().hex[:8]}"))
    ledger.open("people", PureDP(1))
    with psycopg.connect(pooled_url, autocommit=True) as other:
        other.execute("SET synchronous_commit = off")
        other.execute("SET search_path = nowhere")
        other.execute("SET default_transaction_isolation = 'serializable'")
    store = ledger._store
    seen: list[str] = []

    def look(rows: object) -> None:
        found = rows._database.execute("SELECT current_setting('synchronous_commit')", ())  # type: ignore[attr-defined]
        seen.append(found.fetchone()[0])

    store.write(look)
    ledger.settle(ledger.reserve("people", THOUSANDTH).id, b"x")
    assert seen == ["on"]
    with psycopg.connect(pooled_url, autocommit=True) as other:
        found = other.execute("SELECT current_setting('synchronous_commit')").fetchone()
        assert found == ("off",)  # and the session is left as it was
        other.execute("DISCARD ALL")
        assert other.execute(f'SELECT count(*) FROM "{schema}".entry'.encode()).fetchone() == (3,)
    ledger.verify()
    ledger.close()


@pytest.mark.parametrize("schema", ['x", "public', "a.b", "a?b", "100%", "ñ" * 32, 'q"', "", " x"])
def test_a_schema_that_would_be_another_is_refused(postgres_url: str, quick: Path, schema: str) -> None:
    with pytest.raises(InvalidParameter):
        open_ledger(postgres_url, keep=quick / "keep", schema=schema)
    assert not (quick / "keep").exists()


def test_a_schema_with_letters_of_any_kind(postgres_url: str, quick: Path) -> None:
    ledger = open_ledger(postgres_url, keep=quick / "keep", schema=f"Año-{uuid.uuid4().hex[:8]} X")
    ledger.open("people", PureDP(1))
    ledger.verify()
    ledger.close()
