"""Random decisions: coins with integer thresholds, and uniform integers.

They read as few random bits as possible, and never redraw a bit after looking at it.  So with fair bits their laws are
exact fractions (docs/proofs/local.md, section 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.noise import SYSTEM, Entropy

HALF: dict[int, type[np.unsignedinteger[Any]]] = {16: np.uint8, 32: np.uint16}
"""The bit lengths of a coin's threshold, each with the word that holds half of them."""


def coins(threshold: int, bits: int, size: int, entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
    """Draw independent coins, each True with probability exactly ``threshold / 2**bits``.

    >>> coins(0, 16, 3), coins(2**16, 16, 2)
    (array([False, False, False]), array([ True,  True]))
    """
    if threshold >= 1 << bits:
        return np.ones(size, bool)
    word, half = HALF[bits], bits // 2
    high, low = threshold >> half, threshold & ((1 << half) - 1)
    first = entropy.words(size, word)
    out: NDArray[np.bool_] = first < high
    if low:  # the lower bits matter only where the upper half ties
        ties = np.flatnonzero(first == high)
        out[ties] = entropy.words(ties.size, word) < low
    return out


def level_coins(levels: NDArray[np.int64], entropy: Entropy = SYSTEM) -> NDArray[np.bool_]:
    """Draw independent coins, the i-th True with probability exactly ``levels[i] / 2**16``.

    >>> level_coins(np.array([0, 2**16]))
    array([False,  True])
    """
    out: NDArray[np.bool_] = entropy.words(levels.size, np.uint16) < levels
    return out


def uniform(n: int, size: int, entropy: Entropy = SYSTEM) -> NDArray[np.unsignedinteger[Any]]:
    """Draw independent uniform integers in [0, n), n up to 2**32, in the smallest word that holds them.

    >>> uniform(1, 2).tolist(), uniform(256, 5).dtype, uniform(257, 5).dtype
    ([0, 0], dtype('uint8'), dtype('uint16'))
    """
    word = word_for(n)
    mask = word((1 << (n - 1).bit_length()) - 1)
    out: NDArray[np.unsignedinteger[Any]] = entropy.words(size, word) & mask
    if n & (n - 1):  # a value out of range is discarded whole, so the others are equally likely
        open_ = np.flatnonzero(out >= n)
        while open_.size:
            out[open_] = entropy.words(open_.size, word) & mask
            open_ = open_[out[open_] >= n]
    return out


def word_for(n: int) -> type[np.unsignedinteger[Any]]:
    """The smallest machine word that holds every integer below ``n``.

    >>> word_for(256), word_for(257)
    (<class 'numpy.uint8'>, <class 'numpy.uint16'>)
    """
    return np.uint8 if n <= 1 << 8 else np.uint16 if n <= 1 << 16 else np.uint32
