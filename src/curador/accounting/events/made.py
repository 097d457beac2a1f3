"""Events made of events: samples, parts of the data, and compositions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

from curador.accounting.events.base import (
    DEEPEST,
    Event,
    as_event,
    common_neighbors,
    read_chance,
    set_checked,
    set_made_of,
    too_deep,
)
from curador.errors import InvalidParameter
from curador.numbers import set_fields, times, whole
from curador.privacy import Neighbors


def made_of(event: Event) -> Iterable[Event]:
    """The events that an event is made of."""
    if isinstance(event, Composed):
        return (e for e, _ in event.parts)
    if isinstance(event, Parallel):
        return event.parts
    inner = getattr(event, "event", None)  # of any other event made of one event
    return (inner,) if isinstance(inner, Event) else ()


def _fixed_sizes(event: Event) -> Iterable[FixedSizeSampled]:
    """The samples of fixed size that a run of the event draws, outermost first."""
    if isinstance(event, FixedSizeSampled):
        return (event,)
    return chain.from_iterable(map(_fixed_sizes, made_of(event)))


def _is_grouped(event: Event) -> bool:
    return event.grouped or any(map(_is_grouped, made_of(event)))


def _check_units(event: Event) -> None:
    """Refuse a sample of an event about a group: it would take the group as a whole, or not at all."""
    if _is_grouped(event):
        raise InvalidParameter(
            "This event is about a group, of which a sample takes each member on its own.",
            fix="Take the group of the whole sample: for_group(PoissonSampled(event, rate), k).",
        )


@dataclass(frozen=True)
class PoissonSampled(Event, kind="poisson-sampled"):
    """The event run on a random part of the units, each taken independently with probability ``rate``.

    A sample of a sample is one at the product of the rates.  A sample of fixed size drawn from this one is refused.
    The number of units to draw from would be random, and a unit's chance would not be the product.
    """

    event: Event
    rate: Fraction
    neighbors: Neighbors = field(init=False)

    def __post_init__(self) -> None:
        set_made_of(self, [self.event], rate=read_chance(self.rate, "rate"))
        _check_units(self.event)
        read_chance(_chance(self), "the product of the rates")
        if any(_fixed_sizes(self.event)):
            raise InvalidParameter(
                "A sample of fixed size cannot be drawn from a Poisson sample, whose size is random.",
                fix="Draw one sample: of fixed size from the whole population, or Poisson.",
            )


def _chance(event: Event) -> Fraction:
    """The chance of a unit to be in a Poisson sample of Poisson samples."""
    return event.rate * _chance(event.event) if isinstance(event, PoissonSampled) else Fraction(1)


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
        _check_units(self.event)
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

    Under replace a unit may leave one part and enter another, so the two largest add up.  That needs part events that
    also cover a unit that enters or leaves.  A sample of fixed size does not: its population would change.
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

    >>> from curador.accounting.events import LaplaceNoise
    >>> e = LaplaceNoise(scale=1, sensitivity=1)
    >>> e + 2 * e == 3 * e
    True
    """

    parts: tuple[tuple[Event, int], ...]
    neighbors: Neighbors = field(init=False)

    @classmethod
    def of(cls, *parts: tuple[Event, int]) -> Composed:
        """Make the canonical form: nested compositions flattened, equal events merged, sorted, zeros dropped.

        It is made when ``parts`` is first read, so that n additions are no more work than one sum of n.
        """
        made = cls.__new__(cls)
        terms = [(e, n) for e, c in parts if (n := times(c)) and not as_event(e).empty]
        # A nested composition is flattened.
        inner = max((e.depth - isinstance(e, Composed) for e, _ in terms), default=0)
        set_checked(made, _terms=terms, neighbors=common_neighbors(e for e, _ in terms), depth=1 + inner)
        if made.depth > DEEPEST:
            raise too_deep()
        return made

    @property
    def empty(self) -> bool:
        return not (_pending(self) or self.parts)

    def __getattr__(self, name: str) -> Any:
        # Called for missing attributes: the parts, until they are first read.
        terms = self.__dict__.get("_terms")
        if name == "parts" and terms is not None:
            set_fields(self, parts=_canonical(terms))
            self.__dict__.pop("_terms", None)
        if name not in self.__dict__:
            raise AttributeError(name)
        return self.__dict__[name]

    def __hash__(self) -> int:
        # Cached: it is needed again and again, and fractions are slow to hash.
        found = self.__dict__.get("_hash")
        if found is None:
            set_fields(self, _hash=(found := hash((self.parts, self.neighbors))))
        return int(found)

    def __getstate__(self) -> dict[str, object]:
        return {"parts": self.parts, "neighbors": self.neighbors, "depth": self.depth}

    def __post_init__(self) -> None:
        given = tuple((as_event(e), times(whole(c, "count", 1))) for e, c in self.parts)
        set_made_of(self, (e for e, _ in given), parts=_canonical(list(given)))


_Terms = list[tuple[Event, int]]


def _pending(event: Event) -> _Terms | None:
    """The terms of a sum whose parts have not been read yet."""
    return event.__dict__.get("_terms") if isinstance(event, Composed) else None


def _canonical(terms: _Terms) -> tuple[tuple[Event, int], ...]:
    # Sums of sums may be shared (e = e + e, forty times over), so each is flattened once, after all that use it.
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
    often = dict.fromkeys(sums, 0)
    counts: dict[Event, int] = {}
    for count, inner in chain([(1, terms)], ((often[i], sums[i]) for i in reversed(last))):
        for event, n in inner:
            if id(event) in sums:
                often[id(event)] += n * count
            else:
                for e, c in event.parts if isinstance(event, Composed) else ((event, 1),):
                    counts[e] = counts.get(e, 0) + c * n * count
    return tuple(sorted(((e, times(n)) for e, n in counts.items()), key=repr))


NOTHING = Composed(())
"""The empty event: nothing was run."""


def compose(*events: Event) -> Event:
    """Compose all of these events, on the same data.

    >>> from curador.accounting.events import LaplaceNoise
    >>> compose(LaplaceNoise(1, 1), LaplaceNoise(1, 1)) == 2 * LaplaceNoise(1, 1)
    True
    """
    return Composed.of(*((e, 1) for e in events))
