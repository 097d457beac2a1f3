"""The rule of each event: a pair of laws that dominates it, and a pair that it can attain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import TypeVar

from curador.accounting import events as ev
from curador.accounting.pld.cells import Cells, mirrored, sampled, swapped
from curador.accounting.pld.noise_pairs import IntegerNormal, Laplacian, Normal, Ramp
from curador.accounting.pld.pairs import Mixed, Pair, Points, Thinned
from curador.accounting.pld.sampled_normal import SampledNormal
from curador.accounting.precise import natural_log, nearest
from curador.accounting.rules.profiles import as_poisson, fixed_rate
from curador.errors import NotPromised
from curador.privacy import Neighbors

PairBounds = tuple[Pair, Pair]
"""A pair that dominates the event, and one that some mechanism described by the event attains."""

Orders = tuple[PairBounds, ...]
"""One entry if both orders of two neighbours look alike, else one each: with the unit first, then without it.

Under replace no unit is first.  The dominating pair is one for both orders, and equal to its exchange; only the
attained pairs may differ.  `extremes` refuses anything else."""


T = TypeVar("T")
_SILENT = Points(0.0, (0.0, 1.0, 0.0))  # both laws are the same
_TELLING = Points(0.0, (0.0, 0.0, 0.0), 1.0)  # they never give the same output
_LEAST, _MOST = Fraction(1, 10**100), Fraction(10**100)


def _tight(pair: Pair) -> Orders:
    return ((pair, pair),)


# ---- composed events ------------------------------------------------------------------------------------------


@singledispatch
def parts(event: ev.Event) -> tuple[tuple[ev.Event, int], ...]:
    """The events composed on the same data in the worst case, with their counts.

    >>> parts(2 * ev.LaplaceNoise(1, 1) + ev.Parallel((ev.PureLoss(1), ev.PureLoss(3))))
    ((LaplaceNoise(...), 2), (PureLoss(epsilon=Fraction(3, 1), ...), 1))
    """
    return ((event, 1),)


@parts.register
def _(event: ev.Composed) -> tuple[tuple[ev.Event, int], ...]:
    return tuple((e, n * count) for part, count in event.parts for e, n in parts(part))


@parts.register
def _(event: ev.PoissonSampled) -> tuple[tuple[ev.Event, int], ...]:
    return ((event, 1),) if taken(event)[1] else ()


@parts.register
def _(event: ev.Parallel) -> tuple[tuple[ev.Event, int], ...]:
    """The part that dominates all others; under replace two, since a unit may change its part.

    The two are then in opposite orders of the neighbours, which pairs under replace cover (:data:`Orders`).
    """
    left = list(event.parts)
    worst: list[ev.Event] = []
    while left and len(worst) < (2 if event.neighbors is Neighbors.REPLACE else 1):
        worst.append(left.pop(left.index(_worst(left))))
    return tuple((e, n) for part in worst for e, n in parts(part))


def _worst(events: list[ev.Event]) -> ev.Event:
    if len({type(e) for e in events}) == 1:
        keys = [strength(e) for e in events]
        if None not in keys:
            return events[keys.index(max(k for k in keys if k is not None))]
    if len(set(events)) == 1:
        return events[0]
    raise NotPromised(
        "Parallel events of different shapes have no single worst one.",
        fix="Account for each alone and take the larger epsilon, or describe all of them by PureLoss or ApproxLoss.",
    )


@singledispatch
def strength(event: ev.Event) -> Fraction | None:
    """A number that orders events of one type by domination; None if a single number cannot."""
    return None


@strength.register(ev.LaplaceNoise)
@strength.register(ev.ExponentialChoice)
@strength.register(ev.PureLoss)
def _(event: ev.LaplaceNoise | ev.ExponentialChoice | ev.PureLoss) -> Fraction:
    return event.epsilon


@strength.register
def _(event: ev.GaussianNoise) -> Fraction:
    return event.sensitivity / event.sigma


# ---- many different samples ------------------------------------------------------------------------------------

MANY = 128
"""The most different samples laid out one by one; beyond it, similar ones are bounded together."""

MANY_GROUPS = 16
"""The same limit for groups in samples, whose mixtures take a second each."""

Bounded = tuple[ev.Event, ev.Event, int]
"""An event that dominates some others, one that they dominate, and the number of these others."""


def bounded(found: Iterable[tuple[ev.Event, int]]) -> list[Bounded]:
    """Count the events; if there are more than :data:`MANY` samples, bound similar ones together.

    A higher rate, a stronger event of one type, and a larger group dominate in both orders of the neighbours
    (docs/proofs/pld.md, 7; docs/proofs/batches.md, 5).
    """
    alone: list[Bounded] = []
    samples: list[_Sample] = []
    groups: list[_Sample] = []
    for event, count in found:
        base, rate = taken(event)
        if base is event or rate in (0, 1) or not (size := strength(base)):
            alone.append((event, event, count))
        else:
            (groups if event.grouped else samples).append((event, count, base, rate, size))
    return [*alone, *_few(samples, MANY), *_few(groups, MANY_GROUPS)]


_Sample = tuple[ev.Event, int, ev.Event, Fraction, Fraction]


def _few(samples: list[_Sample], most: int) -> list[Bounded]:
    if len(samples) <= most:
        return [(e, e, n) for e, n, *_ in samples]
    places = [(_log2(rate), _log2(size), _log2(Fraction(_members(e)))) for e, *_, rate, size in samples]
    width, cells = 2.0**-14, dict[object, list[int]]()
    while not cells or len(cells) > most:
        width, cells = 2 * width, {}
        for i, place in enumerate(places):
            kind = type(samples[i][0]), type(samples[i][2]), samples[i][0].neighbors
            cells.setdefault((kind, *(math.floor(x / width) for x in place)), []).append(i)
    return [_together([samples[i] for i in cell]) for cell in cells.values()]


def _members(event: ev.Event) -> int:
    """The number of units of a sample."""
    return int(getattr(event, "size", 1))


def _together(samples: list[_Sample]) -> Bounded:
    ends: list[ev.Event] = []
    for most in (max, min):
        base = most(samples, key=lambda sample: sample[4])[2]
        rate = most(sample[3] for sample in samples)
        first = samples[0][0]
        if isinstance(first, ev.FixedSizeSampled):
            ends.append(ev.FixedSizeSampled(base, rate.numerator, rate.denominator))
        else:
            size = {"size": most(_members(sample[0]) for sample in samples)} if first.grouped else {}
            ends.append(replace(first, event=base, rate=rate, **size))  # type: ignore[type-var]
    return ends[0], ends[1], sum(sample[1] for sample in samples)


def _log2(x: Fraction) -> float:
    return math.log2(x.numerator) - math.log2(x.denominator)


# ---- noise -----------------------------------------------------------------------------------------------------


@singledispatch
def orders(event: ev.Event) -> Orders:
    """The pairs of laws that bound an event, for each order of two neighbours.

    Guarantee: delta of the event is at most that of the first of each two, for every epsilon, also under adaptive
        composition [ZDW22].  Some mechanism that the event describes attains the second.

    >>> orders(ev.GaussianNoise(sigma=2, sensitivity=1))
    ((Normal(mu=0.5), Normal(mu=0.5)),)
    """
    raise NotPromised(
        f"No pair of laws is known that dominates {type(event).__name__}.",
        fix="Use the Rényi curve (method='renyi'), or restate the event as PureLoss or ApproxLoss.",
    )


@orders.register
def _(event: ev.LaplaceNoise) -> Orders:
    e = nearest(event.epsilon)
    return _tight(Laplacian(e, 0.5, Ramp(e, -math.log(4) - e / 2)))


@orders.register
def _(event: ev.DiscreteLaplaceNoise) -> Orders:
    e, step = nearest(event.epsilon), nearest(2 / event.scale)
    inner = Ramp(nearest((event.sensitivity - 2) / event.scale), math.log(math.tanh(step / 4)) - e / 2, step)
    return _tight(Laplacian(e, 1 / (1 + math.exp(-step / 2)), inner if event.sensitivity > 1 else None))


@orders.register
def _(event: ev.TruncatedLaplaceNoise) -> Orders:
    shift, bound = event.sensitivity / event.scale, event.bound / event.scale
    if shift >= 2 * bound:
        return _tight(_TELLING)
    e, total = nearest(shift), -2 * math.expm1(-nearest(bound))
    half = nearest(min(shift, 2 * bound - shift))
    ramp = Ramp(half, -math.log(2 * total) - e / 2)
    if shift >= bound:
        # The other law has no mass on noise up to shift - bound, which is beyond the peak.
        lost = -math.expm1(-nearest(bound)) - math.expm1(-nearest(shift - bound))
        return _tight(Laplacian(e, 0.0, ramp, lost / total))
    ends = -math.expm1(nearest(shift - bound)) / total
    return _tight(Laplacian(e, ends, ramp, math.exp(nearest(shift - bound)) * -math.expm1(-e) / total))


@orders.register
def _(event: ev.GaussianNoise) -> Orders:
    return _normal(event.sensitivity**2 / event.sigma**2)


def _normal(variance: Fraction) -> Orders:
    if _LEAST < variance < _MOST:
        return _tight(Normal(math.sqrt(variance)))
    # Beyond what doubles can square, more noise and less noise still bound it.
    return ((Normal(math.sqrt(_LEAST)), _SILENT),) if variance <= _LEAST else ((_TELLING, Normal(math.sqrt(_MOST))),)


@orders.register
def _(event: ev.DiscreteGaussianNoise) -> Orders:
    if event.dimension > 1:
        raise NotPromised(
            "The worst direction of integer Gaussian noise in several dimensions is not known.",
            fix="Use the Rényi curve (method='renyi'), or one event for each coordinate.",
        )
    # The law is log-concave, so the largest shift is the worst one.
    return _tight(IntegerNormal(nearest(event.variance), math.isqrt(event.sensitivity_squared)))


# ---- choices and worst cases -----------------------------------------------------------------------------------


@orders.register
def _(event: ev.ExponentialChoice) -> Orders:
    # The profile (1 - exp(-(e - epsilon)/2))**2 / (1 - exp(-e)) dominates every choice of bounded range [DDR20]:
    # a ramp without atoms.  Two outcomes with losses +-e/2 are one such choice.
    e = nearest(event.epsilon)
    ramp = Ramp(e, -e / 2 - math.log(2) - math.log(-math.expm1(-e)))
    return ((Laplacian(e, 0.0, ramp), _response(event.epsilon / 2)),)


@orders.register
def _(event: ev.RandomizedAnswer) -> Orders:
    seldom, often = sorted((event.truth, (1 - event.truth) / (event.categories - 1)))
    equal = nearest(1 - seldom - often) if event.categories > 2 else 0.0
    if seldom == 0:
        return _tight(Points(0.0, (0.0, equal, 0.0), nearest(often)))
    return _tight(Points(natural_log(often / seldom), (nearest(often), equal, nearest(seldom))))


@orders.register
def _(event: ev.PureLoss) -> Orders:
    return _tight(_response(event.epsilon))


@orders.register
def _(event: ev.ApproxLoss) -> Orders:
    return _tight(_response(event.epsilon, event.delta))  # [KOV15]


def _response(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Points:
    e, kept = nearest(epsilon), nearest(1 - delta)
    seldom = math.exp(-e)
    return Points(e, (kept / (1 + seldom), 0.0, kept * seldom / (1 + seldom)), nearest(delta))


# ---- samples ---------------------------------------------------------------------------------------------------


@orders.register
def _(event: ev.PoissonSampled) -> Orders:
    base, rate = taken(event)
    if rate in (0, 1):
        return orders(base) if rate else _tight(_SILENT)
    if event.neighbors is Neighbors.REPLACE:
        # With probability 1 - rate both runs are equal.  Divergences are jointly convex, and an output that shows
        # whether the unit was taken attains the bound; the sensitivity under replace does not exclude that.
        return tuple(_both(lambda pair: Thinned(pair, rate), bounds) for bounds in orders(base))
    # [ZDW22, Theorem 11]
    return tuple(zip(*_both(lambda pair: amplified(pair, rate), _symmetric(base)), strict=True))


def _both(change: Callable[[Pair], T], bounds: PairBounds) -> tuple[T, T]:
    """Change both bounds alike; they stay one object if they are one, which marks a tight pair."""
    above, below = bounds
    changed = change(above)
    return changed, changed if below is above else change(below)


@singledispatch
def amplified(base: Pair, rate: Fraction) -> tuple[Pair, Pair]:
    """The base run on a sample: with the unit in the first database, then with the unit in the second."""
    return Mixed(base, rate, sampled), Mixed(base, rate, _add_cells, -math.log(1 - rate))


@amplified.register
def _(base: Normal, rate: Fraction) -> tuple[Pair, Pair]:
    return SampledNormal(base.mu, rate, added=False), SampledNormal(base.mu, rate, added=True)


@singledispatch
def taken(event: ev.Event) -> tuple[ev.Event, Fraction]:
    """The event on the innermost sample, and a unit's chance to be in it; samples may be nested."""
    return event, Fraction(1)


@taken.register
def _(event: ev.PoissonSampled) -> tuple[ev.Event, Fraction]:
    inner, rate = taken(event.event)
    return inner, rate * event.rate


@taken.register
def _(event: ev.FixedSizeSampled) -> tuple[ev.Event, Fraction]:
    return event.event, fixed_rate(event)


def _add_cells(cells: Cells, rate: Fraction) -> Cells:
    return swapped(sampled(cells, rate))


@orders.register
def _(event: ev.FixedSizeSampled) -> Orders:
    if event.neighbors is Neighbors.ADD_REMOVE:
        known = isinstance(event.event, ev.LaplaceNoise | ev.GaussianNoise | ev.DiscreteLaplaceNoise)
        # A sum attains it: all others have values at one end, and the unit at the other.
        return tuple((worst, low if known else _SILENT) for worst, low in orders(as_poisson(event)))
    rate = fixed_rate(event)
    if rate == 1:
        return orders(event.event)
    # [BBG18, Theorem 9] bounds both orders alike, for epsilon >= 0; a mechanism attains each, not both at once.
    above, below = _symmetric(event.event)
    worst = Mixed(above, rate, _mirror_cells)
    return tuple((worst, one) for one in amplified(below, rate))


def _mirror_cells(cells: Cells, rate: Fraction) -> Cells:
    return mirrored(sampled(cells, rate))


def _symmetric(event: ev.Event) -> PairBounds:
    found = orders(event)
    if len(found) > 1:
        raise NotPromised(
            f"No theorem here covers a sample of {type(event).__name__}.", fix="Sample the innermost event only."
        )
    return found[0]


@orders.register
def _(event: ev.Composed) -> Orders:
    """Compose several releases about one sample: known if there is one, or if all are Gaussian."""
    inside = parts(event)
    if not inside:
        return _tight(_SILENT)
    if len(inside) == 1 and inside[0][1] == 1:
        return orders(inside[0][0])
    pairs = [(*_symmetric(e), n) for e, n in inside]
    if all(above.variance and above is below for above, below, _ in pairs):
        return _tight(Normal(math.sqrt(sum(n * pair.variance for pair, _, n in pairs))))
    raise NotPromised(
        "Several releases about one sample have no closed form here, unless all are Gaussian.",
        fix="Account for each release as sampled on its own only if it draws its own sample; else use method='renyi'.",
    )


@orders.register
def _(event: ev.Parallel) -> Orders:
    return orders(ev.Composed.of(*parts(event)))
