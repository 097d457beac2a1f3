"""What to look at in outputs: values, differences, lowest bits, repeats, and scores learned from the outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from curador.audit.tester.outputs import Numbers, Outputs

LOOKED_AT = 24
"""Of the columns of a wide output, so many are looked at one by one: those that differ most."""

PAIRS = 6
"""Of so many columns every difference is looked at."""

PARTS = 16
"""Into so many parts a column is cut to learn how much each speaks for one side."""


ENOUGH = 2000
"""So many outputs of a side show where to cut it."""


@dataclass(frozen=True)
class Feature:
    """A number read from each output; any function of an output may be one.

    ``symbol``: its values have no order.  ``learned``: made from outputs that may not judge it again.
    """

    name: str
    read: Callable[[Outputs], Numbers]
    symbol: bool = False
    learned: bool = False


def features(first: Outputs, second: Outputs) -> list[Feature]:
    """What is worth looking at, learned from some outputs of both sides."""
    width = first.numbers.shape[1]
    if not width:
        return [Feature("the output", _symbols, symbol=True)]
    found = [] if width == 1 and not first.bits else [Feature("the whole output", _symbols, symbol=True)]
    chosen = _differing(first.numbers, second.numbers)
    for i in chosen:
        name = "the output" if width == 1 else f"bit {i}" if first.bits else f"number {i + 1}"
        found.append(Feature(name, _column(i)))
        if not first.bits and _fractional(first.numbers[:, i]):
            found.append(Feature(f"the finest bit of {name}", _finest(i)))
            found.append(Feature(f"the fraction of {name}", _fraction(i)))
    if width > 1:
        found += _joint(first, second, chosen)
    return found


def _joint(first: Outputs, second: Outputs, chosen: list[int]) -> list[Feature]:
    """What several columns show together."""
    found = [Feature("the sum", lambda some: some.numbers.sum(axis=1))]
    if not first.bits:
        found += [
            Feature("the largest number", lambda some: _quiet(np.nanmax, some.numbers)),
            Feature("the smallest number", lambda some: _quiet(np.nanmin, some.numbers)),
            Feature("how many numbers are missing", lambda some: np.isnan(some.numbers).sum(axis=1).astype(np.float64)),
            Feature("how many numbers differ", _distinct),
        ]
        few = chosen[:PAIRS] if len(chosen) <= PAIRS else []
        pairs = list(combinations(few, 2)) or [(i, i + 1) for i in sorted(chosen) if i + 1 < first.numbers.shape[1]]
        found += [Feature(f"number {i + 1} less number {j + 1}", _less(i, j)) for i, j in pairs]
    elif first.numbers.shape[1] <= 64:
        found.append(Feature("the report as a number", _as_number))
    found.append(Feature("a learned score", _score(first.numbers, second.numbers), learned=True))
    if not first.bits and (direction := _direction(first.numbers, second.numbers)) is not None:
        found.append(Feature("a learned direction", direction, learned=True))
    return found


def _symbols(some: Outputs) -> Numbers:
    """As numbers whose order means nothing; 52 bits of a symbol are enough to tell symbols apart."""
    return (some.symbols & np.uint64((1 << 52) - 1)).astype(np.float64)


def _column(i: int) -> Callable[[Outputs], Numbers]:
    return lambda some: some.numbers[:, i]


def _less(i: int, j: int) -> Callable[[Outputs], Numbers]:
    def read(some: Outputs) -> Numbers:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(some.numbers[:, i] - some.numbers[:, j])

    return read


def _fractional(x: Numbers) -> bool:
    known = x[np.isfinite(x)]
    return bool((known != np.floor(known)).any())


def _fraction(i: int) -> Callable[[Outputs], Numbers]:
    def read(some: Outputs) -> Numbers:
        with np.errstate(invalid="ignore"):
            return np.asarray(some.numbers[:, i] - np.floor(some.numbers[:, i]))

    return read


def _finest(i: int) -> Callable[[Outputs], Numbers]:
    return lambda some: finest_bit(some.numbers[:, i])


def finest_bit(x: Numbers) -> Numbers:
    """The exponent of the lowest bit that is set in each double: floating noise beside a small number reaches lower
    than beside a large one, which tells them apart [Mir12].  NaN for 0 and what is not finite.

    >>> finest_bit(np.array([0.75, 3.0, 0.0]))
    array([-2.,  0., nan])
    """
    known = np.isfinite(x) & (x != 0)
    mantissa, exponent = np.frexp(np.where(known, x, 1.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.where(known, np.log2((whole & -whole).astype(np.float64)) + exponent - 53, np.nan)


def _quiet(reduce: Callable[..., Numbers], numbers: Numbers) -> Numbers:
    empty = np.asarray(np.isnan(numbers).all(axis=1))
    return np.where(empty, np.nan, reduce(np.where(empty[:, np.newaxis], 0.0, numbers), axis=1))


def _distinct(some: Outputs) -> Numbers:
    ordered = np.sort(some.numbers, axis=1)
    return np.asarray((ordered[:, 1:] != ordered[:, :-1]).sum(axis=1), np.float64)


def _as_number(some: Outputs) -> Numbers:
    weights = 2.0 ** np.arange(some.numbers.shape[1])[::-1]
    return np.asarray(some.numbers @ weights)


def _differing(first: Numbers, second: Numbers) -> list[int]:
    """The columns that differ most between the sides, the most different first."""
    if first.shape[1] == 1:
        return [0]
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(_means(first) - _means(second)) / np.sqrt(_spreads(first) + _spreads(second) + 1e-12)
    missing = np.abs(np.isnan(first).mean(axis=0) - np.isnan(second).mean(axis=0))
    return [int(i) for i in np.argsort(-(np.nan_to_num(gap, nan=1.0) + missing), kind="stable")[:LOOKED_AT]]


def _means(x: Numbers) -> Numbers:
    return np.asarray(np.where(np.isfinite(x), x, 0.0).mean(axis=0))


def _spreads(x: Numbers) -> Numbers:
    return np.asarray(np.where(np.isfinite(x), x, 0.0).var(axis=0))


def _score(first: Numbers, second: Numbers) -> Callable[[Outputs], Numbers]:
    """How much likelier a row is on the second side, as if its columns were independent."""
    tables = []
    for a, b in zip(first.T, second.T, strict=True):
        pooled = np.concatenate([a[:ENOUGH], b[:ENOUGH]])
        pooled = pooled[np.isfinite(pooled)]
        edges = np.unique(np.quantile(pooled, np.linspace(0, 1, PARTS + 1)[1:-1])) if pooled.size else np.empty(0)
        counts = [np.bincount(cell(x, edges), minlength=len(edges) + 2) for x in (a, b)]
        shares = [(c + 0.5) / (len(x) + 0.5 * len(c)) for c, x in zip(counts, (a, b), strict=True)]
        tables.append((edges, np.log(shares[1] / shares[0])))

    def read(some: Outputs) -> Numbers:
        total = np.zeros(len(some))
        for column, (edges, weights) in zip(some.numbers.T, tables, strict=True):
            total += weights[cell(column, edges)]
        return total

    return read


def _direction(first: Numbers, second: Numbers) -> Callable[[Outputs], Numbers] | None:
    """The linear combination of columns that parts the sides most [Fisher36]; None where there is none."""
    if first.shape[1] > 64 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.cov(first, rowvar=False) + np.cov(second, rowvar=False)
        gap = second.mean(axis=0) - first.mean(axis=0)
    ridge = 1e-9 * (np.trace(spread) / len(gap) + 1e-300)
    if not (np.isfinite(spread).all() and np.isfinite(gap).all()):
        return None
    try:
        weights = np.linalg.solve(spread + ridge * np.eye(len(gap)), gap)
    except np.linalg.LinAlgError:
        return None
    return lambda some: np.asarray(some.numbers @ weights)


def cell(x: Numbers, edges: Numbers) -> NDArray[np.int64]:
    """The number of the cell between edges, each closed below, that a number is in; the last is for NaN."""
    return np.where(np.isnan(x), len(edges) + 1, np.searchsorted(edges, x, side="right"))
