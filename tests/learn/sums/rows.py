"""Rows for tests of sums: any of an encoding, the extreme ones first."""

from __future__ import annotations

import numpy as np

from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints, KeyFeature, NumberFeature

MIXED = Encoding((NumberFeature("a", 0, 1), NumberFeature("b", 0, 1), KeyFeature("k", ("x", "y", "z"))))


def made_up(count: int, seed: int, encoding: Encoding = MIXED) -> Design:
    """Rows anywhere between the bounds; the first ones at the ends of all of them."""
    some = np.random.default_rng(seed)
    p, k = len(encoding.numbers), len(encoding.keyed)
    numbers = some.integers(-SCALE, SCALE + 1, (count, p))
    ends = some.random(count) < 0.5
    numbers[ends] = np.where(numbers[ends] < 0, -SCALE, SCALE)
    codes = np.stack([some.integers(-1, f.width, count) for f in encoding.keyed], axis=1) if k else np.zeros((count, 0))
    return Design(encoding, numbers.astype(np.int16), codes.astype(np.int16))


def length(x: Ints | Floats) -> float:
    """The length of integers, exactly until the root."""
    return float(sum(int(v) ** 2 for v in np.ravel(x)) ** 0.5)


def single(design: Design, i: int) -> Design:
    return design.some(np.array([i]))
