"""Randomized response: its law by enumeration, its epsilon as a rational inequality, its estimates."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curador as cu
from curador.errors import InvalidParameter, InvalidValue


class Scripted:
    """Entropy that plays back chosen words."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)

    def bits(self, k: int) -> int:
        word = self.left.pop(0)
        assert 0 <= word < 1 << k
        return word

    def words(self, n: int, dtype: Any) -> Any:
        return np.array([self.left.pop(0) for _ in range(n)], dtype)


@given(epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=30), categories=st.integers(2, 1000))
def test_delivered_ratio_never_exceeds_the_promise(epsilon: Fraction, categories: int) -> None:
    mechanism = cu.RandomizedResponse(epsilon, categories=categories)
    ratio = mechanism.truth / mechanism.other
    with mpmath.workdps(80):
        promised = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        delivered = mpmath.mpf(ratio.numerator) / ratio.denominator
        assert delivered <= promised
        assert delivered >= promised * (1 - mpmath.mpf(2) ** -63 * promised)  # and wastes next to nothing
    assert mechanism.truth + (categories - 1) * mechanism.other == 1


def test_the_courses_coin() -> None:
    coin = cu.RandomizedResponse(truth=0.75)
    assert coin.epsilon == pytest.approx(math.log(3), rel=1e-9)
    assert coin.epsilon >= math.log(3)
    assert cu.RandomizedResponse(truth=0.25).epsilon == pytest.approx(math.log(3), rel=1e-9)  # gamma below 1/2
    assert cu.RandomizedResponse(truth=0.5).epsilon == pytest.approx(0)


@pytest.mark.parametrize("power", [13, 16, 30, 400])
def test_losses_next_to_none_are_rounded_up_too(power: int) -> None:
    lean = Fraction(3, 10**power)
    for truth in (Fraction(1, 2) + lean, Fraction(1, 2) - lean):
        # ln((1/2 + x) / (1/2 - x)) is above 4 x; a double stands for the decimal that it prints as.
        stated = Fraction(str(cu.RandomizedResponse(truth=truth).epsilon))
        assert 4 * lean < stated <= max(4 * lean * (1 + Fraction(1, 10**11)), Fraction(1, 10**323))


@pytest.mark.parametrize("epsilon", ["1e-19", "1e-21", "1e-30", "1e-400"])
def test_the_least_epsilons_are_kept(epsilon: str) -> None:
    mechanism = cu.RandomizedResponse(epsilon)
    ratio = mechanism.truth / mechanism.other
    assert 1 <= ratio <= 1 + Fraction(epsilon)  # at 1e-30 lies were likelier than the truth, by 2**-64


@pytest.mark.parametrize("truth", [Fraction(3, 4), Fraction(1, 8)])
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_law_by_enumeration(truth: Fraction, categories: int) -> None:
    """With the coin's first three bits and every shift enumerated, each answer has exactly its probability."""
    mechanism = cu.RandomizedResponse(truth=truth, categories=categories)
    for answer in range(categories):
        mass = dict.fromkeys(range(categories), Fraction(0))
        for top in range(8):  # truth is a multiple of 1/8: the coin is decided by its first three bits
            if Fraction(top, 8) < truth:
                reported = mechanism.release(answer, entropy=Scripted([top << 61]))
                mass[reported] += Fraction(1, 8)
                continue
            for shift in range(categories - 1):
                reported = mechanism.release(answer, entropy=Scripted([top << 61, shift]))
                mass[reported] += Fraction(1, 8) / (categories - 1)
        assert mass == {c: mechanism.truth if c == answer else mechanism.other for c in range(categories)}


def test_arrays_follow_the_same_law() -> None:
    mechanism = cu.RandomizedResponse(1, categories=4)
    n = 40_000
    reports = mechanism.release(np.full(n, 2))
    seen = np.bincount(reports, minlength=4) / n
    expected = np.array([float(mechanism.truth if c == 2 else mechanism.other) for c in range(4)])
    # Six standard deviations: false alarms below 1e-8.
    assert (np.abs(seen - expected) < 6 * np.sqrt(expected * (1 - expected) / n)).all()


def test_estimates_are_unbiased_and_their_errors_true() -> None:
    rng = np.random.default_rng(1)
    answers = rng.choice(3, 3000, p=[0.7, 0.2, 0.1])
    true = np.bincount(answers, minlength=3) / answers.size
    mechanism = cu.RandomizedResponse(1, categories=3)
    runs = [mechanism.estimate(mechanism.release(answers)) for _ in range(200)]
    mean = np.mean([f for f, _ in runs], axis=0)
    error = np.mean([e for _, e in runs], axis=0)
    assert (np.abs(mean - true) < 6 * error / math.sqrt(200)).all()
    covered = np.mean([np.abs(f - true) <= 1.96 * e for f, e in runs])
    assert covered > 0.93


def test_refusals() -> None:
    bad: list[dict[str, Any]] = [{"truth": 0}, {"truth": 1}, {"truth": 1.5}, {"epsilon": 0}, {"epsilon": math.nan}]
    bad += [{}, {"epsilon": 1, "truth": 0.5}, {"epsilon": 1, "categories": 1}, {"epsilon": 1, "categories": 2.5}]
    for arguments in bad:
        with pytest.raises(InvalidParameter):
            cu.RandomizedResponse(**arguments)
    coin = cu.RandomizedResponse(1)
    values: list[Any] = [2, -1, 0.5, [0, 2], "x", None, True, math.nan]
    for value in values:
        with pytest.raises(InvalidValue):
            coin.release(value, entropy=Scripted([]))
    with pytest.raises(InvalidParameter):
        coin.estimate([])
    with pytest.raises(InvalidParameter):
        cu.RandomizedResponse(truth=0.5).estimate([0, 1])


@pytest.mark.parametrize("categories", [10**7 + 1, 2**62, 10**30])
def test_more_categories_than_memory_holds_are_not_estimated(categories: int) -> None:
    with pytest.raises(InvalidParameter, match="categories to estimate"):
        cu.RandomizedResponse(1, categories=categories).estimate([0, 1, 1])
