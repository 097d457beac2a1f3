"""From noised measures to answers with intervals: post-processing, which reads nothing but what was released.

Every interval covers the statistic that was protected, with values clipped to their bounds and units cut to their
limits; it does not speak of what clipping and cutting left out, nor of a larger population.  Each covers by itself,
not all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.mechanisms.intervals import combined_error
from curador.query.aggregates.hierarchy import fit
from curador.query.aggregates.ratios import ratio_bounds
from curador.query.plan.measurement import Measure, Recipe
from curador.query.plan.steps import Noised, Ranked, Step
from curador.query.tables.columns import Key

Array = NDArray[np.float64]
GroupKey = tuple[Key | None, ...]


@dataclass(frozen=True)
class NoisyCounts:
    """What a plan's noise made of exact integers: the groups that are shown, and for each its noised measures.

    ``ranked`` holds for each quantile recipe one row of values per group, on the column's grid.
    """

    keys: tuple[GroupKey, ...]
    measured: Mapping[Measure, NDArray[Any]]
    ranked: Mapping[str, Array]


@dataclass(frozen=True)
class Estimate:
    """One column of the answer: a value per group, and where the protected statistic lies.

    ``ranks`` is set for quantiles, whose error is in ranks: the value is within so many rows of the one asked for.
    """

    name: str
    values: tuple[int | float, ...]
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    ranks: float | None = None


def estimates(
    recipes: Sequence[Recipe], steps: Sequence[Step], noisy: NoisyCounts, confidence: float
) -> list[Estimate]:
    """Every output of a question, worked out from noised measures.

    Guarantee: post-processing; the answers cost nothing beyond their measures [DR14].
    """
    by_measure = {step.measure: step for step in steps if isinstance(step, Noised)}
    by_name = {step.recipe.name: step for step in steps if isinstance(step, Ranked)}
    out: list[Estimate] = []
    for recipe in recipes:
        if recipe.name in by_name:
            out += _quantiles(recipe, by_name[recipe.name], noisy.ranked[recipe.name], confidence)
        else:
            parts = [(noisy.measured[m], by_measure[m]) for m in recipe.measures]
            out.append(_ESTIMATES[recipe.function](recipe, parts, confidence))
    return out


Part = tuple[NDArray[Any], Noised]


def _column(name: str, values: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> Estimate:
    return Estimate(name, tuple(values.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def _count(recipe: Recipe, parts: list[Part], confidence: float) -> Estimate:
    values, step = parts[0]
    reach = step.error(confidence)
    return _column(recipe.name, values, _real(values) - reach, _real(values) + reach)


def _sum(recipe: Recipe, parts: list[Part], confidence: float) -> Estimate:
    (total, step), *rest = parts
    scale = 2.0**-step.measure.bits
    if not rest:
        reach = step.error(confidence) * scale
        values = total if step.measure.bits == 0 else _real(total) * scale
        return _column(recipe.name, values, _real(values) - reach, _real(values) + reach)
    # The centred sum, with the centre put back once for each row counted.
    count, counted = rest[0]
    values = (_real(total) + step.measure.centre * _real(count)) * scale
    reach = sum_reach(step, counted, confidence) * scale
    return _column(recipe.name, values, values - reach, values + reach)


def sum_reach(total: Noised, count: Noised, confidence: float) -> float:
    """How far a sum made of a centred sum and a count may be off, on the grid."""
    terms = [(1.0, total.mechanism), (float(total.measure.centre), count.mechanism)]
    noisy = [(weight, noise) for weight, noise in terms if noise is not None and weight]
    return combined_error(noisy, confidence) if noisy else 0.0


def _mean(recipe: Recipe, parts: list[Part], confidence: float) -> Estimate:
    (total, step), (count, counted) = parts
    h = float(step.measure.reach)
    # A group without rows has no mean; what is said of one is within the bounds, and nothing more.
    ratio = np.clip(_real(total) / np.maximum(_real(count), 1.0), -h, h)
    low, high = ratio_bounds(total, step.mechanism, count, counted.mechanism, h, confidence)
    shown = (ratio, np.minimum(low, ratio), np.maximum(high, ratio))
    return _column(recipe.name, *(_uncentred(x, step.measure) for x in shown))


def _uncentred(ratio: Array, m: Measure) -> Array:
    """A mean of v - c as one of v, held to the bounds, which lie up to one step nearer on one side than the other."""
    return np.asarray(np.clip(ratio + m.centre, m.low, m.high) * 2.0**-m.grid)


def _variance(recipe: Recipe, parts: list[Part], confidence: float) -> Estimate:
    (total, step), (squares, squared), (count, counted) = parts
    s, q, n = _real(total), _real(squares), _real(count)
    h, off = float(step.measure.reach), float(recipe.parameters[0])
    most = h * h
    rows = np.maximum(n, 1.0)
    value = np.clip(q / rows - np.clip(s / rows, -h, h) ** 2, 0.0, most) * rows / np.maximum(rows - off, 1.0)
    # With a third of the misses each, all three are within their own errors at once.
    share = 1 - (1 - confidence) / 3
    fewest, largest = n - counted.error(share), np.maximum(n + counted.error(share), 1.0)
    mean_low, mean_high = _box(s, step.error(share), fewest, largest, -h, h)
    power_low, power_high = _box(q, squared.error(share), fewest, largest, 0.0, most)
    steep = np.maximum(mean_low**2, mean_high**2)
    flat = np.where((mean_low <= 0) & (mean_high >= 0), 0.0, np.minimum(mean_low**2, mean_high**2))
    low = np.clip(power_low - steep, 0.0, most)
    # n / (n - 1) is at most 2, from n = 2 on, and falls.
    grown = fewest / np.maximum(fewest - off, 1.0)
    high = np.clip(power_high - flat, 0.0, most) * np.where(fewest >= 1 + off, grown, 1 + off)
    found = [x * 4.0**-step.measure.grid for x in (value, np.minimum(low, value), np.maximum(high, value))]
    return _column(recipe.name, *(map(np.sqrt, found) if recipe.function == "std" else found))


def _box(x: Array, reach: float, fewest: Array, largest: Array, least: float, most: float) -> tuple[Array, Array]:
    """The range of a total over a count, each within its error, held to what it can be; all of it without a count."""
    few = np.maximum(fewest, 1.0)
    ends = np.stack([(x - reach) / few, (x - reach) / largest, (x + reach) / few, (x + reach) / largest])
    known = fewest >= 1
    low, high = (np.clip(end, least, most) for end in (ends.min(axis=0), ends.max(axis=0)))
    return np.where(known, low, least), np.where(known, high, most)


def _tree(recipe: Recipe, parts: list[Part], confidence: float) -> Estimate:
    """Counts that agree over a tree; a node's interval is that of its own noise, stretched to hold the fitted count."""
    tree = recipe.tree
    assert tree is not None
    by_level = {tree.depth if step.measure.level is None else step.measure.level: (x, step) for x, step in parts}
    noisy = {
        level: (_real(x), 0.0 if step.mechanism is None else step.mechanism.variance)
        for level, (x, step) in by_level.items()
    }
    found = fit(tree, noisy)
    ends: dict[tuple[str, ...], tuple[float, float]] = {}
    for level, (x, step) in by_level.items():
        reach = step.error(confidence)
        for node, y in zip(tree.nodes(level), x.tolist(), strict=True):
            ends[node] = (min(max(0.0, y - reach), found[node]), max(y + reach, found[node]))
    ends |= {node: (float(n), float(n)) for node, n in tree.known.items()}
    walk = tree.walk
    low, high = (tuple(ends[node][i] for node in walk) for i in (0, 1))
    return Estimate(recipe.name, tuple(found[node] for node in walk), low, high)


def _real(x: NDArray[Any]) -> Array:
    return x.astype(np.float64)


def _quantiles(recipe: Recipe, step: Ranked, values: Array, confidence: float) -> list[Estimate]:
    m = recipe.measures[0]
    scale, whole, ranks = 2.0**-m.grid, m.grid == 0, step.error(confidence)
    values = np.clip(values, m.low, m.high)  # the grid that was searched may end a step beyond the bounds
    columns = []
    for i, name in enumerate(recipe.outputs):
        found = values[:, i].astype(np.int64) if whole else values[:, i] * scale
        columns.append(Estimate(name, tuple(found.tolist()), ranks=ranks))
    return columns


_ESTIMATES: Mapping[str, Callable[[Recipe, list[Part], float], Estimate]] = {
    "count": _count,
    "count_distinct": _count,
    "top_k": _count,
    "sum": _sum,
    "mean": _mean,
    "variance": _variance,
    "std": _variance,
    "tree": _tree,
}

COVERS = (
    "An interval covers the statistic as it was protected: values clipped to their bounds, every unit cut to its "
    "limits. What clipping and cutting left out is not in it."
)
