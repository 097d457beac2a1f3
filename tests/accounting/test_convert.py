"""Conversions against published values, brute force over laws, and each other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from curador.accounting import convert as c
from curador.accounting.rules.divergences import hockey_stick, renyi_divergence, worst_pure_renyi
from curador.accounting.rules.gaussian import gaussian_delta, gaussian_epsilon
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational
from curador.privacy import RenyiDP

F = Fraction
deltas = st.integers(1, 12).map(lambda k: F(1, 10**k))
orders = st.fractions(F(11, 10), 60, max_denominator=10)
losses = st.fractions(F(1, 100), 5, max_denominator=100)


def number(x: Fraction | int) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


# ---- pure and zero-concentrated --------------------------------------------------------------------------------


def test_pure_to_zcdp() -> None:
    assert c.pure_to_zcdp(2) == 2.0
    for e in (F(1, 1000), F(1), F(20)):
        tight = c.pure_to_zcdp_tight(e)
        assert float(e) * math.tanh(float(e) / 2) == pytest.approx(tight, rel=1e-14)
        assert tight < c.pure_to_zcdp(e)


@pytest.mark.parametrize("places", [1, 8, 9, 10, 30, 55, 59, 60, 61, 62, 70, 100, 161, 162, 400])
def test_no_epsilon_has_a_rho_of_zero(places: int) -> None:
    """By x - x**3 / 3 <= tanh(x) <= x, and never below it, also where 60 digits hold no difference from 1."""
    e = F(1, 10**places)
    found = rational(c.pure_to_zcdp_tight(e))
    assert found >= e**2 / 2 - e**4 / 24 > 0
    assert found <= e**2 / 2 * (1 + F(1, 10**15)) or found == rational(5e-324)


@given(losses, st.fractions(F(1001, 1000), 200))
def test_tight_rho_covers_every_order(epsilon: Fraction, alpha: Fraction) -> None:
    assert worst_pure_renyi(epsilon, alpha) <= float(alpha) * c.pure_to_zcdp_tight(epsilon) * (1 + 1e-14)


def test_no_smaller_rho_covers_every_order() -> None:
    assert worst_pure_renyi(1, 1 + F(1, 10**6)) > c.pure_to_zcdp_tight(1) * (1 - 1e-5)


def test_published_zcdp_values() -> None:
    assert c.zcdp_epsilon("1/32", "1e-3").value == pytest.approx(0.6880024554878086, rel=1e-12)  # OpenDP
    assert c.zcdp_delta("1/32", 0).value == pytest.approx(0.1508457845622862, rel=1e-12)
    # dp_accounting: this sigma is (1, 1e-6)-DP by its Rényi curve, over all orders.
    assert c.zcdp_epsilon(1 / (2 * F("4.530877117") ** 2), "1e-6").value == pytest.approx(1.0, abs=5e-10)


@settings(max_examples=50)
@given(st.fractions(F(1, 10**4), 20), st.fractions(0, 30), st.fractions(F(1001, 1000), 300))
def test_zcdp_delta_is_the_smallest_over_orders(rho: Fraction, epsilon: Fraction, alpha: Fraction) -> None:
    with mp.workdps(40):
        a, r, e = number(alpha), number(rho), number(epsilon)
        here = mp.exp((a - 1) * (a * r - e)) / (a - 1) * (1 - 1 / a) ** a
        found = c.zcdp_delta(rho, epsilon)
        b = number(Fraction(found.order))
        best = mp.exp((b - 1) * (b * r - e)) / (b - 1) * (1 - 1 / b) ** b
    assert min(mp.mpf(1), best) <= found.value
    assert found.value <= here * (1 + 1e-11) + mp.mpf(10) ** -300


@settings(max_examples=40)
@given(st.fractions(F(1, 100), 5), st.fractions(0, 10))
def test_zcdp_covers_the_gaussian_it_describes(mu: Fraction, epsilon: Fraction) -> None:
    rho = mu**2 / 2
    assert gaussian_delta(1, mu, epsilon) <= c.zcdp_delta(rho, epsilon).value * (1 + 1e-11)
    assert gaussian_epsilon(1, mu, F(1, 10**6)) <= c.zcdp_epsilon(rho, F(1, 10**6)).value * (1 + 1e-11)


@settings(max_examples=30)
@given(st.fractions(F(1, 1000), 30), deltas)
def test_rho_epsilon_and_delta_come_back(epsilon: Fraction, delta: Fraction) -> None:
    rho = c.zcdp_rho(epsilon, delta)
    assert c.zcdp_delta(rho, epsilon).value <= delta
    assert c.zcdp_delta(rho * F(1000001, 1000000), epsilon).value > delta * (1 - F(1, 10**9))
    assert c.zcdp_epsilon(rho, delta).value == pytest.approx(float(epsilon), rel=1e-6, abs=1e-9)


def test_zcdp_delta_beyond_doubles() -> None:
    with mp.workdps(50):
        # rho = 1, epsilon = 100: minimise over the order to forty digits.
        a = mp.findroot(lambda x: 2 * x - 101 + mp.log(1 - 1 / x), 50)
        true = (a - 1) * (a - 100) - mp.log(a - 1) + a * mp.log(1 - 1 / a)
    assert c.zcdp_delta(1, 100).value == 5e-324
    assert true <= c.zcdp_log_delta(1, 100) <= true + 1e-9
    assert c.zcdp_delta(1000, 0).value == 1.0


# ---- Rényi -----------------------------------------------------------------------------------------------------


def test_published_flat_curve() -> None:
    best = c.renyi_epsilon(dict.fromkeys(map(float, range(2, 33)), 1.1), "1e-5")  # dp_accounting
    assert best.value == pytest.approx(1.32783806176, abs=5e-12)
    assert best.order == 32
    back = c.renyi_delta(dict.fromkeys(map(float, range(2, 33)), 1.1), best.value)
    assert back.value == pytest.approx(1e-5, rel=1e-9)
    assert back.order == 32


@given(orders, losses, deltas)
def test_formulas_at_one_order(alpha: Fraction, zeta: Fraction, delta: Fraction) -> None:
    with mp.workdps(40):
        a, z, d = number(alpha), number(zeta), number(delta)
        thesis = z + mp.log(1 / d) / (a - 1)
        improved = z + mp.log((a - 1) / a) - (mp.log(d) + mp.log(a)) / (a - 1)
    for computed, true in (
        (c.thesis_epsilon(alpha, zeta, delta), thesis),
        (c.improved_epsilon(alpha, zeta, delta), improved),
    ):
        assert max(mp.mpf(0), true) <= computed <= max(mp.mpf(0), true) + abs(true) * 1e-12 + 1e-11
    assert c.improved_epsilon(alpha, zeta, delta) <= c.thesis_epsilon(alpha, zeta, delta)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Fraction], list[Fraction]]:
    weights = st.lists(st.integers(1, 30), min_size=3, max_size=3)
    one, two = draw(weights), draw(weights)
    return [F(w, sum(one)) for w in one], [F(w, sum(two)) for w in two]


@settings(max_examples=60)
@given(pairs(), orders, st.fractions(0, 4))
def test_no_conversion_understates_any_law(
    laws: tuple[list[Fraction], list[Fraction]], alpha: Fraction, epsilon: Fraction
) -> None:
    p, q = laws
    zeta = renyi_divergence(p, q, alpha)
    true = hockey_stick(p, q, epsilon)
    assert true <= c.optimal_delta(alpha, zeta, epsilon) * (1 + 1e-12) + 1e-15
    assert true <= c.renyi_delta({float(alpha): up_a_little(zeta)}, epsilon).value * (1 + 1e-9) + 1e-15


def up_a_little(zeta: float) -> float:
    return zeta * (1 + 1e-12)  # the curve's order is read as a float, which may lie below alpha


@settings(max_examples=25)
@given(orders, losses, st.fractions(0, 4))
def test_optimal_delta_is_attained_by_a_two_point_law(alpha: Fraction, zeta: Fraction, epsilon: Fraction) -> None:
    """The largest hockey stick over two-point laws with that divergence, by brute force."""
    a, z, ratio = float(alpha), float(zeta), math.exp(epsilon)
    best = 0.0

    def divergence(p: float, q: float) -> float:
        terms = a * math.log(p) + (1 - a) * math.log(q), a * math.log1p(-p) + (1 - a) * math.log1p(-q)
        top = max(terms)
        return (top + math.log(sum(math.exp(t - top) for t in terms))) / (a - 1)

    for k in range(121):
        p = 1 / (1 + math.exp(-(k - 60) / 5))
        low, high = p * 1e-18, p  # the divergence falls as q climbs to p
        if divergence(p, low) < z:
            continue
        for _ in range(40):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if divergence(p, middle) > z else (low, middle)
        best = max(best, p - ratio * high)
    computed = c.optimal_delta(alpha, zeta, epsilon)
    assert best <= computed * (1 + 1e-9) + 1e-12
    assume(best > 1e-4)
    assert computed <= best * 1.05 + 1e-4  # the brute force walks a grid


@settings(max_examples=40)
@given(orders, losses, deltas)
def test_optimal_is_never_above_improved(alpha: Fraction, zeta: Fraction, delta: Fraction) -> None:
    best = c.optimal_epsilon(alpha, zeta, delta)
    assert best <= c.improved_epsilon(alpha, zeta, delta) * (1 + 1e-11) + 1e-11
    assert (
        rational(c.optimal_delta(alpha, zeta, rational(best))) <= delta
    )  # a float stands for its decimal, 0.1 for 1/10


def test_best_order_is_reported() -> None:
    curve = RenyiDP({a: a * 0.02 for a in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)})
    best = c.renyi_epsilon(curve, "1e-6")
    assert best.order == min(dict(curve.curve), key=lambda a: c.improved_epsilon(a, a * 0.02, "1e-6"))
    assert best.value <= c.improved_epsilon(best.order, best.order * 0.02, "1e-6")
    assert c.zcdp_epsilon("0.02", "1e-6").value <= best.value * (1 + 1e-11)  # all orders do at least as well


def test_infinite_orders_and_losses() -> None:
    assert c.renyi_epsilon({math.inf: 0.5, 2.0: 3.0}, "1e-5") == c.AtOrder(0.5, math.inf)
    assert c.renyi_epsilon({2.0: math.inf}, "1e-5").value == math.inf
    assert c.renyi_delta({2.0: math.inf}, 1).value == 1.0
    assert c.renyi_delta({math.inf: 0.5}, F(1, 2)) == c.AtOrder(0.0, math.inf)
    coin = c.renyi_delta({math.inf: 1.0}, 0)
    assert coin.value == pytest.approx((math.e - 1) / (math.e + 1), rel=1e-11)
    assert c.renyi_delta({math.inf: math.inf}, 0).value == 1.0
    assert c.optimal_delta(2, math.inf, 1) == 1.0
    assert c.optimal_epsilon(2, math.inf, "0.1") == c.thesis_epsilon(2, math.inf, "0.1") == math.inf
    assert c.thesis_epsilon(math.inf, "0.5", "0.1") == 0.5
    assert c.optimal_delta(10**9, 10**9, 10**9) <= 1.0
    assert c.optimal_delta(2, 1, 10**7) == 5e-324


def test_impossible_requests_are_refused() -> None:
    calls: list[Any] = [
        lambda x: c.thesis_epsilon(2, 1, x),
        lambda x: c.improved_epsilon(2, 1, x),
        lambda x: c.optimal_epsilon(2, 1, x),
        lambda x: c.renyi_epsilon({2.0: 1.0}, x),
        lambda x: c.zcdp_epsilon(1, x),
        lambda x: c.zcdp_rho(1, x),
    ]
    for call in calls:
        with pytest.raises(NotPromised, match="delta = 0"):
            call(0)
        for bad in (1, -1, math.nan):
            with pytest.raises(InvalidParameter):
                call(bad)
    for alpha in (1, F(1, 2)):
        for convert in (c.thesis_epsilon, c.improved_epsilon, c.optimal_epsilon):
            with pytest.raises(InvalidParameter, match="above 1"):
                convert(alpha, 1, "0.1")
        with pytest.raises(InvalidParameter, match="above 1"):
            c.optimal_delta(alpha, 1, 1)
    with pytest.raises(InvalidParameter):
        c.zcdp_rho(-1, "0.1")
    with pytest.raises(InvalidParameter):
        c.renyi_epsilon({}, "0.1")
