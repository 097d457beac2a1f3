"""Guarantees add up, repeat, compare and travel, never promising more than is true."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curador.errors import BudgetExceeded, InvalidParameter
from curador.numbers import down, rational, up
from curador.privacy import (
    ZCDP,
    ApproxDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    Unit,
    guarantee_from_json,
    total,
)
from tests.strategies import NOT_NUMBERS, guarantees, guarantees_of_one_kind

Numbers = dict[object, Fraction | float]


def numbers(g: Guarantee) -> Numbers:
    """What a guarantee says, exactly: every figure in it, by name or by order."""
    said: dict[Any, Any] = {f.name: getattr(g, f.name) for f in dataclasses.fields(g)}  # type: ignore[arg-type]
    curve: Any = said.pop("curve", ())
    return {k: rational(v) if v < math.inf else v for k, v in [*said.items(), *curve]}


def exact_sum(*terms: Guarantee) -> Numbers:
    parts = [numbers(t) for t in terms]
    total: Numbers = {k: sum((p[k] for p in parts), Fraction(0)) for k in parts[0]}
    return {k: min(v, Fraction(1)) if k == "delta" else v for k, v in total.items()}


def says_at_least(g: Guarantee, floor: Numbers) -> bool:
    return all(v >= floor[k] for k, v in numbers(g).items())


def close(x: Fraction | float, y: Fraction | float) -> bool:
    """Equal, or a few roundings of a float apart."""
    return x == y or abs(float(x) - float(y)) <= 2.0**-50 * abs(float(y)) + 1e-320


# ---- the algebra ---------------------------------------------------------------------------------------------


def test_ten_tenths_of_an_epsilon_are_one() -> None:
    assert 10 * PureDP(0.1) == PureDP(1)
    total = PureDP(0)
    for _ in range(10):
        total = total + PureDP(0.1)
    assert total == PureDP(1)
    assert sum([0.1] * 10) < 1  # binary floats would have promised less than was spent


@given(guarantees_of_one_kind(2))
def test_a_sum_is_the_exact_sum_rounded_up(pair: tuple[Guarantee, Guarantee]) -> None:
    a, b = pair
    exact = exact_sum(a, b)
    assert {k: up(v) if isinstance(v, Fraction) else v for k, v in exact.items()} == {
        k: float(v) for k, v in numbers(a + b).items()
    }
    assert a + b == b + a


@given(guarantees_of_one_kind(3))
def test_grouping_a_sum_never_loses_anything(triple: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    a, b, c = triple
    exact = exact_sum(a, b, c)
    for grouped in ((a + b) + c, a + (b + c)):
        assert says_at_least(grouped, exact)
        # Above by roundings only; next to the largest float a rounding may be to infinity.
        near = all(close(v, exact[k]) for k, v in numbers(grouped).items() if v < 1e308)
        assert near


@given(guarantees, st.integers(0, 8))
def test_n_times_costs_no_more_than_repeating(g: Guarantee, n: int) -> None:
    repeated = 0 * g
    for _ in range(n):
        repeated = repeated + g
    assert n * g <= repeated
    assert n * g == g * n
    assert says_at_least(n * g, exact_sum(*[g] * n) if n else numbers(0 * g))


@given(guarantees)
def test_nothing_is_the_zero_of_the_sum(g: Guarantee) -> None:
    assert 1 * g == g
    assert g + 0 * g == g
    assert set(numbers(0 * g).values()) == {0}


@pytest.mark.parametrize("n", [-1, 0.5, 1.0, True, "2", None, math.nan])
@pytest.mark.parametrize("g", [PureDP(1), RenyiDP({2: 1})])
def test_repeats_only_whole_times(g: Guarantee, n: Any) -> None:
    with pytest.raises(InvalidParameter, match="whole number of times"):
        n * g


def test_deltas_stop_at_one() -> None:
    assert ApproxDP(1, 0.7) + ApproxDP(1, 0.7) == ApproxDP(2, 1)
    assert 3 * ZCDP(1, 0.5) == ZCDP(3, 1)


def test_curves_add_at_the_orders_they_share() -> None:
    assert RenyiDP({2: 1, 4: 2}) + RenyiDP({4: 3, 8: 4}) == RenyiDP({4: 5})
    with pytest.raises(InvalidParameter):
        RenyiDP({2: 1}) + RenyiDP({3: 1})


# ---- the order -----------------------------------------------------------------------------------------------


@given(guarantees_of_one_kind(3))
def test_is_a_partial_order(triple: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    a, b, c = triple
    assert a <= a
    assert (a <= b) == (b >= a)
    assert not (a <= b and b <= a) or a == b
    assert not (a <= b and b <= c) or a <= c


@given(guarantees_of_one_kind(3))
def test_more_is_never_less(triple: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    a, b, c = triple
    assert a <= a + b
    assume(a <= b)
    assert a + c <= b + c


def test_some_promises_do_not_compare() -> None:
    loose, odd = ApproxDP(1, 0), ApproxDP(0.5, 1e-6)
    assert not loose <= odd
    assert not odd <= loose
    assert RenyiDP({2: 1, 4: 2}) <= RenyiDP({2: 1})
    assert not RenyiDP({2: 1}) <= RenyiDP({2: 1, 4: 2})


@pytest.mark.parametrize("other", [ApproxDP(1, 0), ZCDP(1), RenyiDP({2: 1}), 1, "PureDP", None])
def test_kinds_do_not_mix(other: object) -> None:
    for meet in (lambda: PureDP(1) + other, lambda: PureDP(1) <= other, lambda: PureDP(1) >= other):
        with pytest.raises(InvalidParameter, match="Cannot combine"):
            meet()


# ---- shares and remainders -----------------------------------------------------------------------------------


@given(guarantees_of_one_kind(3))
def test_a_total_is_the_exact_sum_rounded_up_once(triple: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    exact = exact_sum(*triple)
    rounded = {k: up(v) if isinstance(v, Fraction) else v for k, v in exact.items()}
    assert rounded == {k: float(v) for k, v in numbers(total(triple)).items()}


def test_a_total_of_thirds_is_the_whole() -> None:
    third = PureDP(down(Fraction(1, 3)))
    assert total([third] * 3) <= PureDP(1)
    assert total([PureDP(0.1), ApproxDP(0.2, 0.3), PureDP(0.3)]) == ApproxDP(0.6, 0.3)
    with pytest.raises(InvalidParameter, match="Cannot combine"):
        total([PureDP(1), ZCDP(1)])
    with pytest.raises(InvalidParameter, match="nothing to add"):
        total([])


@given(guarantees, st.integers(1, 9))
def test_equal_shares_fit_into_the_whole(g: Guarantee, n: int) -> None:
    assume(any(float(x) / n > 1e-320 for k, x in numbers(g).items() if k != "delta"))
    part = g.share(Fraction(1, n))
    assert total([part] * n) <= g
    assert all(close(n * x, numbers(g)[k]) for k, x in numbers(part).items() if x > 1e-300)


def test_a_share_is_a_part_of_the_whole() -> None:
    assert ZCDP(1, 0.5).share(0.5) == ZCDP(0.5, 0.25)
    assert RenyiDP({2: 1, 8: 3}).share("1/2") == RenyiDP({2: 0.5, 8: 1.5})
    assert PureDP(math.inf).share(0.5) == PureDP(math.inf)
    for bad in (-1, 1.5, "half", None):
        with pytest.raises(InvalidParameter):
            PureDP(1).share(bad)  # type: ignore[arg-type]
    for nothing, fraction in ((PureDP(0), 1), (PureDP(1), 0), (ApproxDP(0, 0.5), 1), (PureDP(5e-324), 0.5)):
        with pytest.raises(InvalidParameter, match="is 0") as refusal:
            nothing.share(fraction)
        assert refusal.value.code == "share-is-zero"


@given(guarantees_of_one_kind(3))
def test_spent_and_remainder_fit_into_the_budget(triple: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    budget, a, b = triple
    try:
        left = budget.minus(a, b)
    except BudgetExceeded:
        spent = {k: x + numbers(b)[k] for k, x in numbers(a).items()}  # a total's delta stops at 1, a sum does not
        assert any(x > numbers(budget)[k] for k, x in spent.items())
        return
    assert total([a, b, left]) <= budget
    assert budget.minus() == budget


def test_a_remainder_is_exact() -> None:
    assert PureDP(1).minus(*[PureDP(0.1)] * 10) == PureDP(0)
    assert ApproxDP(1, 1e-6).minus(PureDP(0.3)) == ApproxDP(0.7, 1e-6)
    assert PureDP(math.inf).minus(PureDP(3)) == PureDP(math.inf)
    with pytest.raises(InvalidParameter, match="Cannot combine"):
        PureDP(1).minus(ApproxDP(0.5, 0))
    for budget, spent in (
        (PureDP(0.3), PureDP(0.4)),
        (ApproxDP(1, 0), ApproxDP(0.5, 0.1)),
        (PureDP(1), PureDP(math.inf)),
        (RenyiDP({2: 1, 4: 1}), RenyiDP({2: 0.5})),
    ):
        with pytest.raises(BudgetExceeded) as refusal:
            budget.minus(spent)
        assert refusal.value.code == "overspent"


def test_labels_never_understate() -> None:
    assert PureDP(0.1212625).label == "epsilon 0.121263"
    assert ApproxDP(1, 0).label == "epsilon 1, delta 0"
    assert ZCDP(0.1).label == "rho 0.1"
    assert ZCDP(0.1, 1e-6).label == "rho 0.1, delta 1e-06"
    assert RenyiDP({2.0000001: 0.1212625}).label == "epsilon 0.121263 at order 2"
    assert PureDP(math.inf).label == "epsilon inf"


# ---- reading and writing -------------------------------------------------------------------------------------


@given(guarantees)
def test_survives_json(g: Guarantee) -> None:
    assert guarantee_from_json(g.to_json()) == g
    assert guarantee_from_json(json.loads(json.dumps(g.to_json(), allow_nan=False))) == g


@given(guarantees)
def test_survives_pickling_and_hashes_alike(g: Guarantee) -> None:
    back = pickle.loads(pickle.dumps(g))
    assert back == g
    assert hash(back) == hash(g)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "perfect", "epsilon": 0},
        {"kind": ["pure"], "epsilon": 1},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": 1, "delta": 0},
        {"kind": "pure", "epsilon": "lots"},
        {"kind": "pure", "epsilon": None},
        {"kind": "approximate", "epsilon": 1, "delta": 2},
        {"kind": "renyi", "curve": []},
        {"kind": "renyi", "curve": [[1, 1]]},
        {"kind": "renyi", "curve": [[2, 1, 3]]},
        {"kind": "renyi", "curve": [2, 3]},
        {"kind": "renyi", "curve": 2},
    ],
)
def test_refuses_damaged_json(data: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        guarantee_from_json(data)


@given(guarantees)
def test_is_frozen(g: Guarantee) -> None:
    for field in set(g.to_json()) - {"kind"}:
        with pytest.raises(FrozenInstanceError):
            setattr(g, field, 0)


# ---- parameters ----------------------------------------------------------------------------------------------


def broken() -> Iterator[tuple[type[Guarantee], tuple[object, ...]]]:
    not_losses = [x for x in NOT_NUMBERS if x != math.inf]
    for bad in (*not_losses, -1, -0.1, Fraction(-1, 3), "-1"):
        yield PureDP, (bad,)
        yield ApproxDP, (bad, 0)
        yield ZCDP, (bad,)
        yield RenyiDP, ({2: bad},)
        yield ApproxDP, (1, bad)
        yield ZCDP, (1, bad)
    for bad in (math.inf, 1.5, Fraction(10**9 + 1, 10**9)):
        yield ApproxDP, (1, bad)
        yield ZCDP, (1, bad)
    for order in (*not_losses, 1, 0.5, -2):
        yield RenyiDP, ([(order, 1)],)
    yield RenyiDP, ({},)
    yield RenyiDP, ([(2, 1), (2, 2)],)
    yield RenyiDP, ({2: 1, "2": 1},)


@pytest.mark.parametrize(("kind", "arguments"), list(broken()))
def test_refuses_parameters_nobody_could_honour(kind: type[Guarantee], arguments: tuple[object, ...]) -> None:
    with pytest.raises(InvalidParameter):
        kind(*arguments)


def test_infinite_loss_may_be_said() -> None:
    assert PureDP(math.inf) >= PureDP(1e308)
    assert 2 * PureDP(math.inf) == PureDP(math.inf)


@given(st.fractions(min_value=0))
def test_a_loss_is_rounded_up(x: Fraction) -> None:
    assert rational(PureDP(x).epsilon) >= x  # type: ignore[arg-type]
    assert rational(ZCDP(x).rho) >= x  # type: ignore[arg-type]


@given(st.fractions(min_value=1).filter(lambda a: a > 1 + Fraction(1, 10**15)))
def test_an_order_is_rounded_down(a: Fraction) -> None:
    # Divergence grows with its order: a promise at a is one at every order below a, and at none above.
    ((order, _),) = RenyiDP({a: 1}).curve
    assert 1 < rational(order) <= a


def test_an_order_that_rounds_to_one_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="above 1"):
        RenyiDP({1 + Fraction(1, 10**30): 1})


# ---- who is protected ----------------------------------------------------------------------------------------


def test_units_and_neighbours_have_names() -> None:
    assert Unit.row() == Unit()
    assert Unit.of("patient").id == "patient"
    assert Neighbors("replace") is Neighbors.REPLACE
    names: list[Any] = ["Replace", "", None, 1, True]
    for name in names:
        with pytest.raises(InvalidParameter, match="add-remove"):
            Neighbors(name)
