"""Samples of samples: which of them are one sample, and which the accountant has no theorem for and refuses."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from curador.accounting import events
from curador.accounting.events import Event
from curador.accounting.rules.profiles import delta
from curador.accounting.rules.renyi import renyi
from curador.errors import InvalidParameter
from curador.privacy import Neighbors

ev: Any = events  # events read ints, strings and decimals
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
NOISE = ev.LaplaceNoise(1, 1)
CHANGED = ev.LaplaceNoise(1, 1, Neighbors.REPLACE)
FIXED = ev.FixedSizeSampled(CHANGED, 1, 2)

Law = dict[frozenset[int], Fraction]


def poisson(units: frozenset[int], rate: Fraction) -> Law:
    """The law of the set of units that a Poisson sample takes."""
    size = len(units)
    return {
        frozenset(s): rate**k * (1 - rate) ** (size - k)
        for k in range(size + 1)
        for s in combinations(sorted(units), k)
    }


def test_a_poisson_sample_of_a_poisson_sample_is_one_at_the_product_of_the_rates() -> None:
    units = frozenset(range(4))
    twice: Law = {}
    for outer, chance in poisson(units, HALF).items():
        for inner, share in poisson(outer, THIRD).items():
            twice[inner] = twice.get(inner, Fraction(0)) + chance * share
    assert twice == poisson(units, HALF * THIRD)


def test_and_it_is_accounted_as_that() -> None:
    nested = ev.PoissonSampled(ev.PoissonSampled(NOISE, HALF), THIRD)
    once = ev.PoissonSampled(NOISE, HALF * THIRD)
    assert delta(nested, "0.1") == pytest.approx(delta(once, "0.1"), rel=1e-9)
    assert renyi(nested, 4) == pytest.approx(renyi(once, 4), rel=1e-9)


def test_a_fixed_number_drawn_from_a_poisson_sample_is_not() -> None:
    # One unit is drawn from those of two that were taken, each with chance 1/2: a unit's chance is 3/8, not 1/4.
    chance = sum(
        (share / len(taken) for taken, share in poisson(frozenset(range(2)), HALF).items() if 0 in taken), Fraction(0)
    )
    assert chance == Fraction(3, 8) != HALF * Fraction(FIXED.batch, FIXED.population)


@pytest.mark.parametrize("inner", [FIXED, 2 * FIXED, FIXED + CHANGED, ev.Composed(((FIXED, 3),))])
def test_so_it_is_refused_however_deep_it_stands(inner: Event) -> None:
    with pytest.raises(InvalidParameter, match="random"):
        ev.PoissonSampled(inner, HALF)
    with pytest.raises(InvalidParameter, match="random"):
        ev.PoissonSampled(ev.PoissonSampled(CHANGED, HALF) + inner, HALF)


@pytest.mark.parametrize("inner", [FIXED, 2 * FIXED, FIXED + CHANGED])
def test_parts_that_change_their_size_are_not_sampled_at_a_fixed_size(inner: Event) -> None:
    for parts in ((inner,), (CHANGED, inner), (inner, inner)):
        with pytest.raises(InvalidParameter, match="change their sizes"):
            ev.Parallel(parts)


def test_a_fixed_number_is_drawn_from_as_many_as_were_drawn_before() -> None:
    inner = ev.FixedSizeSampled(CHANGED, 1, 5)
    nested = ev.FixedSizeSampled(inner, 5, 10)
    once = ev.FixedSizeSampled(CHANGED, 1, 10)
    assert delta(nested, "0.1") == pytest.approx(delta(once, "0.1"), rel=1e-9)
    with pytest.raises(InvalidParameter, match="population of 6"):
        ev.FixedSizeSampled(2 * inner, 6, 10)


def test_a_chance_that_no_double_holds_is_refused_however_it_is_made() -> None:
    rare = ev.PoissonSampled(ev.GaussianNoise(1, 1), "1e-60")
    assert renyi(ev.PoissonSampled(rare, "1e-40"), 2) < 1e-90
    with pytest.raises(InvalidParameter, match="product of the rates"):
        ev.PoissonSampled(rare, "1e-41")
    assert ev.PoissonSampled(rare, 0).rate == 0
