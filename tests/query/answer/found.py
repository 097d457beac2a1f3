"""What an engine might have found: chosen by a test, so that the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from curador.query.aggregates.measure import Measure
from curador.query.plan.plan import Plan

Numbers = TypeVar("Numbers")


class Answers:
    """Exact integers by group, as an engine hands them to the noise."""

    def __init__(
        self,
        keys: Sequence[tuple[Any, ...]],
        columns: Mapping[Measure, Sequence[int]],
        lists: Mapping[Measure, Any] | None = None,
    ) -> None:
        self.keys, self._columns, self._lists = keys, columns, lists or {}

    def column(self, measure: Measure) -> Sequence[int]:
        return self._columns[measure]

    def values(self, measure: Measure) -> Any:
        return self._lists[measure]


def by_measure(plan: Plan, columns: Mapping[str, Numbers]) -> dict[Measure, Numbers]:
    """Numbers for the measures of a plan, which a test writes by their labels; those it does not need are left out."""
    labels = [m.label for m in plan.measures]
    assert len(set(labels)) == len(labels), "labels that do not tell these measures apart"
    return {m: columns[m.label] for m in plan.measures if m.label in columns}
