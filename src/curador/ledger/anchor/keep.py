"""The folder beside a ledger: its key, and files that are made whole or not at all."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from curador.errors import LedgerBroken, LedgerFailed
from curador.ledger.entries import keyed_digest
from curador.ledger.stores.rows import UNSURE
from curador.noise.entropy import SYSTEM
from curador.show.files import give, sync

KEY_BITS = 256


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Raise the system's errors about a file as LedgerFailed."""
    try:
        yield
    except OSError as error:
        raise unavailable(path, error) from None


def unavailable(path: Path, error: OSError) -> LedgerFailed:
    """The refusal of what needs a file that the system cannot read or write."""
    return LedgerFailed(
        f"{path.name} beside the ledger cannot be read or written: {error.strerror or error}.",
        fix="Bring its folder back, writable and with room; then ask again.",
        cost=UNSURE,
        code="ledger-keep-unavailable",
        facts={"file": path.name},
    )


def key_of(folder: Path, *, make: bool) -> bytes:
    """The key in a folder, with ``make`` created there if it is missing; only its owner may read it.

    Fails: LedgerBroken if the key is missing or damaged, LedgerFailed if others can read it.
    """
    path = folder / "key"
    with translated_errors(path):
        if make and not path.exists():
            _make_folder(folder)
            create(path, f"{SYSTEM.bits(KEY_BITS):064x}\n".encode())
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
        try:
            key = bytes.fromhex(path.read_bytes().decode("ascii"))
        except ValueError:  # no hexadecimal digits, or no text
            key = b""
    if len(key) * 8 != KEY_BITS:
        raise LedgerBroken(
            "The key of this ledger is damaged.",
            fix="Bring back the copy of it that was made when the ledger was new.",
            code="ledger-key-damaged",
        )
    return key


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably: a power cut that took one of them would take the key with it."""
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(exist_ok=True, mode=0o700 if missing == folder else 0o777)
        give(missing, missing.parent)
        sync_folder(missing.parent)


def create(path: Path, content: bytes, *, over: bool = False) -> None:
    """Make a file with its content, durably and at once; the file of whoever was first stays, unless ``over`` it.

    Its temporary name is drawn at random: threads, and processes of two containers, may have the same number.
    """
    temporary = path.with_name(f"{path.name}.{SYSTEM.bits(96):024x}.new")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            give(file.fileno(), path.parent)
            sync(file.fileno())
        if over:
            temporary.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sealed_line(key: bytes, text: str) -> tuple[bytes, str]:
    """A text as a line with its seal, and the seal.

    >>> opened_line(b"key", sealed_line(b"key", '{"n": 1}')[0].rstrip())[0]
    {'n': 1}
    """
    body = text.encode()
    seal = keyed_digest(key, body).hex()
    return b"%b\t%b\n" % (body, seal.encode()), seal


def opened_line(key: bytes, line: bytes) -> tuple[dict[str, Any], str] | None:
    """What a line says, and its seal; None if it does not carry the right one."""
    text, _, seal = line.rpartition(b"\t")
    if not hmac.compare_digest(keyed_digest(key, text).hex().encode(), seal):
        return None
    return json.loads(text), seal.decode()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)
