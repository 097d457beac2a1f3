"""Numbers are read exactly as they print, and leave rounded to the side that was asked for."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curador.errors import InvalidParameter
from curador.numbers import (
    down,
    log2_floor,
    positive,
    probability,
    rational,
    shown_down,
    shown_up,
    sqrt_up,
    up,
    whole,
)
from tests.strategies import NOT_COUNTS, NOT_NUMBERS, NOT_POSITIVE, NOT_PROBABILITIES

floats = st.floats(allow_nan=False, allow_infinity=False)
# Fractions at every scale a float has, and beyond on both ends.
wide = st.builds(lambda f, e: f * Fraction(2) ** e, st.fractions(), st.integers(-1200, 1200))


@pytest.mark.parametrize(
    ("x", "value"),
    [
        (0.1, Fraction(1, 10)),
        (1e-300, Fraction(1, 10**300)),
        (-2.5, Fraction(-5, 2)),
        (7, Fraction(7)),
        (Fraction(2, 3), Fraction(2, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("-1e-3", Fraction(-1, 1000)),
        (np.int8(-3), Fraction(-3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.float16(0.25), Fraction(1, 4)),
        (sys.float_info.max, Fraction(repr(sys.float_info.max))),
        (5e-324, Fraction(5, 10**324)),
    ],
)
def test_reads_the_number_that_was_written(x: object, value: Fraction) -> None:
    read = rational(x)
    assert read == value
    assert type(read) is Fraction
    assert type(read.numerator) is int
    assert type(read.denominator) is int


ODD_TEXT = ("nan", "inf", "1/0", "0x10", Decimal("NaN"), Decimal("Infinity"))
ODD_NUMPY = (np.float32("nan"), np.float64("inf"), np.bool_(True), np.array(1), np.array([1.0]), np.complex128(1))


@pytest.mark.parametrize("x", [*NOT_NUMBERS, *ODD_TEXT, *ODD_NUMPY])
def test_refuses_what_is_no_finite_number(x: object) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        rational(x, "epsilon")


@given(floats)
def test_a_float_is_the_decimal_it_prints_as(x: float) -> None:
    assert rational(x) == Fraction(repr(x))
    assert float(rational(x)) == x


def test_every_fraction_that_is_made_is_read_as_it_prints() -> None:
    for x in (rational("0." + "4" * 900 + "7e-90"), Fraction(-(2**7999) - 1, 2**8000 - 3), Fraction(2**7999 + 1)):
        assert rational(x) == rational(str(x)) == x
    for bad in ("0." + "4" * 1000, f"{2**8001}/3", "1/" + "3" * 5000, "3" * 2500, f"{10**999}e1000"):
        with pytest.raises(InvalidParameter):
            rational(bad)


def test_ten_tenths_are_one() -> None:
    assert sum(rational(0.1) for _ in range(10)) == 1
    assert sum(Fraction(0.1) for _ in range(10)) != 1  # what binary would have made of them


# ---- refusals by range ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "bad"), [(positive, NOT_POSITIVE), (probability, NOT_PROBABILITIES), (whole, NOT_NUMBERS)]
)
def test_each_reader_refuses_its_own(reader: Callable[[object, str], object], bad: tuple[object, ...]) -> None:
    for x in bad:
        with pytest.raises(InvalidParameter, match="rate"):
            reader(x, "rate")


def test_whole_keeps_its_least() -> None:
    for x in NOT_COUNTS:
        with pytest.raises(InvalidParameter, match=r"at least 1|finite number|must be a number"):
            whole(x, "n", 1)
    assert whole(0, "n") == 0
    assert whole(1.0, "n", 1) == 1
    assert whole(np.int64(5), "n", 5) == 5


@given(st.fractions())
def test_readers_keep_what_is_in_range(x: Fraction) -> None:
    for reader, inside in ((positive, x > 0), (probability, 0 <= x <= 1)):
        if inside:
            assert reader(x, "x") == x
        else:
            with pytest.raises(InvalidParameter):
                reader(x, "x")


# ---- directed rounding ---------------------------------------------------------------------------------------


def stands_for(x: float) -> Fraction | float:
    return rational(x) if math.isfinite(x) else x


@given(wide)
@example(Fraction(1, 3))
@example(Fraction(-1, 10**400))
@example(Fraction(10) ** 400)
@example(-(Fraction(10) ** 400))
@example(Fraction(sys.float_info.max) * (1 + Fraction(1, 2**60)))
def test_up_is_the_smallest_float_at_or_above(x: Fraction) -> None:
    top = up(x)
    assert stands_for(top) >= x
    assert stands_for(math.nextafter(top, -math.inf)) < x


@given(wide)
@example(Fraction(10) ** 400)
def test_down_mirrors_up(x: Fraction) -> None:
    assert down(x) == -up(-x)
    assert stands_for(down(x)) <= x


@given(floats)
def test_what_prints_exactly_is_not_moved(x: float) -> None:
    assert up(rational(x)) == x == down(rational(x))


@given(wide)
def test_no_float_lies_strictly_between(x: Fraction) -> None:
    low, high = down(x), up(x)
    assert high in (low, math.nextafter(low, math.inf))


# ---- roots and logarithms ------------------------------------------------------------------------------------


@given(wide.map(abs), st.integers(1, 200))
def test_root_is_above_by_less_than_promised(x: Fraction, bits: int) -> None:
    r = sqrt_up(x, bits)
    assert r >= 0
    assert r * r >= x
    assert r * r <= x * (1 + Fraction(1, 2**bits)) ** 2
    if r * r != x:
        assert r * r < x * (1 + Fraction(1, 2**bits)) ** 2


@given(wide)
def test_root_of_a_square_is_exact(x: Fraction) -> None:
    assert sqrt_up(x * x) == abs(x)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_root_agrees_with_mpmath(x: Fraction) -> None:
    with mpmath.workprec(400):
        exact = mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)
        r = sqrt_up(x)
        assert abs(mpmath.mpf(r.numerator) / r.denominator / exact - 1) < mpmath.mpf(2) ** -80


@given(wide.map(abs).filter(bool))
@example(Fraction(1))
@example(Fraction(2**53 - 1, 2**53))
@example(Fraction(2**2000))
def test_log2_floor_brackets(x: Fraction) -> None:
    e = log2_floor(x)
    assert Fraction(2) ** e <= x < Fraction(2) ** (e + 1)


def test_roots_and_logarithms_refuse_what_has_none() -> None:
    with pytest.raises(InvalidParameter, match="square root"):
        sqrt_up(Fraction(-1))
    for x in (0, -1):
        with pytest.raises(InvalidParameter, match="logarithm"):
            log2_floor(Fraction(x))


# ---- numbers as text -----------------------------------------------------------------------------------------


@given(wide, st.integers(1, 20))
@example(Fraction(999999999), 6)
@example(rational(5e-324), 6)
def test_shown_numbers_bracket_the_number_tightly(x: Fraction, digits: int) -> None:
    low, high = Fraction(shown_down(x, digits)), Fraction(shown_up(x, digits))
    assert low <= x <= high
    assert high - low <= abs(x) * Fraction(10) ** (1 - digits)
    for text in (shown_down(x, digits), shown_up(x, digits)):
        mantissa = text.split("e")[0].lstrip("-").replace(".", "").strip("0")
        assert len(mantissa) <= digits


@given(st.integers(-(10**6) + 1, 10**6 - 1), st.integers(-330, 310))
def test_a_short_decimal_is_shown_as_it_is(mantissa: int, exponent: int) -> None:
    x = mantissa * Fraction(10) ** exponent
    assert Fraction(shown_up(x)) == x == Fraction(shown_down(x))
    if 1e-300 < abs(x) < 1e300:
        assert shown_up(x) == f"{float(x):g}"


def test_shown_numbers() -> None:
    assert [shown_up(x) for x in (0, 1, 0.1, 0.1212625, 1e-6, 1e22, math.inf)] == [
        *("0", "1", "0.1", "0.121263", "1e-06", "1e+22", "inf")
    ]
    assert [shown_down(x) for x in (0.1212625, "2/3", -0.1212625)] == ["0.121262", "0.666666", "-0.121263"]


@pytest.mark.parametrize(
    "text", ["1e1_001", "1e3_000_000_000", "1_0", "1/1_0", "1e+1001", "1e99999", "٣", "1 0", "", "e5"]
)
def test_numbers_are_refused_before_they_are_made_however_they_are_written(text: str) -> None:
    """An exponent of ten digits takes a process all its time, and then its memory."""
    with pytest.raises(InvalidParameter):
        rational(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [(" 1. ", 1), (".5", Fraction(1, 2)), ("-3/6", Fraction(-1, 2)), ("1e0003", 1000), ("1E-2", Fraction(1, 100))],
)
def test_numbers_are_read_as_people_write_them(text: str, number: Fraction) -> None:
    assert rational(text) == number
