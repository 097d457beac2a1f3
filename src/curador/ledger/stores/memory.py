"""A ledger that lives as long as its process: for tests, rehearsals and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from curador.ledger.book import Book, Clock, now
from curador.ledger.entries import genesis
from curador.ledger.stores.rows import AnchorNeed, MemoryRows, Rows, T

KEY = b""
"""Nobody else reaches this process's memory; the chain is there so that every store is checked alike."""


class MemoryStore:
    """Rows in memory, behind one lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows = MemoryRows(genesis(KEY))

    def write(self, work: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        with self._lock:
            try:
                done = work(self._rows)
            except BaseException:
                self._rows.undo()
                raise
            self._rows.keep()
            return done

    def read(self, work: Callable[[Rows], T]) -> T:
        with self._lock:
            return work(self._rows)

    def damage(self) -> str | None:
        return None

    def close(self) -> None:
        pass


class MemoryLedger(Book):
    """Scopes and charges in memory, behind one lock.

    Guarantee: charges of any number of threads are checked and spent one after another; the ceilings hold together.
    Fails: a process that ends forgets what it spent, so no budget here outlives the data's exposure.

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
