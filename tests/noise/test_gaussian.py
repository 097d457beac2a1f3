"""Gaussian noise: the acceptance step around every threshold, its two kinds of law, and its far values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.noise.arrays import EXP_ERROR
from curador.noise.entropy import Entropy
from curador.noise.gaussian import DiscreteGaussian, RoundedGaussian, _GaussianSplit
from tests import exact
from tests.exact import MP, SHIFTS, AskedForMore, OneWord, Real, Refused, Script, measured, real, shifted_exp, verdict

ONES = (1 << 64) - 1
SMALL = [Fraction(64**2 + 1), Fraction(127**2), Fraction(128**2), Fraction(200001, 4)]
"""Variances just above the table's, whose low parts can all be enumerated."""
LARGE = [Fraction(10**8), Fraction((1 << 36) - 1), Fraction(1 << 36), Fraction(1 << 60), Fraction(10**27, 7)]
"""Variances on both sides of the step from 32-bit to 64-bit words, and far beyond it."""


def test_the_variances_lie_where_they_should() -> None:
    """Next to both sides of each change of method."""
    assert DiscreteGaussian(Fraction(64**2))._split is None
    assert DiscreteGaussian(SMALL[0])._split is not None
    before, after = (_GaussianSplit(variance, signed=True) for variance in LARGE[1:3])
    assert (before.width, before.keep_bits, after.width, after.keep_bits) == (32, 19, 64, 50)


class FixedTable:
    """Stands for the table of high parts, which has its own tests."""

    def __init__(self, high: list[int], reach: int, far: dict[int, int]) -> None:
        self.high, self.reach, self.far = high, reach, far

    def fill(self, out: NDArray[np.int64], entropy: Entropy) -> dict[int, int]:
        out[:] = self.high[: out.size]
        return dict(self.far)

    def draw(self, entropy: Entropy) -> int:
        return self.high[0]


def fix(split: _GaussianSplit, *high: int, far: dict[int, int] | None = None) -> _GaussianSplit:
    split.table = FixedTable(list(high), split.table.reach, far or {})  # type: ignore[assignment]
    return split


def word(split: _GaussianSplit, v: int, sign: int, offset: int) -> int:
    return (v << (split.low + 1)) | (sign << split.low) | offset


def exponent(split: _GaussianSplit, high: int, d: int | Fraction) -> Fraction:
    base = high << split.low
    return d * (2 * base + d) / (2 * split.variance)


def by_attempt(split: _GaussianSplit, sign: int, offset: int, v: int, *extensions: int) -> bool | None:
    """What the array path says of one word and these extensions; None if it wants more."""
    try:
        return bool(split.attempt(1, OneWord(word(split, v, sign, offset), *extensions))[0].size)
    except AskedForMore:
        return None


def by_draw(split: _GaussianSplit, sign: int, offset: int, v: int, *extensions: int) -> bool | None:
    """What the single draw says of them."""
    try:
        split.draw(OneWord(word(split, v, sign, offset), *extensions))
    except Refused:
        return False
    except AskedForMore:
        return None
    return True


Decision = Callable[..., bool | None]
paths = pytest.mark.parametrize("path", [by_attempt, by_draw])


def v_bits(split: _GaussianSplit, path: Decision) -> int:
    return split.keep_bits if path is by_attempt else 32


def chance_of(split: _GaussianSplit, path: Decision, sign: int, offset: int) -> tuple[Fraction, Fraction]:
    def decide(prefix: int) -> bool | None:
        return path(split, sign, offset, prefix >> 64, prefix & ONES)

    return measured(decide, v_bits(split, path) + 64)


HIGHS = [0, 1, 2, 17, 150, 290, 400, 1000, (1 << 14) - 1]
"""High parts inside the table's reach (some 300 to 600), and beyond it, where only level 3 finds them."""


@paths
@pytest.mark.parametrize("high", HIGHS)
@pytest.mark.parametrize("variance", SMALL[:2])
def test_every_low_part_is_kept_with_its_exact_chance(path: Decision, variance: Fraction, high: int) -> None:
    """The chance, measured over prefixes of some 94 bits, is exp(-d (2 base + d) / (2 variance))."""
    split = fix(_GaussianSplit(variance, signed=True), high)
    for offset in range(1 << split.low):
        for sign in (0, 1):
            low, top = chance_of(split, path, sign, offset)
            assert exact.within(exact.exp_minus(exponent(split, high, offset + sign)), low, top)
            assert top - low <= Fraction(2, 1 << (v_bits(split, path) + 64))


@pytest.mark.parametrize("variance", SMALL)
def test_the_law_put_together_is_the_closed_form(variance: Fraction) -> None:
    """High part times low part, each from measured decisions, have the ratios of the discrete Gaussian law.

    Outcomes x >= 0 have sign 0, outcomes x < 0 sign 1, each exactly one way: ratios to zero's chance are the law.
    """
    split = _GaussianSplit(variance, signed=True)
    lo, hi = split.table.cuts(128)
    zero = chance_of(fix(_GaussianSplit(variance, signed=True), 0), by_attempt, 0, 0)
    assert zero == (Fraction(1), Fraction(1))
    for high in (1, 2, 17, 150, 290):
        fixed = fix(_GaussianSplit(variance, signed=True), high)
        weight = Fraction(lo[high] - hi[high - 1], hi[0]), Fraction(hi[high] - lo[high - 1], lo[0])
        for offset in range(1 << split.low):
            for sign in (0, 1):
                low, top = chance_of(fixed, by_attempt, sign, offset)
                x = (high << split.low) + offset + sign
                ratio = exact.discrete_gaussian(variance, x) / exact.discrete_gaussian(variance, 0)
                assert exact.within(ratio, weight[0] * low, weight[1] * top)
                assert real(weight[1] * top - weight[0] * low) <= ratio * MP.ldexp(1, -50)


def near_thresholds(split: _GaussianSplit, high: int, ends: tuple[int | Fraction, int | Fraction]) -> list[int]:
    """V next to the chances at both ends, to the sure bound, to the edges of the float filter, and to 0 and 1."""
    kb = split.keep_bits
    at = [int(MP.floor(MP.ldexp(exact.exp_minus(exponent(split, high, d)), kb))) for d in ends]
    slack, spread = int(EXP_ERROR * 2.0**kb), int(split.spread * 2.0**kb)
    sure = int(split.sure[min(high, split.sure.size - 1)]) >> (split.low + 1)
    centres = {0, (1 << kb) - 1, sure, *at, at[0] - slack, at[0] + slack, at[0] - slack - spread}
    return sorted({c + s for c in centres for s in range(-2, 3) if 0 <= c + s < 1 << kb})


def low_parts(split: _GaussianSplit) -> list[int]:
    mask = (1 << split.low) - 1
    return list(range(mask + 1)) if mask < 16 else sorted({0, 1, 2, mask // 3, mask // 2, mask - 1, mask})


@pytest.mark.parametrize("variance", SMALL + LARGE)
@pytest.mark.parametrize("shift", SHIFTS)
def test_attempt_on_words_around_every_threshold(
    variance: Fraction, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One array of adversarial words over all high parts: exactly the words to be kept come out, in their order.

    A word that a threshold runs through asks for more bits.  All of this whatever way the exponential errs.
    """
    monkeypatch.setattr(np, "exp", shifted_exp(shift))
    split, single = _GaussianSplit(variance, signed=True), _GaussianSplit(variance, signed=True)
    highs, words, expected = [], [], []
    for high in HIGHS:
        for offset in low_parts(split):
            for sign in (0, 1):
                d = offset + sign
                for v in near_thresholds(split, high, (d, d)):
                    keep = verdict(v, split.keep_bits, exact.exp_minus(exponent(split, high, d)))
                    if keep is None:
                        assert by_attempt(fix(single, high), sign, offset, v) is None
                        continue
                    highs.append(high)
                    words.append(word(split, v, sign, offset))
                    expected += [((high << split.low) + d, -sign)] * keep
    assert 0 < len(expected) < len(words)
    out, minus, outliers = fix(split, *highs).attempt(len(words), Script(words))
    assert outliers == {}
    assert list(zip(out.tolist(), minus.tolist(), strict=True)) == expected


@pytest.mark.parametrize("variance", [Fraction(4), Fraction(400), *SMALL[:2], *LARGE])
@pytest.mark.parametrize("shift", SHIFTS)
def test_rounded_attempt_on_words_around_every_threshold(
    variance: Fraction, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the rounded law: kept if V is below for every fraction of the low part, refused if above for every."""
    monkeypatch.setattr(np, "exp", shifted_exp(shift))
    split, single = _GaussianSplit(variance, signed=False), _GaussianSplit(variance, signed=False)
    highs, words, expected = [], [], []
    for high in HIGHS:
        for offset in low_parts(split):
            for v in near_thresholds(split, high, (offset, offset + 1)):
                threshold = [exact.exp_minus(exponent(split, high, offset + f)) for f in (0, 1)]
                keep = [verdict(v, split.keep_bits, t) for t in threshold]
                if keep[1] is True or keep[0] is False:
                    highs.append(high)
                    words.append(word(split, v, v & 1, offset))
                    expected += [((high << split.low) + offset, -(v & 1))] * bool(keep[1])
                else:
                    assert by_attempt(fix(single, high), 0, offset, v) is None
    assert expected
    assert len(expected) < len(words) or split.low == 0  # at D = 0 everything is below
    out, minus, _ = fix(split, *highs).attempt(len(words), Script(words))
    assert list(zip(out.tolist(), minus.tolist(), strict=True)) == expected


@paths
@pytest.mark.parametrize("high", [0, 3, 290, 1000, (1 << 14) - 1])
@pytest.mark.parametrize("fraction", [0, 1 << 63, ONES])
@pytest.mark.parametrize("variance", [Fraction(64), Fraction(127**2), Fraction(1 << 40)])
def test_the_fraction_of_a_low_part_counts(path: Decision, variance: Fraction, fraction: int, high: int) -> None:
    """With 64 bits of the fraction given, V is kept below exp(-x(D)) and refused above, up to its last bit."""
    split = fix(_GaussianSplit(variance, signed=False), high)
    for offset in low_parts(split)[:4]:

        def decide(prefix: int, offset: int = offset) -> bool | None:
            return path(split, 0, offset, prefix >> 64, prefix & ONES, fraction)

        bits = v_bits(split, path) + 64
        low, top = measured(decide, bits)
        start = offset + Fraction(fraction, 1 << 64)
        largest = exact.exp_minus(exponent(split, high, start))
        smallest = exact.exp_minus(exponent(split, high, start + Fraction(1, 1 << 64)))
        assert real(low) <= smallest
        assert real(top) >= largest
        assert real(top - low) <= largest - smallest + 4 * MP.ldexp(1, -bits)


def integral(split: _GaussianSplit, high: int, offset: int) -> Real:
    """The chance that a high part and an offset are kept, over a uniform fraction: an integral of the acceptance."""
    base = high << split.low
    unit = MP.sqrt(2 * real(split.variance))
    a, b = (base + offset) / unit, (base + offset + 1) / unit
    return MP.sqrt(MP.pi) / 2 * unit * (MP.erf(b) - MP.erf(a)) * MP.exp((base / unit) ** 2)


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(9, 4), Fraction(70**2), Fraction(10**5, 3)])
def test_the_rounded_law_is_that_of_rounded_continuous_noise(variance: Fraction) -> None:
    """Table of high parts, integrated acceptance, half steps, signs: together they are P(round(Z) = x)."""
    noise = RoundedGaussian(variance)
    split = noise._split
    lo, hi = split.table.cuts(256)
    mask = (1 << split.low) - 1

    def chance(g: int) -> tuple[Real, Real]:
        high = g >> split.low
        before = (lo[high - 1], hi[high - 1]) if high else (0, 0)
        kept = integral(split, high, g & mask)
        return MP.ldexp((lo[high] - before[1]) * kept, -256), MP.ldexp((hi[high] - before[0]) * kept, -256)

    zero = chance(0)
    for x in (1, 2, 3, 5):
        # Each of x and -x takes half of the half-steps 2x - 1 and 2x; zero takes g = 0 with either sign.
        ways = [chance(2 * x - 1), chance(2 * x)]
        low, top = ((ways[0][side] + ways[1][side]) / 2 for side in (0, 1))
        ratio = exact.rounded_gaussian(variance, x) / exact.rounded_gaussian(variance, 0)
        assert low / zero[1] <= ratio <= top / zero[0]
        assert top / zero[0] - low / zero[1] <= ratio * MP.ldexp(1, -200)


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize("g", [0, 1, 2, 3, 14, 15])
def test_rounded_draws_round_half_steps(g: int, negative: int) -> None:
    noise = RoundedGaussian(Fraction(100**2))
    low = noise._split.low
    noise._split = fix(noise._split, *[g >> low] * 5)
    one = word(noise._split, 0, negative, g & ((1 << low) - 1))
    expected = ((g + 1) >> 1) * (-1 if negative else 1)
    assert noise.draw(Script(one)) == expected
    values, outliers = noise.sample_with_outliers(1, Script([one] * 5))
    assert (values.tolist(), outliers) == ([expected], {})


def test_zero_is_counted_once() -> None:
    split = fix(_GaussianSplit(Fraction(100**2), signed=True), 0, 0)
    out, minus, _ = split.attempt(2, Script([word(split, 0, 0, 0), word(split, 0, 1, 0)]))
    assert (out.tolist(), minus.tolist()) == ([0, 1], [0, -1])
    assert split.draw(Script(word(split, 0, 1, 0))) == (1, True)


def test_a_refusal_redraws_the_high_part_too() -> None:
    """The acceptance depends on the high part: keeping it would condition on a small one."""
    noise = DiscreteGaussian(Fraction(100**2))
    split = noise._split
    assert split is not None
    refused, kept = word(split, (1 << 32) - 1, 1, 1), word(split, 0, 0, 1)
    first, second = split.table.cuts(64)[0][2] - 1, 0  # a high part of 2, then one of 0
    assert noise.draw(Script(first, refused, second, kept)) == 1


# ---- what is far away ----------------------------------------------------------------------------------------


def test_far_values_keep_their_places_among_refused_ones() -> None:
    """Refused words before and after an outlier are dropped; the outlier's own word does not matter."""
    noise = DiscreteGaussian(Fraction(100**2))
    split = noise._split
    assert split is not None
    low = split.low
    good, bad = word(split, 0, 0, 1), word(split, (1 << split.keep_bits) - 1, 0, (1 << low) - 1)
    fix(split, 5, 5, 0, 5, 5, 0, far={2: 1 << 14, 5: 1 << 15})
    finish = [word(split, 0, 1, 0), word(split, 0, 0, 1)]
    out, minus, outliers = split.attempt(6, Script([good, bad, bad, bad, good, good], *finish))
    assert out.size == minus.size == 4
    assert outliers == {1: -((1 << 14 << low) + 1), 3: (1 << 15 << low) + 1}
    assert out[[0, 2]].tolist() == [(5 << low) + 1] * 2


def test_a_far_value_that_is_refused_is_drawn_anew() -> None:
    noise = DiscreteGaussian(Fraction(100**2))
    split = noise._split
    assert split is not None
    fix(split, 7, far={0: 1 << 14})
    refused, kept = word(split, (1 << 32) - 1, 0, 1), word(split, 0, 0, 1)
    _, _, outliers = split.attempt(1, Script([0], refused, kept))
    assert outliers == {0: (7 << split.low) + 1}


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize(("bits", "high"), [(20, 1 << 14), (100, 1 << 14), (100, 1 << 17), (100, 1 << 40)])
def test_a_far_value_is_exact_or_held(bits: int, high: int, sign: int) -> None:
    noise = DiscreteGaussian(Fraction(1 << bits))
    split = noise._split
    assert split is not None
    fix(split, *[0] * 5, far={0: high})
    one = word(split, 0, sign, 0)
    value = (high << split.low) + sign
    held = min(value, 1 << 62)
    assert noise.sample(1, Script([0] * 5, one)).tolist() == [-held if sign else held]
    rounded = RoundedGaussian(Fraction(1 << (bits - 2)))
    fix(rounded._split, *[0] * 5, far={0: high})
    for offset in (0, 1, 2):
        steps = (((high << split.low) + offset + 1) >> 1) * (-1 if sign else 1)
        one = word(rounded._split, 0, sign, offset)
        assert rounded.sample_with_outliers(1, Script([0] * 5, one))[1] == {0: steps}


def test_surplus_far_values_are_dropped() -> None:
    """More is attempted than asked for; an outlier beyond what was asked is no sample's."""
    noise = DiscreteGaussian(Fraction(100**2))
    split = noise._split
    assert split is not None
    fix(split, *[0] * 5, far={3: 1 << 14})
    assert noise.sample(1, Script([word(split, 0, 1, 0)] * 5, 0)).tolist() == [-1]


def test_a_far_value_from_the_real_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit lowered to 300, all-ones words reach the outlier path through every level."""
    monkeypatch.setattr("curador.noise.table.OUTLIER", 300)
    noise = DiscreteGaussian(Fraction(64**2 + 1))
    split = noise._split
    assert split is not None
    kept = word(split, 0, 1, 1)
    script = Script([65535, *[0] * 4], [ONES], 0, [kept] * 5, kept)
    x = int(noise.sample(1, script)[0])
    high = (-x - 2) >> split.low
    # 1 - U is 2**-64, to 64 bits: the high parts beyond this one have no more, with it they have no less.
    tail = [1 - c for c in exact.cumulative(_half_gaussian(split, k) for k in range(high + 1))]
    assert tail[high] <= MP.ldexp(1, -64) * (1 - MP.ldexp(1, -64))
    assert MP.ldexp(1, -64) <= tail[high - 1]
    assert (-x - 2) & ((1 << split.low) - 1) == 0


def _half_gaussian(split: _GaussianSplit, k: int) -> Real:
    variance = split.variance / (1 << (2 * split.low))
    return exact.exp_minus(k * k / (2 * variance)) * 2 / (exact.theta(variance) + 1)
