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


STREETS = 12
"""Blocks along each side of the made-up quarter."""

PUMPS = {"Broad": (4, 7), "Rupert": (9, 2), "Carnaby": (1, 1), "Warwick": (10, 10)}
"""The blocks of its pumps, which anybody can see; the water of the first is bad."""


def outbreak(seed: int = 1854) -> NDArray[np.int64]:
    """Made-up deaths by cholera in 12 by 12 blocks: most of them within a walk of one pump.

    Made up in the manner of the map that found the cause in 1854 [Sno55]; no home in it was anybody's.

    >>> deaths = outbreak()
    >>> deaths.shape, int(deaths.sum()), deaths[3:6, 6:9].tolist()
    ((12, 12), 774, [[17, 22, 17], [19, 27, 28], [13, 23, 21]])
    """
    start = whole(seed, "seed")
    import numpy as np

    rows, columns = np.indices((STREETS, STREETS))
    far = np.hypot(rows - PUMPS["Broad"][0], columns - PUMPS["Broad"][1])
    likely = 0.6 + 26 * np.exp(-((far / 2.1) ** 2) / 2)
    return np.asarray(np.random.default_rng(start).poisson(likely), np.int64)


SECTORS = ("health", "schools", "public works")


def staff(n: int = 20_000, seed: int = 42) -> list[tuple[int, int, str, int]]:
    """The made-up staff of a region: age, years of service, sector and monthly pay, which follows from them and luck.

    >>> [len(staff(100)), staff(3) == staff(3)], max(pay for *_, pay in staff(100)) <= 6000
    ([100, True], True)
    """
    age = Draws(seed, "staff", "age").integers(20, 66, n)
    served = Draws(seed, "staff", "years").reals(0, 1, n)
    sector = Draws(seed, "staff", "sector").among(SECTORS, n)
    luck = Draws(seed, "staff", "luck").reals(-400, 400, n)
    first = dict(zip(SECTORS, (1900, 1600, 1300), strict=True))
    years = [int(u * (a - 20)) for u, a in zip(served, age, strict=True)]
    return [
        (a, y, s, min(6000, int(first[s] + 45 * y + extra)))
        for a, y, s, extra in zip(age, years, sector, luck, strict=True)
    ]


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
