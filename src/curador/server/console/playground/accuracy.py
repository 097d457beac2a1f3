"""Epsilon against error: what a smaller promise costs a count."""

from __future__ import annotations

from fractions import Fraction

from curador import IntegerLaplace
from curador.server.console.playground.formula import formula, fraction
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing

EPSILONS = (*(round(10 ** (k / 10), 6) for k in range(-20, 5)), 3)
"""Where the curve is drawn: from 0.01 to 3; far above it a count is exact 95 times of 100."""


def show(epsilon: Fraction, people: Fraction) -> Illustration:
    """The error of a count at an epsilon, and at all others."""
    error, half = (IntegerLaplace(1, e).error(0.95) for e in (epsilon, epsilon / 2))
    errors = tuple(IntegerLaplace(1, e).error(0.95) for e in EPSILONS)
    curve = Track("@playground.accuracy-curve", EPSILONS, errors)
    here = Track("@playground.accuracy-here", (float(epsilon),), (error,), "points")
    return Illustration(
        {
            "epsilon": number(epsilon),
            "error": few(error),
            "half": few(half),
            "share": few(error / float(people), percent=True),
            "people": f"{int(people):,}",
        },
        (
            Drawing(
                "playground.accuracy-chart", "xy", (curve, here), x=Axis("@playground.epsilon", log=True),
                y=Axis("@playground.accuracy-error", log=True),
            ),
        ),
        f"""from curador import IntegerLaplace

mechanism = IntegerLaplace(sensitivity=1, epsilon={number(epsilon)})
print(mechanism.error(0.95))
print(mechanism.release({int(people)}))
""",
    )  # fmt: skip


LESSON = Lesson(
    "accuracy",
    formula("P(|X| > t) ≤", "β", "⇐ t =", fraction("Δ", "ε"), "ln", fraction("1", "β")),
    (Knob("epsilon", "0.5", "0.01", "3"), Knob("people", "1000", "1", "1000000000", whole=True)),
    show,
)
