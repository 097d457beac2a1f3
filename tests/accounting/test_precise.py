"""The tools that round: never to the wrong side."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.precise import (
    TINY,
    dec,
    digits,
    exp_upper,
    float_above,
    fraction_above,
    least_dyadic,
    least_float,
    lost_digits,
    nearest,
    open_delta,
    upper_log,
)
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational

F = Fraction


@given(st.fractions(-(10**6), 10**6), st.integers(-60, 60))
def test_what_leaves_upwards_is_not_below(x: Fraction, scale: int) -> None:
    true = x * F(10) ** scale
    with digits():
        assert true <= fraction_above(dec(true)) <= true + abs(true) * 2 * TINY
        assert true <= rational(float_above(dec(true))) <= true + abs(true) / 2**51


def test_digits_are_left_as_they_were() -> None:
    from decimal import getcontext

    before = getcontext().prec
    with digits(extra=40):
        assert getcontext().prec == 100
        assert dec(F(10**15)).exp().ln() == Decimal(10**15)  # far outside the exponents of doubles
    assert getcontext().prec == before


@given(st.fractions(F(1, 10**40), 10**6))
def test_lost_digits_count_the_zeros(x: Fraction) -> None:
    assert x * 10 ** lost_digits(x) >= 1
    assert lost_digits(x) == 0 or x * 10 ** (lost_digits(x) - 2) < 1


@given(st.floats(-800, 0))
def test_probabilities_are_not_below_their_logarithm(log: float) -> None:
    with digits():
        true = dec(F(log)).exp()
    assert Decimal(exp_upper(log)) >= true
    assert exp_upper(log) <= 1
    assert upper_log(log) > log


def test_zero_and_beyond_doubles() -> None:
    assert exp_upper(-math.inf) == 0.0
    assert exp_upper(-1e9) == 5e-324
    assert nearest(-(10**400)) == -nearest(10**400) == -math.nextafter(math.inf, 0)


@given(st.fractions(F(1, 10**6), 10**6))
def test_searches_end_just_above_the_threshold(threshold: Fraction) -> None:
    found = rational(least_float(lambda x: x >= threshold))
    assert threshold <= found <= threshold * (1 + F(1, 2**44))
    short = least_dyadic(lambda x: x >= threshold, F(1))
    assert threshold <= short <= threshold * (1 + F(1, 2**48))
    assert least_float(lambda x: True) == 0.0


def test_a_delta_to_aim_for() -> None:
    assert rational(open_delta(F(1, 3))) <= F(1, 3)
    with pytest.raises(NotPromised):
        open_delta(0)
    bads: list[Any] = [1, -1, 2, math.nan, math.inf, "1e-400", None]
    for bad in bads:
        with pytest.raises(InvalidParameter):
            open_delta(bad)
