"""The SQLite connections of this process, and what is done with them around a fork.

SQLite counts its locks by process: a child that inherits an open connection believes that it holds its parent's locks.
So none is open when a process forks, whoever has left it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from threading import RLock, local
from typing import Protocol
from weakref import WeakSet


class SqliteConnection(sqlite3.Connection):
    """A connection that knows whose it is, its file, and the log's index that it uses, in which the locks on it are."""

    process = 0
    file: tuple[int, int] | None = None
    index: tuple[int, int] | None = None

    @property
    def is_open(self) -> bool:
        try:
            return self.total_changes >= 0
        except sqlite3.ProgrammingError:
            return False


OPEN: set[SqliteConnection] = set()
"""The connections of this process: kept here until they were closed, so that none is closed unseen while it forks."""


def index_in_use(file: tuple[int, int] | None) -> tuple[int, int] | None:
    """The index that SQLite gives to a new connection to a file, because another one has it open."""
    OPEN.difference_update([one for one in tuple(OPEN) if not one.is_open])
    return next((one.index for one in tuple(OPEN) if one.file == file), None)


class Forking(Protocol):
    """A store that has connections, and none while its process forks."""

    def before_fork(self) -> None: ...

    def after_fork(self) -> None: ...


class _Forks:
    """What this process does around a fork: no connection is open then, also none of a store that is made meanwhile.

    Python settles which functions it calls before a fork when it begins.  So they are called once for all stores, and
    as long as there are new ones; from the last look on none can be made.  What a store that was dropped has left open
    is closed by whoever collects it, unless another thread forks, and else by the fork.
    """

    def __init__(self) -> None:
        self.stores: WeakSet[Forking] = WeakSet()
        self.inherited: list[SqliteConnection] = []
        self.in_child()

    def in_child(self) -> None:
        self.one, self.making, self.mine = RLock(), RLock(), local()
        self.inherited += OPEN  # none, unless the fork was interrupted: never closed here, where they are not ours
        OPEN.clear()

    @property
    def held(self) -> list[Forking]:
        """The stores that this thread holds: one that was interrupted while it waited releases nothing of another's."""
        found: list[Forking] = self.mine.__dict__.setdefault("held", [])
        return found

    def before(self) -> None:
        self.one.acquire()  # threads that fork at once do so one after the other
        while True:
            self.making.acquire()
            new = [store for store in self.stores if store not in self.held]
            if not new:
                break
            self.making.release()
            for store in new:
                self.held.append(store)  # first: whatever it holds when it is interrupted is released below
                store.before_fork()
        self._close_left()

    def after(self) -> None:
        while self.held:
            self.held.pop().after_fork()
        for lock in (self.making, self.one):
            with suppress(RuntimeError):  # less than all if it was interrupted above
                lock.release()

    def drop(self, connections: dict[str, SqliteConnection]) -> None:
        """Close what a store has left open; it may be collected anywhere, so that this waits for nothing."""
        if connections and self.one.acquire(blocking=False):
            try:
                while connections:
                    found = connections.popitem()[1]
                    if found.process == os.getpid():
                        found.close()
            finally:
                self.one.release()

    def _close_left(self) -> None:
        """All stores are held, and have none: what is open was left by those that are no more."""
        for one in tuple(OPEN):
            one.close()
        OPEN.clear()


FORKS = _Forks()
os.register_at_fork(before=FORKS.before, after_in_parent=FORKS.after, after_in_child=FORKS.in_child)
