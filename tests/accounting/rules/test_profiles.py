"""delta(epsilon) of every event against its definition, and the laws it must obey."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.events import Event
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules.gaussian import discrete_gaussian_delta, gaussian_delta
from curador.accounting.rules.profiles import delta, log_delta, pure_epsilon
from curador.accounting.theorems import LawPair
from curador.errors import NotPromised
from curador.numbers import up
from curador.privacy import Neighbors
from tests import strategies
from tests.seeded import examples

ev: Any = events  # whose parameters may be written as any number
F = Fraction
REPLACE = Neighbors.REPLACE
epsilons = st.fractions(F(1, 100), 8, max_denominator=1000)


def number(x: Fraction | int) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def assert_just_above(computed: float, true: mp.mpf, close: float = 3e-12) -> None:
    assert true <= computed
    assert computed <= true * (1 + mp.mpf(close)) + mp.mpf(10) ** -300


def integrated(
    density: Callable[[mp.mpf], mp.mpf], shift: Fraction, epsilon: Fraction, corners: list[Fraction]
) -> mp.mpf:
    """The definition, by numerical integration of max(0, p(x) - e**epsilon p(x - shift)) between its corners."""
    with mp.workdps(20):
        ratio = mp.e ** number(epsilon)

        def excess(x: mp.mpf) -> mp.mpf:
            return max(mp.mpf(0), density(x) - ratio * density(x - number(shift)))

        return mp.quad(excess, sorted({number(c) for c in corners}))


# ---- noise -----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.fractions(F(1, 5), 5), st.fractions(F(1, 5), 5), st.fractions(0, 6))
def test_laplace_is_its_definition(scale: Fraction, shift: Fraction, epsilon: Fraction) -> None:
    threshold = (shift - epsilon * scale) / 2
    corners = [-40 * scale, -12 * scale, -3 * scale, F(0), max(F(0), threshold), shift, shift + 1]
    with mp.workdps(20):
        b = number(scale)
        true = integrated(lambda x: mp.exp(-abs(x) / b) / (2 * b), shift, epsilon, corners)
    computed = delta(ev.LaplaceNoise(scale, shift), epsilon)
    if epsilon >= shift / scale:
        assert computed == 0
        assert true < mp.mpf(10) ** -17
    else:
        assert computed == pytest.approx(float(true), rel=1e-9, abs=1e-15)


def geometric_oracle(scale: Fraction, shift: int, epsilon: Fraction) -> mp.mpf:
    with mp.workdps(50):
        r = mp.exp(-1 / number(scale))
        reach = shift + int(120 * scale) + 5
        weight = {x: r ** abs(x) for x in range(-reach - shift, reach + 1)}
        ratio = mp.e ** number(epsilon)
        excess = (weight[x] - ratio * weight[x - shift] for x in range(-reach, reach + 1))
        return mp.fsum(max(mp.mpf(0), e) for e in excess) * (1 - r) / (1 + r)


@settings(max_examples=40)
@given(st.fractions(F(1, 5), 6), st.integers(1, 12), st.fractions(0, 5))
def test_discrete_laplace_is_its_definition(scale: Fraction, shift: int, epsilon: Fraction) -> None:
    assert_just_above(delta(ev.DiscreteLaplaceNoise(scale, shift), epsilon), geometric_oracle(scale, shift, epsilon))


def test_discrete_laplace_at_a_scale_of_a_trillion() -> None:
    event = ev.DiscreteLaplaceNoise(2**40, 2**40)
    with mp.workdps(60):  # the geometric sums in closed form, to sixty digits
        b, s, e = mp.mpf(2**40), 2**40, mp.mpf(1) / 2
        k = 2**38 - 1  # the last integer below (s - b / 2) / 2
        r = mp.exp(-1 / b)
        true = 1 - r ** (k + 1) / (1 + r) - mp.exp(e) * r ** (s - k) / (1 + r)
    assert_just_above(delta(event, F(1, 2)), true)
    assert delta(event, F(1, 2)) == pytest.approx(delta(ev.LaplaceNoise(1, 1), F(1, 2)), rel=1e-9)
    assert_just_above(delta(ev.DiscreteLaplaceNoise(2**40, 1), 0), 1 - 2 * r / (1 + r))


@settings(max_examples=40)
@given(st.fractions(F(1, 5), 5), st.fractions(F(1, 5), 5), st.fractions(F(1, 5), 8), st.fractions(0, 6))
def test_truncated_laplace_is_its_definition(
    scale: Fraction, shift: Fraction, bound: Fraction, epsilon: Fraction
) -> None:
    with mp.workdps(30):
        b, limit = number(scale), number(bound)
        mass = 2 * b * (1 - mp.exp(-limit / b))

        def density(x: mp.mpf) -> mp.mpf:
            return mp.exp(-abs(x) / b) / mass if abs(x) <= limit else mp.mpf(0)

        threshold = (shift - epsilon * scale) / 2
        corners = [-bound, bound, F(0), shift, shift - bound, threshold]
        corners = [c for c in corners if -bound <= c <= bound]
        true = integrated(density, shift, epsilon, corners)
    assert delta(ev.TruncatedLaplaceNoise(scale, shift, bound), epsilon) == pytest.approx(
        float(true), rel=1e-8, abs=1e-12
    )


def test_truncated_laplace_at_1000_as_the_course_has_it() -> None:
    event = ev.TruncatedLaplaceNoise(scale=1, sensitivity=1, bound=1000)
    with mp.workdps(50):
        true = mp.log((mp.e - 1) / (2 * (mp.exp(1000) - 1)))
    assert pure_epsilon(event) == math.inf
    assert delta(event, 1) == delta(event, 700) == 5e-324
    assert true <= log_delta(event, 1) <= true + 1e-9
    assert log_delta(event, 1) / math.log(10) == pytest.approx(-434.36, abs=0.01)  # 4e-435, not the course's 1e-43


def test_gaussians_are_those_of_their_module() -> None:
    assert delta(ev.GaussianNoise(2, 3), 1) == gaussian_delta(2, 3, 1)
    assert delta(ev.DiscreteGaussianNoise(2, 9), 1) == discrete_gaussian_delta(2, 3, 1)
    assert delta(ev.DiscreteGaussianNoise(2, 15), 1) == discrete_gaussian_delta(2, 3, 1)  # integers: 15 is as good as 9
    assert delta(ev.DiscreteGaussianNoise(2, 9, dimension=2), 1) >= gaussian_delta(F(2) ** 1, 3, 1)


# ---- choices and worst cases -----------------------------------------------------------------------------------


def responses(k: int, truth: Fraction) -> FiniteMechanism:
    other = (1 - truth) / (k - 1)
    return FiniteMechanism([[truth if i == j else other for j in range(k)] for i in range(k)])


@given(st.integers(2, 5), st.fractions(0, 1, max_denominator=50), st.fractions(0, 4))
def test_randomized_response_is_its_matrix(k: int, truth: Fraction, epsilon: Fraction) -> None:
    event, matrix = ev.RandomizedAnswer(k, truth), responses(k, truth)
    assert delta(event, epsilon) == pytest.approx(matrix.delta(epsilon), rel=1e-11, abs=0)
    pure = pure_epsilon(event)
    assert (pure if pure == math.inf else up(F(pure))) == matrix.epsilon


def test_randomized_response_next_to_its_own_epsilon() -> None:
    event = ev.RandomizedAnswer(2, F(3, 4))
    with mp.workdps(60):
        epsilon = F(int(mp.floor(mp.log(3) * 10**30)), 10**30)
        true = F(3, 4) - number(F(1, 4)) * mp.e ** number(epsilon)
    assert 0 < true < mp.mpf(10) ** -29
    assert_just_above(delta(event, epsilon), true)
    assert delta(event, F(11, 10)) == 0


@given(epsilons, st.fractions(0, 8))
def test_worst_pure_event_is_binary_randomized_response(epsilon0: Fraction, epsilon: Fraction) -> None:
    with mp.workdps(40):
        e0, e = mp.e ** number(epsilon0), mp.e ** number(epsilon)
        true = max(mp.mpf(0), (e0 - e) / (1 + e0))
    assert_just_above(delta(ev.PureLoss(epsilon0), epsilon), true)
    assert delta(ev.LaplaceNoise(1, epsilon0), epsilon) <= delta(ev.PureLoss(epsilon0), epsilon) * (1 + 1e-11)


@given(epsilons, st.fractions(0, 1), st.fractions(0, 8))
def test_worst_approximate_event_is_the_four_point_pair(epsilon0: Fraction, d0: Fraction, epsilon: Fraction) -> None:
    with mp.workdps(40):
        e0, e, d = mp.e ** number(epsilon0), mp.e ** number(epsilon), number(d0)
        high, low = (1 - d) * e0 / (1 + e0), (1 - d) / (1 + e0)
        true = d + max(mp.mpf(0), high - e * low)
    computed = delta(ev.ApproxLoss(epsilon0, d0), epsilon)
    assert min(mp.mpf(1), true) <= computed <= true * (1 + mp.mpf(3e-12))


@given(epsilons, st.fractions(0, 8), st.fractions(0, 1))
def test_bounded_range_profile_is_the_worst_two_point_loss(epsilon0: Fraction, epsilon: Fraction, at: Fraction) -> None:
    with mp.workdps(40):
        e0, e = number(epsilon0), number(epsilon)

        def two_point(t: mp.mpf) -> mp.mpf:  # losses t and t - e0 under P, with the masses that make Q a law
            p = (mp.e**e0 - mp.e**t) / (mp.e**e0 - 1)
            return p * max(mp.mpf(0), 1 - mp.e ** (e - t))

        computed = delta(ev.ExponentialChoice(epsilon0), epsilon)
        assert two_point(number(at) * e0) <= computed
        if epsilon < epsilon0:
            assert_just_above(computed, two_point((e0 + e) / 2))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1, 0, 1])), min_size=2, max_size=5), st.fractions(0, 3))
def test_real_exponential_mechanisms_stay_within_bounded_range(
    scores: list[tuple[int, int]], epsilon: Fraction
) -> None:
    # Scores of two neighbours differ by at most 1; the weights exp(score / 2) are epsilon = 1 at sensitivity 1.
    one = [mp.exp(mp.mpf(s) / 2) for s, _ in scores]
    two = [mp.exp(mp.mpf(s + d) / 2) for s, d in scores]
    p, q = [w / mp.fsum(one) for w in one], [w / mp.fsum(two) for w in two]
    true = mp.fsum(max(mp.mpf(0), a - mp.e ** number(epsilon) * b) for a, b in zip(p, q, strict=True))
    assert true <= delta(ev.ExponentialChoice(1), epsilon) + 1e-14


# ---- events made of one event ----------------------------------------------------------------------------------


@given(st.fractions(F(51, 100), F(99, 100)), st.fractions(0, 1), st.fractions(0, 4))
def test_poisson_sample_of_a_coin_is_its_mixture(truth: Fraction, rate: Fraction, epsilon: Fraction) -> None:
    absent, present = [1 - truth, truth], [truth, 1 - truth]
    mixture = [(1 - rate) * a + rate * b for a, b in zip(absent, present, strict=True)]
    true = FiniteMechanism([absent, mixture]).delta(epsilon)
    event = ev.PoissonSampled(ev.RandomizedAnswer(2, truth, Neighbors.ADD_REMOVE), rate)
    assert true <= delta(event, epsilon) * (1 + 1e-12) + 1e-300
    assert FiniteMechanism([absent, mixture]).epsilon <= up(F(pure_epsilon(event)))


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=9, max_size=9), st.fractions(0, 1), st.fractions(0, 3))
def test_fixed_size_sample_of_any_three_neighbours(masses: list[int], rate: Fraction, epsilon: Fraction) -> None:
    rows = [[F(x, sum(row)) for x in row] for row in (masses[:3], masses[3:6], masses[6:])]
    whole = FiniteMechanism(rows)  # all three databases are one replacement apart
    mixed = FiniteMechanism(
        [[(1 - rate) * o + rate * x for o, x in zip(rows[0], row, strict=True)] for row in rows[1:]]
    )
    batch = ev.FixedSizeSampled(ev.ApproxLoss(1, 1, REPLACE), rate.numerator or 1, rate.denominator)
    inner = math.log(1 + (math.exp(epsilon) - 1) / float(batch.batch / batch.population)) if rate else 0.0
    if rate:
        # The rule's formula with the exact profile of this mechanism in the place of an event's.
        assert mixed.delta(epsilon) <= float(rate) * whole.delta(inner * (1 - 1e-12)) + 1e-12
        sampled = ev.FixedSizeSampled(
            ev.PureLoss(F(whole.epsilon) + F(1, 10**9), REPLACE), batch.batch, batch.population
        )
        assert mixed.delta(epsilon) <= delta(sampled, epsilon) + 1e-15
        assert mixed.epsilon <= pure_epsilon(sampled)


def test_replace_neighbours_gain_no_pure_epsilon_from_poisson_sampling() -> None:
    # Without the unit the mechanism may never say what it says with it, so the ratio stays e**epsilon.
    with_a, with_b, without = [F(3, 4), F(1, 4), F(0)], [F(1, 4), F(3, 4), F(0)], [F(0), F(0), F(1)]
    rows = [[(x + o) / 2 for x, o in zip(row, without, strict=True)] for row in (with_a, with_b)]
    event = ev.PoissonSampled(ev.RandomizedAnswer(2, F(3, 4)), F(1, 2))
    assert FiniteMechanism(rows).worst_ratio == 3
    assert pure_epsilon(event) == pure_epsilon(event.event)
    assert (
        FiniteMechanism(rows).delta(F(1, 2)) <= delta(event, F(1, 2)) <= delta(event.event, F(1, 2)) / 2 * (1 + 1e-11)
    )


def test_parts_and_compositions() -> None:
    one, two = ev.LaplaceNoise(1, 1), ev.LaplaceNoise(2, 1)
    assert delta(ev.Parallel((one, two)), F(1, 4)) == delta(one, F(1, 4))
    assert delta(ev.Parallel(()), 0) == delta(ev.NOTHING, 0) == 0
    assert delta(ev.compose(one), F(1, 4)) == delta(one, F(1, 4))
    for event in (2 * one, ev.Parallel((ev.LaplaceNoise(1, 1, REPLACE), ev.LaplaceNoise(2, 1, REPLACE)))):
        with pytest.raises(NotPromised, match="compos"):
            delta(event, 1)
    assert delta(ev.FixedSizeSampled(one, 1, 10), 1) == delta(ev.PoissonSampled(ev.LaplaceNoise(1, 2), "0.1"), 1)


# ---- pure epsilon ----------------------------------------------------------------------------------------------


def test_pure_epsilons() -> None:
    laplace, other = ev.LaplaceNoise(3, 2), ev.DiscreteLaplaceNoise(2, 3)
    assert pure_epsilon(laplace) == F(2, 3)
    assert pure_epsilon(2 * laplace + other) == 2 * F(2, 3) + F(3, 2)
    assert pure_epsilon(ev.Parallel((laplace, other, other))) == F(3, 2)
    assert pure_epsilon(ev.ExponentialChoice(F(1, 7))) == F(1, 7)
    assert pure_epsilon(ev.ApproxLoss(F(1, 7), 0)) == F(1, 7)
    for unbounded in (
        ev.GaussianNoise(1, 1),
        ev.DiscreteGaussianNoise(1, 1),
        ev.TruncatedLaplaceNoise(1, 1, 1),
        ev.ZCDPLoss(1),
        ev.ApproxLoss(1, F(1, 10)),
        ev.RandomizedAnswer(2, 1),
        laplace + ev.GaussianNoise(1, 1),
    ):
        assert pure_epsilon(unbounded) == math.inf


def test_parallel_under_replace_is_the_two_largest_not_the_largest() -> None:
    coin = FiniteMechanism([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    # One unit moves from the first part to the second: both coins turn.
    both = FiniteMechanism([[a * b for a in coin.matrix[i] for b in coin.matrix[1 - i]] for i in (0, 1)])
    event = ev.Parallel(tuple(ev.RandomizedAnswer(2, p) for p in (F(3, 4), F(3, 4), F(2, 3))))
    assert both.epsilon == up(F(pure_epsilon(event)))
    assert both.epsilon > 1.9 * up(F(pure_epsilon(event.parts[0])))


@given(st.fractions(F(1, 100), 20), st.fractions(F(1, 10**6), 1))
def test_dilution_rounds_up(epsilon: Fraction, rate: Fraction) -> None:
    with mp.workdps(60):
        true = mp.log(1 + number(rate) * (mp.e ** number(epsilon) - 1))
        computed = F(pure_epsilon(ev.PoissonSampled(ev.PureLoss(epsilon), rate)))
        assert true * (1 - mp.mpf(10) ** -50) <= number(computed) <= true * (1 + mp.mpf(10) ** -30)


# ---- laws over every event -------------------------------------------------------------------------------------


@examples(150)
@given(strategies.events, st.fractions(-20, 10**6), st.fractions(0, 5))
def test_a_profile_is_a_falling_probability(event: Event, epsilon: Fraction, more: Fraction) -> None:
    try:
        here, there = delta(event, epsilon), delta(event, epsilon + more)
    except NotPromised:  # and nothing else
        return
    assert 0 <= there <= here * (1 + 1e-11) <= 1 + 1e-11


@examples(100)
@given(strategies.events)
def test_nothing_is_lost_beyond_the_pure_epsilon(event: Event) -> None:
    try:
        pure = pure_epsilon(event)
        if pure != math.inf:
            assert delta(event, F(pure)) <= 1e-30
    except NotPromised:
        pass


@given(
    st.sampled_from([ev.LaplaceNoise(1, 1), ev.GaussianNoise(1, 1), ev.PureLoss(1), ev.RandomizedAnswer(3, "1/2")]),
    st.fractions(F(1, 100), 5),
)
def test_negative_epsilon_is_the_other_order_of_the_pair(event: Event, epsilon: Fraction) -> None:
    positive, negative = delta(event, epsilon), delta(event, -epsilon)
    assert negative == pytest.approx(1 - math.exp(-epsilon) * (1 - positive), rel=1e-10)


def test_negative_epsilon_on_a_matrix() -> None:
    assert delta(ev.RandomizedAnswer(3, F(1, 2)), -1) == pytest.approx(responses(3, F(1, 2)).delta(-1), rel=1e-11)


def test_an_unknown_event_is_refused() -> None:
    class Odd(Event, kind="odd-profile"):
        neighbors = Neighbors.ADD_REMOVE

    try:
        with pytest.raises(NotPromised, match="Odd"):
            delta(Odd(), 1)
        with pytest.raises(NotPromised, match="Odd"):
            pure_epsilon(Odd())
    finally:
        ev.KINDS.pop("odd-profile")


@pytest.mark.parametrize("far", [16, 35, 61, 90])
def test_a_pure_epsilon_is_not_0_however_small_it_is(far: int) -> None:
    """Sixty digits do not tell 1 + 1e-61 from 1; but 1e62 releases at 1e-61 cost 10, and a filter charges each."""
    x = Fraction(1, 10**far)
    response: Any = ev.RandomizedAnswer(2, Fraction(1, 2) + x, Neighbors.ADD_REMOVE)
    pair = LawPair((Fraction(1, 2) + x, Fraction(1, 2) - x), (Fraction(1, 2) - x, Fraction(1, 2) + x))
    for event in (response, pair):
        assert 4 * x <= pure_epsilon(event) <= 4 * x * (1 + 3 * x)
    for rate in (Fraction(1, 2), Fraction(1, 10**20), Fraction(1, 10**90)):
        sampled: Any = ev.PoissonSampled(ev.LaplaceNoise(1 / x, Fraction(1)), rate)
        # By concavity log(1 + q (e**x - 1)) >= q x, and it is at most q (e**x - 1).
        assert rate * x <= pure_epsilon(sampled) <= rate * x * (1 + x + Fraction(1, 10**39))
