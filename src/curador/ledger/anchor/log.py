"""The anchor of a ledger: a log of how far it had come, kept outside the database.

A chain of seals shows that nothing in it was changed, but not that its end was cut off, as by an old copy of the file.
The anchor does: a mark is written before an answer leaves, and a database that lacks a marked entry is refused.  It
also records what the entries did, so that a restore can bring back what the copy has forgotten.  It protects against
those who can write to the database and not to the folder, so the folder belongs on another volume, outside the
database's backups.

A mark is a sealed line that names the seal of the line before.  The file is filled with zeros ahead: writing over them
changes no length, so that a sync writes nothing else.  When it is full, its lines are added up to one, in a new file.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from curador.accounting.rules.costs import Cost
from curador.errors import LedgerBroken
from curador.ledger.anchor.keep import create, opened_line, sealed_line, sync_folder, translated_errors, unavailable
from curador.ledger.anchor.summary import Change, Newer, StateRows, added, apply, changed, from_state, state_rows
from curador.ledger.entries import plain, quoted, read
from curador.ledger.stores.memory_rows import MemoryRows
from curador.ledger.stores.reopened_file import ReopenedFile, content_of, patiently, written_after
from curador.ledger.stores.rows import Head
from curador.show.files import sync

T = TypeVar("T")

LONGEST_NOTE = 1024
"""Bytes of a note; its line, and empty ones."""

SIZE = 64 * 1024
"""Bytes of a log, unless its first line is long: some two hundred marks."""

ROOM = 4
"""A log has room for so many times its first line."""

_START = b'{"after":'
"""How a line begins: its keys are sorted."""


class _Place(NamedTuple):
    """The end of a log: the file it is in, how long that is, the newest mark, and where the next one goes.

    ``synced`` is the place up to which the file is known to be on the disk; ``torn``, whether anything follows the end.
    """

    file: tuple[int, int] | None
    size: int
    head: Head
    seal: str
    end: int
    synced: int
    torn: bool


class Anchor:
    """The marks of a ledger, in a file of their own; they only move forward.

    ``reached`` is the last entry that this process knows to be covered durably.

    >>> import tempfile
    >>> from curador.ledger.entries import Settled, seal, written
    >>> from curador.ledger.anchor.summary import StoredEntries
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anchor = Anchor(Path(folder), b"key")
    ...     anchor.start(Head(0, 0, b""), {})
    ...     line = written(Settled(1, ""), "now")
    ...     mac = seal(b"key", b"", 1, line)
    ...     _ = anchor.mark(Head(1, 0, mac), StoredEntries([(1, 0, "now", mac, line)]))
    ...     found = Anchor(Path(folder), b"key").newest()
    >>> found == Head(1, 0, mac)
    True
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self._path = Path(folder).absolute() / "anchor"  # wherever this process goes later
        self._ledger_key, self._key = key, hmac.digest(key, b"anchor", hashlib.sha256)
        self._file = ReopenedFile(self._path, os.O_RDONLY)  # for looking, without a lock
        self._held = ReopenedFile(self._path, os.O_RDWR)  # for writing, by the one thread whose turn it is
        self._notes: dict[str, ReopenedFile] = {}
        self._place: _Place | None = None
        # The seal up to which every line but the first was written here, and what each of those lines says.
        self._seen: tuple[str, list[Change]] | None = None
        self.reached = -1
        self.after_fork()

    def after_fork(self) -> None:
        """Share neither files nor locks with the parent of this process."""
        self._lock, self._turn = Lock(), Lock()
        self._file.close()
        self._held.close()  # with the lock of a thread of the parent that was marking: the child must not keep it
        self._forget_file()

    def close(self) -> None:
        """Release the files; the next use opens them again."""
        with self._turn, self._lock:
            for file in (self._file, self._held, *self._notes.values()):
                file.close()
            self._forget_file()

    def _forget_file(self) -> None:
        """The system may give the number of a file that nobody has open to another; what was marked stays known."""
        if self._place is not None:
            self._place = self._place._replace(file=None)

    # -- reading

    def newest(self) -> Head | None:
        """The head that was marked last; None before there is a file.

        It waits for nobody, unless what it sees is no log: a mark that is being written may not be seen yet.

        Fails: LedgerFailed if the file was there and is gone; LedgerBroken if it is an older one or another ledger's.
        """
        try:
            try:
                with self._lock:
                    return self._look(self._file.descriptor(), self._file.identity).head
            except LedgerBroken:  # read while others wrote, a line may be missing before one that was written later
                return self._glance_locked()
        except OSError as error:
            if self._place is None and isinstance(error, FileNotFoundError):
                return None
            raise unavailable(self._path, error) from None

    def _glance_locked(self) -> Head:
        def look(_: int) -> Head:
            with self._lock:
                return self._look(self._file.descriptor(), self._file.identity).head

        return self._unchanged(look)  # before the lock of this process's threads, as whoever marks takes them

    def read(self) -> tuple[Head, MemoryRows] | None:
        """The newest mark, and what the history up to it comes to; None if there is no file.

        Fails: LedgerBroken for a damaged file.
        """
        marks = self._all()
        return (_head(marks[-1][0]), _sum(marks)) if marks else None

    def heads(self) -> tuple[Head, ...]:
        """The heads of all marks since the lines were last added up, oldest first."""
        return tuple(_head(mark) for mark, _ in self._all())

    def _all(self) -> list[tuple[dict[str, Any], str]]:
        with translated_errors(self._path):
            try:
                content = self._unchanged(content_of)
            except FileNotFoundError:
                return []
        return self._marks(content)[0]

    def _unchanged(self, read: Callable[[int], T]) -> T:
        """Read the file while nobody writes it."""
        opened = ReopenedFile(self._path, os.O_RDONLY)
        file = opened.descriptor()
        try:
            patiently(partial(fcntl.flock, file, fcntl.LOCK_SH | fcntl.LOCK_NB))
            return read(file)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing it would not do where a child was forked meanwhile
            opened.close()

    def verified(self) -> Head | None:
        """The head up to which the history was verified, as noted beside the anchor; None if that is not known."""
        noted = self.noted("verified")  # it may be removed, and is then verified from the beginning
        return None if noted is None else _head(noted)

    def noted(self, name: str) -> Any:
        """What was noted beside the anchor under a name; None if nothing was, or not with this ledger's key."""
        try:
            found = opened_line(self._key, (self._path.parent / name).read_bytes().rstrip(b"\n"))
        except OSError:
            return None
        return None if found is None else found[0].get(name)

    # -- writing

    def note_verified(self, head: Head) -> None:
        """Note that the history was verified up to a head."""
        with translated_errors(self._path):
            self.note("verified", _header(head, "", 0))

    def note(self, name: str, what: object) -> None:
        """Note something beside the anchor, under its seal: for speed, so that it may be lost or torn."""
        if name not in self._notes:
            self._notes[name] = ReopenedFile(self._path.parent / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        line = sealed_line(self._key, plain({name: what}))[0]
        os.pwrite(self._notes[name].descriptor(), line.ljust(LONGEST_NOTE, b"\n"), 0)

    def start(self, head: Head, state: StateRows) -> None:
        """Begin the first log, with a history's state; that of whoever was first stays."""
        with translated_errors(self._path):
            self._write_new(head, state, over=False)
        self._begun(head)

    def supersede(self, old: Head | None, head: Head, state: StateRows) -> bool:
        """Begin a new log over one that ends with the mark ``old``, or that cannot be read (None).

        False, and nothing is done, if it ends with another mark by now: others have gone on from here, and sold.
        """
        with translated_errors(self._path), self._turn:
            while True:
                try:
                    file = self._held.descriptor()
                except FileNotFoundError:
                    if old is not None:
                        raise
                    self._write_new(head, state, over=False)
                    continue  # it is another's, if that was first
                try:
                    patiently(partial(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB))
                    if not self._held.is_named():
                        continue
                    newest = self._end(file)
                    if newest == old:
                        self._write_new(head, state, over=True)
                    elif newest != head:
                        return False
                    break
                finally:
                    fcntl.flock(file, fcntl.LOCK_UN)
        self._begun(head)
        return True

    def _end(self, file: int) -> Head | None:
        try:
            return _head(self._marks(content_of(file))[0][-1][0])
        except LedgerBroken:
            return None

    def _begun(self, head: Head) -> None:
        with self._lock:
            self._place = None
        self.reached = head.sequence

    def mark(self, head: Head, entries: Newer) -> Head:
        """Mark a head durably, with the entries since the newest mark; nothing but a sync where it is marked already.

        Returns the newest mark, which is another one if others have marked more.

        Fails: LedgerBroken if the entries do not follow the newest mark.
        """
        try:
            with self._turn:
                while (newest := self._mark_in(self._held.held(), head, entries)) is None:
                    self._held.descriptor()  # another process has begun a new file
        except OSError as error:
            raise unavailable(self._path, error) from None
        self.reached = max(self.reached, head.sequence)
        return newest

    def _mark_in(self, file: int, head: Head, entries: Newer) -> Head | None:
        """Mark a head in an open file; None if it is no longer the anchor.  Only this thread could close it meanwhile.

        Returns the newest mark.
        """
        identity = self._held.identity
        try:  # an interrupt may come as soon as the lock is there
            # The system releases it when its process is killed.
            patiently(partial(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB))
            if not self._held.is_named():
                return None
            with self._lock:
                if self._place is None or self._place.file != identity:
                    sync_folder(self._path.parent)  # whoever began this file may not have come so far
                place = self._look(file, identity)
            if head.sequence > place.head.sequence:
                self._append(file, place, head, entries)
                return head
            _write(file, place)  # whoever wrote it may have been killed before
            return place.head
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # built in, so that no interrupt comes before it

    def _append(self, file: int, place: _Place, head: Head, entries: Newer) -> None:
        change = changed(entries.after(place.head, self._ledger_key))
        line, seal = sealed_line(self._key, _mark_text(head, place, change))
        end = place.end + len(line)
        if place.torn or end > place.size:
            self._add_up(file, head, change, place)
            return
        _write(file, place, line)
        if self._seen is not None and self._seen[0] == place.seal:
            self._seen[1].append(change)
            self._seen = seal, self._seen[1]
        with self._lock:
            self._place = _Place(place.file, place.size, head, seal, end, end, False)

    def _add_up(self, file: int, head: Head, change: Change, place: _Place) -> None:
        """Begin a new file with the sum of all lines, and a change; of lines that were all written here, the first."""
        content = content_of(file)
        if self._seen is not None and self._seen[0] == place.seal and not place.torn:
            rows = _sum(self._marks(content[: content.find(b"\n") + 1])[0])
            apply(added(self._seen[1]), rows)
        else:
            rows = _sum(self._marks(content)[0])
        apply(change, rows)
        self._write_new(head, state_rows(rows), over=True)

    def _write_new(self, head: Head, state: StateRows, *, over: bool) -> None:
        line, _ = sealed_line(self._key, plain({**_header(head, "", 0), "state": state}))
        create(self._path, line.ljust(-(-max(SIZE, ROOM * len(line)) // 4096) * 4096, b"\0"), over=over)

    # -- lines

    def _marks(self, content: bytes) -> tuple[list[tuple[dict[str, Any], str]], int, bool]:
        """All lines, where they end, and whether something torn follows: a power cut spoils what was not synced.

        Fails: LedgerBroken where a later line was written when this one was known to be on the disk.
        """
        marks: list[tuple[dict[str, Any], str]] = []
        place, before = 0, ""
        while (end := content.find(b"\n", place)) >= 0:
            mark = opened_line(self._key, content[place:end])
            if mark is None or mark[0]["after"] != before:
                break
            marks.append(mark)
            place, before = end + 1, mark[1]
        rest = content[place:]
        torn = rest != bytes(len(rest))
        if not marks:
            raise LedgerBroken(
                "The anchor of this ledger is unreadable, or another ledger's.",
                fix="Bring its folder back; see keep=.",
                code="ledger-anchor-unreadable",
            )
        for piece in rest.split(b"\n") if torn else ():
            later = opened_line(self._key, piece[piece.rfind(_START) :])
            if later is not None and later[0]["synced"] > place:
                raise LedgerBroken(
                    f"The anchor of this ledger is damaged after entry {marks[-1][0]['sequence']}.",
                    fix="Bring its folder back; see keep=.",
                    code="ledger-anchor-damaged",
                )
        return marks, place, torn

    def _look(self, file: int, identity: tuple[int, int] | None) -> _Place:
        """The end of the log as it is now; of lines that others wrote, only the last is opened."""
        place = self._place
        if place is not None and place.file == identity:
            # At once: whether the newest line ends where it did, for the number of a removed file may be another's by
            # now; and whether anything follows it.
            line = f"{place.seal}\n".encode()
            seen = os.pread(file, len(line) + 1, place.end - len(line))
            if seen == (line + b"\0" if place.end < place.size else line):
                return place
            if seen.startswith(line):
                self._place = place = self._followed(file, place)
                return place
        content = content_of(file)
        marks, end, torn = self._marks(content)
        last, seal = marks[-1]
        synced = last["synced"] if marks[1:] else end  # a file has its name once its first line is on the disk
        place = self._further(_Place(identity, len(content), _head(last), seal, end, synced, torn))
        self._seen = None if marks[1:] else (seal, [])
        self._place = place
        return place

    def _followed(self, file: int, place: _Place) -> _Place:
        """The end of a log in which others wrote behind a place."""
        rest = written_after(file, place.end)
        for piece in reversed(rest.split(b"\n")[:-1]):
            if (mark := opened_line(self._key, piece)) is not None:
                end = place.end + rest.rfind(piece) + len(piece) + 1
                torn = end < place.end + len(rest)
                found = _Place(place.file, place.size, _head(mark[0]), mark[1], end, mark[0]["synced"], torn)
                return self._further(found)
        return place._replace(torn=True)

    def _further(self, place: _Place) -> _Place:
        """Refuse a log that ends before the mark that was seen here."""
        known = self._place
        if known is not None and (
            place.head.sequence < known.head.sequence
            or (place.head.sequence == known.head.sequence and place.head.mac != known.head.mac)
        ):
            raise LedgerBroken(
                f"The anchor of this ledger ends with entry {place.head.sequence}, and entry {known.head.sequence} was "
                "marked before: it is an older one, or another ledger's.",
                fix="Bring its folder back; see keep=.",
                code="ledger-anchor-replaced",
                facts={"anchored": place.head.sequence, "seen": known.head.sequence},
            )
        return place


def _write(file: int, place: _Place, line: bytes = b"") -> None:
    """Write a line at the end of a log durably, and again what is not known to be on the disk before it.

    A sync that fails may leave pages that were never written and pass for such: the next one succeeds without them.
    """
    unsure = place.end - place.synced
    content = os.pread(file, unsure, place.synced) + line if unsure else line
    if os.pwrite(file, content, place.synced) != unsure + len(line):
        raise OSError("it was cut short")
    sync(file, data_only=True)


def _header(head: Head, after: str, synced: int) -> dict[str, object]:
    return {
        "after": after,
        "at": head.at,
        "charges": head.charges,
        "head": head.mac.hex(),
        "sequence": head.sequence,
        "synced": synced,
    }


def _mark_text(head: Head, place: _Place, change: Change) -> str:
    """The canonical JSON of a header with a change, in one go: one is written with every answer."""
    decisions = plain([decision[:2] for decision in change.decisions]) if change.decisions else "[]"
    paid = ",".join([_paid_text(scope, cost) for scope, cost in sorted(change.paid.items())])
    return (
        f'{{"after":"{place.seal}","at":{quoted(head.at)},"charges":{head.charges},"decisions":{decisions},'
        f'"head":"{head.mac.hex()}","paid":{{{paid}}},"sequence":{head.sequence},"synced":{place.synced}}}'
    )


@lru_cache(maxsize=1024)
def _paid_text(scope: str, cost: Cost) -> str:
    """What a scope paid, as JSON; most pay the same again and again."""
    return f"{quoted(scope)}:[{','.join(map(str, cost))}]"


def _head(body: Mapping[str, Any]) -> Head:
    return Head(body["sequence"], body["charges"], bytes.fromhex(body["head"]), body["at"])


def _sum(marks: Iterable[tuple[Mapping[str, Any], str]]) -> MemoryRows:
    """What a history comes to, from the lines of a log."""
    rows: MemoryRows | None = None
    for body, _ in marks:
        if rows is None:
            rows = from_state(body["state"])
        else:
            apply(Change(tuple((n, line, read(line)[0]) for n, line in body["decisions"]), body["paid"]), rows)
    assert rows is not None
    return rows
