"""A wanted accuracy costs what it really takes: no error is missed, and 5 % less would not have reached it.

Measured on noise that is drawn, for every aggregate with noise, with Laplace and Gaussian noise and under both kinds of
neighbours.  Not here, and why:

* quantiles, least and largest values, bounds: the ranks that are stated are reached by some data only (one right value
  among many wrong ones; docs/proofs/selection.md), so that for most data they are met with less;
* ratios: their error depends on the answers, and a wanted one is refused;
* rho: an accuracy finds an epsilon;
* top_k and counts over a tree: the choice of groups, and the fit, come after the noise whose error is stated.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.privacy import ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import MeasureKind
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.sums import sum_
from curador.query.answer.noise import noise
from curador.query.answer.postprocess import answered
from curador.query.ask.builder import TableQuery
from curador.query.plan.checked import check
from curador.query.plan.expected import within
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.table import Table
from tests.query.answer.found import Answers

GROUPS, ROWS = 40_000, 60_000


def _two(low: int) -> NDArray[np.int64]:
    """So many values at the lower bound, the others at the upper one."""
    return np.repeat([0, 100], [low, ROWS - low])


VALUES = {
    "mean": np.repeat([99, 100], [ROWS // 10, ROWS - ROWS // 10]),
    "variance": _two(120),
    "std": _two(5505),
}
"""The values that are hardest to measure: an error that is stated beforehand holds for all.  A mean is hardest near a
bound, and so is a variance, but not so near that the answer is held to what it can be; a standard deviation where it is
the least that is assumed, that of values spread evenly over their bounds, and the mean as far out as that allows."""

EVEN = np.arange(ROWS) % 101


ASKED: dict[str, Aggregate] = {
    "count": count(),
    "present": count("y"),
    "units": count_distinct(),
    "sum": sum_("x"),
    "mean": mean("x"),
    "variance": variance("x", population=True),
    "std": std("x", population=True),
}


def true_value(name: str) -> float:
    values = VALUES.get(name, EVEN)
    found = {
        "sum": values.sum(),
        "mean": values.mean(),
        "variance": values.var(),
        "std": values.std(),
        "difference": ROWS - 2 * values.sum(),
    }
    return float(found.get(name, ROWS))


def planner(name: str, neighbors: str, noise: str) -> Planner:
    columns = {
        "k": {"type": "integer", "keys": range(GROUPS)},
        "x": {"type": "integer", "bounds": [0, 100], "nullable": False},
        "y": {"type": "integer", "bounds": [0, 100]},
    }
    tables = {"t": Table("no-such.csv", columns=columns, neighbors=neighbors)}
    query = TableQuery.of("t", tables).group_by("k")
    if name == "difference":
        query = query.aggregate(n=count(), s=sum_("x")).derive(difference="n - 2 * s").show("difference")
    else:
        query = query.aggregate(**{name: ASKED[name]})
    return Planner(check(query.question, tables), noise, rows=ROWS)


def met(made: Plan, name: str, error: Fraction) -> float:
    """How often the error is within what was wanted, in many groups of the same rows."""
    values = VALUES.get(name, EVEN)
    exact = {
        MeasureKind.SUM: values.sum(),
        MeasureKind.CENTRED: (values - 50).sum(),
        MeasureKind.SQUARES: ((values - 50) ** 2).sum(),
    }
    columns = {m: [int(exact.get(m.kind, ROWS))] * GROUPS for m in made.measures}
    found = answered(made, noise(made, Answers([(k,) for k in range(GROUPS)], columns)))
    off = np.abs(np.array(found.columns[name], float) - true_value(name))
    return float((off <= float(error) * (1 + 1e-9)).mean())


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(("noise", "delta"), [("laplace", None), ("gaussian", "1e-6")])
@pytest.mark.parametrize("name", [*ASKED, "difference"])
def test_an_accuracy_is_reached_by_the_least_epsilon(name: str, noise: str, delta: str | None, neighbors: str) -> None:
    """40,000 draws: 0.4 % is four deviations of how often 95 % happens.

    Of a mean in Laplace noise 6 % less would do: integer noise is taken to be at its furthest from continuous noise.
    """
    search = planner(name, neighbors, noise)

    def budget(epsilon: Fraction) -> Guarantee:
        return PureDP(float(epsilon)) if delta is None else ApproxDP(float(epsilon), float(delta))

    (stated,) = search.plan(budget(Fraction(1, 2))).expected
    assert stated.value is not None
    wanted: Any = within(stated.value, output=name)
    made = search.reaching(wanted, delta)
    epsilon = Fraction(str(made.budget.epsilon))  # type: ignore[attr-defined]
    assert epsilon <= Fraction(501, 1000)  # of three digits
    often = met(made, name, wanted.error)
    assert 0.946 < often < 0.97
    less = search.plan(budget(epsilon * Fraction(95, 100)))
    assert met(less, name, wanted.error) < 0.95 + 0.004
    assert often > met(less, name, wanted.error)
