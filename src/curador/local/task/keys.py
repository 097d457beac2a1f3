"""Listed keys: public names, with indices in the order in which the task lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.devices import curador_device
from curador.local.task.values import listed
from curador.mechanisms.base import clamp, hides

LocalKey = str | int
KeyDomain = int | tuple[LocalKey, ...]
"""The keys, or their number if they are 0, 1, 2, …"""

MOST = 1 << 24
"""The largest number of keys for a table of counts; beyond it, look for heavy hitters instead."""


def checked_keys(keys: int | Sequence[LocalKey]) -> KeyDomain:
    """Check the keys; there must be at least two different ones.

    >>> checked_keys(["a", "b"]), checked_keys(16)
    (('a', 'b'), 16)
    """
    if isinstance(keys, int) and not isinstance(keys, bool):
        found: KeyDomain = keys
        size = keys
    elif isinstance(keys, list | tuple | range) and all(type(key) in (str, int) for key in keys):
        found = tuple(keys)
        size = len(set(found))
        if size < len(found):
            raise InvalidParameter("A key is listed twice.", fix="List each once.")
    else:
        raise InvalidParameter("Keys are a list of strings or integers, or how many there are.", fix='Try ["a", "b"].')
    if not 2 <= size <= MOST:
        raise InvalidParameter(f"There must be 2 to {MOST} keys, got {size}.", fix="List the possible answers.")
    return found


def size_of(keys: KeyDomain) -> int:
    """The number of keys.

    >>> size_of(("a", "b")), size_of(16)
    (2, 16)
    """
    return keys if isinstance(keys, int) else len(keys)


def names_of(keys: KeyDomain) -> tuple[LocalKey, ...]:
    """The keys themselves.

    >>> names_of(3)
    (0, 1, 2)
    """
    return tuple(range(keys)) if isinstance(keys, int) else keys


def numbered(values: Any, keys: KeyDomain, rest: LocalKey | None) -> NDArray[np.int64]:
    """Find the index of each value's key; unlisted values become ``rest``, or are refused without one.

    A value counts as a key by the rule of devices: 1.0 is the integer 1.  The text "1" is too, unless it is listed.

    >>> numbered(["b", "?", "a"], ("a", "b"), rest="b").tolist()
    [1, 1, 0]
    >>> numbered([2.0, "1", None, 1.5], keys=3, rest=0).tolist()
    [2, 1, 0, 0]
    """
    if isinstance(keys, int) and isinstance(values, np.ndarray) and values.dtype.kind in "iu" and not hides(values):
        found = clamp(values.reshape(-1))
        out = (found < 0) | (found >= keys)
        if rest is not None:
            return np.where(out, int(rest), found)
    else:
        index: Any = range(keys) if isinstance(keys, int) else {key: i for i, key in enumerate(keys)}
        missing = -1 if rest is None else int(rest) if isinstance(keys, int) else index[rest]
        given = listed(values)
        found = np.fromiter((_number(v, index, missing) for v in given), np.int64, len(given))
        out = found < 0
    if out.any():
        raise InvalidValue(
            f"{int(out.sum())} of the values are not among the task's keys.",
            fix="Give the task a key for everything else with rest=…, so that not answering reveals nothing.",
        )
    return found


def _number(value: Any, index: range | dict[LocalKey, int], missing: int) -> int:
    # The rule of devices: a column of integers with a missing one becomes floats, and a form's integers are texts.
    if isinstance(value, str) and not isinstance(index, range):
        found = index.get(value)
        if found is not None:
            return found
    exact = isinstance(value, int | np.integer) and not isinstance(value, bool)
    integer = int(value) if exact else curador_device._integer_of(value)
    if integer is None:  # truth values too: True == 1 in Python
        return missing
    if isinstance(index, range):
        return integer if integer in index else missing
    return index.get(integer, missing)


def checked_rest(rest: LocalKey | None, keys: KeyDomain) -> LocalKey | None:
    """Check the key for everything else; it must be one of the keys."""
    listed = range(keys) if isinstance(keys, int) else keys
    if rest is not None and (type(rest) not in (str, int) or rest not in listed):
        raise InvalidParameter(f"rest={rest!r} is not among the keys.", fix="Add it to the keys.")
    return rest
