"""A plan in words, before anything is paid: what an answer would cost, and how wrong it would be."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Protocol

from curador.curator.releases.notes import Note
from curador.privacy import Guarantee
from curador.query.plan.facts import Facts
from curador.show.explain import explain


class Planned(Protocol):
    """What an explanation needs of a plan: one made here, or one that a server states."""

    @property
    def facts(self) -> Facts: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def groups(self) -> int | None: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, repr=False)
class Explanation:
    """A plan in words; with the ``statements`` that the ``engine`` would run, where they were asked for.

    ``shared`` names measures that were bought before, as notes.
    """

    plan: Planned
    engine: str | None = None
    statements: tuple[str, ...] = ()
    shared: tuple[Note, ...] = ()
    language: str = "en"

    def __str__(self) -> str:
        return explain(self.plan.facts, self.language, self.shared, self.engine, self.statements)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The plan, and the statements where they were asked for, as plain values."""
        found = {**self.plan.to_dict(), "shared": [dict(note) for note in self.shared]}
        return found if self.engine is None else {**found, "engine": self.engine, "sql": list(self.statements)}
