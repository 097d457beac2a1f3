"""The exact law of a randomizer that really runs: every way its coins and uniform integers can fall is followed.

Probabilities are fractions, so ratios of them are compared with e**epsilon without rounding.  That ``coins`` and
``uniform`` have their laws is test_draw.py's.
"""

from __future__ import annotations

import importlib
from contextlib import ExitStack
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np

from curador.local import Task

MP = mpmath.mp.clone()
MP.dps = 80

Law = dict[Any, Fraction]


class Tree:
    """All runs of a program, one after another, and the primitives it calls."""

    def __init__(self) -> None:
        self.plan: list[int] = []
        self.begin()

    def begin(self) -> None:
        self.depth, self.chance, self.widths = 0, Fraction(1), list[int]()

    def advance(self) -> bool:
        plan = self.plan + [0] * (self.depth - len(self.plan))
        while plan and plan[-1] + 1 == self.widths[len(plan) - 1]:
            plan.pop()
        if not plan:
            return False
        plan[-1] += 1
        self.plan = plan
        return True

    def take(self, chances: list[Fraction]) -> int:
        options = [i for i, chance in enumerate(chances) if chance]
        i = options[self.plan[self.depth] if self.depth < len(self.plan) else 0]
        self.widths.append(len(options))
        self.depth += 1
        self.chance *= chances[i]
        return i

    def coins(self, threshold: int, bits: int, size: int, entropy: Any = None) -> Any:
        p = Fraction(threshold, 1 << bits)
        return np.array([bool(self.take([1 - p, p])) for _ in range(size)], bool)

    def level_coins(self, levels: Any, entropy: Any = None) -> Any:
        return np.concatenate([self.coins(int(level), 16, 1) for level in levels])

    def uniform(self, n: int, size: int, entropy: Any = None) -> Any:
        word = np.uint8 if n <= 1 << 8 else np.uint16 if n <= 1 << 16 else np.uint32
        return np.array([self.take([Fraction(1, n)] * n) for _ in range(size)], word)


def law(task: Any, value: Any, module: str = "") -> Law:
    """The probability of each report on one value."""
    tree, found = Tree(), dict[Any, Fraction]()
    where = importlib.import_module(module or type(task).__module__)
    with ExitStack() as stack:
        for name in ("coins", "uniform"):
            if hasattr(where, name):
                stack.enter_context(patch.object(where, name, getattr(tree, name)))
        while True:
            tree.begin()
            out = task.randomize([value])[0]
            report = tuple(out.tolist()) if isinstance(out, np.ndarray) else out.item()
            found[report] = found.get(report, Fraction(0)) + tree.chance
            if not tree.advance():
                return found


def level_law(task: Any, level: int, *modules: str) -> Law:
    """The probability of each report of a mean oracle on one level, its parts drawing through these modules."""
    tree, found = Tree(), dict[Any, Fraction]()
    with ExitStack() as stack:
        for module in modules or (type(task).__module__,):
            where = importlib.import_module(module)
            for name in ("coins", "uniform", "level_coins"):
                if hasattr(where, name):
                    stack.enter_context(patch.object(where, name, getattr(tree, name)))
        while True:
            tree.begin()
            report = int(task._randomize(np.array([level]), None)[0])
            found[report] = found.get(report, Fraction(0)) + tree.chance
            if not tree.advance():
                return found


def worst_ratio(laws: list[Law]) -> Fraction | float:
    """The largest ratio of one report's probabilities under two values; infinite if a report excludes a value."""
    reports = set().union(*laws)
    rows = [[one.get(report, Fraction(0)) for one in laws] for report in reports]
    return float("inf") if any(min(row) == 0 for row in rows) else max(max(row) / min(row) for row in rows)


def within(ratio: Fraction | float, epsilon: Fraction) -> bool:
    """Whether ratio <= e**epsilon, by eighty digits of an independent library."""
    if not isinstance(ratio, Fraction):
        return False
    gap = MP.exp(MP.mpf(epsilon.numerator) / epsilon.denominator) - MP.mpf(ratio.numerator) / ratio.denominator
    assert abs(gap) > MP.mpf(10) ** -60 * abs(ratio), "eighty digits do not tell"
    return bool(gap > 0)


def keeps_its_word(task: Task, laws: list[Law]) -> bool:
    """What an audit of the exact law says about a task's epsilon."""
    return all(sum(one.values()) == 1 for one in laws) and within(worst_ratio(laws), task.epsilon)
