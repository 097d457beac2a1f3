"""The budgets that a curator holds: read, raised, closed, renewed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, NoReturn, Self

from curador.accounting.events import Event
from curador.curator.analysts import Scopes
from curador.curator.naming import no_tables_yet, settled
from curador.curator.purchases.turns import Pace, Turns
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised, QuestionRefused
from curador.ledger.contract import PAGE, Balance, Charge, Charges, Ledger
from curador.ledger.pricing import charged, left, price
from curador.numbers import Number
from curador.privacy import Guarantee, PureDP
from curador.query.plan.budget import budget_of, grant_of
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.curator.budgets import Budget
    from curador.curator.policy import Policy
    from curador.curator.purchase import Buyer
    from curador.curator.releases.publication import Publication
    from curador.curator.releases.release import Release
    from curador.curator.study.file import Analyst, Study
    from curador.ledger.contract import Decision
    from curador.query.sql_plan.prepared import Prepared


class BudgetHolder:
    """The part of a curator that reads and changes its budgets; nothing here touches data."""

    tables: Mapping[str, Table]
    ledger: Ledger
    scopes: Scopes
    policy: Policy
    _budget: Budget | None
    _analysts: dict[str, Analyst]
    _prepared: list[Prepared]
    _buyer: Buyer

    def __repr__(self) -> str:
        return f"<Curator of {', '.join(self.tables)}: {'; '.join(map(str, self.budgets()))}>"

    def __copy__(self) -> Self:
        """The same: what is copied with it, such as a model, charges the same budgets."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a curator is not pickled: with scikit-learn use n_jobs=1; elsewhere open the study in the other process, "
            "where it charges one ledger"
        )

    def paced(self, at_once: int, pace: Pace) -> None:
        """Serve analysts: limit concurrent reads to ``at_once``, and show when a purchase ended as ``pace`` says."""
        self._buyer.turns = Turns(pace, BoundedSemaphore(at_once))

    def verify_release(self, release: Release | Publication | Mapping[str, Any]) -> Release | Publication:
        """The release, if it is as this ledger's curator made it: see ``curator/releases/verify.py``."""
        from curador.curator.releases.verify import verify_release

        return verify_release(self.ledger, release)

    def declares(self, study: Study) -> bool:
        """Whether it was opened with just what this study states: of tables, budgets, rules and analysts."""
        own = dict(self.tables), self._budget, self.policy, self._analysts
        return own == ({n: settled(t) for n, t in study.tables.items()}, study.budget, study.policy, study.analysts)

    def budget(self, scope: str | None = None) -> Balance:
        """The balance of a table, of an analyst, or of everybody together: spent and remaining."""
        if scope is not None:
            return self.ledger.balance(self.scopes.named(scope))
        if not (roots := self.scopes.roots()):
            raise no_tables_yet()
        first, *others = roots
        if others or not self.scopes.shared:
            raise InvalidParameter("Tables have budgets of their own here.", fix="Name the table.")
        return self.ledger.balance(first)

    def budgets(self) -> tuple[Balance, ...]:
        """The root budgets that these tables charge: one for each set of people."""
        return tuple(self.ledger.balance(scope) for scope in self.scopes.roots())

    def history(self, scope: str | None = None, *, last: int | None = PAGE, before: Charge | None = None) -> Charges:
        """The newest charges, oldest first: ``last`` of them, or with None all; of a renewed table also those before.

        ``before`` is the first charge of a page, for the page before it.
        """
        if scope is None:
            return self.ledger.history(last=last, before=before)
        found = Charges()
        for name in reversed(self.scopes.ever(scope)):
            if before is None or name in before.scopes:
                left = None if last is None else last - len(found)
                found = Charges((*self.ledger.history(name, last=left, before=before), *found))
                before = None
        return found

    def received(self, analyst: str | None, *, last: int = PAGE, before: Charge | None = None) -> Charges:
        """The newest charges whose answers went to this analyst themselves, oldest first; with None, to anybody.

        This is what an analyst may see of the history: what members of a group ask is charged to the group, too, and
        is for no other member and not for whoever asks as the group.
        """
        if analyst is None:
            return self.history(last=last, before=before)
        own, found = frozenset(self.scopes.ever(analyst)), Charges()
        while left := last - len(found):
            page = self.history(analyst, last=left, before=before)
            found = Charges((*(one for one in page if one.receiver in own), *found))
            if len(page) < left:
                break
            before = page[0]
        return found

    def charge_count(self, scope: str | None = None) -> int:
        """How many charges there are so far."""
        return sum(map(self.ledger.count, (None,) if scope is None else self.scopes.ever(scope)))

    def decisions(self, scope: str | None = None) -> tuple[Decision, ...]:
        """The decisions about budgets, and their reasons: opened, raised, closed, renewed, restored; oldest first."""
        found = self.scopes.decisions()
        if scope is None:
            return found
        about = {"", *self.scopes.ever(scope)}  # a restore is about all
        return tuple(d for d in found if d.scope in about)

    def payable(self, refusal: QuestionRefused) -> QuestionRefused:
        """A refusal for want of a delta, with a fix that works: a budget of epsilon alone pays for none."""
        if refusal.code != "needs-delta" or not all(isinstance(b.budget, PureDP) for b in self.budgets()):
            return refusal
        return QuestionRefused(
            f"{refusal.what} The budget here counts epsilon alone.",
            fix="List the keys of the column, with the table or with the question, and ask with epsilon alone; or let "
            "the holder of the budget grant it a delta, and ask with epsilon and delta.",
            code="delta-not-granted",
            facts=refusal.facts,
        )

    def grant(
        self,
        scope: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        because: str = "",
        group: str | None = None,
        expires: datetime | None = None,
        seen: str | None = None,
    ) -> Balance:
        """Raise a budget by an amount (epsilon and delta, or rho), or give an analyst one (``group``, ``expires``).

        With ``seen``, the ``mark`` of a :class:`Balance`, only while it is that one, so that what is sent twice raises
        once; an empty one is for a budget that nobody has yet.
        A ``delta`` makes a budget that counts epsilon promise (epsilon, delta) from now on; that needs a reason.
        A budget that ends promises for its period alone: a person in the data of several periods loses the sum.
        """
        return self.scopes.grant(scope, grant_of(epsilon, delta, rho), because, group, expires, seen)

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        """Close an analyst's or group's budget for ever; what was spent stays spent."""
        return self.ledger.revoke(self.scopes.named(scope), because=because)

    def renew(
        self,
        *tables: str,
        because: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Balance:
        """Decide that these tables are about new people, and start one new budget for them; the reason is kept.

        The budget, epsilon (and delta) or rho, is a root of its own: nothing that was spent before counts there.  The
        old one stays as it is, for any other tables that charge it.

        Guarantee: the new budget, for people who are in the new rows alone.
        Assumes: no person of the old rows is in the new ones, nor in other tables; one who is loses the sum of both.
        """
        found = self.scopes.renew(tables, budget_of(epsilon, delta, rho), because)
        self._prepared = [p for p in self._prepared if p.table not in self.scopes.charging(found.scope)]
        return found


def shortage(ledger: Ledger, receiver: str, event: Event, guarantee: Guarantee) -> BudgetExceeded | None:
    """The refusal by the nearest budget of a receiver that does not cover an event, whatever is short above it.

    A question that was answered before is charged to fewer budgets than a new one, so that a receiver who cannot
    pay for either would learn from the first that is short which of the two it is.
    """
    balance: Balance | None = ledger.balance(receiver)
    while balance is not None:
        if balance.closed:
            end = balance.expires
            expired = end is not None and ledger.time() >= end
            ended = f"ended before {end:%Y-%m-%d}, UTC" if expired else "was closed"
            return BudgetExceeded(
                f"The budget of {balance.scope!r} {ended}.",
                fix="Ask the holder of the budget for another.",
                code="budget-expired" if expired else "budget-closed",
                facts={"scope": balance.scope},
            )
        try:
            charged(balance.scope, balance.state, price(balance.state, event, guarantee))
        except BudgetExceeded as refusal:
            return refusal
        balance = balance.parent
    return None


def how_many(ledger: Ledger, scopes: Iterable[str], event: Event, guarantee: Guarantee | None) -> int:
    """How often an event can still be bought in these scopes and all above them."""
    most: int | None = None
    for name in scopes:
        balance: Balance | None = ledger.balance(name)
        while balance is not None:
            costs = price(balance.state, event, guarantee)
            fits = [have // cost for have, cost in zip(left(balance.state), costs, strict=True) if cost]
            if balance.closed:
                fits.append(0)
            most = min([*fits, *([] if most is None else [most])], default=most)
            balance = balance.parent
    if most is None:
        raise NotPromised("This costs nothing here, so any number fits.", fix="Ask as often as you like.")
    return most
