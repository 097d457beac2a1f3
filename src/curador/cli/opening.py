"""Opens a study for a command: its curator, and what a refusal shows of the budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from curador.errors import CuradorError

if TYPE_CHECKING:
    from curador import Balance
    from curador.curator.curator import Curator


BALANCES = "balances"
"""The fact of a refusal under which the command line notes what remains of each budget."""


@contextmanager
def open_study(study: Path, *, rehearse: bool = False, log: Path | None = None) -> Iterator[Curator]:
    """Open the curator of a study, or one that rehearses it; it is closed at the end.

    A refusal inside gets a note of the remaining budget.  Errors of the engine go to the ``log``.
    """
    from curador import ErrorLog
    from curador.curator.curator import Curator

    if rehearse:
        # Neither the ledger nor the data is touched: an analyst may have neither.
        with closing(Curator(study, ledger="memory:")) as real, closing(real.rehearse()) as stage:
            yield stage
        return
    with closing(Curator(study, on_error=None if log is None else ErrorLog(log))) as curator:
        try:
            yield curator
        except CuradorError as refusal:
            with suppress(CuradorError):
                left = balances(curator)
                if "remaining" not in refusal.facts:  # its words say it
                    refusal.add_note("; ".join(f"{b.scope} {b.remaining.label_down}" for b in left))
                refusal.facts = {**refusal.facts, BALANCES: {b.scope: b.remaining.to_json() for b in left}}
            raise


def balances(curator: Curator, analyst: str | None = None) -> list[Balance]:
    """The root budgets that every charge goes to, and an analyst's own."""
    found = list(curator.budgets())
    return found if analyst is None else [*found, curator.budget(analyst)]
