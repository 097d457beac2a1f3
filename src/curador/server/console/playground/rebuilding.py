"""Reconstruction: two hundred secret bits from counts of random subsets."""

from __future__ import annotations

from fractions import Fraction

from curador.audit.reconstruction import recovered
from curador.server.console.playground.formula import formula, power
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, at_most, few, number
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis
from curador.show.pages.exhibits import Drawing

BITS = 200


def show(counts: Fraction, epsilon: Fraction) -> Illustration:
    """What least squares finds from exact counts, from noise without a budget, and within one."""
    found = recovered(BITS, int(counts), epsilon)
    bars = (
        Bar("@playground.rebuilding-exact", found.exact),
        Bar("@playground.rebuilding-unbudgeted", found.unbudgeted),
        Bar(f"ε = {number(epsilon)}", found.private, mark=found.ceiling),
    )
    return Illustration(
        {"bits": BITS, "counts": f"{int(counts):,}", "epsilon": number(epsilon)}
        | {
            name: few(getattr(found, name), percent=True)
            for name in ("exact", "unbudgeted", "private", "guess")
        }
        | {"ceiling": at_most(found.ceiling)},
        (
            Drawing(
                "playground.rebuilding-chart", bars=bars, x=Axis("@playground.rebuilding-share", percent=True,
                ends=(0, 1)), mark="@playground.rebuilding-ceiling",
            ),
        ),
        f"""from curador.audit.reconstruction import recovered

found = recovered(bits={BITS}, counts={int(counts)}, epsilon={number(epsilon)})
print(found.exact, found.unbudgeted, found.private, found.ceiling)
""",
    )  # fmt: skip


LESSON = Lesson(
    "rebuilding",
    formula("min", power("‖A s − c‖", "2"), ",   s ∈", power("{0, 1}", "n")),
    (Knob("counts", "1000", "200", "1000", whole=True), Knob("epsilon", "1", "0.01", "10000")),
    show,
)
