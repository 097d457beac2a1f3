"""Commands about the ledger itself: ledger verify, ledger restore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from curador.cli.budgets import show, standing
from curador.cli.options import STUDY, Json, Study
from curador.cli.screen import emit, say, whole
from curador.errors import InvalidParameter


def verify(study: Study = STUDY, as_json: Json = False) -> None:
    """Read the whole ledger again: every entry, balance and answer must be as it was written.

    Example: curador ledger verify
    """
    from curador import open_ledger

    address, keep = _where(study)
    with closing(open_ledger(address, keep=keep)) as ledger:
        entries = ledger.verify()
    if as_json:
        emit({"ledger": _named(address), "entries": entries, "sound": True})
        return
    whole(f"{_named(address)}: {entries} entries, all as they were written.", "green")


def restore(
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")],
    study: Study = STUDY,
    as_json: Json = False,
) -> None:
    """Take a ledger from a backup into use again; what it has forgotten is charged, or closed.

    Put the copy in the ledger's place first, and leave the folder with its key and anchor as it is.

    Example: curador ledger restore --because "the disk failed"
    """
    from curador import restore_ledger

    address, keep = _where(study)
    with closing(restore_ledger(address, because=because, keep=keep)) as ledger:
        found = standing(ledger)
    if as_json:
        emit({"ledger": _named(address), "closed": [b.scope for b in found if b.closed]})
        return
    whole(f"{_named(address)} is in use again.")
    say("What was released since the copy was made stays paid for. Back it up now, and throw the copy away.")
    show(found)
    if any(b.closed for b in found):
        say("From a closed budget nothing can be bought again.", "yellow")


def _where(study: Path) -> tuple[str, Path | None]:
    from curador.curator.study.file import read_study

    stated = read_study(study)
    if "://" not in stated.ledger and not Path(stated.ledger).exists():
        raise InvalidParameter(
            f"{study.name} has no ledger yet.", fix="Ask something first; or put its file where [ledger] says."
        )
    return stated.ledger, stated.keep


def _named(address: str) -> str:
    """The ledger for people: never the address of a server, which may hold a password."""
    return "The ledger" if "://" in address else address
