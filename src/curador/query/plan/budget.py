"""The budget of a question: the one that was asked for, or the least that reaches an accuracy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import Number, down, positive, probability
from curador.privacy import ZCDP, ApproxDP, PureDP

LEAST, MOST = Fraction(1, 10**12), 10**6
"""Losses below a ledger's unit cannot be counted, and those above a million promise nothing."""

LEAST_DELTA = Fraction(1, 10**30)

LARGEST_EPSILON = 1000
"""No accuracy is bought with more."""

SMALLEST_EPSILON = Fraction(1, 10**9)
"""No accuracy is bought with less."""


def budget_of(
    epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
) -> PureDP | ApproxDP | ZCDP:
    """The budget that was asked for: epsilon, (epsilon, delta), or rho with an optional delta.

    >>> budget_of(epsilon=0.5), budget_of(epsilon=1, delta=1e-6), budget_of(rho=0.1)
    (PureDP(epsilon=0.5), ApproxDP(epsilon=1.0, delta=1e-06), ZCDP(rho=0.1, delta=0.0))
    """
    if (epsilon is None) == (rho is None):
        raise InvalidParameter(
            "A question is paid with epsilon, with epsilon and delta, or with rho.",
            fix="Give exactly one of them.",
            code="price-needed",
        )
    # A float stands for its decimal; what no float stands for exactly is paid a hair below what was asked.
    reserved = 0.0 if delta is None else down(_delta(delta))
    if rho is not None:
        return ZCDP(_loss(rho, "rho"), reserved)
    paid = _loss(epsilon, "epsilon")
    return PureDP(paid) if delta is None else ApproxDP(paid, reserved)


def grant_of(
    epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
) -> PureDP | ApproxDP | ZCDP:
    """The amount that a budget is raised by: a budget, or a delta alone.

    >>> grant_of(epsilon=1), grant_of(delta=1e-6)
    (PureDP(epsilon=1.0), ApproxDP(epsilon=0.0, delta=1e-06))
    """
    if epsilon is None and rho is None and delta is not None and (more := _delta(delta)):
        return ApproxDP(0, down(more))
    return budget_of(epsilon, delta, rho)


def _loss(x: object, name: str) -> float:
    value = positive(x, name)
    if not LEAST <= value <= MOST:
        raise InvalidParameter(
            f"{name} must lie between {float(LEAST):g} and {MOST:g}, got {x}.",
            fix=f"Choose {name} near 1 or below.",
            code="loss-range",
            facts={"name": name, "least": f"{float(LEAST):g}", "most": f"{MOST:g}"},
        )
    return down(value)


def _delta(x: object) -> Fraction:
    value = probability(x, "delta")
    if value == 1 or 0 < value < LEAST_DELTA:
        raise InvalidParameter(
            f"delta must be 0, or at least {float(LEAST_DELTA):g} and below 1, got {x}.",
            fix="Choose delta far below 1 / (number of people).",
            code="delta-range",
        )
    return value


def least_epsilon(good: Callable[[Fraction], bool]) -> Fraction:
    """The least epsilon of three digits that is good, given that more is good too."""
    if not good(Fraction(LARGEST_EPSILON)):
        raise QuestionRefused(
            f"No epsilon up to {LARGEST_EPSILON} reaches this accuracy.",
            fix="Ask for less accuracy, fewer groups or narrower bounds.",
            code="accuracy-unreachable",
        )
    place = Fraction(LARGEST_EPSILON)
    while place > SMALLEST_EPSILON and good(place / 10):
        place /= 10
    # place is good and a tenth of it is not: look among its thousandths.
    low, high = 100, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(place * middle / 1000) else (middle, high)
    return place * high / 1000
