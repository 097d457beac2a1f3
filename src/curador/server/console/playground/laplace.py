"""Laplace noise by its centre µ and its scale b."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from curador import Laplace
from curador.server.console.playground.formula import formula, fraction, power
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing

DRAWS, BINS, REACH = 1000, 24, 6
"""How many answers are drawn, in how many classes they are counted, and how many scales the chart is wide each way."""


def density(x: float, mu: float, b: float) -> float:
    """The density of Laplace's law.

    >>> density(0, 0, 1)
    0.5
    """
    return math.exp(-abs(x - mu) / b) / (2 * b)


def show(mu: Fraction, b: Fraction) -> Illustration:
    """The law, and answers that the engine draws from it."""
    mechanism, centre, scale = Laplace(1, scale=b), float(mu), float(b)
    answers = np.asarray(mechanism.release([centre] * DRAWS))
    low, high = centre - REACH * scale, centre + REACH * scale
    counts, edges = np.histogram(answers, BINS, (low, high))
    wide = (high - low) / BINS
    x = tuple(low + k * (high - low) / 120 for k in range(121))
    drawn = Track(
        "@playground.laplace-drawn",
        tuple((edges[:-1] + wide / 2).tolist()),
        tuple((counts / (DRAWS * wide)).tolist()),
        "points",
    )
    law = Track("@playground.laplace-law", x, tuple(density(v, centre, scale) for v in x))
    error = mechanism.error(0.95)
    inside = float((np.abs(answers - centre) <= error).mean())
    return Illustration(
        {
            "epsilon": few(float(1 / b)),
            "error": few(error),
            "spread": few(math.sqrt(2) * scale),
            "draws": f"{DRAWS:,}",
            "inside": few(inside, percent=True),
        },
        (
            Drawing(
                "playground.laplace-chart", "xy", (law, drawn), x=Axis("@playground.laplace-value", ends=(low, high)),
                y=Axis("@playground.laplace-density"),
            ),
        ),
        f"""from curador import Laplace

mechanism = Laplace(sensitivity=1, scale={number(b)})
print(mechanism.error(0.95))
print(mechanism.release([{number(mu)}] * 5))
""",
    )  # fmt: skip


LESSON = Lesson(
    "laplace",
    formula("f(x) =", fraction("1", "2b"), power("e", "−|x − µ|/b")),
    (Knob("mu", "0", "-1000", "1000"), Knob("b", "2", "0.01", "1000")),
    show,
)
