"""Laplace noise: the acceptance step on every low part and next to every threshold, and the law that follows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.noise.arrays import EXP_ERROR
from curador.noise.entropy import Entropy
from curador.noise.laplace import DiscreteLaplace, RoundedLaplace, _LaplaceSplit
from tests import exact
from tests.exact import MP, SHIFTS, AskedForMore, OneWord, Refused, Script, measured, real, shifted_exp, verdict

ONES = (1 << 64) - 1
SMALL = [Fraction(49, 2), Fraction(25), Fraction(50), Fraction(2201, 17), Fraction(200)]
"""Scales just above the table's, whose low parts can all be enumerated."""
SHORT = [Fraction(9, 2), Fraction(7), Fraction(24), Fraction(50)]
"""Scales that few draws split where many would not, or into shorter tables."""
LARGE = [Fraction(10**4), Fraction((1 << 17) - 1), Fraction(1 << 17), Fraction(1 << 30), Fraction(10**14, 3)]
"""Scales on both sides of the step from 32-bit to 64-bit words, and far beyond it."""


def test_the_scales_lie_where_they_should() -> None:
    """Next to both sides of each change of method."""
    assert DiscreteLaplace(Fraction(24))._split is None
    assert DiscreteLaplace(SMALL[0])._split is not None
    assert DiscreteLaplace(Fraction(4), short=True)._split is None
    assert DiscreteLaplace(SHORT[0], short=True)._split is not None
    before, after = (_LaplaceSplit(scale, signed=True) for scale in LARGE[1:3])
    assert (before.width, before.keep_bits, after.width, after.keep_bits) == (32, 19, 64, 50)


class FixedTable:
    """Stands for the table of high parts, which has its own tests; every high part is the same."""

    def __init__(self, high: int, reach: int) -> None:
        self.high, self.reach = high, reach

    def fill(self, out: NDArray[np.int64], entropy: Entropy) -> dict[int, int]:
        out[:] = self.high
        return {}

    def draw(self, entropy: Entropy) -> int:
        return self.high


def split_at(scale: Fraction, high: int, *, signed: bool, short: bool = False) -> _LaplaceSplit:
    split = _LaplaceSplit(scale, signed=signed, short=short)
    split.table = FixedTable(high, split.table.reach)  # type: ignore[assignment]
    return split


def word(split: _LaplaceSplit, v: int, sign: int, offset: int) -> int:
    return (v << (split.low + 1)) | (sign << split.low) | offset


Decision = Callable[[_LaplaceSplit, int, int, int], bool | None]


def by_fill(split: _LaplaceSplit, sign: int, offset: int, prefix: int) -> bool | None:
    """What the array path says of one word and 64 more bits of V; None if it wants still more."""
    return said(lambda entropy: split.fill(np.empty(1, np.int64), entropy), split, sign, offset, prefix)


def by_finish(split: _LaplaceSplit, sign: int, offset: int, prefix: int) -> bool | None:
    """What the single draw says of them."""
    return said(lambda entropy: split.finish(0, entropy), split, sign, offset, prefix)


def said(run: Callable[[Entropy], object], split: _LaplaceSplit, sign: int, offset: int, prefix: int) -> bool | None:
    try:
        run(OneWord(word(split, prefix >> 64, sign, offset), prefix & ONES))
    except Refused:
        return False
    except AskedForMore:
        return None
    return True


def v_bits(split: _LaplaceSplit, path: Decision) -> int:
    return split.keep_bits if path is by_fill else 32


def chance_of(split: _LaplaceSplit, path: Decision, sign: int, offset: int) -> tuple[Fraction, Fraction]:
    return measured(lambda prefix: path(split, sign, offset, prefix), v_bits(split, path) + 64)


paths = pytest.mark.parametrize("path", [by_fill, by_finish])


@paths
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("scale", SMALL[1:4])
@pytest.mark.parametrize("short", [False, True])
def test_every_low_part_is_kept_with_its_exact_chance(
    path: Decision, scale: Fraction, signed: bool, short: bool
) -> None:
    """For every offset and sign the chance, measured over prefixes of some 90 bits, is exp(-(offset + sign) / t)."""
    split = split_at(scale, 0, signed=signed, short=short)
    for offset in range(1 << split.low):
        for sign in (0, 1):
            low, high = chance_of(split, path, sign, offset)
            d = offset + sign if signed else offset
            assert exact.within(exact.exp_minus(d / scale), low, high)
            assert high - low <= Fraction(2, 1 << (v_bits(split, path) + 64))


@pytest.mark.parametrize(("scale", "short"), [*((scale, False) for scale in SMALL[:3]), *((s, True) for s in SHORT)])
def test_the_law_put_together_is_the_closed_form(scale: Fraction, short: bool) -> None:
    """High part times low part, each from measured decisions, enclose the discrete Laplace law to 80 bits."""
    split = _LaplaceSplit(scale, signed=True, short=short)
    lo, hi = split.table.cuts(128)
    unit = 1 << 128
    kept = {
        (offset, sign): chance_of(split_at(scale, 0, signed=True, short=short), by_fill, sign, offset)
        for offset in range(1 << split.low)
        for sign in (0, 1)
    }
    total = [sum((bounds[side] for bounds in kept.values()), Fraction(0)) for side in (0, 1)]
    for high in (0, 1, 2, 7, 40, 200):
        before = (lo[high - 1], hi[high - 1]) if high else (0, 0)
        chance = Fraction(lo[high] - before[1], unit), Fraction(hi[high] - before[0], unit)
        for (offset, sign), (least, most) in kept.items():
            g = (high << split.low) + offset + sign
            low, top = chance[0] * least / total[1], chance[1] * most / total[0]
            pmf = exact.discrete_laplace(scale, -g if sign else g)
            assert exact.within(pmf, low, top)
            assert real(top - low) <= pmf * MP.ldexp(1, -60)


def test_a_wrong_scale_is_seen() -> None:
    """The measured chance tells a scale from one that differs by 2**-70 of it."""
    low, high = chance_of(split_at(Fraction(25), 0, signed=True), by_fill, 1, 1)
    assert not exact.within(exact.exp_minus(Fraction(2, 25) * (1 + Fraction(1, 1 << 70))), low, high)


def near_thresholds(split: _LaplaceSplit, d: int) -> list[int]:
    """V next to exp(-d/t), to the sure bound, to both edges of the float filter, and to the ends."""
    kb = split.keep_bits
    at = int(MP.floor(MP.ldexp(exact.exp_minus(d / split.scale), kb)))
    slack = int(EXP_ERROR * 2.0**kb)
    centres = {0, (1 << kb) - 1, int(split.sure) >> (split.low + 1), at, at - slack, at + slack}
    return sorted({c + s for c in centres for s in range(-2, 3) if 0 <= c + s < 1 << kb})


@pytest.mark.thin(72)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("high", [0, 1, 300])
@pytest.mark.parametrize(
    ("scale", "short"), [*((s, False) for s in SMALL + LARGE), (SHORT[0], True), *((s, True) for s in LARGE)]
)
@pytest.mark.parametrize("shift", SHIFTS)
def test_fill_on_words_around_every_threshold(
    scale: Fraction, short: bool, high: int, signed: bool, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole arrays of adversarial words: every sample is its word's if that is to be kept, else its new word's.

    A word that a threshold runs through asks for more bits.  All of this whatever way the exponential errs.
    """
    monkeypatch.setattr(np, "exp", shifted_exp(shift))
    split = split_at(scale, high, signed=signed, short=short)
    mask = (1 << split.low) - 1
    every = range(1 << split.low) if scale in SMALL + SHORT else sorted({0, 1, 2, mask // 3, mask // 2, mask - 1, mask})
    words, expected, refused = [], [], 0
    for offset in every:
        for sign in (0, 1):
            d = offset + sign if signed else offset
            for v in near_thresholds(split, d):
                keep = verdict(v, split.keep_bits, exact.exp_minus(d / scale))
                if keep is None:
                    with pytest.raises(AskedForMore):
                        split.fill(np.empty(1, np.int64), OneWord(word(split, v, sign, offset)))
                    continue
                words.append(word(split, v, sign, offset))
                refused += not keep
                g = (high << split.low) + (d if keep else 0)
                expected.append(-g if signed and sign and keep else g)
    assert refused < len(words)
    assert refused or (split.low == 0 and not signed)  # then d is 0, and everything is kept
    out = np.empty(len(words), np.int64)
    # Refused words are replaced by zeros: the positive side, offset 0, surely kept.
    minus, outliers = split.fill(out, Script(words, then=0))
    assert outliers == {}
    assert out.tolist() == expected
    assert set(minus.tolist()) == {0, -1}


def test_a_refused_word_is_replaced_until_one_is_kept() -> None:
    split = split_at(Fraction(1000), 3, signed=True)
    bad = word(split, (1 << split.keep_bits) - 1, 1, 6)
    good = word(split, 0, 1, 2)
    script = Script([good, bad, bad], [bad, good], [bad], [bad], [word(split, 5, 0, 7)])
    out = np.empty(3, np.int64)
    split.fill(out, script)
    base = 3 << split.low
    assert out.tolist() == [-(base + 3), base + 7, -(base + 3)]
    assert [n for n in script.asked if n] == [3, 2, 1, 1, 1]


def test_zero_is_counted_once() -> None:
    """The word that would be minus zero is minus one."""
    split = split_at(Fraction(100), 0, signed=True)
    out = np.empty(2, np.int64)
    split.fill(out, Script([word(split, 0, 0, 0), word(split, 0, 1, 0)]))
    assert out.tolist() == [0, -1]
    assert split.finish(0, Script(word(split, 0, 0, 0))) == 0
    assert split.finish(0, Script(word(split, 0, 1, 0))) == -1


# ---- rounding ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(31), Fraction(200, 3)])
def test_the_rounded_law_is_that_of_rounded_continuous_noise(scale: Fraction) -> None:
    """Half steps are geometric of twice the scale; (g + 1) // 2 with a fair sign has the law of round(Z)."""

    def half_steps(g: int) -> Any:
        return exact.geometric(1 / (2 * scale), g)

    for x in range(-6, 7):
        ways = [g for g in range(16) if (g + 1) >> 1 == abs(x)]
        chance = sum(half_steps(g) for g in ways) / (1 if x == 0 else 2)
        assert abs(chance - exact.rounded_laplace(scale, x)) < MP.ldexp(1, -1500)


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize("g", [0, 1, 2, 3, 14, 15])
def test_rounded_draws_round_half_steps(g: int, negative: int) -> None:
    noise = RoundedLaplace(Fraction(50))
    low = noise._split.low
    split = noise._split = split_at(Fraction(100), g >> low, signed=False)
    offset = g & ((1 << low) - 1)
    expected = ((g + 1) >> 1) * (-1 if negative else 1)
    assert noise.draw(Script(word(split, 0, 1 - negative, offset), negative)) == expected  # its own coin is the sign
    values, outliers = noise.sample_with_outliers(1, Script([word(split, 0, negative, offset)]))
    assert (values.tolist(), outliers) == ([expected], {})


# ---- what is far away ----------------------------------------------------------------------------------------


class FarTable(FixedTable):
    """Hands the high part back as an outlier in the first place, as a table does from 2**14 on."""

    def fill(self, out: NDArray[np.int64], entropy: Entropy) -> dict[int, int]:
        out[:] = 0
        return {0: self.high}


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize(
    ("bits", "high"), [(6, 1 << 14), (50, 1 << 14), (50, (1 << 16) - 1), (50, 1 << 16), (50, 1 << 90)]
)
def test_an_outlier_of_a_split_is_exact_or_held(bits: int, high: int, sign: int) -> None:
    """It is finished in Python integers; where that leaves the machine's words it is held at plus or minus 2**62."""
    noise = DiscreteLaplace(Fraction(1 << bits))
    split = noise._split
    assert split is not None
    split.table = FarTable(high, split.table.reach)  # type: ignore[assignment]
    first, second = word(split, 3, sign, 1), [word(split, 0, 0, 0), word(split, 0, 1, 1)]
    value = (high << split.low) + 1 + sign
    held = min(value, 1 << 62)
    assert noise.sample(2, Script(first, second)).tolist() == [-held if sign else held, -2]
    assert noise.draw(Script(first)) == (-value if sign else value)


@pytest.mark.parametrize("sign", [0, 1])
def test_an_outlier_of_a_rounded_law_is_exact(sign: int) -> None:
    noise = RoundedLaplace(Fraction(10**12))
    split = noise._split
    split.table = FarTable(1 << 20, split.table.reach)  # type: ignore[assignment]
    offset = (1 << split.low) - 1
    steps = (((1 << 20 << split.low) + offset + 1) >> 1) * (-1 if sign else 1)
    script = Script(word(split, 0, 0, offset), [word(split, 0, sign, 0)])
    assert noise.sample_with_outliers(1, script)[1] == {0: steps}
    assert noise.draw(Script(word(split, 0, 0, offset), sign)) == steps


def test_an_outlier_after_a_refusal_keeps_its_high_part() -> None:
    """Only the low part is redrawn: its acceptance does not depend on the high part."""
    noise = DiscreteLaplace(Fraction(100))
    split = noise._split
    assert split is not None
    split.table = FarTable(1 << 14, split.table.reach)  # type: ignore[assignment]
    refused, kept = word(split, (1 << 32) - 1, 0, 1), word(split, 0, 0, 1)
    script = Script(refused, kept, [word(split, 0, 0, 0)])
    assert noise.sample(1, script).tolist() == [(1 << 14 << split.low) + 1]


def test_an_outlier_of_a_small_table_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.noise.table.OUTLIER", 1000)
    noise = DiscreteLaplace(Fraction(23))
    x = abs(int(noise.sample(1, Script([65535], [ONES], 0))[0]))
    # 1 - U is 2**-64, to 64 bits; the values beyond ±(m - 1) have 2 q**m / (1 + q) together.
    q = exact.exp_minus(Fraction(1, 23))
    assert 2 * q ** (x + 1) / (1 + q) <= MP.ldexp(1, -64) * (1 - MP.ldexp(1, -64))
    assert MP.ldexp(1, -64) <= 2 * q**x / (1 + q)
    assert x >= 1000


def test_chunks_do_not_shift_outliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pieces of 2 samples and outliers from 1 on, places are counted from the start of the array."""
    monkeypatch.setattr("curador.noise.laplace.CHUNK", 2)
    monkeypatch.setattr("curador.noise.table.OUTLIER", 1)
    noise = RoundedLaplace(Fraction(50))
    split = noise._split
    kept = word(split, 0, 1, 0)
    script = Script(
        *([0, 0], [kept, kept]),
        *([0, 65535], [ONES], 0, word(split, 0, 0, 5), [kept, kept]),
        *([65535], [ONES], 0, word(split, 0, 0, 5), [kept]),
    )
    values, outliers = noise.sample_with_outliers(5, script)
    assert sorted(outliers) == [3, 4]
    assert min(-x for x in outliers.values()) > 100
    assert values[:3].tolist() == [0, 0, 0]
    assert script.answers == []
