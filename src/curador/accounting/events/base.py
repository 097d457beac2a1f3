"""The base of every event, its JSON, and the checks of its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import ClassVar

from curador.errors import InvalidParameter
from curador.numbers import probability, set_fields, times
from curador.privacy import Neighbors

KINDS: dict[str, type[Event]] = {}
"""The class of each kind of event, by its name in JSON."""

LARGEST_LOSS = Fraction(10**100)
"""The largest loss, as a ratio of sensitivity and noise or as an epsilon or a rho, and one over the smallest."""

DEEPEST = 32
"""The deepest nesting of events: every rule follows it down, and recursion has an end."""

LONGEST_KNOWN = 10_000
"""The most characters of an event's JSON that is cached."""


class Event:
    """A run of a mechanism on private data; each subclass describes one kind of mechanism."""

    kind: ClassVar[str]
    neighbors: Neighbors
    depth: int = 0  # of nested events: one more than the deepest part
    grouped: ClassVar[bool] = False  # whether it is about several units, each of which a sample takes on its own
    slow: ClassVar[bool] = False  # whether its Rényi curve takes a good part of a second

    @property
    def empty(self) -> bool:
        """Whether nothing is run."""
        return False

    def __init_subclass__(cls, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        KINDS[kind] = cls

    def __add__(self, other: Event) -> Event:
        if not isinstance(other, Event):
            return NotImplemented
        from curador.accounting.events.made import compose

        return compose(self, other)

    def __mul__(self, count: int) -> Event:
        from curador.accounting.events.made import Composed

        return Composed.of((self, times(count)))

    __rmul__ = __mul__

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary that :func:`event_from_json` reads back exactly."""
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
    """Read back a document of :meth:`Event.to_json`.

    >>> from curador.accounting.events import LaplaceNoise
    >>> e = LaplaceNoise(scale=2, sensitivity=1)
    >>> event_from_json(e.to_json()) == e
    True
    """
    try:
        text = json.dumps(data)
    except (TypeError, ValueError, RecursionError):  # not plain JSON: read, or refused, as it is
        text = ""
    return _cached_event(text) if 0 < len(text) <= LONGEST_KNOWN else as_event(_read(data, 0))


@lru_cache(maxsize=256)
def _cached_event(text: str) -> Event:
    """Read an event from its JSON, cached: a ledger needs the same ones again and again."""
    return as_event(_read(json.loads(text), 0))


def _read(x: object, deep: int) -> object:
    # A composition is stored as lists inside its event: three levels of JSON for one of events.
    if deep > 3 * DEEPEST + 3:
        raise too_deep()
    if isinstance(x, list):
        return tuple(_read(y, deep + 1) for y in x)
    if not isinstance(x, Mapping):
        return x
    body = dict(x)
    kind = body.pop("kind", None)
    if isinstance(kind, str) and kind not in KINDS:
        import_module("curador.accounting.theorems")  # loaded for an event of a theorem: most ledgers hold none
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidParameter(f"No event is called {kind!r}.", fix="Upgrade Curador, or check the file.")
    found = {name: _read(y, deep + 1) for name, y in body.items()}
    try:
        return KINDS[kind](**found)
    except InvalidParameter:
        raise
    except (TypeError, ValueError, AttributeError):
        names = ", ".join(sorted(map(str, body)))
        raise InvalidParameter(f"Not the fields of a {kind} event: {names}.", fix="Use to_json().") from None


def too_deep() -> InvalidParameter:
    return InvalidParameter(
        f"Events are made of events at most {DEEPEST} deep.", fix="Write a sample of a sample as one sample."
    )


def set_checked(event: Event, **checked: object) -> None:
    """Set the checked fields of an event, and read its neighbours."""
    set_fields(event, **checked)
    set_fields(event, neighbors=Neighbors(event.neighbors))


def check_loss(x: Fraction) -> None:
    """Refuse a loss of a meaningless size, which floats could not follow through squares and logarithms."""
    if x and not 1 / LARGEST_LOSS <= x <= LARGEST_LOSS:
        raise InvalidParameter(
            "A loss beyond 1e100, or below 1e-100, is not one that can be accounted for.",
            fix="Check the sensitivity, the noise, epsilon or rho.",
        )


def check_size(sigma_squared: Fraction) -> None:
    """Refuse noise on the integers beyond all doubles, whatever its ratio to the sensitivity."""
    if sigma_squared > LARGEST_LOSS**2:
        raise InvalidParameter(
            "Integer noise of more than 1e100 steps is not accounted for.", fix="Measure in larger steps."
        )


def read_chance(x: object, name: str) -> Fraction:
    """Read a probability that is 0, 1 or far enough from both for floats to separate."""
    value = probability(x, name)
    if value not in (0, 1) and min(value, 1 - value) < 1 / LARGEST_LOSS:
        raise InvalidParameter(f"{name} is within 1e-100 of 0 or 1.", fix=f"Choose a {name} of exactly 0 or 1.")
    return value


def set_made_of(event: Event, inner: Iterable[Event], **checked: object) -> None:
    """Set the checked fields of an event made of others, with their neighbours and depth."""
    parts = tuple(map(as_event, inner))
    set_checked(event, **checked, neighbors=common_neighbors(parts), depth=1 + max((e.depth for e in parts), default=0))
    if event.depth > DEEPEST:
        raise too_deep()


def as_event(x: object) -> Event:
    if not isinstance(x, Event):
        raise InvalidParameter(f"Only events can be put together, got {x!r}.", fix="Pass the event of a mechanism.")
    return x


def common_neighbors(events: Iterable[Event]) -> Neighbors:
    # The empty event is valid for either kind of neighbours.
    kinds = {e.neighbors for e in events if not as_event(e).empty}
    if len(kinds) > 1:
        raise InvalidParameter(
            "Events about different neighbours (add-remove and replace) cannot be put together.",
            fix="Restate one of them: an add-remove guarantee counts twice under replace.",
        )
    return kinds.pop() if kinds else Neighbors.ADD_REMOVE
