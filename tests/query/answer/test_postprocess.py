"""Answers from noised measures: the right formulas, intervals that cover and are no wider than they must be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.intervals import ratio_interval
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.laws.tails import laplace_tail
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Estimate
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.quantiles.ranks import bounds, median, quantiles
from curador.query.aggregates.ratios import ratio_bounds
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import top_k
from curador.query.answer.fitted import fitted
from curador.query.answer.noise import noise
from curador.query.answer.noisy import NoisyCounts, sortable
from curador.query.answer.postprocess import estimates
from curador.query.ask.builder import TableQuery
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised, magnitudes, power_bound
from curador.query.tables.table import Table
from tests.query.answer.found import Answers, by_measure

GROUPS = 3000
TABLES = {
    "t": Table(
        "no-such.csv",
        columns={
            "x": {"type": "real", "bounds": [-4, 12], "step": 0.25, "nullable": False},
            "k": {"type": "integer", "keys": range(GROUPS)},
            "city": "text",
        },
    )
}
T = TableQuery.of("t", TABLES)


def planned(query: TableQuery, budget: Guarantee, **options: Any) -> Plan:
    return plan(check(query.question, TABLES), budget, **options)


def released(made: Plan, found: Answers) -> dict[str, Estimate]:
    noisy = noise(made, found)
    return {e.name: e for e in estimates(made.recipes, made.steps, fitted(made, noisy), made.confidence)}


def exact(made: Plan, columns: dict[str, Sequence[int]]) -> dict[str, Estimate]:
    """The answers that noise of nothing would give."""
    noisy = NoisyCounts(((),), {m: np.array(x) for m, x in by_measure(made, columns).items()}, {})
    return {e.name: e for e in estimates(made.recipes, made.steps, fitted(made, noisy), made.confidence)}


# ---- formulas -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-16, 48), min_size=2, max_size=50))
def test_without_noise_the_answers_are_the_statistics(grid: list[int]) -> None:
    """x is on a grid of 1/4; the measures of these values, worked out here, must give numpy's statistics."""
    x = np.array(grid) / 4
    query = T.aggregate(
        n=count(), total=sum_("x"), m=mean("x"), v=variance("x"), p=variance("x", population=True), sd=std("x")
    )
    made = planned(query, PureDP(1))
    centre = made.recipes[2].measures[0].centre
    columns: dict[str, Sequence[int]] = {
        "rows": [len(grid)],
        "centred(x)": [sum(v - centre for v in grid)],
        "squares(x)": [sum((v - centre) ** 2 for v in grid)],
    }
    found = exact(made, columns)
    expected = {
        "n": len(grid),
        "total": x.sum(),
        "m": x.mean(),
        "v": x.var(ddof=1),
        "p": x.var(),
        "sd": x.std(ddof=1),
    }
    for name, truth in expected.items():
        estimate = found[name]
        assert estimate.values[0] == pytest.approx(truth, abs=1e-9)
        assert estimate.lower is not None
        assert estimate.upper is not None
        assert estimate.lower[0] - 1e-9 <= truth <= estimate.upper[0] + 1e-9


def test_a_lone_sum_is_not_centred() -> None:
    made = planned(T.aggregate(total=sum_("x")), PureDP(1))
    assert exact(made, {"sum(x)": [10]})["total"].values == (2.5,)


def test_impossible_noise_is_held_to_what_can_be() -> None:
    made = planned(T.aggregate(m=mean("x"), v=variance("x"), sd=std("x")), PureDP(1))
    wild = exact(made, {"rows": [-5], "centred(x)": [10**6], "squares(x)": [-(10**9)]})
    assert wild["m"].values == (12.0,)
    assert wild["v"].values == (0.0,)
    assert wild["sd"].values == (0.0,)
    # Nothing is known of a group that may be empty.
    assert (wild["m"].lower, wild["m"].upper) == ((-4.0,), (12.0,))
    high = exact(made, {"rows": [10], "centred(x)": [0], "squares(x)": [10**9]})
    assert high["v"].values[0] == pytest.approx(64 * 10 / 9)


# ---- coverage -----------------------------------------------------------------------------------------------------


def truth(rng: np.random.Generator) -> tuple[dict[str, Sequence[int]], dict[str, NDArray[np.float64]]]:
    """Groups of 200 to 400 made-up values on the grid: their measures, and their statistics."""
    sizes = rng.integers(200, 400, GROUPS)
    centres = rng.uniform(-10, 40, GROUPS)
    samples = [np.clip(np.rint(rng.normal(c, 8, n)), -16, 48).astype(int) for c, n in zip(centres, sizes, strict=True)]
    c = 16
    columns: dict[str, Sequence[int]] = {
        "rows": sizes.tolist(),
        "sum(x)": [int(v.sum()) for v in samples],
        "centred(x)": [int((v - c).sum()) for v in samples],
        "squares(x)": [int(((v - c) ** 2).sum()) for v in samples],
    }
    statistics = {
        "n": sizes.astype(float),
        "total": np.array([v.sum() / 4 for v in samples]),
        "m": np.array([v.mean() / 4 for v in samples]),
        "v": np.array([(v / 4).var(ddof=1) for v in samples]),
        "sd": np.array([(v / 4).std(ddof=1) for v in samples]),
    }
    return columns, statistics


# 3000 intervals of 90 %: a true coverage of 0.9 falls below 0.872 with a chance of 3e-7.
LOWEST, CONFIDENCE = 0.872, 0.9


def coverage(estimate: Estimate, true: NDArray[np.float64], shrink: float = 1.0) -> float:
    low, high = np.array(estimate.lower), np.array(estimate.upper)
    middle, half = (low + high) / 2, (high - low) / 2 * shrink
    return float(np.mean((true >= middle - half - 1e-9) & (true <= middle + half + 1e-9)))


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.2)], ids=["laplace", "gaussian", "zcdp"])
def test_intervals_cover_and_expected_errors_hold(budget: Guarantee) -> None:
    columns, true = truth(np.random.default_rng(7))
    noise_kind = "gaussian" if isinstance(budget, ApproxDP) else None
    query = T.group_by("k").aggregate(n=count(), m=mean("x"), total=sum_("x"), v=variance("x"), sd=std("x"))
    made = planned(query, budget, confidence=CONFIDENCE, noise=noise_kind, rows=200)
    found = released(made, Answers([(i,) for i in range(GROUPS)], by_measure(made, columns)))
    for name, estimate in found.items():
        assert coverage(estimate, true[name]) >= LOWEST, name
    for error in made.expected:  # said for 200 rows, and every group has at least as many
        assert error.value is not None
        off = np.abs(np.array(found[error.output].values) - true[error.output])
        assert np.mean(off <= error.value) >= LOWEST, error.output


@pytest.mark.parametrize(
    ("name", "aggregate"), [("n", count()), ("m", mean("x")), ("total", sum_("x"))], ids=["count", "mean", "sum"]
)
@pytest.mark.parametrize("budget", [PureDP(0.2), ApproxDP(0.2, 1e-6)], ids=["laplace", "gaussian"])
def test_intervals_are_no_wider_than_they_must_be(name: str, aggregate: Any, budget: Guarantee) -> None:
    """Intervals shrunk by a quarter must be seen to miss: the coverage claimed is near the coverage had."""
    columns, true = truth(np.random.default_rng(8))
    kind = "gaussian" if isinstance(budget, ApproxDP) else "laplace"
    made = planned(T.group_by("k").aggregate(**{name: aggregate}), budget, confidence=CONFIDENCE, noise=kind)
    found = released(made, Answers([(i,) for i in range(GROUPS)], by_measure(made, columns)))[name]
    assert coverage(found, true[name]) >= LOWEST
    assert coverage(found, true[name], shrink=0.75) < LOWEST


# ---- ratios -------------------------------------------------------------------------------------------------------

PAIRS: list[tuple[AdditiveNoise, AdditiveNoise]] = [
    (IntegerLaplace(37, Fraction(1, 10)), IntegerLaplace(1, Fraction(1, 20))),
    (IntegerLaplace(5, 1), IntegerLaplace(5, 1)),
    (Gaussian(37, sigma=100), Gaussian(1, sigma=3)),
]


@pytest.mark.parametrize(("top", "bottom"), PAIRS)
def test_many_ratios_at_once_agree_with_one_at_a_time(top: AdditiveNoise, bottom: AdditiveNoise) -> None:
    rng = np.random.default_rng(3)
    n = rng.integers(-20, 2000, 25)
    s = (rng.normal(0, 20, n.size) * n).astype(int)
    low, high = ratio_bounds(s, top, n, bottom, limit=37.0)
    for i in range(n.size):
        a, b = ratio_interval(float(s[i]), top, float(n[i]), bottom)
        centre = np.clip(s[i] / n[i] if n[i] else 0.0, -37, 37)
        if a <= 37 and b >= -37:
            assert low[i] == pytest.approx(max(a, -37), abs=1e-5)
            assert high[i] == pytest.approx(min(b, 37), abs=1e-5)
        else:
            assert low[i] == high[i] == centre


def test_ratios_of_integer_gaussians_are_within_their_union_bound() -> None:
    top, bottom = IntegerGaussian(37, sigma=100), IntegerGaussian(1, sigma=3)
    low, high = ratio_bounds(np.array([500]), top, np.array([100]), bottom, limit=37.0)
    a, b = ratio_interval(500.0, top, 100.0, bottom)
    assert a <= low[0] < 5 < high[0] <= b


def test_a_ratio_over_a_public_count_is_as_wide_as_its_sum() -> None:
    top = IntegerLaplace(10, 1)
    low, high = ratio_bounds(np.array([50]), top, np.array([100]), None, limit=10.0)
    assert low[0] == pytest.approx((50 - top.error()) / 100)
    assert high[0] == pytest.approx((50 + top.error()) / 100)


def test_the_tail_of_two_laplaces_against_simulation() -> None:
    rng = np.random.default_rng(5)
    for a, b in ((1.0, 1.0), (1.0, 0.3), (2.0, 5.0), (1.0, 1.0000001)):
        drawn = np.abs(rng.laplace(0, a, 200_000) + rng.laplace(0, b, 200_000))
        x = np.array([0.5, 2.0, 6.0])
        found = laplace_tail(x, [a, np.full(3, b)])
        assert np.abs(found - [(drawn > y).mean() for y in x]).max() < 0.006


# ---- choices ------------------------------------------------------------------------------------------------------


def test_quantiles_are_values_of_the_column_with_an_interval_in_values_or_an_error_in_ranks() -> None:
    alone = quantiles("x", ["1/3"], interval=False)
    made = planned(T.aggregate(m=median("x"), q=quantiles("x", [0.1, 0.9]), alone=alone), PureDP(50))
    values, counts = np.arange(-16, 49), np.full(65, 1000)
    found = released(made, Answers([()], {}, {made.measures[0]: [(values, counts)]}))
    assert found["m"].values[0] == pytest.approx(4.0, abs=0.5)
    assert found["q_p10"].values[0] == pytest.approx(-2.5, abs=0.5)
    assert found["q_p90"].values[0] == pytest.approx(10.5, abs=0.5)
    assert found["m"].ranks is None
    for name, true in (("m", 4.0), ("q_p10", -2.4), ("q_p90", 10.4)):
        estimate = found[name]
        assert estimate.lower is not None
        assert estimate.upper is not None
        assert true - 1 < estimate.lower[0] <= true + 0.5
        assert true - 0.5 <= estimate.upper[0] < true + 1
    assert found["alone"].lower is None
    assert found["alone"].ranks is not None


def test_a_quantile_never_leaves_the_bounds() -> None:
    """A column of one value, and one whose grid is searched in coarser steps."""
    wide = 1 << 60
    tables = {
        "t": Table(
            "x.csv",
            columns={
                "one": {"type": "integer", "bounds": [7, 7]},
                "wide": {"type": "integer", "bounds": [0, wide]},
            },
        )
    }
    query = TableQuery.of("t", tables).aggregate(a=median("one"), b=median("wide"))
    made = plan(check(query.question, tables), PureDP(1))
    lists = {r.measures[0]: [(np.array([], np.int64), np.array([], np.int64))] for r in made.recipes}
    for _ in range(20):  # no data: a uniform guess
        found = released(made, Answers([()], {}, lists))
        assert found["a"].values == (7,)
        assert 0 <= found["b"].values[0] <= wide


def test_bounds_are_powers_of_two_around_the_data() -> None:
    made = planned(T.aggregate(b=bounds("x")), PureDP(20))
    grid = np.arange(400, 4000)  # 100 to 1000 on a grid of 1/4
    found = released(made, Answers([()], {}, {made.measures[0]: [(grid, np.full(grid.size, 5))]}))
    assert found["b_lower"].values == (64.0,)
    assert found["b_upper"].values == (1024.0,)


@given(st.lists(st.integers(-(1 << 50), 1 << 50), min_size=1))
def test_magnitudes_bound_what_they_stand_for(values: list[int]) -> None:
    for v, k in zip(values, magnitudes(np.array(values, np.int64)).tolist(), strict=True):
        assert power_bound(k, upper=False) <= v <= power_bound(k, upper=True)
        assert abs(k) <= 51


def test_top_k_shows_the_largest_in_the_order_of_their_noisy_counts() -> None:
    made = planned(T.group_by("k", keys={"k": range(10)}).aggregate(top=top_k(3)), PureDP(100))
    counts = [5, 900, 10, 700, 0, 800, 3, 3, 3, 3]
    noisy = noise(made, Answers([(i,) for i in range(10)], by_measure(made, {"rows": counts})))
    assert noisy.keys == ((1,), (5,), (3,))
    (found,) = estimates(made.recipes, made.steps, fitted(made, noisy), 0.95)
    assert found.values == tuple(sorted(found.values, reverse=True))


# ---- private groups -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [ApproxDP(1, 1e-6), ZCDP(0.5, 1e-6)])
@pytest.mark.parametrize("aggregate", [{"n": count()}, {"n": count(), "m": mean("x")}, {"total": sum_("x")}])
def test_only_selected_groups_leave_sorted_by_key(budget: Guarantee, aggregate: Any) -> None:
    made = planned(T.group_by("city").aggregate(**aggregate), budget)
    cities = ["b", "zz", None, "a", "lonely"]
    units = [5000, 4000, 3000, 6000, 1]
    columns: dict[str, Sequence[int]] = dict.fromkeys(("rows", "centred(x)", "sum(x)"), units)
    for _ in range(5):
        noisy = noise(made, Answers([(c,) for c in cities], by_measure(made, columns)))
        assert noisy.keys == ((None,), ("a",), ("b",), ("zz",))
        assert all(x.size == 4 for x in noisy.measured.values())


def test_no_groups_at_all_is_an_answer_too() -> None:
    made = planned(T.group_by("city").aggregate(n=count(), m=mean("x"), q=median("x")), ApproxDP(1, 1e-6))
    values = made.recipes[2].measures[0]
    noisy = noise(made, Answers([], by_measure(made, {"rows": [], "centred(x)": []}), {values: []}))
    assert noisy.keys == ()
    assert [e.values for e in estimates(made.recipes, made.steps, fitted(made, noisy), 0.95)] == [(), (), ()]


def test_every_public_group_gets_its_own_noise() -> None:
    made = planned(T.group_by("k").aggregate(n=count()), PureDP(0.01))
    noisy = noise(made, Answers([(i,) for i in range(GROUPS)], by_measure(made, {"rows": [0] * GROUPS})))
    drawn = next(iter(noisy.measured.values()))
    assert len(noisy.keys) == GROUPS
    assert len(set(drawn.tolist())) > 400  # of scale 100: one draw for all would give one value
    assert np.std(drawn) == pytest.approx(100 * 2**0.5, rel=0.15)


@pytest.mark.parametrize("noise_kind", ["laplace", "gaussian"])
def test_integers_too_wide_for_machine_words_are_noised_exactly(noise_kind: str) -> None:
    made = planned(T.aggregate(n=count(), u=count_distinct()), ApproxDP(1, 1e-6), noise=noise_kind)
    (step,) = (s for s in made.steps if isinstance(s, Noised))
    huge = 10**25
    found = step.noise([huge, -huge, 3])
    assert abs(float(found[0]) - huge) <= 2.0**31
    assert abs(float(found[1]) + huge) <= 2.0**31
    assert abs(float(found[2])) < 1000


def test_groups_sort_by_key_alone() -> None:
    keys: list[tuple[Any, ...]] = [("b", 2), (None, 9), ("b", None), ("a", 3)]
    assert sorted(keys, key=sortable) == [(None, 9), ("a", 3), ("b", None), ("b", 2)]
