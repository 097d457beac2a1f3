"""Plans made without data: sensitivities against brute force, promises against accountants, errors against theory."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.events import NOTHING, Composed, Event, GaussianNoise
from curador.accounting.rules.costs import DELTA_UNIT, LOSS_UNIT, Currency, Rule, cost
from curador.accounting.rules.gaussian import gaussian_delta
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms import sensitivity
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.quantiles.ranks import bounds, maximum, median, minimum, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import top_k
from curador.query.answer.fitted import fitted
from curador.query.answer.noise import noise
from curador.query.answer.postprocess import estimates
from curador.query.ask.builder import TableQuery
from curador.query.ask.sql.read import parse
from curador.query.language.expressions import Name
from curador.query.plan.allocate import allocate
from curador.query.plan.budget import budget_of
from curador.query.plan.checked import Checked, check
from curador.query.plan.expected import SIZES, Expected, within
from curador.query.plan.items import root_down, tidy
from curador.query.plan.measurement import limits, recipes
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner, plan
from curador.query.plan.steps import Largest, Noised, Ranked, Selected
from curador.query.tables.table import Table
from curador.show.explain import error_text
from tests.query.answer.found import Answers
from tests.seeded import examples

COLUMNS: Mapping[str, object] = {
    "id": "integer",
    "age": {"type": "integer", "bounds": [17, 90], "nullable": False},
    "hours": {"type": "integer", "bounds": [1, 99], "nullable": False},
    "pay": {"type": "real", "bounds": [0, 1000], "step": 0.25},
    "shift": {"type": "integer", "bounds": [1000, 1010], "nullable": False},
    "sex": {"type": "text", "keys": ["F", "M"]},
    "city": "text",
}
# No such files: a plan that read one would fail.
TABLES = {
    "adult": Table("no-such.csv", columns=COLUMNS, size=30_000),
    "swapped": Table("no-such.csv", columns=COLUMNS, size=30_000, neighbors="replace"),
    "visits": Table("no-such.csv", unit="id", columns=COLUMNS, contribution=(5, 3)),
    "loose": Table("no-such.csv", unit="id", columns=COLUMNS),
}
ADULT = TableQuery.of("adult", TABLES)


def checked(query: TableQuery) -> Checked:
    return check(query.question, TABLES)


def planned(query: TableQuery, budget: Guarantee, **options: Any) -> Plan:
    return plan(checked(query), budget, **options)


def noised(made: Plan) -> dict[str, Noised]:
    """What is noised, by labels that a test can write."""
    found = [s for s in made.steps if isinstance(s, Noised)]
    assert len({s.measure.label for s in found}) == len(found)
    return {s.measure.label: s for s in found}


# ---- measures and sensitivities -----------------------------------------------------------------------------------

CELLS = 3
VALUES = (0, 3)  # the ends: every norm of a change is convex in each value, so it is largest there


def units(contribution: Contribution) -> list[tuple[tuple[int, int], ...]]:
    """Every unit that the limits allow: up to G of three groups, up to R rows of (group, value) in each."""
    lists = [x for r in range(1, contribution.rows + 1) for x in combinations_with_replacement(VALUES, r)]
    found: list[tuple[tuple[int, int], ...]] = [()]
    for g in range(1, contribution.groups + 1):
        for groups in combinations(range(CELLS), g):
            for rows in product(lists, repeat=g):
                found.append(tuple((c, v) for c, values in zip(groups, rows, strict=True) for v in values))
    return found


def measured(m: Measure, database: tuple[tuple[tuple[int, int], ...], ...]) -> list[int]:
    """The measure of every group, worked out the slow way."""
    out = []
    for cell in range(CELLS):
        of_unit = [[v for c, v in unit if c == cell] for unit in database]
        rows = [v for values in of_unit for v in values]
        out.append(
            {
                MeasureKind.ROWS: len(rows),
                MeasureKind.PRESENT: len(rows),
                MeasureKind.UNITS: sum(map(bool, of_unit)),
                MeasureKind.SUM: sum(rows),
                MeasureKind.CENTRED: sum(v - m.centre for v in rows),
                MeasureKind.SQUARES: sum((v - m.centre) ** 2 for v in rows),
                MeasureKind.DISTINCT: len(set(rows)),
            }[m.kind]
        )
    return out


MEASURES = [
    Measure(MeasureKind.ROWS),
    Measure(MeasureKind.PRESENT),
    Measure(MeasureKind.UNITS),
    Measure(MeasureKind.SUM, low=0, high=3),
    Measure(MeasureKind.CENTRED, low=0, high=3, centre=1),
    Measure(MeasureKind.SQUARES, low=0, high=3, centre=1),
    Measure(MeasureKind.DISTINCT, keys=3),
    Measure(MeasureKind.DISTINCT),  # of no public keys
]


@pytest.mark.parametrize("m", MEASURES, ids=lambda m: m.label)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_sensitivities_cover_every_pair_of_neighbours(m: Measure, neighbors: str, rows: int, groups: int) -> None:
    kept = Contribution(rows=rows, groups=groups)
    # With replace one unit changes into another; the others cancel, so one is enough.
    size = 1 if rows * groups > 2 else 2
    found = sensitivity.search(lambda d: measured(m, d), units(kept), rows=size, neighbors=neighbors)
    stated = m.sensitivity(kept, Neighbors(neighbors), CELLS)
    assert stated.covers(found)
    if m.kind is not MeasureKind.DISTINCT or (rows, groups) == (1, 1):
        assert stated.l1 == found.l1  # and no larger than need be


def test_the_centre_halves_what_a_mean_costs() -> None:
    (recipe,) = recipes(checked(ADULT.aggregate(x=mean("shift"))), Contribution())
    total = recipe.measures[0]
    assert (total.low, total.high, total.centre, total.reach) == (1000, 1010, 1005, 5)
    (plain,) = recipes(checked(ADULT.aggregate(x=sum_("shift"))), Contribution())
    assert plain.measures[0].reach == 1010


def test_measures_are_shared_and_paid_once() -> None:
    query = ADULT.aggregate(n=count(), age=mean("age"), spread=std("age"), total=sum_("age"), hours=mean("hours"))
    made = planned(query, PureDP(1))
    assert [m.label for m in made.measures] == ["rows", "centred(age)", "squares(age)", "centred(hours)"]
    assert sum(s.share for s in made.steps) == 1


def test_a_column_that_may_be_null_is_counted_by_itself() -> None:
    made = planned(ADULT.aggregate(n=count(), pay=mean("pay"), paid=count("pay")), PureDP(1))
    assert [m.label for m in made.measures] == ["rows", "centred(pay)", "present(pay)"]


def test_one_row_per_unit_makes_units_and_rows_one_measure() -> None:
    assert len(planned(ADULT.aggregate(n=count(), u=count_distinct()), PureDP(1)).measures) == 1
    visits = TableQuery.of("visits", TABLES)
    assert len(planned(visits.aggregate(n=count(), u=count_distinct()), PureDP(1)).measures) == 2
    assert len(planned(visits.bounded(1, 1).aggregate(n=count(), u=count_distinct()), PureDP(1)).measures) == 1


def test_limits_follow_the_question_then_the_table() -> None:
    visits = TableQuery.of("visits", TABLES).aggregate(n=count())
    assert limits(checked(visits)) == Contribution(rows=3, groups=1)
    assert limits(checked(visits.group_by("city"))) == Contribution(rows=3, groups=5)
    assert limits(checked(visits.group_by("sex"))) == Contribution(rows=3, groups=2)  # there are only two
    assert limits(checked(visits.group_by("city").bounded(groups=7, rows=1))) == Contribution(rows=1, groups=7)
    with pytest.raises(QuestionRefused, match="'loose'"):
        limits(checked(TableQuery.of("loose", TABLES).aggregate(n=count())))


def test_a_unit_of_many_rows_scales_noise_by_norms() -> None:
    query = TableQuery.of("visits", TABLES).group_by("age").aggregate(n=count())
    step = noised(planned(query, PureDP(1)))["rows"]
    assert step.sensitivity.l1 == 15
    assert step.sensitivity.l2_squared == 45
    assert isinstance(step.mechanism, IntegerLaplace)
    assert step.mechanism.scale == 15


# ---- what is promised ---------------------------------------------------------------------------------------------

AGGREGATES: dict[str, Aggregate] = {
    "n": count(),
    "u": count_distinct(),
    "s": count_distinct("sex"),
    "total": sum_("pay"),
    "years": mean("age"),
    "v": variance("pay"),
    "sd": std("hours"),
    "mid": median("pay"),
    "q": quantiles("age", ["1/10", "1/2", "9/10"]),
    "low": minimum("age"),
    "high": maximum("pay"),
    "b": bounds("city_size"),
}
WIDE = {
    name: Table("x.csv", t.unit, {**t.columns, "city_size": "real"}, t.neighbors, t.size, t.contribution)
    for name, t in TABLES.items()
}
BUDGETS = [PureDP(0.3), ApproxDP(0.3, 1e-6), ZCDP(0.05, 1e-7), ApproxDP(2, 1e-9), ZCDP(1)]


def keeps(event: Event, promise: Guarantee) -> bool:
    """Whether an event keeps a promise, by sums and by the Gaussian profile: no code of the planner."""
    if isinstance(promise, PureDP):
        return bool(pure_epsilon(event) <= Fraction(str(promise.epsilon)))
    if isinstance(promise, ZCDP):
        rho, delta = cost(event, Currency(Rule.ZCDP))
        return rho <= Fraction(str(promise.rho)) * LOSS_UNIT and delta <= Fraction(str(promise.delta)) * DELTA_UNIT
    assert isinstance(promise, ApproxDP)
    parts = Composed.of((event, 1)).parts
    normal = [(e, n) for e, n in parts if isinstance(e, GaussianNoise)]
    rest = Composed.of(*((e, n) for e, n in parts if not isinstance(e, GaussianNoise)))
    epsilon, beside = cost(rest, Currency(Rule.APPROXIMATE))
    left = Fraction(str(promise.epsilon)) - Fraction(epsilon, LOSS_UNIT)
    spare = Fraction(str(promise.delta)) - Fraction(beside, DELTA_UNIT)
    if not normal:
        return left >= 0 and spare >= 0
    # Independent Gaussian noises are one of mu**2 = the sum of mu_i**2.
    mu_squared = sum(n * (e.sensitivity / e.sigma) ** 2 for e, n in normal)
    sigma = 1 / Fraction(math.sqrt(mu_squared) * (1 + 1e-14))
    return left > 0 and gaussian_delta(sigma, 1, left) <= spare


@examples(150)
@given(
    table=st.sampled_from(["adult", "swapped", "visits"]),
    names=st.sets(st.sampled_from(sorted(AGGREGATES)), min_size=1, max_size=4),
    grouped=st.sampled_from([None, "sex", "age", "city"]),
    filtered=st.booleans(),
    budget=st.sampled_from(BUDGETS),
    noise=st.sampled_from([None, "laplace", "gaussian"]),
)
def test_every_plan_keeps_its_promise_within_the_budget(
    table: str, names: set[str], grouped: str | None, filtered: bool, budget: Guarantee, noise: str | None
) -> None:
    query = TableQuery.of(table, WIDE).aggregate(**{name: AGGREGATES[name] for name in sorted(names)})
    query = query.group_by(grouped) if grouped else query
    query = query.where("age > 30") if filtered else query
    try:
        made = plan(check(query.question, WIDE), budget, noise=noise)
    except (QuestionRefused, InvalidParameter):
        private = grouped == "city"
        assert (private and not getattr(budget, "delta", 0)) or noise == "gaussian"
        return
    assert type(made.guarantee) is type(budget)
    assert made.guarantee <= budget
    assert keeps(made.event, made.guarantee)
    assert made.event == NOTHING or made.event.neighbors is TABLES[table].neighbors
    assert (made.event == NOTHING) == (made.guarantee == 0 * budget)
    known = {s.measure for s in made.steps if isinstance(s, Noised) and s.mechanism is None}
    assert {m for r in made.recipes for m in r.measures} - known <= set(made.measures)
    assert known.isdisjoint(made.measures)  # what no unit moves is never read


def test_the_check_above_sees_an_event_that_costs_more() -> None:
    made = planned(ADULT.aggregate(n=count(), age=mean("age")), ApproxDP(0.3, 1e-6), noise="gaussian")
    assert keeps(made.event, ApproxDP(0.3, 1e-6))
    assert not keeps(made.event, ApproxDP(0.299, 1e-6))
    laplace = planned(ADULT.aggregate(n=count(), age=mean("age")), PureDP(0.3))
    assert pure_epsilon(laplace.event) == Fraction(3, 10)  # all of it, exactly


def test_the_budget_is_that_of_the_whole_question() -> None:
    for names in (["n"], ["n", "years"], sorted(set(AGGREGATES) - {"b"})):
        made = planned(ADULT.aggregate(**{n: AGGREGATES[n] for n in names}), PureDP(0.7))
        assert pure_epsilon(made.event) == Fraction(7, 10)


def test_ranks_of_units_with_many_rows_pay_for_every_row_and_group() -> None:
    query = TableQuery.of("visits", TABLES).group_by("sex").aggregate(m=median("pay"))
    step, cells = planned(query, PureDP(1)).steps
    assert isinstance(step, Ranked)
    assert isinstance(cells, Noised)
    assert step.mechanism.epsilon == step.share * Fraction(1, 2 * 3)  # two groups of three rows
    swapped = TableQuery.of("swapped", TABLES).group_by("sex").aggregate(m=median("pay"))
    assert cells.sensitivity.l1 == 256 * 2 * 3  # in parts of rows
    step, cells = planned(swapped, PureDP(1)).steps
    assert isinstance(step, Ranked)
    assert isinstance(cells, Noised)
    assert cells.sensitivity.l1 == 256 * 2
    assert step.mechanism.epsilon == step.share * Fraction(1, 2)  # one row, in the group it leaves and the one it joins


def test_private_groups_need_a_delta_and_say_so() -> None:
    query = ADULT.group_by("city").aggregate(n=count())
    for budget in (PureDP(1), ZCDP(1), ApproxDP(1, 0)):
        with pytest.raises(QuestionRefused, match="delta"):
            planned(query, budget)


def test_a_count_of_units_selects_its_groups_on_the_way() -> None:
    alone = planned(ADULT.group_by("city").aggregate(n=count()), ApproxDP(1, 1e-6), noise="laplace")
    assert pure_epsilon(alone.event) == math.inf  # a delta beside it
    assert [type(s) for s in alone.steps] == [Selected, Noised]
    count_step = noised(alone)["rows"]
    assert isinstance(count_step.mechanism, IntegerLaplace)
    assert count_step.mechanism.scale == 1  # all of epsilon, though the groups are selected too
    apart = planned(ADULT.group_by("city").aggregate(x=sum_("age")), ApproxDP(1, 1e-6), noise="laplace")
    assert noised(apart)["sum(age)"].share == Fraction(3, 4)
    assert apart.units in apart.measures  # the engine must count them


def test_what_neighbours_agree_on_is_free() -> None:
    made = planned(TableQuery.of("swapped", TABLES).aggregate(n=count(), age=mean("age")), PureDP(1))
    assert noised(made)["rows"].mechanism is None
    assert noised(made)["centred(age)"].share == 1
    filtered = planned(TableQuery.of("swapped", TABLES).where("age > 20").aggregate(n=count()), PureDP(1))
    assert noised(filtered)["rows"].mechanism is not None
    grouped = planned(TableQuery.of("swapped", TABLES).group_by("sex").aggregate(n=count()), PureDP(1))
    assert noised(grouped)["rows"].sensitivity.l1 == 2
    plain = planned(ADULT.aggregate(n=count()), PureDP(1))
    assert noised(plain)["rows"].mechanism is not None  # under add-remove the number of rows is private


# ---- which noise --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("table", ["adult", "visits"])
@pytest.mark.parametrize("names", [["n"], ["n", "years", "v", "sd"]])
def test_the_better_noise_is_chosen(epsilon: float, table: str, names: list[str]) -> None:
    query = TableQuery.of(table, TABLES).group_by("age").aggregate(**{n: AGGREGATES[n] for n in names})
    budget = ApproxDP(epsilon, 1e-6)
    both = [planned(query, budget, noise=noise) for noise in ("laplace", "gaussian")]
    objectives = [allocate(budget, Planner(checked(query), n)._wanted).objective for n in ("laplace", "gaussian")]
    free = planned(query, budget)
    assert allocate(budget, Planner(checked(query))._wanted).objective == min(objectives)
    assert free == both[objectives.index(min(objectives))]


def test_each_noise_wins_where_it_should() -> None:
    one = planned(ADULT.aggregate(n=count()), ApproxDP(1, 1e-6))
    assert isinstance(noised(one)["rows"].mechanism, IntegerLaplace)
    assert one.guarantee == ApproxDP(1, 0)  # and then no delta is spent
    visits = TableQuery.of("visits", TABLES).group_by("age").bounded(groups=50, rows=1).aggregate(n=count())
    many = planned(visits, ApproxDP(1, 1e-6))
    assert isinstance(noised(many)["rows"].mechanism, Gaussian)
    concentrated = planned(ADULT.aggregate(n=count()), ZCDP(0.5))
    assert isinstance(noised(concentrated)["rows"].mechanism, IntegerGaussian)
    told = planned(ADULT.aggregate(n=count()), ZCDP(0.5), noise="laplace")
    assert isinstance(noised(told)["rows"].mechanism, IntegerLaplace)


def test_noise_that_cannot_be_is_refused() -> None:
    query = ADULT.aggregate(n=count())
    with pytest.raises(InvalidParameter, match="pure"):
        planned(query, PureDP(1), noise="gaussian")
    with pytest.raises(InvalidParameter, match="delta"):
        planned(query, ApproxDP(1, 0), noise="gaussian")
    with pytest.raises(InvalidParameter, match="'cauchy'"):
        planned(query, PureDP(1), noise="cauchy")
    with pytest.raises(InvalidParameter, match="RenyiDP"):
        planned(query, RenyiDP({2: 1}))


def test_weights_move_the_split() -> None:
    query = ADULT.aggregate(n=count(), pay=mean("pay"))
    plain, heavy = planned(query, PureDP(1)), planned(query, PureDP(1), weights={"pay": 1000})
    assert noised(heavy)["centred(pay)"].share > noised(plain)["centred(pay)"].share
    with pytest.raises(InvalidParameter, match="'salary'"):
        planned(query, PureDP(1), weights={"salary": 2})
    with pytest.raises(InvalidParameter, match="weight"):
        planned(query, PureDP(1), weights={"pay": 0})


def test_a_column_named_like_an_expression_is_told_apart() -> None:
    narrow = {"type": "integer", "bounds": [0, 1]}
    odd = {"t": Table("x.csv", columns={"a": narrow, "a * 1000": narrow})}
    query = TableQuery.of("t", odd).with_columns(b="a * 1000").aggregate(x=sum_("a * 1000"), y=sum_("b"))
    assert [m.reach for m in plan(check(query.question, odd), PureDP(1)).measures] == [1, 1000]


def test_measures_of_one_label_keep_their_own_sensitivities_and_numbers() -> None:
    """A column may be called like a label or an expression: labels are for people, and nothing goes by them."""

    def whole(high: int) -> dict[str, object]:
        return {"type": "integer", "bounds": [0, high], "nullable": False}

    bounds_of = {"a": 1, "sum(a)": 2, "a * 1000": 4, "rows": 8, "sum(sum(a))": 16}
    odd = {"t": Table("x.csv", columns={name: whole(high) for name, high in bounds_of.items()})}
    outputs = {f"o{i}": sum_(Name(name)) for i, name in enumerate(bounds_of)}
    query = TableQuery.of("t", odd).with_columns(b="a * 1000").aggregate(n=count(), **outputs, product=sum_("b"))
    made = plan(check(query.question, odd), PureDP(10**4))
    assert [m.reach for m in made.measures] == [1, *bounds_of.values(), 1000]
    steps = {s.measure: s for s in made.steps if isinstance(s, Noised)}
    assert [steps[m].sensitivity.l1 for m in made.measures] == [1, *bounds_of.values(), 1000]
    exact = {m: [10**9 * i] for i, m in enumerate(made.measures, 1)}
    noisy = noise(made, Answers([()], exact))
    for recipe, estimate in zip(
        made.recipes, estimates(made.recipes, made.steps, fitted(made, noisy), 0.95), strict=True
    ):
        assert abs(estimate.values[0] - exact[recipe.measures[0]][0]) < 10**6  # its own number, not another's
    assert len(made.exact.statements[0].measures) == len(made.measures)


def test_measures_that_differ_in_bounds_alone_are_told_apart() -> None:
    made = planned(ADULT.aggregate(x=sum_("age"), y=sum_("hours")), PureDP(1))
    (first, second), (m, _) = made.recipes, made.measures
    twin = replace(m, high=m.high * 1000)
    assert twin.label == m.label
    (own, other) = (step for step in made.steps if isinstance(step, Noised))
    wide = twin.sensitivity(made.contribution, made.neighbors, 1)
    steps = (own, replace(other, measure=twin, sensitivity=wide))
    both = replace(made, recipes=(first, replace(second, measures=(twin,))), steps=steps)
    assert both.measures == (m, twin)
    assert [x.sensitivity(made.contribution, made.neighbors, 1).l1 for x in both.measures] == [90, 90_000]


def test_a_missing_bound_is_refused_with_the_price_of_learning_it() -> None:
    for query in (TableQuery.of("adult", WIDE), TableQuery.of("adult", WIDE).group_by("city").where("age > 20")):
        asked = check(query.aggregate(x=mean("city_size")).question, WIDE)
        with pytest.raises(QuestionRefused, match="'city_size' has no declared bounds") as refused:
            plan(asked, ApproxDP(1, 1e-6))
        found = re.search(r"bounds\('city_size'\).* For epsilon 0\.1 .* within (\d+) ranks", refused.value.fix)
        assert found
        learned = TableQuery.of("adult", WIDE).where("age > 20").aggregate(b=bounds("city_size"))
        assert int(found[1]) == round(plan(check(learned.question, WIDE), PureDP(0.1)).expected[0].value or 0)


# ---- what error to expect -----------------------------------------------------------------------------------------


def test_a_mean_has_the_error_of_a_mean() -> None:
    made = planned(ADULT.aggregate(age=mean("age")), PureDP(1))
    (error,) = made.expected
    total = noised(made)["centred(age)"]
    assert error.value is not None
    # Near (its sum's error) / n and far below the sum's error itself.
    assert error.value < 3 * total.error() / 30_000
    assert error.value > 0.3 * total.error() / 30_000


def test_a_quantile_has_an_error_in_ranks() -> None:
    made = planned(ADULT.aggregate(m=median("pay")), PureDP(1))
    (error,) = made.expected
    assert error.unit == "ranks"
    assert "ranks" in error_text(made.facts["expected"][0])


@pytest.mark.parametrize("query", [ADULT.where("age > 30"), ADULT.group_by("sex"), TableQuery.of("visits", TABLES)])
def test_an_unknown_number_of_rows_is_said(query: TableQuery) -> None:
    made = planned(query.aggregate(age=mean("age"), v=variance("age"), n=count()), PureDP(1))
    by_name = {e.output: e for e in made.expected}
    assert by_name["age"].value is None
    assert by_name["v"].value is None
    assert by_name["n"].value is not None
    assert by_name["n"].by_rows == ()
    said = {e["output"]: error_text(e) for e in made.facts["expected"]}
    for name in ("age", "v"):  # said for several numbers of rows instead, and the more rows the better
        sizes, errors = zip(*by_name[name].by_rows, strict=True)
        assert sizes == SIZES
        assert sorted(errors, reverse=True) == list(errors)
        assert errors[0] > errors[-1]
        assert said[name].count("rows") == len(SIZES)
        told = planned(query.aggregate(age=mean("age"), v=variance("age"), n=count()), PureDP(1), rows=SIZES[2])
        assert {e.output: e.value for e in told.expected}[name] == errors[2]
    assert "rows" not in said["n"]
    known = planned(query.aggregate(age=mean("age"), v=variance("age")), PureDP(1), rows=5000)
    assert all(e.value is not None for e in known.expected)


def test_few_rows_may_be_hidden_altogether() -> None:
    made = planned(ADULT.where("age > 30").aggregate(age=mean("age")), PureDP("0.01"), rows=3)  # type: ignore[arg-type]
    (error,) = made.expected
    assert error.value is not None
    assert error.value >= 73  # as wrong as a mean within its bounds can be
    assert error.value == 2 * made.recipes[0].measures[0].reach


@pytest.mark.parametrize(
    ("query", "wanted", "delta"),
    [
        (ADULT.aggregate(n=count()), within(10), None),
        (ADULT.aggregate(age=mean("age")), within("1/2", confidence=0.99), None),
        (ADULT.aggregate(n=count(), age=mean("age")), within("1/2", output="age"), None),
        (ADULT.aggregate(m=median("pay")), within("100 ranks"), None),
        (TableQuery.of("visits", TABLES).group_by("age").aggregate(n=count()), within(20), "1e-6"),
        (ADULT.aggregate(s=std("age")), within(2), None),
    ],
)
def test_an_accuracy_finds_the_least_epsilon(query: TableQuery, wanted: Any, delta: str | None) -> None:
    made = Planner(checked(query)).reaching(wanted, delta)
    epsilon = Fraction(str(made.budget.epsilon))  # type: ignore[attr-defined]
    asked = [e for e in made.expected if wanted.output in (None, e.output)]
    assert all(e.value is not None and e.value <= wanted.error for e in asked)
    assert made.confidence == wanted.confidence
    less = epsilon * Fraction(99, 100)
    cheaper = PureDP(float(less)) if delta is None else ApproxDP(float(less), float(delta))
    found = Planner(checked(query), confidence=wanted.confidence).plan(cheaper).expected
    assert any(e.value is None or e.value > wanted.error for e in found if wanted.output in (None, e.output))


def test_an_accuracy_is_refused_where_rows_are_private() -> None:
    query = ADULT.where("age > 30").aggregate(n=count(), age=mean("age"))
    with pytest.raises(QuestionRefused, match="'age' depends on how many rows"):
        Planner(checked(query)).reaching(within(1))
    assert Planner(checked(query), rows=9000).reaching(within(1)).rows == 9000
    assert Planner(checked(query)).reaching(within(10, output="n")).rows is None
    with pytest.raises(InvalidParameter, match="'hours'"):
        Planner(checked(query)).reaching(within(10, output="hours"))


def test_an_accuracy_out_of_reach_is_refused() -> None:
    query = TableQuery.of("visits", TABLES).aggregate(m=median("pay"))
    with pytest.raises(QuestionRefused, match="No epsilon"):
        Planner(checked(query)).reaching(within("1/1000", unit="ranks"))


def test_an_accuracy_of_a_quantile_says_that_it_is_in_ranks() -> None:
    """A wage within 500 is not one within 500 ranks."""
    query = ADULT.aggregate(m=median("pay"), n=count())
    for output in (None, "m"):
        with pytest.raises(QuestionRefused, match="'m' is chosen by rank") as refused:
            Planner(checked(query)).reaching(within(500, output=output))
        assert refused.value.code == "accuracy-in-ranks"
    assert Planner(checked(query)).reaching(within(500, output="n")).expected
    ranked = Planner(checked(query)).reaching(within(500, output="m", unit="ranks"))
    assert ranked == Planner(checked(query)).reaching(within("500 ranks", output="m"))
    for output in (None, "n"):
        with pytest.raises(QuestionRefused, match="'n' is not in ranks"):
            Planner(checked(query)).reaching(within("500 ranks", output=output))
    for wrong in ({"error": 5, "unit": "values"}, {"error": "5 rows"}, {"error": "ranks"}, {"error": "5 ranks 5"}):
        with pytest.raises(InvalidParameter):
            within(**wrong)


# ---- two doors, one plan ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ("SELECT COUNT(*) AS n FROM adult", ADULT.aggregate(n=count())),
        ("SELECT AVG(age) AS age FROM adult WHERE 30 < age", ADULT.where("age > 30").aggregate(age=mean("age"))),
        (
            "SELECT sex, COUNT(*) AS n, AVG(hours) AS hours FROM adult GROUP BY sex",
            ADULT.group_by("sex").aggregate(n=count(), hours=mean("hours")),
        ),
        (
            "SELECT sex, STDDEV(age) AS sd FROM adult GROUP BY sex HAVING STDDEV(age) > 1 ORDER BY sex LIMIT 1",
            ADULT.group_by("sex").aggregate(sd=std("age")).having("sd > 1").order_by("sex").limit(1),
        ),
    ],
)
@pytest.mark.parametrize("budget", [PureDP(0.5), ApproxDP(1, 1e-6), ZCDP(0.1)])
def test_sql_and_builder_make_equal_plans(sql: str, query: TableQuery, budget: Guarantee) -> None:
    from_sql = plan(check(parse(sql, TABLES), TABLES), budget)
    built = planned(query, budget)
    assert from_sql == built
    assert from_sql.event == built.event
    assert from_sql.to_dict() == built.to_dict()
    assert from_sql.explain() == built.explain()
    assert from_sql.exact.statements == built.exact.statements


def test_another_budget_or_question_makes_another_plan() -> None:
    made = planned(ADULT.aggregate(n=count()), PureDP(0.5))
    assert made != planned(ADULT.aggregate(n=count()), PureDP(0.25))
    assert made != planned(ADULT.aggregate(n=count("pay")), PureDP(0.5))
    assert made != planned(ADULT.where("age > 30").aggregate(n=count()), PureDP(0.5))


def test_shares_do_not_depend_on_the_order_of_outputs() -> None:
    """Sums of three weights, and columns that tie, in any order: the same steps, the same code."""
    wanted: dict[str, Aggregate] = {
        "n": count(),
        "years": mean("age"),
        "spread": std("age"),
        "total": sum_("age"),
        "shift": mean("shift"),
        "shifts": sum_("shift"),
        "wide": variance("shift"),
        "mid": median("pay"),
        "high": maximum("pay"),
    }
    weights = {"years": 3, "total": "1/7", "mid": 2, "wide": "1/3"}
    for budget, noise_kind in ((PureDP(1), None), (ApproxDP(1, 1e-6), "gaussian"), (ZCDP(0.5), None)):
        query = TableQuery.of("visits", TABLES).group_by("sex")
        options: dict[str, Any] = {"noise": noise_kind, "weights": weights}
        made = planned(query.aggregate(**wanted), budget, **options)
        draw = random.Random(3)
        for _ in range(20):
            order = draw.sample(sorted(wanted), len(wanted))
            other = planned(query.aggregate(**{name: wanted[name] for name in order}), budget, **options)
            assert other.question != made.question or order == list(wanted)
            assert {s.share for s in other.steps} == {s.share for s in made.steps}
            assert sorted(map(repr, other.steps)) == sorted(map(repr, made.steps))
            assert other.identity == made.identity


@pytest.mark.parametrize("high", [3, 19_974, 661_442, 999_983])
def test_columns_that_tie_get_equal_shares_in_any_order(high: int) -> None:
    """Weights that are equal as numbers stay so in whatever order their parts are added: a half is not 0.4999."""
    column = {"type": "integer", "bounds": [1, 1 + high], "nullable": False}
    tables = {"t": Table("x.csv", columns=dict.fromkeys("ab", column), neighbors="replace", size=30)}
    asked = {f"{n}{c}": f(c) for c in "ab" for n, f in (("m", mean), ("again", mean), ("total", sum_))}
    draw = random.Random(high)
    for _ in range(30):
        query = TableQuery.of("t", tables).aggregate(**{n: asked[n] for n in draw.sample(sorted(asked), len(asked))})
        made = plan(check(query.question, tables), PureDP(1))
        assert {s.share for s in made.steps} == {Fraction(0), Fraction(1, 2)}  # the number of rows is public


# ---- explaining ---------------------------------------------------------------------------------------------------


def test_explain_says_cost_split_mechanism_error_and_what_is_protected() -> None:
    text = planned(TableQuery.of("visits", TABLES).group_by("city").aggregate(n=count()), ApproxDP(1, 1e-6)).explain()
    for said in (
        "everything of one 'id', added or removed",
        "at most 3 rows in 5 groups",
        "selected privately",
        "epsilon 1, delta 1e-06, once",
        "25 %",
        "expected error (95 %)",
        "clipped to their bounds",
        "What was cut is in no number and in no interval",
    ):
        assert said in " ".join(text.split())


def test_a_plan_as_plain_values_holds_only_plain_values() -> None:
    import json

    made = planned(ADULT.group_by("sex").aggregate(n=count(), m=median("pay"), top=mean("pay")), PureDP(1))
    assert json.loads(json.dumps(made.to_dict())) == made.to_dict()
    assert "no-such" not in json.dumps(made.to_dict())


def test_top_k_pays_for_the_choice_and_the_counts() -> None:
    made = planned(ADULT.group_by("age").aggregate(top=top_k(3)), PureDP(1))
    assert pure_epsilon(made.event) == 1
    chosen, counted = made.steps
    assert isinstance(chosen, Largest)
    assert chosen.mechanism.k == 3
    assert isinstance(counted, Noised)
    assert chosen.measure == counted.measure == Measure(MeasureKind.ROWS)


# ---- budgets ------------------------------------------------------------------------------------------------------


def test_budgets_are_read_exactly_or_below() -> None:
    assert budget_of(epsilon="1/3").epsilon < Fraction(1, 3)  # type: ignore[union-attr]
    assert budget_of(epsilon=0.1) == PureDP(0.1)
    assert budget_of(rho=0.1, delta=1e-6) == ZCDP(0.1, 1e-6)
    for bad in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": float("nan")}, {"rho": 0}):
        with pytest.raises(InvalidParameter):
            budget_of(**bad)
    for worthless in ({"epsilon": 1e-300}, {"epsilon": 1e300}, {"rho": 1e9}):
        with pytest.raises(InvalidParameter, match="between"):
            budget_of(**worthless)
    for delta in (-1, 1, 2, 1e-300, float("nan")):
        with pytest.raises(InvalidParameter, match="delta"):
            budget_of(epsilon=1, delta=delta)


@pytest.mark.parametrize(
    "budget", [{"epsilon": 1e-12}, {"epsilon": 1e6}, {"epsilon": 1e-9, "delta": 1e-30}, {"rho": 1e-12}]
)
def test_extreme_budgets_still_make_plans(budget: Any) -> None:
    names = sorted(set(AGGREGATES) - {"b"})
    made = planned(TableQuery.of("visits", TABLES).aggregate(**{n: AGGREGATES[n] for n in names}), budget_of(**budget))
    assert made.explain()
    assert keeps(made.event, made.guarantee)


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(lambda x: x > 0))
def test_rounded_fractions_stay_on_the_safe_side(x: Fraction) -> None:
    assert x <= tidy(x) <= x * (1 + Fraction(1, 2**38))
    assert root_down(x) ** 2 <= x <= root_down(x) ** 2 * (1 + Fraction(1, 2**37))


@pytest.mark.parametrize("confidence", [5e-324, 1e-7, 1 - 1e-10, 1 - 2**-53])
def test_a_confidence_that_no_interval_can_have_is_refused_before_the_charge(confidence: float) -> None:
    """Corrected for LIMIT, or divided among three measures, it was 1: refused after the budget was spent."""
    with pytest.raises(InvalidParameter, match=r"Intervals have a confidence|No double tells this confidence"):
        Planner(checked(ADULT.aggregate(n=count())), confidence=confidence)


# ---- what is computed from answers ---------------------------------------------------------------------------------

COMPUTED = {
    "t": Table(
        "no-such.csv",
        columns={
            "x": {"type": "integer", "bounds": [0, 10], "nullable": False},
            "g": {"type": "integer", "keys": range(4)},
        },
        size=5000,
    )
}


def computing(what: str, group: bool = False, **options: Any) -> Plan:
    text = f"SELECT g, {what} FROM t GROUP BY g" if group else f"SELECT {what} FROM t WHERE x > 0"
    return plan(check(parse(text, COMPUTED), COMPUTED), PureDP(1), **options)


def test_errors_of_what_is_computed_are_expected_where_they_are_known() -> None:
    plain = computing("COUNT(*) AS n").expected[0].value
    assert plain is not None
    assert computing("100 * COUNT(*) AS y").expected[0].value == pytest.approx(100 * plain, rel=1e-6)
    assert computing("ROUND(COUNT(*) / 4, 1) AS y").expected[0].value == pytest.approx(plain / 4 + 0.1, rel=1e-6)
    assert computing("GREATEST(COUNT(*), 0) AS y").expected[0].value == pytest.approx(plain, rel=1e-6)
    total = computing("SUM(COUNT(*)) OVER () AS y", group=True).expected[0].value
    each = computing("COUNT(*) AS y", group=True).expected[0].value
    assert total is not None
    assert each is not None
    assert 1.5 * each < total < 4 * each  # four noises together
    mean_of = computing("ROUND(AVG(x), 2) AS y").expected[0]
    assert mean_of.value is None
    assert [n for n, _ in mean_of.by_rows] == [100, 1_000, 10_000, 100_000]
    assert computing("ROUND(AVG(x), 2) AS y", rows=1000).expected[0].value == pytest.approx(mean_of.by_rows[1][1])
    share = computing("COUNT(*) / SUM(COUNT(*)) OVER () AS y", group=True)
    assert (share.expected[0].value, share.expected[0].by_rows) == (None, ())
    renamed = computing("MEDIAN(x) AS p").expected[0]
    again = plan(
        check(parse("SELECT p AS q FROM (SELECT MEDIAN(x) AS p FROM t WHERE x > 0)", COMPUTED), COMPUTED), PureDP(1)
    )
    assert again.expected == (replace(renamed, output="q"),)
    assert "depends on the answers" in share.explain()
    assert "depende de las respuestas" in share.explain("es")


def test_an_accuracy_may_be_wanted_of_what_is_computed() -> None:
    checked = check(parse("SELECT 10 * COUNT(*) AS y FROM t WHERE x > 0", COMPUTED), COMPUTED)
    made = Planner(checked).reaching(within(50))
    assert made.expected[0].value <= 50  # type: ignore[operator]
    assert made.guarantee.epsilon < 1  # type: ignore[attr-defined]
    ratio = check(parse("SELECT SUM(x) / COUNT(*) AS y, COUNT(*) / SUM(x) AS z FROM t WHERE x > 0", COMPUTED), COMPUTED)
    with pytest.raises(QuestionRefused, match="'z' depends on the answers"):
        Planner(ratio, rows=1000).reaching(within(0.5))
    assert Planner(ratio, rows=1000).reaching(within(0.5, output="y")).expected


def test_what_is_not_shown_has_no_expected_error_and_may_be_weighed_by_its_column() -> None:
    made = computing("SUM(x) / COUNT(*) AS y, SUM(x * x) AS q")
    assert [e.output for e in made.expected] == ["y", "q"]
    heavier = computing("SUM(x) / COUNT(*) AS y, SUM(x * x) AS q", weights={"y": 100})
    shares = [{s.measure.label: s.share for s in p.steps if isinstance(s, Noised)} for p in (made, heavier)]
    assert shares[1]["centred(x)"] > shares[0]["centred(x)"]
    with pytest.raises(InvalidParameter, match="Weigh one of q, mean, y"):
        computing("SUM(x) / COUNT(*) AS y, SUM(x * x) AS q", weights={"z": 1})


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_size_says_nothing_of_rows_without_a_value(neighbors: str) -> None:
    """The stated error of a mean was that of all rows, and was exceeded in two thirds of the releases of a column of
    which nine in ten are missing.
    """
    columns: dict[str, Any] = {
        "x": {"type": "integer", "bounds": [0, 100]},
        "y": {"type": "integer", "bounds": [0, 100], "nullable": False},
        "b": {"type": "boolean", "nullable": False},
    }
    held = {"t": Table("t.csv", size=10_000, neighbors=neighbors, columns=columns)}

    def of(what: str, **more: Any) -> Expected:
        return plan(check(parse(f"SELECT {what} AS m FROM t", held), held), PureDP(0.1), **more).expected[0]

    assert of("AVG(y)").value is not None
    assert of("AVG(x)", rows=1_000).value == dict(of("AVG(x)").by_rows)[1_000]
    for what in ("AVG(x)", "STDDEV(x)", "AVG(y) FILTER (WHERE b)", "AVG(x) - 50", "AVG(y) - AVG(x)"):
        found = of(what)
        assert found.value is None, what
        assert found.by_rows, what
    with pytest.raises(QuestionRefused) as refused:
        Planner(check(parse("SELECT AVG(x) AS m FROM t", held), held)).reaching(within(0.5))
    assert refused.value.code == "error-needs-rows"
