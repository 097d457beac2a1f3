"""Generated, non-sensitive tables for demos, rehearsals and the course: made up, about nobody.

The only room with a public seed: a made-up table may be the same every time, noise never may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curador.rational import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
