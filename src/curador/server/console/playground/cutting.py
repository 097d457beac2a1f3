"""Noise that is cut off: no epsilon is promised any more, and delta says how often it shows."""

from __future__ import annotations

from fractions import Fraction

from curador.audit.game import CURVE, certain, truncated
from curador.server.console.playground.formula import formula, fraction, power
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, tenth
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing

DRAWS = 2000

NEAR = 30
"""The chart reaches to this bound, or to twice the one that is chosen."""


def show(bound: Fraction) -> Illustration:
    """The delta of noise that is cut off at a bound, and how many answers tell all."""
    cut = int(bound)
    near = {bound for bound in CURVE if bound <= max(NEAR, 2 * cut)}
    (here,), found = truncated((cut,)), truncated(tuple(sorted({*near, cut})))
    curve = Track(
        "@playground.cutting-delta", tuple(float(t.bound) for t in found), tuple(t.log_delta for t in found)
    )  # fmt: skip
    place = Track("@playground.cutting-here", (float(cut),), (here.log_delta,), "points")
    return Illustration(
        {
            "bound": cut,
            "epsilon": "∞",
            "power": f"{here.log_delta:.1f}",
            "delta": tenth(here.log_delta),
            "draws": f"{DRAWS:,}",
            "sure": f"{certain(cut, DRAWS):,}",
        },
        (
            Drawing(
                "playground.cutting-chart", "xy", (curve, place), x=Axis("@playground.cutting-bound", log=True),
                y=Axis("@playground.cutting-log"),
            ),
        ),
        f"""from curador import accounting
from curador.accounting.events import TruncatedLaplaceNoise
from curador.audit.game import truncated

noise = TruncatedLaplaceNoise(scale=1, sensitivity=1, bound={cut})
print(accounting.renyi(noise, float("inf")))
print(truncated([{cut}])[0].log_delta)
""",
    )  # fmt: skip


LESSON = Lesson(
    "cutting",
    formula("P(x > B | Ā) = 0 < P(x > B | A)", ",   δ ≈", fraction("e − 1", "2"), power("e", "−B")),
    (Knob("bound", "5", "2", "1000", whole=True),),
    show,
)
