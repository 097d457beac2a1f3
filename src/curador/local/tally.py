"""Reports counted: what a collector keeps of them, adds up over places and days, and estimates from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue


@dataclass(frozen=True, eq=False)
class Tally:
    """How many reports there were, and the task's counts of them: for most, how many support each key.

    Tallies of one task add up: those of parts, counted anywhere in any order, give that of the whole, exactly.

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
        return Tally(self.users + other.users, self.support + other.support)

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :meth:`from_json` reads back exactly."""
        flat = self.support.reshape(-1).tolist()
        return {"users": self.users, "shape": list(self.support.shape), "support": flat}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tally:
        """Read back a tally, refused if it is none."""
        try:
            if set(data) != {"users", "shape", "support"} or not all(type(x) is int for x in data["support"]):
                raise ValueError
            if type(data["users"]) is not int or data["users"] < 0:
                raise ValueError
            return cls(data["users"], np.array(data["support"], np.int64).reshape(data["shape"]))
        except (TypeError, ValueError, OverflowError):
            raise InvalidValue("This is not a tally.", fix="Read back what to_json() wrote.") from None
