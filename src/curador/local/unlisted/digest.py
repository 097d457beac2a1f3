"""Public hashes of unlisted keys: the same on every device and at the collector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.task.keys import LocalKey
from curador.local.task.values import listed

PLACES_MOST = 1 << 24
MOST = 1 << 63

TABLE_MOST = 1 << 28
"""The largest number of counts that fits the memory of most machines; devices refuse the same tasks."""


def hashed(keys: Sequence[LocalKey], rows: Iterable[int], salt: str, places: int) -> NDArray[np.int64]:
    """Hash each key to its place by the function of its row: the lowest bits of a SHA-256.

    A string never hashes like an integer.  Privacy does not depend on the hash, which is public; estimates need that
    different keys collide as often as by chance.

    >>> hashed(["a", "a", 1], [0, 1, 0], "", 16).shape
    (3,)
    """
    known: dict[tuple[LocalKey, int], int] = {}
    found = np.empty(len(keys), np.int64)
    for i, pair in enumerate(zip(keys, map(int, rows), strict=True)):
        if pair not in known:
            key, row = pair
            text = f"{salt}\n{row}\n{'s' if isinstance(key, str) else 'i'}{key}"
            known[pair] = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]) % places
        found[i] = known[pair]
    return found


def free_keys(values: Any) -> list[LocalKey]:
    """List strings or integers, refused if any value is neither.

    >>> free_keys(np.array([1, 2])), free_keys(["a"])
    ([1, 2], ['a'])
    """
    given = listed(values)
    if not all(type(value) is str or (type(value) is int and -MOST < value < MOST) for value in given):
        raise InvalidValue(
            "Keys of this task are strings, or integers between -2**63 and 2**63.", fix="Give everything else a string."
        )
    return given


def candidate_keys(candidates: Any) -> tuple[LocalKey, ...]:
    """Check the keys to estimate; there must be some, and none may be named twice.

    >>> candidate_keys(["a", "b"])
    ('a', 'b')
    """
    if candidates is None:
        raise InvalidParameter(
            "This task does not list its keys.",
            fix="Name the keys to ask about as candidates.",
            code="candidates-missing",
        )
    found = tuple(free_keys(candidates))
    if not found or len(set(found)) < len(found):
        raise InvalidParameter("Candidates are one key or more, each named once.", fix='Try ["a", "b"].')
    return found


def checked_places(places: object, name: str) -> int:
    """Check the number of places of a hash: a power of two, so that each place has the same chance."""
    if type(places) is not int or not 2 <= places <= PLACES_MOST or places & (places - 1):
        raise InvalidParameter(
            f"{name} must be a power of two from 2 to {PLACES_MOST}, got {places!r}.", fix="Choose 128."
        )
    return places


def check_table(numbers: int) -> None:
    """Refuse a task whose tally has more numbers than a collector could count and estimate."""
    if numbers > TABLE_MOST:
        raise InvalidParameter(f"A tally of this task has {numbers} numbers.", fix="Choose fewer rows or places.")
