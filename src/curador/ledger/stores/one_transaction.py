"""A transaction that is open already, as a store: many decisions of a book are then written together, or none is.

A first run only looks: where everything is found as it should be, no other process waits for the write lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from curador.ledger.stores.rows import AnchorNeed, DbRow, DbValue, Head, Rows, RowTable, T


class MustWrite(Exception):
    """Something has to be written, which a transaction that only looks cannot do; it never leaves the book."""


class Look:
    """The rows of a snapshot, each read once; writing is refused with :class:`MustWrite`.

    >>> from curador.ledger.stores.memory_rows import MemoryRows
    >>> from curador.ledger.stores.rows import QUESTION
    >>> Look(MemoryRows(b"")).get(QUESTION, "f")
    """

    def __init__(self, rows: Rows) -> None:
        self._rows, self._read = rows, dict[tuple[RowTable, DbRow], DbRow | None]()
        self.head: Head = rows.head
        self.begun: Head = rows.begun

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        try:
            return self._read[table, key]
        except KeyError:
            self._read[table, key] = row = self._rows.get(table, *key)
            return row

    def put(self, table: RowTable, *row: DbValue) -> NoReturn:
        raise MustWrite

    def append(self, head: Head, line: str, entry: Any) -> NoReturn:
        raise MustWrite

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None, after: DbRow = ()) -> Iterator[DbRow]:
        return self._rows.scan(table, *prefix, most=most, after=after)

    def tail(self, table: RowTable, *prefix: DbValue, most: int, before: DbValue = None) -> Sequence[DbRow]:
        return self._rows.tail(table, *prefix, most=most, before=before)

    def count(self, table: RowTable, *prefix: DbValue) -> int:
        return self._rows.count(table, *prefix)

    def payments(self, scope: str, most: int, before: int | None) -> Sequence[DbRow]:
        return self._rows.payments(scope, most, before)

    def charges(self, numbers: Sequence[int]) -> Mapping[int, DbRow]:
        return self._rows.charges(numbers)

    def require(self, need: AnchorNeed) -> NoReturn:
        raise MustWrite

    def depends_on(self, entry: int) -> None:
        self._rows.depends_on(entry)


class OneTransaction:
    """A store whose every transaction is part of one that is open already."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def write(self, transaction: Callable[[Rows], T], need: AnchorNeed | None = None) -> T:
        if need is not None:
            self._rows.require(AnchorNeed.AFTER)  # the transaction has begun: what went before is covered with it
        return transaction(self._rows)

    def read(self, query: Callable[[Rows], T], long: bool = False) -> T:
        return query(self._rows)

    def damage(self) -> str | None:
        return None

    def close(self) -> None:
        pass
