"""What a ledger keeps outside its database: the key of its seals, and an anchor that remembers how far it had come.

A chain of seals shows that nothing in it was changed, but not that its end was cut off, as by an old copy of the file.
The anchor does: it is written before an answer leaves, and a ledger that does not reach it is refused.  It also keeps
what every scope had spent, so that a restore can burn what the copy has forgotten.  It helps against those who can
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

from curador.accounting.costs import Cost
from curador.errors import LedgerBroken, LedgerFailed
from curador.ledger.entries import plain
from curador.ledger.faults import UNSURE
from curador.ledger.rows import Head
from curador.noise.entropy import SYSTEM

SLOT = 32 * 1024
"""The anchor is written to one of two places in turn, so that a power cut spoils at most the newer."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger had come, and what its scopes had spent; None where they were too many to remember."""

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


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerFailed(
            f"{path.name} beside the ledger cannot be read or written: {error.strerror or error}.",
            fix="Make its folder writable, with room.",
            cost=UNSURE,
        ) from None


def key_of(folder: Path, *, make: bool) -> bytes:
    """The key in a folder, made there if it is new; nobody but its owner may read it.

    Fails: LedgerBroken where a ledger's key is missing, LedgerFailed where others can read it.
    """
    path = folder / "key"
    with _telling(path):
        if make and not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _create(path, f"{SYSTEM.bits(256):064x}\n".encode())
        if not path.exists():
            raise LedgerBroken("The key of this ledger is missing.", fix="Bring its folder back; see keep=.")
        if path.stat().st_mode & 0o077:
            raise LedgerFailed("Others can read the key of this ledger.", fix="chmod 600 its key.")
        return bytes.fromhex(path.read_text())


def _create(path: Path, content: bytes) -> None:
    """A file that is there with all its content or not at all; whoever comes second finds the first one's."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(beside, path)
    beside.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Anchor:
    """The mark of a ledger, in a file of its own; it only moves on.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anchor = Anchor(Path(folder), b"key")
    ...     anchor.advance(Mark(Head(7, 3, b"head"), {"people": (5,)}))
    ...     anchor.advance(Mark(Head(6, 3, b"older"), {}))
    ...     Anchor(Path(folder), b"key").read()
    Mark(head=Head(sequence=7, charges=3, mac=b'head'), spent={'people': (5,)})
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self._path, self._key = folder / "anchor", hmac.digest(key, b"anchor", hashlib.sha256)
        self._lock = Lock()
        self._reached = -1

    def read(self) -> Mark | None:
        """The mark; None if there is no file.  A file without a readable mark is refused."""
        with _telling(self._path):
            if not self._path.exists():
                return None
            found = self._newest(self._path.read_bytes())
        if found is None:
            raise LedgerBroken("The anchor of this ledger is unreadable.", fix="Bring its folder back; see keep=.")
        return found[1]

    def advance(self, mark: Mark) -> None:
        """Write a mark durably, unless the one that is there has come as far."""
        with self._lock, _telling(self._path):
            if mark.head.sequence <= self._reached:
                return
            if not self._path.exists():
                _create(self._path, self._record(mark).ljust(2 * SLOT, b"\0"))
            with open(self._path, "r+b", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # let go when the file is closed, or its process is killed
                found = self._newest(file.read())
                slot, old = found if found is not None else (1, None)
                if old is None or old.head.sequence < mark.head.sequence:
                    os.pwrite(file.fileno(), self._record(mark), (1 - slot) * SLOT)
                os.fdatasync(file.fileno())  # another process may have written and not come as far as this
            self._reached = mark.head.sequence

    def _record(self, mark: Mark) -> bytes:
        line = plain(mark.to_json()).encode()
        if len(line) > SLOT - 100:
            line = plain(Mark(mark.head, None).to_json()).encode()
        return line + b"\t" + hmac.digest(self._key, line, hashlib.sha256).hex().encode() + b"\n"

    def _newest(self, content: bytes) -> tuple[int, Mark] | None:
        read = ((slot, self._mark(content[slot * SLOT : (slot + 1) * SLOT])) for slot in (0, 1))
        return max(((s, m) for s, m in read if m is not None), key=lambda x: x[1].head.sequence, default=None)

    def _mark(self, slot: bytes) -> Mark | None:
        line, _, mac = slot.partition(b"\n")[0].partition(b"\t")
        if not hmac.compare_digest(hmac.digest(self._key, line, hashlib.sha256).hex().encode(), mac):
            return None
        data = json.loads(line)
        spent = data["spent"]
        return Mark(
            Head(data["sequence"], data["charges"], bytes.fromhex(data["head"])),
            None if spent is None else {scope: tuple(cost) for scope, cost in spent.items()},
        )
