"""The exact decisions under every sampler: enclosures that enclose, and answers that hold for every continuation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curador.noise.decide import MORE, below, below_exp, below_exp_of_cell, below_fraction, exp_minus
from tests import exact
from tests.exact import MP, AskedForMore, Script, measured, near_log_two, real, verdict

exponents = st.fractions(min_value=0, max_value=400) | st.fractions(min_value=0, max_value=Fraction(1, 10**30))


@given(exponents, st.integers(0, 300))
@example(Fraction(0), 64)
@example(Fraction(1, 10**300), 64)
@example(Fraction(1, 256), 64)
@example(Fraction(255, 256), 128)
@example(Fraction(10 * 65, 13), 64)  # from here on the answer is 0 … 1 without arithmetic
@example(Fraction(10 * 65 - 1, 13), 64)
@example(Fraction(10) ** 400, 64)
@example(Fraction(207), 300)  # 2**300 * exp(-207) is 2.6: not yet 0 … 1
def test_exp_minus_encloses(x: Fraction, bits: int) -> None:
    lo, hi = exp_minus(x, bits)
    true = MP.ldexp(exact.exp_minus(x), bits)
    assert lo <= true <= hi
    assert hi - lo <= 2


@given(st.integers(16, 200), st.integers(1, 1 << 200), st.sampled_from([-1, 1]))
def test_exp_minus_encloses_next_to_integers(bits: int, m: int, side: int) -> None:
    """Exponents with 2**bits * exp(-x) within 2**-40 of an integer, where a bound off by one guard bit would show."""
    m = 1 + m % ((1 << bits) - 1)
    close = MP.log(MP.ldexp(1, bits) / m) + side * MP.ldexp(1, -bits - 40)
    x = Fraction(int(MP.floor(MP.ldexp(close, bits + 100))), 1 << (bits + 100))
    lo, hi = exp_minus(x, bits)
    assert lo <= MP.ldexp(exact.exp_minus(x), bits) <= hi
    assert hi - lo <= 2


def test_an_enclosure_can_miss() -> None:
    """The comparison above sees an exponent that is off by 2**-60."""
    lo, hi = exp_minus(Fraction(1) + Fraction(1, 1 << 60), 64)
    assert not lo <= MP.ldexp(exact.exp_minus(1), 64) <= hi


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(50)])
@pytest.mark.parametrize("nb", [8, 32, 64])
def test_below_exp_around_its_threshold(x: Fraction, nb: int) -> None:
    """Prefixes next to the threshold are decided rightly, and the one it runs through asks for more bits."""
    threshold = exact.exp_minus(x)
    at = int(MP.floor(MP.ldexp(threshold, nb)))
    for v in {w for w in (0, at - 2, at - 1, at, at + 1, at + 2, (1 << nb) - 1) if 0 <= w < 1 << nb}:
        right = verdict(v, nb, threshold)
        if right is None:
            with pytest.raises(AskedForMore):
                below_exp(v, nb, x, Script())
        else:
            assert below_exp(v, nb, x, Script()) is right


@pytest.mark.parametrize("extensions", [1, 2, 5])
def test_below_exp_appends_as_often_as_needed(extensions: int) -> None:
    """Feed it the threshold's own bits: it asks for more each time, and decides on the last bit."""
    x, nb = Fraction(1, 3), 16
    bits = nb + MORE * extensions
    whole = int(MP.floor(MP.ldexp(exact.exp_minus(x), bits)))
    for last, right in ((whole - 1, True), (whole + 1, False)):
        pieces = [(last >> (MORE * k)) & ((1 << MORE) - 1) for k in reversed(range(extensions))]
        script = Script(*pieces)
        assert below_exp(last >> (MORE * extensions), nb, x, script) is right
        assert script.asked == [MORE] * extensions


@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1), Fraction(20)])
def test_below_exp_has_the_chance_it_should(x: Fraction) -> None:
    """The measured chance, over all 128-bit prefixes, is exp(-x)."""

    def decide(prefix: int) -> bool | None:
        try:
            return below_exp(prefix >> MORE, 64, x, Script(prefix & ((1 << MORE) - 1)))
        except AskedForMore:
            return None

    low, high = measured(decide, 128)
    assert exact.within(exact.exp_minus(x), low, high)
    assert high - low <= Fraction(2, 1 << 128)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("k", [*range(60, 70), *range(124, 134), *range(188, 198)])
def test_a_threshold_next_to_a_half(k: int, side: int) -> None:
    """exp(-x) within 2**-k of 1/2: the bits of one half, and those just below it, fall on the right side."""
    x = near_log_two(k, side)
    for nb in (1, 32, 64):
        assert below_exp(1 << (nb - 1), nb, x, Script(then=0)) is (side < 0)
        assert below_exp((1 << (nb - 1)) - 1, nb, x, Script(then=1)) is (side < 0)


@given(st.fractions(min_value=0, max_value=1, max_denominator=1 << 20), st.integers(0, 255))
@example(Fraction(0), 0)
@example(Fraction(1), 255)
@example(Fraction(1, 2), 128)
@example(Fraction(1, 2), 127)
def test_below_fraction_on_every_prefix(p: Fraction, v: int) -> None:
    low, high = Fraction(v, 256), Fraction(v + 1, 256)
    if high <= p or low >= p:
        assert below_fraction(v, 8, p, Script()) is (high <= p)
    else:
        assert below_fraction(v, 8, p, Script(0)) is (low + Fraction(1, 1 << 72) <= p)
        assert below_fraction(v, 8, p, Script((1 << MORE) - 1, then=1)) is False


def test_below_fraction_enumerated() -> None:
    """All 16-bit prefixes of p = 3/11: as many say True as lie below, and one asks for more."""
    said: Counter[bool | None] = Counter()
    for v in range(1 << 16):
        try:
            said[below_fraction(v, 16, Fraction(3, 11), Script())] += 1
        except AskedForMore:
            said[None] += 1
    assert said == {True: (3 << 16) // 11, None: 1, False: (1 << 16) - (3 << 16) // 11 - 1}


@pytest.mark.parametrize(
    ("base", "variance"), [(0, Fraction(4)), (3, Fraction(4)), (64, Fraction(9001, 2)), (1 << 20, Fraction(1 << 38))]
)
@pytest.mark.parametrize("d", [0, 1, 3])
@pytest.mark.parametrize("fraction", [0, 1, 1 << 63, (1 << 64) - 1])
def test_below_exp_of_cell_holds_for_every_continuation(base: int, variance: Fraction, d: int, fraction: int) -> None:
    """With 64 bits of D's fraction fixed, V is kept below exp(-x(D)) and refused above it, up to D's last bit."""

    def threshold(at: Fraction) -> MP.mpf:
        return exact.exp_minus(at * (2 * base + at) / (2 * variance))

    def decide(prefix: int) -> bool | None:
        try:
            script = Script(prefix & ((1 << MORE) - 1), fraction)
            return below_exp_of_cell(prefix >> MORE, 32, d, base, variance, script)
        except AskedForMore:
            return None

    start = d + Fraction(fraction, 1 << 64)
    low, high = measured(decide, 32 + MORE)
    smallest, largest = threshold(start + Fraction(1, 1 << 64)), threshold(start)
    # What is kept is kept for every D in the cell, what is refused is refused for every D in it …
    assert real(low) <= smallest
    assert real(high) >= largest
    # … and little is left open: not more than the threshold moves in the cell, and two prefixes.
    assert real(high - low) <= largest - smallest + 2 * MP.ldexp(1, -96)


def test_below_exp_of_cell_sees_the_fraction() -> None:
    """Where V's cell lies between the two ends of D's, the fraction's bits decide."""
    variance, d = Fraction(4), 1
    ends = [exact.exp_minus(Fraction(e * e, 8)) for e in (d, d + 1)]
    v = int(MP.floor(MP.ldexp((ends[0] + ends[1]) / 2, 32)))
    assert below_exp_of_cell(v, 32, d, 0, variance, Script(0, 0)) is True
    assert below_exp_of_cell(v, 32, d, 0, variance, Script(0, (1 << MORE) - 1)) is False


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 255, 256, 257])
def test_below_is_uniform(n: int) -> None:
    """Of all words of the least size, each value has one, and the others ask again."""
    k = (n - 1).bit_length()
    found: Counter[int] = Counter()
    again = 0
    for word in range(1 << k):
        try:
            found[below(n, Script(word))] += 1
        except AskedForMore:
            again += 1
    assert found == dict.fromkeys(range(n), 1)
    assert again == (1 << k) - n < n


def test_below_asks_again_after_a_refusal() -> None:
    assert below(5, Script(7, 5, 6, 3)) == 3
