"""Entries, the only source of truth about a budget, and the seals that chain them.

An entry is a line of JSON.  Its seal is an HMAC-SHA-256 over the seal before it, its number and the line: without the
key, lines cannot be changed, dropped, added or reordered unseen.  Cutting off the end is detected by the anchor.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar

from curador.errors import InvalidParameter, LedgerBroken
from curador.ledger.stores.rows import RESTORE

Json = Mapping[str, Any]
Clock = Callable[[], datetime]

_KINDS: dict[str, type[Entry]] = {}


class Entry:
    """One change to a ledger; the subclasses are all there are."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        _KINDS[kind] = cls


@dataclass(frozen=True)
class Opened(Entry, kind="open"):
    """A scope was made, with its ceiling."""

    scope: str
    parent: str | None
    definition: Json
    ceiling: Sequence[int]
    expires: str | None = None


@dataclass(frozen=True)
class Granted(Entry, kind="grant"):
    """A scope's ceiling was raised."""

    scope: str
    definition: Json
    ceiling: Sequence[int]
    because: str = ""


@dataclass(frozen=True)
class Revoked(Entry, kind="revoke"):
    """A scope was closed for ever, with all below it."""

    scope: str
    because: str = ""


RESOLD = ""
"""The owner of a charge whose answer is stored already."""


@dataclass(frozen=True)
class Reserved(Entry, kind="reserve"):
    """An event was bought.

    Where the owner is empty, nobody had to answer it: the stored answer to the same question went to another receiver,
    who paid for it under a number of their own, in those scopes that had not paid for it yet.
    """

    charge: int
    scopes: Sequence[str]
    costs: Sequence[Sequence[int]]
    event: Json
    guarantee: Json | None = None
    note: dict[str, Any] = field(default_factory=dict)
    request: str | None = None
    fingerprint: str | None = None
    receiver: str | None = None
    owner: str | None = None

    @property
    def resold(self) -> bool:
        """Whether its answer was stored before it was bought."""
        return self.owner == RESOLD


@dataclass(frozen=True)
class Repeated(Entry, kind="repeat"):
    """A stored answer went out under a key whose own charge has no answer.

    In older ledgers also: it went to a receiver that had not paid for it, under the number of the first charge.
    """

    charge: int
    scopes: Sequence[str]
    costs: Sequence[Sequence[int]]
    receiver: str | None = None
    request: str | None = None
    fingerprint: str | None = None
    note: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settled(Entry, kind="settle"):
    """The answer of a charge was stored; this is its SHA-256."""

    charge: int
    digest: str


@dataclass(frozen=True)
class Failed(Entry, kind="fail"):
    """A purchase ended without an answer; its charge stays."""

    charge: int


@dataclass(frozen=True)
class Registered(Entry, kind="register"):
    """A table's name and source were tied to data, and that data to a scope, a version and a unit.

    ``alike`` are other addresses of the same source that were not known yet.  A ``decided`` entry changes what a known
    name stands for: renewed, about new people; redeclared, with another unit.
    """

    name: str
    source: str
    data: int
    scope: str
    version: int
    because: str = ""
    unit: str = ""
    alike: Sequence[str] = ()
    decided: str = ""


@dataclass(frozen=True)
class AccessGiven(Entry, kind="access"):
    """Whoever shows a token, or a login and its password, may come in, in a role; ``token`` is a SHA-256."""

    token: str
    role: str
    who: str = ""
    label: str = ""
    expires: str | None = None
    once: bool = False
    charge: str = ""
    login: str = ""
    secret: str = ""


@dataclass(frozen=True)
class AccessEnded(Entry, kind="access-end"):
    """A token opens nothing any more."""

    token: str
    because: str = ""


@dataclass(frozen=True)
class Restored(Entry, kind="restore"):
    """An older copy was taken into use again: ``rows`` of derived tables, as the anchor says they were, or closed.

    ``over`` is the number and the seal of the anchor's newest mark, whose place this entry takes.  The entry's number
    follows the mark's, so that lost numbers are not used twice.
    """

    because: str
    charges: int
    rows: Mapping[str, Sequence[Sequence[Any]]]
    over: Sequence[Any] | None = None


quoted: Callable[[str], str] = json.encoder.encode_basestring_ascii
"""A text as JSON, as :func:`plain` writes it."""

Sealed = tuple[int, str, bytes, Entry]
"""An entry that was written: its number, its line, its seal, and what the line says."""


def written(entry: Entry, at: str) -> str:
    """An entry as its line; the same entry always gives the same line.

    >>> written(Revoked("ana", "left"), "2026-01-01T00:00:00+00:00")
    '{"at":"2026-01-01T00:00:00+00:00","because":"left","kind":"revoke","scope":"ana"}'
    """
    if isinstance(entry, Settled):  # half of all entries
        return f'{{"at":{quoted(at)},"charge":{entry.charge},"digest":"{entry.digest}","kind":"settle"}}'
    if isinstance(entry, Opened):  # there may be thousands of these two in one transaction
        return (
            f'{{"at":{quoted(at)},"ceiling":[{",".join(map(str, entry.ceiling))}],'
            f'"definition":{definition_text(entry.definition)},"expires":{_text(entry.expires)},"kind":"open",'
            f'"parent":{_text(entry.parent)},"scope":{quoted(entry.scope)}}}'
        )
    if isinstance(entry, Registered):
        alike = plain(entry.alike) if entry.alike else "[]"
        return (
            f'{{"alike":{alike},"at":{quoted(at)},"because":{quoted(entry.because)},'
            f'"data":{entry.data},"decided":{quoted(entry.decided)},"kind":"register","name":{quoted(entry.name)},'
            f'"scope":{quoted(entry.scope)},"source":{quoted(entry.source)},"unit":{quoted(entry.unit)},'
            f'"version":{entry.version}}}'
        )
    return plain({"kind": entry.kind, "at": at, **entry.__dict__})


def definition_text(stated: Json) -> str:
    """The definition of a scope, or its promise, as it is kept.

    Of scopes that are opened in a row thousands share one object, and it is written once.
    """
    global _written
    for known, text in _written:
        if known is stated:
            return text
    text = plain(stated)
    _written = (*_written[-3:], (stated, text))
    return text


_written: tuple[tuple[Json, str], ...] = ()


def _text(value: str | None) -> str:
    return "null" if value is None else quoted(value)


@dataclass(frozen=True, slots=True)
class Texts:
    """The parts of a Reserved that are the same for many charges, as JSON: a line is made of them without a search.

    >>> bought = Reserved(7, ["people"], [[5]], {"kind": "pure"}, note={"b": 1, "a": "é"}, receiver="ana")
    >>> Texts.of(bought).line(bought, "now") == written(bought, "now")
    True
    """

    costs: str
    event: str
    guarantee: str
    note: str
    scopes: str

    @classmethod
    def of(cls, entry: Reserved) -> Texts:
        return cls(*map(plain, (entry.costs, entry.event, entry.guarantee, entry.note, entry.scopes)))

    def line(self, entry: Reserved, at: str) -> str:
        """What :func:`written` gives for an entry with these parts."""
        return (
            f'{{"at":{quoted(at)},"charge":{entry.charge},"costs":{self.costs},"event":{self.event},'
            f'"fingerprint":{_text(entry.fingerprint)},"guarantee":{self.guarantee},"kind":"reserve","note":{self.note},'
            f'"owner":{_text(entry.owner)},"receiver":{_text(entry.receiver)},"request":{_text(entry.request)},'
            f'"scopes":{self.scopes}}}'
        )


def plain(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces.

    >>> plain({"b": 1, "a": [2]})
    '{"a":[2],"b":1}'
    """
    try:
        return _CANONICAL.encode(value)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"This cannot be written as JSON: {error}.", fix="Pass plain values.") from None


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a plain value")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, default=_mapping)


def read(line: str) -> tuple[Entry, str]:
    """The entry on a line, and the time at which it was written; an unknown kind, or no entry, is refused.

    >>> read(written(Revoked("ana"), "now"))
    (Revoked(scope='ana', because=''), 'now')
    """
    try:
        body = json.loads(line)
        kind, at = body.pop("kind"), body.pop("at")
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        raise LedgerBroken(
            f"This ledger was changed by another program: an entry cannot be read ({error}).",
            fix=RESTORE,
            code="ledger-tampered",
        ) from None
    if kind not in _KINDS:
        raise LedgerBroken(
            f"This ledger holds an entry of the kind {kind!r}, which this version does not know.",
            fix="Read it with the version that wrote it.",
            code="ledger-format-unknown",
        )
    return _KINDS[kind](**body), at


def instant(at: datetime) -> str:
    """A time as the text that entries carry; texts have the order of their times."""
    if at.tzinfo is None:
        raise InvalidParameter("A time without a zone is not an instant.", fix="Use datetime.now(UTC) or similar.")
    return (at if at.tzinfo is UTC else in_utc(at)).isoformat()


def in_utc(at: datetime) -> datetime:
    """The same instant in UTC, or the calendar's last moment, or its first, where that is beyond it."""
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return (datetime.max if at.year > 1 else datetime.min).replace(tzinfo=UTC)


def end_of_day(day: date) -> datetime:
    """The moment a day is over, UTC; of the calendar's last day, which stands for never, its last moment.

    >>> end_of_day(date(2026, 12, 31)).isoformat(), end_of_day(date.max).isoformat()
    ('2027-01-01T00:00:00+00:00', '9999-12-31T23:59:59.999999+00:00')
    """
    begun = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return datetime.max.replace(tzinfo=UTC) if day == date.max else begun + timedelta(days=1)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def present_instant() -> str:
    """The time now as such a text, of which all but the last digits are written once a second.

    >>> instant(datetime.fromisoformat(before := present_instant())) == before <= present_instant()
    True
    """
    seconds, micro = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_second(seconds)}.{micro:06}+00:00" if micro else f"{_second(seconds)}+00:00"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")


def genesis(key: bytes) -> bytes:
    """The seal before the first entry; it depends on the key alone."""
    return hmac.digest(key, b"curador ledger 2", hashlib.sha256)


def seal(key: bytes, before: bytes, sequence: int, line: str) -> bytes:
    """The seal of an entry, over the seal ``before`` it.

    >>> seal(b"k", genesis(b"k"), 1, "{}") == seal(b"k", genesis(b"k"), 2, "{}")
    False
    """
    return keyed_digest(key, before + sequence.to_bytes(8, "big") + line.encode())


def keyed_digest(key: bytes, text: bytes) -> bytes:
    """HMAC-SHA-256, with what depends on the key alone computed once.

    >>> keyed_digest(b"k", b"text") == hmac.digest(b"k", b"text", "sha256")
    True
    """
    inner, outer = _keyed(key)
    within, around = inner.copy(), outer.copy()
    within.update(text)
    around.update(within.digest())
    return around.digest()


@lru_cache(maxsize=64)
def _keyed(key: bytes) -> tuple[hashlib._Hash, hashlib._Hash]:
    """The two hashes of HMAC [RFC 2104] after their keys."""
    whole = (key if len(key) <= 64 else hashlib.sha256(key).digest()).ljust(64, b"\0")
    return hashlib.sha256(bytes(b ^ 0x36 for b in whole)), hashlib.sha256(bytes(b ^ 0x5C for b in whole))


def release_seal(key: bytes, content: str) -> str:
    """The seal of a release: 16 digits that name the ledger, and 64 that cover the content.

    Empty without a key, as for a ledger in memory.

    >>> one, other = release_seal(b"k", "{}"), release_seal(b"k", "[]")
    >>> one[:16] == other[:16], one == other
    (True, False)
    """
    if not key:
        return ""
    own = hmac.digest(key, b"curador release 1", hashlib.sha256)  # entries are sealed with another
    return hmac.digest(own, b"", hashlib.sha256).hex()[:16] + hmac.digest(own, content.encode(), hashlib.sha256).hex()


_NOTHING_YET = hashlib.sha256()


def digest(answer: bytes) -> str:
    """The SHA-256 of an answer."""
    found = _NOTHING_YET.copy()  # quicker than a new one, for which OpenSSL looks its function up by name
    found.update(answer)
    return found.hexdigest()
