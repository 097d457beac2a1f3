"""Tokens given to people, listed and ended."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from curador import Access, Curator, Ledger
from curador.curator.naming import normal
from curador.server.access.auth import FIRST_START, end_first_codes, give, has_curator
from curador.server.gate.refusals import not_found

FIRST_DAY = timedelta(days=1)
"""How long the link of the first start works."""


def issue(
    curator: Curator, role: str, analyst: str | None, label: str, expires: datetime | None, once: bool = False
) -> str:
    """A new token, or a code that is exchanged ``once``; an analyst's is theirs who has a budget by that name.

    Whoever has one is an analyst for ever, and nobody's group.
    """
    who = "" if analyst is None else known_analyst(curator, analyst)
    if who:
        curator.scopes.state_kind(who, "analyst")

    def made(book: Ledger) -> str:
        if role == "curator" and not once:
            end_first_codes(book, "there is a curator")
        return give(book, Access("", role, who, label, expires, once))

    return curator.ledger.at_once(made)


def first_code(ledger: Ledger) -> str | None:
    """A code that makes the curator, once: if nobody has a token or a password of one yet.

    Guarantee: at most one such code works, that of the last start, and none once there is a curator.
    """

    def made(book: Ledger) -> str | None:
        now = book.time()
        end_first_codes(book, "started again")
        if has_curator(book, now):
            return None
        return give(book, Access("", "curator", label=FIRST_START, expires=now + FIRST_DAY, once=True))

    return ledger.at_once(made)


def known_analyst(curator: Curator, name: str) -> str:
    """The name of an analyst who has a budget; refused where it is a table or nobody."""
    curator.scopes.receiver(name, [table for table, about in curator.tables.items() if not about.public])
    return normal(name)


def end(curator: Curator, id: str, because: str = "") -> Access:
    """Let a token open nothing any more; it is named by the first digits of its hash."""
    for one in curator.ledger.accesses():
        if one.id == id:
            return curator.ledger.end_access(one.token, because=because)
    raise not_found()


def plain(one: Access) -> dict[str, Any]:
    """A token as plain values, without anything that opens."""
    until = None if one.expires is None else one.expires.isoformat()
    about = {"id": one.id, "kind": one.kind, "role": one.role, "analyst": one.who or None, "label": one.label}
    return {**about, "expires": until, "once": one.once, "charge": one.charge or None, "ended": one.ended}
