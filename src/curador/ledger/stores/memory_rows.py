"""Rows in dictionaries, with rollback: for a ledger in memory, and for replaying a history when it is verified."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curador.errors import LedgerBroken
from curador.ledger.stores.rows import (
    ANSWER,
    CHARGE,
    ENTRY,
    PAID,
    TABLES,
    AnchorNeed,
    DbRow,
    DbValue,
    Head,
    RowTable,
    row_of_entry,
)


class MemoryRows:
    """Rows in dictionaries.

    >>> from curador.ledger.stores.rows import QUESTION
    >>> rows = MemoryRows(b"")
    >>> rows.put(QUESTION, "f", 1)
    >>> rows.get(QUESTION, "f"), list(rows.scan(QUESTION))
    (('f', 1), [('f', 1)])
    >>> rows.rollback(); rows.get(QUESTION, "f")
    """

    def __init__(self, genesis: bytes, *, checked: bool = True) -> None:
        self.head, self._checked = Head(0, 0, genesis), checked
        self._tables: dict[str, dict[DbRow, DbRow]] = {table.name: {} for table in TABLES}
        # The last parts of keys by the parts before: rows with one prefix are found without looking at all others.
        self._keys: dict[str, defaultdict[DbRow, list[Any]]] = {table.name: defaultdict(list) for table in TABLES}
        self.savepoint()

    def get(self, table: RowTable, *key: DbValue) -> DbRow | None:
        return self._tables[table.name].get(key)

    def put(self, table: RowTable, *row: DbValue) -> None:
        key = row[: table.key]
        old = self._tables[table.name].get(key)
        wrong = self._checked and table.check is not None and not table.check.holds(row)
        if wrong or (table.append_only and old is not None):
            raise LedgerBroken(
                f"The table {table.name} refuses {row!r:.200}.", fix="Report this.", code="ledger-defect"
            )
        self._undo.append((table.name, key, old))
        if old is None:
            self._keys[table.name][key[:-1]].append(key[-1])
        self._tables[table.name][key] = row

    def append(self, head: Head, line: str, entry: Any) -> None:
        self.put(ENTRY, *row_of_entry(head, line))
        self.head = head

    def scan(self, table: RowTable, *prefix: DbValue, most: int | None = None, after: DbRow = ()) -> Iterator[DbRow]:
        rows, groups = self._tables[table.name], self._keys[table.name]
        starts = sorted(start for start in groups if start[: len(prefix)] == prefix)
        found = [(*start, end) for start in starts for end in _sort(groups[start])]
        if after:
            found = found[bisect_right(found, (*prefix, *after)) :]
        yield from (rows[key] for key in found[:most])

    def tail(self, table: RowTable, *prefix: DbValue, most: int, before: DbValue = None) -> Sequence[DbRow]:
        rows, ends = self._tables[table.name], _sort(self._keys[table.name][prefix])
        last = len(ends) if before is None else bisect_left(ends, before)
        return [rows[*prefix, end] for end in ends[max(0, last - most) : last]]

    def count(self, table: RowTable, *prefix: DbValue) -> int:
        return sum(len(ends) for start, ends in self._keys[table.name].items() if start[: len(prefix)] == prefix)

    def payments(self, scope: str, most: int, before: int | None) -> Sequence[DbRow]:
        entries = self._tables[ENTRY.name]
        paid = self.tail(PAID, scope, most=most, before=before)
        return [(sequence, entries[sequence,][-1]) for _, _, sequence in paid]

    def charges(self, numbers: Sequence[int]) -> Mapping[int, DbRow]:
        bought, entries, answers = (self._tables[table.name] for table in (CHARGE, ENTRY, ANSWER))
        return {n: (entries[bought[n,][1],][-1], (n,) in answers) for n in numbers}

    def require(self, need: AnchorNeed) -> None:
        pass  # these rows do not outlive the process

    def depends_on(self, entry: int) -> None:
        pass

    def drop(self, table: RowTable, *key: DbValue) -> None:
        """Forget a row for good, where only its sum matters any more."""
        del self._tables[table.name][key]
        self._keys[table.name][key[:-1]].remove(key[-1])

    @property
    def begun(self) -> Head:
        return self._head

    def copy(self) -> MemoryRows:
        """The same rows, to go on from apart."""
        made = MemoryRows(b"", checked=self._checked)
        made.head = self.head
        for name, rows in self._tables.items():
            made._tables[name].update(rows)
            made._keys[name].update({start: list(ends) for start, ends in self._keys[name].items()})
        made.savepoint()
        return made

    def savepoint(self) -> None:
        """Keep every write so far."""
        self._undo: list[tuple[str, DbRow, DbRow | None]] = []
        self._head = self.head

    def rollback(self) -> None:
        """Undo every write since the last savepoint; also one that was begun and not finished, and also twice."""
        for name, key, old in reversed(self._undo):
            if old is not None:
                self._tables[name][key] = old
                continue
            self._tables[name].pop(key, None)
            ends = self._keys[name][key[:-1]]
            if key[-1] in ends:
                ends.remove(key[-1])
        self.head = self._head
        self._undo.clear()


def _sort(ends: list[Any]) -> list[Any]:
    ends.sort()  # mostly sorted already, which takes one comparison for each
    return ends
