"""The course's dashboard: five statistics of 10,000 made-up salaries, released under a total epsilon of 1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from curador import samples, sensitivity
from curador.accounting.events import Event, compose
from curador.mechanisms.intervals import ratio_interval
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.quantiles import Quantiles
from curador.rational import Number, positive

BOUND = 200_000
BINS = 10
THRESHOLD = 100_000

SHARES = {"people": 5, "above": 10, "sum": 35, "histogram": 20, "median": 30}
"""Hundredths of the budget.  A count of thousands is precise for almost nothing; one salary moves the sum by half the
range, so the mean needs most; the histogram's bins share one charge, because a person is in one bin only."""


@dataclass(frozen=True)
class Line:
    """One released number: what it is, what came out, how wrong it may be, the truth, and what it cost.

    ``reach`` is how far to both sides the true value may lie, in ``unit``: the statistic's own, or ranks.
    """

    name: str
    released: float
    reach: float
    exact: float
    epsilon: Fraction
    how: str
    unit: str = ""


@dataclass(frozen=True)
class Bar:
    """One bin of the released histogram."""

    start: float
    end: float
    released: int


@dataclass(frozen=True)
class Dashboard:
    """All that was released, what it was as an event, and the table's true figures (it is made up)."""

    lines: tuple[Line, ...]
    bars: tuple[Bar, ...]
    bar_error: float
    bar_epsilon: Fraction
    event: Event
    epsilon: Fraction
    confidence: float


def dashboard(epsilon: Number = 1, confidence: float = 0.95) -> Dashboard:
    """Release the five statistics.

    Guarantee: epsilon-DP for one row added or removed, by basic composition [DMNS06]: the shares add up to epsilon.

    >>> board = dashboard()
    >>> [line.name for line in board.lines], len(board.bars)
    (['people', 'paid above 100,000', 'mean salary', 'median salary'], 10)
    """
    total = positive(epsilon, "epsilon")
    share = {name: total * percent / 100 for name, percent in SHARES.items()}
    # Whole units of money: integers add up exactly, floats do not [Cas22].
    pay = np.floor(samples.salaries()).astype(np.int64)
    n = len(pay)

    people = IntegerLaplace(sensitivity.count().l1, share["people"])
    above = IntegerLaplace(sensitivity.count().l1, share["above"])
    bins = IntegerLaplace(sensitivity.histogram().l1, share["histogram"])
    # Measured from the middle of the range, a salary moves the sum by half the range at most.
    centre = BOUND // 2
    around = IntegerLaplace(sensitivity.bounded_sum(-centre, centre).l1, share["sum"])
    middle = Quantiles.median(0, BOUND, epsilon=share["median"])

    counted = people.release(n)
    rich = above.release(int((pay > THRESHOLD).sum()))
    moved = around.release(int((pay - centre).sum()))
    edges = np.linspace(0, BOUND, BINS + 1)
    bars = bins.release(np.histogram(pay, edges)[0])
    median = float(middle.release(pay)[0])

    low, high = ratio_interval(moved, around, counted, people, confidence)
    mean = centre + moved / max(counted, 1)
    lines = (
        Line("people", counted, people.error(confidence), n, share["people"], "integer Laplace"),
        Line(
            f"paid above {THRESHOLD:,}",
            rich,
            above.error(confidence),
            int((pay > THRESHOLD).sum()),
            share["above"],
            "integer Laplace",
        ),
        Line(
            "mean salary",
            mean,
            max(centre + high - mean, mean - centre - low),
            float(pay.mean()),
            share["sum"],
            "sum over people",
        ),
        Line(
            "median salary",
            median,
            middle.error(confidence),
            float(np.median(pay)),
            share["median"],
            "exponential",
            "ranks",
        ),
    )
    event = compose(people.event, above.event, around.event, bins.event, middle.event)
    shown = tuple(Bar(float(a), float(b), int(c)) for a, b, c in zip(edges[:-1], edges[1:], bars, strict=True))
    return Dashboard(lines, shown, bins.error(confidence), share["histogram"], event, total, confidence)
