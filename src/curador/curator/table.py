"""A table of a curator, asked step by step: ``curator.table("adult").where(…).aggregate(…).ask(epsilon=…)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from curador.accounting.events import event_from_json
from curador.engines.registry import missing_file
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.intervals import noise_of
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, whole
from curador.query.aggregates.counts import count
from curador.query.answer.shares import UnitHistogram, bin_edges
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Question
from curador.query.plan.expected import Within
from curador.query.tables.columns import Column, Kind, day_of, moment_of
from curador.query.tables.names import suggestion
from curador.query.tables.table import Table, contribution_of
from curador.show.describe import values_text
from curador.show.limits import limits_text

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.curator.releases.explanation import Explanation
    from curador.curator.releases.release import Release
    from curador.engines.engine import Progress
    from curador.query.plan.plan import Plan
    from curador.query.sql_plan.prepared import Prepared


def missing_files(tables: Mapping[str, Table]) -> dict[str, str]:
    """The tables whose file is not there now, each with its path: they are refused, and all others are answered.

    >>> missing_files({"people": Table("/nowhere/people.csv", columns={"age": "integer"})})
    {'people': '/nowhere/people.csv'}
    """
    return {name: path for name, table in tables.items() if (path := missing_file(table.source))}


@dataclass(frozen=True)
class CuratorTable(TableQuery):
    """A query over a table that a curator holds; its last step plans, explains or asks it there."""

    curator: Curator | None = field(default=None, repr=False)

    @classmethod
    def held(cls, name: str, curator: Curator) -> CuratorTable:
        """The table of that name, as yet without conditions."""
        return replace(cls.of(name, curator.tables), curator=curator)

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
        **unknown: Never,
    ) -> Plan:
        """Plan what answering would do and cost; free.  The options are those of :meth:`Curator.plan`."""
        return self._holder.plan(
            self.question,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            accuracy=accuracy,
            noise=noise,
            weights=weights,
            confidence=confidence,
            rows=rows,
            prepared=prepared,
            **unknown,
        )

    def explain(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
        sql: bool = False,
        analyst: str | None = None,
        language: str | None = None,
        **unknown: Never,
    ) -> Explanation:
        """The plan in words; free.  The options are those of :meth:`Curator.explain`."""
        return self._holder.explain(
            self.question,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            accuracy=accuracy,
            noise=noise,
            weights=weights,
            confidence=confidence,
            rows=rows,
            prepared=prepared,
            sql=sql,
            analyst=analyst,
            language=language,
            **unknown,
        )

    def ask(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        anyway: bool = False,
        language: str | None = None,
        **unknown: Never,
    ) -> Release:
        """Pay, and get the noised answer.  The options are those of :meth:`Curator.ask`."""
        return self._holder.ask(
            self.question,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            accuracy=accuracy,
            noise=noise,
            weights=weights,
            confidence=confidence,
            rows=rows,
            prepared=prepared,
            because=because,
            override=override,
            analyst=analyst,
            key=key,
            fresh=fresh,
            progress=progress,
            anyway=anyway,
            language=language,
            **unknown,
        )

    def limits(
        self,
        of: str = "COUNT(*)",
        *,
        most: int = 1000,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        confidence: float = 0.95,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        anyway: bool = False,
        language: str | None = None,
    ) -> UnitLimits:
        """Pay for one question that says what share of the rows is kept if each unit counts with at most 1, 2, 5, …

        It is a histogram of how much units have, in which each is counted once.  ``of`` is what is limited: the rows of
        a unit, or ``COUNT(DISTINCT town)``, its groups.  Units with more than ``most`` are taken to have as many.
        """
        tried, edges = limits_up_to(whole(most, "most", 2)), bin_edges(most)
        place = f"BIN(LEAST(n, {most}), {', '.join(map(str, edges))})"
        counted = self.per_unit(n=of).group_by(bin=place).aggregate(units=count())
        price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho, "confidence": confidence}
        terms: dict[str, Any] = {
            "because": because,
            "override": override,
            "analyst": analyst,
            "key": key,
            "anyway": anyway,
        }
        steps = counted.plan(**price).facts["steps"]
        (noise,) = (noise_of(event_from_json(step["event"])) for step in steps if step["mechanism"] is not None)
        release = counted.ask(**price, **terms, fresh=fresh, language=language)
        lows, highs = np.array(edges[:-1], float), np.array(edges[1:], float) - 1
        return UnitLimits(tried, release, UnitHistogram(lows, highs, np.array(release.numbers("units")), noise))

    def prepare(self, group_by: Sequence[str] = (), *, path: str | Path | None = None) -> Prepared:
        """Choose the rows of every unit of the table once, so that later questions in these groups are quick; free."""
        if self.joins or self.filters or self.groups or self.outputs or self.source is not None:
            raise QuestionRefused("A table is prepared whole.", fix="Prepare it before it is filtered or grouped.")
        return self._holder.prepare(self.table, group_by, path=path)

    def quality(
        self,
        *columns: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        confidence: float = 0.95,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: Progress | bool = False,
        language: str | None = None,
    ) -> Release:
        """Pay, and learn how many rows fit what was declared about each column, lack a value, or lie outside.

        All columns are looked at, or those named; see :mod:`curador.curator.study.quality`.
        """
        from curador.curator.purchase import Request

        if self.joins or self.filters or self.groups or self.outputs:
            raise QuestionRefused("The quality of a table is that of all its rows.", fix="Ask before it is filtered.")
        price = {"epsilon": epsilon, "delta": delta, "rho": rho}
        asked = self._holder.quality(self.table, columns, **price, confidence=confidence)
        return self._holder.buy_quality(asked, Request(because, override, analyst, key, fresh, progress), language)

    @property
    def _holder(self) -> Curator:
        assert self.curator is not None, "made by a curator's table()"
        return self.curator


@dataclass(frozen=True)
class UnitLimits:
    """What share of all rows is kept if each unit counts with at most so many; made from one release."""

    tried: tuple[int, ...]
    release: Release
    histogram: UnitHistogram = field(repr=False)

    @property
    def shares(self) -> dict[int, float]:
        """For each limit the share that it keeps, of what the largest keeps; noised, so it may be a little off."""
        return {n: self.histogram.share(n) for n in self.tried}

    def within(self, limit: int) -> tuple[float, float]:
        """Where the share that one of the limits tried keeps lies, with the release's confidence."""
        return self.histogram.within(limit, self.release.confidence)

    def least(self, share: float = 0.95) -> int:
        """The least limit that keeps at least this share, by the noised numbers."""
        return next((n for n, kept in self.shares.items() if kept >= share), self.tried[-1])

    def to_dict(self) -> dict[str, Any]:
        """The shares and their intervals as plain values, with the release that they are made of."""
        shares = [{"limit": n, "share": x, "within": list(self.within(n))} for n, x in self.shares.items()]
        return {"limits": shares, "release": self.release.to_dict()}

    def __str__(self) -> str:
        shares = [(n, share, self.within(n)) for n, share in self.shares.items()]
        return limits_text(shares, self.least(), self.release.language)


def limits_up_to(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, 20, … up to a largest one.

    >>> limits_up_to(30)
    (1, 2, 5, 10, 20, 30)
    """
    steps = (digit * 10**power for power in range(len(str(most))) for digit in (1, 2, 5))
    return (*(n for n in steps if n < most), most)


Asked = Question | TableQuery | str
"""A question, built or as SQL."""


def question_of(
    asked: Asked, tables: Mapping[str, Table], contribution: Contribution | tuple[int, int] | int | None = None
) -> Question:
    """The question that was asked; with a ``contribution`` (see :class:`Table`), under limits of its own."""
    if isinstance(asked, TableQuery):
        found = asked.question
    elif isinstance(asked, Question):
        found = asked
    else:
        from curador.query.ask.sql.read import parse  # the parser is heavy: loaded when a text is first read

        found = parse(asked, tables)
    return found if contribution is None else replace(found, contribution=contribution_of(contribution))


def refuse_unknown(given: Mapping[str, object], method: Callable[..., object]) -> None:
    """Refuse an option that a method does not have, and suggest the closest one.

    >>> refuse_unknown({"analist": "ana"}, CuratorTable.ask)
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no option 'analist'. To do: Did you mean 'analyst'? ...
    """
    for name in given:
        known = [n for n in method.__annotations__ if n not in ("question", "return", "unknown")]
        raise InvalidParameter(f"There is no option {name!r}.", fix=suggestion(name, known))


def question_from(data: Mapping[str, Any]) -> Question:
    """A question that was built elsewhere, from what its ``to_json()`` wrote."""
    return Question.from_json(data)


def described(table: Table, language: str) -> dict[str, Any]:
    """The public declarations of a table, as plain values."""
    columns = [
        {"name": name, "type": c.kind.value, "values": values_text(_bounds(c), c.keys, c.nullable, language)}
        for name, c in table.columns.items()
    ]
    about = {"unit": table.unit.id, "neighbors": table.neighbors.value, "size": table.size, "public": table.public}
    kept = table.contribution
    limits = None if kept is None else {"groups": None if kept.total else kept.groups, "rows": kept.total or kept.rows}
    return {**about, "contribution": limits, "columns": columns}


def _bounds(column: Column) -> list[str] | None:
    if column.bounds is None:
        return None
    if column.kind is Kind.DATE:
        return [day_of(int(end)).isoformat() for end in column.bounds]
    if column.kind is Kind.TIMESTAMP:
        return [str(moment_of(int(end))) for end in column.bounds]
    return [f"{float(end):,g}" for end in column.bounds]
