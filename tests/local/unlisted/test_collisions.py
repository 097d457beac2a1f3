"""What meetings by hash functions may add to a key that nobody has: enumerated, simulated, and by exact tails."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from curador.local.unlisted.collisions import GRID, Collisions, KnownValues, among, at_most, by_chance
from curador.local.unlisted.evidence import nearly_always_reached
from curador.local.unlisted.prefixes import all_places, coefficients


def meeting_times(rows: int, places: int, others: int, seed: int) -> np.ndarray:
    """In how many rows each of many keys meets each of some others, all with random coefficients."""
    rng = np.random.default_rng(seed)
    keys, theirs = (rng.integers(places, size=(size, 3)).astype(np.uint32) for size in (4000, others))
    times = np.zeros((4000, others), np.int64)
    for a, b in zip(all_places(keys, rows, places), all_places(theirs, rows, places), strict=True):
        times += a[:, None] == b
    return times


@pytest.mark.parametrize(("rows", "places"), [(5, 7), (7, 7), (1, 5), (2, 11), (3, 3)])
def test_the_law_of_meetings_by_enumeration(rows: int, places: int) -> None:
    """Of all coefficients but one triple, none meets the zero polynomial more than twice; twice as often as said."""
    three = np.array(list(product(range(places), repeat=3)), np.uint32)
    times = sum(((place == 0).astype(int) for place in all_places(three, rows, places)), np.zeros(len(three), int))
    assert times[0] == rows
    assert times[1:].max() <= 2
    twice = rows * (rows - 1) / 2 / places**2
    once = rows / places - 2 * twice
    for tilt in (0.01, 1.0, 5.0):
        law = 1 + once * np.expm1(tilt) + twice * np.expm1(2 * tilt)
        assert np.exp(tilt * times[1:]).sum() / len(three) <= law
        assert np.exp(tilt * np.minimum(times, 2)).mean() == pytest.approx(law, rel=3 / places)


@pytest.mark.parametrize("others", [1, 4, 30, 300])
def test_chance_adds_no_more_than_allowed(others: int) -> None:
    rows, places, miss = 64, 251, 0.01
    shares = meeting_times(rows, places, others, seed=others).mean(axis=1) / rows
    allowed = by_chance(rows, places, 1 / others, miss)
    assert (shares > allowed).mean() <= miss
    assert allowed < 2 * max(np.quantile(shares, 1 - miss), 1 / rows / others)
    assert allowed >= 1 / places
    uneven = np.geomspace(1, 1e-3, others)
    uneven *= min(1 / uneven.sum(), 1 / others / uneven[0])
    assert (meeting_times(rows, places, others, seed=7) @ uneven / rows > allowed).mean() <= miss


def test_what_is_allowed_grows() -> None:
    allowed = [by_chance(256, 1021, largest, 1e-8) for largest in GRID]
    assert allowed == sorted(allowed, reverse=True)
    assert allowed[0] == 2 / 256
    assert by_chance(256, 1021, 0.01, 1e-9) > by_chance(256, 1021, 0.01, 1e-6)
    assert by_chance(1, 2, 1, 0.01) == 1


@pytest.mark.parametrize("people", [300, 60_000])
def test_more_frequent_ones_would_have_had_more_support(people: int) -> None:
    p, q, part = 0.6, 0.02, 0.003
    support = np.unique(np.linspace(0, people, 25).astype(int))
    for s, most in zip(support, at_most(support, people, q, p, part), strict=True):

        def reached(f: float) -> int:
            return nearly_always_reached(people, q + (p - q) * f, part * f)

        for f in most + (1 - most) * np.array([1e-9, 0.01, 0.3, 1]):
            assert most == 1 or reached(f) > s
        assert s < 2 * q * people or reached(most / 1.25) <= s  # not far from the least limit


@pytest.mark.parametrize("frequency", [1e-5, 1e-4, 0.01, 0.4, 1.0])
def test_draws_have_no_more_than_allowed(frequency: float) -> None:
    from scipy.stats import hypergeom

    users, people, part = 100_000, 8000, 0.01
    most = float(among(frequency, people, users, part))
    chance = hypergeom.sf(np.floor(most * people), users, round(users * frequency), people)
    assert chance <= part * frequency
    near = np.floor((most + 3 * frequency) / 4 * people)  # which is often reached
    tight = hypergeom.sf(near, users, round(users * frequency), people) > part * frequency
    assert tight or most == 1 or frequency < 1 / people
    assert among(0, people, users, part) == 0


def test_known_prefixes_are_counted_where_they_are_met() -> None:
    rows, places = 61, 251
    codes = np.array([[i, j] for i in range(97, 123) for j in range(97, 123)], np.uint8)
    known = KnownValues(codes[:2], np.array([0.5, 0.3]), np.array([0.4, 0.2]), 0.001)
    met = Collisions.of([known], [1.0], 1e-6, salt="s", rows=rows, places=places)
    assert [one.most.tolist() for one in met.known] == [[0.5, 0.3]]
    table = np.stack(list(all_places(coefficients(codes, "s", places), rows, places)))
    share = (table[:, :2, None] == table[:, None]).mean(axis=0)
    share[0, 0] = share[1, 1] = 0
    assert share.max() <= 2 / rows
    want = np.minimum(met.chance + 0.5 * share[0] + 0.3 * share[1], 2 / rows)
    assert met.allowed(codes) == pytest.approx(want)
    bias = (0.4 * (share[0] - 1 / places) + 0.2 * (share[1] - 1 / places)) / (1 - 1 / places)
    assert met.expected(codes) == pytest.approx(bias)
    half = Collisions.of([known, known], [0.5, 0.5], 1e-6, salt="s", rows=rows, places=places)
    assert half.allowed(codes) - half.chance == pytest.approx(
        np.minimum(0.5 * share[0] + 0.3 * share[1], 2 / rows - half.chance)
    )


def test_with_coefficients_in_common_all_are_counted() -> None:
    codes = np.array([[i, j] for i in range(97, 123) for j in range(97, 123)], np.uint8)
    three = coefficients(codes, "", 5)
    twin = 1 + int(np.flatnonzero((three[1:] == three[0]).all(axis=1))[0])
    known = KnownValues(codes[:1], np.array([0.5]), np.array([0.4]), 0.001)
    met = Collisions.of([known], [1.0], 1e-6, salt="", rows=5, places=5)
    assert met.allowed(codes[[twin]]) == pytest.approx([met.chance + 0.5])
    assert met.allowed(codes[[0]]) == [met.chance]
