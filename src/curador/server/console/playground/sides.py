"""Central against local: the same promise, with the noise on the count or on each person."""

from __future__ import annotations

from fractions import Fraction

from curador import IntegerLaplace
from curador.local import KRR
from curador.server.console.playground.formula import formula, fraction, root
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing

PEOPLE = (100, 1000, 10_000, 100_000, 1_000_000)


def errors(epsilon: Fraction, people: int) -> tuple[float, float]:
    """The errors of a count of people, in people, 95 times of 100: a curator's, and from randomized answers.

    >>> central, local = errors(Fraction(1), 10_000)
    >>> central, local > 100
    (3.0, True)
    """
    local = KRR(keys=["yes", "no"], epsilon=epsilon)
    return IntegerLaplace(1, epsilon).error(0.95), people * min(1.0, local.error(people))


def show(epsilon: Fraction, people: Fraction) -> Illustration:
    """Both errors by the number of people."""
    n = int(people)
    central, local = errors(epsilon, n)
    found = [errors(epsilon, some) for some in PEOPLE]
    x = tuple(map(float, PEOPLE))
    tracks = (
        Track("@playground.sides-central", x, tuple(c for c, _ in found)),
        Track("@playground.sides-local", x, tuple(v for _, v in found)),
    )
    return Illustration(
        {
            "people": f"{n:,}",
            "epsilon": number(epsilon),
            "central": few(central),
            "local": few(local),
            "times": few(local / central),
        },
        (
            Drawing(
                "playground.sides-chart", "xy", tracks, x=Axis("@playground.sides-people", log=True),
                y=Axis("@playground.sides-error", log=True),
            ),
        ),
        f"""from curador import IntegerLaplace
from curador.local import KRR

print(IntegerLaplace(sensitivity=1, epsilon={number(epsilon)}).error(0.95))
print({n} * min(1, KRR(keys=["yes", "no"], epsilon={number(epsilon)}).error({n})))
""",
    )  # fmt: skip


LESSON = Lesson(
    "sides",
    formula("O", "(", fraction("1", "ε"), ")", ",   O(", fraction(root("n"), "ε"), ")"),
    (Knob("epsilon", "1", "0.05", "3"), Knob("people", "10000", "100", "1000000", whole=True)),
    show,
)
