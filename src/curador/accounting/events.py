"""Events: descriptions of what was run, without data, from which any accountant can bound the privacy loss.

An event names the law of the noise, the most the protected statistic can move between neighbours, and who
those neighbours are.  Nothing else about the release is needed to bound its privacy loss, now or later.
Parameters are exact fractions.  Repetition is written ``n * event`` and lives only in :class:`Composed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar

from curador.errors import InvalidParameter
from curador.numbers import nonnegative, positive, probability, set_fields, whole
from curador.privacy import Neighbors

_KINDS: dict[str, type[Event]] = {}

LARGEST_LOSS = Fraction(10**100)
"""The largest loss, as a ratio of sensitivity and noise or as an epsilon or a rho, and one over the smallest."""

DEEPEST = 32
"""How deep events may be made of events: every rule follows them down, and recursion has an end."""


class Event:
    """One run of a mechanism on private data; each subclass describes one kind of mechanism."""

    kind: ClassVar[str]
    neighbors: Neighbors
    depth: int = 0  # of an event made of events, one more than the deepest of them

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
    return _event(_read(data, 0))


def _read(x: object, deep: int) -> object:
    # A composition stands in lists inside its event: three levels of JSON for one of events.
    if deep > 3 * DEEPEST + 3:
        raise _too_deep()
    if isinstance(x, list):
        return tuple(_read(y, deep + 1) for y in x)
    if not isinstance(x, Mapping):
        return x
    body = dict(x)
    kind = body.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidParameter(f"No event is called {kind!r}.", fix="Upgrade Curador, or check the file.")
    found = {name: _read(y, deep + 1) for name, y in body.items()}
    try:
        return _KINDS[kind](**found)
    except InvalidParameter:
        raise
    except (TypeError, ValueError, AttributeError):
        names = ", ".join(sorted(map(str, body)))
        raise InvalidParameter(f"Not the fields of a {kind} event: {names}.", fix="Use to_json().") from None


def _too_deep() -> InvalidParameter:
    return InvalidParameter(
        f"Events are made of events at most {DEEPEST} deep.", fix="Write a sample of a sample as one sample."
    )


def _set(event: Event, **checked: object) -> None:
    """Set the checked fields of an event, and read its neighbours."""
    set_fields(event, **checked)
    set_fields(event, neighbors=Neighbors(event.neighbors))


def _loss(x: Fraction) -> None:
    """Refuse a loss of a size that means nothing, and that floats could not follow through squares and logarithms."""
    if x and not 1 / LARGEST_LOSS <= x <= LARGEST_LOSS:
        raise InvalidParameter(
            "A loss beyond 1e100, or below 1e-100, is not one that can be accounted for.",
            fix="Check the sensitivity, the noise, epsilon or rho.",
        )


def _chance(x: object, name: str) -> Fraction:
    """Read a probability that is 0, 1 or far enough from both for floats to tell."""
    value = probability(x, name)
    if value not in (0, 1) and min(value, 1 - value) < 1 / LARGEST_LOSS:
        raise InvalidParameter(f"{name} is within 1e-100 of 0 or 1.", fix=f"Choose a {name} of exactly 0 or 1.")
    return value


def set_made_of(event: Event, inner: Iterable[Event], **checked: object) -> None:
    """The same for an event made of others: they are about the same neighbours, and not too deep."""
    parts = tuple(map(_event, inner))
    _set(event, **checked, neighbors=_common(parts), depth=1 + max((e.depth for e in parts), default=0))
    if event.depth > DEEPEST:
        raise _too_deep()


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
        _loss(self.epsilon)

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
        _loss(self.epsilon)

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
        _loss(self.sensitivity / self.scale)
        _loss(self.bound / self.scale)


@dataclass(frozen=True)
class GaussianNoise(Event, kind="gaussian"):
    """Continuous Gaussian noise, or a rounding of it, on a statistic of given l2 sensitivity."""

    sigma: Fraction
    sensitivity: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, sigma=positive(self.sigma, "sigma"), sensitivity=positive(self.sensitivity, "sensitivity"))
        _loss((self.sensitivity / self.sigma) ** 2)


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
        _loss(self.sensitivity_squared / self.variance)


# ---- choices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExponentialChoice(Event, kind="exponential"):
    """The exponential mechanism: pure epsilon, and of bounded range epsilon (DR19)."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=positive(self.epsilon, "epsilon"))
        _loss(self.epsilon)


@dataclass(frozen=True)
class RandomizedAnswer(Event, kind="randomized-response"):
    """One of ``categories`` answers: the true one with probability ``truth``, else a uniform other one."""

    categories: int
    truth: Fraction
    neighbors: Neighbors = Neighbors.REPLACE

    def __post_init__(self) -> None:
        _set(self, categories=whole(self.categories, "categories", 2), truth=_chance(self.truth, "truth"))


# ---- mechanisms known only by their guarantee --------------------------------------------------------------


@dataclass(frozen=True)
class PureLoss(Event, kind="pure"):
    """Anything that is epsilon-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=positive(self.epsilon, "epsilon"))
        _loss(self.epsilon)


@dataclass(frozen=True)
class ApproxLoss(Event, kind="approximate"):
    """Anything that is (epsilon, delta)-DP; accounted as the worst such mechanism."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, epsilon=nonnegative(self.epsilon, "epsilon"), delta=probability(self.delta, "delta"))
        _loss(self.epsilon)


@dataclass(frozen=True)
class ZCDPLoss(Event, kind="zcdp"):
    """Anything that is rho-zCDP."""

    rho: Fraction
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def __post_init__(self) -> None:
        _set(self, rho=positive(self.rho, "rho"))
        _loss(self.rho)


def _event(x: object) -> Event:
    if not isinstance(x, Event):
        raise InvalidParameter(f"Only events can be put together, got {x!r}.", fix="Pass the event of a mechanism.")
    return x


def _common(events: Iterable[Event]) -> Neighbors:
    # The empty event is valid for either kind of neighbours.
    kinds = {e.neighbors for e in events if not _empty(_event(e))}
    if len(kinds) > 1:
        raise InvalidParameter(
            "Events about different neighbours (add-remove and replace) cannot be put together.",
            fix="Restate one of them: an add-remove guarantee counts twice under replace.",
        )
    return kinds.pop() if kinds else Neighbors.ADD_REMOVE


# ---- events made of events --------------------------------------------------------------------------------------


def _fixed_sizes(event: Event) -> Iterable[FixedSizeSampled]:
    """The samples of fixed size that are drawn when an event is run, outermost first."""
    if isinstance(event, FixedSizeSampled):
        return (event,)
    if isinstance(event, Composed):
        return chain.from_iterable(_fixed_sizes(e) for e, _ in event.parts)
    if isinstance(event, Parallel):
        return chain.from_iterable(map(_fixed_sizes, event.parts))
    inner = getattr(event, "event", None)  # of whatever else is made of one event
    return _fixed_sizes(inner) if isinstance(inner, Event) else ()


@dataclass(frozen=True)
class PoissonSampled(Event, kind="poisson-sampled"):
    """The event run on a random part of the units, each taken independently with probability ``rate``.

    A sample of a sample is one at the product of the rates.  A sample of fixed size drawn from this one is refused:
    the number of units to draw from would be random, and a unit's chance not the product.
    """

    event: Event
    rate: Fraction
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(self, [self.event], rate=_chance(self.rate, "rate"))
        if any(_fixed_sizes(self.event)):
            raise InvalidParameter(
                "A sample of fixed size cannot be drawn from a Poisson sample, whose size is random.",
                fix="Draw one sample: of fixed size from the whole population, or Poisson.",
            )


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
        batch, population = whole(self.batch, "batch", 1), whole(self.population, "population", 1)
        set_made_of(self, [self.event], batch=batch, population=population)
        if batch > population:
            raise InvalidParameter(
                f"Cannot draw {batch} of {population} units without replacement.", fix="Choose batch <= population."
            )
        if any(inner.population != batch for inner in _fixed_sizes(self.event)):
            raise InvalidParameter(
                f"A sample drawn from a sample of {batch} units has a population of {batch}.",
                fix=f"Give the inner sample population={batch}.",
            )


@dataclass(frozen=True)
class Parallel(Event, kind="parallel"):
    """Events run on disjoint parts of the data, the part of a unit fixed by that unit alone.

    Under replace a unit may leave one part and enter another: the two largest add up, and only if each part's event
    also covers a unit that enters or leaves it.  A sample of fixed size does not: its population would change.
    """

    parts: tuple[Event, ...]
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(self, self.parts, parts=tuple(self.parts))
        if self.neighbors is Neighbors.REPLACE and any(_fixed_sizes(self)):
            raise InvalidParameter(
                "Under replace the parts of the data change their sizes, so no part can be sampled at a fixed size.",
                fix="Sample each unit independently (PoissonSampled), or sample before the parts are formed.",
            )


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
        """The canonical form: nested compositions flattened, equal events merged, sorted, zeros dropped.

        It is made when ``parts`` is first read, so that n additions are no more work than one sum of n.
        """
        made = cls.__new__(cls)
        terms = [(e, n) for e, c in parts if (n := whole(c, "count")) and not _empty(_event(e))]
        # A composition inside is taken apart, not nested.
        inner = max((e.depth - isinstance(e, Composed) for e, _ in terms), default=0)
        _set(made, _terms=terms, neighbors=_common(e for e, _ in terms), depth=1 + inner)
        if made.depth > DEEPEST:
            raise _too_deep()
        return made

    def __getattr__(self, name: str) -> Any:
        # Called for what is missing: the parts, until they are first asked for.
        terms = self.__dict__.get("_terms")
        if name == "parts" and terms is not None:
            set_fields(self, parts=_canonical(terms))
            self.__dict__.pop("_terms", None)
        if name not in self.__dict__:
            raise AttributeError(name)
        return self.__dict__[name]

    def __hash__(self) -> int:
        # Kept, since caches ask for it again and again, and fractions are slow to hash.
        found = self.__dict__.get("_hash")
        if found is None:
            set_fields(self, _hash=(found := hash((self.parts, self.neighbors))))
        return int(found)

    def __getstate__(self) -> dict[str, object]:
        return {"parts": self.parts, "neighbors": self.neighbors, "depth": self.depth}

    def __post_init__(self) -> None:
        given = tuple((_event(e), whole(c, "count", 1)) for e, c in self.parts)
        set_made_of(self, (e for e, _ in given), parts=_canonical(list(given)))


_Terms = list[tuple[Event, int]]


def _pending(event: Event) -> _Terms | None:
    """The terms of a sum whose parts have not been asked for."""
    return event.__dict__.get("_terms") if isinstance(event, Composed) else None


def _empty(event: Event) -> bool:
    return isinstance(event, Composed) and not (_pending(event) or event.parts)


def _canonical(terms: _Terms) -> tuple[tuple[Event, int], ...]:
    # Sums of sums may be shared (e = e + e, forty times over), so each is taken apart once, after all that use it.
    sums: dict[int, _Terms] = {}
    last: list[int] = []
    stack: list[tuple[Event, bool]] = [(e, False) for e, _ in terms]
    while stack:
        event, done = stack.pop()
        if done:
            last.append(id(event))
        elif id(event) not in sums and (inner := _pending(event)) is not None:
            sums[id(event)] = inner
            stack += [(event, True), *((e, False) for e, _ in inner)]
    times = dict.fromkeys(sums, 0)
    counts: dict[Event, int] = {}
    for count, inner in chain([(1, terms)], ((times[i], sums[i]) for i in reversed(last))):
        for event, n in inner:
            if id(event) in sums:
                times[id(event)] += n * count
            else:
                for e, c in event.parts if isinstance(event, Composed) else ((event, 1),):
                    counts[e] = counts.get(e, 0) + c * n * count
    return tuple(sorted(counts.items(), key=repr))


NOTHING = Composed(())
"""The empty event: nothing was run."""


def compose(*events: Event) -> Event:
    """All of these events, on the same data.

    >>> compose(LaplaceNoise(1, 1), LaplaceNoise(1, 1)) == 2 * LaplaceNoise(1, 1)
    True
    """
    return Composed.of(*((e, 1) for e in events))
