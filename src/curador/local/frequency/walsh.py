"""The Walsh–Hadamard transform of integers, in place of a matrix of plus and minus ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def parity(x: NDArray[Any]) -> NDArray[np.uint8]:
    """The parity of the number of ones in each integer: True if odd.

    >>> parity(np.array([0, 1, 3, 7])).tolist()
    [0, 1, 0, 1]
    """
    ones: NDArray[np.uint8] = np.bitwise_count(x)
    return ones & np.uint8(1)


def walsh_hadamard(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every v, sum x[s] (-1)**(number of ones in s & v) over s; the length is a power of two.

    Exact: the results are integers no larger than the sum of |x|.

    >>> walsh_hadamard(np.array([1, 2, 0, 4])).tolist()
    [7, -5, -1, 3]
    """
    out = x.copy()
    half = 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        total = pairs[:, 0] + pairs[:, 1]
        np.subtract(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        pairs[:, 0] = total
        half *= 2
    return out
