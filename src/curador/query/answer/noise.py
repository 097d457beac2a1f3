"""Turns exact integers into a noised measurement: the plan's noise and choices, and nothing that is not in the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.keys import GroupSelection
from curador.mechanisms.thresholded import Thresholded
from curador.noise import SYSTEM, Entropy
from curador.query.aggregates.consistent import KeyTable
from curador.query.aggregates.measure import AROUND_BITS, Measure, MeasureKind, RankSearch
from curador.query.aggregates.quantiles.around import around, counted
from curador.query.answer.noisy import GroupKey, NoisyCounts, ends_around, sortable
from curador.query.plan.steps import Largest, Noised, Ranked, Selected

if TYPE_CHECKING:
    from curador.query.plan.plan import Plan  # a plan runs itself by this file

Values = tuple[NDArray[Any], NDArray[Any]]
"""The distinct values of a group, on their grid, and how often each occurs."""


class Found(Protocol):
    """The exact result of an engine: the public keys in their order, or the groups in the data, and integers."""

    @property
    def keys(self) -> Sequence[GroupKey]: ...

    def column(self, measure: Measure) -> Sequence[int]:
        """One integer for each group."""
        ...

    def values(self, measure: Measure) -> Sequence[Values]:
        """For each group, the values of a measure and how often each occurs."""
        ...


def noise(plan: Plan, found: Found, entropy: Entropy = SYSTEM) -> NoisyCounts:
    """Everything a plan releases of what was found.

    Guarantee: the plan's event.  With public keys every group is there; otherwise only those that the plan's selection
    keeps, sorted by key, so that neither the order of the data nor the number of groups found is seen.
    """
    selected = next((s for s in plan.steps if isinstance(s, Selected)), None)
    places = list(range(len(found.keys)))
    counted: NDArray[Any] | None = None
    if selected is not None:
        places.sort(key=lambda i: sortable(found.keys[i]))
        units_of = found.column(plan.units)
        units = [units_of[i] for i in places]
        kept, counted = _selection(selected.mechanism, units, entropy)
        counted = None if counted is None else counted[kept]
        places = [i for i, shown in zip(places, kept, strict=True) if shown]
    for step in plan.steps:
        if isinstance(step, Largest):
            counts = found.column(step.measure)
            places = [places[i] for i in step.noise([counts[i] for i in places], entropy)]
    tree = next((r.tree for r in plan.recipes if r.tree is not None), None)
    cells = KeyTable(tuple(map(tuple, found.keys))) if plan.question.sets else None
    measured: dict[Measure, NDArray[Any]] = {}
    ranked: dict[RankSearch, NDArray[np.float64]] = {}
    for step in plan.steps:
        if isinstance(step, Noised) and step.measure.kind is MeasureKind.AROUND:
            continue  # counted around what is chosen first
        if isinstance(step, Noised) and step.selects:
            assert counted is not None
            measured[step.measure] = counted
        elif isinstance(step, Noised) and step.mechanism is None:
            measured[step.measure] = step.constants(len(places))
        elif isinstance(step, Noised):
            column = found.column(step.measure.of_groups)
            exact = [column[i] for i in places]
            if step.measure.level is not None and tree is not None:
                exact = tree.gather(exact, len(step.measure.level))
            elif step.measure.level is not None and cells is not None:
                exact = cells.gathered(plan.question.axes(step.measure.level), exact)
            measured[step.measure] = step.noise(exact, entropy)
        elif isinstance(step, Ranked):
            lists = found.values(step.ranks.measure)
            rows = [step.noise(*lists[i], entropy=entropy) for i in places]
            ranked[step.ranks] = np.array(rows).reshape(len(places), len(step.mechanism.quantiles))
    near = {
        step.measure: _around(step, found, places, ranked, entropy)
        for step in plan.steps
        if isinstance(step, Noised) and step.measure.kind is MeasureKind.AROUND
    }
    keys = [tuple(found.keys[i]) for i in places]
    if tree is not None:  # every node, what lies below it left open
        keys = [(*node, *(None,) * (tree.depth - len(node))) for node in tree.walk]
    for step in plan.steps:
        if isinstance(step, Largest):  # shown from the largest noisy count down, not in the order they were chosen
            order = np.argsort(-measured[step.measure], kind="stable")
            measured = {m: x[order] for m, x in measured.items()}
            keys = [keys[i] for i in order]
    return NoisyCounts(tuple(keys), measured, ranked, near)


def _around(
    step: Noised,
    found: Found,
    places: Sequence[int],
    ranked: Mapping[RankSearch, NDArray[np.float64]],
    entropy: Entropy,
) -> list[NDArray[Any]]:
    """The noised counts in the cells around what was chosen: all groups draw their noise together."""
    lists = found.values(next(r.measure for r in ranked if around(r.measure) == step.measure))
    ends = ends_around(step.measure, ranked)
    rows = [counted(cells, *lists[i]) for i, cells in zip(places, ends, strict=True)]
    noised = step.noise((np.concatenate(rows) << AROUND_BITS).tolist() if rows else [], entropy)
    return np.split(noised, np.cumsum([len(cells) for cells in ends])[:-1]) if rows else []


def _selection(
    mechanism: GroupSelection, units: Sequence[int], entropy: Entropy
) -> tuple[NDArray[np.bool_], NDArray[Any] | None]:
    """Which groups are shown, and the noisy counts where the selection draws them."""
    if isinstance(mechanism, Thresholded):
        return mechanism.noisy(units, entropy=entropy)
    return mechanism.keep(units, entropy=entropy), None
