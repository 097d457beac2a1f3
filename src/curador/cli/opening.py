"""Opens a study for a command: its curator, the prepared copies it needs, and what a refusal shows of the budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from curador.errors import CuradorError

if TYPE_CHECKING:
    from curador import Balance
    from curador.curator.curator import Curator


@contextmanager
def opened(study: Path, *, rehearse: bool = False, log: Path | None = None) -> Iterator[Curator]:
    """The curator of a study, or one that rehearses it.

    A refusal inside gets a note of what remains of the budget.  Errors of the engine go to the ``log``.
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
            if "remaining" not in refusal.facts:
                with suppress(CuradorError):
                    refusal.add_note("; ".join(f"{b.scope} {b.remaining.label_down}" for b in balances(curator)))
            raise


def balances(curator: Curator, analyst: str | None = None) -> list[Balance]:
    """The budgets that everything is charged to, and an analyst's own."""
    found = list(curator.budgets())
    return found if analyst is None else [*found, curator.budget(analyst)]
