"""A declared table for the faults that are planted in the real curator."""

from __future__ import annotations

from curador import Curator, PureDP, Table

COLUMNS: dict[str, object] = {
    "pid": "integer",
    "place": {"type": "text", "keys": ["bar", "gym", "inn"]},
    "cost": {"type": "integer", "bounds": [0, 60]},
}
VISITS = Table("no-such.csv", unit="pid", contribution=(2, 3), columns=COLUMNS)


def visits() -> Curator:
    """A curator of visits, of whom nobody exists."""
    return Curator({"visits": VISITS}, budget=PureDP(1))
