"""A description of a curator for people who are about to ask: tables, columns, units, bounds, remaining budgets."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curador.show.explain import kept_text, whom
from curador.show.tables import TextColumn, html_table, text_table
from curador.show.words.say import counted, say

KEYS_DESCRIBED = 5
"""Keys of a column that its row lists."""


@dataclass(frozen=True, repr=False)
class Description:
    """Tables and budgets as plain values; prints as text, and as HTML in a notebook."""

    tables: Mapping[str, Mapping[str, Any]]
    budgets: tuple[str, ...]
    language: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """The description as plain values."""
        return {"tables": {name: dict(table) for name, table in self.tables.items()}, "budgets": list(self.budgets)}

    def _heading(self, name: str) -> str:
        table = self.tables[name]
        if table["public"]:
            return say("describe-public", self.language, table=name)
        unit, neighbors = whom(table["unit"], self.language), say(table["neighbors"], self.language)
        heading = say("describe-table", self.language, table=name, unit=unit, how=neighbors)
        if table["size"] is not None:
            heading = f"{heading}, {counted('row', table['size'], self.language)}"
        if table["contribution"] is None:
            return heading
        kept = kept_text({**table["contribution"], "unit": table["unit"]}, self.language)
        return f"{heading}; {say('describe-kept', self.language, kept=kept)}"

    def _columns(self, name: str) -> list[TextColumn]:
        rows = self.tables[name]["columns"]
        heads = [say(f"describe-{part}", self.language) for part in ("column", "type", "values")]
        cells = zip(*((c["name"], c["type"], c["values"]) for c in rows), strict=True)
        return [TextColumn(head, tuple(cell), right=False) for head, cell in zip(heads, cells, strict=True)]

    def __str__(self) -> str:
        parts = ["\n".join([self._heading(name), *text_table(self._columns(name))]) for name in self.tables]
        return "\n\n".join([*parts, "\n".join(self.budgets)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(self._heading(n))}</h4>{html_table(self._columns(n))}" for n in self.tables]
        return "".join([*parts, *(f"<p>{html.escape(line)}</p>" for line in self.budgets)])


def values_text(bounds: Sequence[str] | None, keys: Sequence[object] | None, nullable: bool, language: str) -> str:
    """The values that a column may hold, in a few words.

    >>> values_text(["17", "90"], None, False, "en"), values_text(None, ["F", "M"], True, "en")
    ('17 … 90, never NULL', 'F, M')
    """
    shown = "" if bounds is None else f"{bounds[0]} … {bounds[1]}"
    if keys is not None:
        few = ", ".join(map(str, keys[:KEYS_DESCRIBED]))
        shown = few if len(keys) <= KEYS_DESCRIBED else say("describe-keys", language, some=few, n=len(keys))
    never = "" if nullable else say("describe-never-null", language)
    return ", ".join(part for part in (shown, never) if part)
