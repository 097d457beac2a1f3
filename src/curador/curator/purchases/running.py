"""A count that is released again and again as days go by, paid for once, at opening."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from curador.accounting.events import Event
from curador.curator.analysts import Scopes
from curador.curator.purchase import Request
from curador.curator.releases.notes import Note, bought_remarks
from curador.curator.releases.release import Release
from curador.engines.engine import Progress, failed
from curador.engines.pool import EnginePool
from curador.errors import InvalidParameter, NotPromised, QuestionRefused
from curador.forks import OneProcess
from curador.ledger.contract import Charge
from curador.mechanisms.tree import ContinualCount, RunningCount
from curador.privacy import ZCDP, Guarantee, PureDP
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Question
from curador.query.language import expressions as ex
from curador.query.plan.checked import check
from curador.query.plan.planner import ExactHalf
from curador.query.tables.columns import Kind
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.curator.curator import Curator

LONGEST_DAYS = 36_525
"""A hundred years."""


@dataclass(frozen=True)
class DailyCount:
    """The rows of a table counted day by day from ``first``, for ``days`` days: a purchase.

    Guarantee: a row falls on one day, so the counts of the days are a stream in which one unit changes one step by one
        (two steps under replace): what the binary tree of :class:`ContinualCount` assumes.
    Assumes: rows of a day that has been released are not added or changed later; what is counted is what was there.
    Fails: refused where a unit is more than a row: which of its rows count would depend on rows yet to come.
    """

    query: TableQuery
    by: str
    first: date
    days: int
    guarantee: Guarantee

    def __post_init__(self) -> None:
        table = self._table
        if table.unit.id is not None:
            raise QuestionRefused(
                f"A unit of {self.query.table!r} may have rows on many days.",
                fix="Count by day in one question with group_by, which bounds what a unit adds.",
            )
        column = table.columns.get(self.by)
        if column is None or column.kind is not Kind.DATE:
            raise QuestionRefused(
                f"{self.by!r} is not a date column of {self.query.table!r}.", fix="Name a date column."
            )
        if self.query.groups or self.query.outputs:
            raise QuestionRefused("A running count has no groups and no other outputs.", fix="Filter with where().")
        if type(self.first) is not date or type(self.days) is not int or not 1 <= self.days <= LONGEST_DAYS:
            raise InvalidParameter(
                f"A running count takes 1 to {LONGEST_DAYS:,} days from a date on.",
                fix="Pass a date and a number of days.",
            )
        if self.first > date.max - timedelta(days=self.days):
            raise InvalidParameter("These days go beyond the calendar.", fix="Start earlier.")
        _ = self.mechanism  # refuses a budget that buys no tree

    @property
    def _table(self) -> Table:
        return self.query.tables[self.query.table]

    def day(self, step: int) -> date:
        """The day of a step, the first being 1."""
        return self.first + timedelta(days=step - 1)

    def question(self, step: int) -> Question:
        """The rows of one day, to be counted exactly by the engine."""
        that_day = ex.Compare("=", ex.Name(self.by), ex.Literal(self.day(step)))
        return self.query.where(that_day).aggregate(n=count()).question

    # -- as a purchase

    @property
    def mechanism(self) -> ContinualCount:
        """The tree that the budget buys."""
        about = self._table.neighbors
        if isinstance(self.guarantee, PureDP):
            return ContinualCount(self.days, epsilon=self.guarantee.epsilon, signed=False, neighbors=about)
        if isinstance(self.guarantee, ZCDP) and not self.guarantee.delta:
            return ContinualCount(self.days, rho=self.guarantee.rho, signed=False, neighbors=about)
        raise InvalidParameter("A running count is paid with epsilon or with rho.", fix="Give one of them.")

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.query.table,)

    @property
    def optional(self) -> frozenset[str]:
        return frozenset()

    @property
    def declared(self) -> Mapping[str, Table]:
        return self.query.tables

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def ran(self) -> Event:
        return self.event

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.mechanism.kind})

    @property
    def parts(self) -> tuple[DailyCount, ...]:
        return ()

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]:
        """Values that its filter compares with and that no declaration allows, as notes; its days are none of them."""
        return check(self.query.aggregate(n=count()).question, self.declared).undeclared

    @property
    def identity(self) -> None:
        """None: it is bought anew each time it is opened, since what it will release is not known yet."""
        return None

    @property
    def measured(self) -> Mapping[str, str]:
        return {}

    @property
    def contained(self) -> tuple[str, ...]:
        return ()

    @property
    def note(self) -> Mapping[str, object]:
        """The record kept with its charge: the question of the first day, and the number of days."""
        first = self.question(1)
        text = f"{first.summary}, and {self.days - 1} days more of a running count"
        return {"asked": {"first day": first.to_json()}, "days": self.days, "text": text}

    def prepare(self, engines: EnginePool) -> None:
        """Open the engine of the table; no row is read."""
        engines.of(self.tables)

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        """Read nothing yet; settled first, so that no older copy of the ledger can lack the charge unnoticed."""
        return json.dumps({"running": self.question(1).to_json(), "days": self.days}).encode()


@dataclass(eq=False)
class Stream(OneProcess):
    """An open running count: every :meth:`next` releases the total up to one more day.

    Guarantee: all it ever releases is one event, charged at opening; a day that fails ends it, and the charge stays.  A
        forked child is refused, and it cannot be copied: what `dataclasses.replace` makes draws from the same tree.
    """

    counted: DailyCount
    charge: str
    confidence: float
    remarks: tuple[Note, ...]
    rehearsal: bool
    _count: Callable[[Question], int] = field(repr=False)
    _sealed: Callable[[Release], Release] = field(repr=False)
    _running: RunningCount = field(repr=False)
    language: str = "en"
    _lock: Lock = field(default_factory=Lock, repr=False)
    _open: bool = field(default=True, repr=False)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of everything it releases together."""
        return self.counted.guarantee

    def __post_init__(self) -> None:
        super().__init__()

    def next(self) -> Release:
        """The noised total of all days so far and one more."""
        self.require_home()
        with self._lock:
            if not self._open:
                raise NotPromised(
                    "This running count has ended.",
                    fix="Open a new one, which is paid for again.",
                    cost="its whole cost was spent at opening; nothing more was spent",
                )
            step = self._running.step + 1
            self._open = False  # stays so if the engine fails
            total = self._running.add(self._count(self.counted.question(step)))
            self._open = step < self.counted.days
            return self._sealed(self._release(step, total))

    def close(self) -> None:
        """End it; what was not used stays spent."""
        self.require_home()
        with self._lock:
            self._open = False

    def _release(self, step: int, total: int) -> Release:
        reach = self.counted.mechanism.error(self.confidence, step)
        by = self.counted.by
        day: Note = {"code": "running-day", "day": step, "days": self.counted.days}
        return Release(
            {by: (self.counted.day(step),), "total": (total,)},
            (by,),
            {"total": ((total - reach, total + reach),)},
            {},
            self.confidence,
            self.guarantee,
            self.charge,
            self.counted.declared[self.counted.query.table].neighbors,
            remarks=(day, {"code": "running-intervals"}, *self.remarks),
            rehearsal=self.rehearsal,
            language=self.language,
        )


def open_stream(curator: Curator, counted: DailyCount, request: Request, confidence: float) -> Stream:
    """Pay for a running count, and open it."""

    def exact(question: Question) -> ExactHalf:
        return curator._planner(question).exact_half()  # no price: what is counted is noised by the tree

    counted.mechanism.error(confidence, 1)  # refuses a confidence before anything is charged, and what is not public
    first = exact(counted.question(1))
    curator.scopes.require_public(set(first.reads) - set(counted.tables))
    curator._engines.of(first.reads).sql(first.exact)  # what cannot be counted together is refused before the charge
    bought = curator.buy(counted, request)
    count = counting(counted, bought.charge, curator.scopes, exact, curator._engines, curator._buyer.attempt)
    remarks, rehearsal = bought_remarks(bought, counted.guarantee), curator._made_up is not None
    charge, sealed, language = bought.charge.id, curator.sealed, curator.language
    return Stream(counted, charge, confidence, remarks, rehearsal, count, sealed, counted.mechanism.open(), language)


def counting(
    counted: DailyCount,
    charge: Charge,
    scopes: Scopes,
    exact: Callable[[Question], ExactHalf],
    engines: EnginePool,
    attempt: Callable[[Callable[[], bytes]], bytes | None],
) -> Callable[[Question], int]:
    """What counts the rows of a day exactly, to be noised at once; any failure is the engines' one error.

    Guarantee: refused, before the rows are read and after it, once the table is about people who did not pay, protects
        another unit or has another source, or a table that it joins is not public any more.
    """

    def require_same_people(read: Collection[str]) -> None:
        scopes.require_public(set(read) - set(counted.tables))
        if not {known.scope for known in scopes.held(counted.tables).values()} <= set(charge.scopes):
            raise InvalidParameter(
                f"{counted.query.table!r} is about new people since this running count was opened.",
                fix="Open a new one, which is paid for by the new budget.",
                cost="the whole cost was spent at opening",
                code="data-changed",
            )

    def count_day(question: Question) -> int:
        plan = exact(question)
        require_same_people(plan.reads)
        found = attempt(lambda: str(engines.of(plan.reads).run(plan.exact).column(plan.measures[0])[0]).encode())
        require_same_people(plan.reads)
        if found is None:
            raise failed()
        return int(found)

    return count_day
