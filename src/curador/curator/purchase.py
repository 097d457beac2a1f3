"""The one way anything leaves a curator: charge, run, settle.

A purchase is anything that can be bought: a plan, a batch, a running count, a training run.
Its measurement is kept, and found again by codes and numbers; presenting it costs nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from time import monotonic, sleep
from typing import Any, Protocol, TypeVar

from curador.accounting.events import Event
from curador.curator.analysts import Scopes
from curador.curator.budgets import root_of
from curador.curator.holder import shortage
from curador.curator.naming import normal, storable
from curador.curator.policy import Policy, refuse_undeclared, require_whole_units
from curador.curator.purchases.kept import kept, opened
from curador.curator.purchases.known import KnownPurchases
from curador.curator.purchases.turns import NO_TURNS, SingleFlight, Turns
from curador.engines.engine import LONGEST_WAIT, Progress, failed
from curador.engines.pool import EnginePool
from curador.errors import BudgetExceeded, CuradorError, EngineFailed, InvalidParameter
from curador.forks import after_fork, has_ended, process_name
from curador.ledger.contract import Charge, Ledger, Registration
from curador.ledger.records import bounded
from curador.privacy import Guarantee
from curador.query.plan.identity import digest
from curador.query.tables.table import Table
from curador.show.progress import watched

TRIES = 3
"""How often a purchase is made for the registrations as they are, where another process changes them meanwhile."""

LONGEST_REASON, MOST_MEASURES = 2000, 200
"""Characters of a reason, and digests of measures, that are noted with a charge."""

_NUMBERS = count(1)

Registered = Mapping[str, Registration]
"""The tables of a purchase, and what they stand for in the ledger."""


class Purchase(Protocol):
    """Anything that a curator can buy.

    * ``tables``: the private tables that are charged, and ``optional``: those of them that a unit may be missing from
      and still count;
    * ``declared``: the declarations it was made from;
    * ``event``: what is charged; ``ran``: what is really run, another only where an accountant charges less for it;
    * ``guarantee``: what it keeps; ``kinds``: the kinds of its mechanisms, and ``parts``: the purchases it is made of,
      for policies;
    * ``undeclared``: values that it compares with and that no declaration allows, as notes;
    * ``identity``: a digest of its measurement in codes and numbers, never of words; None is never found again;
    * ``measured``: digests of the exact numbers behind it, each with a label for people, and ``contained``: those of
      further numbers that are sums of them;
    * ``note``: the record kept with its charge: plain values, nothing read from data.
    """

    @property
    def tables(self) -> tuple[str, ...]: ...

    @property
    def optional(self) -> frozenset[str]: ...

    @property
    def declared(self) -> Mapping[str, Table]: ...

    @property
    def event(self) -> Event: ...

    @property
    def ran(self) -> Event: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def kinds(self) -> frozenset[str]: ...

    @property
    def parts(self) -> tuple[Purchase, ...]: ...

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def identity(self) -> str | None: ...

    @property
    def measured(self) -> Mapping[str, str]: ...

    @property
    def contained(self) -> Sequence[str]: ...

    @property
    def note(self) -> Mapping[str, object]: ...

    def prepare(self, engines: EnginePool) -> None:
        """Refuse whatever can be refused without reading a row: called before the charge, so that it costs nothing."""
        ...

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        """Read the data, add the noise, and return the measurement; called once the charge is durable."""
        ...


AnyPurchase = TypeVar("AnyPurchase", bound=Purchase)


@dataclass(frozen=True)
class Bought:
    """A measurement, the charge that paid for it, and whether it was bought before and cost this receiver nothing.

    ``because`` is the reason that this request gave, and ``shared`` what the same receiver measured before: never
    another's, also where the measurement was another's first.  ``under`` is what it was made under, as it is kept.
    """

    measurement: bytes
    charge: Charge
    repeated: bool
    because: str = ""
    shared: tuple[Mapping[str, object], ...] = ()
    under: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True)
class Request:
    """The terms of a purchase apart from its budget: for whom, why, under which key, and whether anew.

    * ``because``: the reason for an epsilon above 1, recorded with the charge and shown by the release;
    * ``override``: allows an epsilon of 10 and more, and the release shows it;
    * ``analyst``: who gets the answer, and pays for it in a budget of their own too;
    * ``key``: names the analyst's request, so that sending it again once it was answered cannot buy twice;
    * ``fresh``: buys a new answer.  Without it the same measurement of the same data is presented again, free but for
      an analyst who has not paid for it yet;
    * ``progress``: a callback for the part that is done, 0 to 1, or -1 where it is unknown; True shows a bar in a
      terminal.  It is for the holder of the data: how it moves depends on the rows;
    * ``anyway``: buys a question that compares with values that no declaration allows.
    """

    because: str = ""
    override: bool = False
    analyst: str | None = None
    key: str | None = None
    fresh: bool = False
    progress: Progress | bool = False
    anyway: bool = False

    def __post_init__(self) -> None:
        if self.fresh and self.key is not None:
            raise InvalidParameter(
                "A key finds the answer it named before; fresh wants another.", fix="Give one of them."
            )
        for name in ("analyst", "key"):
            if not isinstance(getattr(self, name), str | None):
                raise InvalidParameter(f"{name} must be a text.", fix=f'Write {name}="…".')
        if not all(isinstance(one, bool) for one in (self.override, self.fresh, self.anyway)):
            raise InvalidParameter("override, fresh and anyway are True or False.", fix="Pass one of them.")
        if not isinstance(self.because, str) or not storable(self.because) or len(self.because) > LONGEST_REASON:
            raise InvalidParameter(
                f"A reason is a text of at most {LONGEST_REASON} Unicode characters.",
                fix='Write because="…".',
                code="reason-too-long",
                facts={"most": LONGEST_REASON},
            )

    @property
    def digest(self) -> str | None:
        """The name of the request in the ledger: analysts do not share their keys."""
        if self.key is None:
            return None
        who = None if self.analyst is None else normal(self.analyst)
        return hashlib.sha256(json.dumps([who, self.key]).encode()).hexdigest()


class Buyer:
    """Buys for a curator: from its ledger, under its policy, with its engines.

    Guarantee: data is touched only after the charge is durable; the outcome is then a measurement that is kept, or one
        error of constant words with the charge kept.
    """

    def __init__(
        self,
        ledger: Ledger,
        scopes: Scopes,
        policy: Policy,
        engines: EnginePool,
        on_error: Callable[[Exception], None] | None,
    ) -> None:
        self._ledger, self._scopes, self._policy, self._engines = ledger, scopes, policy, engines
        self._on_error, self._flights = on_error, SingleFlight()
        self._known, self._number = KnownPurchases(ledger), next(_NUMBERS)
        self.turns: Turns = NO_TURNS
        after_fork(self)

    def made_anew(self) -> None:
        """In a forked child nobody else is asking."""
        self._flights, self._known, self.turns = SingleFlight(), KnownPurchases(self._ledger), NO_TURNS

    def planned(self, purchase: AnyPurchase) -> AnyPurchase:
        """The same purchase; refused where :meth:`buy` would refuse what its tables' budgets promise.

        Free, and no row is read: whoever plans it learns of the refusal then.
        """
        held = self._scopes.held
        require_whole_units(purchase, lambda name: root_of(self._ledger.balance(held((name,))[name].scope)))
        return purchase

    def buy(self, purchase: Purchase, request: Request, check: Callable[[Registered], None]) -> Bought:
        """Reserve, run, settle; or find the measurement that was bought before.

        ``check`` refuses registrations that the purchase was not made for.  Where a table is renewed or reloaded before
        the charge, the purchase is made again for what is registered then; after the charge, nothing is released.

        Fails: refused, at no cost, if the policy or a budget does not allow it or a table cannot be opened.
        """
        for left in reversed(range(TRIES)):
            check(held := self._scopes.held(purchase.tables))
            require_whole_units(purchase, lambda name: root_of(self._ledger.balance(held[name].scope)))
            self.review(purchase, request)
            who = None if request.analyst is None else self._scopes.receiver(request.analyst, purchase.tables)
            if request.fresh or self.bought_before(purchase, who) is None:  # a repeat needs no engine
                purchase.prepare(self._engines)
            self._scopes.require_one_root(held)
            try:
                return self._bought(purchase, request, held)
            except InvalidParameter as error:
                if error.code != "planned-for-other-data" or not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def review(self, purchase: Purchase, request: Request) -> None:
        """Refuse what the policy does not allow, and values that no declaration allows; free, and without data.

        Such values are bought with ``anyway``; what the same receiver has paid for is shown again without it.
        """
        self._policy.review(purchase, request.because, request.override)
        if request.anyway or not purchase.undeclared:
            return
        who = None if request.analyst is None else self._scopes.receiver(request.analyst, purchase.tables)
        if request.fresh or self.bought_before(purchase, who) is None:
            refuse_undeclared(purchase)

    def _bought(self, purchase: Purchase, request: Request, held: Registered) -> Bought:
        named = _named(purchase, request, held)
        who = None if request.analyst is None else self._scopes.receiver(request.analyst, purchase.tables)
        planned = self._scopes.live(held)
        pace, ran = self.turns.pace, False
        flight = self._flights.of(named, pace.passed)
        with flight.lock, watched(request.progress) as progress:
            try:  # an interrupt may come as soon as it is charged
                if flight.ended:
                    pace.wait(flight.ended)
                charge = self._reserve_in_turn(purchase, request, who, named, held)
                scope = who or _charged(held)[0]
                if charge.repeated:
                    if charge.scopes:
                        self._known.settled(scope, charge, pace)
                    under, found = opened(self._ledger.answer(charge.id) or b"")
                    return Bought(found, charge, not charge.scopes, request.because, _shared(charge, who), under)
                ran = True
                with self.turns.reading:
                    made = self.attempt(lambda: kept(purchase) + purchase.run(self._engines, progress))
                if made is None:
                    same = failed()  # the engine's own words, so that what failed, and where, is not seen
                    cost = f"charge {charge.id} is kept, as for an answer"
                    raise EngineFailed(same.what, fix=same.fix, cost=cost, code=same.code)
                under, found = opened(self._ledger.settle(charge.id, made, planned=planned))
                self._known.settled(scope, charge, pace)
            except BaseException as error:
                if named is not None:
                    with suppress(CuradorError):  # others then wait a little longer
                        self._ledger.fail(named, self._owner, look=isinstance(error, CuradorError))
                raise
            finally:
                if ran:
                    self._flights.end(flight, pace.now())
            return Bought(found, charge, False, request.because, _shared(charge, who), under)

    def _reserve_in_turn(
        self, purchase: Purchase, request: Request, who: str | None, named: str | None, held: Registered
    ) -> Charge:
        """Spend the event; while another process is answering the same, wait for that answer instead."""
        ended: str | None = None
        while True:
            try:
                return self._reserve(purchase, request, who, named, held, ended)
            except InvalidParameter as error:
                if error.code != "being-answered" or named is None:
                    raise
                ended = self._wait(named, str(error.facts["charge"]), str(error.facts["owner"]))
                self.turns.pace.wait(self.turns.pace.now())

    def _wait(self, named: str, charge: str, owner: str) -> str | None:
        """Wait until a charge is answered or failed, and return None; or the charge, if its owner has ended.

        An owner on another machine counts as ended once its engine would have given up.
        """
        pause, end = 0.005, monotonic() + LONGEST_WAIT + 10
        while self._ledger.running(named) == charge:
            if owner == self._owner or has_ended(owner) or monotonic() > end:
                return charge
            sleep(pause)
            pause = min(2 * pause, 0.25)
        return None

    @property
    def _owner(self) -> str:
        return f"{process_name()}:{self._number}"

    def _reserve(
        self,
        purchase: Purchase,
        request: Request,
        who: str | None,
        named: str | None,
        held: Registered,
        ended: str | None,
    ) -> Charge:
        """Spend the event; or refuse, naming the nearest budget that is short."""
        note: dict[str, object] = {**bounded(purchase.note), "purchase": named}
        note |= {"because": request.because, "override": request.override}
        if request.fresh and purchase.identity is not None:
            note["fresh"] = fingerprint(purchase, held)  # by which it is shown again, and never sold again
        if purchase.ran != purchase.event:
            note["ran"] = purchase.ran.to_json()  # charged otherwise; kept for better accountants
        note["receiver"] = who
        if measured := _measured(purchase, held):
            sums = (_inside(code, held) for code in purchase.contained)
            note["measures"] = [*measured, *sums][:MOST_MEASURES]
            if shared := self._measured_before(purchase, who, held):
                note["shared"] = shared
        event, guarantee = purchase.event, purchase.guarantee
        try:
            return self._ledger.reserve(
                _charged(held),
                event,
                guarantee=guarantee,
                receiver=who,
                note=note,
                key=request.digest,
                fingerprint=named,
                planned=self._scopes.live(held),
                owner=None if named is None else self._owner,
                ended=ended,
            )
        except InvalidParameter as error:
            if error.code != "key-reused":
                raise
            raise InvalidParameter(
                f"The key {request.key!r} belongs to another question.", fix="Use a key once.", code="key-reused"
            ) from None
        except BudgetExceeded as error:
            refusal = error
        # Out here, so that the nearest does not carry the other as its context.
        nearest = None if who is None else shortage(self._ledger, who, event, guarantee)
        raise nearest or refusal

    def bought_before(self, purchase: Purchase, receiver: str | None = None) -> str | None:
        """The charge by which the receiver bought exactly this before, if it is among the newest; it is free again."""
        if purchase.identity is None:
            return None
        held = self._scopes.held(purchase.tables)
        known = self._known.of(receiver or _charged(held)[0], receiver, self.turns.pace)
        return known.get(fingerprint(purchase, held))

    def measured_before(self, purchase: Purchase, receiver: str | None = None) -> list[dict[str, object]]:
        """Which of its measures the same receiver bought before, or finer groups of them, by which charge.

        Such a measure is drawn again and paid for again: nothing is reused silently.
        """
        held = self._scopes.held(purchase.tables)
        return self._measured_before(purchase, receiver, held)

    def _measured_before(self, purchase: Purchase, receiver: str | None, held: Registered) -> list[dict[str, object]]:
        found: dict[tuple[str, bool], list[str]] = {}
        known = self._known.of(receiver or _charged(held)[0], receiver, self.turns.pace)
        for code, label in purchase.measured.items():
            own, sums = _digest(code, held), _inside(code, held)
            if own in known or sums in known:
                found.setdefault((known[own] if own in known else known[sums], own not in known), []).append(label)
        return [
            {"charge": charge, "measures": labels, **({"contained": True} if inside else {})}
            for (charge, inside), labels in found.items()
        ]

    def attempt(self, work: Callable[[], bytes]) -> bytes | None:
        """Do the work; None if anything went wrong: an error raised here would carry exact numbers as its context."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001  any error may depend on the data
            self.report(error)
            return None

    def report(self, error: Exception) -> None:
        """Pass what really went wrong to the curator's own log, if there is one."""
        if self._on_error is not None:
            with suppress(Exception):  # an error of the log may not reach the asker
                self._on_error(error)


def _charged(held: Registered) -> tuple[str, ...]:
    """The scopes that a purchase charges."""
    return tuple(dict.fromkeys(known.scope for known in held.values()))


def _versions(held: Registered) -> list[list[int]]:
    """The versions of the tables, in an order that does not depend on how they were listed."""
    return [[held[name].data, held[name].version] for name in sorted(held)]


def fingerprint(purchase: Purchase, held: Registered) -> str:
    """A digest by which two purchases are the same: measurement, price and the data's versions."""
    return digest([purchase.identity, purchase.event.to_json(), _versions(held)])


def _named(purchase: Purchase, request: Request, held: Registered) -> str | None:
    """The name under which a purchase is found again; None where it is bought each time.

    What has no identity is still found by the key of its request, so that sending it again cannot buy twice.
    """
    if request.fresh:
        return None
    if purchase.identity is not None:
        return fingerprint(purchase, held)
    code = getattr(purchase, "asked_code", None)
    if request.digest is None or code is None:
        return None
    return digest([request.digest, code, purchase.event.to_json(), _versions(held)])


def _measured(purchase: Purchase, held: Registered) -> dict[str, str]:
    """Digests of the exact numbers behind a purchase, for these versions of the data."""
    return {_digest(code, held): label for code, label in purchase.measured.items()}


def _digest(code: str, held: Registered) -> str:
    return _of_versions(code, tuple(map(tuple, _versions(held))))


@lru_cache(maxsize=4096)
def _of_versions(code: str, versions: tuple[tuple[int, ...], ...]) -> str:
    return digest([code, [list(one) for one in versions]])[:32]


def _inside(code: str, held: Registered) -> str:
    """The digest by which a purchase says that numbers are sums of its own."""
    return _digest(f"inside {code}", held)


def _shared(charge: Charge, receiver: str | None) -> tuple[Mapping[str, object], ...]:
    """Notes of a charge on measures that were bought before it; empty unless this receiver bought the charge first."""
    found = charge.note.get("shared")
    return tuple(found) if isinstance(found, list) and charge.note.get("receiver") == receiver else ()
