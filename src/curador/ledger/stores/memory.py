"""A ledger that lives as long as its process: for tests, rehearsals and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from curador.errors import LedgerFailed
from curador.forks import process
from curador.ledger.book import Book
from curador.ledger.entries import Clock, genesis, now
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.rows import AnchorNeed, Rows, T

KEY = b""
"""No secret is needed within one process; entries are sealed all the same, so that every store verifies alike."""


class MemoryStore:
    """Rows in memory, behind one lock.

    What a transaction wrote and did not keep is undone when the rows are next used, so that it does not matter at
    which instant it was interrupted.
    """

    def __init__(self) -> None:
        self._lock, self._home = Lock(), process()
        self._rows = MemoryRows(genesis(KEY))

    def write(self, transaction: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        self._require_home()
        with self._lock:
            self._rows.rollback()
            result = transaction(self._rows)
            self._rows.savepoint()
            return result

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        self._require_home()
        with self._lock:
            self._rows.rollback()
            return query(self._rows)

    def _require_home(self) -> None:
        """Refuse a forked child: it would spend the same budget again, from a copy of the balances."""
        if self._home != process():
            raise LedgerFailed(
                "A ledger in memory belongs to the process that made it, and this is a forked child.",
                fix="Keep the ledger in a file or a database, which processes share.",
                code="opened-before-fork",
            )

    def damage(self) -> str | None:
        return None

    def close(self) -> None:
        pass


class MemoryLedger(Book):
    """Scopes and charges in memory, behind one lock.

    Guarantee: charges of concurrent threads are checked and spent one after another, so that the ceilings hold.
    Fails: all charges are forgotten when the process ends; use it only where budgets need not outlive the process.

    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> _ = ledger.open("visits", PureDP(1), parent="people")
    >>> charge = ledger.reserve("visits", PureLoss("0.25"))
    >>> ledger.settle(charge.id, b"[3]")
    b'[3]'
    >>> ledger.balance("people").spent, ledger.answer(charge.id)
    (PureDP(epsilon=0.25), b'[3]')
    """

    def __init__(self, clock: Clock = now) -> None:
        super().__init__(MemoryStore(), KEY, clock)
