"""Opens a ledger by its address, and takes an older copy into use again."""

from __future__ import annotations

import re
from operator import add
from pathlib import Path
from urllib.parse import unquote

from curador.accounting.rules.costs import Cost
from curador.errors import InvalidParameter, LedgerBroken
from curador.ledger.anchor import Anchor, Mark, key_of
from curador.ledger.book import Book, Clock, now
from curador.ledger.entries import Restored, genesis
from curador.ledger.posting import LOST, append, state
from curador.ledger.pricing import covers, name_of
from curador.ledger.stores.memory import MemoryLedger
from curador.ledger.stores.rows import ENTRY, RESTORE, SCOPE, AnchorNeed, Rows
from curador.ledger.stores.sql import SqlStore, contains
from curador.ledger.verify import verify_rows


def open_ledger(
    address: str | Path, *, keep: str | Path | None = None, schema: str = "curador", clock: Clock = now
) -> Book:
    """Open the ledger at an address, and create it if there is none.

    ``"memory:"``, a path or ``"sqlite:///x.db"``, or ``"postgresql://…"`` with the ``schema`` that holds its tables.
    ``keep`` is the folder of its key and its anchor: for a file ``x.db`` by default ``x.db.keep``, better a folder on
    another volume; for PostgreSQL it must be given, and machines that share the ledger share the key.

    Fails: LedgerBroken if the ledger is older than its anchor, as a file from a backup is.

    >>> ledger = open_ledger("memory:")
    >>> ledger.verify()
    0
    """
    if str(address) == "memory:":
        return MemoryLedger(clock)
    store, key = _store(address, keep, schema, make=True)
    try:
        store.create(genesis(key))
        _check(store, key)
    except BaseException:
        store.close()
        raise
    return Book(store, key, clock)


def restore_ledger(
    address: str | Path, *, because: str, keep: str | Path | None = None, schema: str = "curador", clock: Clock = now
) -> Book:
    """Take a ledger that is older than its anchor into use again, and burn what it has forgotten.

    Every scope is charged up to what it had spent according to the anchor.  A scope is closed if the anchor has no
    balance of it, or one above the ceiling in the old copy; the names of scopes that the copy lacks stay taken.  All of
    it is one entry.

    Guarantee: all releases since the copy was made stay paid for.
    Assumes: the copy's own history is sound, which is verified first, and it was not in use elsewhere meanwhile.

    >>> import shutil, tempfile
    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, copy = Path(folder) / "x.db", Path(folder) / "copy.db"
    ...     ledger = open_ledger(file)
    ...     _ = ledger.open("people", PureDP(1))
    ...     ledger.close()
    ...     _ = shutil.copy(file, copy)
    ...     ledger = open_ledger(file)
    ...     _ = ledger.settle(ledger.reserve("people", PureLoss("0.25")).id, b"an answer")
    ...     ledger.close()
    ...     _ = shutil.copy(copy, file)
    ...     ledger = restore_ledger(file, because="the disk failed")
    ...     print(ledger.balance("people"))
    ...     ledger.close()
    people: epsilon 0.25 spent of 1, 0.75 remaining
    """
    if not because.strip():
        raise InvalidParameter("A restore needs a reason.", fix="Say it in because=.")
    store, key = _store(address, keep, schema, make=False)
    try:
        store.create(genesis(key))
        store.read(lambda rows: verify_rows(rows, key))
        try:
            mark = store.anchor.read()
        except LedgerBroken:
            mark = None
        at = clock().isoformat()

        def append_restore(rows: Rows) -> None:
            if mark is not None and contains(rows, mark.head):
                raise InvalidParameter(
                    "This ledger is not older than its anchor.", fix="Open it.", code="ledger-not-behind"
                )
            entry, skip = _burnt(rows, mark, because)
            append(rows, key, entry, at, skip)
            rows.require(AnchorNeed.AFTER)

        store.write(append_restore)
        store.checking = True
    except BaseException:
        store.close()
        raise
    return Book(store, key, clock)


def _burnt(rows: Rows, mark: Mark | None, because: str) -> tuple[Restored, int]:
    """The entry that spends or closes what an older copy has forgotten, and how many lost numbers it skips."""
    known = mark.spent if mark is not None and mark.spent is not None else {}
    ahead = mark is not None and mark.head.sequence > rows.head.sequence
    spent: dict[str, Cost] = {}
    closed: list[str] = []
    names = [(row[0], row[2]) for row in rows.scan(SCOPE)]
    for name, text in names:
        if text == LOST:
            continue
        now, then = state(rows, name, text), known.get(name, ())
        # A copy cut off at its end is part of what the anchor counted; one that went its own way is paid on top.
        after = tuple(map(max if ahead else add, now.spent, then))
        known_here = len(then) == len(now.spent)
        if known_here and covers(now.currency.rule, now.ceiling, after, (0,) * len(after)):
            spent[name] = after
        else:
            closed.append(name)
    lost = sorted(known.keys() - {name for name, _ in names})
    sequence, charges = (mark.head.sequence, mark.head.charges) if mark is not None else (0, 0)
    entry = Restored(because, max(charges, rows.head.charges), spent, closed, lost)
    return entry, max(0, sequence - rows.head.sequence)


def _check(store: SqlStore, key: bytes) -> None:
    def check_anchor(rows: Rows) -> None:
        # The mark is sealed, so that a wrong key is detected here.  It is read within the transaction: before, it may
        # not have existed yet, and another process may have made it and the first entry since.
        mark = store.anchor.read()
        last = rows.get(ENTRY, rows.head.sequence)
        if rows.head.mac != (genesis(key) if last is None else bytes(last[2])):
            raise LedgerBroken(
                "The head of this ledger does not match its last entry, or its key is another ledger's.",
                fix=RESTORE,
                code="ledger-head-mismatch",
            )
        if mark is None and rows.head.sequence:
            raise LedgerBroken("The anchor of this ledger is missing.", fix=RESTORE, code="ledger-anchor-missing")
        if mark is not None and not contains(rows, mark.head):
            raise LedgerBroken(
                f"This ledger ends with entry {rows.head.sequence}, and its anchor has seen entry "
                f"{mark.head.sequence}: it is an older copy, or another one.",
                fix=RESTORE,
                code="ledger-behind-anchor",
                facts={"entries": rows.head.sequence, "anchored": mark.head.sequence},
            )
        rows.require(AnchorNeed.AFTER)  # a process may have died between a commit and its mark

    store.write(check_anchor)
    store.checking = True


def _store(address: str | Path, keep: str | Path | None, schema: str, *, make: bool) -> tuple[SqlStore, bytes]:
    text = str(address)
    if text.startswith(("postgresql://", "postgres://")):
        from curador.ledger.stores.postgres import PostgresStore, exists

        if keep is None:
            raise InvalidParameter(
                "A ledger in PostgreSQL keeps its key and its anchor elsewhere.", fix="Name a folder: keep='…'."
            )
        folder = Path(keep)
        key = key_of(folder, make=make and not exists(text, name_of(schema, "schema")))
        return PostgresStore(text, schema, Anchor(folder, key)), key
    path = _path(text)
    if path.is_dir() or not path.name:
        raise InvalidParameter(f"{text!r} is a folder.", fix="Name a file in it for the ledger, such as ledger.db.")
    folder = Path(keep) if keep is not None else path.with_name(path.name + ".keep")
    from curador.ledger.stores.sqlite import SqliteStore

    there = path.is_file() and path.stat().st_size > 0
    key = key_of(folder, make=make and not there)
    return SqliteStore(path, Anchor(folder, key)), key


def _path(address: str) -> Path:
    """The file of an address: ``sqlite:///x.db`` is relative to the working folder, ``sqlite:////x.db`` absolute.

    >>> print(_path("sqlite:///study/ledger.db"), _path("ledger.db"))
    study/ledger.db ledger.db
    """
    if address.startswith("sqlite:///"):
        return Path(unquote(address.removeprefix("sqlite:///")))
    if re.match(r"\w+:", address):
        raise InvalidParameter(
            f"No ledger has an address like {address.split(':')[0]!r}:…",
            fix="Use a path, sqlite:///x.db, postgresql://… or memory:.",
        )
    return Path(address)
