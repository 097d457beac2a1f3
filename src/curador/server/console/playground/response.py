"""Randomized response: two coins between a person and the truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from curador import RandomizedResponse
from curador.server.console.playground.formula import formula, fraction
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis
from curador.show.pages.exhibits import Drawing

NORMAL = 1.96


def truth(gamma: Fraction) -> Fraction:
    """The chance of a true report: the first coin says so, or else the second one happens to.

    >>> truth(Fraction(1, 2))
    Fraction(3, 4)
    """
    return gamma + (1 - gamma) / 2


def show(gamma: Fraction, people: Fraction, share: Fraction) -> Illustration:
    """Reports that the engine draws, and what they say about everybody."""
    mechanism, n = RandomizedResponse(truth=truth(gamma)), int(people)
    yes = round(n * share)
    reports = mechanism.release([1] * yes + [0] * (n - yes))
    found, errors = mechanism.estimate(reports)
    said, estimate, error = float(np.mean(reports)), float(found[1]), NORMAL * float(errors[1])
    bars = (
        Bar("@playground.response-true", yes / n),
        Bar("@playground.response-said", said),
        Bar("@playground.response-estimate", estimate, estimate - error, estimate + error, mark=yes / n),
    )
    return Illustration(
        {
            "truth": few(float(mechanism.truth), percent=True),
            "epsilon": few(mechanism.epsilon),
            "said": few(said, percent=True),
            "estimate": few(estimate, percent=True),
            "error": few(error, percent=True),
            "real": few(yes / n, percent=True),
        },
        (
            Drawing(
                "playground.response-chart",
                bars=bars,
                x=Axis("@playground.response-share", percent=True),
                mark="@playground.response-true",
            ),
        ),
        f"""from curador import RandomizedResponse

mechanism = RandomizedResponse(truth={number(truth(gamma))})
print(mechanism.epsilon)
reports = mechanism.release([1] * {yes} + [0] * {n - yes})
frequencies, errors = mechanism.estimate(reports)
print(frequencies[1], "±", {NORMAL} * errors[1])
""",
    )


LESSON = Lesson(
    "response",
    formula("ε = ln", fraction("1 + γ", "1 − γ"), ",  π =", fraction("q − (1 − γ)/2", "γ")),
    (
        Knob("gamma", "0.5", "0.01", "0.99"),
        Knob("people", "1000", "10", "100000", whole=True),
        Knob("share", "0.3", "0", "1"),
    ),
    show,
)
