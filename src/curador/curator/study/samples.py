"""Made-up values for demonstrations, rehearsals and the course; they describe no real person.

The only module with a public seed: made-up tables may repeat, noise may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from curador.numbers import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")


def salaries(n: int = 10_000, seed: int = 42) -> NDArray[np.float64]:
    """The course's made-up salaries: lognormal(10.8, 0.6), clipped to [0, 200000].

    Assumes: NumPy's lognormal stream of a seed stays as it is; a test pins the course's figures.

    >>> pay = salaries()
    >>> len(pay), round(pay.mean()), int((pay > 100_000).sum()), int((pay == 200_000).sum())
    (10000, 57943, 1173, 104)
    """
    size, start = whole(n, "n", 1), whole(seed, "seed")
    import numpy as np

    return np.clip(np.random.default_rng(start).lognormal(10.8, 0.6, size), 0, 200_000)


TOWN = 8
"""Blocks along each side of the made-up town."""

PUMPS = {
    "Broad": (4.5, 4.5),
    "Carnaby": (2.0, 6.5),
    "Crown": (6.5, 6.5),
    "Marlborough": (1.5, 2.5),
    "Rupert": (6.5, 1.5),
}
"""Its public pumps, by name; they stand where anybody can see them."""


def outbreak(n: int = 600, seed: int = 1854) -> NDArray[np.float64]:
    """Where made-up people fell ill of cholera in a town of 8 by 8 blocks: four of five of them around one pump.

    Made up in the manner of the map that found the cause in 1854 [Sno55]; no address in it is anybody's.

    >>> homes = outbreak()
    >>> homes.shape, float(homes.min()) >= 0, float(homes.max()) < TOWN
    ((600, 2), True, True)
    """
    size, start = whole(n, "n", 1), whole(seed, "seed")
    import numpy as np

    rng = np.random.default_rng(start)
    near, anywhere = rng.normal(PUMPS["Broad"], 0.9, (size, 2)), rng.uniform(0, TOWN, (size, 2))
    return np.clip(np.where(rng.random((size, 1)) < 0.8, near, anywhere), 0, np.nextafter(TOWN, 0))


class Draws:
    """A seeded stream of made-up values; each name has a stream of its own, so that columns are independent.

    >>> Draws(1, "people", "age").integers(17, 90, 3) == Draws(1, "people", "age").integers(17, 90, 3)
    True
    """

    def __init__(self, seed: int, *name: str) -> None:
        import numpy as np

        words = "\0".join(name).encode()
        self._stream = np.random.default_rng([whole(seed, "seed"), len(words), *words])

    def integers(self, low: int, high: int, n: int) -> list[int]:
        """Uniform integers from low to high, both included.

        >>> set(Draws(1).integers(0, 1, 50))
        {0, 1}
        """
        found: list[int] = self._stream.integers(low, high, n, endpoint=True).tolist()
        return found

    def reals(self, low: float, high: float, n: int) -> list[float]:
        """Uniform numbers between low and high.

        >>> all(2 <= x <= 3 for x in Draws(1).reals(2, 3, 50))
        True
        """
        # Not low + (high - low) * u: the width of wide bounds may overflow a double.
        found: list[float] = [min(max(low * (1 - u) + high * u, low), high) for u in self._stream.random(n).tolist()]
        return found

    def among(self, values: Sequence[_T], n: int) -> list[_T]:
        """Uniform draws from these values, with replacement.

        >>> set(Draws(1).among("ab", 50)) == {"a", "b"}
        True
        """
        return [values[i] for i in self.integers(0, len(values) - 1, n)]

    def owners(self, n: int, typical: int) -> list[int]:
        """The unit of each of n rows, numbered from 0; rows per unit are geometric with mean ``typical``.

        >>> owners = Draws(1).owners(100, 3)
        >>> len(owners), owners == sorted(owners), owners[0]
        (100, True, 0)
        """
        each = self._stream.geometric(1 / whole(typical, "typical", 1), n).tolist()
        found: list[int] = []
        for unit, rows in enumerate(each):
            found += [unit] * min(rows, n - len(found))
        return found

    def holes(self, values: Sequence[_T], share: float) -> list[_T | None]:
        """The values, each replaced by None with probability ``share``.

        >>> Draws(1).holes([7, 7], 0), Draws(1).holes([7, 7], 1)
        ([7, 7], [None, None])
        """
        return [None if u < share else x for x, u in zip(values, self._stream.random(len(values)), strict=True)]
