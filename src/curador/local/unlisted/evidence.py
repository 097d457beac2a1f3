"""Binomial tails: the counts of supporting reports that chance explains.

Reports that support a key are independent coins.  If all have the same chance, their number is binomial.  If the
chances differ, its tails are lighter than those of the binomial law with the mean chance [Hoe56].  That holds from one
count beyond the mean on.
"""

from __future__ import annotations

from collections.abc import Callable

from curador.local.task.limits import MARGIN, beta_margin


def chance_of_more(people: int, chance: float, count: int) -> float:
    """Bound the probability that ``count`` or more of ``people`` coins fall True.

    The bound is just above the binomial probability.

    >>> 0.171875 < chance_of_more(10, 0.5, 7) < 0.171876
    True
    """
    from scipy.special import betainc

    if count <= 0:
        return 1.0
    if count > people:
        return 0.0
    chance = min(1.0, chance * (1 + beta_margin(people)))
    return min(1.0, float(betainc(count, people - count + 1, chance)) * (1 + MARGIN))


def rarely_reached(people: int, chance: float, miss: float) -> int:
    """The least count beyond the mean that ``people`` coins reach with a probability of ``miss`` at most.

    >>> rarely_reached(100, 0.5, 0.05), rarely_reached(10, 0.5, 1e-9)
    (59, 11)
    """
    mean = min(people, int(people * chance) + 2)  # Hoeffding's bound begins one count above the mean
    return _first(mean, people + 1, lambda count: chance_of_more(people, chance, count) <= miss)


def nearly_always_reached(people: int, chance: float, miss: float) -> int:
    """The largest count that ``people`` coins reach but for a probability of ``miss``.

    >>> nearly_always_reached(100, 0.5, 0.05), nearly_always_reached(10, 0.5, 1e-9)
    (42, 0)
    """
    return people - rarely_reached(people, 1 - chance, miss) + 1


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least integer from low to high from which on something holds; it must hold at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
