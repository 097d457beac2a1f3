"""Records of many attributes, numbers and categories: each person reports on a few, drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.domain import Key
from curador.local.duchi import Duchi
from curador.local.frequencies import Frequencies
from curador.local.hybrid import Hybrid
from curador.local.numeric import Mean
from curador.local.oracle import Oracle
from curador.local.piecewise import Piecewise
from curador.local.subset import choose_cells
from curador.local.task import Task, check_promise, checked_threshold, set_fields, task_from_json
from curador.local.unary import OUE
from curador.noise import SYSTEM, Entropy
from curador.rational import Number, positive, rational

Part = Oracle | Hybrid | Piecewise | Duchi
"""What an attribute may be reported by: Laplace noise has no bounds, and the intervals of a part need them."""

WORTH = Fraction(5, 2)
"""How much epsilon a further attribute is worth [WXYZ19, Section IV]."""


@dataclass(frozen=True)
class Range:
    """The bounds of a number.

    >>> Range(0, 100)
    Range(low=0, high=100)
    """

    low: Number
    high: Number


@dataclass(frozen=True, init=False)
class Record(Task, mechanism="record"):
    """Each person draws ``sampled`` of the attributes, and reports each of these with an equal share of epsilon.

    Numbers are reported by :class:`Hybrid`, categories by :class:`OUE`.  Which attributes are drawn does not depend on
    the values, and a report says which.  An attribute is estimated from those who drew it, a uniform part of all: that
    is unbiased for all, with less variance than counting the others as zeros.

    Guarantee: epsilon-local DP: the draw is independent of the record, and the shares add up [WXYZ19].
        Intervals cover the frequencies and means of all who reported, not only of those who drew the attribute.

    >>> task = Record({"age": Range(0, 100), "smokes": ["no", "yes"]}, epsilon=2)
    >>> reports = task.randomize({"age": [30, 40, 50, 60] * 100, "smokes": ["no", "yes", "no", "no"] * 100})
    >>> found = task.estimate(reports)
    >>> found["age"].users + found["smokes"].users
    400
    """

    names: tuple[str, ...]
    parts: tuple[Part, ...]
    epsilon: Fraction
    sampled: int

    def __init__(
        self, attributes: Mapping[str, Range | Sequence[Key] | int], epsilon: Number, *, sampled: int | None = None
    ) -> None:
        whole_epsilon, d = positive(epsilon, "epsilon"), len(attributes)
        if not d:
            raise InvalidParameter("A record has attributes.", fix="Name at least one.")
        if sampled is None:
            sampled = max(1, min(d, math.floor(whole_epsilon / WORTH)))
        share = whole_epsilon / checked_threshold(sampled, "sampled", d + 1)
        self._set(tuple(attributes), tuple(_part(kind, share) for kind in attributes.values()), whole_epsilon, sampled)

    def _set(self, names: tuple[str, ...], parts: tuple[Part, ...], epsilon: Fraction, sampled: int) -> None:
        set_fields(self, names=names, parts=parts, epsilon=epsilon, sampled=sampled)
        check_promise(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Record:
        names, parts = body["names"], body["parts"]
        if not isinstance(names, list) or not isinstance(parts, list) or not 0 < len(names) == len(parts):
            raise InvalidParameter("A record has one part for each name.", fix="Use to_json().")
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InvalidParameter("A record's names are different strings.", fix="Use to_json().")
        read = tuple(task_from_json(part) for part in parts)
        if not all(isinstance(part, Part) for part in read):
            raise InvalidParameter("A record cannot be made of these parts.", fix="Use to_json().")
        made = object.__new__(cls)
        sampled = checked_threshold(body["sampled"], "sampled", len(names) + 1)
        made._set(tuple(names), read, positive(body["epsilon"], "epsilon"), sampled)  # type: ignore[arg-type]
        return made

    @property
    def ratio(self) -> Fraction:
        return math.prod(sorted((part.ratio for part in self.parts), reverse=True)[: self.sampled], start=Fraction(1))

    @property
    def report_bits(self) -> int:
        index = (len(self.names) - 1).bit_length()
        return sum(sorted((part.report_bits + index for part in self.parts), reverse=True)[: self.sampled])

    def randomize(self, columns: Mapping[str, Any], *, entropy: Entropy = SYSTEM) -> dict[str, NDArray[Any]]:
        """For each attribute, the reports of those who drew it."""
        if set(columns) != set(self.names):
            raise InvalidValue(f"This task is about {list(self.names)}.", fix="Give one column for each.")
        values = [_column(part, columns[name]) for name, part in zip(self.names, self.parts, strict=True)]
        users = {len(column) if column.ndim == 1 else -1 for column in values}
        if len(users) != 1 or users == {-1}:
            raise InvalidValue("The columns are not of one length.", fix="Give one value per person in each.")
        n = users.pop()
        drawn = np.zeros((n, len(self.names)), bool)
        choose_cells(drawn, np.arange(n), self.sampled, len(self.names), entropy)
        return {
            name: part.randomize(column[drawn[:, j]], entropy=entropy)
            for j, (name, part, column) in enumerate(zip(self.names, self.parts, values, strict=True))
        }

    def estimate(self, reports: Mapping[str, Any]) -> dict[str, Frequencies | Mean]:
        """Each attribute's frequencies or mean, with intervals for all who reported."""
        if not set(reports) <= set(self.names):
            raise InvalidValue(f"This task is about {list(self.names)}.", fix="Leave other attributes out.")
        parts = dict(zip(self.names, self.parts, strict=True))
        found = {name: parts[name].estimate(reports[name]) for name in self.names if name in reports}
        return {name: one.of_a_part() for name, one in found.items()}


def _column(part: Part, values: Any) -> NDArray[Any]:
    # As objects, named keys stay what they are: an array of strings and integers would be one of strings.
    named = isinstance(part, Oracle) and not isinstance(part.keys, int)
    try:
        return np.asarray(values, object) if named else np.asarray(values)
    except ValueError:
        raise InvalidValue("Expected a column of single values.", fix="Give one value per person.") from None


def _part(kind: Range | Sequence[Key] | int, epsilon: Fraction) -> Part:
    if isinstance(kind, Range):
        return Hybrid(rational(kind.low, "low"), rational(kind.high, "high"), epsilon)
    return OUE(kind, epsilon)
