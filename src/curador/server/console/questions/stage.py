"""Answers from made-up rows: what an answer would look like, without the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from curador import BudgetExceeded, Curator, Release
from curador.show.report.fragments import fragment
from curador.show.words.say import say

T = TypeVar("T")

MOST_ROWS = 20_000
FEWEST_ROWS = 1000
"""Rows of a made-up table, at most, and where no public size is known."""

MOST_GROUPS, MOST_NUMBERS = 2000, 6000
"""Groups of an answer that is drawn, and numbers: a quantile takes a third of a millisecond, and this is free."""

LISTED = 20
"""Rows of its table."""


@dataclass
class Rehearsing:
    """A curator over made-up tables of so many rows."""

    curator: Curator
    rows: int


_STAGES: WeakKeyDictionary[Curator, Rehearsing] = WeakKeyDictionary()
_ONE_AT_A_TIME = Lock()


def rows_of(curator: Curator, wanted: int | None) -> int:
    """How many rows are made up: what the asker believes there are, or the largest public size, within limits."""
    known = max((table.size or 0 for table in curator.tables.values()), default=0)
    return min(wanted or known or FEWEST_ROWS, MOST_ROWS)


def drawable(explained: Iterable[Mapping[str, Any]]) -> bool:
    """Whether answers are few enough to be drawn, by the explanations of their questions.

    >>> one = {"keys": 100, "question": {"aggregates": [{"aggregate": {"parameters": ["1/2", "9/10"]}}]}}
    >>> drawable([one]), drawable([one] * 40)
    (True, False)
    """
    groups = numbers = 0
    for one in explained:
        each = [len(output["aggregate"].get("parameters", ())) for output in one["question"].get("aggregates", ())]
        groups += one["keys"] or 0
        numbers += (one["keys"] or 1) * sum(max(1, n) for n in each)
    return groups <= MOST_GROUPS and numbers <= MOST_NUMBERS


def rehearsed(curator: Curator, rows: int, ask: Callable[[Curator], T]) -> T:
    """What ``ask`` gets from a curator like this one over made-up tables; when their budget ends, there are new ones.

    Guarantee: the data, its ledger and its engine are not touched.
    """
    with _ONE_AT_A_TIME:
        held = _STAGES.get(curator)
        if held is not None and held.rows == rows:
            try:
                return ask(held.curator)
            except BudgetExceeded:
                pass
        if held is not None:
            held.curator.close()
        _STAGES[curator] = fresh = Rehearsing(curator.rehearse(rows=rows), rows)
        return ask(fresh.curator)


def drawn(made: Release, language: str) -> str:
    """A rehearsed answer as HTML: charts and a short table, marked as made up."""
    return replace(fragment(made, LISTED), label=say("ask.made-up", language)).html
