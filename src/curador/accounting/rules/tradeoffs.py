"""Trade-off curves: the least false-negative rate of any test at each false-positive rate.

Let (epsilon, delta) be given for neighbouring databases.  No test of one against the other has false positives a and
false negatives below f(a).  The curve f is the guarantee in the language of tests [WZ10, KOV15, DRS22].  Gaussian noise
has a curve of its own, with one number mu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

from curador.accounting.events import Composed, Event, GaussianNoise
from curador.accounting.rules.gaussian import gaussian_delta, gaussian_epsilon, gaussian_sigma
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, above, below, down, nonnegative, positive, probability, sqrt_up, up, whole
from curador.privacy import ApproxDP, Guarantee, PureDP

FAR = 700.0
"""The largest epsilon that bounds a test noticeably; the exponential of a larger one overflows a double."""

EPSILONS = (0.0, *(round(0.01 * 1.07**i, 6) for i in range(126)))
"""The default epsilons at which a profile is sampled: 0, and 0.01 to 47 in steps of seven percent."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A plot: one x axis and named lines over it."""

    x: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    xlabel: str
    ylabel: str


def grid(n: int, low: float = 0.0, high: float = 1.0) -> tuple[float, ...]:
    """Evenly spaced places to evaluate a curve at.

    >>> grid(3)
    (0.0, 0.5, 1.0)
    """
    return tuple(low + (high - low) * i / (n - 1) for i in range(whole(n, "points", 2)))


def _chance(x: Number, name: str) -> float:
    return float(probability(x, name))


# ---- the trade-off between the two errors -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """The smallest chance of missing Alice, for each chance of accusing her wrongly, under some promises.

    Guarantee: each (epsilon, delta) bounds the false negatives f of any test with false positives a from below.  The
        bound is max(0, 1 - delta - e**eps a, e**-eps (1 - delta - a)) [WZ10, KOV15, DRS22]; several hold together.

    >>> Tradeoff((ApproxDP(1, 0),)).fnr(0.1)
    0.7281...
    """

    points: tuple[ApproxDP, ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise InvalidParameter("A trade-off curve needs a promise.", fix="Pass at least one (epsilon, delta).")

    @classmethod
    def from_profile(cls, profile: Callable[[float], float], epsilons: Iterable[float] = EPSILONS) -> Tradeoff:
        """Make it from a function that gives delta for epsilon; each sampled point is a promise of its own.

        >>> Tradeoff.from_profile(lambda e: gaussian_delta(1, 1, e)).fnr(0.05)
        0.74...
        """
        return cls(tuple(ApproxDP(e, min(1.0, profile(e))) for e in epsilons))

    def _lines(self) -> list[tuple[float, float]]:
        """Slopes and intercepts of the straight lower bounds."""
        found = [(0.0, 0.0)]
        for p in self.points:
            if p.epsilon < FAR:
                e, kept = math.exp(p.epsilon), 1 - p.delta
                found += [(-e, kept), (-1 / e, kept / e)]
        return found

    def fnr(self, fpr: Number) -> float:
        """The smallest false-negative rate at a false-positive rate, rounded down."""
        a = _chance(fpr, "fpr")
        return max(0.0, below(max(b + m * a for m, b in self._lines()), absolute=2.0**-50))

    def tpr(self, fpr: Number) -> float:
        """The largest true-positive rate at a false-positive rate, rounded up."""
        a = _chance(fpr, "fpr")
        near = [p for p in self.points if p.epsilon < FAR]
        # Sums of positive terms: 1 - f(a) itself would lose small rates.
        steep = (math.exp(p.epsilon) * a + p.delta for p in near)
        flat = (-math.expm1(-p.epsilon) + math.exp(-p.epsilon) * (p.delta + a) for p in near)
        return min(1.0, above(min((*steep, *flat, 1.0))))

    def corners(self) -> tuple[tuple[float, float], ...]:
        """The corners (false positives, false negatives) of the convex bound, from left to right."""
        lines = self._lines()
        slope, height = max(lines, key=lambda line: (line[1], line[0]))
        found = [(0.0, height)]
        while flatter := [((height - b) / (m - slope), -m, b) for m, b in lines if m > slope]:
            x, steepness, b = min(flatter)
            if x >= 1:
                break
            slope, height = -steepness, b
            found.append((x, height + slope * x))  # on the flatter line, where less cancels
        return (*found, (1.0, max(0.0, height + slope)))

    def error(self, prior: Number = Fraction(1, 2)) -> float:
        """The smallest chance of deciding wrongly, if Alice is in with the given prior chance; rounded down."""
        p = _chance(prior, "prior")
        return max(0.0, below(min((1 - p) * a + p * f for a, f in self.corners()), absolute=2.0**-50))

    def advantage(self) -> float:
        """The largest true-positive rate minus false-positive rate of any test, rounded up."""
        return min(1.0, above(1 - min(a + f for a, f in self.corners()), absolute=2.0**-50))

    def curve(self, points: int = 201) -> Curve:
        x = grid(points)
        return Curve(x, (("bound", tuple(self.fnr(a) for a in x)),), "false-positive rate", "least false-negative rate")


Promise = Number | Guarantee | Sequence[ApproxDP] | Tradeoff
"""A pure epsilon, a pure or approximate guarantee, several (epsilon, delta) points of one profile, or a trade-off."""


@singledispatch
def tradeoff(promise: Promise) -> Tradeoff:
    """The trade-off curve that a promise implies.

    >>> tradeoff(PureDP(1)) == tradeoff(1) == Tradeoff((ApproxDP(1, 0),))
    True
    """
    return Tradeoff((ApproxDP(up(nonnegative(promise, "epsilon")), 0),))


@tradeoff.register
def _(promise: Guarantee) -> Tradeoff:
    raise NotPromised(f"{promise!r} is not about odds yet.", fix="Convert it to one or several (epsilon, delta) first.")


@tradeoff.register
def _(promise: PureDP) -> Tradeoff:
    return Tradeoff((ApproxDP(promise.epsilon, 0),))


@tradeoff.register
def _(promise: ApproxDP) -> Tradeoff:
    return Tradeoff((promise,))


@tradeoff.register
def _(promise: Tradeoff) -> Tradeoff:
    return promise


@tradeoff.register(list)
@tradeoff.register(tuple)
def _(promise: Sequence[ApproxDP]) -> Tradeoff:
    return Tradeoff(tuple(promise))


# ---- Gaussian differential privacy ------------------------------------------------------------------------------


def mu(event: Event) -> float:
    """The mu of Gaussian differential privacy [DRS22].

    It is the distance of two unit normals that are as hard to distinguish.

    Guarantee: sensitivity / sigma, and the root of the sum of squares under composition; exact.
    Fails: for events that are not Gaussian noise, refused; see :func:`implied_mu` for pure promises.

    >>> mu(4 * GaussianNoise(sigma=2, sensitivity=1))
    1.0
    """
    return up(sqrt_up(_mu_squared(event)))


@singledispatch
def _mu_squared(event: Event) -> Fraction:
    raise NotPromised(
        f"A {event.kind} event is not Gaussian noise.", fix="Use implied_mu() on its pure epsilon, or its profile."
    )


@_mu_squared.register
def _(event: GaussianNoise) -> Fraction:
    return (event.sensitivity / event.sigma) ** 2


@_mu_squared.register
def _(event: Composed) -> Fraction:
    return sum((count * _mu_squared(part) for part, count in event.parts), Fraction(0))


def mu_delta(mu: Number, epsilon: Number) -> float:
    """The delta at epsilon of any mu-GDP mechanism, rounded up.

    >>> mu_delta(1, 1)
    0.1269...
    """
    return gaussian_delta(1, mu, epsilon)


def mu_epsilon(mu: Number, delta: Number) -> float:
    """The epsilon at delta of any mu-GDP mechanism, rounded up.

    >>> mu_epsilon(1, 1e-5)
    4.377...
    """
    return gaussian_epsilon(1, mu, delta)


def mu_for(epsilon: Number, delta: Number) -> float:
    """The largest mu whose Gaussian is (epsilon, delta)-DP, rounded down.

    Fails: to go the other way.  No single (epsilon, delta) with delta > 0 implies any mu.

    >>> mu_for(1, 1e-5)
    0.268...
    """
    return down(1 / gaussian_sigma(epsilon, delta, 1))


def implied_mu(promise: Promise) -> float:
    """The smallest mu such that every mechanism with this promise is mu-GDP, rounded up.

    A Gaussian trade-off curve is convex, so it lies below the broken line of the promise everywhere if it does at the
    corners.  At a corner (a, f) that means mu >= -z(a) - z(f), z the normal quantile.

    Guarantee: for pure epsilon, -2 z(1/(1 + e**eps)).
    Fails: when every point has delta > 0: such a promise allows certain detection, a Gaussian never does.

    >>> implied_mu(1)
    1.2320...
    """
    from scipy.special import ndtri

    curve = tradeoff(promise)
    if not any(p.delta == 0 and p.epsilon < FAR for p in curve.points):
        raise NotPromised("Only a promise with some delta = 0 implies a mu.", fix="Add the pure epsilon of the event.")
    inner = [(below(a), below(f)) for a, f in curve.corners()[1:-1]]
    return max((above(max(0.0, -float(ndtri(a)) - float(ndtri(f)))) for a, f in inner), default=0.0)


def mu_tradeoff(mu: Number, fpr: Number) -> float:
    """The smallest false-negative rate at a false-positive rate under mu-GDP, rounded down [DRS22].

    >>> mu_tradeoff(1, 0.05)
    0.7404...
    """
    from scipy.special import ndtr, ndtri

    a, shift = probability(fpr, "fpr"), up(positive(mu, "mu"))
    # From the nearer end: next to 1 a double has few digits for the remainder.
    point = -ndtri(up(a)) if 2 * a <= 1 else ndtri(down(1 - a))
    return max(0.0, below(float(ndtr(point - shift))))
