"""Budgets: what is spent, by whom, and what still fits.  Everything here is free, and reads no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate

from fastapi import Response
from markupsafe import Markup

from curador import Balance, Charge, Curator, Guarantee, count, within
from curador.accounting import filters
from curador.accounting.rules.costs import Cost
from curador.curator.budgets import POPULATION
from curador.curator.naming import ANALYST
from curador.curator.study.file import read_study
from curador.curator.table import missing_files
from curador.errors import CuradorError
from curador.server.access.auth import Caller
from curador.server.console.budgets.asked import asked
from curador.server.console.budgets.shown import handle, last_day, own_left, share
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

APART = 600
"""Seconds between the first and the last charge from which on a chart over time tells something."""

LAST = 5
"""The newest charges, which are listed until there is a chart."""


@dataclass(frozen=True)
class BudgetView:
    """A budget as the page shows it."""

    title: str
    balance: Balance
    gauge: Markup
    over_time: Markup | None
    by_whom: Markup | None
    newest: Sequence[Charge]

    @property
    def last_day(self) -> str:
        return last_day(self.balance.expires)


NEXT: dict[str, tuple[tuple[str, str], ...]] = {
    "curator": (
        ("/console/ask", "next-ask"),
        ("/console/analysts#give", "next-analysts"),
        ("/console/tables/new", "next-tables"),
    ),
    "analyst": (("/console/ask", "next-ask"), ("/console/releases", "next-answers")),
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
            "overview.html",
            budgets=[],
            fits=None,
            analysts=None,
            public=public,
            next=NEXT["reader"],
            stated="",
            missing=[],
        )
    return await visit.serving.work(lambda: _made(visit, caller, curator))


def _made(visit: Visit, caller: Caller, curator: Curator) -> Response:
    charges = curator.received(caller.who, last=NEWEST)
    own = caller.who is not None
    balances = (curator.budget(caller.who),) if own else curator.budgets()
    return visit.page(
        "overview.html",
        budgets=[_budget(visit, balance, charges, own) for balance in balances],
        asked=asked,
        unit=_unit(curator),
        fits=_fitting(visit, curator, caller),
        analysts=None if own else _analysts(visit, curator, balances, charges),
        raised=handle(balances[0].scope) if caller.role == "curator" and len(balances) == 1 else "",
        public=None,
        next=NEXT[caller.role],
        stated=_stated(visit, curator),
        missing=list(missing_files(curator.tables).items()),
        may_mend=caller.role == "curator",
    )


# ---- budgets ---------------------------------------------------------------------------------------------------------


def _budget(visit: Visit, balance: Balance, charges: Sequence[Charge], own: bool) -> BudgetView:
    state = balance.state
    spent = share(state.currency.rule, state.spent, state.ceiling)
    code = "own-budget" if own else "all-tables" if balance.scope == POPULATION else "budget"
    title = visit.say(f"overview.{code}", scope=balance.scope)
    paid = _paid(charges, balance.scope)
    return BudgetView(
        title,
        balance,
        Markup(gauge(spent, visit.say("overview.gauge", percent=tick_text(float(f"{100 * spent:.3g}"))))),
        _over_time(visit, balance, paid) if _apart(paid) else None,
        _by_whom(visit, balance, paid) if paid and not own else None,
        [charge for charge, _ in reversed(paid[-LAST:])],
    )


def _stated(visit: Visit, curator: Curator) -> str:
    """The budget of a study without tables, as its file states it: the ledger opens it with the first table."""
    if curator.tables or curator.study_file is None or POPULATION in curator.ledger:
        return ""
    stated = read_study(curator.study_file).budget
    return visit.amount(stated) if isinstance(stated, Guarantee) else ""


def _unit(curator: Curator) -> str:
    """Whom the tables protect: the code of it."""
    rows = {table.unit.id is None for table in curator.tables.values() if not table.public}
    return "unit-both" if len(rows) > 1 else "unit-row" if True in rows else "unit-id"


Paid = Sequence[tuple[Charge, Cost]]


def _paid(charges: Sequence[Charge], scope: str) -> Paid:
    """The charges to a budget, with what each cost it."""
    return [(charge, _cost(charge, scope)) for charge in charges if scope in charge.scopes]


def _apart(paid: Paid) -> bool:
    """Whether charges are so far apart that a line over time says more than a list."""
    if not paid:
        return False
    first, last = (datetime.fromisoformat(charge.at) for charge in (paid[0][0], paid[-1][0]))
    return (last - first).total_seconds() >= APART


def _cost(charge: Charge, scope: str) -> Cost:
    return charge.costs[charge.scopes.index(scope)]


def _before(balance: Balance, paid: Paid) -> list[int]:
    """What older charges spent, number by number."""
    spent = balance.state.spent
    return [total - sum(cost[i] for _, cost in paid if i < len(cost)) for i, total in enumerate(spent)]


def _over_time(visit: Visit, balance: Balance, paid: Paid) -> Markup:
    state, start = balance.state, _before(balance, paid)
    wide = len(start)
    steps = [[*cost, *(0,) * (wide - len(cost))] for _, cost in paid]
    sums = list(accumulate(steps, lambda a, b: [x + y for x, y in zip(a, b, strict=True)], initial=start))
    days = [datetime.fromisoformat(charge.at).timestamp() / DAY for charge, _ in paid]
    y = tuple(share(state.currency.rule, one, state.ceiling) for one in sums)
    now = datetime.now(UTC).timestamp() / DAY
    track = Track("", (days[0], *days, max(now, days[-1])), (*y, y[-1]), "steps")
    across = Axis("@overview.when", dates=True, ends=(min(days[0], now - 1 / 24), max(now, days[-1])))
    drawn = Drawing(
        "overview.over-time", "xy", (track,), x=across, y=Axis("@overview.share", percent=True, ends=(0, 1))
    )
    return Markup(figure(drawn, visit.language))


def _by_whom(visit: Visit, balance: Balance, paid: Paid) -> Markup:
    state, wide = balance.state, len(balance.state.spent)
    sums = {who or "@overview.holder": total for who, total in _sums(paid).items()}
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


def _sums(paid: Paid) -> dict[str, Counter[int]]:
    """What charges of each receiver cost together, number by number; those of the curator under an empty name."""
    sums: dict[str, Counter[int]] = {}
    for charge, cost in paid:
        sums.setdefault(charge.receiver or "", Counter()).update(dict(enumerate(cost)))
    return sums


# ---- what still fits -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitting:
    """What still fits: a sentence for tables of which as many counts fit, and the error that the first speaks of."""

    sentences: Sequence[str]
    error: str
    none: bool


def _fitting(visit: Visit, curator: Curator, caller: Caller) -> Fitting | None:
    """What still fits, said once for tables that one budget pays for: six counts of either are not twelve."""
    together = caller.who is not None or curator.scopes.shared
    found: dict[tuple[int, int], list[str]] = {}
    gone = missing_files(curator.tables)
    private = [name for name, table in curator.tables.items() if not table.public and name not in gone]
    for name in private[:MOST_TABLES]:
        counts = _counts(curator, name, caller.who)
        if counts is not None:
            found.setdefault(counts, []).append(name)
    if not found:
        return None
    sentences = []
    for (fits, error), names in found.items():
        code = "fits-none" if not fits else "fits-one" if fits == 1 else "fits-counts"
        several = together and len(names) > 1
        facts = {"n": f"{fits:,}"} if fits > 1 else {}
        for about in [listed(visit, names)] if together else names:
            said = f"overview.{code}-together" if several else f"overview.{code}"
            sentences.append(visit.say(said, table=about, error=f"{error:,}", **facts))
    if together and len(found) > 1:
        sentences.append(visit.say("overview.fits-instead"))
    return Fitting(sentences, f"{min(error for _, error in found):,}", not any(fits for fits, _ in found))


def _counts(curator: Curator, table: str, who: str | None) -> tuple[int, int] | None:
    """How many counts of a table fit, and within which error; None where it is not counted so, or by others."""
    question = curator.table(table).aggregate(n=count())
    for error in ERRORS:
        try:
            fits = curator.how_many(question, accuracy=within(error), analyst=who)
        except CuradorError:
            return None
        if fits >= ENOUGH:
            break
    return fits, error


def listed(visit: Visit, names: Sequence[str]) -> str:
    """Names, between commas and with "or" before the last."""
    return visit.say("overview.or", most=", ".join(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]


# ---- who spent what --------------------------------------------------------------------------------------------------


def _analysts(
    visit: Visit, curator: Curator, roots: Sequence[Balance], charges: Sequence[Charge]
) -> list[Sequence[Cell]]:
    """Every analyst's and group's budget in a row; the curator's spending, and all together, where one budget pays."""
    ledger = curator.ledger
    of_tables = {known.scope for known in ledger.registrations(without=ANALYST)}
    above = {balance.scope for balance in roots}
    rows: list[Sequence[Cell]] = []
    for scope in ledger.scopes():
        if scope not in of_tables | above:
            found = ledger.balance(scope)
            rows.append(
                (scope, ledger.count(scope), visit.amount(found.spent), visit.amount(own_left(found), down=True))
            )
    if rows and len(roots) == 1:
        whole = roots[0]
        if len(charges) < NEWEST:
            rows.append(_curators(visit, whole, _paid(charges, whole.scope)))
        all_left = visit.amount(whole.remaining, down=True)
        rows.append((visit.say("overview.total"), ledger.count(whole.scope), visit.amount(whole.spent), all_left))
    return rows


def _curators(visit: Visit, whole: Balance, paid: Paid) -> Sequence[Cell]:
    """What was asked without an analyst's budget."""
    state = whole.state
    total = _sums(paid).get("", Counter())
    spent = replace(state, spent=tuple(total[i] for i in range(len(state.spent))))
    asked = sum(charge.receiver is None for charge, _ in paid)
    return visit.say("overview.holder"), asked, visit.amount(filters.spent(spent)), visit.say("overview.no-own")
