"""The best of a random number of runs, held against its exact law."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador import accounting as acc
from curador.accounting import events, theorems
from curador.accounting.rules import renyi as curves
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import renyi, renyi_curve
from curador.accounting.theorems import repeats
from curador.errors import InvalidParameter

ev: Any = events  # every parameter may be an int, a float, text or a fraction
RepeatAndSelect: Any = theorems.RepeatAndSelect
PoissonRepeatAndSelect: Any = theorems.PoissonRepeatAndSelect
MP = mpmath.mp.clone()
MP.dps = 30


def best(law: tuple[Fraction, ...], runs: Callable[[Any], Any]) -> list[Any]:
    """The law of the largest output: the generating function of the number of runs, at the distribution function."""
    total, found, before = MP.zero, [], runs(MP.zero)
    for mass in law:
        total += MP.mpf(mass.numerator) / mass.denominator
        found.append(runs(total) - before)
        before = runs(total)
    found[0] += runs(MP.zero)  # no run at all: the first output
    return found


def truncated(shape: Fraction, gamma: Fraction) -> Callable[[Any], Any]:
    g, eta = MP.mpf(gamma.numerator) / gamma.denominator, MP.mpf(shape.numerator) / shape.denominator
    if shape == 0:
        return lambda x: MP.log(1 - (1 - g) * x) / MP.log(g)
    return lambda x: ((1 - (1 - g) * x) ** -eta - 1) / (g**-eta - 1)


def divergence(p: list[Any], q: list[Any], alpha: float) -> Any:
    return MP.log(MP.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True) if a)) / (alpha - 1)


masses = st.lists(st.integers(1, 9), min_size=3, max_size=3)
shapes = st.sampled_from([Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])
gammas = st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)])


def laws(a: list[int], b: list[int]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    return tuple(Fraction(x, sum(a)) for x in a), tuple(Fraction(x, sum(b)) for x in b)


@settings(max_examples=10)
@given(masses, masses, shapes, gammas, st.sampled_from([1.5, 2.0, 8.0, 40.0]))
def test_the_best_of_a_negative_binomial_number(
    a: list[int], b: list[int], shape: Fraction, gamma: Fraction, alpha: float
) -> None:
    p, q = laws(a, b)
    event = RepeatAndSelect(theorems.LawPair(p, q), shape, gamma)
    one, two = (best(law, truncated(shape, gamma)) for law in (p, q))
    assert abs(sum(one) - 1) < MP.mpf(10) ** -20
    assert max(divergence(one, two, alpha), divergence(two, one, alpha)) <= renyi(event, alpha) * (1 + 1e-12) + 1e-15
    worst = max(MP.log(max(x / y, y / x)) for x, y in zip(one, two, strict=True))
    assert worst <= float(pure_epsilon(event)) * (1 + 1e-12) + 1e-15


@settings(max_examples=15)
@given(
    masses, masses, st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(20)]), st.sampled_from([1.5, 2.0, 8.0, 40.0])
)
def test_the_best_of_a_poisson_number(a: list[int], b: list[int], mean: Fraction, alpha: float) -> None:
    p, q = laws(a, b)
    event = PoissonRepeatAndSelect(theorems.LawPair(p, q), mean)
    one, two = (best(law, lambda x: MP.exp((x - 1) * mean.numerator / mean.denominator)) for law in (p, q))
    assert max(divergence(one, two, alpha), divergence(two, one, alpha)) <= renyi(event, alpha) * (1 + 1e-12) + 1e-15
    worst = max(MP.log(max(x / y, y / x)) for x, y in zip(one, two, strict=True))
    assert worst <= float(pure_epsilon(event)) * (1 + 1e-12) + 1e-15


def test_a_single_run_s_price_would_be_seen_to_be_too_low() -> None:
    """Nearly three times: the middle output is twice as likely in one run, and the best one half as likely."""
    p, q = laws([948, 2, 50], [899, 1, 100])
    one, two = (best(law, truncated(Fraction(1), Fraction(1, 1000))) for law in (p, q))
    assert divergence(one, two, 40.0) > 2.5 * renyi(theorems.LawPair(p, q), 40)


@pytest.mark.parametrize(("rho", "mean", "shape"), [("0.01", 10, 1), ("0.1", 100, 1), ("0.001", 1000, 1)])
def test_concentrated_runs_have_their_published_curve(rho: str, mean: int, shape: int) -> None:
    """The closed form that dp_accounting tests its own with, for Gaussian noise of rho and a geometric number."""
    r, log_gamma = float(Fraction(rho)), -math.log(mean)
    event = RepeatAndSelect(ev.ZCDPLoss(rho), shape, Fraction(1, mean))
    for order in (1.5, 2.0, 8.0, 64.0):
        extra = 2 * (1 + shape) * math.sqrt(-r * log_gamma) - shape * r
        if order <= 1 + math.sqrt(math.log(mean) / r):
            known = 2 * math.sqrt(r * math.log(mean)) + extra
        else:
            known = r * (order - 1) + math.log(mean) / (order - 1) + extra
        assert known * (1 - 1e-9) <= renyi(event, order) <= known * 1.01


@pytest.mark.parametrize(("epsilon", "mean"), [(1, 1), ("0.1", 2), ("0.001", 100), (2, 1000)])
def test_pure_runs_a_poisson_number_of_times_have_their_published_curve(epsilon: Any, mean: int) -> None:
    e = float(Fraction(epsilon))
    alpha = 1 + 1 / math.expm1(e)
    event = PoissonRepeatAndSelect(ev.LaplaceNoise(1, epsilon), mean)
    known = renyi(event.event, alpha) + math.log(mean) * math.expm1(e)
    assert renyi(event, alpha) == pytest.approx(known, rel=1e-3)


def test_three_times_epsilon_for_a_geometric_number() -> None:
    event = RepeatAndSelect(ev.PureLoss("0.1"), 1, "0.001")
    assert pure_epsilon(event) == Fraction(3, 10)
    assert acc.epsilon(event, 0).upper == pytest.approx(0.3)
    assert event.mean == pytest.approx(1000)
    assert RepeatAndSelect(ev.PureLoss("0.1"), 0, "0.5").mean == pytest.approx(1 / math.log(2))


def test_repeats_compose_and_travel() -> None:
    step = ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01")
    for event in (RepeatAndSelect(step, 1, "0.05"), PoissonRepeatAndSelect(step, 20)):
        assert ev.event_from_json(event.to_json()) == event
        found = acc.epsilon(event + ev.LaplaceNoise(10, 1), 1e-5)
        assert acc.epsilon(step, 1e-5).lower < found.upper < math.inf
        assert found.lower <= acc.epsilon(ev.LaplaceNoise(10, 1), 1e-5).upper


def test_wrong_numbers_of_runs_are_refused() -> None:
    noise = ev.GaussianNoise(1, 1)
    wrong: list[Callable[[], object]] = [
        lambda: RepeatAndSelect(noise, -1, "0.1"),
        lambda: RepeatAndSelect(noise, 1, 1),
        lambda: RepeatAndSelect(noise, 1, 0),
        lambda: RepeatAndSelect("noise", 1, "0.1"),
        lambda: PoissonRepeatAndSelect(noise, 0),
    ]
    for make in wrong:
        with pytest.raises(InvalidParameter):
            make()


def test_numbers_of_runs_at_the_edge_are_answered_or_refused() -> None:
    once = acc.epsilon(ev.GaussianNoise(1, 1), 1e-6).lower
    for shape in (0, 1):  # next to gamma = 1 it is one run
        event = RepeatAndSelect(ev.GaussianNoise(1, 1), shape, "0.99999999999999999999")
        assert event.mean == pytest.approx(1)
        assert once <= acc.epsilon(event, 1e-6).upper < once + 1
    for number, gamma in (("1e-400", "0.5"), (1, "1e-400"), ("1e300", "0.5")):
        with pytest.raises(InvalidParameter, match="1e-100"):
            RepeatAndSelect(ev.GaussianNoise(1, 1), number, gamma)
    for mean in ("1e-400", "1e400"):
        with pytest.raises(InvalidParameter, match="1e-100"):
            PoissonRepeatAndSelect(ev.GaussianNoise(1, 1), mean)


def test_a_best_of_bests_ends_somewhere() -> None:
    event: Any = ev.GaussianNoise(1, 1)
    for _ in range(2):
        event = RepeatAndSelect(2 * PoissonRepeatAndSelect(event, 2), 1, "0.5")
    with pytest.raises(InvalidParameter, match="4 deep"):
        RepeatAndSelect(event + ev.LaplaceNoise(1, 1), 1, "0.5")
    with pytest.raises(InvalidParameter, match="4 deep"):
        PoissonRepeatAndSelect(event, 2)


def test_a_curve_of_the_best_is_found_at_all_orders_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many different events, one order at a time took a hundred times as long."""
    orders = (1.5, 4.0, 32.0)
    several = [(ev.PoissonSampled(ev.GaussianNoise(Fraction(100 + i, 50), 1), "0.01"), 1) for i in range(5)]
    inner = events.Composed.of(*several)
    for event in (RepeatAndSelect(inner, 1, "0.1"), PoissonRepeatAndSelect(inner, 10)):
        each = [renyi(event, a) for a in orders]
        with monkeypatch.context() as patch:
            patch.setattr(repeats, "renyi_rule", None)
            found = renyi_curve(event, orders).curve
        assert [x for _, x in found] == pytest.approx(each, rel=1e-9)


def test_many_different_selections_are_refused_before_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand of them would take a quarter of an hour; of balls in bins the bound of whole runs is left."""
    monkeypatch.setattr(curves, "MANY_SLOW", 3)  # of 128
    several = [ev.GaussianNoise(Fraction(1000 + i, 10), 1) for i in range(4)]
    best = events.Composed.of(*((RepeatAndSelect(noise, 1, "0.1"), 1) for noise in several))
    for event in (best, RepeatAndSelect(best, 1, "0.1")):
        with pytest.raises(InvalidParameter, match="more than 3 different"):
            acc.epsilon(event, 1e-6)
        with pytest.raises(InvalidParameter, match="more than 3 different"):
            acc.delta(event, 1)
    bins = events.Composed.of(*((theorems.BallsInBins(noise, 1000), 1) for noise in several))
    assert acc.epsilon(bins, 1e-6).upper <= acc.epsilon(events.compose(*several), 1e-6).upper * (1 + 1e-3)
    with pytest.raises(InvalidParameter, match="more than 3 different"):
        acc.epsilon(bins, 1e-6, method="renyi")
