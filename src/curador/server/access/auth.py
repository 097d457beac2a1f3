"""Tokens and session cookies: 256 random bits, shown once, kept as their hash; and who a caller is.

A token is looked up by its SHA-256: how long that takes tells nothing about a wrong one, since nobody can find a text
whose hash is nearly right.  An analyst's token is their budget: it can name no other.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from curador import Access, Ledger
from curador.errors import NotAllowed

PREFIX, COOKIE_PREFIX = "cur_", "ses_"
"""So that a token that was left lying about is recognised as one, and no cookie is taken for a token."""

LONGEST_TOKEN = 100

FIRST_START = "first start"
"""The label of the code that a start prints where nobody is the curator yet."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who shows a token: a role, and for an analyst the name whose budget it is.

    In a session ``token`` is what began it, so that limits count all sessions of a token together.
    """

    role: str
    who: str | None
    token: str
    login: str = ""

    @property
    def id(self) -> str:
        """The token's public name."""
        return self.token[:16]


def new_token() -> str:
    """A new token, to be shown once.

    >>> len(new_token()) > 40, new_token() == new_token()
    (True, False)
    """
    return PREFIX + secrets.token_urlsafe(32)


def new_cookie() -> str:
    """A new cookie: of a session, or of a visitor who has none yet."""
    return COOKIE_PREFIX + secrets.token_urlsafe(32)


def new_request_id() -> str:
    """A name for one request; it tells nothing."""
    return secrets.token_hex(8)


def new_name() -> str:
    """A name of 128 random bits, for a job or a session: nobody finds another's by guessing."""
    return secrets.token_hex(16)


def digest(token: str) -> str:
    """The SHA-256 of a token: all that is kept of it."""
    return hashlib.sha256(token.encode()).hexdigest()


def give(ledger: Ledger, access: Access) -> str:
    """Keep a new token's hash with what it opens, and return the token: nobody can read it again."""
    token = new_token()
    ledger.give_access(replace(access, token=digest(token)))
    return token


def caller(ledger: Ledger, token: str, now: datetime | None = None) -> Caller:
    """Who shows this token.

    Fails: NotAllowed, in the same words whether it is unknown, ended, expired, a link, or to be exchanged first.
    """
    found = known(ledger, token, now)
    if found is None or found.kind != "token":
        raise unknown_token()
    return Caller(found.role, found.who or None, found.token)


def exchange(ledger: Ledger, token: str, now: datetime | None = None) -> str:
    """A lasting token for one that is used once; the second of two who try gets nothing."""

    def spend(book: Ledger) -> str | None:
        found = known(book, token, now)
        if found is None or not found.once or is_too_late(book, found):
            return None
        book.end_access(found.token, because="used")
        if found.role == "curator":
            end_first_codes(book, "there is a curator")
        return give(book, Access("", found.role, found.who, found.label))

    made = ledger.at_once(spend)
    if made is None:
        raise unknown_token()
    return made


def has_curator(ledger: Ledger, now: datetime | None = None) -> bool:
    """Whether somebody has a token or a password of a curator."""
    at = ledger.time() if now is None else now
    lasting = (one for one in ledger.accesses() if one.kind in ("token", "password"))
    return any(one.role == "curator" and one.open_at(at) for one in lasting)


def is_too_late(book: Ledger, found: Access) -> bool:
    """Whether a code is one of a first start, and there is a curator."""
    return found.label == FIRST_START and found.kind == "code" and has_curator(book)


def end_first_codes(book: Ledger, because: str) -> None:
    """Let no code of a first start make a curator any more."""
    for one in book.accesses():
        if one.label == FIRST_START and one.kind == "code" and not one.ended:
            book.end_access(one.token, because=because)


def known(ledger: Ledger, token: str, now: datetime | None = None, prefix: str = PREFIX) -> Access | None:
    """What a token opens now, whatever kind it is; None where that is nothing."""
    if not token.isascii() or len(token) > LONGEST_TOKEN or not token.startswith(prefix):
        return None
    name = digest(token)
    found = ledger.access(name)
    if found is None or not hmac.compare_digest(found.token, name):
        return None
    return found if found.open_at(now or datetime.now(UTC)) else None


def unknown_token() -> NotAllowed:
    return NotAllowed(
        "This needs a token that is valid now.",
        fix="Send it as the header Authorization: Bearer …; ask the curator for one.",
        code="not-signed-in",
    )


def wrong_role() -> NotAllowed:
    return NotAllowed("Your token does not open this.", fix="Ask the curator.", code="not-allowed")
