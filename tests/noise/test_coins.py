"""Coins and choices: enumerated where words can be, measured over 128-bit prefixes where they cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.noise import coins
from curador.noise.arrays import EXP_ERROR
from curador.noise.coins import (
    bernoulli,
    bernoulli_array,
    bernoulli_exp,
    bernoulli_exp_array,
    choose,
    uniform_below,
    uniform_below_array,
)
from curador.noise.entropy import Entropy
from tests import exact
from tests.exact import MP, SHIFTS, AskedForMore, Script, measured, near_log_two, shifted_exp, verdict

ONES = (1 << 64) - 1


def over_prefixes(run: Callable[[Entropy], bool], *, array: bool) -> tuple[Fraction, Fraction]:
    """The measured chance of True over all prefixes of 64 and 64 more bits."""

    def decide(prefix: int) -> bool | None:
        first = prefix >> 64
        try:
            return run(Script([first] if array else first, prefix & ONES))
        except AskedForMore:
            return None

    return measured(decide, 128)


def assert_measures(threshold: exact.Real, bounds: tuple[Fraction, Fraction]) -> None:
    low, high = bounds
    assert exact.within(threshold, low, high)
    assert high - low <= Fraction(3, 1 << 128)


# ---- uniform integers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 8, 200, 256, 257])
def test_uniform_arrays_enumerated(n: int) -> None:
    """Every masked word once, garbage above the mask: each value once, and one new word for each of the others."""
    size = 1 << (n - 1).bit_length()
    words = [(0xDEADBEEF << 32) | w for w in range(size)]
    script = Script(words, [0] * (size - n)) if size > n else Script(words)
    found = uniform_below_array(n, size, script)
    assert found.dtype == np.int64
    assert Counter(found.tolist()) == Counter([*range(n), *[0] * (size - n)])
    assert script.answers == []


def test_uniform_arrays_ask_again_until_all_are_below() -> None:
    script = Script([7, 1, 6], [5, 7], [6, 6], [2, 3])
    assert uniform_below_array(5, 3, script).tolist() == [2, 1, 3]


def test_uniform_reaches_its_limits() -> None:
    top = (1 << 62) - 1
    assert uniform_below_array(1 << 62, 2, Script([ONES, 0])).tolist() == [top, 0]
    assert uniform_below_array(top, 1, Script([ONES], [ONES - 1])).tolist() == [top - 1]
    assert uniform_below(1 << 200, Script((1 << 200) - 1)) == (1 << 200) - 1
    assert uniform_below(3, Script(3, 2)) == 2
    assert uniform_below_array(9, 0).size == 0


@pytest.mark.parametrize("n", [0, -1, (1 << 62) + 1, 2.5, True])
def test_uniform_arrays_refuse(n: int) -> None:
    with pytest.raises(InvalidParameter):
        uniform_below_array(n, 3, Script())


def test_uniform_refuses() -> None:
    with pytest.raises(InvalidParameter):
        uniform_below(0, Script())
    with pytest.raises(InvalidParameter):
        uniform_below_array(6, -1, Script())


# ---- coins ---------------------------------------------------------------------------------------------------

PROBABILITIES = [Fraction(1, 3), Fraction(1, 2), Fraction(1, 10**30), 1 - Fraction(1, 10**30), Fraction(3, 1 << 64)]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_a_coin_has_its_chance(p: Fraction) -> None:
    assert_measures(exact.real(p), over_prefixes(lambda e: bernoulli(p, e), array=False))
    assert_measures(exact.real(p), over_prefixes(lambda e: bool(bernoulli_array(p, 1, e)[0]), array=True))


def test_sure_coins_ask_nothing_more() -> None:
    assert bernoulli(Fraction(1), Script(ONES)) is True
    assert bernoulli(Fraction(0), Script(0)) is False
    assert bernoulli_array(Fraction(1), 2, Script()).tolist() == [True, True]
    assert bernoulli_array(Fraction(0), 2, Script([0, ONES])).tolist() == [False, False]
    assert bernoulli_array(Fraction(1, 2), 3, Script([(1 << 63) - 1, 1 << 63, 0])).tolist() == [True, False, True]


def test_coins_in_an_array_do_not_mix() -> None:
    """Words around the cut of 1/3; the two on it get their own 64 bits."""
    cut = ONES // 3
    words = [cut - 2, cut - 1, cut, cut + 1, cut, 0, ONES]
    assert bernoulli_array(Fraction(1, 3), 7, Script(words, 0, ONES)).tolist() == [1, 1, 1, 0, 0, 1, 0]


EXPONENTS = [Fraction(1, 10**12), Fraction(1, 7), Fraction(1), Fraction(30), Fraction(60)]


@pytest.mark.parametrize("x", EXPONENTS)
def test_an_exponential_coin_has_its_chance(x: Fraction) -> None:
    assert_measures(exact.exp_minus(x), over_prefixes(lambda e: bernoulli_exp(x, e), array=False))
    gaps = np.array([3])
    one = over_prefixes(lambda e: bool(bernoulli_exp_array(gaps, x / 3, e)[0]), array=True)
    assert_measures(exact.exp_minus(x), one)


@pytest.mark.parametrize("shift", SHIFTS)
def test_exponential_coins_around_every_threshold(shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One array: next to each coin's threshold and to both edges of the filter, whatever way the exponential errs."""
    monkeypatch.setattr(np, "exp", shifted_exp(shift))
    rate = Fraction(1, 37)
    slack = int(2 * EXP_ERROR * 2**64)
    gaps, words, expected = [], [], []
    for gap in [0, 1, 2, 36, 37, 500, 1000, 1600]:
        threshold = exact.exp_minus(gap * rate)
        at = int(MP.floor(MP.ldexp(threshold, 64)))
        centres = {0, ONES, at, at - slack, at + slack}
        for v in {c + s for c in centres for s in (-2048, -2, -1, 0, 1, 2, 2048) if 0 <= c + s <= ONES}:
            keep = verdict(v, 64, threshold)
            if keep is not None:
                gaps.append(gap)
                words.append(v)
                expected.append(keep)
    assert 0 < sum(expected) < len(expected)
    assert bernoulli_exp_array(np.array(gaps), rate, Script(words)).tolist() == expected


@pytest.mark.parametrize("rate", [Fraction(10) ** 400, Fraction(10) ** 305, Fraction(1, 10**400), Fraction(0)])
def test_rates_without_a_float(rate: Fraction) -> None:
    """Rates beyond the doubles neither overflow nor warn."""
    gaps = np.array([0, 1, 10**18])
    large = [True, rate < 1, rate < 1]
    middle = Script([1 << 63] * 3)
    assert bernoulli_exp_array(gaps, rate, middle).tolist() == large
    assert choose(gaps[:2], rate, entropy=Script(1 << 62)) == 0
    assert choose(gaps[:2], rate, entropy=Script(3 << 62)) == (1 if rate < 1 else 0)


def test_exponents_are_refused_below_zero() -> None:
    for call in (
        lambda: bernoulli_exp(Fraction(-1), Script()),
        lambda: bernoulli_exp_array(np.array([1]), Fraction(-1), Script()),
        lambda: bernoulli_exp_array(np.array([1, -1]), Fraction(1), Script()),
        lambda: bernoulli(Fraction(-1, 2), Script()),
        lambda: bernoulli_array(Fraction(3, 2), 1, Script()),
        lambda: bernoulli_array(Fraction(1, 2), -1, Script()),
        lambda: choose(np.array([1]), Fraction(-1), entropy=Script()),
    ):
        with pytest.raises(InvalidParameter):
            call()


# ---- choices -------------------------------------------------------------------------------------------------

CHOICES: dict[str, tuple[list[int], Fraction, list[int] | None]] = {
    "one": ([5], Fraction(1), None),
    "two alike": ([3, 3], Fraction(1), None),
    "falling": ([0, 1, 2, 3, 4], Fraction(1, 2), None),
    "rising": ([9, 5, 2, 0], Fraction(3, 7), None),
    "sizes": ([0, 1, 2], Fraction(1), [1, 10**6, (1 << 53) - 1]),
    "empty pieces": ([0, 2, 0, 1, 0], Fraction(1), [0, 3, 0, 2, 0]),
    "an empty piece with the least gap": ([0, 1000, 1001], Fraction(1), [0, 1, 1]),
    "very unlikely ones": ([40, 0, 60, 0, 43], Fraction(1), None),
    "all far": ([10**9, 10**9 + 1], Fraction(1), None),
    "gaps near the limit": ([(1 << 63) - 1, (1 << 63) - 3], Fraction(1, 4), None),
    "beyond the doubles": ([0, 800, 900], Fraction(1), None),
    "rate zero": ([0, 5, 9], Fraction(0), [2, 3, 4]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_has_its_law(name: str) -> None:
    """The chance of an index up to j, measured over 128-bit prefixes, for every j."""
    gaps, rate, sizes = CHOICES[name]
    weights = [s * exact.exp_minus((g - min(gaps)) * rate) for g, s in zip(gaps, sizes or [1] * len(gaps), strict=True)]
    total = sum(weights)
    arguments = np.array(gaps), rate, None if sizes is None else np.array(sizes)
    for j, cumulated in enumerate(exact.cumulative(weights)):
        bounds = over_prefixes(lambda e, j=j: choose(*arguments, entropy=e) <= j, array=False)  # type: ignore[misc]
        assert exact.within(cumulated / total, *bounds)
        assert bounds[1] - bounds[0] <= Fraction(4, 1 << 128)
    empty = [i for i, s in enumerate(sizes or []) if s == 0]
    drawn = {choose(*arguments, entropy=Script(u, u)) for u in [0, ONES - 1, *range(0, 1 << 64, 1 << 55)]}
    assert drawn.isdisjoint(empty)


@pytest.mark.parametrize("name", ["falling", "sizes", "very unlikely ones"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_both_ways_to_choose_agree(name: str, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the float filter is sure, the exact integers say the same, to the edge of its margin.

    Only the weights of gaps above zero are off: a common factor would cancel.
    """
    monkeypatch.setattr(np, "exp", lambda x: shifted_exp(shift)(x) ** (x < 0))
    gaps, rate, sizes = CHOICES[name]
    g, s = np.array(gaps), np.array(sizes or [1] * len(gaps))
    weights = [k * exact.exp_minus(x * rate) for x, k in zip(gaps, s.tolist(), strict=True)]
    cuts = [int(MP.floor(MP.ldexp(c / sum(weights), 64))) for c in exact.cumulative(weights)]
    margin = int((8 * EXP_ERROR + len(gaps) * 2.0**-50) * 2**64)
    for cut in cuts:
        for u in {c + d for c in (cut, cut - margin, cut + margin) for d in (-4096, -1, 0, 1, 4096)}:
            if 0 <= u < ONES:
                assert choose(g, rate, s, Script(u, 5, 0)) == coins._choose_exactly(g, rate, s, u, Script(5, 0))


@pytest.mark.thin(40)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("k", [*range(30, 70, 3), *range(118, 140), *range(182, 204)])
def test_a_cut_next_to_a_half(k: int, side: int) -> None:
    """Weights 1 and 2 exp(-x), x next to log 2: the bits of one half and its neighbours fall on the right side."""
    rate = near_log_two(k, side)
    cut_is_above = side > 0  # a larger rate makes the second weight smaller, and the cut 1/(1 + 2 exp(-x)) larger
    gaps, sizes = np.array([0, 1]), np.array([1, 2])
    from_above = choose(gaps, rate, sizes, Script(1 << 63, then=0))
    from_below = choose(gaps, rate, sizes, Script((1 << 63) - 1, then=1))
    assert from_above == from_below == (0 if cut_is_above else 1)


@pytest.mark.parametrize("pieces", [1023, 1024, 1025, 5000])
def test_choices_among_many(pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More pieces than one block: at every block's ends, and in between, the right piece is chosen."""
    gaps, rate = np.arange(pieces) % 7, Fraction(1, 3)
    sizes = 1 + np.arange(pieces) % 5
    weights = [s * exact.exp_minus(g * rate) for g, s in zip(gaps.tolist(), sizes.tolist(), strict=True)]
    cuts = exact.cumulative(weights)
    total = cuts[-1]
    ends = {block + d for block in range(0, pieces + 1, 1024) for d in range(-4, 3)}
    places = {j for j in ends | {pieces - 1, *range(7, pieces, 97)} if 0 <= j < pieces}
    for j in places:
        low, high = (MP.ldexp(c / total, 64) for c in (cuts[j - 1] if j else MP.mpf(0), cuts[j]))
        first, last = int(MP.ceil(low)), int(MP.floor(high)) - 1
        for u in (first, first + 3, last - 3, last):
            assert choose(gaps, rate, sizes, Script(u)) == j
        with monkeypatch.context() as patched:
            patched.setattr(coins, "_choose_exactly", None)  # in the middle the filter decides alone
            assert choose(gaps, rate, sizes, Script((first + last) // 2)) == j


def test_a_wrong_rate_is_seen() -> None:
    """The measured law tells a rate from one that differs by 2**-60 of it."""
    gaps = np.array([0, 1])
    bounds = over_prefixes(lambda e: choose(gaps, Fraction(1), entropy=e) == 0, array=False)
    wrong = 1 / (1 + exact.exp_minus(1 + Fraction(1, 1 << 60)))
    assert not exact.within(wrong, *bounds)


def test_a_choice_appends_as_often_as_needed() -> None:
    """Fed a cut's own bits it asks for more, and the last bit decides."""
    gaps = np.array([0, 1])
    at = int(MP.floor(MP.ldexp(1 / (1 + exact.exp_minus(1)), 256)))
    for whole, index in ((at - 2, 0), (at + 2, 1)):
        script = Script(*[(whole >> (64 * k)) & ONES for k in (3, 2, 1, 0)])
        assert choose(gaps, Fraction(1), entropy=script) == index
        assert script.asked == [64] * 4


@pytest.mark.parametrize(
    ("gaps", "sizes"),
    [([], None), ([1], [0]), ([-1], None), ([1], [-1]), ([1, 2], [1]), ([[1, 2]], None), ([[1]], [[1]])],
)
def test_there_must_be_something_to_choose(gaps: list[int], sizes: list[int] | None) -> None:
    array: NDArray[np.int64] = np.array(gaps, np.int64)
    with pytest.raises(InvalidParameter):
        choose(array, Fraction(1), None if sizes is None else np.array(sizes), Script())
