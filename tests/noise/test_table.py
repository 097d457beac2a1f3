"""Inversion by table: every cell, every cut, every word next to a cut, and every level forced."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from curador.noise import table as module
from curador.noise.table import UNSURE, InversionTable, Weights, gaussian_weights, geometric_weights
from tests import exact
from tests.exact import MP, AskedForMore, Real, Script, near_log_two

ONES = (1 << 64) - 1

# Two-sided and one-sided; tiny, common and the largest rates that the samplers use.
CASES: dict[str, tuple[str, Fraction, bool]] = {
    "laplace 1": ("laplace", Fraction(1), True),
    "laplace 1/3": ("laplace", Fraction(1, 3), True),
    "laplace 1/10": ("laplace", Fraction(1, 10), True),
    "laplace 1/1000": ("laplace", Fraction(1, 1000), True),
    "laplace 24": ("laplace", Fraction(24), True),
    "geometric 8": ("laplace", Fraction(8), False),
    "geometric 47/3": ("laplace", Fraction(47, 3), False),
    "geometric 95/3": ("laplace", Fraction(95, 3), False),
    "gaussian 1": ("gaussian", Fraction(1), True),
    "gaussian 1/100": ("gaussian", Fraction(1, 100), True),
    "gaussian 1/1000": ("gaussian", Fraction(1, 1000), True),
    "gaussian 64**2": ("gaussian", Fraction(64**2), True),
    "half-gaussian 32**2": ("gaussian", Fraction(32**2), False),
    "half-gaussian 63.9**2": ("gaussian", Fraction(639, 10) ** 2, False),
}
cases = pytest.mark.parametrize("name", CASES)


class Remembering(InversionTable):
    """The same table; it only remembers its cuts, because these tests visit level 3 more often than a planet would."""

    def __init__(self, weights: Weights, *, signed: bool) -> None:
        self.known: dict[int, tuple[list[int], list[int]]] = {}
        super().__init__(weights, signed=signed)

    def cuts(self, bits: int) -> tuple[list[int], list[int]]:
        if bits not in self.known:
            self.known[bits] = super().cuts(bits)
        return self.known[bits]


@cache
def table(name: str) -> InversionTable:
    law, parameter, signed = CASES[name]
    weights = geometric_weights(1 / parameter) if law == "laplace" else gaussian_weights(1 / (2 * parameter))
    return Remembering(weights, signed=signed)


def outcome(signed: bool, j: int) -> int:
    """The j-th outcome in the table's order, most likely first: 0, 1, -1, 2, -2, … or 0, 1, 2, …"""
    return ((j + 1) // 2) * (1 if j % 2 else -1) if signed else j


@cache
def true_cuts(name: str, count: int) -> list[Real]:
    """Cumulative chances of the outcomes, from the closed-form law."""
    law, parameter, signed = CASES[name]
    if law == "laplace" and signed:
        return exact.cumulative(exact.discrete_laplace(parameter, outcome(True, j)) for j in range(count))
    if law == "laplace":
        return exact.cumulative(exact.geometric(1 / parameter, j) for j in range(count))
    total = exact.theta(parameter)
    total = total if signed else (total + 1) / 2
    weights = (exact.exp_minus(outcome(signed, j) ** 2 / (2 * parameter)) for j in range(count))
    return exact.cumulative(w / total for w in weights)


def holds(name: str, value: int, prefix: int, bits: int) -> bool:
    """Whether every continuation of the prefix lies in the piece of the unit interval that belongs to ``value``."""
    signed = CASES[name][2]
    assert signed or value >= 0
    j = (2 * value - 1 if value > 0 else -2 * value) if signed else value
    cuts = true_cuts(name, 1 << (max(2 * table(name).reach, j + 1)).bit_length())
    above = j == 0 or MP.mpf(prefix) >= MP.ldexp(cuts[j - 1], bits)
    return bool(above and MP.mpf(prefix + 1) <= MP.ldexp(cuts[j], bits))


@pytest.mark.parametrize("stop", [0.9, 0.5, 0.01, 2.0**-30])
@pytest.mark.parametrize("rate", [Fraction(1, 24), Fraction(1, 3), Fraction(5), Fraction(500)])
def test_weights_and_their_rest_are_enclosed(rate: Fraction, stop: float) -> None:
    """Every listed weight, and the sum of all that are not listed, which is not bounded too loosely either."""
    p = 100
    slow = rate / 300
    for weights, r, power in ((geometric_weights(rate), rate, 1), (gaussian_weights(slow), slow, 2)):
        listed, apart, rest = weights(p, int(stop * 2**p))
        for i, low in enumerate(listed):
            assert low <= MP.ldexp(exact.exp_minus(r * i**power), p) <= low + apart
        assert apart < 1 << 40
        m = len(listed)
        following = exact.exp_minus(r * m**power)
        assert following <= stop
        if power == 1:
            tail = following / (1 - exact.exp_minus(r))
        else:
            tail = (exact.theta(1 / (2 * r)) + 1) / 2 - sum(exact.exp_minus(r * i * i) for i in range(m))
        assert MP.ldexp(tail, p) <= rest
        ratio = exact.exp_minus(r * ((m + 1) ** power - m**power))
        assert rest <= MP.ldexp(following / (1 - ratio), p) * 1.001 + 10


@pytest.mark.thin(14)
@cases
@pytest.mark.parametrize("bits", [64, 128, 320])
def test_every_cut_encloses_the_cumulative_chance(name: str, bits: int) -> None:
    lo, hi = table(name).cuts(bits)
    true = true_cuts(name, len(lo) + 1)
    assert len(lo) == len(hi) >= 1
    for j, (low, high) in enumerate(zip(lo, hi, strict=True)):
        scaled = MP.ldexp(true[j], bits)
        held = j == len(lo) - 1 and high == (1 << bits) - 1
        assert low <= scaled <= (high + 1 if held else high)
        assert high - low <= 2
    assert lo == sorted(lo)
    assert hi == sorted(hi)
    assert hi[-1] < 1 << bits
    # What is beyond the last cut has less than a few units of chance, so level 3 is as rare as it claims.
    assert (1 << bits) - lo[-1] <= 4


@cases
def test_every_sure_cell_lies_inside_one_outcome(name: str) -> None:
    """All 65,536 cells of level 1; cells are unsure only where a cut runs through, or at the end."""
    found = table(name)
    first = found._first
    assert first.size == 1 << 16
    true = true_cuts(name, found.reach + 1)
    starts = [-1, *(int(MP.floor(MP.ldexp(c, 64))) for c in true)]  # piece j is (starts[j], starts[j + 1]) and a bit
    signed = CASES[name][2]
    for j in range(found.reach):
        cells = np.flatnonzero(first == outcome(signed, j))
        if cells.size:
            assert int(cells[0]) << 48 > starts[j]
            assert (int(cells[-1]) + 1) << 48 <= starts[j + 1]
            assert cells[-1] - cells[0] == cells.size - 1  # no other outcome between
    known = {outcome(signed, j) for j in range(found.reach)} | {UNSURE}
    assert set(np.unique(first).tolist()) <= known
    crossed = {s >> 48 for s in starts[1:]} | {(1 << 16) - 1}
    assert set(np.flatnonzero(first == UNSURE).tolist()) == crossed


def test_a_shifted_cell_would_be_seen() -> None:
    """The containment check above is not vacuous: moving each cell by one breaks it."""
    name = "laplace 1"
    first = table(name)._first
    cell = int(np.flatnonzero(first == 0)[-1])
    assert holds(name, 0, cell, 16)
    assert not holds(name, 0, cell + 1, 16)


def adversarial(name: str) -> list[int]:
    """64-bit prefixes at -2 … 2 around both ends of every cut, and the ends of the interval."""
    lo, hi = table(name).cuts(64)
    words = {w + d for ends in zip(lo, hi, strict=True) for w in ends for d in (-2, -1, 0, 1, 2)}
    return sorted(w for w in words | {0, 1, ONES - 2, ONES - 1, ONES} if 0 <= w <= ONES)


@pytest.mark.thin(14)
@cases
@pytest.mark.parametrize("more", [0, ONES, 0x123456789ABCDEF0])
def test_draw_on_words_around_every_cut(name: str, more: int) -> None:
    """A draw that returns without more bits is right, and so is one that asked for 64 more."""
    asked = 0
    for word in adversarial(name):
        try:
            value, prefix, bits = table(name).draw(Script(word)), word, 64
        except AskedForMore:
            asked += 1
            script = Script(word, more)
            try:
                value, prefix, bits = table(name).draw(script), (word << 64) | more, 128
            except AskedForMore:
                assert more == ONES  # only then does a word next to a cut still touch it, or the end
                continue
        assert holds(name, value, prefix, bits), (value, prefix)
    assert asked >= 1


@cases
@pytest.mark.parametrize("more", [0, 0x123456789ABCDEF0])
def test_fill_on_words_around_every_cut(name: str, more: int) -> None:
    """Level 2 and level 3 of the array path, fed the same prefixes; where level 1 is sure, it agrees."""
    found = table(name)
    words = adversarial(name)
    cells = np.array([w >> 48 for w in words], np.uint16)
    level2 = [w for w, cell in zip(words, cells.tolist(), strict=True) if found._first[cell] == UNSURE]
    # The level-2 word gives its upper 48 bits; the lower ones must not matter.
    rest = np.array([((w & ((1 << 48) - 1)) << 16) | 0xBEEF for w in level2], np.uint64)
    lo, hi = found.cuts(64)
    cut = {w for a, b in zip(lo, hi, strict=True) for w in range(a, b)} | set(range(hi[-1], ONES + 1))
    straddles = [w for w in level2 if w in cut]
    out = np.empty(len(words), np.int64)
    outliers = found.fill(out, Script(cells, rest, *[more] * len(straddles)))
    assert outliers == {}
    assert len(straddles) >= 1
    for word, value in zip(words, out.tolist(), strict=True):
        prefix, bits = ((word << 64) | more, 128) if word in cut else (word, 64)
        assert holds(name, value, prefix, bits), (value, prefix)


def test_level_3_appends_and_never_redraws() -> None:
    """Fed a cut's own bits, it asks for more five times; the last bit decides, and the first words still count."""
    name = "geometric 8"
    cut = true_cuts(name, 4)[2]
    bits = 64 * 6
    at = int(MP.floor(MP.ldexp(cut, bits)))
    for whole, value in ((at - 2, 2), (at + 2, 3)):
        pieces = [(whole >> (64 * k)) & ONES for k in reversed(range(6))]
        script = Script(*pieces)
        assert table(name).draw(script) == value
        assert script.asked == [64] * 6


@pytest.mark.thin(32)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("k", [*range(40, 70, 3), *range(104, 130), *range(170, 194, 2)])
def test_a_cut_next_to_a_half(k: int, side: int) -> None:
    """A geometric law whose first cut is within 2**-k of 1/2: the bits of one half fall on the right side of it."""
    found = InversionTable(geometric_weights(near_log_two(k, side)), signed=False)
    outcome_of_half = 0 if side > 0 else 1  # a larger rate makes zero more likely: the cut 1 - exp(-rate) is above 1/2
    assert found.draw(Script(1 << 63, then=0)) == outcome_of_half
    assert found.draw(Script((1 << 63) - 1, then=1)) == outcome_of_half
    for cell, then in ((1 << 15, 0), ((1 << 15) - 1, 1)):
        out = np.empty(1, np.int64)
        assert found.fill(out, Script([cell], then=then)) == {}
        assert out.tolist() == [outcome_of_half]


@pytest.mark.parametrize("name", ["laplace 1", "geometric 47/3", "gaussian 1", "half-gaussian 32**2"])
@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_the_tail_has_no_end(name: str, depth: int) -> None:
    """All ones, then zeros: the outcome is the one whose piece holds that deep-tail cell."""
    script = Script(*[ONES] * depth, then=0)
    value = table(name).draw(script)
    asked = len(script.asked)
    assert asked > depth
    prefix = ((1 << (64 * depth)) - 1) << (64 * (asked - depth))
    assert holds(name, value, prefix, 64 * asked)


def test_outliers_are_handed_back() -> None:
    """A value of 2**14 or more comes back as a Python integer, its place in the array holding zero."""
    name = "geometric 47/3"
    depth = 24  # so many words of ones: 1 - U is 2**-1536, give or take 2**-64 of it
    tail = [*[ONES] * (depth - 1), 0]
    out = np.full(4, 99, np.int64)
    outliers = table(name).fill(out, Script([65535, 0, 65535, 1], [ONES, ONES], *tail, *tail))
    assert out.tolist() == [0, 0, 0, 0]
    expected = {int(MP.floor(-MP.log(MP.ldexp(ends, -64 * depth)) * 47 / 3)) for ends in (1 - MP.ldexp(1, -64), 1)}
    assert len(expected) == 1
    assert outliers == {place: value for place in (0, 2) for value in expected}
    assert min(expected) >= 1 << 14


def test_outliers_of_a_signed_table_keep_their_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit lowered to 5, values from level 3 beyond it are outliers on both sides."""
    monkeypatch.setattr(module, "OUTLIER", 5)
    name = "laplace 1"
    seen = set()
    for more in range(0, 1 << 64, 1 << 56):
        out = np.full(1, 99, np.int64)
        try:
            outliers = table(name).fill(out, Script([65535], [ONES], more))
        except AskedForMore:
            continue
        assert out.tolist() == [0]
        assert holds(name, outliers[0], (ONES << 64) | more, 128)
        seen.add(outliers[0] > 0)
    assert seen == {True, False}


@cases
def test_few_draws_and_many_read_words_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.arange(0, 1 << 16, 97, dtype=np.uint16)
    assert 100 < cells.size < module.FEW
    found = []
    for few in (0, cells.size + 1):  # by the whole table, and by searching
        monkeypatch.setattr(module, "FEW", few)
        out = np.empty(cells.size, np.int64)
        outliers = table(name).fill(out, Cells(cells))
        found.append((out.tolist(), outliers))
    assert found[0] == found[1]


class Cells:
    """The given cells, then the same long words for whoever asks for more."""

    def __init__(self, cells: np.ndarray) -> None:
        self._cells = cells

    def words(self, n: int, dtype: type[np.unsignedinteger]) -> np.ndarray:
        if dtype is np.uint16:
            return self._cells[:n]
        return np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    def bits(self, n: int) -> int:
        return (1 << n) // 3
