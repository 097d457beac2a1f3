"""Rényi curves of randomized response, Laplace and Gaussian noise; and a table of what each promises."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import cast

from curador import PureDP, RenyiDP
from curador.accounting import renyi
from curador.accounting.course import probability_bound
from curador.accounting.events import Event, GaussianNoise, LaplaceNoise, RandomizedAnswer
from curador.accounting.rules.groups import group, stable
from curador.server.console.playground.formula import formula, fraction, power
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Listing

ORDERS = tuple(Fraction(11 + 2 * k, 10) for k in range(46))
"""The orders at which curves are drawn."""

RARE = Fraction(1, 100)
"""The chance of the set of the table's first row."""


@lru_cache(maxsize=256)
def curve(event: Event) -> tuple[float, ...]:
    """The divergence at each of the orders.

    >>> curve(GaussianNoise(1, 1))[0]
    0.55
    """
    return tuple(renyi(event, a) for a in ORDERS)


def table(truth: Fraction, alpha: Fraction, noises: tuple[Event, Event]) -> tuple[tuple[str, str, str], ...]:
    """What is promised of randomized response by ε, and by ζ at the order α.

    >>> rows = table(Fraction(3, 4), Fraction(4), (LaplaceNoise(1, 1), GaussianNoise(1, 1)))
    >>> rows[2]
    ('@playground.divergence-twice', '2.197', '2.006')
    """
    coin = RandomizedAnswer(2, truth)
    epsilon, zeta = renyi(coin, math.inf), renyi(coin, alpha)
    one = RenyiDP({alpha: zeta})
    ((order, cost),) = stable(one, 1).curve
    twice = (2 * one).curve[0][1]
    pure = PureDP(epsilon)
    doubled = cast(PureDP, group(pure, 2))
    rows = [
        ("set", few(min(1.0, math.exp(epsilon) * float(RARE))), few(probability_bound(RARE, zeta, alpha))),
        ("after", few(epsilon), few(zeta)),
        ("twice", few((2 * pure).epsilon), few(twice)),
        ("pair", few(doubled.epsilon), f"{few(cost)} (α = {few(order)})"),
        ("response", few(epsilon), few(zeta)),
    ]
    rows += [
        (name, few(pure_of) if (pure_of := renyi(noise, math.inf)) < math.inf else "∞", few(renyi(noise, alpha)))
        for name, noise in zip(("laplace", "gaussian"), noises, strict=True)
    ]
    return tuple((f"@playground.divergence-{name}", left, right) for name, left, right in rows)


def show(truth: Fraction, scale: Fraction, sigma: Fraction, alpha: Fraction) -> Illustration:
    """The three curves, and the table at one order."""
    laplace, gaussian = LaplaceNoise(scale, Fraction(1)), GaussianNoise(sigma, Fraction(1))
    events: tuple[tuple[str, Event], ...] = (
        ("response", RandomizedAnswer(2, truth)),
        ("laplace", laplace),
        ("gaussian", gaussian),
    )
    x = tuple(map(float, ORDERS))
    tracks = tuple(Track(f"@playground.divergence-{name}", x, curve(event)) for name, event in events)
    headings = ("playground.divergence-what", "playground.divergence-pure", "playground.divergence-at")
    return Illustration(
        {"alpha": number(alpha), "limit": few(float(1 / scale)), "slope": few(float(1 / (2 * sigma**2)))},
        (
            Drawing(
                "playground.divergence-chart", "xy", tracks, x=Axis("@playground.divergence-order"),
                y=Axis("@playground.divergence-zeta"),
            ),
        ),
        f"""from curador.accounting import renyi
from curador.accounting.events import GaussianNoise, LaplaceNoise, RandomizedAnswer

print(renyi(RandomizedAnswer(2, {number(truth)}), {number(alpha)}))
print(renyi(LaplaceNoise(scale={number(scale)}, sensitivity=1), {number(alpha)}))
print(renyi(GaussianNoise(sigma={number(sigma)}, sensitivity=1), {number(alpha)}))
""",
        (Listing("playground.divergence-table", headings, table(truth, alpha, (laplace, gaussian))),),
    )  # fmt: skip


LESSON = Lesson(
    "divergence",
    formula("ζ(α) =", fraction("1", "α − 1"), "ln ∑", power("P(y)", "α"), power("Q(y)", "1 − α")),
    (
        Knob("truth", "0.75", "0.51", "0.99"),
        Knob("scale", "1", "0.1", "10"),
        Knob("sigma", "2", "0.1", "10"),
        Knob("alpha", "4", "4", "64"),
    ),
    show,
)
