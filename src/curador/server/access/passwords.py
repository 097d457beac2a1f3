"""Logins and passwords: set with a code that is used once, kept in the ledger as slow hashes (argon2id [RFC 9106]).

Assumes: what is here is called with few at a time, since a hash takes 64 MiB (:meth:`Service.hashed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHash

from curador import Access, Ledger
from curador.curator.naming import ANALYST, normal
from curador.errors import CuradorError, InvalidParameter, NotAllowed
from curador.server.access.auth import digest, end_first_codes, is_too_late, known, new_token

SHORTEST, LONGEST = 12, 200
"""Characters of a password.  Length is all that is asked for [NIST SP 800-63B]."""

_HASHER = PasswordHasher()


def set_password(ledger: Ledger, code: str, login: str, password: str, now: datetime | None = None) -> Access:
    """Spend a code for a login with a password, in the code's role; the second of two who try gets nothing.

    Guarantee: a login that is taken is never taken over; a curator ends the old password first.  Nobody signs in by the
    name of an analyst but that analyst.
    """
    shown, login = normal(login.strip()), named(login)
    refuse_length(password)
    found = known(ledger, code, now)
    if found is None or not found.once:
        raise unknown_code()
    secret, own = _HASHER.hash(password), digest(new_token())

    def spend(book: Ledger) -> Access | CuradorError:
        found = known(book, code, now)
        if found is None or not found.once or is_too_late(book, found):
            return unknown_code()
        if _password_of(book, login) is not None:
            return InvalidParameter("This name is taken.", fix="Choose another name.", code="login-taken")
        if any(named(name) == login and name != found.who for name in _analysts(book)):
            return InvalidParameter("An analyst has this name.", fix="Choose another name.", code="login-of-analyst")
        book.end_access(found.token, because="used")
        if found.role == "curator":
            end_first_codes(book, "there is a curator")
        made = replace(found, token=own, once=False, expires=None, login=shown, secret=secret)
        return book.give_access(made)

    made = ledger.at_once(spend)
    if isinstance(made, CuradorError):
        raise made
    return made


def change_password(ledger: Ledger, token: str, old: str, password: str) -> Access:
    """Another password for the login of an entry, whose token is known, by whoever knows the one that it has.

    Guarantee: sessions that began with the old one end with it, whatever process they are seen by; of two who change it
    at once the second is refused.
    """
    found = ledger.access(token)
    if found is None or not found.secret or found.ended or not _matches(found.secret, old[: LONGEST + 1]):
        raise NotAllowed("This is not your password.", fix="Try again.", code="not-your-password")
    refuse_length(password)
    made = replace(found, token=digest(new_token()), secret=_HASHER.hash(password))

    def change(book: Ledger) -> Access | None:
        still = book.access(token)
        if still is None or still.ended:
            return None
        book.end_access(token, because="password changed")
        return book.give_access(made)

    kept = ledger.at_once(change)
    if kept is None:
        raise NotAllowed("This password was changed meanwhile.", fix="Sign in again.", code="not-your-password")
    return kept


def refuse_length(password: str) -> None:
    """Refuse a password that is too short, or too long to hash."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidParameter(
            f"A password has {SHORTEST} to {LONGEST} characters.",
            fix="Choose a longer one, such as four words.",
            code="password-length",
            facts={"least": SHORTEST, "most": LONGEST},
        )


def signed_in(ledger: Ledger, login: str, password: str) -> Access:
    """The password's entry, if login and password belong together.

    Guarantee: an unknown login takes as long as a wrong password, but for the lookup.
    Fails: NotAllowed, in the same words for both.
    """
    try:
        found = _password_of(ledger, named(login))
    except InvalidParameter:
        found = None
    secret = _nobody() if found is None else found.secret
    if not _matches(secret, password[: LONGEST + 1]) or found is None:
        raise NotAllowed("Name and password do not belong together.", fix="Try again.", code="wrong-password")
    return found


def named(login: str) -> str:
    """A login in the one form in which it is compared: composed, without case; it is kept as it was typed."""
    return normal(login.strip()).casefold()


def unknown_code() -> NotAllowed:
    return NotAllowed("This code was used, has ended or never was.", fix="Ask for a new link.", code="code-unknown")


def _password_of(ledger: Ledger, login: str) -> Access | None:
    return next((one for one in ledger.accesses() if one.secret and named(one.login) == login and not one.ended), None)


def _analysts(ledger: Ledger) -> Iterator[str]:
    """Everybody who was given a budget, by name."""
    return (one.table.removeprefix(ANALYST) for one in ledger.registrations() if one.table.startswith(ANALYST))


def signs_in(ledger: Ledger, name: str) -> Access | None:
    """Who else signs in by an analyst's name: a password of that login which is not this analyst's."""
    found = _password_of(ledger, named(name))
    return None if found is None or found.who == name else found


def _matches(secret: str, password: str) -> bool:
    try:
        return _HASHER.verify(secret, password)
    except (Argon2Error, InvalidHash):
        return False


@cache
def _nobody() -> str:
    """The hash of a password that nobody has."""
    return _HASHER.hash(new_token())
