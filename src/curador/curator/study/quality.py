"""How well the rows of a table fit what was declared about its columns: one question, charged as any other.

For each column, three counts: rows that fit, rows in which it is missing (NULL, or not of its type), and rows outside
its keys or bounds.  To see what reading would clip or substitute, the columns are read without bounds, keys and
substitutes; unit, neighbours and limits stay, and the sensitivity of a count rests on nothing else.  All intervals of
one report hold together (Bonferroni), and end at what is public: at 0, and at the declared size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import finalize

from curador.curator.purchase import Bought, Purchase, Request
from curador.curator.purchases.batch import Batch, split
from curador.curator.releases.notes import Note
from curador.curator.releases.release import Release, present
from curador.curator.study.tables import listed_values
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.base import checked_confidence
from curador.numbers import Number
from curador.privacy import Guarantee
from curador.query.aggregates.counts import count
from curador.query.ask.question import Group, Output, Question
from curador.query.language import expressions as ex
from curador.query.plan.budget import budget_of
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.columns import WIDEST, Column, Key, Kind, day_of, moment_of
from curador.query.tables.names import listed, suggestion
from curador.query.tables.table import Table
from curador.show.explain import checked_language

STATES = ("fits", "missing", "outside")

MOST_KEYS = 900
"""The most keys that a condition lists."""


@dataclass(frozen=True, repr=False)
class Quality(Batch):
    """A histogram of three states for each column, bought together; ``held`` are the declarations of the curator.

    ``confidence`` is that of all its intervals together; each plan has its part of the misses.
    """

    held: Mapping[str, Table] = field(default_factory=dict, compare=False)
    confidence: float = field(default=0.95, compare=False)

    @property
    def declared(self) -> Mapping[str, Table]:
        return self.held

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]:
        """None: what lies outside the declarations is what it counts."""
        return ()

    @property
    def note(self) -> Mapping[str, object]:
        text = f"quality of {', '.join(self.tables)}: {', '.join(self.plans)}"
        return {**super().note, "text": text, "quality": self.tables[0]}


class QualityHolder:
    """The part of a curator that answers how well a table's rows fit its declarations."""

    tables: Mapping[str, Table]
    language: str
    _made_up: finalize[..., Any] | None

    if TYPE_CHECKING:

        def buy(self, purchase: Purchase, request: Request | None = None) -> Bought: ...

        def sealed(self, made: Release) -> Release: ...

        def _public_rows(self, table: str, columns: Sequence[str]) -> Sequence[tuple[Key, ...]]: ...

    def quality(
        self,
        table: str,
        columns: Iterable[str] = (),
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        confidence: float = 0.95,
    ) -> Quality:
        """Plan the question; free.  Without ``columns`` all are looked at, but the id, and those of very many keys.

        Guarantee: a row is in one state of each column, so the columns' guarantees add up to the budget.
        """
        declared = self.tables.get(table)
        if declared is None or declared.public:
            raise InvalidParameter(
                f"{table!r} is not a private table here.",
                fix=suggestion(table, [name for name, t in self.tables.items() if not t.public]),
                code="no-such-private-table",
            )
        known = listed_values(declared)
        others = [name for name in declared.columns if name != declared.unit.id]
        asked = list(dict.fromkeys(columns)) or checkable(declared)
        for name in asked:
            if name not in others:
                raise InvalidParameter(
                    f"{name!r} is not a column that has a quality.",
                    fix=suggestion(name, others),
                    code="no-such-column",
                    facts={"column": name, "known": listed(others)},
                )
            if len(known[name] or ()) > MOST_KEYS:
                raise QuestionRefused(
                    f"{name!r} has more than {MOST_KEYS} keys.",
                    fix="Ask about other columns.",
                    code="too-many-keys",
                    facts={"column": name, "n": len(known[name] or ()), "most": MOST_KEYS},
                )
        plans = split(self._of_states(table, asked, confidence), budget_of(epsilon, delta, rho))
        return self._quality(table, plans, confidence)

    def quality_again(self, table: str, budgets: Mapping[str, Guarantee], confidence: float) -> Quality:
        """The same question planned again, from what was paid for each column."""
        planners = self._of_states(table, [name for name in budgets if name in self.tables[table].columns], confidence)
        plans = {name: planner.plan(budgets[name]) for name, planner in planners.items()}
        return self._quality(table, plans, confidence)

    def _quality(self, table: str, plans: Mapping[str, Plan], confidence: float) -> Quality:
        words = {"title": f"quality of {table}"}
        return Quality(plans, held=self.tables, words=words, adjust=False, confidence=confidence)

    def _of_states(self, table: str, asked: Iterable[str], confidence: float) -> dict[str, Planner]:
        declared = self.tables[table]
        known = listed_values(declared)
        read = {name: _unbounded(column) for name, column in declared.columns.items()}
        tables = {**self.tables, table: replace(declared, columns=read, trees={})}
        found = {}
        for name in asked:
            state = Group("state", _state(name, declared.columns[name], known[name]))
            question = Question(table, (Output("n", count()),), group_by=(state,))
            found[name] = check(question, tables, self._public_rows)
        numbers = sum(len(checked.keys or ()) for checked in found.values())
        each = 1 - (1 - checked_confidence(confidence)) / max(1, numbers)
        return {name: Planner(checked, confidence=each) for name, checked in found.items()}

    def buy_quality(self, asked: Quality, request: Request, language: str | None = None) -> Release:
        """Buy the question, and show one row for each column."""
        shown = checked_language(language or self.language)  # refused before anything is charged
        return self.sealed(presented(asked, self.buy(asked, request), self._made_up is not None, shown))


def presented(asked: Quality, bought: Bought, rehearsal: bool, language: str) -> Release:
    """What was bought, one row for each column.

    Guarantee: post-processing [DR14]; numbers and intervals are cut at 0 and at the declared size, and nothing else is
    read.
    """
    measured = asked.measurements(bought.measurement)
    each = {
        name: present(plan, replace(bought, measurement=measured[name]), rehearsal=rehearsal, language=language)
        for name, plan in asked.plans.items()
    }
    columns: dict[str, list[Any]] = {"column": list(each), **{state: [] for state in STATES}}
    intervals: dict[str, list[tuple[float, float]]] = {state: [] for state in STATES}
    size = None if rehearsal else asked.held[asked.tables[0]].size  # made-up rows are as many as somebody wants
    beyond = False
    for name, release in each.items():
        most = math.inf if size is None else size * asked.plans[name].contribution.rows
        places = {state: i for i, state in enumerate(release["state"])}
        for state in STATES:  # a state that a column cannot have is no row of its answer
            low, high = release.interval("n", places[state]) if state in places else (0.0, 0.0)
            beyond = beyond or low > most
            top = max(0.0, high if low > most else min(high, most))
            x = release.numbers("n")[places[state]] if state in places else 0
            columns[state].append(round(min(max(x, 0), top)))
            intervals[state].append((max(low, 0.0), top))
    first = next(iter(each.values()))
    return replace(
        first,
        columns={name: tuple(cells) for name, cells in columns.items()},
        groups=("column",),
        intervals={name: tuple(ends) for name, ends in intervals.items()},
        confidence=asked.confidence,
        guarantee=asked.guarantee,
        question={"quality": {name: plan.question.to_json() for name, plan in asked.plans.items()}},
        remarks=(
            *_findings(intervals, list(each)),
            *([{"code": "quality-size", "size": size}] if beyond else []),
            {"code": "quality"},
            *(note for note in first.remarks if note["code"] != "below-zero"),
        ),
        facts=None,
    )


def _findings(intervals: Mapping[str, Sequence[tuple[float, float]]], names: list[str]) -> list[Note]:
    """What the intervals, which hold together, show of all columns."""
    wrong = {
        state: [name for name, (low, _) in zip(names, intervals[state], strict=True) if low > 0]
        for state in ("missing", "outside")
    }
    if any(wrong.values()):
        return [{"code": "quality-found", **wrong}]
    most = max(high for state in wrong for _, high in intervals[state])
    return [{"code": "quality-fine", "most": math.floor(most)}]


def checkable(table: Table) -> list[str]:
    """The columns that have a quality: all but the id, and those of very many keys."""
    known = listed_values(table)
    return [name for name in table.columns if name != table.unit.id and len(known[name] or ()) <= MOST_KEYS]


def _unbounded(column: Column) -> Column:
    """The column as it is stored: on its grid, not substituted, and clipped only one step beyond its bounds.

    So a number too large for any grid lies outside, and is not missing.
    """
    step = Fraction(1, 1 << column.bits)
    if column.bounds is None or column.kind not in (Kind.INTEGER, Kind.REAL):
        return Column(column.kind, step=step if column.kind is Kind.REAL else None)
    low, high = column.bounds[0] - step, column.bounds[1] + step
    if max(abs(low), abs(high)) / step > WIDEST:
        return Column(column.kind, step=step if column.kind is Kind.REAL else None)
    return Column(column.kind, bounds=(low, high), step=step if column.kind is Kind.REAL else None)


def _state(name: str, column: Column, listed: tuple[object, ...] | None) -> ex.Expr:
    here, (fits, missing, outside) = ex.Name(name), map(ex.Literal, STATES)
    whens: list[tuple[ex.Expr, ex.Expr]] = [(ex.IsNull(here), missing)]
    if listed is not None:
        whens.append((ex.Not(ex.In(here, tuple(map(ex.Literal, listed)))), outside))  # type: ignore[arg-type]
    if column.bounds is not None:
        made = {Kind.DATE: day_of, Kind.TIMESTAMP: moment_of}.get(column.kind)
        low, high = (x if made is None else made(int(x)) for x in column.bounds)
        beyond = (ex.Compare("<", here, ex.Literal(low)), ex.Compare(">", here, ex.Literal(high)))
        whens.append((ex.Or(beyond), outside))
    return ex.Case(tuple(whens), fits)
