"""The key of a ledger's seals, and its anchor: a mark of how far it had come, both kept outside the database.

A chain of seals shows that nothing in it was changed, but not that its end was cut off, as by an old copy of the file.
The anchor does: it is written before an answer leaves, and a ledger that does not reach it is refused.  It also records
what every scope had spent, so that a restore can burn what the copy has forgotten.  It protects against those who can
write to the database and not to the folder, so the folder belongs on another volume, outside the database's backups.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from curador.accounting.rules.costs import Cost
from curador.errors import LedgerBroken, LedgerFailed
from curador.ledger.entries import plain
from curador.ledger.pricing import LARGEST
from curador.ledger.stores.reopened_file import ReopenedFile
from curador.ledger.stores.rows import BALANCE, SCOPE, UNSURE, Head, Rows
from curador.noise.entropy import SYSTEM

SLOT = 32 * 1024
"""Bytes of a slot; marks go to two slots in turn, so that a power cut spoils at most the newer."""

USUAL = 1024
"""Bytes that are read first: the mark of a ledger with a few scopes fits."""

MOST_REMEMBERED = 256
"""The most balances that a mark records; of a ledger with more it records none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger had come, and what each scope had spent; None if they are too many to record."""

    head: Head
    spent: Mapping[str, Cost] | None

    def to_json(self) -> dict[str, object]:
        head = self.head
        return {
            "sequence": head.sequence,
            "charges": head.charges,
            "head": head.mac.hex(),
            "spent": None if self.spent is None else {scope: list(cost) for scope, cost in self.spent.items()},
        }


def totals(rows: Rows) -> Mapping[str, Cost] | None:
    """The spent amounts of all scopes; None if there are more than ``MOST_REMEMBERED``.

    A closed or lost scope counts as spent beyond any ceiling: an older copy, in which it is open or does not exist,
    must not bring it back, however often it is restored.
    """
    found: dict[str, Cost] = {}
    parts = list(rows.scan(BALANCE, most=MOST_REMEMBERED + 1))
    for scope, _, spent, _, _ in parts:
        found[scope] = (*found.get(scope, ()), spent)
    for scope, _, _, _, closed in rows.scan(SCOPE, most=MOST_REMEMBERED + 1):
        if closed:
            found[scope] = (LARGEST,) * len(found.get(scope, (0,)))
    return found if max(len(parts), len(found)) <= MOST_REMEMBERED else None


@contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerFailed(
            f"{path.name} beside the ledger cannot be read or written: {error.strerror or error}.",
            fix="Make its folder writable, with room.",
            cost=UNSURE,
            code="ledger-keep-unavailable",
            facts={"file": path.name},
        ) from None


def key_of(folder: Path, *, make: bool) -> bytes:
    """The key in a folder, with ``make`` created there if it is missing; only its owner may read it.

    Fails: LedgerBroken if the key is missing, LedgerFailed if others can read it.
    """
    path = folder / "key"
    with _translated_errors(path):
        if make and not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _create(path, f"{SYSTEM.bits(256):064x}\n".encode())
        if not path.exists():
            raise LedgerBroken(
                "The key of this ledger is missing.",
                fix="Bring its folder back; see keep=.",
                code="ledger-key-missing",
            )
        if path.stat().st_mode & 0o077:
            raise LedgerFailed(
                "Others can read the key of this ledger.", fix="chmod 600 its key.", code="ledger-key-exposed"
            )
        return bytes.fromhex(path.read_text())


def _create(path: Path, content: bytes) -> None:
    """Create a file atomically with its content, durably; if another process was first, its file stays."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(temporary, path)
    temporary.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Anchor:
    """The mark of a ledger, in a file of its own; it only moves forward.

    ``reached`` is the last entry that this process knows to be covered durably.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anchor = Anchor(Path(folder), b"key")
    ...     _ = anchor.advance(Mark(Head(7, 3, b"head"), {"people": (5,)}))
    ...     _ = anchor.advance(Mark(Head(6, 3, b"older"), {}))
    ...     Anchor(Path(folder), b"key").read()
    Mark(head=Head(sequence=7, charges=3, mac=b'head'), spent={'people': (5,)})
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self._path, self._key = folder / "anchor", hmac.digest(key, b"anchor", hashlib.sha256)
        self._file = ReopenedFile(self._path, os.O_RDWR)
        self._lock = Lock()
        self.reached = -1
        self._slots: list[tuple[bytes, Mark | None]] = [(b"", None)] * 2  # as last seen

    def read(self) -> Mark | None:
        """The mark; None if there is no file.

        Fails: LedgerBroken for a file without a readable mark.
        """
        with self._lock, _translated_errors(self._path):
            try:
                file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            try:
                found = self._newest(file)
            finally:
                os.close(file)
        if found is None:
            raise LedgerBroken(
                "The anchor of this ledger is unreadable.",
                fix="Bring its folder back; see keep=.",
                code="ledger-anchor-unreadable",
            )
        return found[1]

    def newest(self) -> Head | None:
        """The head that is marked now, or nothing before the first mark; a mark being written may not be seen yet."""
        with self._lock, _translated_errors(self._path):
            try:
                found = self._newest(self._file.descriptor())
            except FileNotFoundError:
                if self.reached >= 0:
                    raise
                return None
            return None if found is None else found[1].head

    def advance(self, mark: Mark) -> bool:
        """Write a mark durably, unless the file already has one as far; whether anything was synced."""
        with self._lock, _translated_errors(self._path):
            if mark.head.sequence <= self.reached:
                return False
            file = self._opened(mark)
            try:  # an interrupt may come as soon as the lock is there
                fcntl.flock(file, fcntl.LOCK_EX)  # released by the system when its process is killed
                found = self._newest(file)
                slot, old = found if found is not None else (1, None)
                if old is None or old.head.sequence < mark.head.sequence:
                    self._slots[1 - slot] = record = self._record(mark)
                    os.pwrite(file, record[0] + b"\n", (1 - slot) * SLOT)
                os.fdatasync(file)  # another process may have written it and not synced it yet
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
            self.reached = mark.head.sequence
            return True

    def close(self) -> None:
        """Release the file; the next mark opens it again."""
        with self._lock:
            self._file.close()

    def after_fork(self) -> None:
        """Share neither file nor lock with the parent of this process."""
        self._lock = Lock()
        self._file.close()

    def _opened(self, mark: Mark) -> int:
        try:
            return self._file.descriptor()
        except FileNotFoundError:
            if self.reached >= 0:  # it was there: what it knew must not be forgotten
                raise
            _create(self._path, (self._record(mark)[0] + b"\n").ljust(2 * SLOT, b"\0"))
            return self._file.descriptor()

    def _record(self, mark: Mark) -> tuple[bytes, Mark]:
        """A mark as its line; without the balances if they do not fit a slot."""
        body = plain(mark.to_json()).encode()
        if len(body) > SLOT - 100:
            return self._record(Mark(mark.head, None))
        return body + b"\t" + hmac.digest(self._key, body, hashlib.sha256).hex().encode(), mark

    def _newest(self, file: int) -> tuple[int, Mark] | None:
        newest = None
        for slot in (0, 1):
            line, end, _ = os.pread(file, USUAL, slot * SLOT).partition(b"\n")
            if not end:
                line = os.pread(file, SLOT, slot * SLOT).partition(b"\n")[0]
            if line != self._slots[slot][0]:
                self._slots[slot] = line, self._mark(line)
            mark = self._slots[slot][1]
            if mark is not None and (newest is None or mark.head.sequence > newest[1].head.sequence):
                newest = slot, mark
        return newest

    def _mark(self, line: bytes) -> Mark | None:
        body, _, mac = line.partition(b"\t")
        if not hmac.compare_digest(hmac.digest(self._key, body, hashlib.sha256).hex().encode(), mac):
            return None
        data = json.loads(body)
        spent = data["spent"]
        return Mark(
            Head(data["sequence"], data["charges"], bytes.fromhex(data["head"])),
            None if spent is None else {scope: tuple(cost) for scope, cost in spent.items()},
        )
