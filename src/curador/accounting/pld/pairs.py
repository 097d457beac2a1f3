"""Pairs of output laws, laid out by privacy loss: the interface of every pair, and composed pairs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import reduce
from typing import NamedTuple, TypeVar, cast

import numpy as np

from curador.accounting.pld.cells import Atoms, Cells, Complexes, Floats, atoms, thinned

ERROR = 2.0**-48  # relative, of the result of a formula of a few operations


class Ends(NamedTuple):
    """The supremum of the finite losses, its P-mass, and the P-mass of an infinite loss."""

    top: float
    mass: float
    infinite: float


class Pair(ABC):
    """A pair of laws (P, Q) that dominates the effect of an event on two neighbours [ZDW22]."""

    @property
    def infinite(self) -> float:
        """The P-mass where Q has none, for pairs with a formula."""
        return 0.0

    @property
    def closed(self) -> bool:
        """Whether moments come from a formula."""
        return True

    def exact(self, tilts: Sequence[float], omega: float, tail: float) -> bool:
        """Whether moments come from a formula, or from :meth:`nodes`, and so bound from both sides."""
        return self.closed

    @property
    def error(self) -> float:
        """The rounding error of the parameters as doubles: a factor of masses, a distance of losses."""
        return ERROR

    @property
    def variance(self) -> float:
        """The variance of an independent normal part of the loss: its moments fall off as a normal law's."""
        return 0.0

    @property
    def phase(self) -> float:
        """The phase per frequency that :meth:`tilted` leaves out."""
        return 0.0

    @property
    def formula(self) -> tuple[object, ...] | None:
        """Pairs of one class and formula are evaluated together (:func:`stacked`); None for none."""
        return None

    @abstractmethod
    def extent(self, theta: float) -> float:
        """The size of the losses that matter after tilting by exp(theta * loss)."""

    @abstractmethod
    def cells(self, count: int, tail: float) -> Cells:
        """About ``count`` cells, none with 0 strictly inside.

        For an unbounded cell, the law to which its losses are unlikely has a mass of about ``tail``.
        """

    def ends(self) -> Ends:
        """The largest finite loss, and the masses exactly there and beyond."""
        c = self.cells(2, 0.1)
        finite = (c.p > 0) & (c.low < math.inf)
        top = float(np.max(c.high[finite], initial=-math.inf))
        return Ends(top, float(c.p[finite & (c.low == top)].sum()), float(c.p[c.low == math.inf].sum()))

    def log_moment(self, s: Complexes) -> Complexes | None:
        """The log of the integral of exp(s * loss) under P over finite losses, where a formula gives it."""
        return None

    def nodes(self, tilts: Sequence[float], omega: float, tail: float) -> Atoms | None:
        """Atoms with the same moments up to rounding, or None.

        They agree at theta + i w, for each theta in ``tilts`` and |w| <= omega.
        """
        return None

    def sketch(self, tail: float) -> Atoms | None:
        """Some hundred atoms with roughly the same moments, or None."""
        return None

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        """Bound log |E exp((theta + i w) L) / E exp(theta L)| for all w >= omega, for each omega."""
        return np.zeros_like(omega)

    def tilted(self, theta: float, omega: Floats) -> Complexes:
        """Compute E exp((theta + i w) L) / E exp(theta L) for each omega, without the phase exp(i w edge)."""
        raise NotImplementedError  # pragma: no cover - every formula has one


P = TypeVar("P", bound=Pair)


def stacked(pairs: Sequence[P]) -> P:
    """Stack pairs of one formula: numbers become columns, so that a formula gives one row for each pair."""
    return cast(P, _column(pairs))


def _column(values: Sequence[object]) -> object:
    first = values[0]
    if isinstance(first, tuple):
        return tuple(_column(x) for x in zip(*cast(Sequence[tuple[object, ...]], values), strict=True))
    if is_dataclass(first) and not isinstance(first, type):
        return type(first)(**{f.name: _column([getattr(v, f.name) for v in values]) for f in fields(first)})
    if first is None or not any(cast(Sequence[float], values)):
        return first  # no ramp, no step, no mass: as in the formula
    return np.array(values, np.float64)[:, None]


def some(x: object) -> bool:
    """Whether a number, or any in a column, is not 0; asking numpy takes longer than computing."""
    return bool(x) if isinstance(x, float | int) else bool(np.any(cast(Floats, x)))


def log_sum(*logs: Complexes) -> Complexes:
    """log(exp(a) + exp(b) + ...), for complex logarithms of any size."""
    if len(logs) == 1:
        return logs[0]
    top = reduce(np.maximum, (x.real for x in logs))
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(reduce(np.add, (np.exp(x - top) for x in logs))))


@dataclass(frozen=True)
class Points(Pair):
    """A loss and its opposite, or none, with the masses of P; Q has the same masses the other way round.

    Randomised response, and the worst of all (epsilon, delta)-DP mechanisms; ``infinite`` is the mass of either law
    that the other never reaches.
    """

    loss: float
    masses: tuple[float, float, float]  # at loss, at 0 and at -loss
    infinite: float = 0.0

    @property
    def error(self) -> float:
        return ERROR * (1 + self.loss)

    @property
    def formula(self) -> tuple[object, ...] | None:
        return (bool(self.masses[1]), bool(self.infinite)) if self.loss and self.masses[0] else None

    def extent(self, theta: float) -> float:
        return self.loss

    def ends(self) -> Ends:
        top = (self.loss, self.masses[0]) if some(self.masses[0]) else (0.0, self.masses[1])
        return Ends(*top, self.infinite)

    def cells(self, count: int, tail: float) -> Cells:
        losses = [self.loss, 0.0, -self.loss]
        return atoms(losses, self.masses, self.masses[::-1], self.infinite, self.infinite)

    def log_moment(self, s: Complexes) -> Complexes:
        losses = (self.loss, 0.0, -self.loss)
        logs = [np.log(m) + s * x for x, m in zip(losses, self.masses, strict=True) if some(m)]
        return log_sum(*logs) if logs else np.full(s.shape, -math.inf + 0j)

    @property
    def phase(self) -> float:
        return self.loss

    def tilted(self, theta: float, omega: Floats) -> Complexes:
        turn = np.exp(-1j * omega * self.loss)
        shrink = np.exp(-theta * self.loss)
        first, middle, last = self.masses[0], self.masses[1] * shrink, self.masses[2] * shrink**2
        return np.asarray((first + turn * (middle + turn * last)) / (first + middle + last))


@dataclass(frozen=True)
class Thinned(Pair):
    """The base with probability ``rate``, else nothing; the output shows which of the two it was."""

    base: Pair
    rate: Fraction

    @property
    def error(self) -> float:
        return self.base.error + ERROR

    @property
    def closed(self) -> bool:
        return self.base.closed

    @property
    def infinite(self) -> float:
        return float(self.rate) * self.base.infinite

    def extent(self, theta: float) -> float:
        return self.base.extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        return thinned(self.base.cells(count, tail), self.rate)

    def log_moment(self, s: Complexes) -> Complexes | None:
        inner = self.base.log_moment(s)
        if inner is None:
            return None
        return log_sum(np.full(s.shape, math.log(1 - self.rate) + 0j), math.log(self.rate) + inner)


@dataclass(frozen=True)
class Mixed(Pair):
    """The base run on a sample; ``shape`` is the sample's effect on cells, ``most`` bounds the loss."""

    base: Pair
    rate: Fraction
    shape: Callable[[Cells, Fraction], Cells]
    most: float = math.inf

    def ends(self) -> Ends:
        found = super().ends()
        return found._replace(top=min(found.top, self.most))

    @property
    def closed(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return self.base.error + 8 * ERROR

    def extent(self, theta: float) -> float:
        return self.base.extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        return self.shape(self.base.cells(count, tail), self.rate)
