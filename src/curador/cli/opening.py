"""A study opened for a command: its curator, the copies that were prepared for it, and what a refusal adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from curador.cli.copies import stored
from curador.cli.log import on_error
from curador.cli.screen import worded
from curador.errors import CuradorError

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.ledger.contract import Balance


@contextmanager
def opened(
    study: Path, *, rehearse: bool = False, asking: Sequence[str] = (), log: Path | None = None
) -> Iterator[Curator]:
    """The curator of a study, or one that rehearses it, with the prepared copies of tables named in what is asked.

    A refusal inside is told with what remains of the budget; what the engine really said goes to the ``log``.
    """
    from curador.curator.curator import Curator

    if rehearse:
        # Neither the ledger nor the data is touched: an analyst may have neither.
        with closing(Curator(study, ledger="memory:")) as real, closing(real.rehearse()) as stage:
            yield stage
        return
    with closing(Curator(study, on_error=None if log is None else on_error(log))) as curator:
        try:
            for prepared in stored(study, curator) if asking else ():
                # Attaching a copy reads all of it once, and opens the engine it lives in: not for other tables.
                if any(prepared.table.casefold() in text.casefold() for text in asking):
                    curator.attach(prepared)
            yield curator
        except CuradorError as refusal:
            if "remaining" not in refusal.what:  # of the budget that was too small it says so itself
                with suppress(CuradorError):
                    refusal.add_note("; ".join(f"{b.scope} {worded(b.remaining)}" for b in balances(curator)))
            raise


def balances(curator: Curator, analyst: str | None = None) -> list[Balance]:
    """The budgets that everything is charged to, and an analyst's own."""
    found = [curator.ledger.balance(scope) for scope in curator.scopes.roots()]
    return found if analyst is None else [*found, curator.budget(analyst)]
