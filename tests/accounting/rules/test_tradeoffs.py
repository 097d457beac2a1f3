"""Trade-off curves against the tests an adversary can really run on finite and Gaussian mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.rules.gaussian import gaussian_delta
from curador.accounting.rules.tradeoffs import (
    Tradeoff,
    grid,
    implied_mu,
    mu,
    mu_delta,
    mu_epsilon,
    mu_for,
    mu_tradeoff,
    tradeoff,
)
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import ZCDP, ApproxDP, PureDP

NORMAL = NormalDist()

laws = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def _profile(p: list[Fraction], q: list[Fraction], epsilon: float) -> float:
    e = math.exp(epsilon)
    one = sum(max(0.0, float(a) - e * float(b)) for a, b in zip(p, q, strict=True))
    return max(one, sum(max(0.0, float(b) - e * float(a)) for a, b in zip(p, q, strict=True)))


@given(laws, laws, st.lists(st.floats(0, 4), min_size=1, max_size=4))
def test_no_test_on_a_finite_mechanism_beats_the_bound(a: list[int], b: list[int], at: list[float]) -> None:
    """Every set of outputs is a test; its two errors must lie on or above the curve, whatever points draw it."""
    p, q = [Fraction(x, sum(a)) for x in a], [Fraction(x, sum(b)) for x in b]
    curve = Tradeoff(tuple(ApproxDP(e, min(1.0, _profile(p, q, e) * (1 + 1e-12))) for e in at))
    for accuse in itertools.product((False, True), repeat=4):
        fpr = sum((q[i] for i in range(4) if accuse[i]), Fraction(0))
        tpr = sum((p[i] for i in range(4) if accuse[i]), Fraction(0))
        assert curve.fnr(fpr) <= float(1 - tpr) + 1e-9
        assert curve.tpr(fpr) >= float(tpr) - 1e-9
        assert curve.advantage() >= float(tpr - fpr) - 1e-9
        for prior in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
            assert curve.error(prior) <= float((1 - prior) * fpr + prior * (1 - tpr)) + 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 20.0])
def test_randomised_response_attains_the_pure_bound(epsilon: float) -> None:
    lie = 1 / (1 + math.exp(epsilon))
    curve = tradeoff(epsilon)
    assert curve.fnr(lie) == pytest.approx(lie, rel=1e-6)
    assert curve.error() == pytest.approx(lie, rel=1e-5)
    assert curve.advantage() == pytest.approx(math.tanh(epsilon / 2))
    ((x, f),) = curve.corners()[1:-1]
    assert x == pytest.approx(lie, rel=1e-12)
    assert f == pytest.approx(lie, rel=1e-12)


@given(st.floats(0, 5), st.floats(0, 0.5))
def test_one_point_in_closed_form(epsilon: float, delta: float) -> None:
    e, curve = math.exp(epsilon), tradeoff(ApproxDP(epsilon, delta))
    assert curve.advantage() == pytest.approx((e - 1 + 2 * delta) / (e + 1), abs=1e-9)
    assert curve.error() == pytest.approx((1 - delta) / (1 + e), abs=1e-9)
    for a in (0.0, 0.01, 0.3, 1.0):
        assert curve.fnr(a) == pytest.approx(max(0, 1 - delta - e * a, (1 - delta - a) / e), abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0, 6), st.floats(0, 0.3)), min_size=1, max_size=6), st.floats(0, 1), st.floats(0, 1)
)
def test_corners_describe_the_same_curve(points: list[tuple[float, float]], a: float, prior: float) -> None:
    """Between its corners the curve is straight, and the error is its smallest weighted sum on a fine grid."""
    curve = Tradeoff(tuple(ApproxDP(e, d) for e, d in points))
    corners = curve.corners()
    assert [x for x, _ in corners] == sorted(x for x, _ in corners)
    for (x, f), (y, g) in itertools.pairwise(corners):
        if x <= a <= y and y > x:
            assert f + (g - f) * (a - x) / (y - x) == pytest.approx(curve.fnr(a), abs=1e-9)
    brute = min((1 - prior) * x + prior * curve.fnr(x) for x in grid(400))
    assert curve.error(prior) <= brute + 1e-12
    assert curve.error(prior) >= brute - 0.01


@pytest.mark.parametrize("m", [0.1, 1.0, 3.0])
def test_a_gaussian_profile_gives_the_gaussian_curve(m: float) -> None:
    """Sampled from its profile, the curve of Gaussian noise is Phi(Phi^-1(1 - a) - mu), approached from below."""
    curve = Tradeoff.from_profile(lambda e: gaussian_delta(1, m, e))
    for a in (0.001, 0.05, 0.5, 0.95):
        exact = NORMAL.cdf(NORMAL.inv_cdf(1 - a) - m)
        assert curve.fnr(a) <= exact
        assert curve.fnr(a) >= exact - 0.002
        assert mu_tradeoff(m, a) == pytest.approx(exact, rel=1e-9)
        assert mu_tradeoff(m, a) <= exact * (1 + 1e-14)
    assert curve.advantage() == pytest.approx(2 * NORMAL.cdf(m / 2) - 1, abs=1e-3)


def test_small_rates_keep_their_digits() -> None:
    assert tradeoff(0).tpr("1e-20") == pytest.approx(1e-20, rel=1e-9)
    assert tradeoff(ApproxDP(1, 1e-30)).tpr("1e-25") == pytest.approx(math.e * 1e-25, rel=1e-4)
    assert tradeoff(ApproxDP(1, 1e-30)).tpr("1e-25") >= math.e * 1e-25


def test_promises_of_every_kind() -> None:
    assert tradeoff([ApproxDP(1, 0)]) == tradeoff((ApproxDP(1, 0),)) == tradeoff("1")
    assert tradeoff(PureDP(math.inf)).fnr(0) == 0
    assert tradeoff(800).tpr(0.1) == 1
    assert tradeoff(tradeoff(1)) == tradeoff(1)
    with pytest.raises(NotPromised):
        tradeoff(ZCDP(1))
    with pytest.raises(InvalidParameter):
        tradeoff(-1)
    with pytest.raises(InvalidParameter):
        tradeoff([])
    with pytest.raises(InvalidParameter):
        tradeoff(1).fnr(1.5)
    assert tradeoff(1).curve(11).lines[0][1][0] == pytest.approx(1)


# ---- Gaussian differential privacy --------------------------------------------------------------------------------


def test_mu_of_events_and_back() -> None:
    noise = events.GaussianNoise(Fraction(3), Fraction(2))
    assert mu(9 * noise) == 2.0
    assert mu(noise + events.GaussianNoise(Fraction(1), Fraction(1))) == pytest.approx(math.hypot(2 / 3, 1))
    assert mu(events.NOTHING) == 0
    with pytest.raises(NotPromised, match="not Gaussian"):
        mu(events.LaplaceNoise(Fraction(1), Fraction(1)))
    for m in (0.1, 1.0, 4.0):
        epsilon = mu_epsilon(m, 1e-5)
        assert mu_delta(m, epsilon) <= 1e-5
        assert mu_for(epsilon, 1e-5) == pytest.approx(m, rel=1e-9)
        with mpmath.workdps(40):
            t = mpmath.mpf(epsilon) / m
            exact = mpmath.ncdf(m / 2 - t) - mpmath.exp(epsilon) * mpmath.ncdf(-m / 2 - t)
        assert mu_delta(m, epsilon) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 20.0])
def test_a_pure_promise_implies_a_mu_and_no_smaller_one(epsilon: float) -> None:
    m = implied_mu(epsilon)
    assert m == pytest.approx(-2 * NORMAL.inv_cdf(1 / (1 + math.exp(epsilon))), rel=1e-6)
    curve = tradeoff(epsilon)
    for a in grid(50):
        assert mu_tradeoff(m, a) <= curve.fnr(a) + 1e-9
    lie = 1 / (1 + math.exp(epsilon))
    assert mu_tradeoff(m * 0.99, lie) > lie


def test_laplace_points_imply_less_than_their_pure_epsilon() -> None:
    profile = [ApproxDP(e, max(0.0, 1 - math.exp((e - 1) / 2)) * (1 + 1e-12)) for e in grid(41)]
    assert profile[-1].delta == 0
    assert 0.5 < implied_mu(profile) < implied_mu(1)


def test_delta_alone_implies_no_mu() -> None:
    with pytest.raises(NotPromised, match="delta = 0"):
        implied_mu(ApproxDP(1, 1e-9))
