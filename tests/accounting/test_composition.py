"""Composition against enumeration: nothing may promise less than the product of the mechanisms really gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting import composition as compose
from curador.accounting import course, optimal
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP
from tests.accounting.test_optimal import hockey_stick, product, worst

EPSILONS = st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0, 3.0])
COUNTS = st.integers(1, 2000)
SLACKS = st.sampled_from([1e-12, 1e-6, 1e-3, 0.1, 0.9])


@given(EPSILONS, st.sampled_from([0.0, 1e-7]), COUNTS, SLACKS)
def test_every_closed_form_is_at_or_above_the_exact_composition(
    epsilon: float, delta: float, k: int, slack: float
) -> None:
    each = ApproxDP(epsilon, delta)
    forms = [compose.advanced(each, k, slack), compose.advanced_heterogeneous([each] * k, slack)]
    if delta == 0:
        forms.append(course.renyi_advanced(epsilon, k, slack))
        if -math.log(slack) >= 1.000001 * k * epsilon**2:
            forms.append(course.renyi_corollary(epsilon, k, slack))
    for form in forms:
        if form.epsilon < k * epsilon:
            assert optimal.optimal_delta(each, k, form.epsilon) <= form.delta


@given(EPSILONS, COUNTS, SLACKS, st.sampled_from([2, 8]))
def test_a_short_form_is_refused_exactly_where_it_is_false(epsilon: float, k: int, slack: float, constant: int) -> None:
    each = PureDP(epsilon)
    printed = epsilon * math.sqrt(constant * k * math.log(1 / slack))
    exact = optimal.optimal_epsilon(each, k, slack)
    try:
        got = course.advanced_short(each, k, slack, constant)
    except NotPromised:
        assert printed < exact * (1 + 1e-9)
    else:
        assert got.delta == slack
        assert exact <= got.epsilon <= printed * (1 + 1e-9)


@given(EPSILONS, COUNTS, SLACKS)
def test_the_simple_conditions_suffice(epsilon: float, k: int, slack: float) -> None:
    tail = math.log(1 / slack)
    if math.expm1(epsilon) <= math.sqrt(2 * tail / k) * (1 - 1e-12) or k <= 8 * tail * (1 - 1e-12):
        assert course.advanced_short(PureDP(epsilon), k, slack, 8)
    if k <= 2 * tail * (1 - 1e-12):
        assert course.advanced_short(PureDP(epsilon), k, slack, 2)


def test_short_forms_below_the_mean_loss_are_refused() -> None:
    mean = 1000 * math.tanh(0.5)
    for constant in (2, 8):
        assert math.sqrt(constant * 1000 * math.log(1e6)) < mean
        with pytest.raises(NotPromised, match="short form"):
            course.advanced_short(PureDP(1), 1000, 1e-6, constant)


def test_advanced_is_the_printed_formula() -> None:
    got = compose.advanced(ApproxDP(0.1, 1e-8), 100, 1e-6)
    with mpmath.workdps(30):
        e = mpmath.mpf(1) / 10
        exact = e * mpmath.sqrt(200 * mpmath.log(10**6)) + 100 * e * mpmath.expm1(e)
        assert exact <= got.epsilon <= exact * (1 + mpmath.mpf(2) ** -38)
    assert got.delta == 2e-6  # k delta + delta', exactly
    assert compose.advanced(PureDP(1000), 3, 1e-6).epsilon == math.inf


def test_heterogeneous_against_an_enumerated_mixture() -> None:
    parts = [(Fraction(1, 2), Fraction(1, 100)), (Fraction(1, 4), Fraction(0)), (Fraction(1), Fraction(0))] * 2
    got = compose.advanced_heterogeneous([ApproxDP(float(e), float(d)) for e, d in parts], 0.01)
    with mpmath.workdps(40):
        assert hockey_stick(product([worst(e, d) for e, d in parts]), got.epsilon) <= got.delta
        # Leaving the deltas out of the total would be false.
        assert hockey_stick(product([worst(e, d) for e, d in parts]), got.epsilon) > 0.01
    many = [PureDP(0.01)] * 300 + [PureDP(0.02)] * 300
    mean = 300 * (0.01 * math.tanh(0.005) + 0.02 * math.tanh(0.01))
    spread = math.sqrt(300 * (0.0001 + 0.0004))
    tail = min(math.log(1e6), math.log(math.e + spread * 1e6))
    assert compose.advanced_heterogeneous(many, 1e-6).epsilon == pytest.approx(mean + spread * math.sqrt(2 * tail))


def test_a_million_promises_cost_no_more_to_add_up_than_one() -> None:
    counted = compose.advanced_counted([(PureDP(0.001), 10**9), (ApproxDP(0.002, 1e-12), 10**6)], 1e-6)
    mean = 1e9 * 0.001 * math.tanh(0.0005) + 1e6 * 0.002 * math.tanh(0.001)
    spread = math.sqrt(1e9 * 0.001**2 + 1e6 * 0.002**2)
    assert counted.epsilon == pytest.approx(mean + spread * math.sqrt(2 * math.log(1e6)), rel=1e-9)
    assert counted.delta == pytest.approx(2e-6, rel=1e-5)


def test_deltas_compose_by_their_product() -> None:
    got = compose.advanced_heterogeneous([ApproxDP(0.01, 0.1), ApproxDP(0.02, 0.2)], 0.5)
    assert got.delta == pytest.approx(1 - 0.5 * 0.9 * 0.8, rel=1e-12)
    assert rational(got.delta) >= 1 - Fraction(1, 2) * Fraction(9, 10) * Fraction(8, 10)
    assert compose.advanced_heterogeneous([PureDP(0.01)], "1e-100").delta == 1e-100


@given(st.sampled_from([0.01, 0.1, 0.5]), st.integers(1, 60), st.sampled_from([1e-9, 1e-3, 0.2, 0.7]))
def test_event_bound_holds_for_the_likeliest_sets_of_randomised_response(epsilon: float, n: int, q: float) -> None:
    """Neyman and Pearson: the sets with the fewest lies have the largest chance about D for their chance about D'."""
    e = math.exp(epsilon)
    here = there = 0.0
    for j in range(n + 1):
        ways = math.comb(n, j)
        here += ways * (e / (1 + e)) ** (n - j) * (1 / (1 + e)) ** j
        there += ways * (e / (1 + e)) ** j * (1 / (1 + e)) ** (n - j)
        assert here <= course.event_bound(epsilon, n, min(1.0, there)) * (1 + 1e-12)
    printed = q * math.exp(2 * epsilon * math.sqrt(n * math.log(1 / q)))
    assert course.event_bound(epsilon, n, q) <= max(1.0, printed)


def test_the_corollary_checks_its_condition() -> None:
    assert course.renyi_corollary(0.1, 100, 1e-6).epsilon == pytest.approx(0.4 * math.sqrt(200 * math.log(1e6)))
    with pytest.raises(NotPromised, match="needs"):
        course.renyi_corollary(1, 100, 1e-6)
    true = course.renyi_advanced(0.1, 100, 1e-6).epsilon
    assert true <= (0.5 + math.sqrt(2)) * 0.1 * math.sqrt(100 * math.log(1e6))


def test_parallel_takes_the_largest_or_the_two_largest() -> None:
    approx: list[Guarantee] = [ApproxDP(1, 1e-6), ApproxDP(2, 1e-8), ApproxDP(0.5, 1e-7)]
    assert compose.parallel(approx) == ApproxDP(2, 1e-6)
    assert compose.parallel(approx, Neighbors.REPLACE) == ApproxDP(3, 1.1e-6)
    assert compose.parallel([ZCDP(0.1), ZCDP(0.3, 1e-6), ZCDP(0.2)], Neighbors.REPLACE) == ZCDP(0.5, 1e-6)
    curves: list[Guarantee] = [RenyiDP({2.0: 1, 4.0: 2}), RenyiDP({2.0: 3, 4.0: 1, 8.0: 5})]
    assert compose.parallel(curves) == RenyiDP({2.0: 3, 4.0: 2})
    assert compose.parallel(curves, Neighbors.REPLACE) == RenyiDP({2.0: 4, 4.0: 3})
    with pytest.raises(InvalidParameter):
        compose.parallel([PureDP(1), ZCDP(1)])


def _count_law(count: int, decay: Fraction, span: int = 60) -> dict[int, Fraction]:
    """Two-sided geometric noise cut far out, exact enough to see epsilon = -log(decay)."""
    return {count + z: (1 - decay) / (1 + decay) * decay ** abs(z) for z in range(-span, span + 1)}


def test_parallel_by_really_moving_a_record_between_parts() -> None:
    """Two noisy counts of two parts; a record changes part, or leaves: the largest log ratio of joint outputs."""
    a, b = Fraction(1, 2), Fraction(1, 3)  # epsilons log 2 and log 3
    inside = range(-10, 30)

    def loss(before: tuple[int, int], after: tuple[int, int]) -> float:
        laws = [
            (_count_law(before[0], a), _count_law(after[0], a)),
            (_count_law(before[1], b), _count_law(after[1], b)),
        ]
        ratios = [max(abs(math.log(p[z] / q[z])) for z in inside) for p, q in laws]
        return sum(ratios)  # independent parts: the worst joint output is worst in both

    parts = [PureDP(math.log(2)), PureDP(math.log(3))]
    moved, left = loss((5, 5), (4, 6)), loss((5, 5), (5, 4))
    add_remove, replace = compose.parallel(parts), compose.parallel(parts, Neighbors.REPLACE)
    assert isinstance(add_remove, PureDP)
    assert isinstance(replace, PureDP)
    assert left == pytest.approx(add_remove.epsilon)
    assert moved == pytest.approx(replace.epsilon)
    assert moved > add_remove.epsilon  # the maximum is false under replace


def test_two_moved_parts_add_their_renyi_divergences() -> None:
    """rho adds for independent parts: D of a product is the sum, not four times one of them."""

    def renyi(p: Mapping[Any, Fraction], q: Mapping[Any, Fraction], order: int) -> float:
        return math.log(sum(p[z] ** order * q[z] ** (1 - order) for z in p if z in q)) / (order - 1)

    one = (_count_law(0, Fraction(1, 2)), _count_law(1, Fraction(1, 2)))
    two = (_count_law(1, Fraction(1, 3)), _count_law(0, Fraction(1, 3)))
    both = (
        {(x, y): one[0][x] * two[0][y] for x in one[0] for y in two[0]},
        {(x, y): one[1][x] * two[1][y] for x in one[1] for y in two[1]},
    )
    for order in (2, 5):
        assert renyi(*both, order) == pytest.approx(renyi(*one, order) + renyi(*two, order), rel=1e-9)


def test_replacement_alone_says_nothing_about_moves() -> None:
    """Exact counts of the parts never change when every part keeps its size, and always change when one moves."""
    before, after = (5, 5), (4, 6)
    assert before != after  # epsilon is infinite, although each part's replace-only epsilon is 0
    assert "Assumes: under replace" in (compose.parallel.__doc__ or "")


def test_basic_and_post_processing() -> None:
    assert compose.basic([ZCDP(0.5), ZCDP(0.25)]) == ZCDP(0.75)
    assert compose.basic([RenyiDP({2.0: 1}), RenyiDP({2.0: 2, 3.0: 1})]) == RenyiDP({2.0: 3})
    assert compose.post_process(ZCDP(1), "es").guarantee == ZCDP(1)
    with pytest.raises(InvalidParameter):
        compose.post_process(PureDP(1), "fr")


@pytest.mark.parametrize(
    "call",
    [
        lambda: compose.basic([]),
        lambda: compose.advanced(PureDP(1), -1, 1e-6),
        lambda: compose.advanced(PureDP(1), 2, 0),
        lambda: compose.advanced(PureDP(math.inf), 2, 1e-6),
        lambda: compose.advanced(PureDP(1e300), 2, 1e-6),
        lambda: course.advanced_short(PureDP(1), 2, 1e-6, 4),
        lambda: course.renyi_advanced(0, 2, 1e-6),
    ],
)
def test_impossible_requests(call: object) -> None:
    assert callable(call)
    with pytest.raises(InvalidParameter):
        call()


def test_other_kinds_are_refused() -> None:
    with pytest.raises(NotPromised):
        compose.advanced(ZCDP(1), 10, 1e-6)
