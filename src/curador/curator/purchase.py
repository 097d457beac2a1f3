"""Reserve, make, settle: the one way anything leaves a curator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from curador.accounting.events import Event, compose
from curador.curator.budgets import Scopes
from curador.curator.naming import fingerprint
from curador.curator.request import Request, SingleFlight
from curador.engines.engine import Progress, failed
from curador.errors import BudgetExceeded, EngineFailed, InvalidParameter, NotPromised
from curador.ledger.contract import Balance, Charge, Ledger
from curador.ledger.pricing import charged, left, price
from curador.privacy import Guarantee
from curador.query.plan.plan import Plan
from curador.show.progress import watched

Made = Callable[[Charge, Progress | None], str]
"""Reads data for a charge, adds the noise, and writes the answer down."""


class Till:
    """Where plans are paid for, and answers kept.

    Guarantee: data is touched only after the charge is durable; whatever happens then is an answer that is kept, or
    one error of constant words with the charge kept.
    """

    def __init__(self, ledger: Ledger, scopes: Scopes, on_error: Callable[[Exception], None] | None) -> None:
        self._ledger, self._scopes, self._on_error = ledger, scopes, on_error
        self._turns = SingleFlight()

    def buy(
        self,
        plans: Mapping[str, Plan],
        event: Event,
        promise: Guarantee,
        made: Made,
        terms: Request,
        kind: str,
    ) -> tuple[dict[str, Any], bool]:
        """The answer, as it is kept, and whether it left before."""
        tables = tuple(dict.fromkeys(name for plan in plans.values() for name in plan.tables))
        asked = {name: plan.question.to_json() for name, plan in plans.items()}
        ran = compose(*(plan.event for plan in plans.values()))
        also = {} if ran == event else {"ran": ran.to_json()}  # charged otherwise; kept for better accountants
        named = None if terms.fresh else fingerprint(plans, self._scopes.versions(tables), event, terms.because, kind)
        with self._turns.of(named), watched(terms.progress) as tell:
            note = {"asked": asked, **also, **terms.note}
            charge = self.reserve(tables, event, promise, terms, note=note, key=terms.request, fingerprint=named)
            if charge.repeated:
                return json.loads(self._ledger.answer(charge.id) or b""), True
            content = self.attempt(made, charge, tell)
            if content is None:
                same = failed()  # the engine's own words, so that what failed, and where, is not seen
                raise EngineFailed(same.what, fix=same.fix, cost=f"charge {charge.id} is kept, as for an answer")
            return json.loads(self._ledger.settle(charge.id, content)), False

    def reserve(self, tables: Sequence[str], event: Event, promise: Guarantee, terms: Request, **how: Any) -> Charge:
        """Spend an event on tables, for whoever gets the answer; or say which budget is short, the nearest first."""
        who = None if terms.analyst is None else self._scopes.receiver(terms.analyst, tables)
        try:
            return self._ledger.reserve(self._scopes.of(tables), event, promise=promise, receiver=who, **how)
        except InvalidParameter as error:
            if terms.key is None or terms.request is None or terms.request not in error.what:
                raise
            # The ledger knows a request by a digest, and whoever asks by the key they gave.
            raise InvalidParameter(error.what.replace(terms.request, terms.key), fix=error.fix) from None
        except BudgetExceeded as error:
            refusal = error
        # Out here, so that the nearest does not carry the other as its context.
        nearest = None if who is None else _short(self._ledger, who, event, promise)
        raise nearest or refusal

    def attempt(self, made: Made, charge: Charge, tell: Progress | None) -> bytes | None:
        """None where anything went wrong: raised from here, an error would carry exact numbers as its context."""
        try:
            return made(charge, tell).encode()
        except Exception as error:  # noqa: BLE001  whatever it was, it may depend on the data
            self.tell(error)
            return None

    def tell(self, error: Exception) -> None:
        """Show the witness, if there is one, what really went wrong."""
        if self._on_error is not None:
            with suppress(Exception):  # what a log says of it may not reach the asker
                self._on_error(error)


def _short(ledger: Ledger, receiver: str, event: Event, promise: Guarantee) -> BudgetExceeded | None:
    """Which budget of a receiver does not cover an event: the nearest one, whatever is short above it.

    A question that was answered before is charged to fewer budgets than a new one, so that whoever cannot pay for
    either would learn from the first that is short which of the two it is.
    """
    balance: Balance | None = ledger.balance(receiver)
    while balance is not None:
        if balance.closed:
            end = balance.expires
            ended = "was closed" if end is None or datetime.now(UTC) < end else f"ended before {end:%Y-%m-%d}, UTC"
            return BudgetExceeded(
                f"The budget of {balance.scope!r} {ended}.", fix="Ask whoever holds the budget for another."
            )
        try:
            charged(balance.scope, balance.state, price(balance.state, event, promise))
        except BudgetExceeded as refusal:
            return refusal
        balance = balance.parent
    return None


def how_many(ledger: Ledger, scopes: Iterable[str], event: Event, promise: Guarantee | None) -> int:
    """How often an event can still be bought in these scopes and all above them."""
    most: int | None = None
    for name in scopes:
        balance: Balance | None = ledger.balance(name)
        while balance is not None:
            costs = price(balance.state, event, promise)
            fits = [have // cost for have, cost in zip(left(balance.state), costs, strict=True) if cost]
            if balance.closed:
                fits.append(0)
            most = min([*fits, *([] if most is None else [most])], default=most)
            balance = balance.parent
    if most is None:
        raise NotPromised("This costs nothing here, so any number fits.", fix="Ask as often as you like.")
    return most
