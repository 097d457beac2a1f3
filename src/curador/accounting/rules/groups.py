"""Group privacy: the guarantee of k people, or of k steps between databases, instead of one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import TypeVar, cast

from curador.accounting import events as ev
from curador.accounting.precise import dec, digits, fraction_above, lost_digits
from curador.errors import NotPromised
from curador.numbers import rational, up, whole
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

G = TypeVar("G", bound=Guarantee)

_HUGE = 10**6  # every delta in use exceeds 1 after a factor of e to half a million


def _times(n: int, x: float) -> float:
    return math.inf if x == math.inf else up(n * rational(x))


def _geometric(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """Bound delta (1 + e**eps + ... + e**((k-1) eps)), from above and at most 1."""
    if delta == 0 or epsilon == 0:
        return min(Fraction(1), k * delta)
    if k * epsilon > _HUGE:
        return Fraction(1)
    # Decimals: e**(k eps) leaves the floats long before delta e**(k eps) leaves the probabilities.
    with digits(2 * lost_digits(epsilon)):
        one = dec(epsilon).exp()
        return min(Fraction(1), fraction_above(dec(delta) * (one**k - 1) / (one - 1)))


@singledispatch
def group(guarantee: Guarantee, k: int) -> Guarantee:
    """The guarantee of k people together, from a guarantee about one.

    Guarantee:
        PureDP: k epsilon [DMNS06].
        ApproxDP: (k epsilon, delta (e**(k eps) - 1)/(e**eps - 1)), the sum in the proof of [Vad17 Lemma 2.2].
            The thesis's k e**k delta (Prop. 3.3.2) is below it for epsilon = 2, k = 3, and so is not promised.
        ZCDP: k**2 rho [BS16]; with a delta beside it, refused.
        RenyiDP: for 2**c >= k, order alpha becomes alpha / 2**c and epsilon 3**c epsilon, for orders of at least
            2**(c+1) [Mir17 Prop 2]; order infinity is pure, k epsilon.

    >>> group(PureDP(0.5), 3)
    PureDP(epsilon=1.5)
    >>> group(ApproxDP(2, 1e-6), 3)
    ApproxDP(epsilon=6.0, delta=6.298...e-05)
    >>> group(ZCDP(0.1), 3)
    ZCDP(rho=0.9, delta=0.0)
    >>> group(RenyiDP({8: 0.1, 16: 0.2}), 3)
    RenyiDP(curve=((2.0, 0.9), (4.0, 1.8)))
    """
    raise NotPromised(f"No group privacy is known for {guarantee!r}.", fix="Convert it to another guarantee first.")


@group.register
def _(guarantee: PureDP, k: int) -> PureDP:
    return PureDP(_times(whole(k, "k", 1), guarantee.epsilon))


@group.register
def _(guarantee: ApproxDP, k: int) -> ApproxDP:
    n, delta = whole(k, "k", 1), rational(guarantee.delta)
    if n == 1:
        return guarantee
    if guarantee.epsilon == math.inf:
        return ApproxDP(math.inf, 1.0 if delta else 0.0)
    return ApproxDP(_times(n, guarantee.epsilon), up(_geometric(rational(guarantee.epsilon), delta, n)))


@group.register
def _(guarantee: ZCDP, k: int) -> ZCDP:
    n = whole(k, "k", 1)
    if guarantee.delta and n > 1:
        raise NotPromised(
            "No group privacy is proved here for zCDP with a delta beside it.",
            fix="Convert to ApproxDP first, and take the group of that.",
        )
    return ZCDP(_times(n * n, guarantee.rho), guarantee.delta)


@group.register
def _(guarantee: RenyiDP, k: int) -> RenyiDP:
    n = whole(k, "k", 1)
    c = (n - 1).bit_length()
    return _stretch(guarantee, c, n)


def stable(guarantee: G, c: int) -> G:
    """The guarantee after a 2**c-stable map of the data (thesis, Proposition 4.1.3 and Table 5.1).

    A map is m-stable when neighbours go to databases at most m steps apart; the thesis prints this backwards.

    Guarantee: that of a group of 2**c: 2**c epsilon for PureDP, (alpha / 2**c, 3**c epsilon) for alpha >= 2**(c+1)
        for RenyiDP [Mir17 Prop 2].
    Fails: for smaller orders, which are left out; refused when none is left.

    >>> stable(RenyiDP({4: 0.1}), 1)
    RenyiDP(curve=((2.0, 0.3),))
    >>> stable(PureDP(0.5), 1)
    PureDP(epsilon=1.0)
    """
    return cast(G, group(guarantee, 2 ** whole(c, "c")))


def _stretch(guarantee: RenyiDP, c: int, k: int) -> RenyiDP:
    curve = {a / 2**c: _times(3**c, e) for a, e in guarantee.curve if 2 ** (c + 1) <= a < math.inf or c == 0}
    # The divergence of order infinity satisfies the triangle inequality itself.
    curve.update({a: _times(k, e) for a, e in guarantee.curve if a == math.inf})
    if not curve:
        raise NotPromised(
            f"A group of {k} needs Rényi orders of at least {2 ** (c + 1)}; the largest given is "
            f"{guarantee.curve[-1][0]:g}.",
            fix="Account at larger orders, or take the group of the event itself with for_group().",
        )
    return RenyiDP(curve)


# ---- events: the same noise, a statistic that can move k times as far ------------------------------------------


@singledispatch
def for_group(event: ev.Event, k: int) -> ev.Event:
    """The event as seen by a group of k people: the same noise, k times the sensitivity.

    Tighter than :func:`group` wherever the law of the noise is known, and exact for one-dimensional Laplace and
    Gaussian noise.

    Assumes: the sensitivity is that of one person; k people move the statistic by at most k times as much.  The parts
        of a composition are mechanisms that were run.  Coins that stand for the numbers which one person moves in one
        mechanism are not.  There k people may move more of them, each by less (docs/proofs/selection.md, 8).  In a
        Poisson sample a random number of them takes part (curador.accounting.theorems.group_samples).  There they are a
        group that joins or leaves as a whole, such as all records of a person.  So take the group of a sample, not a
        sample of the group, which would take all of them or none.
    Fails: for fixed-size samples and parallel events, where the parts of the members matter.  Also for a failure
        (ApproxLoss) beside other events, as of noisy counts above a threshold.  A group of k does not see it k times as
        often (docs/proofs/keys.md, 4).  Both are refused; take :func:`group` of the guarantee.

    >>> for_group(ev.GaussianNoise(sigma=2, sensitivity=1), 3)
    GaussianNoise(sigma=Fraction(2, 1), sensitivity=Fraction(3, 1), neighbors=<Neighbors.ADD_REMOVE: 'add-remove'>)
    """
    raise NotPromised(
        f"How a group of {k} sees a {event.kind} event is not its sensitivity times {k}.",
        fix="Account for the event first and take group() of that guarantee.",
    )


@for_group.register
def _(event: ev.LaplaceNoise, k: int) -> ev.LaplaceNoise:
    return ev.LaplaceNoise(event.scale, event.sensitivity * whole(k, "k", 1), event.neighbors)


@for_group.register
def _(event: ev.DiscreteLaplaceNoise, k: int) -> ev.DiscreteLaplaceNoise:
    return ev.DiscreteLaplaceNoise(event.scale, event.sensitivity * whole(k, "k", 1), event.neighbors)


@for_group.register
def _(event: ev.TruncatedLaplaceNoise, k: int) -> ev.TruncatedLaplaceNoise:
    return ev.TruncatedLaplaceNoise(event.scale, event.sensitivity * whole(k, "k", 1), event.bound, event.neighbors)


@for_group.register
def _(event: ev.GaussianNoise, k: int) -> ev.GaussianNoise:
    return ev.GaussianNoise(event.sigma, event.sensitivity * whole(k, "k", 1), event.neighbors)


@for_group.register
def _(event: ev.DiscreteGaussianNoise, k: int) -> ev.DiscreteGaussianNoise:
    squared = event.sensitivity_squared * whole(k, "k", 1) ** 2
    return ev.DiscreteGaussianNoise(event.variance, squared, event.dimension, event.neighbors)


@for_group.register
def _(event: ev.ExponentialChoice, k: int) -> ev.ExponentialChoice:
    # The same weights exp(eps s / 2 Delta), read with a score that moves k Delta.
    return ev.ExponentialChoice(event.epsilon * whole(k, "k", 1), event.neighbors)


@for_group.register
def _(event: ev.RandomizedAnswer, k: int) -> ev.Event:
    # Each of the k may have answered for themselves; one answer about all of them would lose less.
    return event * whole(k, "k", 1)


@for_group.register
def _(event: ev.PureLoss, k: int) -> ev.PureLoss:
    return ev.PureLoss(event.epsilon * whole(k, "k", 1), event.neighbors)


@for_group.register
def _(event: ev.ApproxLoss, k: int) -> ev.ApproxLoss:
    n = whole(k, "k", 1)
    if n == 1:
        return event
    return ev.ApproxLoss(n * event.epsilon, _geometric(event.epsilon, event.delta, n), event.neighbors)


@for_group.register
def _(event: ev.ZCDPLoss, k: int) -> ev.ZCDPLoss:
    return ev.ZCDPLoss(event.rho * whole(k, "k", 1) ** 2, event.neighbors)


@for_group.register
def _(event: ev.PoissonSampled, k: int) -> ev.Event:
    from curador.accounting.theorems.group_samples import group_sampled  # built on these rules

    return group_sampled(event, k)


@for_group.register
def _(event: ev.Composed, k: int) -> ev.Event:
    # Mechanisms that were run side by side each have their own group.  A failure may instead be a part of the bound on
    # one mechanism for one unit, and then does not bound k steps.
    several = sum(count for _, count in event.parts) > 1
    if whole(k, "k", 1) > 1 and several and any(isinstance(p, ev.ApproxLoss) and p.delta for p, _ in event.parts):
        raise NotPromised(
            f"How likely a group of {k} sees a failure beside other events does not follow from its delta for one.",
            fix="Account for the event first and take group() of that guarantee.",
        )
    return ev.Composed.of(*((for_group(part, k), count) for part, count in event.parts)) if event.parts else ev.NOTHING
