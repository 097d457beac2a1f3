"""From the chances of one event on two neighbours to the least loss that explains them, in a claim's own number."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curador.errors import NotPromised
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

Chances = NDArray[np.float64]

ORDERS = np.concatenate([1 + np.geomspace(1e-3, 1, 16), np.geomspace(2.1, 1e4, 48)])
"""Orders at which a concentrated claim is tried; each gives a valid floor, so a coarse grid only makes it lower."""


class Floors(NamedTuple):
    """For each event the least loss that explains it, and the number of the claim that it stands against."""

    least: Chances
    stated: Chances
    order: Chances

    @property
    def excess(self) -> Chances:
        """How many times the stated loss: above 1 contradicts the claim."""
        return np.asarray(self.least / np.maximum(self.stated, 1e-300))


@singledispatch
def floors(claim: Guarantee, own: Any, other: Any) -> Floors:
    """Floors from events whose chance is at least ``own`` on one neighbour and at most ``other`` on the other.

    Whether an event happened is a coin made from the output, so a divergence between the two coins is one between
    the two outputs' laws at least (post-processing).

    Guarantee: at most the true loss, where the two limits hold: [DR14, Definition 2.4] for epsilon at delta; the
        Rényi divergence of the two coins, which is exact and grows with ``own`` and falls with ``other`` wherever own
        is above other [BS16, Mir17]; an approximate concentrated claim is about laws conditioned on events of chance
        1 - delta [BS16, Definition 8.1], whose coins have chances of (own - delta) / (1 - delta) at least and
        other / (1 - delta) at most.

    >>> float(floors(PureDP(1), 0.5, 0.25).least.round(4))  # ln 2
    0.6931
    >>> found = floors(ZCDP(0.5), 0.5, 0.25)
    >>> bool(found.least <= np.log(2) ** 2 / 2)
    True
    """
    raise NotPromised(
        f"The tester knows no floor for {type(claim).__name__}.", fix="State PureDP, ApproxDP, ZCDP or RenyiDP."
    )


@floors.register
def _(claim: PureDP, own: Any, other: Any) -> Floors:
    return _at(0.0, claim.epsilon, own, other)


@floors.register
def _(claim: ApproxDP, own: Any, other: Any) -> Floors:
    return _at(claim.delta, claim.epsilon, own, other)


@floors.register
def _(claim: ZCDP, own: Any, other: Any) -> Floors:
    p, q = (np.asarray(x, np.float64) for x in (own, other))
    if claim.delta >= 1:
        return _flat(np.zeros(p.shape), claim.rho)
    kept = 1 - claim.delta
    rho = _coins(np.maximum(p - claim.delta, 0) / kept, np.minimum(q / kept, 1), ORDERS) / ORDERS
    best = rho.argmax(axis=-1)
    least = np.take_along_axis(rho, best[..., np.newaxis], axis=-1)[..., 0]
    return Floors(least, np.full(p.shape, claim.rho), ORDERS[best])


@floors.register
def _(claim: RenyiDP, own: Any, other: Any) -> Floors:
    orders, stated = np.array(claim.curve, np.float64).T
    p, q = (np.asarray(x, np.float64) for x in (own, other))
    found = _coins(p, q, orders)
    best = (found / np.maximum(stated, 1e-300)).argmax(axis=-1)
    least = np.take_along_axis(found, best[..., np.newaxis], axis=-1)[..., 0]
    return Floors(least, stated[best], orders[best])


def _at(delta: float, epsilon: float, own: Any, other: Any) -> Floors:
    p, q = (np.asarray(x, np.float64) for x in (own, other))
    with np.errstate(divide="ignore"):
        ratio = np.log(np.maximum(p - delta, 0)) - np.log(q)
    return _flat(np.maximum(np.where(np.isnan(ratio), 0.0, ratio), 0.0), epsilon)


def _flat(least: Chances, stated: float) -> Floors:
    return Floors(least, np.full(least.shape, stated), np.full(least.shape, np.nan))


def _coins(p: Chances, q: Chances, orders: Chances) -> Chances:
    """The Rényi divergences of a coin of chance p from one of chance q, of every order; 0 where p <= q."""
    p, q = p[..., np.newaxis], q[..., np.newaxis]
    finite = np.where(np.isinf(orders), 2.0, orders)
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = finite * np.log(p) - (finite - 1) * np.log(q)
        no = finite * np.log1p(-p) - (finite - 1) * np.log1p(-q)
        found = np.where(np.isinf(orders), np.log(p) - np.log(q), np.logaddexp(yes, no) / (finite - 1))
    return np.asarray(np.where(p > q, np.maximum(np.nan_to_num(found, nan=0.0, posinf=np.inf), 0.0), 0.0))
