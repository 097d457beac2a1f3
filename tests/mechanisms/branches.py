"""The exact law of the program that really runs, found by following every way its random decisions can go.

The primitives of ``curador.noise`` that a mechanism calls are replaced by ones that, run after run, give each possible
answer in turn and note its probability.  What is computed from the answers is the production code, so a wrong
rate, a forgotten tie or a shifted index shows in the law.  (That the primitives have their laws is tests/noise's.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np

from curador.privacy import Neighbors

MP = mpmath.mp.clone()
MP.dps = 60
Real = Any
Law = dict[Any, Real]

TINY = MP.mpf(10) ** -50
"""What sixty digits may have lost."""


def real(x: Fraction | int) -> Real:
    x = Fraction(x)
    return MP.mpf(x.numerator) / x.denominator


@cache
def laplace_pmf(scale: Fraction, x: int) -> Real:
    q = MP.exp(-real(1 / scale))
    return (1 - q) / (1 + q) * q ** abs(x)


@cache
def laplace_tail(scale: Fraction, k: int) -> Real:
    """P(X >= k) of integer Laplace noise."""
    q = MP.exp(-real(1 / scale))
    return q**k / (1 + q) if k > 0 else 1 - q ** (1 - k) / (1 + q)


class Tree:
    """All runs of a program, one after another; also the patched primitives it calls."""

    def __init__(self, reach: int) -> None:
        self.reach = reach  # noise is followed up to this size
        self.plan: list[int] = []
        self.discrete_laplace = cache(lambda scale: Noise(self, scale))
        self.begin()

    def begin(self) -> None:
        self.depth, self.chance, self.widths = 0, MP.mpf(1), list[int]()

    def advance(self) -> bool:
        """Go on to the next run; False when all have been."""
        plan = self.plan + [0] * (self.depth - len(self.plan))
        while plan and plan[-1] + 1 == self.widths[len(plan) - 1]:
            plan.pop()
        if not plan:
            return False
        plan[-1] += 1
        self.plan = plan
        return True

    def take(self, options: list[tuple[Any, Real]]) -> Any:
        options = [o for o in options if o[1] > 0]
        i = self.plan[self.depth] if self.depth < len(self.plan) else 0
        self.widths.append(len(options))
        self.depth += 1
        value, chance = options[i]
        self.chance *= chance
        return value

    def choose(self, gaps: Any, rate: Fraction, sizes: Any = None, entropy: Any = None) -> int:
        sizes = np.ones(len(gaps), int) if sizes is None else sizes
        weights = [int(s) * MP.exp(-real(rate * int(g))) for g, s in zip(gaps, sizes, strict=True)]
        total = sum(weights)
        chosen: int = self.take([(i, w / total) for i, w in enumerate(weights)])
        return chosen

    def uniform_below(self, n: int, entropy: Any = None) -> int:
        chosen: int = self.take([(i, MP.mpf(1) / n) for i in range(n)])
        return chosen

    def uniform_below_array(self, n: int, size: int, entropy: Any = None) -> Any:
        return np.array([self.uniform_below(n) for _ in range(size)], np.int64)

    def bernoulli_exp_array(self, gaps: Any, rate: Fraction, entropy: Any = None) -> Any:
        chances = [MP.exp(-real(rate * int(g))) for g in gaps]
        return np.array([self.take([(True, p), (False, 1 - p)]) for p in chances])


class Noise:
    """Integer Laplace noise, followed up to the tree's reach; what lies beyond is missing from the law."""

    def __init__(self, tree: Tree, scale: Fraction) -> None:
        self.tree = tree
        self.options = [(x, laplace_pmf(scale, x)) for x in range(-tree.reach, tree.reach + 1)]

    def draw(self, entropy: Any = None) -> int:
        chosen: int = self.tree.take(self.options)
        return chosen

    def sample(self, n: int, entropy: Any = None) -> Any:
        return np.array([self.draw() for _ in range(n)], np.int64)


PRIMITIVES = ("choose", "uniform_below", "uniform_below_array", "bernoulli_exp_array", "discrete_laplace")


def law(program: Callable[[], Hashable], module: ModuleType, reach: int = 0) -> Law:
    """The probability of each output of a program that draws only through ``module``'s primitives."""
    tree, found = Tree(reach), dict[Any, Real]()
    with ExitStack() as stack:
        for name in PRIMITIVES:
            if hasattr(module, name):
                stack.enter_context(patch.object(module, name, getattr(tree, name)))
        while True:
            tree.begin()
            out = program()
            found[out] = found.get(out, MP.mpf(0)) + tree.chance
            if not tree.advance():
                return found


# ---- neighbours and distances ------------------------------------------------------------------------------------


def neighbours(domain: int, most: int, kind: Neighbors) -> Iterator[tuple[list[int], list[int]]]:
    """All ordered pairs of databases of at most ``most`` values below ``domain`` that differ by one unit."""
    for n in range(most):
        for rest in itertools.combinations_with_replacement(range(domain), n):
            for x in range(domain):
                if kind is Neighbors.ADD_REMOVE:
                    yield list(rest), [*rest, x]
                    yield [*rest, x], list(rest)
                else:
                    yield from (([*rest, x], [*rest, y]) for y in range(domain) if x != y)


def loss(p: Law, q: Law) -> Real:
    """The largest log ratio of p over q."""
    assert p.keys() == q.keys()
    return max(MP.log(p[o] / q[o]) for o in p)


def width(p: Law, q: Law) -> Real:
    """The range of the log ratios: what bounded range bounds."""
    return loss(p, q) + loss(q, p)


def delta(p: Law, q: Law, epsilon: Fraction) -> Real:
    """The hockey-stick divergence: the least delta with p <= e**epsilon q + delta on every set."""
    factor = MP.exp(real(epsilon))
    return sum(max(MP.mpf(0), p[o] - factor * q.get(o, MP.mpf(0))) for o in p)
