"""Enumerated mechanisms: mixtures of normal laws made by running a sampler in all its ways, compared on a grid.

Nothing of the accountants is used: a mixture is a dictionary from means to exact probabilities, and delta is the sum of
(p - e**epsilon q)+ over a grid so fine and wide that it is right to some 1e-6 of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

Means = tuple[float, ...]
Mixture = dict[Means, Fraction]
WRONG = 1e-5  # relative, of delta on the grid


def mixture(cases: Iterable[tuple[Fraction, Means]]) -> Mixture:
    found: Mixture = {}
    for chance, means in cases:
        found[means] = found.get(means, Fraction(0)) + chance
    assert sum(found.values()) == 1
    return found


def at(means: Means) -> Mixture:
    """One normal law."""
    return {means: Fraction(1)}


def density(law: Mixture, sigma: float, axes: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total = np.zeros(tuple(len(a) for a in axes))
    for means, chance in law.items():
        one = np.full((1,) * len(axes), float(chance))
        for i, (m, axis) in enumerate(zip(means, axes, strict=True)):
            shape = [1] * len(axes)
            shape[i] = len(axis)
            one = one * (np.exp(-(((axis - m) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))).reshape(shape)
        total += one
    return total


def delta(p: Mixture, q: Mixture, sigma: float, epsilons: Sequence[float]) -> list[float]:
    """The smallest delta at each epsilon, for this order of the two."""
    size = len(next(iter(p)))
    every = [m for law in (p, q) for means in law for m in means]
    step = sigma / (800 if size == 1 else 25)
    axis = np.arange(min(every) - 9 * sigma, max(every) + 9 * sigma, step)
    one, two = (density(law, sigma, [axis] * size) for law in (p, q))
    return [float(np.maximum(one - math.exp(e) * two, 0).sum() * step**size) for e in epsilons]


def renyi(p: Mixture, q: Mixture, sigma: float, alpha: float) -> float:
    every = [m for law in (p, q) for means in law for m in means]
    size = len(next(iter(p)))
    step = sigma / (400 if size == 1 else 20)
    spread = alpha * (max(every) - min(every)) + 10 * sigma
    axis = np.arange(min(every) - spread, max(every) + spread, step)
    one, two = (density(law, sigma, [axis] * size) for law in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.exp(alpha * np.log(one) + (1 - alpha) * np.log(two))
    return math.log(float(np.nansum(terms)) * step**size) / (alpha - 1)


# ---- samplers, in all their ways ------------------------------------------------------------------------------------

Draws = Iterable[tuple[Fraction, tuple[int, ...]]]


def fixed_size(units: Sequence[int], batch: int) -> Draws:
    ways = list(combinations(range(len(units)), batch))
    return [(Fraction(1, len(ways)), tuple(units[i] for i in way)) for way in ways]


def poisson(units: Sequence[int], rate: Fraction) -> Draws:
    found = []
    for taken in product((False, True), repeat=len(units)):
        chance = math.prod((rate if t else 1 - rate for t in taken), start=Fraction(1))
        found.append((chance, tuple(u for u, t in zip(units, taken, strict=True) if t)))
    return found


def truncated(units: Sequence[int], rate: Fraction, cap: int) -> Draws:
    for chance, batch in poisson(units, rate):
        if len(batch) <= cap:
            yield chance, batch
        else:
            yield from ((chance * c, kept) for c, kept in fixed_size(batch, cap))


def summed(draws: Draws) -> Mixture:
    return mixture((chance, (float(sum(batch)),)) for chance, batch in draws)


def databases(values: Sequence[int], size: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of neighbours: with a unit, and without it."""
    return [((*rest, x), rest) for rest in combinations_with_replacement(values, size - 1) for x in values]


Sampler = Callable[[Sequence[int]], Mixture]


def worst_delta(
    sampler: Sampler, pairs: Iterable[tuple[Sequence[int], Sequence[int]]], sigma: float, e: float
) -> float:
    """The largest delta over neighbours, in both orders."""
    found = 0.0
    for one, two in pairs:
        p, q = sampler(one), sampler(two)
        found = max(found, delta(p, q, sigma, [e])[0], delta(q, p, sigma, [e])[0])
    return found
