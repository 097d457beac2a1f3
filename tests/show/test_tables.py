"""Tables as text."""

from __future__ import annotations

import pytest

from curador.show.tables import TextColumn, text_table


def test_a_column_looks_at_its_cells_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each cell, the table of an explanation with thousands of lines took half a minute."""
    looked: list[int] = []
    width = TextColumn.width.fget  # type: ignore[attr-defined]

    def counted(self: TextColumn) -> int:
        looked.append(1)
        found: int = width(self)
        return found

    monkeypatch.setattr(TextColumn, "width", property(counted))
    lines = text_table([TextColumn("n", tuple(map(str, range(2000)))), TextColumn("m", ("x",) * 2000, right=False)])
    assert (len(lines), lines[2], lines[-1], len(looked)) == (2002, "   0  x", "1999  x", 2)
