"""Made-up rows: bounded, never the data, and renewed when their budget ends."""

from __future__ import annotations

from curador import Curator, PureDP, Table
from curador.server.console.questions.stage import FEWEST_ROWS, MOST_ROWS, rehearsed, rows_of


def curator(size: int | None = None) -> Curator:
    """One whose rows are nowhere: to read them would fail."""
    columns = {"age": {"type": "integer", "bounds": [0, 9]}}
    return Curator({"people": Table("no-such.csv", columns=columns, size=size)}, budget=PureDP(1))


def test_rows_are_bounded() -> None:
    assert rows_of(curator(), None) == FEWEST_ROWS
    assert rows_of(curator(5000), None) == 5000
    assert rows_of(curator(10**9), None) == rows_of(curator(), 10**12) == MOST_ROWS


def test_when_the_made_up_budget_ends_there_is_a_new_one_and_ours_is_whole() -> None:
    held = curator()
    for k in range(3):
        sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {k}"
        found = rehearsed(held, 200, lambda stage, sql=sql: stage.ask(sql, epsilon="0.9"))  # type: ignore[misc]
        assert found.rehearsal
    assert held.budget("people").remaining == PureDP(1)
