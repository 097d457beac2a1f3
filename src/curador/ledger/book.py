"""The ledger itself: what may be written, decided within one transaction; where it is kept is a store's business."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from curador.accounting.events import Event, event_from_json
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Rule
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken
from curador.ledger import verify as audit
from curador.ledger.charges import (
    all_charges,
    answer_of,
    charge_at,
    charge_of,
    number_of,
    reserved,
    stored,
    unknown_charge,
)
from curador.ledger.contract import EMPTY, Balance, Charge, Registration
from curador.ledger.entries import (
    Entry,
    Granted,
    Opened,
    Registered,
    Repeated,
    Reserved,
    Revoked,
    Settled,
    digest,
    plain,
)
from curador.ledger.posting import LOST, Definition, append, check, definition, opened, state
from curador.ledger.pricing import left, lineage, name_of, prices
from curador.ledger.stores.rows import (
    ANSWER,
    CHARGE,
    DATA,
    NAMED,
    PAID,
    REQUEST,
    SCOPE,
    SOURCED,
    AnchorNeed,
    LedgerStore,
    Rows,
)
from curador.numbers import Number, probability
from curador.privacy import Guarantee, Neighbors

Clock = Callable[[], datetime]

LONGEST_SOURCE = 2000
"""Sources are addresses, and longer than names."""


def now() -> datetime:
    """The time, in one zone for all."""
    return datetime.now(UTC)


class Book:
    """A ledger over a store; :class:`curador.ledger.contract.Ledger` says what each method does.

    Guarantee: in every scope, what was ever charged is within the ceiling, whatever was asked, by however many at once,
    and wherever a process stopped (docs/proofs/ledger.md).
    Assumes: the store's transactions are atomic, one after another and durable; the key is secret.
    """

    def __init__(self, store: LedgerStore, key: bytes, clock: Clock = now) -> None:
        self._store, self._key, self._clock = store, key, clock
        # Parents and currencies never change, so that prices are worked out before the transaction and read once.
        self._known: dict[str, tuple[str | None, Filter]] = {}

    # -- scopes

    def open(
        self,
        scope: str,
        budget: Guarantee,
        *,
        parent: str | None = None,
        neighbors: Neighbors | str | None = None,
        rule: Rule | str | None = None,
        reserved_delta: Number = 0,
        orders: Iterable[float] = (),
        expires: datetime | None = None,
    ) -> Balance:
        name = name_of(scope)
        above = None if parent is None else self._fact(parent)[1].neighbors
        about = Neighbors(neighbors) if neighbors is not None else above or Neighbors.ADD_REMOVE
        if above not in (None, about):
            raise InvalidParameter(
                f"{name!r} is about {about.value} neighbours and {parent!r} about {above.value}.",
                fix="Give both the same neighbours, or open the scope without a parent.",
            )
        kept = probability(reserved_delta, "aside")
        fresh = opened(budget, about, rule, kept, tuple(orders))
        until = None if expires is None else _instant(expires)
        entry = Opened(name, parent, Definition.of(fresh, kept).to_json(), fresh.ceiling, until)

        def work(rows: Rows) -> None:
            if rows.get(SCOPE, name) is not None:
                raise InvalidParameter(f"There is a budget called {name!r} already.", fix="Choose another name.")
            self._act(rows, entry)

        self._store.write(work)
        return self.balance(name)

    def delegate(
        self, scope: str, to: str, budget: Guarantee, *, reserved_delta: Number = 0, expires: datetime | None = None
    ) -> Balance:
        whole = self.balance(scope)
        currency = whole.state.currency
        counted = currency.rule if currency.rule in (Rule.RENYI_ANY, Rule.ZCDP) else None
        orders = currency.orders if currency.rule is Rule.RENYI_ANY else ()
        rule = counted if type(budget) is type(whole.budget) else None
        part = opened(budget, whole.neighbors, rule, probability(reserved_delta, "aside"), orders)
        if part.currency != currency:
            raise InvalidParameter(f"{scope!r} counts otherwise than {budget!r}.", fix="Delegate in its own currency.")
        if any(wanted > rest for wanted, rest in zip(part.ceiling, left(whole.state), strict=True)):
            raise BudgetExceeded(f"{scope!r} has not so much left to delegate.", fix="Delegate less.")
        return self.open(
            to,
            budget,
            parent=scope,
            rule=rule,
            reserved_delta=reserved_delta,
            orders=orders if rule else (),
            expires=expires,
        )

    def grant(self, scope: str, more: Guarantee, *, because: str = "") -> Balance:
        def work(rows: Rows) -> None:
            text = self._still_open(rows, scope)
            before, about = state(rows, scope, text), definition(text)
            after = about.raised(more)
            if after.currency != before.currency or any(
                a < b for a, b in zip(after.ceiling, before.ceiling, strict=True)
            ):
                raise InvalidParameter(f"{more!r} does not raise {before.promise!r}.", fix="Grant the same kind.")
            self._act(
                rows, Granted(scope, Definition.of(after, about.reserved_delta).to_json(), after.ceiling, because)
            )

        self._store.write(work)
        return self.balance(scope)

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        def work(rows: Rows) -> None:
            if not self._row(rows, scope)[4]:
                self._act(rows, Revoked(scope, because))

        self._store.write(work)
        return self.balance(scope)

    def balance(self, scope: str) -> Balance:
        def work(rows: Rows) -> Balance:
            path = [self._row(rows, scope)]
            while (parent := path[-1][1]) is not None:
                path.append(self._row(rows, parent))
            found: Balance | None = None
            for name, _, text, expires, closed in reversed(path):
                end = None if expires is None else datetime.fromisoformat(expires)
                shut = bool(closed) or (end is not None and self._clock() >= end)
                found = Balance(name, state(rows, name, text), found, shut, end)
            assert found is not None
            return found

        return self._store.read(work)

    def scopes(self) -> tuple[str, ...]:
        return self._store.read(lambda rows: tuple(row[0] for row in rows.scan(SCOPE)))

    # -- charges

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        promise: Guarantee | None = None,
        note: Mapping[str, object] = EMPTY,
        key: str | None = None,
        fingerprint: str | None = None,
        receiver: str | None = None,
    ) -> Charge:
        if key is not None and fingerprint is None:
            raise InvalidParameter("A key belongs to a question.", fix="Pass the question's fingerprint with it.")
        for text, what in ((key, "key"), (fingerprint, "fingerprint")):
            if text is not None:
                name_of(text, what)
        named = [scopes] if isinstance(scopes, str) else list(scopes)
        path = self._path(named if receiver is None else [*named, receiver])
        costs = prices({scope: self._fact(scope)[1] for scope in path}, event, promise)
        told = promise.to_json() if promise is not None else None
        if note:
            plain(note)  # refused here, where it is the caller's own mistake
        at = _instant(self._clock())

        def work(rows: Rows) -> Charge:
            answered = answer_of(rows, key, fingerprint)
            if answered is not None:
                # One key, one answer: a charge of the same key that is still under way must not give another.
                bound = key is None or (rows.get(REQUEST, key) or (None, None, None))[2] is not None
                again = (None, None) if bound else (key, fingerprint)
                return self._repeat(rows, answered, event, costs, receiver, again, at)
            for scope in path:
                check(rows, scope, self._still_open(rows, scope), costs[scope])
            paid = [costs[scope] for scope in path]
            number = rows.head.charges + 1
            entry = Reserved(number, path, paid, event.to_json(), told, dict(note), key, fingerprint, receiver)
            append(rows, self._key, entry, at)
            return Charge(
                str(number), path, tuple(paid), event, promise, MappingProxyType(entry.note), receiver=receiver, at=at
            )

        return self._store.write(work)  # nothing to mark yet: nothing leaves before it is settled

    def _repeat(
        self,
        rows: Rows,
        number: int,
        event: Event,
        costs: Mapping[str, Cost],
        receiver: str | None,
        request: tuple[str | None, str | None],
        at: str,
    ) -> Charge:
        first, _ = reserved(rows, number)
        if event_from_json(first.event) != event:
            raise InvalidParameter("This fingerprint stands for another event.", fix="Fingerprint what the plan costs.")
        owing: list[str] = []
        for scope in () if receiver is None else self._path(receiver):
            text = self._still_open(rows, scope)
            if rows.get(PAID, scope, number) is None:
                check(rows, scope, text, costs[scope])
                owing.append(scope)
        entry = Repeated(number, owing, [costs[scope] for scope in owing], receiver, *request)
        if owing or entry.request is not None:
            append(rows, self._key, entry, at)
        rows.require(AnchorNeed.AFTER)  # the answer leaves now
        return charge_of(first, at, entry, True)

    def settle(self, charge: str, answer: bytes) -> bytes:
        number, bytes_ = number_of(charge), bytes(answer)

        def work(rows: Rows) -> bytes:
            found = rows.get(CHARGE, number)
            if found is None:
                raise unknown_charge(charge)
            if rows.get(ANSWER, number) is not None:
                raise InvalidParameter(
                    f"Charge {charge!r} has its answer already.", fix="Read it; a new answer is a new charge."
                )
            request = None if found[2] is None else rows.get(REQUEST, found[2])
            if request is not None and request[2] is not None:  # a retry was faster: one key, one answer
                return stored(rows, request[2])
            rows.put(ANSWER, number, bytes_)
            append(rows, self._key, Settled(number, digest(bytes_)), _instant(self._clock()))
            return bytes_

        return self._store.write(work, AnchorNeed.BEFORE)  # if the end is cut off after this, the charge is missed

    def answer(self, charge: str) -> bytes | None:
        def work(rows: Rows) -> bytes | None:
            found, row = rows.get(CHARGE, number_of(charge)), rows.get(ANSWER, number_of(charge))
            if found is None:
                raise unknown_charge(charge)
            if row is None:
                return None
            rows.rests_on(found[1])  # it may have been settled by a process whose mark is not there yet
            return bytes(row[1])

        return self._store.read(work)

    def history(self, scope: str | None = None) -> tuple[Charge, ...]:
        def work(rows: Rows) -> tuple[Charge, ...]:
            if scope is None:
                return tuple(all_charges(rows))
            self._row(rows, scope)
            return tuple(charge_at(rows, sequence) for _, _, sequence in rows.scan(PAID, scope))

        return self._store.read(work)

    # -- data

    def register(self, table: str, source: str, *, scope: str | None = None, reloaded: bool = False) -> Registration:
        name_of(table, "table"), name_of(source, "source", LONGEST_SOURCE)

        def work(rows: Rows) -> Registration:
            named, sourced = rows.get(NAMED, table), rows.get(SOURCED, source)
            if named is not None and sourced is not None and named[1] != sourced[1]:
                raise InvalidParameter(
                    f"{table!r} is known, and its source too, as different data.",
                    fix="Decide with renew() under which budget it is from now on.",
                )
            known = named or sourced
            if known is None:
                if scope is None:
                    raise InvalidParameter(f"{table!r} is new here.", fix="Say which scope it charges.")
                self._row(rows, scope)
                return self._register(rows, Registered(table, source, rows.head.sequence + 1, scope, 1))
            data, bound, version = rows.get(DATA, known[1]) or ()
            if scope not in (None, bound):
                raise InvalidParameter(
                    f"{table!r} charges {bound!r}, and goes on to do so.", fix="Decide with renew() to start anew."
                )
            if named == (table, data, source) and not reloaded:
                return Registration(table, source, bound, version, data)
            return self._register(rows, Registered(table, source, data, bound, version + 1))

        return self._store.write(work)

    def registered(self, table: str, source: str) -> Registration | None:
        def work(rows: Rows) -> Registration | None:
            known = rows.get(NAMED, table) or rows.get(SOURCED, source)
            if known is None:
                return None
            data, bound, version = rows.get(DATA, known[1]) or ()
            return Registration(table, source, bound, version, data)

        return self._store.read(work)

    def renew(self, table: str, scope: str, *, because: str) -> Registration:
        if not because.strip():
            raise InvalidParameter("A new budget for old data needs a reason.", fix="Say it in because=.")

        def work(rows: Rows) -> Registration:
            self._row(rows, scope)
            named = rows.get(NAMED, table)
            if named is None:
                raise InvalidParameter(f"No table is called {table!r}.", fix="Register it first.")
            _, _, version = rows.get(DATA, named[1]) or ()
            entry = Registered(table, named[2], rows.head.sequence + 1, scope, version + 1, because)
            return self._register(rows, entry)

        return self._store.write(work)

    def _register(self, rows: Rows, entry: Registered) -> Registration:
        self._act(rows, entry)
        return Registration(entry.name, entry.source, entry.scope, entry.version, entry.data)

    # -- the whole

    def verify(self) -> int:
        if damage := self._store.damage():
            raise LedgerBroken(damage, fix="Restore it as docs/how-to/restore-a-ledger.md says.")
        return self._store.read(lambda rows: audit.verify(rows, self._key))

    def close(self) -> None:
        self._store.close()

    # -- what is known of scopes

    def _act(self, rows: Rows, entry: Entry) -> None:
        rows.require(AnchorNeed.AFTER)
        append(rows, self._key, entry, _instant(self._clock()))

    def _path(self, scopes: str | Sequence[str]) -> tuple[str, ...]:
        return lineage(scopes, lambda scope: self._fact(scope)[0])

    def _fact(self, scope: str) -> tuple[str | None, Filter]:
        if scope not in self._known:
            found = self._store.read(lambda rows: (row := self._row(rows, scope)) and (row, state(rows, scope, row[2])))
            self._known[scope] = found[0][1], found[1]
        return self._known[scope]

    def _row(self, rows: Rows, scope: str) -> tuple[str, str | None, str, str | None, int]:
        row = rows.get(SCOPE, scope)
        if row is None:
            raise InvalidParameter(f"No budget is called {scope!r}.", fix="Open it first, or check the name.")
        name, parent, text, expires, closed = row
        if text == LOST:
            raise LedgerBroken(
                f"{scope!r} was opened after the copy that this ledger was restored from, and is lost.",
                fix="Open a budget of another name, as a decision.",
            )
        return name, parent, text, expires, closed

    def _still_open(self, rows: Rows, scope: str) -> str:
        """The definition of a scope where something can be bought."""
        _, _, text, expires, closed = self._row(rows, scope)
        ended = expires is not None and self._clock() >= datetime.fromisoformat(expires)
        if closed or ended:
            raise BudgetExceeded(
                f"The budget of {scope!r} {'was closed' if closed else f'ended on {expires}'}.",
                fix="Ask whoever holds the budget for another.",
            )
        return text


def _instant(time: datetime) -> str:
    if time.tzinfo is None:
        raise InvalidParameter("A time without a zone is no instant.", fix="Use datetime.now(UTC) or similar.")
    return time.astimezone(UTC).isoformat()
