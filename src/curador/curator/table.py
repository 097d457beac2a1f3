"""A table of a curator, asked step by step: ``curator.table("adult").where(…).aggregate(…).ask(epsilon=…)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import Number
from curador.query.ask.builder import TableQuery
from curador.query.plan.expected import Within
from curador.query.tables.columns import Column, Kind, day_of, moment_of
from curador.query.tables.names import suggestion
from curador.query.tables.table import Table
from curador.show.describe import values_text

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.curator.release import Explanation, Release
    from curador.engines.engine import Progress
    from curador.query.plan.plan import Plan
    from curador.query.sql_plan.prepared import Prepared


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
            language=language,
            **unknown,
        )

    def prepare(self, group_by: Sequence[str] = (), *, path: str | Path | None = None) -> Prepared:
        """Choose the rows of every unit of the table once, so that later questions in these groups are quick; free."""
        if self.joins or self.filters or self.groups or self.outputs:
            raise QuestionRefused("A table is prepared whole.", fix="Prepare it before it is filtered or grouped.")
        return self._holder.prepare(self.table, group_by, path=path)

    @property
    def _holder(self) -> Curator:
        assert self.curator is not None, "made by a curator's table()"
        return self.curator


def refuse_unknown(given: Mapping[str, object], method: Callable[..., object]) -> None:
    """Refuse an option that a method does not have, and suggest the closest one.

    >>> refuse_unknown({"analist": "ana"}, CuratorTable.ask)
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no option 'analist'. To do: Did you mean 'analyst'? ...
    """
    for name in given:
        known = [n for n in method.__annotations__ if n not in ("question", "return", "unknown")]
        raise InvalidParameter(f"There is no option {name!r}.", fix=suggestion(name, known))


def described(table: Table, language: str) -> dict[str, Any]:
    """The public declarations of a table, as plain values."""
    columns = [
        {"name": name, "type": c.kind.value, "values": values_text(_bounds(c), c.keys, c.nullable, language)}
        for name, c in table.columns.items()
    ]
    about = {"unit": table.unit.id, "neighbors": table.neighbors.value, "size": table.size, "public": table.public}
    return {**about, "columns": columns}


def _bounds(column: Column) -> list[str] | None:
    if column.bounds is None:
        return None
    if column.kind is Kind.DATE:
        return [day_of(int(end)).isoformat() for end in column.bounds]
    if column.kind is Kind.TIMESTAMP:
        return [str(moment_of(int(end))) for end in column.bounds]
    return [f"{float(end):,g}" for end in column.bounds]
