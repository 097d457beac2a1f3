"""What a durable ledger says when it cannot be written, or is not what it was."""

from __future__ import annotations

UNSURE = "nothing was drawn; a charge that was already written stays spent"

RESTORE = "Find out why; then restore it as docs/how-to/restore-a-ledger.md says."
