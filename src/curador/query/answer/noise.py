"""The step from exact integers to what may leave: the plan's noise and choices, and nothing that is not in the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.keys import GroupSelection
from curador.mechanisms.thresholded import Thresholded
from curador.noise import SYSTEM, Entropy
from curador.query.answer.estimates import GroupKey, NoisyCounts
from curador.query.plan.measurement import Measure
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Largest, Noised, Ranked, Selected

Values = tuple[NDArray[Any], NDArray[Any]]
"""The distinct values of a group, on their grid, and how often each occurs."""


class Found(Protocol):
    """What an engine found, exactly: the public keys in their order, or the groups that the data has, and integers."""

    @property
    def keys(self) -> Sequence[GroupKey]: ...

    def column(self, name: str) -> Sequence[int]:
        """One integer for each group, by the name of its measure."""
        ...

    def values(self, name: str) -> Sequence[Values]:
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
        units_of = found.column(plan.units.name)
        units = [units_of[i] for i in places]
        kept, counted = _selection(selected.mechanism, units, entropy)
        counted = None if counted is None else counted[kept]
        places = [i for i, shown in zip(places, kept, strict=True) if shown]
    for step in plan.steps:
        if isinstance(step, Largest):
            counts = found.column(step.recipe.measures[0].name)
            places = [places[i] for i in step.noise([counts[i] for i in places], entropy)]
    tree = next((r.tree for r in plan.recipes if r.tree is not None), None)
    measured: dict[Measure, NDArray[Any]] = {}
    ranked: dict[str, NDArray[np.float64]] = {}
    for step in plan.steps:
        if isinstance(step, Noised) and step.keyed:
            assert counted is not None
            measured[step.measure] = counted
        elif isinstance(step, Noised):
            column = found.column(step.measure.leafed.name)
            exact = [column[i] for i in places]
            if step.measure.level is not None and tree is not None:
                exact = tree.gather(exact, step.measure.level)
            measured[step.measure] = step.noise(exact, entropy)
        elif isinstance(step, Ranked):
            lists = found.values(step.recipe.measures[0].name)
            rows = [step.noise(*lists[i], entropy=entropy) for i in places]
            ranked[step.recipe.name] = np.array(rows).reshape(len(places), len(step.mechanism.quantiles))
    keys = [tuple(found.keys[i]) for i in places]
    if tree is not None:  # every node, what lies below it left open
        keys = [(*node, *(None,) * (tree.depth - len(node))) for node in tree.walk]
    for step in plan.steps:
        if isinstance(step, Largest):  # shown from the largest noisy count down, not in the order they were chosen
            order = np.argsort(-measured[step.recipe.measures[0]], kind="stable")
            measured = {m: x[order] for m, x in measured.items()}
            keys = [keys[i] for i in order]
    return NoisyCounts(tuple(keys), measured, ranked)


def _selection(
    mechanism: GroupSelection, units: Sequence[int], entropy: Entropy
) -> tuple[NDArray[np.bool_], NDArray[Any] | None]:
    """Which groups are shown, and the noisy counts where the selection draws them."""
    if isinstance(mechanism, Thresholded):
        return mechanism.noisy(units, entropy=entropy)
    return mechanism.keep(units, entropy=entropy), None


def sortable(key: GroupKey) -> tuple[tuple[bool, str, Any], ...]:
    """An order for groups that depends on nothing but their keys; NULL comes first.

    >>> sorted([("b", 2), (None, 1), ("b", 1)], key=sortable)
    [(None, 1), ('b', 1), ('b', 2)]
    """
    return tuple((x is not None, type(x).__name__, x if x is not None else 0) for x in key)
