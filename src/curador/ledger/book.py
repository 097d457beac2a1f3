"""The ledger: what may be written, decided within one transaction of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from curador.accounting.events import Event, event_from_json
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Rule
from curador.errors import NOTHING, BudgetExceeded, InvalidParameter, LedgerBroken
from curador.ledger import history as past
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
from curador.ledger.pricing import lineage, name_of, prices
from curador.ledger.records import EMPTY, Balance, Charge, Charges, Decision, Registration
from curador.ledger.stores.rows import (
    ANSWER,
    CHARGE,
    DATA,
    NAMED,
    PAID,
    REQUEST,
    RESTORE,
    SCOPE,
    SOURCED,
    AnchorNeed,
    LedgerStore,
    Rows,
)
from curador.ledger.verify import verify_rows
from curador.numbers import Number, probability, whole
from curador.privacy import Guarantee, Neighbors

Clock = Callable[[], datetime]

ANOTHER = "Ask the owner of the budget for another."

LONGEST_SOURCE = 2000
"""Characters of a source: an address may be longer than a name."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Book:
    """A ledger over a store; :class:`curador.ledger.contract.Ledger` documents its methods.

    Guarantee: in every scope, the sum of all charges is within the ceiling, under any requests, any concurrency and any
    crash (docs/proofs/ledger.md).
    Assumes: the store's transactions are atomic, serial and durable; the key is secret.
    """

    def __init__(self, store: LedgerStore, key: bytes, clock: Clock = now) -> None:
        self._store, self._key, self._clock = store, key, clock
        # Parents and currencies never change: read once, they price charges before the transaction begins.
        self._fixed: dict[str, tuple[str | None, Filter]] = {}

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
        reserved = probability(reserved_delta, "reserved_delta")
        fresh = opened(budget, about, rule, reserved, tuple(orders))
        until = None if expires is None else _instant(expires)
        entry = Opened(name, parent, Definition.of(fresh, reserved).to_json(), fresh.ceiling, until)

        def append_opening(rows: Rows) -> None:
            if rows.get(SCOPE, name) is not None:
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
            before, about = state(rows, scope, text), definition(text)
            after = about.raised(more)
            if after.currency != before.currency or any(
                a < b for a, b in zip(after.ceiling, before.ceiling, strict=True)
            ):
                raise InvalidParameter(f"{more!r} does not raise {before.guarantee!r}.", fix="Grant the same kind.")
            raised = Definition.of(after, about.reserved_delta)
            self._decide(rows, Granted(scope, raised.to_json(), after.ceiling, because))

        self._store.write(append_grant)
        return self.balance(scope)

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        def append_revocation(rows: Rows) -> None:
            if not self._row(rows, scope)[4]:
                self._decide(rows, Revoked(scope, because))

        self._store.write(append_revocation)
        return self.balance(scope)

    def balance(self, scope: str) -> Balance:
        def read_balance(rows: Rows) -> Balance:
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

        return self._store.read(read_balance)

    def scopes(self) -> tuple[str, ...]:
        return self._store.read(lambda rows: tuple(row[0] for row in rows.scan(SCOPE)))

    def decisions(self) -> tuple[Decision, ...]:
        return self._store.read(lambda rows: tuple(past.decisions(rows)))

    def ever_promised(self, scopes: Collection[str], budget: Guarantee) -> bool:
        return self._store.read(lambda rows: past.ever_promised(rows, scopes, budget))

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
    ) -> Charge:
        if key is not None and fingerprint is None:
            raise InvalidParameter("A key belongs to a question.", fix="Pass the question's fingerprint with it.")
        for text, what in ((key, "key"), (fingerprint, "fingerprint")):
            if text is not None:
                name_of(text, what)
        named = [scopes] if isinstance(scopes, str) else list(scopes)
        path = self._path(named if receiver is None else [*named, receiver])
        costs = prices({scope: self._parent_and_filter(scope)[1] for scope in path}, event, guarantee)
        promised = guarantee.to_json() if guarantee is not None else None
        if note:
            plain(note)  # a note that is not JSON is refused before the transaction begins
        at = _instant(self._clock())

        def reserve_or_repeat(rows: Rows) -> Charge:
            _refuse_other_data(rows, planned)
            answered = past.answered_charge(rows, key, fingerprint)
            if answered is not None:
                # One key, one answer: another charge of this key that is not settled yet must not give a second one.
                bound = key is None or (rows.get(REQUEST, key) or (None, None, None))[2] is not None
                again = (None, None) if bound else (key, fingerprint)
                return self._repeat(rows, answered, event, costs, receiver, again, at)
            for scope in path:
                check(rows, scope, self._open_definition(rows, scope), costs[scope])
            paid = [costs[scope] for scope in path]
            number = rows.head.charges + 1
            entry = Reserved(number, path, paid, event.to_json(), promised, dict(note), key, fingerprint, receiver)
            append(rows, self._key, entry, at)
            return Charge(
                str(number), path, tuple(paid), event, guarantee, MappingProxyType(entry.note), receiver=receiver, at=at
            )

        return self._store.write(reserve_or_repeat)  # no anchor write yet: nothing leaves before it is settled

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
        first = past.reserved(rows, number)
        if event_from_json(first.event) != event:
            raise InvalidParameter(
                "This fingerprint stands for another event.",
                fix="Fingerprint what the plan costs.",
                code="fingerprint-reused",
            )
        owing: list[str] = []
        for scope in () if receiver is None else self._path(receiver):
            text = self._open_definition(rows, scope)
            if rows.get(PAID, scope, number) is None:
                check(rows, scope, text, costs[scope])
                owing.append(scope)
        entry = Repeated(number, owing, [costs[scope] for scope in owing], receiver, *request)
        if owing or entry.request is not None:
            append(rows, self._key, entry, at)
        rows.require(AnchorNeed.AFTER)  # the answer leaves now
        return past.charge_of(first, at, entry, True)

    def settle(self, charge: str, answer: bytes, *, planned: Sequence[Registration] = ()) -> bytes:
        number, content = past.number_of(charge), bytes(answer)

        def store_answer(rows: Rows) -> bytes:
            _refuse_other_data(rows, planned, charge)
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
            append(rows, self._key, Settled(number, digest(content)), _instant(self._clock()))
            return content

        # The anchor then covers the charge: if the history is cut off before it, opening the ledger notices.
        return self._store.write(store_answer, AnchorNeed.BEFORE)

    def answer(self, charge: str) -> bytes | None:
        number = past.number_of(charge)

        def read_answer(rows: Rows) -> bytes | None:
            found, row = rows.get(CHARGE, number), rows.get(ANSWER, number)
            if found is None:
                raise past.unknown_charge(charge)
            if row is None:
                return None
            rows.depends_on(found[1])  # it may have been settled by a process that has not written its mark yet
            return bytes(row[1])

        return self._store.read(read_answer)

    def history(self, scope: str | None = None, *, last: int | None = None) -> Charges:
        most = None if last is None else whole(last, "last")

        def read_charges(rows: Rows) -> Charges:
            if scope is not None:
                self._row(rows, scope)
            return past.charges(rows, scope, most)

        return self._store.read(read_charges)

    # -- tables

    def register(self, table: str, source: str, *, scope: str | None = None, reloaded: bool = False) -> Registration:
        name_of(table, "table"), name_of(source, "source", LONGEST_SOURCE)

        def find_or_tie(rows: Rows) -> Registration:
            named, sourced = rows.get(NAMED, table), rows.get(SOURCED, source)
            if named is not None and sourced is not None and named[1] != sourced[1]:
                raise InvalidParameter(
                    f"The name {table!r} and its source are registered as different data.",
                    fix="Decide with renew() which budget it charges from now on.",
                    code="table-ambiguous",
                    facts={"table": table},
                )
            known = named or sourced
            if known is None:
                if scope is None:
                    raise _unknown_table(table, "Name the scope it charges.")
                self._row(rows, scope)
                return self._register(rows, Registered(table, source, rows.head.sequence + 1, scope, 1))
            data, bound, version = rows.get(DATA, known[1]) or ()
            if scope not in (None, bound):
                raise InvalidParameter(
                    f"{table!r} charges {bound!r}; registering it again does not change that.",
                    fix="Decide with renew() to start anew.",
                    code="table-bound",
                    facts={"table": table, "scope": bound},
                )
            if named == (table, data, source) and not reloaded:
                return Registration(table, source, bound, version, data)
            return self._register(rows, Registered(table, source, data, bound, version + 1))

        return self._store.write(find_or_tie)

    def registered(self, table: str, source: str) -> Registration | None:
        def read_registration(rows: Rows) -> Registration | None:
            known = rows.get(NAMED, table) or rows.get(SOURCED, source)
            if known is None:
                return None
            data, bound, version = rows.get(DATA, known[1]) or ()
            return Registration(table, source, bound, version, data)

        return self._store.read(read_registration)

    def renew(self, table: str, scope: str, *, because: str) -> Registration:
        if not because.strip():
            raise InvalidParameter("A new budget for a registered table needs a reason.", fix="Give it in because=.")

        def tie_anew(rows: Rows) -> Registration:
            self._row(rows, scope)
            named = rows.get(NAMED, table)
            if named is None:
                raise _unknown_table(table, "Register it first.")
            _, _, version = rows.get(DATA, named[1]) or ()
            entry = Registered(table, named[2], rows.head.sequence + 1, scope, version + 1, because)
            return self._register(rows, entry)

        return self._store.write(tie_anew)

    def scopes_of(self, table: str) -> tuple[str, ...]:
        return self._store.read(lambda rows: past.scopes_of(rows, table))

    # -- the whole

    def verify(self) -> int:
        if damage := self._store.damage():
            raise LedgerBroken(damage, fix=RESTORE, code="ledger-damaged")
        return self._store.read(lambda rows: verify_rows(rows, self._key))

    def close(self) -> None:
        self._store.close()

    # -- within a transaction

    def _decide(self, rows: Rows, entry: Entry) -> None:
        rows.require(AnchorNeed.AFTER)
        append(rows, self._key, entry, _instant(self._clock()))

    def _register(self, rows: Rows, entry: Registered) -> Registration:
        self._decide(rows, entry)
        return Registration(entry.name, entry.source, entry.scope, entry.version, entry.data)

    def _path(self, scopes: str | Sequence[str]) -> tuple[str, ...]:
        return lineage(scopes, lambda scope: self._parent_and_filter(scope)[0])

    def _parent_and_filter(self, scope: str) -> tuple[str | None, Filter]:
        """A scope's parent, and a filter of which only what never changes may be used: currency and neighbours."""
        if scope not in self._fixed:
            found = self._store.read(lambda rows: (row := self._row(rows, scope)) and (row, state(rows, scope, row[2])))
            self._fixed[scope] = found[0][1], found[1]
        return self._fixed[scope]

    def _row(self, rows: Rows, scope: str) -> tuple[str, str | None, str, str | None, int]:
        row = rows.get(SCOPE, scope)
        if row is None:
            raise InvalidParameter(
                f"No budget is called {scope!r}.",
                fix="Open it first, or check the name.",
                code="budget-unknown",
                facts={"scope": scope},
            )
        name, parent, text, expires, closed = row
        if text == LOST:
            raise LedgerBroken(
                f"{scope!r} was opened after the copy that this ledger was restored from, and is lost.",
                fix="Open a budget of another name, as a decision.",
                code="budget-lost",
                facts={"scope": scope},
            )
        return name, parent, text, expires, closed

    def _open_definition(self, rows: Rows, scope: str) -> str:
        """The definition of a scope; refused if the scope is closed or expired."""
        _, _, text, expires, closed = self._row(rows, scope)
        if closed:
            raise BudgetExceeded(
                f"The budget of {scope!r} was closed.", fix=ANOTHER, code="budget-closed", facts={"scope": scope}
            )
        if expires is not None and self._clock() >= datetime.fromisoformat(expires):
            raise BudgetExceeded(
                f"The budget of {scope!r} ended on {expires}.",
                fix=ANOTHER,
                code="budget-expired",
                facts={"scope": scope, "expires": expires},
            )
        return text


def _refuse_other_data(rows: Rows, planned: Sequence[Registration], charge: str = "") -> None:
    """Refuse what was planned with, or has read, data that a table's name does not stand for any more."""
    for known in planned:
        named, data = rows.get(NAMED, known.table), rows.get(DATA, known.data)
        if named is None or named[1] != known.data or data is None or data[1:] != (known.scope, known.version):
            raise InvalidParameter(
                f"The data of {known.table!r} was renewed or reloaded meanwhile.",
                fix="Ask again.",
                cost=f"charge {charge} is kept, and its answer was thrown away" if charge else NOTHING,
                code="data-changed-while-read" if charge else "planned-for-other-data",
                facts={"table": known.table},
            )


def _unknown_table(table: str, fix: str) -> InvalidParameter:
    return InvalidParameter(
        f"No table is registered as {table!r}.", fix=fix, code="table-unknown", facts={"table": table}
    )


def _instant(time: datetime) -> str:
    if time.tzinfo is None:
        raise InvalidParameter("A time without a zone is not an instant.", fix="Use datetime.now(UTC) or similar.")
    return time.astimezone(UTC).isoformat()
