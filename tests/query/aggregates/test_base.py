"""A new aggregate is one file: a word and a Function.  The recipe of ARCHITECTURE.md, carried out for a toy.

The toy is the root mean square, made of a sum of squares and a count.  Nothing else of the package is touched, and a
curator plans it, says how wrong it will be, asks it and finds it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.curator import Curator
from curador.errors import QuestionRefused
from curador.mechanisms.laplace import IntegerLaplace
from curador.privacy import PureDP
from curador.query.aggregates import base
from curador.query.aggregates.base import (
    Aggregate,
    Estimate,
    Function,
    NoisyMeasure,
    Part,
    Recipe,
    aggregate_from_json,
    as_reals,
    column,
    count_beside,
    estimate_of,
    function_named,
    on_grid,
    recipe_of,
    register,
)
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean
from curador.query.aggregates.ratios import ratio_bounds
from curador.query.ask.builder import TableQuery
from curador.query.ask.question import Question
from curador.query.language.expressions import Expr, Name
from curador.query.language.types import Type
from curador.query.plan.expected import SIZES, within
from curador.query.plan.steps import Noised
from curador.query.tables.table import Table

# ---- the file that is added ----------------------------------------------------------------------------------------


def root_mean_square(what: str | Expr) -> Aggregate:
    """The root of the mean of the squares of a bounded column."""
    return Aggregate("root_mean_square", column(what))


class RootMeanSquareFunction(Function):
    """The root of a noised sum of squares over a noised count."""

    name = "root_mean_square"
    numeric = needs_bounds = by_rows = True

    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        low, high, grid = on_grid(name, t)
        squares = Measure(MeasureKind.SQUARES, aggregate.column, low, high, 0, grid)
        # (Q + q) / (N + c) moves by at most (q + h**2 c) / N, and is at most h**2.
        return (recipe_of(name, aggregate, {squares: 1 / max(squares.reach, 1), count_beside(aggregate, t): 1.0}),)

    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        (squares, squared), (rows, counted) = parts
        most, grid = float(squared.measure.reach), 2.0**-squared.measure.grid
        value = np.clip(as_reals(squares) / np.maximum(as_reals(rows), 1.0), 0.0, most)
        low, high = ratio_bounds(squares, squared.mechanism, rows, counted.mechanism, most, 1 - confidence)
        ends = np.minimum(np.maximum(low, 0.0), value), np.maximum(high, value)
        return estimate_of(recipe.name, *(np.sqrt(x) * grid for x in (value, *ends)))

    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        squares, counted = parts
        most, grid, share = float(squares.measure.reach), 2.0**-squares.measure.grid, 1 - (1 - confidence) / 2
        lost = counted.error(share)
        if rows <= lost:
            return float(most**0.5) * grid
        moved = min(most, (squares.error(share) + most * lost) / (rows - lost))
        return float(moved**0.5) * grid  # |sqrt(a) - sqrt(b)| <= sqrt(|a - b|)


# ---- the toy, registered for a test --------------------------------------------------------------------------------


@pytest.fixture
def registered() -> Iterator[None]:
    before = dict(base._functions)
    register(RootMeanSquareFunction())
    yield
    base._functions.clear()
    base._functions.update(before)


GROUPS, EACH, SIZE = 400, 60, 400 * 60
RNG = np.random.default_rng(5)
ROWS = pa.table(
    {
        "x": np.clip(np.round(RNG.normal(3, 2, SIZE) * 4) / 4, -4, 12),
        "k": np.repeat(np.arange(GROUPS), EACH),
    }
)
COLUMNS: dict[str, object] = {
    "x": {"type": "real", "bounds": [-4, 12], "step": 0.25, "nullable": False},
    "k": {"type": "integer", "keys": range(GROUPS)},
}


@pytest.fixture
def curator() -> Iterator[Curator]:
    made = Curator({"t": Table(ROWS, columns=COLUMNS, size=SIZE)}, PureDP(1000))
    yield made
    made.close()


def truth(x: Any) -> float:
    return float(np.sqrt(np.mean(np.asarray(x) ** 2)))


# ---- and it works --------------------------------------------------------------------------------------------------


def test_a_function_that_nobody_registered_is_refused() -> None:
    """Also after the tests below: the toy is gone again."""
    with pytest.raises(QuestionRefused, match="No aggregate is called 'root_mean_square'"):
        root_mean_square("x")
    with pytest.raises(QuestionRefused, match="Did you mean 'mean'"):
        function_named("maen")


def test_names_of_functions_are_their_own() -> None:
    function_named("count")  # loads the files
    assert {name: f.name for name, f in base._functions.items()} == {name: name for name in base._functions}


@pytest.mark.usefixtures("registered")
def test_a_new_aggregate_is_planned(curator: Curator) -> None:
    query = curator.table("t").aggregate(r=root_mean_square("x"), n=count())
    made = query.plan(epsilon=1)
    squares, rows = made.measures
    assert [m.kind for m in made.measures] == [MeasureKind.SQUARES, MeasureKind.ROWS]  # the count is shared
    assert made.recipes[0].measures == (squares, rows)
    steps = {s.measure: s for s in made.steps if isinstance(s, Noised)}
    assert squares.reach == 48**2  # 12 on a grid of 1/4
    assert steps[squares].sensitivity.l1 == 48**2
    assert steps[rows].sensitivity.l1 == 1
    assert all(isinstance(s.mechanism, IntegerLaplace) for s in steps.values())
    assert sum(s.share for s in made.steps) == 1
    assert pure_epsilon(made.event) == 1
    assert "squares(x)" in made.explain()
    asked = made.question
    assert Question.from_json(json.loads(json.dumps(asked.to_json()))) == asked
    assert aggregate_from_json(root_mean_square("x").to_json()) == Aggregate("root_mean_square", Name("x"))


@pytest.mark.usefixtures("registered")
def test_what_a_new_aggregate_needs_is_asked_of_its_columns() -> None:
    tables = {"t": Table("x.csv", columns={"town": "text", "free": "real"})}
    with pytest.raises(QuestionRefused, match="root_mean_square of town, which is of type text"):
        _ = TableQuery.of("t", tables).aggregate(r=root_mean_square("town")).question
    curator = Curator(tables, PureDP(1))
    with pytest.raises(QuestionRefused, match="'free' has no declared bounds"):
        curator.table("t").aggregate(r=root_mean_square("free")).plan(epsilon=1)
    with pytest.raises(QuestionRefused, match="needs a column"):
        Aggregate("root_mean_square")
    curator.close()


@pytest.mark.usefixtures("registered")
def test_a_new_aggregate_says_how_wrong_it_will_be(curator: Curator) -> None:
    known = curator.table("t").aggregate(r=root_mean_square("x"))
    (error,) = known.plan(epsilon=1).expected
    assert error.value is not None
    assert 0 < error.value < 4
    (half,) = known.plan(epsilon=0.5).expected
    assert half.value is not None
    assert half.value > error.value
    (unknown,) = curator.table("t").where("x > 0").aggregate(r=root_mean_square("x")).plan(epsilon=1).expected
    assert unknown.value is None
    assert [n for n, _ in unknown.by_rows] == list(SIZES)
    reached = known.plan(accuracy=within("1/2"))
    assert reached.expected[0].value is not None
    assert reached.expected[0].value <= 0.5


@pytest.mark.usefixtures("registered")
def test_a_new_aggregate_is_asked_and_found_again(curator: Curator) -> None:
    query = curator.table("t").aggregate(r=root_mean_square("x"))
    release = query.ask(epsilon=1)
    (error,) = query.plan(epsilon=1).expected
    ((low, high),) = release.intervals["r"]
    true = truth(ROWS["x"])
    assert isinstance(release.value, float)
    assert error.value is not None
    assert abs(release.value - true) <= error.value
    assert low <= true <= high
    assert low <= release.value <= high
    assert high - low < 0.1
    assert query.ask(epsilon=1, confidence=0.5).repeated
    assert curator.budget().spent == PureDP(1)
    assert "r" in str(release)


@pytest.mark.usefixtures("registered")
def test_a_new_aggregate_has_intervals_that_cover_in_every_group(curator: Curator) -> None:
    query = curator.table("t").group_by("k").aggregate(r=root_mean_square("x"), m=mean("x"))
    release = query.ask(epsilon=20, because="a test", override=True, rows=EACH)
    x = np.asarray(ROWS["x"]).reshape(GROUPS, EACH)
    true = np.sqrt((x**2).mean(axis=1))
    low, high = np.array(release.intervals["r"]).T
    found = np.array(release["r"], float)
    # 400 intervals of at least 95 %: a true coverage of 0.95 falls below 0.89 with a chance below 1e-6.
    assert np.mean((low <= true) & (true <= high)) >= 0.89
    assert ((low <= found) & (found <= high)).all()
    error = query.plan(epsilon=20, rows=EACH).expected[0].value
    assert error is not None
    assert np.mean(np.abs(found - true) <= error) >= 0.89
