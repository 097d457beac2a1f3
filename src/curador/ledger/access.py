"""Who may come in through a door that strangers reach: what was given and ended, kept like every other decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from datetime import datetime

from curador.errors import InvalidParameter
from curador.ledger.anchor.decided import Stated, refuse_changed
from curador.ledger.entries import AccessEnded, AccessGiven, Entry, instant
from curador.ledger.pricing import name_of
from curador.ledger.stores.rows import ACCESS, DbRow, LedgerStore, Rows

ROLES = ("curator", "analyst", "auditor", "reader")
"""What a token can be: whoever holds the data, who asks, who reads the ledger, who reads what was published."""

LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class Access:
    """A token that was given: the SHA-256 of it, and what it opens.

    ``who`` is the analyst whose budget it is; empty for other roles.  ``label`` is for people.  A token to be used
    ``once`` is exchanged for another one and opens nothing by itself; one for a ``charge`` opens that release alone.
    With a ``secret`` it is a password: the slow hash of it, for a ``login``; its token is nobody's.

    >>> Access("ab" * 32, "analyst", who="ana").id
    'abababababababab'
    """

    token: str
    role: str
    who: str = ""
    label: str = ""
    expires: datetime | None = None
    once: bool = False
    charge: str = ""
    login: str = ""
    secret: str = field(default="", repr=False)
    ended: bool = False

    @property
    def kind(self) -> str:
        """What it is: token, code, link or password.

        >>> Access("ab" * 32, "curator", once=True).kind
        'code'
        """
        named = {"password": self.secret, "link": self.charge, "code": self.once}
        return next((kind for kind, said in named.items() if said), "token")

    @property
    def id(self) -> str:
        """The name by which a token is listed and ended; it opens nothing."""
        return self.token[:16]

    def open_at(self, now: datetime) -> bool:
        """Whether it opens anything at a time."""
        return not self.ended and (self.expires is None or now < self.expires)


class AccessList(ABC):
    """The part of a ledger that knows tokens; :class:`curador.ledger.contract.Ledger` documents its methods."""

    _store: LedgerStore
    _decided: Stated

    @abstractmethod
    def _decide(self, rows: Rows, entry: Entry) -> None:
        """Write an entry that the anchor must cover."""

    @abstractmethod
    def _time(self, rows: Rows) -> str:
        """The time now, or that of the last entry if that is later."""

    def time(self) -> datetime:
        return self._store.read(lambda rows: datetime.fromisoformat(self._time(rows)))

    def give_access(self, access: Access) -> Access:
        if access.role not in ROLES:
            raise InvalidParameter(f"No role is called {access.role!r}.", fix=f"Choose {', '.join(ROLES)}.")
        if (access.role == "analyst") != bool(access.who):
            raise InvalidParameter("An analyst's token names the analyst, and no other does.", fix="Name the analyst.")
        if access.who:
            name_of(access.who, "analyst")
        if access.label:
            name_of(access.label, "label", LONGEST_LABEL)
        end = None if access.expires is None else instant(access.expires)
        if bool(access.login) != bool(access.secret):
            raise InvalidParameter("A login has a password.", fix="Give both, or none.")
        if access.login:
            name_of(access.login, "login", LONGEST_LABEL)
        entry = AccessGiven(
            access.token,
            access.role,
            access.who,
            access.label,
            end,
            access.once,
            access.charge,
            access.login,
            access.secret,
        )

        def append_access(rows: Rows) -> None:
            if self._decided.token(rows, access.token) is not None or rows.get(ACCESS, access.token) is not None:
                raise InvalidParameter("This token was given before.", fix="Make a new one.", code="access-exists")
            self._decide(rows, entry)

        self._store.write(append_access)
        return access

    def end_access(self, token: str, *, because: str = "") -> Access:
        def append_end(rows: Rows) -> Access:
            row, stored = self._decided.token(rows, token), rows.get(ACCESS, token)
            if row is None and stored is not None:
                refuse_changed(ACCESS, "a token")
            if row is None:
                raise InvalidParameter("No such token was given.", fix="List them.", code="access-unknown")
            if not row[-1]:
                if stored is None:  # somebody took it away, and it opens all the same
                    rows.put(ACCESS, *row)
                self._decide(rows, AccessEnded(token, because))
            return replace(_access(row, rows), ended=True)

        return self._store.write(append_end)

    def access(self, token: str) -> Access | None:
        def read_access(rows: Rows) -> Access | None:
            row = self._decided.token(rows, token)
            return None if row is None else _access(row, rows)

        return self._store.read(read_access)

    def accesses(self) -> tuple[Access, ...]:
        return self._store.read(
            lambda rows: tuple(_access(row, rows) for row in self._decided.tokens(rows).scan(ACCESS))
        )


def _access(row: DbRow, rows: Rows) -> Access:
    """The token of a row; one that expired before the last entry has ended: no clock that is set back revives it."""
    token, role, who, label, expires, once, charge, login, secret, ended = row
    end = None if expires is None else datetime.fromisoformat(expires)
    over = bool(ended) or (expires is not None and expires <= rows.head.at)
    return Access(token, role, who, label, end, bool(once), charge, login, secret, over)
