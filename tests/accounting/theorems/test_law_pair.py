"""A pair of laws as an event, held against enumeration in exact fractions."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador import accounting as acc
from curador.accounting import FiniteMechanism, events, pld, theorems
from curador.accounting.precise import dec
from curador.accounting.rules.divergences import hockey_stick, renyi_divergence
from curador.accounting.rules.profiles import delta, pure_epsilon
from curador.accounting.rules.renyi import renyi
from curador.accounting.theorems import law_pair
from curador.accounting.theorems.law_pair import EXACT, _by_logarithms, replace_special
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import Neighbors

ev: Any = events  # every parameter may be an int, a float, text or a fraction
LawPair: Any = theorems.LawPair
MP = mpmath.mp.clone()
MP.dps = 40


def real(x: Fraction) -> Any:
    return MP.mpf(x.numerator) / x.denominator


def enumerated(events: list[theorems.LawPair], epsilon: float) -> Any:
    """delta of a composition over all outputs, the larger of the two orders."""
    grown = MP.exp(epsilon)
    found = []
    for swap in (False, True):
        laws = [list(zip(e.q, e.p, strict=True) if swap else zip(e.p, e.q, strict=True)) for e in events]
        total = MP.zero
        for way in product(*laws):
            p, q = (real(math.prod((x[i] for x in way), start=Fraction(1))) for i in (0, 1))
            total += max(MP.zero, p - grown * q)
        found.append(total)
    return max(found)


masses = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(sum)


def made(p: list[int], q: list[int]) -> Any:
    return LawPair(tuple(Fraction(x, sum(p)) for x in p), tuple(Fraction(x, sum(q)) for x in q))


@settings(max_examples=12)
@given(masses, masses, masses, masses, st.sampled_from([0.0, 0.2, 1.0, 2.5]))
def test_compositions_are_exact(a: list[int], b: list[int], c: list[int], d: list[int], epsilon: float) -> None:
    one, two = made(a, b), made(c, d)
    true = enumerated([one, one, one, two], epsilon)
    found = acc.delta(3 * one + two, epsilon)
    assert found.lower <= true * (1 + MP.mpf(10) ** -12)
    assert true <= found.upper * (1 + 1e-12) + 1e-300
    assert found.width <= 2e-3 * float(true) + 1e-9
    alone = enumerated([one], epsilon)
    assert alone * (1 - MP.mpf(10) ** -12) <= delta(one, epsilon) <= alone * (1 + MP.mpf(10) ** -10)


@settings(max_examples=25)
@given(masses, masses, st.fractions(Fraction(11, 10), 8, max_denominator=10))
def test_divergences_of_both_orders_count(a: list[int], b: list[int], alpha: Fraction) -> None:
    event, order = made(a, b), real(alpha)
    true = MP.zero
    for p, q in ((event.p, event.q), (event.q, event.p)):
        if any(x and not y for x, y in zip(p, q, strict=True)):
            true = MP.inf
            continue
        terms = (real(x) ** order * real(y) ** (1 - order) for x, y in zip(p, q, strict=True) if x)
        true = max(true, MP.log(MP.fsum(terms)) / (order - 1))
    assert renyi(event, alpha) >= true * (1 - MP.mpf(10) ** -15)
    assert true == MP.inf or renyi(event, alpha) <= true * (1 + MP.mpf(10) ** -12) + MP.mpf(10) ** -15
    worst = max((x / y if y else math.inf for p, q in ((a, b), (b, a)) for x, y in zip(_f(p), _f(q), strict=True) if x))
    assert (pure_epsilon(event) == math.inf) == (worst == math.inf)
    if worst < math.inf:
        assert float(pure_epsilon(event)) == pytest.approx(math.log(worst), abs=1e-15)


def _f(x: list[int]) -> list[Fraction]:
    return [Fraction(y, sum(x)) for y in x]


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(sum), min_size=2, max_size=4))
def test_a_finite_mechanism_becomes_its_envelope(rows: list[list[int]]) -> None:
    mechanism = FiniteMechanism([_f(row) for row in rows])
    event = LawPair.of(mechanism)
    for epsilon in (0, Fraction(1, 10), Fraction(1, 2), 1, 2, 5):
        assert delta(event, epsilon) == pytest.approx(mechanism.delta(epsilon), rel=1e-9, abs=1e-15)
    assert float(pure_epsilon(event)) == pytest.approx(mechanism.epsilon, rel=1e-12)
    assert event.neighbors is Neighbors.REPLACE


def test_randomized_response_is_one_such_pair() -> None:
    for k, truth in ((2, "0.75"), (4, "0.4"), (5, "0.1")):
        known = ev.RandomizedAnswer(k, truth)
        w = (1 - known.truth) / (k - 1)
        rows = [[known.truth if i == j else w for j in range(k)] for i in range(k)]
        event = LawPair.of(FiniteMechanism(rows))
        one, two = acc.epsilon(20 * event, 1e-6), acc.epsilon(20 * known, 1e-6)
        assert one.lower == pytest.approx(two.lower, rel=1e-4)
        assert one.upper == pytest.approx(two.upper, rel=1e-4)
        assert len(event.directions()) == 1


def test_replace_special_has_its_published_curve() -> None:
    """dp_accounting's own test values: noise .3, ten categories."""
    event = replace_special(10, "0.7")
    known = {"1.5": 1.50305526, "2.5": 1.78011825, "5": 1.90919693, "50": 1.98145168, "100": 1.98469545}
    assert {a: round(renyi(event, a), 8) for a in known} == known


def test_pairs_compose_sample_and_travel() -> None:
    event = LawPair(["0.6", "0.3", "0.1"], ["0.2", "0.3", "0.5"])
    assert ev.event_from_json(event.to_json()) == event
    assert acc.epsilon(10 * event + ev.GaussianNoise(2, 1), 1e-6).width < 1e-2
    both = LawPair(["0.75", "0.25"], ["0.25", "0.75"])
    sampled = acc.delta(ev.PoissonSampled(both, "0.1"), "0.05")
    assert sampled.upper == pytest.approx(0.1 * 0.75 + 0.9 * 0.25 - math.exp(0.05) * 0.25, rel=1e-6)
    with pytest.raises(NotPromised):  # of an uneven pair no theorem here knows the sample
        pld.epsilon(ev.PoissonSampled(event, "0.1"), 1e-6)
    assert acc.epsilon(ev.PoissonSampled(event, "0.1"), 1e-6).upper <= acc.epsilon(event, 1e-6).upper


def test_no_laws_are_refused() -> None:
    for p, q in ((["0.5", "0.4"], ["0.5", "0.5"]), (["1"], ["0.5", "0.5"]), (["2", "-1"], ["0.5", "0.5"])):
        with pytest.raises(InvalidParameter):
            LawPair(p, q)
    with pytest.raises(InvalidParameter, match="at most"):
        LawPair((1, *[0] * 5000), (1, *[0] * 5000))


def test_many_outputs_are_summed_in_doubles_and_rounded_up() -> None:
    """Up to 64 outputs a divergence is found to the last digit; the sum in doubles is never below that, of any size."""
    for size, digits in ((3, 1), (40, 300), (70, 2)):
        p, q = ([7**i % 10**digits + 1 for i in range(start, start + size)] for start in (1, 2))
        pair = LawPair([Fraction(x, sum(p)) for x in p], [Fraction(x, sum(q)) for x in q])
        orders = [1.01, 1.5, 8.0, 1000.0]
        for order, found in zip(orders, _by_logarithms(pair, np.array(orders)), strict=True):
            exact = max(renyi_divergence(a, b, Fraction(order)) for a, b in pair.directions())
            assert exact <= found <= exact + 1e-8
            assert renyi(pair, order) == (found if size > EXACT else exact)
    nearly = LawPair([Fraction(1, 100)] * 100, [Fraction(1, 100) + (-1) ** i * Fraction(1, 10**30) for i in range(100)])
    assert 0 < renyi(nearly, 2) < 1e-8
    apart = LawPair([Fraction(1, 100)] * 100 + [0], [0] + [Fraction(1, 100)] * 100)
    assert renyi(apart, 2) == math.inf


def test_laws_that_take_for_ever_to_add_up_and_texts_are_refused() -> None:
    unlike = [Fraction(1, 2**300 + 2 * i + 1) for i in range(60)]
    with pytest.raises(InvalidParameter, match="common denominator"):
        LawPair(unlike, unlike)
    with pytest.raises(InvalidParameter, match="list"):  # its characters would be probabilities
        LawPair("01", "10")


def test_delta_of_many_outputs_is_found_by_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = ([7**i % 997 + 1 for i in range(start, start + 500)] for start in (1, 40))
    pair = LawPair([Fraction(x, sum(p)) for x in p], [Fraction(x, sum(q)) for x in q])
    for epsilon in (0, Fraction(1, 100), Fraction(1, 2), 3, 100):
        exact = max(hockey_stick(a, b, epsilon) for a, b in pair.directions())
        assert exact <= delta(pair, epsilon) <= exact * (1 + 1e-11)
    read: list[Fraction] = []

    def counted(x: Fraction) -> Decimal:
        read.append(x)
        return dec(x)

    monkeypatch.setattr(law_pair, "dec", counted)
    delta(pair, Fraction(1, 3))
    assert len(read) < 60
    assert delta(LawPair(["0.5", "0.5"], ["0.5", "0.5"]), 0) == 0
