"""Optimal composition against enumeration of all outputs, binomial sums and arbitrary finite mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting import optimal
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, PureDP

Pair = tuple[list[mpmath.mpf], list[mpmath.mpf]]


def worst(epsilon: Fraction, delta: Fraction) -> Pair:
    """The worst (epsilon, delta)-DP pair: four outputs, two of which give the database away [KOV15]."""
    e = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    d = mpmath.mpf(delta.numerator) / delta.denominator
    truth, lie = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    return [d, truth, lie, mpmath.mpf(0)], [mpmath.mpf(0), lie, truth, d]


def product(pairs: list[Pair]) -> Pair:
    p, q = [mpmath.mpf(1)], [mpmath.mpf(1)]
    for a, b in pairs:
        p, q = [x * y for x in p for y in a], [x * y for x in q for y in b]
    return p, q


def meant(x: float) -> mpmath.mpf:
    """A float stands for the decimal it prints as."""
    return mpmath.mpf(rational(x).numerator) / rational(x).denominator


def hockey_stick(pair: Pair, epsilon: float) -> mpmath.mpf:
    e = mpmath.exp(meant(epsilon))
    return mpmath.fsum(max(mpmath.mpf(0), x - e * y) for x, y in zip(*pair, strict=True))


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(1, 0, 1), (1, 0, 6), ("0.3", 0, 7), (2, "0.01", 5), ("0.1", "1e-9", 5)]
)
def test_optimal_delta_is_the_enumerated_divergence(epsilon: object, delta: object, k: int) -> None:
    eps, d = rational(epsilon), rational(delta)
    with mpmath.workdps(50):
        pair = product([worst(eps, d)] * k)
        for x in (0.0, 0.05, 0.31, float(eps), 1.7, k * float(eps) * 0.75, k * float(eps)):
            exact = hockey_stick(pair, x)
            got = meant(optimal.optimal_delta(ApproxDP(float(eps), float(d)), k, x))
            assert exact - mpmath.mpf("1e-48") <= got <= exact * (1 + mpmath.mpf(2) ** -50) + mpmath.mpf("1e-44")


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1, 0, 1), (1, 0, 7), ("0.3", 0, 8), (2, "0.01", 5)])
def test_optimal_epsilon_is_the_exact_inverse(epsilon: object, delta: object, k: int) -> None:
    eps, d = rational(epsilon), rational(delta)
    each = ApproxDP(float(eps), float(d))
    with mpmath.workdps(50):
        pair = product([worst(eps, d)] * k)
        for wanted in (0.9, 0.5, 0.2, 0.06):
            x = optimal.optimal_epsilon(each, k, wanted)
            assert hockey_stick(pair, x) <= meant(wanted)
            assert x == 0 or hockey_stick(pair, x - 1e-13) > wanted


def test_published_values_and_no_overflow() -> None:
    each = ApproxDP(1, 0.001)
    for wanted, corner in ((0.06, 22), (0.1, 20)):
        corners = optimal.optimal_corners(each, 30)
        assert min(c.epsilon for c in corners if c.delta <= wanted) == corner
        # Between the corners the exact answer is a little smaller than the published corner.
        assert corner - 1 < optimal.optimal_epsilon(each, 30, wanted) < corner
    assert optimal.optimal_epsilon(PureDP(0.01), 10_000, 1e-6) == pytest.approx(4.885516, abs=5e-7)
    assert optimal.optimal_epsilon(PureDP(50), 10_000, 1e-6) <= 500_000


def test_large_k_against_a_binomial_sum() -> None:
    """The same sum written with mpmath's binomials, 40 digits and no recurrence."""
    k = 2000
    with mpmath.workdps(40):
        eps, x = mpmath.mpf(1) / 20, mpmath.mpf(39) / 4
        lie = 1 / (1 + mpmath.exp(eps))
        exact = mpmath.fsum(
            mpmath.binomial(k, j) * lie**j * (1 - lie) ** (k - j) * (1 - mpmath.exp(x - (k - 2 * j) * eps))
            for j in range(k + 1)
            if (k - 2 * j) * eps > x
        )
        got = meant(optimal.optimal_delta(PureDP(0.05), k, 9.75))
        assert exact <= got <= exact * (1 + mpmath.mpf(2) ** -50)


@given(
    st.lists(st.integers(1, 20), min_size=2, max_size=4).flatmap(
        lambda p: st.tuples(st.just(p), st.lists(st.integers(1, 20), min_size=len(p), max_size=len(p)))
    ),
    st.integers(1, 4),
    st.floats(0, 3),
)
def test_no_mechanism_loses_more_than_the_optimal_composition(
    pq: tuple[list[int], list[int]], k: int, x: float
) -> None:
    """Any finite pair, composed exactly with fractions, stays below what its own epsilon is promised."""
    p = [Fraction(a, sum(pq[0])) for a in pq[0]]
    q = [Fraction(b, sum(pq[1])) for b in pq[1]]
    own = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    # The logarithm of a ratio near 1 loses digits unless it is taken from the difference.
    epsilon = math.log1p(float(own - 1)) * (1 + 2**-50)
    with mpmath.workdps(40):
        e = mpmath.exp(meant(x))
        exact = mpmath.fsum(
            max(
                mpmath.mpf(0),
                mpmath.mpf(math.prod(p[i] for i in way).numerator) / math.prod(p[i] for i in way).denominator
                - e * mpmath.mpf(math.prod(q[i] for i in way).numerator) / math.prod(q[i] for i in way).denominator,
            )
            for way in itertools.product(range(len(p)), repeat=k)
        )
        assert exact <= meant(optimal.optimal_delta(PureDP(max(epsilon, 0.0)), k, x)) + mpmath.mpf("1e-30")


def test_degenerate_promises() -> None:
    assert optimal.optimal_epsilon(PureDP(1), 0, 0) == 0
    assert optimal.optimal_delta(PureDP(1), 0, 0) == 0
    assert optimal.optimal_epsilon(PureDP(0), 5, 0.1) == 0
    assert optimal.optimal_epsilon(ApproxDP(0, 0.01), 5, 0.0495) == 0
    assert optimal.optimal_epsilon(PureDP(2), 3, 0) == 6
    assert optimal.optimal_epsilon(PureDP(2), 3, 1) == 0
    assert optimal.optimal_delta(PureDP(2), 3, 6) == 0
    assert optimal.optimal_delta(ApproxDP(1, 1e-300), 3, 3) == pytest.approx(3e-300)


def test_refusals() -> None:
    with pytest.raises(NotPromised, match="give"):
        optimal.optimal_epsilon(ApproxDP(1, 0.01), 10, 0.05)
    with pytest.raises(NotPromised):
        optimal.optimal_delta(ZCDP(1), 10, 1)
    with pytest.raises(InvalidParameter):
        optimal.optimal_delta(PureDP(1), 2, -1)
    with pytest.raises(InvalidParameter):
        optimal.optimal_delta(PureDP(math.inf), 2, 1)
