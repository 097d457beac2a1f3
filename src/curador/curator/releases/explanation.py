"""A plan in words, before anything is paid: what an answer would cost, and how wrong it would be."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from curador.curator.releases.release import Note
from curador.query.plan.plan import Plan
from curador.show.explain import explain


@dataclass(frozen=True, repr=False)
class Explanation:
    """A plan in words; with the ``statements`` that the ``engine`` would run, where they were asked for.

    ``shared`` names measures that were bought before, as notes.
    """

    plan: Plan
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
