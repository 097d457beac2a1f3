"""Groups in Poisson samples, held against every way of taking part, in one dimension and in the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from curador import accounting as acc
from curador.accounting import events, pld, theorems
from curador.accounting.pld import rules
from curador.accounting.rules.renyi import renyi
from curador.accounting.theorems import group_samples
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import Neighbors
from tests.accounting.theorems import reference as ref

ev: Any = events  # every parameter may be an int, a float, text or a fraction
GroupSampled: Any = theorems.GroupSampled
Vector = tuple[float, ...]
HALF = Fraction(1, 2)


def taken(vectors: Sequence[Vector], rate: Fraction) -> ref.Mixture:
    """The law of a sum over a Poisson sample of these vectors."""
    cases = []
    for way in product((False, True), repeat=len(vectors)):
        chance = math.prod((rate if t else 1 - rate for t in way), start=Fraction(1))
        total = tuple(sum(v[i] for v, t in zip(vectors, way, strict=True) if t) for i in range(len(vectors[0])))
        cases.append((chance, total))
    return ref.mixture(cases)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2)])
def test_a_group_that_points_one_way_is_the_worst_and_exact(size: int, rate: Fraction) -> None:
    event = acc.for_group(ev.PoissonSampled(ev.GaussianNoise("1.5", 1), rate), size)
    assert isinstance(event, theorems.GroupSampled)
    with_group, without = taken([(1.0,)] * size, rate), ref.at((0.0,))
    for e in (0.0, 0.5, 2.0):
        true = max(ref.delta(with_group, without, 1.5, [e])[0], ref.delta(without, with_group, 1.5, [e])[0])
        found = acc.delta(event, e)
        assert found.lower <= true * (1 + ref.WRONG) + 1e-10
        assert true <= found.upper * (1 + ref.WRONG) + 1e-10
        assert found.width <= 2e-3 * true + 1e-9
    for alpha in (1.5, 2.0, 6.0):
        both = (ref.renyi(with_group, without, 1.5, alpha), ref.renyi(without, with_group, 1.5, alpha))
        assert renyi(event, alpha) == pytest.approx(max(both), rel=1e-6)


@pytest.mark.parametrize(
    "vectors", [[(1.0, 0.0), (0.0, 1.0)], [(1.0, 0.0), (-1.0, 0.0)], [(0.6, 0.8), (1.0, 0.0), (0.0, -1.0)]]
)
def test_other_directions_show_less(vectors: list[Vector]) -> None:
    rate = Fraction(1, 3)
    event = acc.for_group(ev.PoissonSampled(ev.GaussianNoise("1.5", 1), rate), len(vectors))
    one, none = taken(vectors, rate), ref.at((0.0, 0.0))
    for e in (0.0, 0.5, 1.5):
        true = max(ref.delta(one, none, 1.5, [e])[0], ref.delta(none, one, 1.5, [e])[0])
        assert true <= acc.delta(event, e).upper * (1 + 1e-3) + 1e-9


def test_fewer_steps_than_members_would_be_seen() -> None:
    rate = Fraction(1, 3)
    one, none = taken([(1.0,)] * 3, rate), ref.at((0.0,))
    for wrong in (
        acc.for_group(ev.PoissonSampled(ev.GaussianNoise("1.5", 1), rate), 2),
        ev.PoissonSampled(ev.GaussianNoise("1.5", 1), 1 - (1 - rate) ** 3),
    ):
        assert ref.delta(one, none, 1.5, [0.5])[0] > 1.01 * acc.delta(wrong, 0.5).upper


def test_a_group_of_one_is_a_unit() -> None:
    step = ev.PoissonSampled(ev.GaussianNoise(2, 1), "0.01")
    assert acc.for_group(step, 1) == step
    alone = acc.epsilon(100 * GroupSampled(step.event, step.rate, 1), 1e-5)
    assert alone.lower == pytest.approx(acc.epsilon(100 * step, 1e-5).lower, abs=1e-4)
    assert renyi(GroupSampled(step.event, step.rate, 1), 8) == pytest.approx(renyi(step, 8), rel=1e-8)


def test_a_group_costs_less_than_by_the_lemma_of_groups() -> None:
    step = ev.PoissonSampled(ev.GaussianNoise(2, 1), "0.01")
    one = acc.epsilon(1000 * step, 1e-9)
    two = acc.epsilon(1000 * acc.for_group(step, 2), 1e-5)
    assert one.upper < two.lower < two.upper < 2 * one.upper
    assert two.width < 1e-3


def test_other_noise_takes_part_together() -> None:
    step = ev.PoissonSampled(ev.LaplaceNoise(2, 1), "0.5")
    found: Any = acc.for_group(step, 3)
    assert found.together == ev.PoissonSampled(ev.LaplaceNoise(2, 3), "0.875")
    assert acc.profile(found, [0, 1]).lines == acc.profile(found.together, [0, 1]).lines
    # Every database: P is a mixture of shifted Laplace laws, whose largest ratio is at its end.
    worst = sum(math.comb(3, j) / 8 * math.exp(j / 2) for j in range(4))
    assert math.log(worst) <= acc.epsilon(found, 0).upper


def test_under_replace_how_many_take_part_may_show() -> None:
    step = ev.PoissonSampled(ev.GaussianNoise(2, 1, Neighbors.REPLACE), "0.25")
    event = acc.for_group(step, 2)
    for e in (0.0, 0.5, 1.0):
        parts = [(2 * 0.25 * 0.75, 1.0), (0.25**2, 2.0)]
        true = sum(w * ref.delta(ref.at((s,)), ref.at((0.0,)), 2.0, [e])[0] for w, s in parts)
        found = acc.delta(event, e)
        assert found.lower <= true * (1 + ref.WRONG)
        assert true * (1 - ref.WRONG) <= found.upper <= 1.01 * true
    moment = 0.75**2 + sum(w * math.exp(3 * 4 * s * s / 8) for w, s in parts)
    assert renyi(event, 4) == pytest.approx(math.log(moment) / 3, rel=1e-9)


@pytest.mark.parametrize("noise", [ev.GaussianNoise(1, 3), ev.LaplaceNoise(1, 3)], ids=["gaussian", "laplace"])
def test_a_sample_of_a_group_in_a_sample_is_refused(noise: events.Event) -> None:
    """It would take the group as one unit: with chance 1/2 in the end, where some member is there with chance 3/4."""
    whole: Any = acc.for_group(ev.PoissonSampled(noise, 1), 2)
    part: Any = acc.for_group(ev.PoissonSampled(noise, HALF), 2)
    as_one = acc.delta(ev.PoissonSampled(acc.for_group(noise, 2), HALF), 0).upper
    assert as_one < 0.5 < acc.delta(acc.for_group(ev.PoissonSampled(ev.GaussianNoise(1, 3), HALF), 2), 0).lower
    for group in (whole, part, 2 * part, part + noise, acc.RepeatAndSelect(part, Fraction(1), HALF)):
        with pytest.raises(InvalidParameter, match="each member on its own"):
            ev.PoissonSampled(group, HALF)
    changed: Any = acc.for_group(ev.PoissonSampled(ev.GaussianNoise(1, 1, Neighbors.REPLACE), HALF), 2)
    with pytest.raises(InvalidParameter, match="each member on its own"):
        ev.FixedSizeSampled(changed, 1, 2)


def test_what_no_theorem_covers_is_refused() -> None:
    with pytest.raises(NotPromised, match="sample of a sample"):
        acc.for_group(ev.PoissonSampled(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.5"), "0.5"), 2)
    with pytest.raises(NotPromised):
        acc.for_group(ev.FixedSizeSampled(ev.GaussianNoise(1, 1), 1, 10), 2)
    with pytest.raises(InvalidParameter):
        GroupSampled(ev.GaussianNoise(1, 1), "0.5", 0)
    with pytest.raises(NotPromised):
        pld.epsilon(acc.for_group(ev.PoissonSampled(ev.ZCDPLoss(1), "0.5"), 2), 1e-5)
    large: Any = acc.for_group(ev.PoissonSampled(ev.GaussianNoise(100, 1), "0.001"), 100)
    assert large.together == ev.PoissonSampled(ev.GaussianNoise(100, 100), "0.1")
    assert acc.epsilon(large, 1e-6).upper == acc.epsilon(large.together, 1e-6).upper
    assert renyi(large, 8) == renyi(large.together, 8)
    everybody: Any = acc.for_group(ev.PoissonSampled(ev.GaussianNoise(100, 1), 1), 3)
    assert acc.epsilon(everybody, 1e-6) == acc.epsilon(ev.GaussianNoise(100, 3), 1e-6)
    event = acc.for_group(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.5"), 5)
    assert ev.event_from_json(event.to_json()) == event


def test_rates_of_any_length_and_size_have_weights() -> None:
    noise = ev.GaussianNoise(1, 1)
    rare = acc.epsilon(acc.for_group(ev.PoissonSampled(noise, "1e-90"), 5), 1e-6)
    assert 0 <= rare.lower <= rare.upper < 1e-5  # the chance of all five, 1e-450, is no double
    assert renyi(acc.for_group(ev.PoissonSampled(noise, "1e-90"), 5), 2) < 1e-9
    assert renyi(acc.for_group(ev.PoissonSampled(ev.GaussianNoise(1, 1, "replace"), "1e-90"), 5), 2) < 1e-9
    long = acc.for_group(ev.PoissonSampled(noise, "0.01" + "3" * 880), 8)
    short = acc.for_group(ev.PoissonSampled(noise, "0.01" + "3" * 40), 8)
    assert max(w.denominator.bit_length() for w in long.weights) < 2000  # type: ignore[attr-defined]
    for w, v in zip(long.weights, short.weights, strict=True):  # type: ignore[attr-defined]
        assert abs(w / v - 1) < Fraction(1, 10**35)
    assert acc.epsilon(long, 1e-6).upper == pytest.approx(acc.epsilon(short, 1e-6).upper, rel=1e-9)
    with pytest.raises(InvalidParameter):
        GroupSampled(noise, "1e-400", 5)


def test_many_different_groups_are_bounded_by_larger_and_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, rates, noises = (2, 3, 4, 5), ("0.01", "0.011", "0.012", "0.2"), (4, "4.1", "4.2", 5)
    event = acc.compose(
        *(
            acc.for_group(ev.PoissonSampled(ev.GaussianNoise(sigma, 1), rate), k)
            for k, rate, sigma in zip(sizes, rates, noises, strict=True)
        )
    )
    exact = acc.epsilon(event, 1e-5)
    monkeypatch.setattr(rules, "MANY_GROUPS", 2)
    few = rules.bounded(rules.parts(event))
    assert len(few) == 2
    assert sum(count for _, _, count in few) == 4
    assert all(high.size >= low.size and high.rate >= low.rate for high, low, _ in few)  # type: ignore[attr-defined]
    found = acc.epsilon(event, 1e-5)
    assert found.lower <= exact.lower <= exact.upper <= found.upper < 1.3 * exact.upper


def test_what_a_moment_of_a_group_may_take_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    terms: list[int] = []
    real = group_samples._log_ratio

    def counted(z: Any, mu: float, weights: tuple[Fraction, ...]) -> Any:
        terms.append(z.size * len(weights))
        return real(z, mu, weights)

    monkeypatch.setattr(group_samples, "_log_ratio", counted)
    little, much = (acc.for_group(ev.PoissonSampled(ev.GaussianNoise(s, 1), "0.01"), 64) for s in (1, 10))
    assert renyi(little, "2.5") <= renyi(little.together, "2.5")  # type: ignore[attr-defined]
    assert renyi(much, "2.5") < renyi(much.together, "2.5") / 2  # type: ignore[attr-defined]
    assert 0 < max(terms) < 2**22 + 1000
