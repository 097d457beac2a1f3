"""Sessions: what a browser holds after signing in, kept in the ledger as an access that ends by itself."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta

from curador import Access, Ledger
from curador.server.access.auth import COOKIE_PREFIX, Caller, digest, known, new_cookie

LASTS = timedelta(hours=12)
"""How long a session lasts, used or not."""


def begin(ledger: Ledger, parent: Access, before: str = "", now: datetime | None = None) -> str:
    """A new session's cookie for whoever showed a token or a password; the session that was there before ends.

    Guarantee: the cookie is always new: one that somebody planted is worth nothing.
    """
    end = max(now or datetime.now(UTC), ledger.time()) + LASTS
    until = end if parent.expires is None else min(end, parent.expires)
    cookie = new_cookie()
    session = Access(digest(cookie), parent.role, parent.who, expires=until, parent=parent.token)

    def write(book: Ledger) -> None:
        finish(book, before)
        book.give_access(session)

    ledger.at_once(write)
    return cookie


def session(ledger: Ledger, cookie: str, now: datetime | None = None) -> Caller | None:
    """Who holds this cookie; None where the session, or what began it, has ended."""
    now = now or datetime.now(UTC)
    found = known(ledger, cookie, now, COOKIE_PREFIX)
    if found is None or not found.parent:
        return None
    parent = ledger.access(found.parent)
    if parent is None or not parent.open_at(now):
        return None
    return Caller(found.role, found.who or None, parent.token, parent.login)


def finish(ledger: Ledger, cookie: str) -> None:
    """End a session; nothing happens where there is none."""
    found = known(ledger, cookie, None, COOKIE_PREFIX)
    if found is not None and found.parent:
        ledger.end_access(found.token, because="signed out")


def form_token(cookie: str) -> str:
    """What every form of a visitor sends back: it follows from the cookie, and the cookie does not follow from it."""
    return hmac.new(cookie.encode(), b"form", "sha256").hexdigest()
