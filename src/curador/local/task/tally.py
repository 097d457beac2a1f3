"""Tallies: the counts of reports that a collector adds up over places, for its estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue

MOST_USERS = 1 << 53


@dataclass(frozen=True, eq=False)
class Tally:
    """The number of reports, and the task's counts of them: usually of the reports that support each key.

    Tallies of one task add up: those of parts, counted anywhere in any order, sum exactly to that of the whole.

    >>> (Tally(2, np.array([1, 1])) + Tally(1, np.array([0, 1]))).support.tolist()
    [1, 2]
    >>> Tally.from_json(Tally(2, np.array([[1, 1]])).to_json()).support.shape
    (1, 2)
    """

    users: int
    support: NDArray[np.int64]

    def __add__(self, other: Tally) -> Tally:
        if self.support.shape != other.support.shape:
            raise InvalidParameter("These tallies are of tasks with different keys.", fix="Add tallies of one task.")
        added = self.support + other.support
        if ((self.support ^ added) & (other.support ^ added) < 0).any():
            raise InvalidValue("These tallies are too large to add up.", fix="Estimate from fewer reports.")
        return Tally(self.users + other.users, added)

    def to_json(self) -> dict[str, object]:
        """Write a plain dictionary that :meth:`from_json` reads back exactly."""
        flat = self.support.reshape(-1).tolist()
        return {"users": self.users, "shape": list(self.support.shape), "support": flat}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tally:
        """Read back a tally; refuse anything else."""
        try:
            if set(data) != {"users", "shape", "support"} or not all(type(x) is int for x in data["support"]):
                raise ValueError
            users, shape = data["users"], data["shape"]
            if type(users) is not int or not 0 <= users < MOST_USERS:
                raise ValueError
            if not all(type(x) is int and x >= 0 for x in shape):
                raise ValueError
            return cls(users, np.array(data["support"], np.int64).reshape(shape))
        except (TypeError, ValueError, OverflowError):
            raise InvalidValue("This is not a tally.", fix="Read back what to_json() wrote.") from None


def checked_counts(counts: NDArray[np.int64], most: NDArray[np.int64] | np.int64) -> None:
    """Refuse counts below 0 or above ``most``, the number that they count.

    >>> checked_counts(np.array([0, 3]), np.int64(3))
    """
    if (counts < 0).any() or (counts > most).any():
        raise InvalidValue("This tally counts more than there was.", fix="Count the reports again.")


def checked_sum(tally: Tally) -> None:
    """Refuse a tally whose counts do not add up to its number of reports.

    >>> checked_sum(Tally(3, np.array([1, 2])))
    """
    if int(tally.support.sum()) != tally.users:
        raise InvalidValue("This tally counts more or less than there was.", fix="Count the reports again.")
