"""The chance that a search finds a value, before any report: an estimate for planning, not a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curador.local.unlisted.collisions import by_chance
from curador.local.unlisted.evidence import chance_of_more, rarely_reached

if TYPE_CHECKING:
    from curador.local.unlisted.heavy_hitters import HeavyHitters

FREQUENCIES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
"""The shares of people in a plan."""

_NEXT = 256  # bytes that may follow a prefix


def found_chance(task: HeavyHitters, users: int, frequency: float, miss: float, beam: int, size: int) -> float:
    """Estimate the chance of finding a value of ``size`` bytes that this share of the people have.

    The value must stay in the beam at every level, against prefixes without holders that chance supports.  Then it must
    have more support than chance and collisions explain.  Different people decide each step.  Many frequent rivals
    lower the chance.  A beam that also goes by all levels together, as the search's does, raises it.

    >>> from curador.local import HeavyHitters
    >>> task = HeavyHitters(4, length=8)
    >>> [round(found_chance(task, n, 0.02, 0.05, 1024, 8), 1) for n in (10**4, 10**6)]
    [0.0, 1.0]
    """
    p, q, r = float(task.p), float(task.q), float(task.stranger)
    own = frequency * p + (1 - frequency) * r
    # A shorter text marks its end at the byte after it, and people of all later levels test it.
    ends = max(size + 1, 2) if task.kind == "text" else task.length
    last = min(ends - task.widths[0], task.levels - 1)
    tested = range(last + 1, task.levels) if last + 1 < task.levels else range(last, last + 1)
    chance = 1.0
    for level in range(last + 1):
        if level in tested:
            break
        rivals = _NEXT ** task.widths[0] if level == 0 else _NEXT * beam
        people = int(users * task.shares[level])
        chance *= chance_of_more(people, own, rarely_reached(people, r, min(0.5, beam / 2 / rivals)))
    people = int(users * sum(task.shares[level] for level in tested))
    candidates = _NEXT * beam if tested[0] == last else beam
    part = miss / (8 * task.levels * candidates)
    # The most frequent unlisted prefix is about as frequent as chance makes a stranger seem.
    seems = max(0.0, (rarely_reached(people, r, 1 / candidates) / max(1, people) - r) / (p - r))
    collide = by_chance(task.rows, task.places, min(1.0, seems), part)
    return chance * chance_of_more(people, own, rarely_reached(people, q + (p - q) * collide, 2 * part))
