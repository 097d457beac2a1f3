"""Opens a study for a command: its curator, and what a refusal shows of the budget."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from curador.cli.screen import BALANCES, loss_left
from curador.errors import CuradorError, InvalidParameter

if TYPE_CHECKING:
    from curador import Balance
    from curador.curator.curator import Curator
    from curador.remote.curator import RemoteCurator


TOKEN = "CURADOR_TOKEN"
"""The variable that holds a server's token: a command's words can be seen by others on the machine."""


@contextmanager
def open_study(
    study: Path, *, rehearse: bool = False, log: Path | None = None, at: str | None = None
) -> Iterator[Curator]:
    """Open the curator of a study, the one that a server holds, or one that rehearses it; it is closed at the end.

    A refusal inside gets a note of the remaining budget.  Errors of the engine go to the ``log``.
    """
    from curador import ErrorLog
    from curador.curator.curator import Curator

    if at is not None:
        if log is not None:
            raise InvalidParameter("The errors of its engine are the server's own.", fix="Leave out --log.")
        with closing(_far(at)) as far:
            if rehearse:
                with closing(far.rehearse()) as stage:
                    yield stage
            else:
                yield cast(Curator, far)  # the same interface, for what these commands do
        return
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
                    refusal.add_note("; ".join(f"{b.scope} {loss_left(b.remaining)}" for b in left))
                refusal.facts = {**refusal.facts, BALANCES: {b.scope: b.remaining.to_json() for b in left}}
            raise


HELD = "{} is for whoever holds the study, where it is."
FILES = "{} works on files of this machine."

WITHOUT_SERVER = {
    **dict.fromkeys(("grant", "renew", "revoke", "prepare", "reload", "check", "ledger", "token", "audit"), HELD),
    **dict.fromkeys(("predict", "init", "demo", "serve", "local"), FILES),
}
"""The commands that ask no server, and why."""


def refuse_at(typed: Sequence[str]) -> None:
    """Refuse the address of a server for a command that asks none.

    >>> refuse_at(["predict", "model.json", "rows.csv", "--at", "https://example.org"])
    Traceback (most recent call last):
    curador.errors.InvalidParameter: predict works on files of this machine. To do: Leave out --at. ...
    """
    name = next((word for word in typed if not word.startswith("-")), "")
    if name in WITHOUT_SERVER and any(word == "--at" or word.startswith("--at=") for word in typed):
        raise InvalidParameter(WITHOUT_SERVER[name].format(name), fix="Leave out --at.", code="asks-no-server")


def _far(at: str) -> RemoteCurator:
    from curador.remote.curator import connect

    if not (token := os.environ.get(TOKEN)):
        raise InvalidParameter(
            f"A server wants a token, and {TOKEN} is not set.", fix=f"Set {TOKEN} to the token.", code="token-missing"
        )
    return connect(at, token)


def balances(curator: Curator, analyst: str | None = None) -> list[Balance]:
    """The root budgets that every charge goes to, and an analyst's own."""
    found = list(curator.budgets())
    return found if analyst is None else [*found, curator.budget(analyst)]
