"""The rows of an answer from a noised measurement: its groups as they are, or those of all grouping sets that agree.

Each row has for every measure a number, and the law of its noise: that of the mechanism, or of the sum of noises that
the number is made of.  Rows of one law stand together in a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.intervals import Noise, NoiseSum
from curador.query.aggregates.base import Array, Estimate, NoisyMeasure, Recipe, function_named
from curador.query.aggregates.consistent import Axes, KeyTable, Margins
from curador.query.aggregates.measure import Measure, RankSearch
from curador.query.aggregates.quantiles.around import RankedCells
from curador.query.answer.noisy import GroupKey, NoisyCounts
from curador.query.plan.steps import Noised

if TYPE_CHECKING:
    from curador.query.plan.plan import Plan

Laws = Mapping[Measure, NoisyMeasure]


@dataclass(frozen=True)
class MadeOf:
    """A measure whose numbers are sums of noised ones; ``rounded`` is how far they were moved to a grid."""

    measure: Measure
    mechanism: Noise | None
    rounded: float = 0.0
    selects: bool = False

    def error(self, confidence: float = 0.95) -> float:
        """The bound on one row's noise, on the measure's grid, holding with probability at least ``confidence``."""
        return 0.0 if self.mechanism is None else self.mechanism.error(confidence) + self.rounded

    def ends(self, values: NDArray[Any], confidence: float = 0.95) -> tuple[Array, Array]:
        """Where each protected number lies, with probability at least ``confidence``."""
        reach, found = self.error(confidence), values.astype(np.float64)
        return found - reach, found + reach


@dataclass(frozen=True)
class Fitted:
    """Rows with their numbers, and classes of rows with the laws of their noise.

    ``joint`` is set where rows share noise: then no law of one row holds given another.  ``near`` are the counts around
    values that were chosen by rank.
    """

    keys: tuple[GroupKey, ...]
    measured: Mapping[Measure, NDArray[Any]]
    ranked: Mapping[RankSearch, Array]
    classes: tuple[tuple[NDArray[np.int64], Laws], ...]
    joint: bool = False
    near: Mapping[Measure, RankedCells] = field(default_factory=dict)

    def cells(self, recipe: Recipe) -> RankedCells | None:
        """The noised counts around the chosen values of a recipe, where they were bought."""
        return None if recipe.around is None else self.near[recipe.around]

    def estimate(self, recipe: Recipe, confidence: float) -> Estimate:
        """One output in all rows, with the law of each."""
        function = function_named(recipe.function)
        if len(self.classes) == 1:
            laws = self.classes[0][1]
            return function.estimate(recipe, [(self.measured[m], laws[m]) for m in recipe.measures], confidence)
        values, low, high = ([0.0] * len(self.keys) for _ in range(3))
        for places, laws in self.classes:
            found = function.estimate(
                recipe, [(self.measured[m][places], laws[m]) for m in recipe.measures], confidence
            )
            assert found.lower is not None
            assert found.upper is not None
            for i, *numbers in zip(places.tolist(), found.values, found.lower, found.upper, strict=True):
                values[i], low[i], high[i] = numbers
        return Estimate(recipe.name, tuple(values), tuple(low), tuple(high))


def fitted(plan: Plan, noisy: NoisyCounts) -> Fitted:
    """The rows of an answer, from the measurement that was kept.

    Guarantee: post-processing [DR14]; over grouping sets every total is exactly the sum of its parts
        (docs/proofs/consistent.md).
    """
    noised = {step.measure: step for step in plan.steps if isinstance(step, Noised)}
    if not plan.question.sets:
        everywhere = np.arange(len(noisy.keys))
        near = {m: noisy.cells(m, noise) for m in noisy.around if (noise := noised[m].mechanism) is not None}
        return Fitted(noisy.keys, noisy.measured, noisy.ranked, ((everywhere, noised),), near=near)
    cells, sets = KeyTable(noisy.keys), set_axes(plan)
    keys = [_spread(node, axes, len(cells.axes)) for axes in sets for node in cells.nodes(axes)]
    measured: dict[Measure, NDArray[Any]] = {}
    moved: dict[Measure, float] = {}
    for m, tables in _tables(plan, cells.axes).items():
        if cells.full:
            shaped = [cells.shaped(axes, noisy.measured[step.measure]) for axes, step in tables.items()]
            margins = _margins(cells.sizes, tables)
            found = margins.fitted(shaped, sets)
            moved[m] = margins.moved(found)
            each = [found[axes].reshape(-1)[cells.flat(axes)] for axes in sets]
        else:
            each = [_added(noisy.measured[m], cells.places(axes)) for axes in sets]
        measured[m] = np.concatenate(each)
    sizes = [n for axes in sets for n in np.bincount(cells.places(axes)).tolist()]
    classes: dict[tuple[int, int], list[int]] = {}
    for i, (place, n) in enumerate(
        zip((k for k, axes in enumerate(sets) for _ in cells.nodes(axes)), sizes, strict=True)
    ):
        classes.setdefault((place, n), []).append(i)
    laws = tuple(
        (np.array(places), _moved(_laws(plan, cells, sets[k], n), moved)) for (k, n), places in classes.items()
    )
    return Fitted(tuple(keys), measured, {}, laws, joint=True)


def _moved(laws: Mapping[Measure, MadeOf], by: Mapping[Measure, float]) -> Laws:
    """The laws of numbers that were moved so far onto a grid."""
    found: dict[Measure, MadeOf] = {}
    for m, law in laws.items():
        far = max(law.rounded, by.get(m, 0.0))
        noise = replace(law.mechanism, rounded=far) if isinstance(law.mechanism, NoiseSum) else law.mechanism
        found[m] = replace(law, mechanism=noise, rounded=far)
    return found


def laws_of_sets(plan: Plan) -> list[Laws]:
    """The laws in each grouping set; where its groups add up different numbers of cells, in one of the most."""
    made, sets = plan.checked.made, set_axes(plan)
    if "cells" not in made:  # the same at every price: a wanted error tries many
        cells = KeyTable(plan.checked.keys or ())
        made["cells"] = cells, [int(np.bincount(cells.places(axes)).max()) for axes in sets]
    cells, added = made["cells"]
    return [_laws(plan, cells, axes, n) for axes, n in zip(sets, added, strict=True)]


def _laws(plan: Plan, cells: KeyTable, axes: Axes, added: int) -> dict[Measure, MadeOf]:
    """The law of each measure in a group of a margin that adds up so many cells."""
    return {m: _law(m, tables, cells, axes, added) for m, tables in _tables(plan, cells.axes).items()}


def _law(m: Measure, tables: Mapping[Axes, Noised], cells: KeyTable, axes: Axes, added: int) -> MadeOf:
    noises = [step.mechanism for step in tables.values() if step.mechanism is not None]
    if not noises:
        return MadeOf(m, None)
    if not cells.full:
        return MadeOf(m, NoiseSum(((1.0, noises[0], added),)))
    margins = _margins(cells.sizes, tables)
    return MadeOf(m, NoiseSum(tuple(margins.terms(axes, noises))), margins.rounded)


def _tables(plan: Plan, whole: Axes) -> dict[Measure, dict[Axes, Noised]]:
    """The margins of each measure that were noised; the cells by all axes."""
    found: dict[Measure, dict[Axes, Noised]] = {}
    for step in plan.steps:
        if isinstance(step, Noised):
            level = step.measure.level
            axes = whole if level is None else plan.question.axes(level)
            found.setdefault(step.measure.of_groups, {})[axes] = step
    return found


def _margins(sizes: tuple[int, ...], tables: Mapping[Axes, Noised]) -> Margins:
    noised = ((axes, 1.0 if s.mechanism is None else s.mechanism.variance) for axes, s in tables.items())
    return Margins(sizes, tuple(noised))


def set_axes(plan: Plan) -> list[Axes]:
    """The axes of each grouping set, in the order they were written."""
    names = [g.name for g in plan.question.group_by]
    return [tuple(i for i, name in enumerate(names) if name in one) for one in plan.question.sets]


def _spread(node: tuple[Any, ...], axes: Axes, width: int) -> GroupKey:
    found: list[Any] = [None] * width
    for i, key in zip(axes, node, strict=True):
        found[i] = key
    return tuple(found)


def _added(x: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    if x.dtype.kind == "i" and int(np.abs(x).max(initial=0)) * x.size >= 1 << 62:
        x = x.astype(object)
    out = np.zeros(int(places.max()) + 1, x.dtype)
    np.add.at(out, places, x)
    return out
