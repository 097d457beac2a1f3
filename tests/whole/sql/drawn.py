"""Random legal statements over the tables of ``worlds``, from a grammar of all that docs/reference/sql.md lists.

Each line of grammar.txt begins with a name; what follows, and the lines under it, are its alternatives, two spaces
apart, a slash for nothing.  ``<name>`` is drawn anew, ``@age`` is a column of visits, with the table before it where
there are two.  An alternative that holds a ``<name>`` nests; at the deepest level those without are drawn.  Decimals
are halves and quarters, which every grid holds, so that rounding decides no comparison.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

KINDS = {
    "plain": "Rows: filters, arithmetic, functions",
    "spreads": "Variances, deviations and quantiles",
    "sales": "A table whose rows are the units",
    "chosen": "Groups that are selected privately",
    "public": "Joins with a public table",
    "both": "Joins of private tables",
    "union": "UNION ALL",
    "listed": "Lists of units",
    "single": "One row per unit",
    "several": "One row per unit and value",
    "beside": "One row per unit, joined",
    "nested": "Queries inside queries",
    "derived": "Arithmetic on answers",
    "ordered": "HAVING, ORDER BY and LIMIT",
    "outer": "Queries over answers",
}
"""The statements of the grammar."""

TWO_TABLES = ("public", "both")


def _rules() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in Path(__file__).with_name("grammar.txt").read_text().splitlines():
        head, rest = line[:8].strip(), line[8:]
        name = head or name
        found.setdefault(name, []).extend("" if x == "/" else x for x in rest.split("  "))
    return found


RULES = _rules()
_PLACE = re.compile(r"<([a-z]+)>")


class Drawn:
    """Draws statements, each at most ``deep`` alternatives deep in values and conditions."""

    def __init__(self, draw: Random, deep: int = 3) -> None:
        self.draw, self.deep = draw, deep

    def statement(self, kind: str | None = None) -> str:
        kind = kind or self.draw.choice([*KINDS, "plain", "plain", "plain"])
        return self.part(kind, "visits." if kind in TWO_TABLES else "", self.deep + 2)

    def part(self, name: str, table: str = "", deep: int | None = None) -> str:
        """A part of a statement: what the grammar has under a name."""
        text = re.sub(r"@(?=[a-z])", table, self._drawn(name, self.deep if deep is None else deep))
        return re.sub(" +", " ", text).strip()

    def _drawn(self, name: str, deep: int) -> str:
        listed = RULES[name]
        if deep <= 0:
            listed = [x for x in listed if not _PLACE.search(x)] or listed
        return _PLACE.sub(lambda found: self._drawn(found[1], deep - 1), self.draw.choice(listed))
