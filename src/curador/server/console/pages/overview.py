"""Budgets: what is spent, by whom, and what still fits.  Everything here is free, and reads no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from fastapi import Response
from markupsafe import Markup

from curador import Balance, Charge, Curator, count, within
from curador.accounting.rules.costs import Cost, Rule
from curador.curator.budgets import POPULATION
from curador.curator.naming import ANALYST
from curador.curator.table import missing_files
from curador.errors import CuradorError
from curador.server.access.auth import Caller
from curador.server.console.genuine import page_router
from curador.server.console.visit import Visit, Visiting
from curador.server.routes.releases import public_ids
from curador.server.service import Anyone
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing
from curador.show.pages.gauge import gauge
from curador.show.pages.page import figure
from curador.show.pages.svg import tick_text
from curador.show.tables import Cell

router = page_router()

NEWEST = 1000
"""Charges that charts are drawn of; those before are one step, or one bar."""

BARS = 12
ERRORS = (10, 30, 100, 300, 1000)
ENOUGH = 3
"""What still fits is said for the smallest of these errors within which so many counts fit."""

MOST_TABLES = 12
DAY = 24 * 3600


@dataclass(frozen=True)
class BudgetView:
    """A budget as the page shows it."""

    title: str
    balance: Balance
    gauge: Markup
    over_time: Markup | None
    by_whom: Markup | None

    @property
    def ends(self) -> str:
        return day(self.balance.expires)


NEXT: dict[str, tuple[tuple[str, str], ...]] = {
    "curator": (
        ("/console/ask", "next-ask"),
        ("/console/analysts#give", "next-analysts"),
        ("/console/tables/new", "next-tables"),
    ),
    "analyst": (("/console/ask", "next-ask"), ("/console/releases", "next-releases")),
    "auditor": (),
    "reader": (("/console/releases", "next-releases"),),
}
"""What is done from here, by role: an address and its text."""


@router.get("/overview", response_class=Response)
async def overview(visit: Visiting, caller: Anyone) -> Response:
    """What the caller may know about budgets: an analyst's own, a curator's and an auditor's all."""
    curator = visit.serving.curator
    if caller.role == "reader":
        public = await visit.serving.work(lambda: len(public_ids(curator)))
        return visit.page(
            "overview.html", budgets=[], fits=[], analysts=None, public=public, next=NEXT["reader"], missing=[]
        )
    return await visit.serving.work(lambda: _made(visit, caller, curator))


def _made(visit: Visit, caller: Caller, curator: Curator) -> Response:
    charges = curator.received(caller.who, last=NEWEST)
    own = caller.who is not None
    balances = (curator.budget(caller.who),) if own else curator.budgets()
    return visit.page(
        "overview.html",
        budgets=[_budget(visit, balance, charges, own) for balance in balances],
        fits=list(_fitting(visit, curator, caller)),
        analysts=None if own else _analysts(visit, curator),
        public=None,
        next=NEXT[caller.role],
        shared=curator.scopes.shared and len(curator.tables) > 1,
        missing=list(missing_files(curator.tables).items()),
        may_mend=caller.role == "curator",
    )


def day(end: datetime | None) -> str:
    """The last day on which something may be done, as it was chosen: what ends at midnight ends with the day before.

    >>> day(datetime(2027, 1, 1, tzinfo=UTC)), day(datetime(2026, 12, 31, 12, tzinfo=UTC)), day(None)
    ('2026-12-31', '2026-12-31', '')
    """
    return "" if end is None else f"{end - timedelta(microseconds=1):%Y-%m-%d}"


# ---- budgets ---------------------------------------------------------------------------------------------------------


def share(rule: Rule, spent: Sequence[int], ceiling: Cost) -> float:
    """Which part of a budget is spent: of its scarcest number, or where one of several is enough, of its best.

    >>> share(Rule.APPROXIMATE, (1, 3), (4, 4)), share(Rule.RENYI_ANY, (1, 3), (4, 4)), share(Rule.PURE, (0,), (0,))
    (0.75, 0.25, 0.0)
    """
    parts = [x / most for x, most in zip(spent, ceiling, strict=False) if most > 0]
    return (min if rule is Rule.RENYI_ANY else max)(parts, default=0.0)


def _budget(visit: Visit, balance: Balance, charges: Sequence[Charge], own: bool) -> BudgetView:
    state = balance.state
    spent = share(state.currency.rule, state.spent, state.ceiling)
    code = "own-budget" if own else "all-tables" if balance.scope == POPULATION else "budget"
    title = visit.say(f"overview.{code}", scope=balance.scope)
    paid = [(charge, _cost(charge, balance.scope)) for charge in charges if balance.scope in charge.scopes]
    return BudgetView(
        title,
        balance,
        Markup(gauge(spent, visit.say("overview.gauge", percent=tick_text(float(f"{100 * spent:.3g}"))))),
        _over_time(visit, balance, paid) if paid else None,
        _by_whom(visit, balance, paid) if paid and not own else None,
    )


def _cost(charge: Charge, scope: str) -> Cost:
    return charge.costs[charge.scopes.index(scope)]


def _before(balance: Balance, paid: Sequence[tuple[Charge, Cost]]) -> list[int]:
    """What older charges spent, number by number."""
    spent = balance.state.spent
    return [total - sum(cost[i] for _, cost in paid if i < len(cost)) for i, total in enumerate(spent)]


def _over_time(visit: Visit, balance: Balance, paid: Sequence[tuple[Charge, Cost]]) -> Markup:
    state, start = balance.state, _before(balance, paid)
    wide = len(start)
    steps = [[*cost, *(0,) * (wide - len(cost))] for _, cost in paid]
    sums = list(accumulate(steps, lambda a, b: [x + y for x, y in zip(a, b, strict=True)], initial=start))
    days = [datetime.fromisoformat(charge.at).timestamp() / DAY for charge, _ in paid]
    y = tuple(share(state.currency.rule, one, state.ceiling) for one in sums)
    now = datetime.now(UTC).timestamp() / DAY
    track = Track("", (days[0], *days, max(now, days[-1])), (*y, y[-1]), "steps")
    across = Axis("@overview.when", dates=True, ends=(min(days[0], now - 1 / 24), max(now, days[-1])))
    drawn = Drawing("overview.over-time", "xy", (track,), x=across, y=Axis("@overview.share", percent=True))
    return Markup(figure(drawn, visit.language))


def _by_whom(visit: Visit, balance: Balance, paid: Sequence[tuple[Charge, Cost]]) -> Markup:
    state, wide = balance.state, len(balance.state.spent)
    sums: dict[str, Counter[int]] = {}
    for charge, cost in paid:
        sums.setdefault(charge.receiver or "@overview.holder", Counter()).update(dict(enumerate(cost)))
    if any(old := _before(balance, paid)):
        sums["@overview.earlier"] = Counter(dict(enumerate(old)))
    shares = {
        who: share(state.currency.rule, [sum_[i] for i in range(wide)], state.ceiling) for who, sum_ in sums.items()
    }
    order = sorted(shares, key=lambda who: -shares[who])
    bars = [Bar(who, shares[who]) for who in order[:BARS]]
    if order[BARS:]:
        bars.append(Bar("@overview.others", sum(shares[who] for who in order[BARS:])))
    return Markup(figure(Drawing("overview.by-whom", bars=tuple(bars), x=Axis(percent=True)), visit.language))


# ---- what still fits -------------------------------------------------------------------------------------------------


def _fitting(visit: Visit, curator: Curator, caller: Caller) -> Iterator[tuple[str, int]]:
    """A sentence for each table, and the error it speaks of."""
    gone = missing_files(curator.tables)
    private = [name for name, table in curator.tables.items() if not table.public and name not in gone]
    for name in private[:MOST_TABLES]:
        question = curator.table(name).aggregate(n=count())
        fits = 0
        for error in ERRORS:
            try:
                fits = curator.how_many(question, accuracy=within(error), analyst=caller.who)
            except CuradorError:  # people of another budget, or rows that are not counted so: nothing is said
                break
            if fits >= ENOUGH or error == ERRORS[-1]:
                code = "fits-none" if not fits else "fits-one" if fits == 1 else "fits-counts"
                facts = {"n": f"{fits:,}"} if fits > 1 else {}
                yield visit.say(f"overview.{code}", table=name, error=error, **facts), error
                break


def _analysts(visit: Visit, curator: Curator) -> list[Sequence[Cell]]:
    """Every analyst's and group's budget in a row."""
    ledger = curator.ledger
    of_tables = {known.scope for known in ledger.registrations(without=ANALYST)}
    above = {balance.scope for balance in curator.budgets()}
    rows: list[Sequence[Cell]] = []
    for scope in ledger.scopes():
        if scope not in of_tables | above:
            found = ledger.balance(scope)
            spent, rest = visit.amount(found.spent), visit.amount(found.remaining, down=True)
            rows.append((scope, ledger.count(scope), spent, rest))
    return rows
