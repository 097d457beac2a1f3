"""Noised measures as the columns of an answer: estimates, then HAVING, ORDER BY and LIMIT, then labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curador.query.answer.estimates import Estimate, NoisyCounts, estimates
from curador.query.answer.postprocess import finish
from curador.query.language.expressions import Bin
from curador.query.plan.plan import Plan

Interval = tuple[float, float]


@dataclass(frozen=True)
class Answered:
    """Columns in the order of the question, one value per row that is shown."""

    columns: Mapping[str, tuple[Any, ...]]
    groups: tuple[str, ...]
    intervals: Mapping[str, tuple[Interval, ...]]
    ranks: Mapping[str, float]


def answered(plan: Plan, noisy: NoisyCounts) -> Answered:
    """What is shown of what a plan's noise made; reads nothing else.

    Guarantee: post-processing [DR14].
    """
    question = plan.question
    made = estimates(plan.recipes, plan.steps, noisy, plan.confidence)
    groups = {g.name: tuple(key[i] for key in noisy.keys) for i, g in enumerate(question.group_by)}
    columns: dict[str, Sequence[Any]] = {**groups, **{e.name: e.values for e in made}}
    # The place of a row travels with it under a name that no column has.
    rows = [{"": i, **{name: cells[i] for name, cells in columns.items()}} for i in range(len(noisy.keys))]
    places: list[Any] = [row[""] for row in finish(question, rows)]
    labels = {g.name: g.expr.labels for g in question.group_by if isinstance(g.expr, Bin)}
    return Answered(
        {name: tuple(_labelled(cells[i], labels.get(name)) for i in places) for name, cells in columns.items()},
        tuple(groups),
        {e.name: ends for e in made if (ends := _intervals(e, places)) is not None},
        {e.name: e.ranks for e in made if e.ranks is not None},
    )


def _labelled(cell: Any, labels: Sequence[str] | None) -> Any:
    return cell if labels is None or cell is None else labels[cell]


def _intervals(estimate: Estimate, places: list[Any]) -> tuple[Interval, ...] | None:
    if estimate.lower is None or estimate.upper is None:
        return None
    return tuple((estimate.lower[i], estimate.upper[i]) for i in places)
