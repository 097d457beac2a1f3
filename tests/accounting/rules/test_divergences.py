"""Chapter 2 and the appendix of the thesis, as properties and against high precision."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from curador.accounting import course
from curador.accounting.rules import divergences as d
from curador.errors import InvalidParameter
from curador.numbers import rational

F = Fraction
ROUND = 1 + 1e-14  # two results, each rounded up, may cross by this much where the theorem says they are equal
Masses = list[Fraction]


def number(x: Fraction | int | float) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


@st.composite
def laws(draw: st.DrawFn, size: int = 4, least: int = 0) -> Masses:
    weights = draw(st.lists(st.integers(least, 12), min_size=size, max_size=size).filter(any))
    return [F(w, sum(weights)) for w in weights]


full = laws(least=1)
orders = st.fractions(F(101, 100), 40, max_denominator=100)


def mix(share: Fraction, p: Masses, q: Masses) -> Masses:
    return [share * a + (1 - share) * b for a, b in zip(p, q, strict=True)]


def oracle(p: Masses, q: Masses, alpha: Fraction, digits: int = 80) -> mp.mpf:
    with mp.workdps(digits):
        a = number(alpha)
        pairs = [(number(x), number(y)) for x, y in zip(p, q, strict=True) if x]
        if alpha == 1:
            return mp.fsum(x * mp.log(x / y) for x, y in pairs)
        return mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in pairs)) / (a - 1)


def assert_just_above(computed: float, true: mp.mpf, close: float = 1e-15) -> None:
    # A float stands for the decimal it prints, which is what is rounded up.
    with mp.workdps(60):
        decimal = number(rational(computed))
        assert true - abs(true) * mp.mpf(10) ** -30 <= decimal <= true + abs(true) * mp.mpf(close)


# ---- values ----------------------------------------------------------------------------------------------------


@given(full, full, st.one_of(orders, st.just(F(1)), st.fractions(F(1, 100), 1)))
def test_renyi_is_correct_to_the_last_bits(p: Masses, q: Masses, alpha: Fraction) -> None:
    assume(p != q)
    assert_just_above(d.renyi_divergence(p, q, alpha), oracle(p, q, alpha))


@pytest.mark.parametrize(
    "alpha", [1 + 1e-9, 1 + 2.0**-52, 1 - 1e-9, "1.000000000000000000000000000001", 1e6, 10**9, 10**30]
)
def test_orders_next_to_one_and_huge(alpha: Any) -> None:
    p, q = [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]
    with mp.workdps(200):
        a = number(Fraction(repr(alpha)) if isinstance(alpha, float) else Fraction(alpha))
        # log(sum) without the overflow of the plain formula
        true = mp.log(3) + mp.log(mp.mpf(3) / 4 + mp.mpf(1) / 4 * mp.exp(-2 * (a - 1) * mp.log(3))) / (a - 1)
    assert_just_above(d.renyi_divergence(p, q, alpha), true)


def test_laws_a_hair_apart_lose_no_digits() -> None:
    for tiny in (F(1, 10**9), F(1, 10**25), F(1, 10**60)):
        p, q = [F(1, 2) + tiny, F(1, 2) - tiny], [F(1, 2), F(1, 2)]
        for alpha in (F(1), F(3, 2), F(1, 2)):
            assert_just_above(d.renyi_divergence(p, q, alpha), oracle(p, q, alpha, digits=300))


def test_conventions_where_a_law_has_no_mass() -> None:
    half, sure = [F(1, 2), F(1, 2)], [F(1), F(0)]
    assert d.kl(half, sure) == d.renyi_divergence(half, sure, 2) == d.renyi_divergence(half, sure, math.inf) == math.inf
    assert d.kl(sure, half) == pytest.approx(math.log(2))
    # The thesis takes the supremum over the support of Q, which would make this -0.69.
    assert d.renyi_divergence(sure, half, math.inf) == pytest.approx(math.log(2))
    assert d.renyi_divergence(half, sure, F(1, 2)) == pytest.approx(math.log(2))
    assert d.renyi_divergence(sure, [F(0), F(1)], F(1, 2)) == math.inf
    assert d.kl(half, half) == d.renyi_divergence(half, half, 5) == d.renyi_divergence(half, half, math.inf) == 0.0
    assert d.kl({"a": 1}, {"a": F(1, 2), "b": F(1, 2)}) == pytest.approx(math.log(2))


def test_what_is_no_law_is_refused() -> None:
    bads: list[Any] = [[F(1, 2)], [F(3, 2), F(-1, 2)], [], [math.nan, 1], {"a": "x"}, [0.1, 0.2]]
    for bad in bads:
        with pytest.raises(InvalidParameter):
            d.law(bad)
    for alpha in (0, -1, math.nan):
        with pytest.raises(InvalidParameter):
            d.renyi_divergence([1], [1], alpha)
    with pytest.raises(InvalidParameter, match="does not say"):
        d.push([F(1, 2), F(1, 2)], [[1]])
    with pytest.raises(InvalidParameter, match="f\\(1\\) = 0"):
        d.f_divergence([1], [1], lambda t: t)


# ---- the laws of chapter 2 -------------------------------------------------------------------------------------


@given(full, full, orders)
def test_never_negative_and_zero_only_for_equal_laws(p: Masses, q: Masses, alpha: Fraction) -> None:
    for value in (d.kl(p, q), d.renyi_divergence(p, q, alpha), d.renyi_divergence(p, q, math.inf)):
        assert (value == 0) if p == q else value > 0


@given(laws(), laws(), st.lists(st.fractions(F(1, 10), 30, max_denominator=50), min_size=2, max_size=5, unique=True))
def test_monotone_in_the_order(p: Masses, q: Masses, alphas: list[Fraction]) -> None:
    values = [*(d.renyi_divergence(p, q, a) for a in sorted(alphas)), d.renyi_divergence(p, q, math.inf)]
    assert all(x <= y * ROUND for x, y in pairwise(values))


@given(full, full)
def test_order_one_is_kl_and_the_limit_of_its_neighbours(p: Masses, q: Masses) -> None:
    below, at, above = (d.renyi_divergence(p, q, 1 + s * F(1, 10**12)) for s in (-1, 0, 1))
    assert at == d.kl(p, q)
    assert below <= at * ROUND <= above * ROUND**2
    assert above - below <= 1e-9


def test_order_one_as_a_limit_needs_some_finite_order() -> None:
    # P ~ n^-3 against Q ~ e^-n: KL is finite on the whole line, every order above 1 is not.  Cut off at N, the order
    # 1.1 divergence grows without bound while KL settles.
    def cut(n: int) -> tuple[Masses, Masses]:
        p = [F(1, k**3) for k in range(1, n + 1)]
        q = [F(1, 3**k) for k in range(1, n + 1)]
        return [x / sum(p) for x in p], [x / sum(q) for x in q]

    kls = [d.kl(*cut(n)) for n in (40, 80)]
    renyis = [d.renyi_divergence(*cut(n), F(11, 10)) for n in (40, 80, 160)]
    assert kls[1] - kls[0] < 0.05
    assert renyis[2] - renyis[1] > 5


@settings(max_examples=60)
@given(full, full, full, full, st.fractions(0, 1), orders)
def test_joint_convexity(p1: Masses, p2: Masses, q1: Masses, q2: Masses, share: Fraction, alpha: Fraction) -> None:
    p, q = mix(share, p1, p2), mix(share, q1, q2)
    s = float(share)
    assert d.kl(p, q) <= (s * d.kl(p1, q1) + (1 - s) * d.kl(p2, q2)) * ROUND + 1e-18
    # Above order 1 the exponential is jointly convex, and the divergence itself quasi-convex.
    power = float(alpha - 1)
    one, two, mixed = (d.renyi_divergence(a, b, alpha) for a, b in ((p1, q1), (p2, q2), (p, q)))
    assert math.exp(power * mixed) <= (s * math.exp(power * one) + (1 - s) * math.exp(power * two)) * (1 + 1e-12)
    assert mixed <= max(one, two) * ROUND


@given(laws(), laws(), st.lists(laws(size=3), min_size=4, max_size=4), orders, st.fractions(0, 3))
def test_data_processing(p: Masses, q: Masses, kernel: list[Masses], alpha: Fraction, epsilon: Fraction) -> None:
    after_p, after_q = d.push(p, kernel), d.push(q, kernel)
    assert sum(after_p.values()) == 1
    assert d.kl(after_p, after_q) <= d.kl(p, q) * ROUND
    assert d.renyi_divergence(after_p, after_q, alpha) <= d.renyi_divergence(p, q, alpha) * ROUND
    assert d.hockey_stick(after_p, after_q, epsilon) <= d.hockey_stick(p, q, epsilon) * ROUND
    chi = {"at_zero": 1, "at_infinity": math.inf}
    square = d.f_divergence(after_p, after_q, lambda t: (t - 1) ** 2, **chi)
    assert square <= d.f_divergence(p, q, lambda t: (t - 1) ** 2, **chi) * ROUND


@given(full, full, orders, st.sets(st.integers(0, 3)))
def test_probability_preservation(p: Masses, q: Masses, alpha: Fraction, event: set[int]) -> None:
    mass_p, mass_q = sum((p[k] for k in event), F(0)), sum((q[k] for k in event), F(0))
    assert mass_p <= rational(course.probability_bound(mass_q, d.renyi_divergence(p, q, alpha), alpha))
    assert mass_p <= rational(course.probability_bound(mass_q, d.renyi_divergence(p, q, math.inf), math.inf))


def test_probability_preservation_rejects_the_exponent_left_out() -> None:
    # Without the power (alpha - 1)/alpha the bound would be e^D q: false here.
    p, q = [F(1, 2), F(1, 2)], [F(1, 100), F(99, 100)]
    divergence = d.renyi_divergence(p, q, 2)
    assert math.exp(divergence) * 0.01 < 0.26 < 0.5 <= course.probability_bound(F(1, 100), divergence, 2)


def test_probability_bound_at_its_edges() -> None:
    assert course.probability_bound(0, 3.0, 2) == 0.0
    assert course.probability_bound(0, math.inf, 2) == 1.0
    assert course.probability_bound(1, 3.0, 2) == 1.0
    with pytest.raises(InvalidParameter):
        course.probability_bound(F(1, 2), 1.0, 1)


@given(full, full, full, orders, st.one_of(st.fractions(1, 20), st.just(math.inf)))
def test_weak_triangle(p: Masses, q: Masses, r: Masses, alpha: Fraction, holder: Any) -> None:
    first_order, second_order = course.weak_triangle_orders(alpha, holder)
    first, second = d.renyi_divergence(p, r, first_order), d.renyi_divergence(r, q, second_order)
    assert d.renyi_divergence(p, q, alpha) <= course.weak_triangle(alpha, holder, first, second) * ROUND


def test_weak_triangle_has_its_three_special_cases() -> None:
    a, x, y = F(3), 0.25, 0.5
    assert course.weak_triangle_orders(a, 2) == (6, 5)  # corollary 2.3.1, 1)
    assert course.weak_triangle(a, 2, x, y) == (3 - 0.5) / 2 * x + y
    assert course.weak_triangle_orders(a, math.inf) == (math.inf, 3)  # 2)
    assert course.weak_triangle(a, math.inf, x, y) == 3 / 2 * x + y
    assert course.weak_triangle_orders(a, 1) == (3, math.inf)  # 3)
    assert course.weak_triangle(a, 1, x, y) == x + y
    assert course.weak_triangle(a, 2, math.inf, y) == math.inf
    for alpha, holder in ((1, 2), (2, F(1, 2))):
        with pytest.raises(InvalidParameter):
            course.weak_triangle(alpha, holder, x, y)


def test_the_plain_triangle_inequality_is_false() -> None:
    p, r, q = [F(1, 2), F(1, 2)], [F(1, 5), F(4, 5)], [F(1, 20), F(19, 20)]
    assert d.renyi_divergence(p, q, 2) > d.renyi_divergence(p, r, 2) + d.renyi_divergence(r, q, 2)


@given(full, full, st.fractions(1, 30))
def test_lemma_2_3_3_with_its_true_constant(p: Masses, q: Masses, alpha: Fraction) -> None:
    assume(p != q)
    zeta = max(d.renyi_divergence(p, q, math.inf), d.renyi_divergence(q, p, math.inf))
    value = d.renyi_divergence(p, q, alpha)
    bound = course.pure_renyi_bound(zeta, alpha)
    assert value <= bound <= 2 * alpha * F(zeta) ** 2 / 4 * F(1000001, 1000000)


def test_lemma_2_3_3_allows_no_smaller_constant() -> None:
    near = F(1, 2) + F(1, 1000)
    zeta = d.renyi_divergence([near, 1 - near], [1 - near, near], math.inf)
    assert d.renyi_divergence([near, 1 - near], [1 - near, near], 2) > 0.9999 * course.pure_renyi_bound(zeta, 2)
    with pytest.raises(InvalidParameter):
        course.pure_renyi_bound(1, F(1, 2))


@given(st.fractions(0, 1))
def test_lemma_2_3_2(x: Fraction) -> None:
    v = number(x)
    assert mp.e**v <= (1 + v + v**2) * (1 + mp.mpf(10) ** -14)
    assert mp.e**-v <= (1 - v + v**2) * (1 + mp.mpf(10) ** -14)


@given(st.fractions(F(1, 100), 10), st.fractions(F(1, 100), 10), st.fractions(0, 1))
def test_proposition_2_3_6(x: Fraction, y: Fraction, share: Fraction) -> None:
    assume(x > y)
    a, b = number(x), number(y)
    lam = mp.log(a / b)
    beta = number(share) / lam
    left = a ** (beta + 1) * b**-beta + a**-beta * b ** (beta + 1)
    assert left <= ((1 + (beta * lam) ** 2) * (a + b) + beta * lam * (a - b)) * (1 + mp.mpf(10) ** -12)


@given(laws(), laws(least=1), st.fractions(F(11, 10), 5))
def test_holder_and_log_sum(xs: Masses, ys: Masses, p: Fraction) -> None:
    q = float(p / (p - 1))
    product = sum(float(x * y) for x, y in zip(xs, ys, strict=True))
    bound = sum(float(x) ** float(p) for x in xs) ** (1 / float(p)) * sum(float(y) ** q for y in ys) ** (1 / q)
    assert product <= bound * (1 + 1e-12)
    # The log-sum inequality for measures that are no laws: scale both sides.
    left = sum(float(3 * x) * math.log(3 * x / y) for x, y in zip(xs, ys, strict=True) if x)
    assert left >= 3 * math.log(3) - 1e-12


def test_gaussian_integral_of_the_appendix() -> None:
    a, b, c = mp.mpf(2), mp.mpf(1), mp.mpf("0.4")
    true = mp.quad(lambda x: mp.exp(-a * x * x + b * x + c), [-mp.inf, 0, mp.inf])
    assert mp.sqrt(mp.pi / a) * mp.exp((b * b + 4 * a * c) / (4 * a)) == pytest.approx(true, rel=1e-12)
    assert mp.sqrt(mp.pi / a) * mp.exp((b * b - 4 * a * c) / (4 * a)) < 0.5 * true  # as printed


# ---- f-divergences, hockey stick, total variation --------------------------------------------------------------


@given(laws(), laws(), st.fractions(0, 3))
def test_hockey_stick_is_the_largest_excess_and_an_f_divergence(p: Masses, q: Masses, epsilon: Fraction) -> None:
    value = d.hockey_stick(p, q, epsilon)
    sets = range(2 ** len(p))
    ratio = math.exp(epsilon)
    largest = max(sum(float(p[k]) - ratio * float(q[k]) for k in range(len(p)) if s >> k & 1) for s in sets)
    assert value == pytest.approx(largest, rel=1e-12, abs=1e-15)
    bend = F(ratio)
    stick = d.f_divergence(p, q, lambda t: max(F(0), t - bend), at_zero=0, at_infinity=1)
    assert value == pytest.approx(stick, rel=1e-12, abs=1e-15)


@given(laws(), laws())
def test_total_variation(p: Masses, q: Masses) -> None:
    half = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert d.total_variation(p, q) == pytest.approx(float(half), rel=1e-15, abs=0)
    assert d.total_variation(p, q) == d.total_variation(q, p)
    assert d.kl(p, q) >= 2 * d.total_variation(p, q) ** 2 * (1 - 1e-12)  # Pinsker


@given(full, full, st.integers(2, 6))
def test_renyi_as_an_f_divergence(p: Masses, q: Masses, alpha: int) -> None:
    value = d.f_divergence(p, q, lambda t: t**alpha - 1, at_zero=-1)
    assert math.log1p(value) / (alpha - 1) == pytest.approx(d.renyi_divergence(p, q, alpha), rel=1e-12, abs=1e-15)


def test_f_divergence_where_masses_are_missing() -> None:
    p, q = [F(1, 2), F(1, 2), F(0)], [F(1, 2), F(0), F(1, 2)]
    assert d.f_divergence(p, q, lambda t: abs(t - 1) / 2, at_zero=F(1, 2), at_infinity=F(1, 2)) == 0.5
    assert d.f_divergence(p, q, lambda t: abs(t - 1) / 2, at_zero=F(1, 2)) == math.inf


# ---- closed forms ----------------------------------------------------------------------------------------------


@given(st.fractions(F(1, 100), F(99, 100)), st.fractions(F(1, 100), F(99, 100)), st.one_of(orders, st.just(F(1))))
def test_bernoulli(p: Fraction, q: Fraction, alpha: Fraction) -> None:
    assume(p != q)
    assert_just_above(d.bernoulli_renyi(p, q, alpha), oracle([1 - p, p], [1 - q, q], alpha))
    assert d.bernoulli_renyi(1, q, math.inf) == pytest.approx(-math.log(q))


def quad_renyi(p: Any, q: Any, alpha: Fraction, corners: list[Any]) -> mp.mpf:
    a = number(alpha)
    total = mp.quad(lambda x: mp.exp(a * p(x) + (1 - a) * q(x)), corners)  # p and q are log densities
    return mp.log(total) / (a - 1)


@pytest.mark.parametrize("alpha", ["1/2", "3/2", "2", "7"])
@pytest.mark.parametrize(
    ("m1", "s1", "m2", "s2"), [(0, 1, 1, 1), (0, 1, 2, "3/2"), (1, "1/2", 0, 2), (0, 1, 1, "99/100")]
)
def test_gaussians_of_any_variances(alpha: str, m1: int, s1: Any, m2: int, s2: Any) -> None:
    with mp.workdps(30):

        def log_density(m: int, s: Any) -> Any:
            sigma = number(F(s))
            return lambda x: -((x - m) ** 2) / (2 * sigma**2) - mp.log(sigma * mp.sqrt(2 * mp.pi))

        true = quad_renyi(log_density(m1, s1), log_density(m2, s2), F(alpha), [-60, -10, 0, 1, 10, 60])
    computed = d.gaussian_renyi(m1, s1, m2, s2, alpha)
    assert computed == pytest.approx(float(true), rel=1e-12)


def test_gaussian_edges() -> None:
    assert d.gaussian_renyi(0, 2, 0, 1, 2) == math.inf  # sigma_alpha = -4 + 2 < 0
    assert d.gaussian_renyi(0, 2, 0, 1, F(4, 3)) == math.inf  # sigma_alpha = 0 exactly
    assert d.gaussian_renyi(0, 2, 0, 1, F(133, 100)) < math.inf
    assert d.gaussian_renyi(0, 1, 1, 1, math.inf) == d.gaussian_renyi(0, 2, 0, 1, math.inf) == math.inf
    assert d.gaussian_renyi(0, 1, 0, 1, math.inf) == 0.0
    limit = d.gaussian_renyi(0, 1, 1, 2, math.inf)
    assert d.gaussian_renyi(0, 1, 1, 2, 10**7) == pytest.approx(limit, rel=1e-5)
    assert limit == pytest.approx(1 / 6 + math.log(2), rel=1e-14)
    near = d.gaussian_renyi(0, 1, 0, 1 + F(1, 10**20), F(3, 2))
    assert near == pytest.approx(1.5e-40, rel=1e-9)
    assert d.gaussian_renyi(0, 1, 1, 2, 1) == pytest.approx(math.log(2) + 2 / 8 - 1 / 2, rel=1e-14)
    assert d.gaussian_renyi(0, 1, 1, 2, 1 + F(1, 10**12)) == pytest.approx(d.gaussian_renyi(0, 1, 1, 2, 1), rel=1e-11)
    # Corollary 2.4.2: only the difference of the means counts.
    assert d.gaussian_renyi(3, 2, 8, 2, 7) == d.gaussian_renyi(0, 2, 5, 2, 7) == 7 * 25 / 8


@pytest.mark.parametrize("alpha", ["1/4", "1/2", "3/2", "2", "9"])
@pytest.mark.parametrize("shift", ["1/10", "1", "-4"])
def test_laplace(alpha: str, shift: str) -> None:
    with mp.workdps(30):
        s, b = number(F(shift)), mp.mpf(2)
        low, high = min(s, mp.mpf(0)), max(s, mp.mpf(0))
        true = quad_renyi(
            lambda x: -abs(x) / b - mp.log(2 * b),
            lambda x: -abs(x - s) / b - mp.log(2 * b),
            F(alpha),
            [low - 200, low - 20, low, high, high + 20, high + 200],
        )
    assert d.laplace_renyi(shift, 2, alpha) == pytest.approx(float(true), rel=1e-12)


def test_laplace_limits() -> None:
    assert d.laplace_renyi(1, 4, math.inf) == 0.25  # corollary 5.2.1
    one = d.laplace_renyi(1, 4, 1)
    assert one == pytest.approx(0.25 + math.exp(-0.25) - 1, rel=1e-14)
    assert d.laplace_renyi(1, 4, 1 + F(1, 10**15)) == pytest.approx(one, rel=1e-12)
    wide = d.laplace_renyi(1, 10**6, 1)
    assert wide == pytest.approx(0.5e-12, rel=1e-6)  # 0.5 / lambda**2, where the thesis prints 0.5 / lambda
    assert d.laplace_renyi(1, 1, 10**12) == pytest.approx(1.0, rel=1e-11)
    assert d.laplace_renyi(0, 1, 3) == 0.0
    assert d.laplace_renyi(1, 1, F(1, 2) + F(1, 10**15)) == pytest.approx(d.laplace_renyi(1, 1, F(1, 2)), rel=1e-12)
