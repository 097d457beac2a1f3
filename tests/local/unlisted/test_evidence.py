"""Binomial tails against sums of exact fractions, and what they bound when chances differ."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from curador.local.unlisted.evidence import chance_of_more, nearly_always_reached, rarely_reached


def exact(people: int, chance: Fraction, count: int) -> Fraction:
    terms = (math.comb(people, k) * chance**k * (1 - chance) ** (people - k) for k in range(max(0, count), people + 1))
    return sum(terms, Fraction(0))


@pytest.mark.parametrize("people", [1, 7, 60])
@pytest.mark.parametrize("chance", [Fraction(1, 64), Fraction(1, 4), Fraction(7, 8)])
def test_tails_are_just_above_the_exact_ones(people: int, chance: Fraction) -> None:
    for count in range(-1, people + 2):
        wanted, found = exact(people, chance, count), chance_of_more(people, float(chance), count)
        assert wanted <= Fraction(found) <= wanted * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("people", [0, 1, 9, 60, 500])
@pytest.mark.parametrize("chance", [Fraction(1, 64), Fraction(1, 2), Fraction(7, 8)])
@pytest.mark.parametrize("miss", [0.3, 0.01, 1e-9])
def test_counts_are_the_first_that_are_rare_and_the_last_that_are_not(
    people: int, chance: Fraction, miss: float
) -> None:
    rare = rarely_reached(people, float(chance), miss)
    assert exact(people, chance, rare) <= Fraction(miss)
    beyond = min(people, int(people * chance) + 2)
    assert rare == beyond or exact(people, chance, rare - 1) > Fraction(miss) * Fraction(99, 100)
    common = nearly_always_reached(people, float(chance), miss)
    assert 1 - exact(people, chance, common) <= Fraction(miss)


def test_unlike_coins_have_lighter_tails() -> None:
    """Every mix of twelve sure, fair and impossible coins: exact convolutions against the bound."""
    for sure in range(5):
        for fair in range(12 - sure + 1):
            law = [math.comb(fair, k) / 2**fair for k in range(fair + 1)]
            mean = (sure + fair / 2) / 12
            for miss in (0.2, 0.01):
                rare = rarely_reached(12, mean, miss)
                assert sum(law[max(0, rare - sure) :]) <= miss * (1 + 1e-12)
                common = nearly_always_reached(12, mean, miss)
                assert sum(law[: max(0, common - sure)]) <= miss * (1 + 1e-12)
