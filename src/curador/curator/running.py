"""A count that is released again and again as days go by, paid for once, at opening."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from threading import Lock

from curador.curator.policy import Policy, required_notes
from curador.curator.release import Release
from curador.curator.request import Request
from curador.errors import InvalidParameter, NotPromised, QuestionRefused
from curador.mechanisms.tree import ContinualCount, RunningCount
from curador.privacy import ZCDP, Guarantee, PureDP
from curador.query.aggregates.counts import count
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Question
from curador.query.language import expressions as ex
from curador.query.tables.columns import Kind
from curador.query.tables.table import Table

LONGEST_DAYS = 36_525
"""A hundred years."""


@dataclass(frozen=True)
class Days:
    """What is counted: the rows of a table, day by day from the first, for so many days.

    Guarantee: a row falls on one day, so the counts of the days are a stream in which one unit changes one step by one
        (two steps under replace): what the binary tree of :class:`ContinualCount` assumes.
    Assumes: rows of a day that has been released are not added or changed later; what is counted is what was there.
    Fails: refused where a unit is more than a row: which of its rows count would depend on rows yet to come.
    """

    query: TableQuery
    by: str
    first: date
    days: int

    def __post_init__(self) -> None:
        table: Table = self.query.tables[self.query.table]
        if table.unit.id is not None:
            raise QuestionRefused(
                f"A unit of {self.query.table!r} may have rows on many days.",
                fix="Count by day in one question with group_by, which bounds what a unit adds.",
            )
        column = table.columns.get(self.by)
        if column is None or column.kind is not Kind.DATE:
            raise QuestionRefused(f"{self.by!r} is no date column of {self.query.table!r}.", fix="Name a date column.")
        if self.query.groups or self.query.outputs:
            raise QuestionRefused("A running count has no groups and no other outputs.", fix="Filter with where().")
        if type(self.first) is not date or type(self.days) is not int or not 1 <= self.days <= LONGEST_DAYS:
            raise InvalidParameter(
                f"A running count takes 1 to {LONGEST_DAYS:,} days from a date on.",
                fix="Pass a date and a number of days.",
            )
        if self.first > date.max - timedelta(days=self.days):
            raise InvalidParameter("These days leave the calendar.", fix="Start earlier.")

    def day(self, step: int) -> date:
        """The day of a step, the first being 1."""
        return self.first + timedelta(days=step - 1)

    def question(self, step: int) -> Question:
        """The rows of one day, to be counted exactly by the engine."""
        that_day = ex.Compare("=", ex.Name(self.by), ex.Literal(self.day(step)))
        return self.query.where(that_day).aggregate(n=count()).question

    def bought(
        self, budget: Guarantee, confidence: float, policy: Policy, terms: Request
    ) -> tuple[ContinualCount, tuple[str, ...]]:
        """The tree that the budget buys and what its releases must show, or a refusal; nothing is charged yet."""
        if terms.key is not None or terms.fresh:
            raise InvalidParameter("A running count is bought each time it is opened.", fix="Leave key and fresh out.")
        mechanism = self._mechanism(budget)
        mechanism.error(confidence, 1)
        policy.small_enough(budget, {self.query.table: self.query.tables[self.query.table]})
        policy.allowed("integer Laplace" if mechanism.variance is None else "integer Gaussian")
        return mechanism, required_notes(budget, terms.because, terms.override)

    def _mechanism(self, budget: Guarantee) -> ContinualCount:
        table = self.query.tables[self.query.table]
        if isinstance(budget, PureDP):
            return ContinualCount(self.days, epsilon=budget.epsilon, neighbors=table.neighbors)
        if isinstance(budget, ZCDP) and not budget.delta:
            return ContinualCount(self.days, rho=budget.rho, neighbors=table.neighbors)
        raise InvalidParameter("A running count is paid with epsilon or with rho.", fix="Give one of them.")


@dataclass
class Stream:
    """An open running count: every :meth:`next` releases the total up to one more day.

    Guarantee: all it ever releases is one event, charged at opening; a day that fails ends it, and the charge stays.
    """

    days: Days
    mechanism: ContinualCount
    promise: Guarantee
    charge: str
    confidence: float
    said: tuple[str, ...]
    rehearsal: bool
    count: Callable[[Question], int] = field(repr=False)
    _running: RunningCount | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _open: bool = field(default=True, repr=False)

    def next(self) -> Release:
        """The noised total of all days so far and one more."""
        with self._lock:
            if not self._open:
                raise NotPromised(
                    "This running count has ended.",
                    fix="Open a new one, which is paid for again.",
                    cost="its whole cost was spent at opening; nothing more was spent",
                )
            self._running = self._running or self.mechanism.open()
            step = self._running.step + 1
            self._open = False  # stays so if the engine fails
            total = self._running.add(self.count(self.days.question(step)))
            self._open = step < self.days.days
            return self._release(step, total)

    def close(self) -> None:
        """End it; what was not used stays spent."""
        with self._lock:
            self._open = False

    def _release(self, step: int, total: int) -> Release:
        reach = self.mechanism.error(self.confidence, step)
        table = self.days.query.tables[self.days.query.table]
        return Release(
            {self.days.by: (self.days.day(step),), "total": (total,)},
            (self.days.by,),
            {"total": ((total - reach, total + reach),)},
            {},
            self.confidence,
            self.promise,
            self.charge,
            table.neighbors,
            None,
            notes=(
                f"Day {step} of {self.days.days}: totals of all days together are one event, paid for at opening.",
                "Intervals are for one day; over many days some miss.",
                *self.said,
            ),
            rehearsal=self.rehearsal,
        )
