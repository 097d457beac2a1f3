"""Every linkage attack by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from curador.audit.linkage.classes import link_classes
from curador.audit.linkage.join import link_join
from curador.audit.linkage.ratings import link_ratings
from curador.audit.linkage.searches import link_searches
from curador.audit.linkage.unique import link_unique
from curador.errors import InvalidParameter
from curador.show.pages.exhibits import Exhibit

LINKAGES: Mapping[str, Callable[..., Exhibit]] = MappingProxyType(
    {
        "unique": link_unique,
        "join": link_join,
        "ratings": link_ratings,
        "searches": link_searches,
        "classes": link_classes,
    }
)


def linked(names: Sequence[str] = (), people: int | None = None, seed: int = 0) -> list[Exhibit]:
    """The attacks of these names, or all of them, in the course's order.

    >>> [e.code for e in linked(["join"], people=300)]
    ['join']
    """
    unknown = [name for name in names if name not in LINKAGES]
    if unknown:
        raise InvalidParameter(f"There is no attack {unknown[0]!r}.", fix=f"Use {', '.join(LINKAGES)}.")
    size = {} if people is None else {"people": people}
    return [attack(seed=seed, **size) for name, attack in LINKAGES.items() if not names or name in names]
