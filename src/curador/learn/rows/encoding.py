"""How one row becomes a vector of integers: from declared bounds and keys alone, each row by itself.

A number is clipped to its bounds and put on a grid of 2 * SCALE steps, from -SCALE to SCALE; a key becomes SCALE in the
column of that key, and zero in those of the others.  What is missing, infinite or no number is 0, the middle of the
bounds; what is none of the keys is zero in all of them.  The last column is SCALE in every row: the intercept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.forks import cached_property

SCALE = 1 << 10
"""The integer that stands for 1."""

MOST_KEYS = 10_000
"""The most keys of one feature."""

MOST_FEATURES = 2000
"""The most features of a model: of so many, margins are exact in doubles."""

MOST_COLUMNS = 1 << 15
"""The most columns of a model: every key is one, and every row is compared with it."""

MOST_NUMBERS = 1 << 22
"""The most numbers that a model measures at once: columns times columns, or columns times classes."""

MOST_CLASSES = 256
"""The most classes of a model: each row is compared with every one."""

MANY_FLAGS = 8
"""Columns between 0 and 1 of which an explanation says what keys would save."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NumberFeature:
    """A number between two bounds.

    >>> NumberFeature("age", 0, 100).encoded(np.array([0.0, 50.0, 100.0, 200.0, np.nan])).tolist()
    [-1024, 0, 1024, 1024, 0]
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.high / 2 - self.low / 2 > 1e-300):
            raise InvalidParameter(
                f"The bounds of {self.name!r} are not two finite numbers, the lower first.", fix="Declare both."
            )

    @property
    def width(self) -> int:
        return 1

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def encoded(self, values: Floats) -> NDArray[np.int16]:
        """Each value on the grid.  Every operation is rounded by itself, so no row depends on another's place."""
        half = self.high / 2 - self.low / 2
        middle = self.low / 2 + self.high / 2
        with np.errstate(all="ignore"):
            x = np.rint((np.clip(values, self.low, self.high) - middle) / half * SCALE)
        return np.asarray(
            np.clip(np.where(np.isfinite(values) & np.isfinite(x), x, 0.0), -SCALE, SCALE).astype(np.int16)
        )


def placed(places: Ints, steps: int) -> NDArray[np.int16]:
    """Places between the bounds, from 0 to ``steps``, on the grid of a number; -1, which is missing, is its middle.

    In whole numbers, of two equally near the even one: what :meth:`NumberFeature.encoded` gives the same numbers
    (docs/proofs/learn.md, 1), and what an engine works out by itself.

    >>> placed(np.array([0, 1, 2, 4096, -1]), 4096).tolist()
    [-1024, -1024, -1023, 1024, 0]
    """
    whole, left = np.divmod(places * (4 * SCALE) + steps, 2 * steps)
    found = whole - ((left == 0) & (whole % 2 == 1)) - SCALE
    return np.asarray(np.where(places < 0, 0, found).astype(np.int16))


@dataclass(frozen=True)
class KeyFeature:
    """One of ``size`` public keys, given by its number; -1 is none of them."""

    name: str
    keys: tuple[object, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.keys) <= MOST_KEYS or len(set(self.keys)) < len(self.keys):
            raise InvalidParameter(
                f"{self.name!r} needs different keys, at most {MOST_KEYS:,}.",
                fix="Declare them, each once.",
                code="feature-keys",
                facts={"column": self.name, "most": MOST_KEYS},
            )

    @property
    def width(self) -> int:
        return len(self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={key}" for key in self.keys)


Feature = NumberFeature | KeyFeature


@dataclass(frozen=True)
class Encoding:
    """The features of a model, in order: first all numbers, then all keys, then the intercept.

    >>> one = Encoding((NumberFeature("age", 0, 100), KeyFeature("sex", ("F", "M"))))
    >>> one.columns, one.most == 3 * SCALE**2
    (('age', 'sex=F', 'sex=M', '1'), True)
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        if not self.features:
            raise InvalidParameter("A model has at least one feature.", fix="Name its features.", code="features-none")
        if len(self.features) > MOST_FEATURES:
            raise InvalidParameter(
                f"A model has at most {MOST_FEATURES:,} features.",
                fix="Use fewer.",
                code="features-many",
                facts={"most": MOST_FEATURES},
            )
        if self.width > MOST_COLUMNS:
            raise InvalidParameter(
                f"These features have {self.width:,} columns, and the most is {MOST_COLUMNS:,}.",
                fix="Use fewer keys.",
                code="features-wide",
                facts={"n": self.width, "most": MOST_COLUMNS},
            )
        if len({f.name for f in self.features}) < len(self.features):
            raise InvalidParameter("Two features have one name.", fix="Name each of them once.", code="feature-twice")

    @cached_property
    def numbers(self) -> tuple[NumberFeature, ...]:
        return tuple(f for f in self.features if isinstance(f, NumberFeature))

    @cached_property
    def keyed(self) -> tuple[KeyFeature, ...]:
        return tuple(f for f in self.features if isinstance(f, KeyFeature))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The column at which the keys of each keyed feature begin."""
        found, at = [], len(self.numbers)
        for feature in self.keyed:
            found.append(at)
            at += feature.width
        return tuple(found)

    @cached_property
    def width(self) -> int:
        """The number of columns, with the intercept."""
        return len(self.numbers) + sum(f.width for f in self.keyed) + 1

    @cached_property
    def columns(self) -> tuple[str, ...]:
        numbers = [c for f in self.numbers for c in f.columns]
        return (*numbers, *(c for f in self.keyed for c in f.columns), "1")

    def notes(self) -> list[dict[str, object]]:
        """That many columns of 0 and 1 cost more than the keys they may come from; nothing for few of them."""
        flags = sum((f.low, f.high) == (0, 1) for f in self.numbers)
        return [{"code": "fit-flags", "columns": flags}] if flags >= MANY_FLAGS else []

    @property
    def most(self) -> int:
        """The largest squared length of an encoded row: one unit for each feature, one for the intercept."""
        return (len(self.features) + 1) * SCALE**2


def require_few(numbers: int, most: int = MOST_NUMBERS) -> None:
    """Refuse what would take more memory and time than anybody has; called before anything is tried or paid for.

    >>> require_few(10**9)
    Traceback (most recent call last):
    curador.errors.InvalidParameter: A model of so many columns, classes or clusters would work with ...
    """
    if numbers > most:
        raise InvalidParameter(
            f"A model of so many columns, classes or clusters would work with {numbers:,} numbers at once, and the "
            f"most is {most:,}.",
            fix="Use fewer features, keys, bins, classes or clusters.",
            code="model-too-large",
        )


def codes(values: Sequence[object] | NDArray[np.object_], keys: Sequence[object]) -> NDArray[np.int32]:
    """The number of each value among the keys, or -1.

    >>> codes(["b", None, "a"], ["a", "b"]).tolist()
    [1, -1, 0]
    """
    place = {key: i for i, key in enumerate(keys)}
    try:
        return np.array(list(map(place.get, values, repeat(-1))), np.int32)
    except Exception:  # noqa: BLE001  some value cannot be a key; then one by one
        found = np.full(len(values), -1, np.int32)
    for i, value in enumerate(values):
        try:
            found[i] = place.get(value, -1)
        except Exception:  # noqa: BLE001  a value that cannot be a key, whatever it does
            continue
    return found
