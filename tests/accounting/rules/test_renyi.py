"""Rényi curves of every event against their definition, and the laws they must obey."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.events import Event
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules.divergences import bounded_range_renyi, renyi_divergence, worst_pure_renyi
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import ORDERS, renyi, renyi_curve
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational, up
from curador.privacy import Neighbors, RenyiDP
from tests import strategies
from tests.seeded import examples

ev: Any = events  # whose parameters may be written as any number
F = Fraction
orders = st.one_of(
    st.fractions(F(101, 100), 60, max_denominator=100),
    st.sampled_from([1 + F(1, 10**9), F(10**6), F(10**9)]),
)
small_epsilons = st.fractions(F(1, 1000), 5, max_denominator=1000)


def number(x: Fraction | int) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def assert_just_above(computed: float, true: mp.mpf) -> None:
    with mp.workdps(50):
        decimal = number(rational(computed))
        assert true * (1 - mp.mpf(10) ** -30) <= decimal <= true * (1 + mp.mpf(10) ** -15)


def atoms_oracle(atoms: list[tuple[mp.mpf, mp.mpf]], alpha: Fraction) -> mp.mpf:
    """D of order alpha from (mass under P, log ratio) pairs, with the largest power taken out."""
    power = number(alpha - 1)
    top = max(loss for _, loss in atoms)
    return top + mp.log(mp.fsum(m * mp.exp(power * (loss - top)) for m, loss in atoms)) / power


# ---- noise -----------------------------------------------------------------------------------------------------


@given(st.fractions(F(1, 4), 6), st.integers(1, 12), orders)
def test_discrete_laplace_is_its_definition(scale: Fraction, shift: int, alpha: Fraction) -> None:
    with mp.workdps(70):
        b = number(scale)
        r = mp.exp(-1 / b)
        inside = [((1 - r) / (1 + r) * r**x, (shift - 2 * x) / b) for x in range(1, shift)]
        ends = [(1 / (1 + r), shift / b), (r**shift / (1 + r), -shift / b)]
        true = atoms_oracle(ends + inside, alpha)
    assert_just_above(renyi(ev.DiscreteLaplaceNoise(scale, shift), alpha), true)


def test_discrete_laplace_on_a_fine_grid_is_laplace() -> None:
    for alpha in (F(11, 10), 2, 50):
        fine = renyi(ev.DiscreteLaplaceNoise(2**40, 2**40), alpha)
        assert fine == pytest.approx(renyi(ev.LaplaceNoise(1, 1), alpha), rel=1e-9)
    assert renyi(ev.DiscreteLaplaceNoise(2**40, 1), 2) < 1e-11


@given(st.fractions(F(1, 20), 8, max_denominator=100), orders)
def test_laplace_is_the_thesis_formula_for_any_sensitivity(x: Fraction, alpha: Fraction) -> None:
    with mp.workdps(70):
        a, e = number(alpha), number(x)
        inner = a / (2 * a - 1) + (a - 1) / (2 * a - 1) * mp.exp((1 - 2 * a) * e)
        true = e + mp.log(inner) / (a - 1)
    assert_just_above(renyi(ev.LaplaceNoise(3, 3 * x), alpha), true)


@given(st.integers(1, 4), st.fractions(F(1, 4), 30), st.fractions(F(11, 10), 30))
def test_discrete_gaussian_is_bounded_by_the_line(shift: int, variance: Fraction, alpha: Fraction) -> None:
    with mp.workdps(40):
        v, a = number(variance), number(alpha)
        reach = int(40 * math.sqrt(variance) * 2) + int(shift * alpha) + 10
        mass = mp.fsum(mp.exp(-mp.mpf(x * x) / (2 * v)) for x in range(-reach, reach + 1))
        moment = mp.fsum(mp.exp(-(a * x * x + (1 - a) * (x - shift) ** 2) / (2 * v)) for x in range(-reach, reach + 1))
        true = mp.log(moment / mass) / (a - 1)
    computed = renyi(ev.DiscreteGaussianNoise(variance, shift**2), alpha)
    assert true <= computed * (1 + 1e-15)
    assert computed == up(alpha * shift**2 / (2 * variance))


# ---- choices and worst cases -----------------------------------------------------------------------------------


@given(st.integers(2, 6), st.fractions(0, 1, max_denominator=40), orders)
def test_randomized_response_is_its_matrix(k: int, truth: Fraction, alpha: Fraction) -> None:
    other = (1 - truth) / (k - 1)
    rows = [[truth if i == j else other for j in range(k)] for i in range(2)]
    assert renyi(ev.RandomizedAnswer(k, truth), alpha) == pytest.approx(FiniteMechanism(rows).renyi(alpha), rel=1e-14)


@pytest.mark.parametrize(
    ("alpha", "published"),
    [("1.5", 1.50305526), ("2.5", 1.78011825), ("5", 1.90919693), ("50", 1.98145168), ("100", 1.98469545)],
)
def test_published_k_ary_responses_against_a_record_of_no_answer(alpha: str, published: float) -> None:
    # dp_accounting, replace-special: with probability .3 a uniform answer of ten, against always a uniform one.
    truth = F(7, 10) + F(3, 100)
    response, uniform = [truth, *[F(3, 100)] * 9], [F(1, 10)] * 10
    both = max(renyi_divergence(response, uniform, alpha), renyi_divergence(uniform, response, alpha))
    assert both == pytest.approx(published, abs=5e-9)


def test_thesis_proposition_5_1_2() -> None:
    p = F(3, 4)
    for alpha in (2, 5):
        direct = math.log(float(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha))) / (alpha - 1)
        assert renyi(ev.RandomizedAnswer(2, p), alpha) == pytest.approx(direct, rel=1e-14)
    assert renyi(ev.RandomizedAnswer(2, p), 1 + F(1, 10**12)) == pytest.approx(
        float(2 * p - 1) * math.log(3), rel=1e-11
    )


@given(small_epsilons, orders, st.fractions(0, 1), st.fractions(0, 1))
def test_worst_pure_event_is_worst(epsilon: Fraction, alpha: Fraction, x: Fraction, y: Fraction) -> None:
    with mp.workdps(70):
        # Any two-point law with log ratios in [-epsilon, epsilon]: high and low are its two ratios.
        e = number(epsilon)
        high, low = mp.exp(number(x) * e), mp.exp(-number(y) * e)
        if high == low:
            return
        q = (1 - low) / (high - low)
        true = atoms_oracle([(q * high, mp.log(high)), ((1 - q) * low, mp.log(low))], alpha)
        worst = atoms_oracle([(1 / (1 + mp.exp(-e)), e), (1 / (1 + mp.exp(e)), -e)], alpha)
    computed = worst_pure_renyi(epsilon, alpha)
    assert_just_above(computed, worst)
    assert true <= computed * (1 + 1e-15)
    assert computed <= float(alpha * epsilon**2 / 2) * (1 + 1e-14)  # lemma 2.3.3
    assert renyi(ev.PureLoss(epsilon), alpha) == renyi(ev.ApproxLoss(epsilon, 0), alpha) == computed


@given(small_epsilons, orders, st.fractions(0, 1))
def test_bounded_range_is_the_worst_two_point_loss(epsilon: Fraction, alpha: Fraction, share: Fraction) -> None:
    with mp.workdps(90):
        e, a = number(epsilon), number(alpha)

        def at(t: mp.mpf) -> mp.mpf:
            p = (mp.exp(e) - mp.exp(t)) / (mp.exp(e) - 1)
            return atoms_oracle([(p, t), (1 - p, t - e)], alpha)

        computed = bounded_range_renyi(epsilon, alpha)
        assert at(number(share) * e) <= computed * (1 + 1e-15)
        # The derivative in y = e**t of the moment vanishes at the best t.
        top, slope = mp.exp(e) - mp.exp((1 - a) * e), 1 - mp.exp((1 - a) * e)
        assert_just_above(computed, at(mp.log((a - 1) * top / (a * slope))))
    assert computed <= float(alpha * epsilon**2 / 8) * (1 + 1e-14)  # [CR21]
    assert computed <= worst_pure_renyi(epsilon, alpha) * (1 + 1e-14)
    assert renyi(ev.ExponentialChoice(epsilon), alpha) == computed


def test_bounded_range_allows_no_smaller_constant_than_an_eighth() -> None:
    assert bounded_range_renyi(F(1, 1000), 2) > 0.999999 * 2e-6 / 8


def test_what_has_no_curve_is_infinite_and_what_is_linear_is() -> None:
    for unbounded in (
        ev.TruncatedLaplaceNoise(1, 1, 10),
        ev.ApproxLoss(1, F(1, 10)),
        ev.RandomizedAnswer(2, 1),
        ev.LaplaceNoise(1, 1) + ev.ApproxLoss(1, F(1, 10)),
    ):
        assert renyi(unbounded, 2) == math.inf
    assert renyi(ev.ZCDPLoss(F(1, 8)), 8) == 1.0
    assert renyi(ev.GaussianNoise(3, 6), F(5, 2)) == 5.0
    assert renyi(ev.DiscreteGaussianNoise(4, 8, dimension=3), 3) == 3.0
    assert renyi(ev.ApproxLoss(0, 0), 3) == renyi(ev.NOTHING, 3) == 0.0


# ---- composition -----------------------------------------------------------------------------------------------


def test_curves_add_up_and_parts_do_not() -> None:
    one, two = ev.LaplaceNoise(1, 1), ev.LaplaceNoise(2, 1)
    a, b = renyi(one, 3), renyi(two, 3)
    assert renyi(3 * one + two, 3) == up(3 * rational(a) + rational(b))
    assert renyi(ev.Parallel((two, one, two)), 3) == a
    replaced = [ev.LaplaceNoise(s, 1, Neighbors.REPLACE) for s in (1, 2, 2)]
    assert renyi(ev.Parallel(tuple(replaced)), 3) == up(rational(a) + rational(b))
    assert renyi(ev.Parallel(()), 3) == 0.0


def test_parallel_under_replace_needs_two_parts() -> None:
    coin = FiniteMechanism([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    both = FiniteMechanism([[a * b for a in coin.matrix[i] for b in coin.matrix[1 - i]] for i in (0, 1)])
    event = ev.Parallel((ev.RandomizedAnswer(2, F(3, 4)),) * 3)
    assert both.renyi(2) <= renyi(event, 2) * (1 + 1e-15)
    assert both.renyi(2) > 1.9 * renyi(ev.RandomizedAnswer(2, F(3, 4)), 2)  # the largest part alone understates


def test_curve_and_its_orders() -> None:
    curve = renyi_curve(ev.GaussianNoise(1, 1), [F(4, 3), 2, math.inf])
    assert curve == RenyiDP([(F(4, 3), up(F(2, 3))), (2, 1.0), (math.inf, math.inf)])
    assert len(set(ORDERS)) == len(ORDERS)
    assert all(a > 1 for a in ORDERS)
    assert dict(renyi_curve(ev.ZCDPLoss(1)).curve) == {a: up(rational(a)) for a in ORDERS}


def test_orders_of_one_or_less_are_refused() -> None:
    bads: list[Any] = [1, F(1, 2), 0, -1, math.nan, "x"]
    for bad in bads:
        with pytest.raises(InvalidParameter):
            renyi(ev.LaplaceNoise(1, 1), bad)
    for bound in (worst_pure_renyi, bounded_range_renyi):
        with pytest.raises(InvalidParameter):
            bound(1, 1)
        with pytest.raises(InvalidParameter):
            bound(0, 2)


def test_an_unknown_event_is_refused() -> None:
    class Odd(Event, kind="odd-renyi"):
        neighbors = Neighbors.ADD_REMOVE

    try:
        with pytest.raises(NotPromised, match="Odd"):
            renyi(Odd(), 2)
    finally:
        events.KINDS.pop("odd-renyi")


# ---- laws over every event -------------------------------------------------------------------------------------


@examples(120)
@given(strategies.events, st.fractions(F(11, 10), 40, max_denominator=10), st.fractions(0, 20, max_denominator=10))
def test_a_curve_climbs_up_to_the_pure_epsilon(event: Event, alpha: Fraction, more: Fraction) -> None:
    try:
        here, there, pure = renyi(event, alpha), renyi(event, alpha + more), pure_epsilon(event)
    except NotPromised:  # and nothing else
        return
    assert here >= 0
    # Each is a bound of its own; where several theorems compete the smaller one may change with the order.
    assert here <= there * (1 + 1e-11) or isinstance(event, events.Composed | events.Parallel)
    assert pure == math.inf or here <= float(pure) * (1 + 1e-11)
