"""Gaussian profiles against high precision, and calibration from the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting.rules import gaussian as g
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational

F = Fraction
CLOSE = 3e-12  # how far above the truth a rounded-up delta may lie, relatively


def number(x: Fraction | int | str) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def line_oracle(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """Balle and Wang's formula as it is written, with enough digits to survive its cancellation."""
    with mp.workdps(60):
        lower = mp.erfc((epsilon / mu - mu / 2) / mp.sqrt(2)) / 2
        return lower - mp.e**epsilon * mp.erfc((epsilon / mu + mu / 2) / mp.sqrt(2)) / 2


def integer_oracle(variance: Fraction, shift: int, epsilon: Fraction) -> mp.mpf:
    """The definition: the sum over integers of max(0, p(x) - e**epsilon p(x - shift))."""
    with mp.workdps(60):
        v, ratio = number(variance), mp.e ** number(epsilon)
        reach = 20 + shift + int(40 * math.sqrt(variance))
        weight = {x: mp.exp(-mp.mpf(x * x) / (2 * v)) for x in range(-reach - shift, reach + 1)}
        mass = mp.fsum(weight[x] for x in range(-reach, reach + 1))
        excess = (weight[x] - ratio * weight[x - shift] for x in range(-reach, reach + 1))
        return mp.fsum(max(mp.mpf(0), e) for e in excess) / mass


def assert_just_above(computed: float, true: mp.mpf) -> None:
    assert true <= computed <= true * (1 + mp.mpf(CLOSE)) + mp.mpf(5e-324)


# ---- on the line -----------------------------------------------------------------------------------------------


@pytest.mark.thin(19)
@pytest.mark.parametrize("mu", ["1/1000000", "1/1000", "1/30", "1/3", "99/100", "1", "3", "40"])
@pytest.mark.parametrize("t", [-1, 0, 1, 3, 8, 20, 36])
def test_line_profile_is_right_to_twelve_digits_down_to_1e_minus_300(mu: str, t: int) -> None:
    m = F(mu)
    epsilon = max(F(0), m * (t + m / 2))  # puts the threshold t standard deviations out
    true = line_oracle(number(m), number(epsilon))
    assert true > mp.mpf(10) ** -305
    assert_just_above(g.gaussian_delta(1 / m, 1, epsilon), true)


@settings(max_examples=100)
@given(st.fractions(F(1, 10**4), 10**4), st.fractions(F(1, 100), 100), st.fractions(0, 40))
def test_line_profile_never_understates(sigma: Fraction, sensitivity: Fraction, epsilon: Fraction) -> None:
    true = line_oracle(number(sensitivity / sigma), number(epsilon))
    computed = g.gaussian_delta(sigma, sensitivity, epsilon)
    if true > mp.mpf(10) ** -300:
        assert_just_above(computed, true)
    else:
        assert true <= computed < 1e-299


def test_log_profile_reaches_beyond_doubles() -> None:
    with mp.workdps(60):
        true = mp.log(line_oracle(mp.mpf(1), mp.mpf(60)))
    assert g.gaussian_delta(1, 1, 60) == 5e-324
    assert true <= g.gaussian_log_delta(1, 1, 60) <= true + 1e-10


def test_published_delta_of_three_gaussians() -> None:
    # dp_accounting: 3 compositions of sigma = sqrt(3), which are one of sigma 1.
    assert g.gaussian_delta(1, 1, 1) == pytest.approx(0.126936, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1", "1e-5"), ("0", "0.1"), ("0.001", "1e-12"), ("8", "1e-6"), ("100", "1e-300"), ("3", "0.5")],
)
def test_sigma_meets_its_target_and_no_smaller_one_does(epsilon: str, delta: str) -> None:
    sigma = g.gaussian_sigma(epsilon, delta, 1)
    true = line_oracle(1 / number(sigma), number(epsilon))
    smaller = line_oracle(1 / number(sigma * (1 - F(1, 10**11))), number(epsilon))
    assert true <= number(F(delta)) < smaller * (1 + mp.mpf(CLOSE))
    assert sigma.denominator & (sigma.denominator - 1) == 0
    assert sigma.numerator.bit_length() <= 51


def test_sigma_scales_with_sensitivity_exactly() -> None:
    assert g.gaussian_sigma(1, "1e-5", F(7, 3)) == F(7, 3) * g.gaussian_sigma(1, "1e-5", 1)


@settings(max_examples=30)
@given(st.fractions(F(1, 20), 20), st.integers(1, 100).map(lambda k: F(1, 10**k)))
def test_epsilon_of_sigma_comes_back(epsilon: Fraction, delta: Fraction) -> None:
    sigma = g.gaussian_sigma(epsilon, delta, 1)
    back = g.gaussian_epsilon(sigma, 1, delta)
    assert back <= epsilon * (1 + F(1, 10**9))
    assert back >= epsilon * (1 - F(1, 10**9))
    assert g.gaussian_delta(sigma, 1, rational(back)) <= delta


def test_epsilon_is_zero_where_delta_is_generous() -> None:
    assert g.gaussian_epsilon(1, 1, "0.5") == 0.0


def test_classic_sigma_is_safe_below_one_and_refused_from_one_on() -> None:
    for e in ("0.01", "0.5", "0.999"):
        for d in ("0.9", "0.3", "1e-5", "1e-100"):
            sigma = g.classic_gaussian_sigma(e, d, 1)
            assert sigma >= F(math.sqrt(2 * math.log(1.25 / float(d)))) / F(e) * (1 - F(1, 10**13))
            assert line_oracle(1 / number(sigma), number(e)) <= number(F(d))
            assert sigma > g.gaussian_sigma(e, d, 1)
    for large in ("1", "1.5", "10"):
        with pytest.raises(NotPromised, match="epsilon < 1"):
            g.classic_gaussian_sigma(large, "1e-5", 1)


@pytest.mark.parametrize(("epsilon", "delta", "real"), [(10, "1e-5", 2.3e-5), (8, "0.01", 0.018)])
def test_the_course_formula_beyond_one_breaks_its_promise(epsilon: int, delta: str, real: float) -> None:
    sigma = rational(math.sqrt(2 * math.log(1.25 / float(delta))) / epsilon)
    assert g.gaussian_delta(sigma, 1, epsilon) == pytest.approx(real, rel=0.03)
    assert g.gaussian_delta(sigma, 1, epsilon) > 1.5 * float(delta)


# ---- on the integers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variance", "shift", "epsilon"),
    [
        ("1/100", 1, "0"),
        ("1/100", 1, "49"),
        ("1/100", 1, "50"),  # the threshold falls exactly on an integer
        ("1/100", 1, "60"),
        ("1/2", 10, "3"),
        ("1", 1, "1"),
        ("5/2", 3, "2"),
        ("14", 1, "1"),
        ("30", 2, "1/2"),
        ("100", 5, "0"),
        ("100", 50, "3"),
        ("400", 7, "3/10"),
        ("400", 3, "1/5"),
    ],
)
def test_integer_profile_is_its_definition(variance: str, shift: int, epsilon: str) -> None:
    true = integer_oracle(F(variance), shift, F(epsilon))
    assert_just_above(g.discrete_gaussian_delta(variance, shift, epsilon), true)


@settings(max_examples=25)
@given(st.fractions(F(1, 50), 60), st.integers(1, 6), st.fractions(0, 6))
def test_integer_profile_never_understates(variance: Fraction, shift: int, epsilon: Fraction) -> None:
    true = integer_oracle(variance, shift, epsilon)
    assert true <= g.discrete_gaussian_delta(variance, shift, epsilon)


@settings(max_examples=100)
@given(
    st.floats(11.1, 14).map(lambda b: rational(round(4**b))),
    st.integers(1, 10**6),
    st.floats(-3, 45),
)
def test_wide_integer_laws_agree_with_the_plain_sum(variance: Fraction, shift: int, t: float) -> None:
    sigma = math.sqrt(variance)
    epsilon = max(F(0), rational((t * sigma + shift / 2) * shift / float(variance)))
    # The plain sum is valid for every variance; the library stops using it where it becomes slow.
    a = epsilon * variance / shift - F(shift, 2)
    m = math.floor(a) + 1
    log_top, total = g._direct_sum(variance, m, float(shift / variance), float(m - a))
    plain = log_top + math.log(total) - math.log(sigma) - 0.5 * math.log(2 * math.pi)
    computed = g.discrete_gaussian_log_delta(variance, shift, epsilon)
    assert plain - 1e-12 * (1 + abs(plain)) <= computed <= plain + 1e-11 * (1 + abs(plain))


def test_integers_become_the_line_when_the_law_is_wide() -> None:
    on_integers = g.discrete_gaussian_delta(10**12, 10**6, 1)
    on_the_line = g.gaussian_delta(10**6, 10**6, 1)
    assert on_integers == pytest.approx(on_the_line, rel=1e-11)


def test_continuous_sigma_is_not_enough_on_the_integers() -> None:
    overshoot = g.discrete_gaussian_delta(g.gaussian_sigma(1, "1e-5", 1) ** 2, 1, 1) / 1e-5
    threefold = g.discrete_gaussian_delta(g.gaussian_sigma(8, "1e-6", 1) ** 2, 1, 8) / 1e-6
    assert overshoot == pytest.approx(1.035, abs=0.001)
    assert threefold == pytest.approx(3.01, abs=0.01)


@settings(max_examples=40)
@given(st.fractions(F(1, 10), 50), st.fractions(0, 5), st.integers(1, 12))
def test_a_larger_shift_is_easier_to_see(variance: Fraction, epsilon: Fraction, shift: int) -> None:
    smaller = g.discrete_gaussian_delta(variance, shift, epsilon)
    assert smaller <= g.discrete_gaussian_delta(variance, shift + 1, epsilon) * (1 + CLOSE)


def test_more_noise_may_cost_more_on_the_integers() -> None:
    assert g.discrete_gaussian_delta("0.3", 1, 3) > 1.6 * g.discrete_gaussian_delta("0.2", 1, 3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "shift"),
    [("1", "1e-5", 1), ("8", "1e-6", 1), ("0.1", "1e-9", 3), ("3", "0.1", 1), ("0", "0.2", 2)],
)
def test_integer_variance_meets_its_target(epsilon: str, delta: str, shift: int) -> None:
    v = g.discrete_gaussian_variance(epsilon, delta, shift)
    assert integer_oracle(v, shift, F(epsilon)) <= number(F(delta))
    assert g.discrete_gaussian_delta(v * (1 - F(1, 10**9)), shift, epsilon) > float(delta) * (1 - 1e-6)


def test_vector_variance_covers_the_single_number() -> None:
    for e, d in (("1", "1e-5"), ("4", "1e-9")):
        v = g.discrete_gaussian_variance_vector(e, d, 9)
        assert integer_oracle(v, 3, F(e)) <= number(F(d))


# ---- refusals --------------------------------------------------------------------------------------------------


def test_impossible_targets_are_refused() -> None:
    with pytest.raises(NotPromised, match="delta = 0"):
        g.gaussian_sigma(1, 0, 1)
    for bad in (1, -1, 2, "1e-400"):
        with pytest.raises(InvalidParameter):
            g.gaussian_sigma(1, bad, 1)
    for call in (g.gaussian_delta, g.gaussian_log_delta, g.discrete_gaussian_delta):
        with pytest.raises(InvalidParameter, match="epsilon"):
            call(1, 1, -1)
        with pytest.raises(InvalidParameter):
            call(0, 1, 1)


def test_profile_falls_with_epsilon() -> None:
    at = [F(k, 7) for k in range(40)]
    for profile in (g.gaussian_delta, g.discrete_gaussian_delta):
        values = [profile(2, 3, e) for e in at]
        assert all(a > b for a, b in pairwise(values))
