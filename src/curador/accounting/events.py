"""Events: descriptions of what was run, without data, from which any accountant can bound the privacy loss.

An event names the law of the noise, the most the protected statistic can move between neighbours, and who
those neighbours are.  Nothing else about the release is needed to bound its privacy loss, now or later.
Parameters are exact fractions.  Repetition is written ``n * event`` and lives only in :class:`Composed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import ClassVar

from curador.errors import InvalidParameter
from curador.numbers import nonnegative, positive, probability, set_fields, whole
from curador.privacy import Neighbors

_KINDS: dict[str, type[Event]] = {}


class Event:
    """One run of a mechanism on private data; each subclass describes one kind of mechanism."""

    kind: ClassVar[str]
    neighbors: Neighbors

    def __init_subclass__(cls, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        _KINDS[kind] = cls

    def __add__(self, other: Event) -> Event:
        if not isinstance(other, Event):
            return NotImplemented
        return compose(self, other)

    def __mul__(self, count: int) -> Event:
        return Composed.of((self, whole(count, "count")))

    __rmul__ = __mul__

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :func:`event_from_json` reads back exactly."""
        own = (f for f in fields(self) if f.init)  # type: ignore[arg-type]
        return {"kind": self.kind, **{f.name: _plain(getattr(self, f.name)) for f in own}}


def _plain(x: object) -> object:
    if isinstance(x, Event):
        return x.to_json()
    if isinstance(x, Fraction):
        return str(x)
    if isinstance(x, tuple):
        return [_plain(y) for y in x]
    return x


def event_from_json(data: Mapping[str, object]) -> Event:
    """Read back what :meth:`Event.to_json` wrote.

    >>> e = LaplaceNoise(scale=2, sensitivity=1)
    >>> event_from_json(e.to_json()) == e
    True
    """
    body = dict(data)
    kind = body.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidParameter(f"No event is called {kind!r}.", fix="Upgrade Curador, or check the file.")
    try:
        return _KINDS[kind](**{name: _read(x) for name, x in body.items()})
    except InvalidParameter:
        raise
    except (TypeError, ValueError):
        raise InvalidParameter(f"Not the fields of a {kind} event: {sorted(body)}.", fix="Use to_json().") from None


def _read(x: object) -> object:
    if isinstance(x, Mapping):
        return event_from_json(x)
    if isinstance(x, list):
        return tuple(_read(y) for y in x)
    return x


def _set(event: Event, **checked: object) -> None:
    """Set the checked fields of an event, and read its neighbours."""
    set_fields(event, **checked)
    set_fields(event, neighbors=Neighbors(event.neighbors))


# ---- noise added to a number or a vector -------------------------------------------------------------------


@dataclass(frozen=True)
class LaplaceNoise(Event, kind="laplace"):
    """Continuous Laplace noise, or a rounding of it, on a statistic of given l1 sensitivity.

    Vectors need no dimension here: a shift of total size s spread over coordinates is never easier to see
    than the whole shift in one of them (docs/proofs/vector-laplace.md).

    >>> LaplaceNoise(scale=2, sensitivity=1).epsilon
    Fraction(1, 2)
    """

    scale: Fraction
    sensitivity: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, scale=positive(self.scale, "scale"), sensitivity=positive(self.sensitivity, "sensitivity"))

    @property
    def epsilon(self) -> Fraction:
        return self.sensitivity / self.scale


@dataclass(frozen=True)
class DiscreteLaplaceNoise(Event, kind="discrete-laplace"):
    """Laplace noise on the integers (two-sided geometric); the sensitivity is a whole number."""

    scale: Fraction
    sensitivity: int
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, scale=positive(self.scale, "scale"), sensitivity=whole(self.sensitivity, "sensitivity", 1))

    @property
    def epsilon(self) -> Fraction:
        return self.sensitivity / self.scale


@dataclass(frozen=True)
class TruncatedLaplaceNoise(Event, kind="truncated-laplace"):
    """Laplace noise conditioned on |noise| <= bound: no pure epsilon, an exact (epsilon, delta)."""

    scale: Fraction
    sensitivity: Fraction
    bound: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(
            self,
            scale=positive(self.scale, "scale"),
            sensitivity=positive(self.sensitivity, "sensitivity"),
            bound=positive(self.bound, "bound"),
        )


@dataclass(frozen=True)
class GaussianNoise(Event, kind="gaussian"):
    """Continuous Gaussian noise, or a rounding of it, on a statistic of given l2 sensitivity."""

    sigma: Fraction
    sensitivity: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, sigma=positive(self.sigma, "sigma"), sensitivity=positive(self.sensitivity, "sensitivity"))


@dataclass(frozen=True)
class DiscreteGaussianNoise(Event, kind="discrete-gaussian"):
    """Gaussian noise on the integers; ``variance`` is the parameter sigma**2 of exp(-x**2 / (2 sigma**2)).

    The sensitivity is given squared, so that it stays rational for vectors.  In one dimension the exact
    profile is known; in more, only the Rényi curve is (CKS20).
    """

    variance: Fraction
    sensitivity_squared: int
    dimension: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(
            self,
            variance=positive(self.variance, "variance"),
            sensitivity_squared=whole(self.sensitivity_squared, "sensitivity_squared", 1),
            dimension=whole(self.dimension, "dimension", 1),
        )


# ---- choices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExponentialChoice(Event, kind="exponential"):
    """The exponential mechanism: pure epsilon, and of bounded range epsilon (DR19)."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=positive(self.epsilon, "epsilon"))


@dataclass(frozen=True)
class RandomizedAnswer(Event, kind="randomized-response"):
    """One of ``categories`` answers: the true one with probability ``truth``, else a uniform other one."""

    categories: int
    truth: Fraction
    neighbors: Neighbors = Neighbors.REPLACE

    def __post_init__(self) -> None:
        _set(self, categories=whole(self.categories, "categories", 2), truth=probability(self.truth, "truth"))


# ---- mechanisms known only by their guarantee --------------------------------------------------------------


@dataclass(frozen=True)
class PureLoss(Event, kind="pure"):
    """Anything that is epsilon-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=positive(self.epsilon, "epsilon"))


@dataclass(frozen=True)
class ApproxLoss(Event, kind="approximate"):
    """Anything that is (epsilon, delta)-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=probability(self.delta, "delta"))


@dataclass(frozen=True)
class ZCDPLoss(Event, kind="zcdp"):
    """Anything that is rho-zCDP."""

    rho: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, rho=positive(self.rho, "rho"))


def _event(x: object) -> Event:
    if not isinstance(x, Event):
        raise InvalidParameter(f"Only events can be put together, got {x!r}.", fix="Pass the event of a mechanism.")
    return x


def _common(events: Iterable[Event]) -> Neighbors:
    # The empty event is valid for either kind of neighbours.
    kinds = {_event(e).neighbors for e in events if not (isinstance(e, Composed) and not e.parts)}
    if len(kinds) > 1:
        raise InvalidParameter(
            "Events about different neighbours (add-remove and replace) cannot be put together.",
            fix="Restate one of them: an add-remove guarantee counts twice under replace.",
        )
    return kinds.pop() if kinds else Neighbors.ADD_REMOVE


# ---- events made of events --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoissonSampled(Event, kind="poisson-sampled"):
    """The event run on a random part of the units, each taken independently with probability ``rate``."""

    event: Event
    rate: Fraction
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        _set(self, rate=probability(self.rate, "rate"), neighbors=_common([self.event]))


@dataclass(frozen=True)
class FixedSizeSampled(Event, kind="fixed-size-sampled"):
    """The event run on ``batch`` units drawn without replacement from ``population`` units, or more.

    Under add-remove the larger of two neighbours has at least ``population`` units.
    """

    event: Event
    batch: int
    population: int
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        _set(
            self,
            batch=whole(self.batch, "batch", 1),
            population=whole(self.population, "population", 1),
            neighbors=_common([self.event]),
        )
        if self.batch > self.population:
            raise InvalidParameter(
                f"Cannot draw {self.batch} of {self.population} units without replacement.",
                fix="Choose batch <= population.",
            )


@dataclass(frozen=True)
class Parallel(Event, kind="parallel"):
    """Events run on disjoint parts of the data, the part of a unit fixed by that unit alone.

    Under replace a unit may leave one part and enter another: the two largest add up, and only if each part's event
    also covers a unit that enters or leaves it.
    """

    parts: tuple[Event, ...]
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        _set(self, parts=tuple(self.parts), neighbors=_common(self.parts))


@dataclass(frozen=True)
class Composed(Event, kind="composed"):
    """Events run one after another on the same data; equal ones are counted, order does not matter.

    >>> e = LaplaceNoise(scale=1, sensitivity=1)
    >>> e + 2 * e == 3 * e
    True
    """

    parts: tuple[tuple[Event, int], ...]
    neighbors: Neighbors = field(init=False)

    @classmethod
    def of(cls, *parts: tuple[Event, int]) -> Composed:
        """The canonical form: nested compositions flattened, equal events merged, sorted, zeros dropped."""
        counts: dict[Event, int] = {}
        for event, count in parts:
            times = whole(count, "count")
            inner = event.parts if isinstance(event, Composed) else ((_event(event), 1),)
            for e, c in inner:
                counts[e] = counts.get(e, 0) + c * times
        return cls(tuple(sorted(((e, c) for e, c in counts.items() if c), key=repr)))

    def __post_init__(self) -> None:
        parts = tuple((e, whole(c, "count", 1)) for e, c in self.parts)
        _set(self, parts=parts, neighbors=_common(e for e, _ in parts))


NOTHING = Composed(())
"""The empty event: nothing was run."""


def compose(*events: Event) -> Event:
    """All of these events, on the same data.

    >>> compose(LaplaceNoise(1, 1), LaplaceNoise(1, 1)) == 2 * LaplaceNoise(1, 1)
    True
    """
    return Composed.of(*((e, 1) for e in events))
