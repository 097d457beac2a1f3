"""Composition: what k answers promise together, by each theorem."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from curador import PureDP, accounting
from curador.accounting.composition import advanced
from curador.accounting.convert import pure_to_zcdp_tight, renyi_epsilon, zcdp_epsilon
from curador.accounting.events import LaplaceNoise
from curador.accounting.optimal import optimal_epsilon
from curador.accounting.rules.renyi import renyi_curve
from curador.server.console.playground.formula import formula, power, root
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Listing

POINTS = 8
ORDERS = (1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512)
THEOREMS = ("basic", "advanced", "optimal", "zcdp", "renyi", "pld")
DRAWN = ("basic", "advanced", "zcdp", "pld")
"""Those of the chart: the optimal theorem is next to the loss distribution, and Rényi next to zCDP."""


def counts(k: int) -> tuple[int, ...]:
    """Numbers of answers at which the theorems are compared, up to k.

    >>> counts(100)
    (1, 2, 4, 7, 14, 27, 52, 100)
    """
    return tuple(sorted({round(k ** (i / (POINTS - 1))) for i in range(POINTS)}))


@lru_cache(maxsize=64)
def together(epsilon: Fraction, delta: Fraction, several: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    """The epsilon at delta of so many answers of an epsilon each, by theorem; the last two know that it is Laplace.

    >>> found = together(Fraction(1, 10), Fraction(1, 10**6), (100,))
    >>> found["basic"], found["optimal"], found["pld"]
    ((10.0,), (4.774...,), (4.692...,))
    """
    each, noise = PureDP(float(epsilon)), LaplaceNoise(1 / epsilon, Fraction(1))
    rho, curve = Fraction(pure_to_zcdp_tight(epsilon)), renyi_curve(noise, ORDERS)
    return {
        "basic": tuple(float(k * epsilon) for k in several),
        "advanced": tuple(advanced(each, k, delta).epsilon for k in several),
        "optimal": tuple(optimal_epsilon(each, k, delta) for k in several),
        "zcdp": tuple(zcdp_epsilon(k * rho, delta).value for k in several),
        "renyi": tuple(renyi_epsilon(dict((k * curve).curve), delta).value for k in several),
        "pld": tuple(accounting.epsilon(k * noise, delta).upper for k in several),
    }


def show(epsilon: Fraction, k: Fraction, delta: Fraction) -> Illustration:
    """The theorems over the number of answers, and at the last one."""
    several = counts(int(k))
    found = together(epsilon, delta, several)
    x = tuple(map(float, several))
    tracks = tuple(Track(f"@playground.composing-{name}", x, found[name]) for name in DRAWN)
    rows = tuple((f"@playground.composing-{name}", few(found[name][-1])) for name in THEOREMS)
    return Illustration(
        {"k": f"{int(k):,}", "epsilon": number(epsilon)}
        | {name: few(found[name][-1]) for name in ("basic", "optimal", "pld")},
        (
            Drawing(
                "playground.composing-chart", "xy", tracks, x=Axis("@playground.composing-answers"),
                y=Axis("@playground.composing-total"),
            ),
        ),
        f"""from curador import PureDP, accounting
from curador.accounting.composition import advanced
from curador.accounting.events import LaplaceNoise
from curador.accounting.optimal import optimal_epsilon

each, k, delta = PureDP({number(epsilon)}), {int(k)}, {number(delta)}
print(advanced(each, k, delta).epsilon)
print(optimal_epsilon(each, k, delta))
noise = LaplaceNoise(scale=1 / {number(epsilon)}, sensitivity=1)
print(accounting.epsilon(k * noise, delta).upper)
""",
        (Listing("playground.composing-table", ("playground.composing-theorem", "playground.composing-total"), rows),),
    )  # fmt: skip


LESSON = Lesson(
    "composing",
    formula("kε", ",   ε", root("2k ln(1/δ)"), "+ kε(", power("e", "ε"), "− 1)"),
    (
        Knob("epsilon", "0.1", "0.01", "2"),
        Knob("k", "100", "2", "1000", whole=True),
        Knob("delta", "1e-6", "1e-12", "0.1"),
    ),
    show,
)
