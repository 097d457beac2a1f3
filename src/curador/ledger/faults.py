"""What a durable ledger refuses that no other room can: it cannot be written, or it is not what it was."""

from __future__ import annotations

from curador.errors import CuradorError

UNSURE = "nothing was drawn; a charge that was already written stays spent"


class LedgerFailed(CuradorError):
    """The ledger could not be read or written; nothing is released without it.

    >>> raise LedgerFailed("The disk is full.", fix="Make room.", cost=UNSURE)
    Traceback (most recent call last):
    curador.ledger.faults.LedgerFailed: The disk is full. To do: Make room. (Cost: nothing was drawn; a charge ...)
    """


class LedgerBroken(CuradorError):
    """The ledger is older than it once was, or was changed by other hands; nothing is bought from it.

    >>> raise LedgerBroken("It was changed.", fix="See docs/how-to/restore-a-ledger.md.")
    Traceback (most recent call last):
    curador.ledger.faults.LedgerBroken: It was changed. To do: See docs/how-to/restore-a-ledger.md. (Cost: ...)
    """


RESTORE = "Find out why; then restore it as docs/how-to/restore-a-ledger.md says."
