"""Batches as training draws them: shuffled epochs, balls in bins, and capped Poisson samples.

Their costs and proofs: docs/proofs/batches.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from curador.accounting.events import Event, PoissonSampled, set_made_of
from curador.accounting.events.base import LARGEST_LOSS
from curador.accounting.pld.pairs import Pair, Points
from curador.accounting.pld.rules import Orders, orders
from curador.accounting.precise import natural_log, nearest, upper_log
from curador.accounting.rules.groups import for_group
from curador.accounting.rules.profiles import has_samples, log_delta_rule, pure_epsilon
from curador.accounting.rules.renyi_rules import renyi_rule
from curador.accounting.theorems.allocation import allocated_renyi
from curador.accounting.theorems.blends import Blend
from curador.accounting.theorems.law_pair import FinitePair
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import above, probability, rational, up, whole
from curador.privacy import Neighbors

_SILENT = Points(0.0, (0.0, 1.0, 0.0))
_BINS = np.linspace(-4.0, 12.0, 129)  # of the largest of some noisy numbers, in units of the noise


def _inner(event: Event) -> Event:
    if not isinstance(event, Event):
        raise InvalidParameter(f"A batch runs an event, got {event!r}.", fix="Pass the event of one step.")
    if has_samples(event):
        raise InvalidParameter(
            "No theorem here covers a sample inside a batch.", fix="Let a step be run on all units of its batch."
        )
    return event


def _number(x: int, name: str) -> int:
    """A number of batches or units that doubles hold, too."""
    found = whole(x, name, 1)
    if found > LARGEST_LOSS:
        raise InvalidParameter(f"{name} is beyond 1e100.", fix="Give the number that is meant.")
    return found


@dataclass(frozen=True)
class ShuffledBatches(Event, kind="shuffled-batches"):
    """An epoch of shuffled units, cut into ``batches`` of fixed size; the event is run on each in turn.

    No amplification is promised: an epoch costs as much as one run with the unit's batch known.  With shuffled batches
    the true cost can be far above that of Poisson samples [CGKKMSZ24], and the lower end of a bracket is theirs.

    Assumes: under add-remove, or in a part of the data, the number of units may differ.  Then a public number of
        places is filled with blanks.  A new unit takes the place of a blank, and the batches keep their sizes.

    >>> from curador import accounting as acc
    >>> from curador.accounting.events import GaussianNoise
    >>> epoch = ShuffledBatches(GaussianNoise(sigma=1, sensitivity=1), batches=100)
    >>> round(acc.epsilon(3 * epoch, 1e-5).upper, 2) == round(acc.epsilon(3 * epoch.event, 1e-5).upper, 2)
    True
    """

    event: Event
    batches: int
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(self, [_inner(self.event)], batches=_number(self.batches, "batches"))


@dataclass(frozen=True)
class BallsInBins(Event, kind="balls-in-bins"):
    """An epoch in which each unit goes to one of ``batches`` at random; the event is run on each in turn.

    Under add-remove, Gaussian noise is amplified almost as by Poisson samples of rate 1 / batches [CGHLKKMSZ25, FS25].
    Any other event costs as much as one run.

    >>> from curador import accounting as acc
    >>> from curador.accounting.events import GaussianNoise
    >>> epoch = BallsInBins(GaussianNoise(sigma=1, sensitivity=1), batches=100)
    >>> acc.epsilon(10 * epoch, 1e-5).upper < acc.epsilon(10 * epoch.event, 1e-5).upper / 4
    True
    """

    slow: ClassVar[bool] = True

    event: Event
    batches: int
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(self, [_inner(self.event)], batches=_number(self.batches, "batches"))


@dataclass(frozen=True)
class TruncatedPoissonSampled(Event, kind="truncated-poisson-sampled"):
    """The event run on a Poisson sample of at most ``cap`` units: of a larger sample, ``cap`` units stay.

    Those that stay are drawn at random.

    Assumes: no database has more than ``population`` units, a public number.

    >>> from curador import accounting as acc
    >>> from curador.accounting.events import GaussianNoise
    >>> noise = GaussianNoise(sigma=1, sensitivity=1)
    >>> capped = TruncatedPoissonSampled(noise, rate="0.01", cap=180, population=10_000)
    >>> round(acc.epsilon(1000 * capped, 1e-5).upper - acc.epsilon(1000 * PoissonSampled(noise, "0.01"), 1e-5).upper, 3)
    0.0
    """

    event: Event
    rate: Fraction
    cap: int
    population: int
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(
            self,
            [_inner(self.event)],
            rate=probability(self.rate, "rate"),
            cap=whole(self.cap, "cap", 1),
            population=_number(self.population, "population"),
        )

    @property
    def plain(self) -> PoissonSampled:
        """The sample without the cap."""
        return PoissonSampled(self.event, self.rate)

    @property
    def pushed(self) -> PoissonSampled:
        """A full batch, where a unit that comes in pushes another out: the sample moves by two units."""
        return PoissonSampled(for_group(self.event, 2), self.rate)

    @property
    def overflow(self) -> Fraction:
        """The probability that the others fill the batch, from above.

        >>> from curador.accounting.events import GaussianNoise
        >>> float(TruncatedPoissonSampled(GaussianNoise(1, 1), "0.01", 180, 10_000).overflow) < 1e-12
        True
        """
        return upper_tail(self.population - 1, self.rate, self.cap)


def upper_tail(n: int, rate: Fraction, least: int) -> Fraction:
    """P(X >= least) for X binomial, from above; 1 where ``least`` is not well above the mean.

    Guarantee: the first term times a geometric series.  The term comes from logarithms of factorials whose rounding is
        charged; the ratio of the series is the first ratio of two terms, and later ratios only fall.

    >>> float(upper_tail(10, Fraction(1, 2), 9)), 11 / 1024
    (0.0108..., 0.0107...)
    """
    if least > n or rate == 0:
        return Fraction(0)
    ratio = (n - least) * rate / ((least + 1) * (1 - rate)) if rate < 1 else Fraction(1)
    if up(ratio) >= 1:
        return Fraction(1)
    parts = [math.lgamma(n + 1), -math.lgamma(least + 1), -math.lgamma(n - least + 1)]
    parts += [least * natural_log(rate), (n - least) * natural_log(1 - rate)]
    log = above(sum(parts) - math.log1p(-nearest(ratio)), 0.0, 2.0**-45 * sum(map(abs, parts)) + 2.0**-40)
    # The smallest double stands for smaller probabilities.
    return min(Fraction(1), rational(above(math.exp(max(log, -700.0)), 2.0**-40)) if log < 0 else Fraction(1))


# ---- rules -------------------------------------------------------------------------------------------------------


@renyi_rule.register
def _(event: ShuffledBatches, alpha: Fraction) -> float:
    return renyi_rule(event.event, alpha)


@renyi_rule.register
def _(event: BallsInBins, alpha: Fraction) -> float:
    whole_run = renyi_rule(event.event, alpha)
    variance = _normal_variance(event)
    if event.batches == 1 or variance is None:
        return whole_run
    return min(whole_run, allocated_renyi(math.sqrt(variance), event.batches, alpha))


def _normal_variance(event: BallsInBins | ShuffledBatches) -> float | None:
    """The mu**2 of the event, if that is Gaussian noise under add-remove."""
    if event.neighbors is not Neighbors.ADD_REMOVE:
        return None
    try:
        found = orders(event.event)
    except NotPromised:
        return None
    return found[0][0].variance or None if len(found) == 1 and found[0][0] is found[0][1] else None


@renyi_rule.register
def _(event: TruncatedPoissonSampled, alpha: Fraction) -> float:
    few, many = renyi_rule(event.plain, alpha), 0.0
    if not event.overflow:
        return few
    many = renyi_rule(event.pushed, alpha)
    if math.inf in (few, many):
        return math.inf
    # exp((alpha - 1) D) is jointly convex: the mean over whether the batch is full.
    power, t = nearest(alpha - 1), nearest(event.overflow)
    x, y = power * few, power * max(few, many)
    moment = x + math.log1p(t * math.expm1(y - x)) if y - x < 600 else y
    return min(max(few, many), above(moment / power))


@pure_epsilon.register(ShuffledBatches)
@pure_epsilon.register(BallsInBins)
def _(event: ShuffledBatches | BallsInBins) -> Fraction | float:
    return pure_epsilon(event.event)


@pure_epsilon.register
def _(event: TruncatedPoissonSampled) -> Fraction | float:
    return max(pure_epsilon(event.plain), pure_epsilon(event.pushed)) if event.overflow else pure_epsilon(event.plain)


@log_delta_rule.register(ShuffledBatches)
@log_delta_rule.register(BallsInBins)
def _(event: ShuffledBatches | BallsInBins, epsilon: Fraction) -> float:
    return log_delta_rule(event.event, epsilon)


@log_delta_rule.register
def _(event: TruncatedPoissonSampled, epsilon: Fraction) -> float:
    few = log_delta_rule(event.plain, epsilon)
    if not event.overflow:
        return few
    many = max(few, log_delta_rule(event.pushed, epsilon))
    return upper_log(float(np.logaddexp(few, many + math.log(nearest(event.overflow)))))


# ---- pairs of laws -----------------------------------------------------------------------------------------------


@orders.register
def _(event: ShuffledBatches) -> Orders:
    found = orders(event.event)
    variance = _normal_variance(event)
    if event.batches == 1:
        return found
    if variance is None:
        return tuple((worst, _SILENT) for worst, _ in found)
    # All others move their batch against the unit, so that its place shows twice [CGKKMSZ24].
    mu, worst = math.sqrt(variance), found[0][0]
    return tuple((worst, low) for low in largest_of(2 * mu, mu, event.batches))


@orders.register
def _(event: BallsInBins) -> Orders:
    found = orders(event.event)
    variance = _normal_variance(event)
    if event.batches == 1:
        return found
    if variance is None:
        return tuple((worst, _SILENT) for worst, _ in found)
    return tuple((found[0][0], low) for low in largest_of(math.sqrt(variance), 0.0, event.batches))


def largest_of(one: float, other: float, batches: int) -> tuple[Pair, Pair]:
    """The largest of some noisy numbers, where one is raised by ``one`` or by ``other``; in both orders.

    Guarantee: a function of the outputs, so it is never easier to tell apart than they are.
    """
    from scipy.special import log_ndtr

    def masses(shift: float) -> list[float]:
        log_below = log_ndtr(_BINS - shift) + (batches - 1) * log_ndtr(_BINS)
        beyond, inside = -np.expm1(log_below), -np.exp(log_below[1:]) * np.expm1(log_below[:-1] - log_below[1:])
        return [float(np.exp(log_below[0])), *inside.tolist(), float(beyond[-1])]

    p, q = (_exact(masses(x)) for x in (one, other))
    both = [(a, b) for a, b in zip(p, q, strict=True) if a and b]
    lost = [(Fraction(1) - sum(a for a, _ in both), Fraction(1) - sum(b for _, b in both))]  # together, nearly nothing
    forward = FinitePair(tuple(both + [pair for pair in lost if min(pair) > 0]), slack=1e-9)
    return forward, FinitePair(tuple((b, a) for a, b in forward.masses), slack=1e-9)


def _exact(masses: list[float]) -> list[Fraction]:
    """The masses as fractions that add up to less than 1; those too small to be known well are left out."""
    return [Fraction(x * (1 - 2.0**-30)) if x > 1e-30 else Fraction(0) for x in masses]


@orders.register
def _(event: TruncatedPoissonSampled) -> Orders:
    few, full = orders(event.plain), event.overflow
    if not full or event.rate in (0, 1):
        return few if not full else tuple((worst, _SILENT) for worst, _ in orders(event.pushed))
    if full == 1:
        return tuple((worst, _SILENT) for worst, _ in orders(event.pushed))
    many = orders(event.pushed)
    # With others that add nothing, the unit is in the batch this often at least.
    inside = orders(PoissonSampled(event.event, event.rate * (1 - full)))
    return tuple(
        (Blend(((1 - full, a), (full, b))), low) for (a, _), (b, _), (_, low) in zip(few, many, inside, strict=True)
    )
