"""Opens a ledger by its address, and takes an older copy into use again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from curador.errors import InvalidParameter, LedgerBroken
from curador.ledger.anchor.decided import Decided
from curador.ledger.anchor.keep import key_of
from curador.ledger.anchor.log import Anchor
from curador.ledger.anchor.summary import restored, state_rows
from curador.ledger.book import Book
from curador.ledger.entries import Clock, Restored, genesis, instant, now, read
from curador.ledger.posting import append
from curador.ledger.pricing import name_of
from curador.ledger.stores.memory import MemoryLedger
from curador.ledger.stores.rows import ENTRY, RESTORE, AnchorNeed, Head, Rows, paged
from curador.ledger.stores.sql import SqlStore, contains
from curador.ledger.verify import compare_state, verify_new, verify_rows

MOST_AT_OPENING = 2000
"""The most entries that an opening verifies, so that it takes no longer than a fraction of a second."""

UNREADABLE = ("ledger-anchor-unreadable", "ledger-anchor-damaged")
"""How an anchor is refused that says nothing any more."""

WORTH_NOTING = 100
"""Entries from which on it is noted how far the history was verified; fewer are sooner verified again."""


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
    return Book(store, key, clock, Decided(store.anchor, key))


def restore_ledger(
    address: str | Path, *, because: str, keep: str | Path | None = None, schema: str = "curador", clock: Clock = now
) -> Book:
    """Take a ledger that is older than its anchor into use again, and burn what it has forgotten.

    The anchor knows every scope with what it had spent, and every table's registration, and brings them back: those
    that the copy lacks, too, and grants, closures and renewals.  Without a readable anchor nothing is known, and
    nothing can be bought from the ledger again.  All of it is one entry.  Charges and answers since the copy are gone.

    Guarantee: all releases since the copy was made stay paid for, by the people they were about.
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
        store.read(lambda rows: verify_rows(rows, key), long=True)
        at = instant(clock())

        def append_restore(rows: Rows) -> Head | None:
            try:
                known, marks = store.anchor.read(), store.anchor.heads()
            except LedgerBroken as error:
                if error.code not in UNREADABLE:
                    raise
                known, marks = None, ()
            if known is not None and (contains(rows, known[0]) or _superseded(rows, known[0])):
                raise InvalidParameter(
                    "This ledger is not older than its anchor.", fix="Open it.", code="ledger-not-behind"
                )
            entry = restored(rows, known, because, apart=known is not None and _went_apart(rows, known[0], marks))
            head = known[0] if known is not None else rows.head
            append(rows, key, entry, max(at, head.at), max(0, head.sequence - rows.head.sequence))
            return None if known is None else head

        _anchor_anew(store, store.write(append_restore))
        _watch(store, key)
    except BaseException:
        store.close()
        raise
    return Book(store, key, clock, Decided(store.anchor, key))


def _check(store: SqlStore, key: bytes) -> None:
    """Compare a ledger with its anchor: that it has come as far, and what each scope has spent."""

    def check_mark(rows: Rows) -> Head | None:
        # The mark is sealed, so that a wrong key is detected here.  It is read within the transaction: before, it may
        # not have existed yet, and another process may have made it and the first entry since.
        mark = store.anchor.newest()
        if mark is None and rows.head.sequence:
            raise LedgerBroken("The anchor of this ledger is missing.", fix=RESTORE, code="ledger-anchor-missing")
        if mark is None:
            store.anchor.start(rows.head, {})
        elif not contains(rows, mark):
            if _superseded(rows, mark):
                return mark
            raise _behind(rows.head, mark)
        rows.require(AnchorNeed.AFTER)  # a process may have died between a commit and its mark
        return None

    if (superseded := store.write(check_mark)) is not None:
        # A restore was cut off before it came so far, or another machine restored: no anchor to compare balances with.
        store.read(lambda rows: verify_rows(rows, key), long=True)
        _anchor_anew(store, superseded)
    store.checking = True
    anchored = store.anchor.read()
    assert anchored is not None
    noted = store.anchor.verified() or Head(0, 0, genesis(key))

    def check_rows(rows: Rows) -> tuple[Head, Head]:
        compare_state(rows, key, *anchored)
        since = noted if contains(rows, noted) else Head(0, 0, genesis(key))
        return since, verify_new(rows, key, since, MOST_AT_OPENING)

    since, end = store.read(check_rows, long=True)
    if end.sequence - since.sequence >= WORTH_NOTING:
        store.anchor.note_verified(end)
    _watch(store, key)


def _watch(store: SqlStore, key: bytes) -> None:
    def compare(rows: Rows) -> None:
        anchored = store.anchor.read()
        assert anchored is not None
        compare_state(rows, key, *anchored)

    store.watch(compare)


def _went_apart(copy: Rows, newest: Head, marks: Iterable[Head]) -> bool:
    """Whether a copy that lacks an anchor's newest mark has entries that the anchor has not counted.

    One whose end was cut off has all marks up to its end, and is not later than the newest: entries are in the order of
    their times.
    """
    if copy.head.sequence >= newest.sequence or copy.head.at > newest.at:
        return True
    return any(mark.sequence <= copy.head.sequence and not contains(copy, mark) for mark in marks)


def _superseded(rows: Rows, mark: Head) -> bool:
    """Whether a restore of this history took the place of a mark."""
    later = (row[-1] for row in paged(rows, ENTRY, (mark.sequence,)) if '"kind":"restore"' in row[-1])
    over = [mark.sequence, mark.mac.hex()]
    return any(isinstance(entry, Restored) and entry.over == over for entry, _ in map(read, later))


def _anchor_anew(store: SqlStore, old: Head | None) -> None:
    """Let the anchor begin with a history that was taken into use again, in the place of its ``old`` mark.

    Within a transaction, so that nobody writes meanwhile.  Another process may have been here before: then its anchor
    stays, with what it has sold since, and is marked.
    """

    def begin(rows: Rows) -> None:
        if store.anchor.supersede(old, rows.head, state_rows(rows)):
            return
        mark = store.anchor.newest()
        if mark is None or not contains(rows, mark):
            raise _behind(rows.head, mark)
        rows.require(AnchorNeed.AFTER)

    store.write(begin)
    store.checking = True


def _behind(head: Head, mark: Head | None) -> LedgerBroken:
    anchored = 0 if mark is None else mark.sequence
    return LedgerBroken(
        f"This ledger ends with entry {head.sequence}, and its anchor has seen entry {anchored}: "
        "it is an older copy, or another one.",
        fix=RESTORE,
        code="ledger-behind-anchor",
        facts={"entries": head.sequence, "anchored": anchored},
    )


def _store(address: str | Path, keep: str | Path | None, schema: str, *, make: bool) -> tuple[SqlStore, bytes]:
    text = str(address)
    if text.startswith(("postgresql://", "postgres://")):
        from curador.ledger.stores.postgres import PostgresStore, exists

        if keep is None:
            raise InvalidParameter(
                "A ledger in PostgreSQL keeps its key and its anchor elsewhere.", fix="Name a folder: keep='…'."
            )
        folder = Path(keep).absolute()
        key = key_of(folder, make=make and not exists(text, name_of(schema, "schema")))
        return PostgresStore(text, schema, Anchor(folder, key)), key
    path = _path(text)
    if path.is_dir() or not path.name:
        raise InvalidParameter(f"{text!r} is a folder.", fix="Name a file in it for the ledger, such as ledger.db.")
    path = path.absolute()  # wherever this process goes later
    folder = Path(keep).absolute() if keep is not None else path.with_name(path.name + ".keep")
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
