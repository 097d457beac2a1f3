"""Events of moderate size, and what they cost exactly: oracles that share no code with the accountants.

They are mpmath: sums over the atoms of discrete pairs of laws, and best thresholds for noise with a log-concave
density, where the ratio of the two densities is monotone, so that the best test of one law against the other is a
threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Any

import mpmath
from hypothesis import strategies as st

from curador.accounting import events as ev
from curador.accounting.events import Event
from curador.accounting.rules.groups import for_group
from curador.numbers import rational
from curador.privacy import Neighbors
from tests import strategies

MP = mpmath.mp.clone()
MP.dps = 40
TINY = MP.mpf(10) ** -30  # what the oracles themselves may be off by
Real = Any
"""An mpmath number; mpmath has no types."""

# ---- events of moderate size ---------------------------------------------------------------------------------


def between(low: Any, high: Any, denominator: int = 20) -> st.SearchStrategy[Fraction]:
    return st.fractions(Fraction(low), Fraction(high), max_denominator=denominator)


RATES = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
COUNTS = st.integers(1, 6)


def discrete(about: Neighbors) -> strategies.Events:
    """Events whose worst pair of laws has atoms only."""
    kind = st.just(about)
    return {
        ev.DiscreteLaplaceNoise: st.builds(ev.DiscreteLaplaceNoise, between("1/2", 10), st.integers(1, 4), kind),
        ev.RandomizedAnswer: st.builds(ev.RandomizedAnswer, st.integers(2, 5), between("1/20", "19/20"), kind),
        ev.PureLoss: st.builds(ev.PureLoss, between("1/20", 3), kind),
        ev.ApproxLoss: st.builds(
            ev.ApproxLoss, between(0, 3), st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 100)]), kind
        ),
    }


def continuous(about: Neighbors) -> strategies.Events:
    """Noise with a log-concave density."""
    kind = st.just(about)
    return {
        ev.LaplaceNoise: st.builds(ev.LaplaceNoise, between("1/3", 20), between("1/2", 3), kind),
        ev.TruncatedLaplaceNoise: st.builds(
            ev.TruncatedLaplaceNoise, between("1/3", 20), between("1/2", 3), between(1, 40), kind
        ),
        ev.GaussianNoise: st.builds(ev.GaussianNoise, between("1/2", 20), between("1/2", 3), kind),
    }


def vague(about: Neighbors) -> strategies.Events:
    """Events of which no single worst pair is known, and the integer Gaussian, whose atoms are endless."""
    kind = st.just(about)
    return {
        ev.DiscreteGaussianNoise: st.builds(
            ev.DiscreteGaussianNoise, between("1/2", 40), st.integers(1, 9), st.integers(1, 2), kind
        ),
        ev.ExponentialChoice: st.builds(ev.ExponentialChoice, between("1/20", 3), kind),
        ev.ZCDPLoss: st.builds(ev.ZCDPLoss, between("1/100", 2, 100), kind),
    }


def simple(about: Neighbors) -> strategies.Events:
    return discrete(about) | continuous(about) | vague(about)


def made(about: Neighbors) -> strategies.Events:
    inner = st.one_of(*simple(about).values())
    sizes = st.tuples(st.integers(1, 50), st.integers(50, 1000))
    return {
        ev.PoissonSampled: st.builds(ev.PoissonSampled, inner, RATES),
        ev.FixedSizeSampled: st.builds(lambda e, s: ev.FixedSizeSampled(e, *s), inner, sizes),
        ev.Parallel: st.lists(inner, min_size=1, max_size=3).map(lambda parts: ev.Parallel(tuple(parts))),
        ev.Composed: st.lists(st.tuples(inner, COUNTS), min_size=1, max_size=3).map(lambda x: ev.Composed.of(*x)),
    }


def one_of(kinds: Callable[[Neighbors], strategies.Events]) -> st.SearchStrategy[Event]:
    return strategies.neighbors.flatmap(lambda about: st.one_of(*kinds(about).values()))


ANY = one_of(lambda about: simple(about) | made(about))
EPSILONS = between(0, 3)
DELTAS = st.sampled_from(["0.05", "1e-3", "1e-6", "1e-12"])
ORDERS = st.sampled_from([Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(13, 2), Fraction(40)])


# ---- oracles: atoms ------------------------------------------------------------------------------------------

Atoms = list[tuple[Real, Real]]
"""What two neighbours give to each outcome."""


def real(x: Fraction | float) -> Real:
    """A float stands for the decimal it prints as."""
    if x == math.inf:
        return MP.inf
    y = rational(x)
    return MP.mpf(y.numerator) / y.denominator


@singledispatch
def pairs(event: Event) -> list[Atoms]:
    """The worst pairs of laws of an event with atoms only, for each order of two neighbours."""
    raise NotImplementedError(event.kind)


@pairs.register
def _(event: ev.DiscreteLaplaceNoise) -> list[Atoms]:
    s, r = event.sensitivity, MP.exp(-1 / real(event.scale))
    masses: dict[int, list[Real]] = {}
    far = math.ceil(110 * event.scale)  # what is left out is below 1e-47
    weights = [(1 - r) / (1 + r) * r**x for x in range(far + s + 1)]
    for x in range(-far, far + s + 1):
        p, q = weights[min(abs(x), far + s)], weights[min(abs(x - s), far + s)]
        both = masses.setdefault(abs(x - s) - abs(x), [MP.zero, MP.zero])
        both[0], both[1] = both[0] + p, both[1] + q
    return [[(p, q) for p, q in masses.values()]]


@pairs.register
def _(event: ev.RandomizedAnswer) -> list[Atoms]:
    truth, lie = real(event.truth), real(1 - event.truth) / (event.categories - 1)
    return [[(truth, lie), (lie, truth)] + [(lie, lie)] * (event.categories - 2)]


@pairs.register
def _(event: ev.PureLoss) -> list[Atoms]:
    return pairs(ev.ApproxLoss(event.epsilon, Fraction(0)))


@pairs.register
def _(event: ev.ApproxLoss) -> list[Atoms]:
    e, d = MP.exp(real(event.epsilon)), real(event.delta)
    truth, lie = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    return [[(d, MP.zero), (truth, lie), (lie, truth), (MP.zero, d)]]


@pairs.register
def _(event: ev.PoissonSampled) -> list[Atoms]:
    (inner,), rate = pairs(event.event), real(event.rate)
    if event.neighbors is Neighbors.REPLACE:  # an output that shows whether the unit was taken
        return [[(1 - rate, 1 - rate), *((rate * p, rate * q) for p, q in inner)]]
    return mixed(inner, rate)


@pairs.register
def _(event: ev.FixedSizeSampled) -> list[Atoms]:
    return mixed(pairs(_moved(event))[0], real(Fraction(event.batch, event.population)))


def _moved(event: ev.FixedSizeSampled) -> Event:
    """What is run on the batch: under add-remove a unit more takes the place of another, and the batch moves by two."""
    return for_group(event.event, 2) if event.neighbors is Neighbors.ADD_REMOVE else event.event


def mixed(inner: Atoms, rate: Real) -> list[Atoms]:
    taken = [(rate * p + (1 - rate) * q, q) for p, q in inner]
    return [taken, [(q, p) for p, q in taken]]


@pairs.register
def _(event: ev.Composed) -> list[Atoms]:
    found = [(pairs(part), count) for part, count in event.parts]
    many = max(len(orders) for orders, _ in found)
    return [powers([(orders[min(i, len(orders) - 1)], count) for orders, count in found]) for i in range(many)]


def powers(factors: list[tuple[Atoms, int]]) -> Atoms:
    """The atoms of a product of powers, equal ones joined."""
    total = [(MP.one, MP.one)]
    for atoms, count in factors:
        # How often each atom occurs decides the product; the last one takes what is left.
        table: list[tuple[int, Real, Real]] = [(count, MP.one, MP.one)]
        for p, q in atoms[:-1]:
            table = [
                (left - k, a * MP.binomial(left, k) * p**k, b * MP.binomial(left, k) * q**k)
                for left, a, b in table
                for k in range(left + 1)
            ]
        p, q = atoms[-1]
        power = [(a * p**left, b * q**left) for left, a, b in table]
        total = [(a * c, b * d) for a, b in total for c, d in power]
    return total


# ---- oracles: best thresholds --------------------------------------------------------------------------------

Noise = tuple[Callable[[Real], Real], Callable[[Real], Real], Real]
"""The distribution function and the density of centred noise, and the shift."""


@singledispatch
def noise(event: Event) -> Noise:
    raise NotImplementedError(event.kind)


@noise.register
def _(event: ev.LaplaceNoise) -> Noise:
    b = real(event.scale)
    return (
        lambda x: MP.exp(x / b) / 2 if x < 0 else 1 - MP.exp(-x / b) / 2,
        lambda x: MP.exp(-abs(x) / b) / (2 * b),
        real(event.sensitivity),
    )


@noise.register
def _(event: ev.TruncatedLaplaceNoise) -> Noise:
    whole, density, shift = noise(ev.LaplaceNoise(event.scale, event.sensitivity))
    bound = real(event.bound)
    kept = 1 - 2 * whole(-bound)
    return (
        lambda x: (whole(max(-bound, min(x, bound))) - whole(-bound)) / kept,
        lambda x: density(x) / kept if abs(x) <= bound else MP.zero,
        shift,
    )


@noise.register
def _(event: ev.GaussianNoise) -> Noise:
    s = real(event.sigma)
    return lambda x: MP.ncdf(x / s), lambda x: MP.npdf(x / s) / s, real(event.sensitivity)


def threshold(event: Event, rate: Real, epsilon: Real, *, with_unit: bool) -> Real:
    """The hockey-stick divergence of noise on a sample: the best of all half-lines, found by bisection."""
    cdf, density, shift = noise(event)
    bound = MP.exp(epsilon)

    def gain(t: Real) -> Real:
        here, there = cdf(t), cdf(t - shift)
        taken = rate * here + (1 - rate) * there
        return taken - bound * there if with_unit else (1 - there) - bound * (1 - taken)

    def ratio(t: Real) -> Real:
        here, there = density(t), density(t - shift)
        likely = MP.inf if there == 0 and (here or t < 0) else here / there if there else MP.zero
        taken = 1 - rate + rate * likely
        return taken if with_unit else taken * bound * bound  # {taken < 1/bound} is where the other order gains

    low, high = -shift, 2 * shift
    while ratio(low) < bound and low > -(10**6):
        low *= 2
    while ratio(high) > bound and high < 10**6:
        high *= 2
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) >= bound else (low, middle)
    return max(MP.zero, gain(low), gain(high))


# ---- oracles: delta and divergence of any event that has one ---------------------------------------------------


def exact_delta(event: Event, epsilon: Fraction | float) -> Real:
    """The smallest delta of the worst mechanism that an event describes; an infinite epsilon promises nothing."""
    if epsilon == math.inf:
        return MP.zero
    e = real(epsilon)
    try:
        worst = pairs(event)
    except NotImplementedError:
        inner, rate, thinned = sampling(event)
        return thinned * max(threshold(inner, rate, e, with_unit=side) for side in (True, False))
    return max(MP.fsum(max(MP.zero, p - MP.exp(e) * q) for p, q in atoms) for atoms in worst)


@singledispatch
def sampling(event: Event) -> tuple[Event, Real, Real]:
    """What noise is added on a sample, the chance of the unit being in it, and the chance that anything is learnt."""
    return event, MP.one, MP.one


@sampling.register
def _(event: ev.PoissonSampled) -> tuple[Event, Real, Real]:
    rate = real(event.rate)
    return (event.event, rate, MP.one) if event.neighbors is Neighbors.ADD_REMOVE else (event.event, MP.one, rate)


@sampling.register
def _(event: ev.FixedSizeSampled) -> tuple[Event, Real, Real]:
    return _moved(event), real(Fraction(event.batch, event.population)), MP.one


def exact_renyi(event: Event, alpha: Fraction) -> Real:
    """The Rényi divergence of the worst pair, summed or integrated."""
    a = real(alpha)
    try:
        worst = pairs(event)
    except NotImplementedError:
        return smooth_renyi(event, a)
    if any(q == 0 < p for atoms in worst for p, q in atoms):
        return MP.inf
    return max(MP.log(MP.fsum(p**a * q ** (1 - a) for p, q in atoms if p)) / (a - 1) for atoms in worst)


def smooth_renyi(event: Event, a: Real) -> Real:
    inner, rate, thinned = sampling(event)
    _, density, shift = noise(inner)
    width = 1 / density(MP.zero)  # a few deviations
    ends = [-(a + 8) * shift - 30 * width, MP.zero, shift, (a + 8) * shift + 30 * width]

    def moment(with_unit: bool) -> Real:
        def integrand(x: Real) -> Real:
            p, q = density(x), density(x - shift)
            taken = rate * p + (1 - rate) * q
            return taken**a * q ** (1 - a) if with_unit else q**a * taken ** (1 - a)

        panels = [MP.linspace(lo, hi, 9) for lo, hi in pairwise(ends)]
        return MP.fsum(MP.quad(integrand, panel) for panel in panels)

    return max(MP.log(1 - thinned + thinned * moment(side)) / (a - 1) for side in (True, False))


def at_most(x: Real, y: Real) -> bool:
    """x <= y, up to what the oracles may be off by."""
    return bool(x <= y * (1 + TINY) + TINY)
