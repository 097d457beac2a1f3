"""Private groups: keeping probabilities in exact rationals, thresholds from exact tails, joint laws of neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting.events import ApproxLoss, DiscreteGaussianNoise, DiscreteLaplaceNoise, compose
from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms import keys
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.thresholded import Thresholded, ThresholdedGaussian, ThresholdedLaplace, _gaussian_tail
from curador.privacy import Neighbors
from tests.exact import Script, discrete_gaussian, discrete_laplace, theta
from tests.mechanisms.branches import MP, TINY, Law, delta, real
from tests.steps import at_most

ONE = 1 << keys.FINE
PARAMETERS = [
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(1, 10), Fraction(1, 1000)),
    (Fraction(8), Fraction(1, 10**30)),
    (Fraction(1, 100), Fraction(1, 2)),
    (Fraction(50), Fraction(1, 10**9)),
    (Fraction(3), Fraction(9, 10)),
]


class Nothing:
    """Entropy that must not be asked."""

    def words(self, n: int, dtype: Any) -> Any:
        raise AssertionError("something was drawn")

    def bits(self, k: int) -> int:
        raise AssertionError("something was drawn")


# ---- keeping probabilities ---------------------------------------------------------------------------------------


def holds(chances: Sequence[Fraction], epsilon: Fraction, d: Fraction) -> bool:
    """All four inequalities of (epsilon, delta)-DP between consecutive counts, with e**epsilon to 60 digits."""
    factor = MP.exp(real(epsilon))
    for a, b in itertools.pairwise(map(real, chances)):
        for p, q in ((a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)):
            if p > factor * q + real(d) + TINY * 10**-3:
                return False
    return True


def table(mechanism: OptimalKeys) -> list[Fraction]:
    return [mechanism.probability(n) for n in range(mechanism.sure + 3)]


@pytest.mark.parametrize(("epsilon", "d"), PARAMETERS)
def test_probabilities_keep_epsilon_and_delta(epsilon: Fraction, d: Fraction) -> None:
    chances = table(OptimalKeys(epsilon, d))
    assert chances[0] == 0
    assert chances[-1] == chances[-3] == 1 > chances[-4]
    assert chances == sorted(chances)
    assert holds(chances, epsilon, d)


@settings(max_examples=25)
@given(st.fractions(Fraction(1, 20), 20), st.fractions(Fraction(1, 10**12), Fraction(1, 2)))
def test_probabilities_keep_epsilon_and_delta_everywhere(epsilon: Fraction, d: Fraction) -> None:
    assert holds(table(OptimalKeys(epsilon, d)), epsilon, d)


@pytest.mark.parametrize(("epsilon", "d"), PARAMETERS)
def test_probabilities_are_the_optimum_rounded_down(epsilon: Fraction, d: Fraction) -> None:
    """The closed form of [DVGM22, Theorem 1] is an upper bound, missed by next to nothing."""
    mechanism = OptimalKeys(epsilon, d)
    e, dd = MP.exp(real(epsilon)), real(d)
    best, p = [MP.mpf(0)], MP.mpf(0)
    n1 = 1 + int(MP.floor(MP.log((e + 2 * dd - 1) / (dd * (e + 1))) / real(epsilon)))
    for n in range(1, mechanism.sure + 1):
        if n <= n1:
            p = (e**n - 1) / (e - 1) * dd
        else:
            m = n - n1
            p1 = (e**n1 - 1) / (e - 1) * dd
            p = (1 - e**-m) * (1 + dd / (e - 1)) + e**-m * p1
        best.append(min(p, MP.mpf(1)))
    for n, ideal in enumerate(best):
        found = real(mechanism.probability(n))
        assert ideal - MP.ldexp(1, -120) / real(d) <= found <= ideal + TINY  # delta itself is rounded down first


@pytest.mark.parametrize(("epsilon", "d"), PARAMETERS[:2])
def test_the_checker_sees_a_probability_rounded_up(epsilon: Fraction, d: Fraction) -> None:
    """Already two units of 2**-128 too much break an inequality."""
    chances = table(OptimalKeys(epsilon, d))
    for n in (1, len(chances) // 2, len(chances) - 4):
        wrong = [*chances[:n], chances[n] + Fraction(2, ONE), *chances[n + 1 :]]
        assert not holds(wrong, epsilon, d)


def joint(mechanism: OptimalKeys, counts: Sequence[int]) -> Law:
    """The law of which groups are kept."""
    out: Law = {}
    for kept in itertools.product((False, True), repeat=len(counts)):
        chances = [
            mechanism.probability(n) if k else 1 - mechanism.probability(n) for n, k in zip(counts, kept, strict=True)
        ]
        out[kept] = real(math.prod(chances, start=Fraction(1)))
    return out


def moved_counts(groups: int, kind: Neighbors, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Counts of the groups that a unit can change, before and after; groups that it does not change play no part."""
    joins = [1] * groups
    moves = joins if kind is Neighbors.ADD_REMOVE else joins + [-1] * groups
    for counts in itertools.product(range(most + 1), repeat=len(moves)):
        for used in itertools.product((0, 1), repeat=len(moves)):
            other = [c + m * u for c, m, u in zip(counts, moves, used, strict=True)]
            if min(other) >= 0:
                yield list(counts), other
                yield other, list(counts)


@pytest.mark.parametrize(
    ("groups", "kind"), [(1, Neighbors.ADD_REMOVE), (1, Neighbors.REPLACE), (2, Neighbors.ADD_REMOVE)]
)
def test_all_groups_together_keep_epsilon_and_delta(groups: int, kind: Neighbors) -> None:
    epsilon, d = Fraction(2), Fraction(1, 5)
    mechanism = OptimalKeys(epsilon, d, groups=groups, neighbors=kind)
    worst = max(
        delta(joint(mechanism, a), joint(mechanism, b), epsilon) for a, b in moved_counts(groups, kind, mechanism.sure)
    )
    assert real(d) / 2 < worst <= real(d)


def test_undivided_groups_are_caught() -> None:
    """Each of two groups at the whole (epsilon, delta) is not (epsilon, delta) for a unit in both."""
    alone = OptimalKeys(2, Fraction(1, 5))
    assert delta(joint(alone, [1, 1]), joint(alone, [0, 0]), Fraction(2)) > real(Fraction(1, 5)) * 1.1


def test_event_of_keys() -> None:
    assert OptimalKeys(1, "1e-6").event == ApproxLoss(1, Fraction(1, 10**6))  # type: ignore[arg-type]
    assert OptimalKeys(1, "1e-6", groups=4).event == 4 * ApproxLoss(Fraction(1, 4), Fraction(1, 4 * 10**6))
    replace = OptimalKeys(1, "1e-6", groups=2, neighbors=Neighbors.REPLACE).event
    assert replace == 4 * ApproxLoss(Fraction(1, 4), Fraction(1, 4 * 10**6), Neighbors.REPLACE)


def test_decisions_at_every_threshold() -> None:
    """The first word decides unless it equals the probability's, and then the second does: exactly U < p."""
    mechanism = OptimalKeys(1, Fraction(1, 1000))
    low = (1 << 64) - 1
    for n in range(mechanism.sure + 2):
        p = int(mechanism.probability(n) * ONE)
        near = {0, 1, p - (1 << 64), p - 1, p, p + 1, p + (1 << 64), ONE - 1}
        for u in [u for u in near if 0 <= u < ONE]:
            script = Script([u >> 64], u & low)
            assert mechanism.keep([n], entropy=script).tolist() == [u < p]


def test_many_groups() -> None:
    counts = np.arange(10**6) % 40
    for mechanism in (OptimalKeys(1, 1e-6), ThresholdedLaplace(1, 1e-6), ThresholdedGaussian(1e-6, rho=0.5)):
        mechanism.keep([1])  # tables are made once
        with at_most(20_000):  # whole arrays at a time: one by one it would be millions
            kept = mechanism.keep(counts)
        assert not kept[counts == 0].any()
        assert kept.mean() > 0.1


def test_least_and_sure() -> None:
    mechanism = OptimalKeys(1, 1e-6)
    for confidence in (0.01, 0.5, 0.95, 0.999999):
        n = mechanism.least(confidence)
        assert mechanism.probability(n) >= confidence > mechanism.probability(n - 1)
    assert mechanism.probability(mechanism.sure) == 1 > mechanism.probability(mechanism.sure - 1)


# ---- thresholds ----------------------------------------------------------------------------------------------------


def laplace_appears(scale: Fraction, k: int) -> Any:
    """P(noise >= k) to 1,200 bits."""
    q = discrete_laplace(scale, 1) / discrete_laplace(scale, 0)
    return q**k / (1 + q)


def gaussian_appears(variance: Fraction, k: int) -> Any:
    total, w, x = MP.mpf(0), MP.mpf(1), k
    while w > MP.mpf(10) ** -55 * total:
        w = MP.exp(-real(x * x / (2 * variance)))
        total, x = total + w, x + 1
    return total / MP.mpf(theta(variance))


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 20), 20), st.fractions(Fraction(1, 10**20), Fraction(1, 3)), st.integers(1, 30))
def test_laplace_threshold_is_the_least(epsilon: Fraction, d: Fraction, groups: int) -> None:
    mechanism = ThresholdedLaplace(epsilon, d, groups=groups)
    k = mechanism.threshold - 1
    assert mechanism.scale == groups / epsilon
    assert laplace_appears(mechanism.scale, k) <= real(d / groups)
    assert k == 1 or laplace_appears(mechanism.scale, k - 1) > real(d / groups)


@pytest.mark.parametrize(
    "sigma", [Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(40), Fraction(300)]
)
@pytest.mark.parametrize("d", [Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)])
def test_gaussian_threshold_is_right_and_nearly_least(sigma: Fraction, d: Fraction) -> None:
    mechanism = ThresholdedGaussian(d, sigma=sigma)
    k = mechanism.threshold - 1
    assert gaussian_appears(sigma**2, k) <= real(d)
    # The upper bound is within half a per cent, so the least k that half a per cent less allows is reached.
    assert k == 1 or gaussian_appears(sigma**2, k - 1) > real(d * Fraction(199, 200))


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 10), 50), st.integers(1, 200))
def test_gaussian_tail_is_an_upper_bound(sigma: Fraction, k: int) -> None:
    tail = real(_gaussian_tail(sigma**2, k, 300))
    exact = gaussian_appears(sigma**2, k)
    assert exact <= tail * (1 + TINY)
    assert tail <= exact * real(Fraction(201, 200)) + MP.ldexp(1, -290)


def test_the_laplace_threshold_does_not_serve_gaussian_noise() -> None:
    """The known mistake (smartnoise-sdk issue 204): tau from the Laplace formula, noise Gaussian for the same
    (epsilon, delta).  A group of one unit then appears thousands of times as often as delta says."""
    epsilon, d = 1.0, 1e-6
    sigma = math.sqrt(2 * math.log(1.25 / d)) / epsilon
    borrowed = ThresholdedLaplace(epsilon, d).threshold
    right = ThresholdedGaussian(d, sigma=sigma)
    assert gaussian_appears(right.variance, borrowed - 1) > 1000 * real(Fraction(d))
    assert gaussian_appears(right.variance, right.threshold - 1) <= real(Fraction(d))


def shown(mechanism: Thresholded, count: int, reach: int) -> Law:
    """The law of what one group shows: nothing (None), or its noisy count; noise up to ``reach`` each way."""
    if count == 0:
        return {None: MP.mpf(1)}
    out: Law = {}
    for z in range(-reach, reach + 1):
        if isinstance(mechanism, ThresholdedLaplace):
            p = MP.mpf(discrete_laplace(mechanism.scale, z))
        else:
            assert isinstance(mechanism, ThresholdedGaussian)
            p = MP.mpf(discrete_gaussian(mechanism.variance, z))
        seen = count + z if count + z >= mechanism.threshold else None
        out[seen] = out.get(seen, MP.mpf(0)) + p
    return out


def both(a: Law, b: Law) -> Law:
    return {(x, y): p * q for x, p in a.items() for y, q in b.items()}


@pytest.mark.parametrize("groups", [1, 2])
def test_thresholded_laplace_keeps_epsilon_and_delta(groups: int) -> None:
    epsilon, d = Fraction(2), Fraction(1, 50)
    mechanism = ThresholdedLaplace(epsilon, d, groups=groups)
    laws = {n: shown(mechanism, n, 25 * groups) for n in range(mechanism.threshold + 2)}
    worst = MP.mpf(0)
    for a, b in itertools.pairwise(range(mechanism.threshold + 2)):
        for c, e in itertools.pairwise(range(3)) if groups == 2 else [(0, 0)]:
            p, q = both(laws[a], laws[c]), both(laws[b], laws[e])
            worst = max(worst, delta(p, q, epsilon), delta(q, p, epsilon))
    missing = MP.mpf(10) ** -9
    assert real(d) / 4 < worst <= real(d) + missing
    # One less is too low.
    lower = mechanism.threshold - 2
    assert groups * laplace_appears(mechanism.scale, lower) > real(d)


def test_thresholded_laplace_under_replace() -> None:
    epsilon, d = Fraction(2), Fraction(1, 50)
    mechanism = ThresholdedLaplace(epsilon, d, neighbors=Neighbors.REPLACE)
    laws = {n: shown(mechanism, n, 50) for n in range(mechanism.threshold + 2)}
    for a, b in itertools.pairwise(range(mechanism.threshold + 1)):
        p, q = both(laws[a], laws[1]), both(laws[b], laws[0])  # from one group to another
        assert max(delta(p, q, epsilon), delta(q, p, epsilon)) <= real(d) + MP.mpf(10) ** -9
    # Made for add-remove, it loses twice its epsilon when a unit goes from one large group to another.
    alone = ThresholdedLaplace(epsilon, d)
    laws = {n: shown(alone, n, 50) for n in (9, 10, 11)}
    assert delta(both(laws[10], laws[10]), both(laws[11], laws[9]), epsilon) > real(d) * 5


def test_thresholded_gaussian_is_noise_and_a_rare_failure() -> None:
    """For every epsilon, delta is at most that of the noise alone plus the rare failure."""
    d = Fraction(1, 50)
    mechanism = ThresholdedGaussian(d, sigma=2)
    laws = {n: shown(mechanism, n, 40) for n in range(mechanism.threshold + 3)}
    plain = [{n + z: MP.mpf(discrete_gaussian(Fraction(4), z)) for z in range(-40, 41)} for n in (0, 1)]
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
        noise = delta(plain[0], plain[1], epsilon)
        allowed = real(d) + (1 - real(d)) * noise + MP.mpf(10) ** -9
        found = [
            max(delta(laws[a], laws[b], epsilon), delta(laws[b], laws[a], epsilon)) for a, b in itertools.pairwise(laws)
        ]
        assert max(found) <= allowed
        assert epsilon > 0 or max(found) > noise * 0.9


def test_events_of_thresholds() -> None:
    d = Fraction(1, 10**6)
    laplace = ThresholdedLaplace(Fraction(1, 2), d, groups=3)
    assert laplace.event == compose(DiscreteLaplaceNoise(Fraction(6), 3), ApproxLoss(Fraction(0), d))
    gaussian = ThresholdedGaussian(d, rho=Fraction(1, 8), groups=3, neighbors=Neighbors.REPLACE)
    assert gaussian.event == compose(
        DiscreteGaussianNoise(Fraction(24), 6, 6, Neighbors.REPLACE), ApproxLoss(Fraction(0), d, Neighbors.REPLACE)
    )


@pytest.mark.parametrize("mechanism", [ThresholdedLaplace(1, 1e-6), ThresholdedGaussian(1e-6, sigma=3)])
def test_shown_counts(mechanism: Thresholded) -> None:
    kept, noisy = mechanism.noisy([0, 1000, 2000])
    assert kept.tolist() == [False, True, True]
    assert abs(noisy[1] - 1000) < 100
    names, counts = mechanism.release(["z", "b", "a"], [0, 1000, 2000])
    assert names.tolist() == ["a", "b"]
    assert abs(counts - [2000, 1000]).max() < 100
    n = mechanism.least(0.9)
    assert mechanism.keep(np.full(2000, n)).mean() > 0.85  # a false alarm needs seven deviations
    assert mechanism.keep(np.full(2000, n - 3)).mean() < 0.9


def test_release_sorts_and_checks_keys() -> None:
    mechanism = OptimalKeys(1, 1e-6)
    assert mechanism.release([30, 10, 20], [1000, 1000, 0]).tolist() == [10, 30]
    assert mechanism.release([], []).tolist() == []
    assert mechanism.keep([]).tolist() == []
    assert mechanism.keep(np.zeros(0, np.int64)).tolist() == []
    for bad in (["a", "a"], ["a"], [["a", "b"]], [1, None]):
        with pytest.raises(InvalidValue):
            mechanism.release(bad, [5, 5], entropy=Nothing())


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism", [OptimalKeys(1, 1e-6), ThresholdedLaplace(1, 1e-6), ThresholdedGaussian(1e-6, rho=1)]
)
@pytest.mark.parametrize("counts", [[-1], [1.5], [math.nan], [[1], [2]], [[1], [2, 3]], 3, ["a"], [True], None])
def test_bad_counts_draw_nothing(mechanism: Any, counts: Any) -> None:
    with pytest.raises(InvalidValue):
        mechanism.keep(counts, entropy=Nothing())


@pytest.mark.parametrize("d", [0, 1, -1, 2, math.nan, "x"])
def test_bad_delta(d: Any) -> None:
    for make in (lambda: OptimalKeys(1, d), lambda: ThresholdedLaplace(1, d), lambda: ThresholdedGaussian(d, sigma=1)):
        with pytest.raises(InvalidParameter):
            make()


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e30])
def test_bad_epsilon(epsilon: Any) -> None:
    for kind in (OptimalKeys, ThresholdedLaplace):
        with pytest.raises(InvalidParameter):
            kind(epsilon, 1e-6)


def test_other_refusals() -> None:
    for kwargs in ({}, {"rho": 1, "sigma": 1}, {"rho": 0}, {"sigma": -1}, {"rho": 1, "groups": 0}):
        with pytest.raises(InvalidParameter):
            ThresholdedGaussian(1e-6, **kwargs)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="sure"):
        OptimalKeys(1e-9, 1e-6)
    with pytest.raises(InvalidParameter):
        OptimalKeys(1, "1e-40")
    with pytest.raises(InvalidParameter, match="does not fit"):
        ThresholdedLaplace("1e-20", 1e-6)
    with pytest.raises(InvalidParameter):
        OptimalKeys(1, 1e-6, groups=0)
