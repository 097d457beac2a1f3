"""Sessions: what a browser holds after signing in, kept in a file beside the study until they end.

They are no decisions of the curator's, and there may be many: the ledger, which forgets nothing, holds none of them.
Who a session is, and what it opens, is what the token or password that began it says each time.
"""

from __future__ import annotations

import hmac
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from curador import Access, Ledger
from curador.server.access.auth import COOKIE_PREFIX, LONGEST_TOKEN, Caller, digest, new_cookie
from curador.server.small_file import SmallFile

LASTS = timedelta(hours=12)
"""How long a session lasts, used or not."""

EACH = 50
"""The most sessions of one token or password; whoever begins another ends the oldest."""

_TABLE = "name TEXT PRIMARY KEY, parent TEXT NOT NULL, until TEXT NOT NULL, latest TEXT NOT NULL"


class Sessions:
    """The sessions of a study on one machine, shared by the processes that serve it.

    Guarantee: bounded in number and age; a cookie is kept as its hash; only its owner may read the file.
    """

    def __init__(self, path: Path) -> None:
        self._file = SmallFile(path, "sessions", _TABLE, code="sessions-unwritable")

    def begin(self, ledger: Ledger, parent: Access, before: str = "", now: datetime | None = None) -> str:
        """A new session's cookie for whoever showed a token or a password; the session that was there before ends.

        Guarantee: the cookie is always new: one that somebody planted is worth nothing.
        """
        clock = now or datetime.now(UTC)
        since = max(
            clock, ledger.time()
        )  # also where a clock was ahead once
        end = since + LASTS
        until = end if parent.expires is None else min(end, parent.expires)
        cookie = new_cookie()
        with self._file.writing() as rows:
            ended = (_text(since), _text(clock), digest(before))
            rows.execute("DELETE FROM sessions WHERE until <= ? OR latest <= ? OR name = ?", ended)
            made = (digest(cookie), parent.token, _text(until), _text(clock + LASTS))
            rows.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", made)
            rows.execute(
                "DELETE FROM sessions WHERE parent = ?1 AND name NOT IN "
                "(SELECT name FROM sessions WHERE parent = ?1 ORDER BY until DESC, rowid DESC LIMIT ?2)",
                (parent.token, EACH),
            )
        return cookie

    def visitor(self, ledger: Ledger, cookie: str, now: datetime | None = None) -> Caller | None:
        """Who holds this cookie; None where the session, or what began it, has ended."""
        if not cookie.isascii() or len(cookie) > LONGEST_TOKEN or not cookie.startswith(COOKIE_PREFIX):
            return None
        with self._file.reading() as rows:
            found = rows.execute(
                "SELECT parent, until, latest FROM sessions WHERE name = ?", (digest(cookie),)
            ).fetchone()
        if found is None:
            return None
        clock = now or datetime.now(UTC)
        time = max(clock, ledger.time())  # which a clock that is set back does not go behind
        parent = ledger.access(found[0])
        if _text(time) >= found[1] or _text(clock) >= found[2]:
            return None
        if parent is None or not parent.open_at(time):
            return None
        return Caller(parent.role, parent.who or None, parent.token, parent.login)

    def finish(self, cookie: str) -> None:
        """End a session; nothing happens where there is none."""
        with self._file.writing() as rows:
            rows.execute("DELETE FROM sessions WHERE name = ?", (digest(cookie),))

    def open_at(self, now: datetime) -> Counter[str]:
        """How many sessions each token or password has begun that have not ended."""
        with self._file.reading() as rows:
            return Counter(
                parent for (parent,) in rows.execute("SELECT parent FROM sessions WHERE until > ?", (_text(now),))
            )


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def form_token(cookie: str) -> str:
    """What every form of a visitor sends back: it follows from the cookie, and the cookie does not follow from it."""
    return hmac.new(cookie.encode(), b"form", "sha256").hexdigest()
