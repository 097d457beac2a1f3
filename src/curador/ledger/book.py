"""The ledger: what may be written, decided within one transaction of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from types import MappingProxyType

from curador.accounting.events import Event, event_from_json
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Rule
from curador.errors import BudgetExceeded, InvalidParameter, LedgerBroken, NotPromised
from curador.ledger import history as past
from curador.ledger.access import AccessList
from curador.ledger.anchor.decided import AS_STORED, Stated, refuse_changed
from curador.ledger.contract import Ledger, VerifyProgress
from curador.ledger.entries import (
    RESOLD,
    Clock,
    Entry,
    Failed,
    Granted,
    Opened,
    Repeated,
    Reserved,
    Revoked,
    Settled,
    digest,
    instant,
    now,
    plain,
    present_instant,
    release_seal,
)
from curador.ledger.posting import EVERYTHING, append, check, definition, described, opened, state
from curador.ledger.pricing import PriceList, name_of
from curador.ledger.records import EMPTY, Balance, Charge, Charges, Decision, Registration
from curador.ledger.registry import Registry, refuse_other_data
from curador.ledger.stores.one_transaction import Look, MustWrite, OneTransaction
from curador.ledger.stores.rows import (
    AFTER,
    ANSWER,
    BEFORE,
    CHARGE,
    ENTRY,
    PAID,
    REQUEST,
    RESTORE,
    RUNNING,
    SCOPE,
    LedgerStore,
    Rows,
    T,
    as_bytes,
)
from curador.ledger.verify import verify_rows
from curador.numbers import Number, probability, whole
from curador.privacy import Guarantee, Neighbors

ANOTHER = "Ask the owner of the budget for another."


class Book(Registry, AccessList):
    """A ledger over a store; :class:`curador.ledger.contract.Ledger` documents its methods.

    Guarantee: in every scope, the sum of all charges is within the ceiling, under any requests, any concurrency and any
    crash (docs/proofs/ledger.md).
    Assumes: the store's transactions are atomic, serial and durable; the key is secret.
    """

    def __init__(self, store: LedgerStore, key: bytes, clock: Clock = now, decided: Stated = AS_STORED) -> None:
        self._store, self._key, self._clock, self._decided = store, key, clock, decided
        # Parents and currencies never change, but for a delta that a pure budget is given, which changes no price of
        # what it could buy: read once, they price charges before the transaction begins.
        self._forget_prices()

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
        above = None if parent is None else self._parent_and_filter(parent)[1].neighbors
        about = Neighbors(neighbors) if neighbors is not None else above or Neighbors.ADD_REMOVE
        if above not in (None, about):
            raise InvalidParameter(
                f"{name!r} is about {about.value} neighbours and {parent!r} about {above.value}.",
                fix="Give both the same neighbours, or open the scope without a parent.",
                code="neighbors-differ",
                facts={"scope": name, "parent": parent},
            )
        fresh = opened(budget, about, rule, reserved := probability(reserved_delta, "reserved_delta"), tuple(orders))
        until = None if expires is None else instant(expires)
        entry = Opened(name, parent, described(fresh, reserved), fresh.ceiling, until)

        def append_opening(rows: Rows) -> None:
            if self._decided.sound(rows, EVERYTHING) is not None:
                raise LedgerBroken(
                    "This ledger was restored without its anchor: nothing can be bought from it any more.",
                    fix="Open a new ledger, and decide what budget each table may still have.",
                    code="ledger-closed",
                )
            if self._decided.sound(rows, name) is not None:
                raise InvalidParameter(
                    f"There is a budget called {name!r} already.",
                    fix="Choose another name.",
                    code="budget-exists",
                    facts={"scope": name},
                )
            self._decide(rows, entry)

        self._store.write(append_opening)
        return self.balance(name)

    def grant(self, scope: str, more: Guarantee, *, because: str = "") -> Balance:
        def append_grant(rows: Rows) -> None:
            text = self._open_definition(rows, scope)
            self._decided.sound(rows, scope)
            before, about = state(rows, scope, text), definition(text)
            after = about.raised(more)
            widened = (before.currency.rule, after.currency.rule) == (Rule.PURE, Rule.APPROXIMATE)
            if widened and not because.strip():
                raise InvalidParameter(
                    f"A delta for {scope!r} changes what it promises, for ever, and needs a reason.",
                    fix="Say it in because=.",
                    code="delta-needs-reason",
                )
            # Of another kind the numbers may be other ones, but for the epsilon that a delta is put beside.
            alike = after.currency == before.currency or widened
            if not alike or any(a < b for a, b in zip(after.ceiling, before.ceiling, strict=not widened)):
                raise InvalidParameter(f"{more!r} does not raise {before.guarantee!r}.", fix="Grant the same kind.")
            self._decide(rows, Granted(scope, described(after, about.reserved_delta), after.ceiling, because))

        self._store.write(append_grant)
        self._forget_prices()
        return self.balance(scope)

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        def append_revocation(rows: Rows) -> None:
            if not (self._decided.kept(rows, scope) or self._row(rows, scope))[4]:
                self._decide(rows, Revoked(scope, because))

        self._store.write(append_revocation)
        return self.balance(scope)

    def __contains__(self, scope: str) -> bool:
        return self._store.read(lambda rows: rows.get(SCOPE, scope) is not None)

    def balance(self, scope: str) -> Balance:
        def read_balance(rows: Rows) -> Balance:
            path = [self._row(rows, scope)]
            while (parent := path[-1][1]) is not None:
                path.append(self._row(rows, parent))
            found: Balance | None = None
            for name, _, text, expires, closed in reversed(path):
                end = None if expires is None else datetime.fromisoformat(expires)
                shut = bool(closed) or (expires is not None and self._time(rows) >= expires)
                found = Balance(name, state(rows, name, text), found, shut, end, bool(closed))
            assert found is not None
            return found

        return self._store.read(read_balance)

    def scopes(self) -> tuple[str, ...]:
        return self._store.read(lambda rows: tuple(row[0] for row in rows.scan(SCOPE) if row[0] != EVERYTHING))

    def decisions(self) -> tuple[Decision, ...]:
        return self._store.read(lambda rows: tuple(past.decisions(rows)), long=True)

    def ever_promised(self, scopes: Collection[str], budget: Guarantee) -> bool:
        return self._store.read(lambda rows: past.ever_promised(rows, scopes, budget), long=True)

    # -- charges

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        guarantee: Guarantee | None = None,
        note: Mapping[str, object] = EMPTY,
        key: str | None = None,
        fingerprint: str | None = None,
        receiver: str | None = None,
        planned: Sequence[Registration] = (),
        owner: str | None = None,
        ended: str | None = None,
    ) -> Charge:
        if key is not None and fingerprint is None:
            raise InvalidParameter("A key belongs to a question.", fix="Pass the question's fingerprint with it.")
        if key is not None:
            name_of(key, "key")
        if fingerprint is not None:
            name_of(fingerprint, "fingerprint")
        named = (scopes,) if isinstance(scopes, str) else tuple(scopes)
        path = self._path(named if receiver is None else (*named, receiver))
        owing = () if receiver is None else self._path(receiver)  # here: a transaction that reads waits for itself
        try:
            terms = self._prices.terms(path, event, guarantee)
        except NotPromised:  # another process may have given a budget a delta since
            self._forget_prices()
            terms = self._prices.terms(path, event, guarantee)
        costs, texts = terms.costs, terms.texts
        noted = dict(note) if note else {}
        if noted:
            texts = replace(texts, note=plain(noted))  # if it is not JSON, refused before the transaction begins

        def reserve_or_repeat(rows: Rows) -> Charge:
            at = self._time(rows)
            refuse_other_data(rows, planned)
            answered = past.answered_charge(rows, key, fingerprint)
            if answered is not None:
                new = rows.head.charges + 1
                bought = Reserved(
                    new, (), (), terms.event, terms.promised, noted, key, fingerprint, receiver, owner=RESOLD
                )
                return self._repeat(rows, answered, event, costs, owing, bought, at)
            if owner is not None and (running := past.running(rows, fingerprint)) not in (None, ended):
                for scope in owing:
                    check(rows, scope, self._open_definition(rows, scope, at), costs[scope])
                raise past.being_answered(rows, fingerprint, running)
            for scope in path:
                check(rows, scope, self._open_definition(rows, scope, at), costs[scope])
            number, paid = rows.head.charges + 1, terms.paid
            entry = Reserved(number, path, paid, terms.event, terms.promised, noted, key, fingerprint, receiver, owner)
            append(rows, self._key, entry, at, texts=texts)
            shown = MappingProxyType(dict(noted)) if noted else EMPTY
            return Charge(
                str(number), path, paid, event, guarantee, shown, receiver=receiver, at=at, entry=rows.head.sequence
            )

        return self._store.write(reserve_or_repeat)  # no anchor write yet: nothing leaves before it is settled

    def _repeat(
        self,
        rows: Rows,
        number: int,
        event: Event,
        costs: Mapping[str, Cost],
        payers: Sequence[str],
        bought: Reserved,
        at: str,
    ) -> Charge:
        """The stored answer of a charge again: free to who has paid for it, else ``bought`` under a number of its own.

        So nothing in what a receiver sees of it says that, or when, another one bought it before.
        """
        first = past.reserved(rows, number)
        if event_from_json(first.event) != event:
            raise InvalidParameter(
                "This fingerprint stands for another event.",
                fix="Fingerprint what the plan costs.",
                code="fingerprint-reused",
            )
        owing: list[str] = []
        for scope in payers:
            text = self._open_definition(rows, scope, at)
            paid = past.paid_with(rows, self._key, scope, number, bought.fingerprint)
            if paid is None:
                check(rows, scope, text, costs[scope])
                owing.append(scope)
            elif scope == bought.receiver:
                first = past.reserved(rows, paid)
        rows.require(AFTER)  # the answer leaves now
        binds = past.binds(rows, bought.request, pays=bool(owing))
        if owing:
            key = bought.request if binds else None
            entry = replace(bought, scopes=tuple(owing), costs=tuple(costs[scope] for scope in owing), request=key)
            sequence = append(rows, self._key, entry, at)
            answer = past.stored_answer(rows, number)
            rows.put(ANSWER, entry.charge, answer)
            append(rows, self._key, Settled(entry.charge, digest(answer)), at)
            return past.charge_of(entry, at, None, True, sequence)
        again = Repeated(number, (), (), bought.receiver, bought.request, bought.fingerprint)
        if binds:
            append(rows, self._key, again, at)
        own = first.note if bought.receiver == first.receiver else bought.note
        return past.charge_of(first, at, replace(again, note=own), True)

    def settle(self, charge: str, answer: bytes, *, planned: Sequence[Registration] = ()) -> bytes:
        number, content = past.number_of(charge), bytes(answer)

        def store_answer(rows: Rows) -> bytes:
            refuse_other_data(rows, planned, charge)
            found = rows.get(CHARGE, number)
            if found is None:
                raise past.unknown_charge(charge)
            if rows.get(ANSWER, number) is not None:
                raise InvalidParameter(
                    f"Charge {charge!r} has its answer already.",
                    fix="Read it; a new answer is a new charge.",
                    code="charge-settled",
                    facts={"charge": charge},
                )
            request = None if found[2] is None else rows.get(REQUEST, found[2])
            if request is not None and request[2] is not None:  # a retry was faster: one key, one answer
                return past.stored_answer(rows, request[2])
            rows.put(ANSWER, number, content)
            append(rows, self._key, Settled(number, digest(content)), self._time(rows))
            return content

        # The anchor then covers the charge: if the history is cut off before it, opening the ledger notices.
        return self._store.write(store_answer, BEFORE)

    def fail(self, fingerprint: str, owner: str, *, look: bool = True) -> None:
        def owed(rows: Rows) -> int | None:
            _, number, by = rows.get(RUNNING, fingerprint) or (None, 0, None)
            return number if by == owner and rows.get(ANSWER, number) is None else None

        def end_without_answer(rows: Rows) -> None:
            if (number := owed(rows)) is not None:
                append(rows, self._key, Failed(number), self._time(rows))

        if not look or self._store.read(owed) is not None:
            self._store.write(end_without_answer)

    def running(self, fingerprint: str) -> str | None:
        def read_running(rows: Rows) -> str | None:
            return None if past.answered_charge(rows, None, fingerprint) else past.running(rows, fingerprint)

        return self._store.read(read_running)

    def answer(self, charge: str) -> bytes | None:
        number = past.number_of(charge)

        def read_answer(rows: Rows) -> bytes | None:
            found, row = rows.get(CHARGE, number), rows.get(ANSWER, number)
            if found is None:
                raise past.unknown_charge(charge)
            if row is None:
                return None
            rows.depends_on(found[1])  # it may have been settled by a process that has not written its mark yet
            return as_bytes(row[1])

        return self._store.read(read_answer)

    def charge(self, charge: str, scope: str | None = None) -> Charge:
        number = past.number_of(charge)
        return self._store.read(lambda rows: past.bought(rows, number, scope))

    def history(
        self, scope: str | None = None, *, last: int | None = past.PAGE, before: Charge | None = None
    ) -> Charges:
        left = None if last is None else whole(last, "last")
        pages: list[Charges] = []  # each read by itself, so that nobody waits long; what was written does not change
        while True:
            most = past.PAGE if left is None else min(left, past.PAGE)
            pages.append(self._page(scope, most, before).charges())
            left = None if left is None else left - most
            if left == 0 or len(pages[-1]) < most:
                return Charges(chain.from_iterable(reversed(pages)))
            before = pages[-1][0]

    def _page(self, scope: str | None, most: int, before: Charge | None) -> past.Page:
        def read_page(rows: Rows) -> past.Page:
            found = past.page(rows, scope, most, before)
            if scope is not None and not found.entries:
                self._row(rows, scope)  # refused if it was never opened
            return found

        return self._store.read(read_page)

    def newest(self, scope: str) -> int:
        return self._store.read(lambda rows: max((row[1] for row in rows.tail(PAID, scope, most=1)), default=0))

    def count(self, scope: str | None = None) -> int:
        return self._store.read(
            lambda rows: rows.head.charges if scope is None else rows.count(PAID, self._row(rows, scope)[0])
        )

    # -- the whole

    def seal(self, content: str) -> str:
        return release_seal(self._key, content)

    def began(self) -> str:
        return self._store.read(lambda rows: str((rows.get(ENTRY, 1) or ("", "", ""))[2]))

    def at_once(self, work: Callable[[Ledger], T]) -> T:
        def run(rows: Rows) -> T:
            return work(Book(OneTransaction(rows), self._key, self._clock, self._decided.before(rows)))

        try:
            return self._store.read(lambda rows: run(Look(rows)))
        except MustWrite:
            return self._store.write(run)

    def verify(self, progress: VerifyProgress | None = None) -> int:
        if damage := self._store.damage():
            raise LedgerBroken(damage, fix=RESTORE, code="ledger-damaged")
        return self._store.read(lambda rows: verify_rows(rows, self._key, progress), long=True)

    def close(self) -> None:
        self._store.close()

    def _forget_prices(self) -> None:
        self._fixed: dict[str, tuple[str | None, Filter]] = {}
        self._prices = PriceList(self._parent_and_filter)

    # -- within a transaction

    def _time(self, rows: Rows) -> str:
        """The time now, or that of the last entry if the clock was set back since: it revives nothing."""
        return max(present_instant() if self._clock is now else instant(self._clock()), rows.head.at)

    def _decide(self, rows: Rows, entry: Entry) -> None:
        self._decided.deciding(entry)
        rows.require(AFTER)
        append(rows, self._key, entry, self._time(rows))

    def _path(self, scopes: str | Sequence[str]) -> tuple[str, ...]:
        return self._prices.path((scopes,) if isinstance(scopes, str) else tuple(scopes))

    def _parent_and_filter(self, scope: str) -> tuple[str | None, Filter]:
        """A scope's parent, and a filter of which only what never changes may be used: currency and neighbours."""
        if scope not in self._fixed:
            read = partial(self._store.read, lambda rows: self._read_fixed(rows, scope))
            # What was decided may be newer than the first snapshot; the second is newer than that.
            self._fixed[scope] = read() or read() or refuse_changed(SCOPE, scope)
        return self._fixed[scope]

    def _read_fixed(self, rows: Rows, scope: str) -> tuple[str | None, Filter] | None:
        row = self._row(rows, scope)
        return (row[1], state(rows, scope, row[2])) if self._decided.scope(rows, scope) == row else None

    def _row(self, rows: Rows, scope: str) -> tuple[str, str | None, str, str | None, int]:
        row = rows.get(SCOPE, scope)
        if row is None or scope == EVERYTHING:
            raise InvalidParameter(
                f"No budget is called {scope!r}.",
                fix="Open it first, or check the name.",
                code="budget-unknown",
                facts={"scope": scope},
            )
        return row[0], row[1], row[2], row[3], row[4]

    def _open_definition(self, rows: Rows, scope: str, at: str = "") -> str:
        """The definition of a scope; refused if the scope is closed, or expired ``at`` the time of an entry, or now."""
        text: str
        _, _, text, expires, closed = rows.get(SCOPE, scope) or self._row(rows, scope)
        if closed:
            raise BudgetExceeded(
                f"The budget of {scope!r} was closed.", fix=ANOTHER, code="budget-closed", facts={"scope": scope}
            )
        if expires is not None and (at or self._time(rows)) >= expires:
            raise BudgetExceeded(
                f"The budget of {scope!r} ended on {expires}.",
                fix=ANOTHER,
                code="budget-expired",
                facts={"scope": scope, "expires": expires},
            )
        return text
