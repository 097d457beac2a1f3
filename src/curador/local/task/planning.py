"""The least number of people that is enough, where every larger number is enough too."""

from __future__ import annotations

from collections.abc import Callable

from curador.errors import InvalidParameter

MOST_USERS = 1 << 40


def least_users(enough: Callable[[int], bool], *, what: str, fix: str, relative: int = 0) -> int:
    """Find the least number of people for which ``enough`` holds, or up to one part in ``relative`` more.

    Doubling finds an upper bound, bisection the least.  Beyond 2**40 people it is refused, with ``what`` and ``fix``.

    >>> least_users(lambda n: n * n >= 50, what="Too many.", fix="Ask for less.")
    8
    """
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_USERS:
            raise InvalidParameter(what, fix=fix)
    while high - low > max(1, high // relative if relative else 1):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
