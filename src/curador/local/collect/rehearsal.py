"""Simulated reports: from the columns of a file, or from a made-up population whose truth is known.

A simulation knows the values, so none of this runs on a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.collect.wire import messages
from curador.local.frequency.oracle import KeyedTask
from curador.local.numeric.base import Bounded
from curador.local.numeric.record import Record
from curador.local.numeric.vector import DuchiVector
from curador.local.task.keys import names_of, numbered, size_of
from curador.local.task.limits import Floats
from curador.local.task.task import Task
from curador.local.unlisted.heavy_hitters import HeavyHitters
from curador.numbers import whole

BATCH = 1 << 16
MADE_UP = 50
"""The number of distinct words in a made-up population for a task that lists no keys."""


def people(task: Task, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Convert columns of a table to the values that ``task.randomize`` takes.

    Numbers may be given as text.

    >>> from curador.local import KRR, Duchi
    >>> people(KRR(keys=3, epsilon=1), {"x": ["0", "2"]}), people(Duchi(0, 1, 1), {"x": ["0.5"]}).tolist()
    ([0, 2], [0.5])
    """
    return _values(task, columns)


def made_up(task: Task, users: int) -> Any:
    """Make a skewed population for any task, always the same.

    The i-th key has a share proportional to 1/i.

    Numbers are denser near the lower bound: the squares of an even spread.

    >>> from curador.local import KRR
    >>> made_up(KRR(keys=["a", "b"], epsilon=1), 6)
    ['a', 'a', 'a', 'a', 'b', 'b']
    """
    return _made_up(task, whole(users, "users", 1))


def pieces(values: Any, size: int) -> Iterator[Any]:
    """Yield values in batches of ``size`` people, in any shape that a task accepts.

    >>> list(pieces({"x": [1, 2, 3]}, 2))
    [{'x': [1, 2]}, {'x': [3]}]
    """
    columns = list(values.values()) if isinstance(values, Mapping) else [values]
    for i in range(0, len(columns[0]), size):
        if isinstance(values, Mapping):
            yield {name: column[i : i + size] for name, column in values.items()}
        else:
            yield values[i : i + size]


# ---- values from columns ---------------------------------------------------------------------------------------------


def simulated_messages(task: Task, values: Any) -> Iterator[dict[str, str]]:
    """Yield the messages that devices with these values would send, randomised in batches.

    >>> from curador.local import KRR
    >>> len(list(simulated_messages(KRR(keys=["a", "b"], epsilon=1), ["a", "b", "b"])))
    3
    """
    for some in pieces(values, BATCH):
        yield from messages(task, task.randomize(some))


@singledispatch
def _values(task: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    return _only(columns)  # keys that no list gives are taken as they are


@_values.register
def _(task: KeyedTask, columns: Mapping[str, Sequence[Any]]) -> Any:
    names = range(task.keys) if isinstance(task.keys, int) else task.keys
    return [names[i] for i in numbered(_only(columns), task.keys, task.rest).tolist()]


@_values.register
def _(task: Bounded, columns: Mapping[str, Sequence[Any]]) -> Any:
    return _numbers(_only(columns))


@_values.register
def _(task: DuchiVector, columns: Mapping[str, Sequence[Any]]) -> Any:
    return np.column_stack([_numbers(column) for column in columns.values()])


@_values.register
def _(task: Record, columns: Mapping[str, Sequence[Any]]) -> Any:
    if set(columns) != set(task.names):
        raise InvalidParameter(f"This task is about {', '.join(task.names)}.", fix="Give a column for each.")
    parts: dict[str, Task] = dict(zip(task.names, task.parts, strict=True))
    return {name: _values(part, {name: columns[name]}) for name, part in parts.items()}


def _only(columns: Mapping[str, Sequence[Any]]) -> Sequence[Any]:
    if len(columns) != 1:
        raise InvalidParameter("This task is about one value of each person.", fix="Name one column.")
    return next(iter(columns.values()))


def _whole(column: Sequence[Any], fix: str) -> list[int]:
    try:
        whole_ones = [int(_plain(value)) for value in column]
        if any(
            not isinstance(value, str) and number != value for number, value in zip(whole_ones, column, strict=True)
        ):
            raise ValueError
        return whole_ones
    except (TypeError, ValueError, OverflowError):
        raise InvalidValue("A column has values that are not integers.", fix=fix) from None


def _plain(value: Any) -> Any:
    """Refuse numbers that only Python reads: digits of other alphabets, and underscores."""
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError
    return value


def _numbers(column: Sequence[Any]) -> Floats:
    try:
        return np.array([float(_plain(value)) for value in column], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidValue(
            "A column has values that are not numbers.", fix="Choose another, or leave them out."
        ) from None


@_values.register
def _(task: HeavyHitters, columns: Mapping[str, Sequence[Any]]) -> Any:
    column = _only(columns)
    return column if task.kind == "text" else _whole(column, "Give integers, or make the task for text.")


# ---- made-up values --------------------------------------------------------------------------------------------------


@singledispatch
def _made_up(task: Any, users: int) -> Any:
    return [f"word-{i + 1}" for i in _skew(MADE_UP, users)]


@_made_up.register
def _(task: HeavyHitters, users: int) -> Any:
    return [f"word-{i + 1}" if task.kind == "text" else i + 1 for i in _skew(MADE_UP, users)]


@_made_up.register
def _(task: KeyedTask, users: int) -> Any:
    names = names_of(task.keys)
    return [names[i] for i in _skew(size_of(task.keys), users)]


@_made_up.register
def _(task: Bounded, users: int) -> Any:
    return float(task.low) + 2 * float(task.half) * ((np.arange(users) + 0.5) / users) ** 2


@_made_up.register
def _(task: DuchiVector, users: int) -> Any:
    spread = (np.arange(users)[:, np.newaxis] + 0.5) / users
    return float(task.low) + 2 * float(task.half) * spread ** np.arange(1, task.dimension + 1)


@_made_up.register
def _(task: Record, users: int) -> Any:
    return {name: _made_up(part, users) for name, part in zip(task.names, task.parts, strict=True)}


def _skew(size: int, users: int) -> list[int]:
    weights = np.cumsum(1 / np.arange(1, size + 1))
    ends = np.rint(users * weights / weights[-1]).astype(np.int64)
    return [int(i) for i in np.repeat(np.arange(size), np.diff(ends, prepend=0))]
