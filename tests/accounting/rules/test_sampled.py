"""Curves of sampled events against integration, brute force over finite laws, and published values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting import events
from curador.accounting.convert import improved_epsilon, renyi_epsilon
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules import sampled as sampled_renyi
from curador.accounting.rules.costs import Currency, Rule, cost
from curador.accounting.rules.divergences import renyi_divergence
from curador.accounting.rules.renyi import renyi, renyi_curve
from curador.errors import NotPromised
from curador.privacy import Neighbors

ev: Any = events  # whose parameters may be written as any number
F = Fraction
REPLACE = Neighbors.REPLACE
CLOSE = 3e-12


def number(x: Fraction | int) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def assert_just_above(computed: float, true: mp.mpf) -> None:
    assert true <= computed <= true * (1 + mp.mpf(CLOSE))


# ---- Gaussian --------------------------------------------------------------------------------------------------


def gaussian_moments(q: Fraction, mu: Fraction, alpha: Fraction) -> tuple[mp.mpf, mp.mpf]:
    """Both directions by integration: mixture against without, and without against mixture."""
    with mp.workdps(45):
        rate, m, a = number(q), number(mu), number(alpha)

        def mixture(z: mp.mpf) -> mp.mpf:
            return 1 - rate + rate * mp.exp(m * z - m * m / 2)

        far = a * m
        corners = sorted({mp.mpf(-40), mp.mpf(-8), mp.mpf(0), *(far * k / 5 for k in range(1, 6)), far + 8, far + 40})
        up_ = mp.quad(lambda z: mp.npdf(z) * mixture(z) ** a, corners)
        down_ = mp.quad(lambda z: mp.npdf(z) * mixture(z) ** (1 - a), [-40, -8, 0, 8, 40])
        return mp.log(up_) / (a - 1), mp.log(down_) / (a - 1)


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("q", "sigma", "alpha"),
    [
        ("1/100", "1", "3/2"),
        ("1/100", "1", "1000001/1000000"),
        ("1/10", "1/2", "37/4"),
        ("1/1000", "2", "5/2"),
        ("1/2", "1/4", "6/5"),
        ("1/1000000", "4", "7/3"),
        ("9/10", "10", "301/10"),
        ("1/100", "1/8", "21/10"),
        ("1/1000", "3", "101/2"),
    ],
)
def test_gaussian_at_any_real_order(q: str, sigma: str, alpha: str) -> None:
    true, other = gaussian_moments(F(q), 1 / F(sigma), F(alpha))
    assert other <= true  # why one direction is enough [MTZ19]
    assert_just_above(renyi(ev.PoissonSampled(ev.GaussianNoise(sigma, 1), q), F(alpha)), true)


@pytest.mark.parametrize("alpha", [2, 3, 17, 256])
@pytest.mark.parametrize(("q", "sigma"), [("1/100", "1"), ("1/3", "5"), ("1/100000", "1/2")])
def test_gaussian_at_integer_orders_is_the_binomial_sum(alpha: int, q: str, sigma: str) -> None:
    with mp.workdps(60):
        rate, v = number(F(q)), number(F(sigma)) ** 2
        moment = mp.fsum(
            mp.binomial(alpha, k) * rate**k * (1 - rate) ** (alpha - k) * mp.exp((k * k - k) / (2 * v))
            for k in range(alpha + 1)
        )
        true = mp.log(moment) / (alpha - 1)
    assert_just_above(renyi(ev.PoissonSampled(ev.GaussianNoise(sigma, 1), q), alpha), true)


@pytest.mark.parametrize(("alpha", "published"), [(2, 1.718134e-4), (4, 3.631540e-4), (10, 0.0382704189)])
def test_published_autodp_values(alpha: int, published: float) -> None:
    assert renyi(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01"), alpha) == pytest.approx(published, rel=1e-6)


def test_published_opacus_value() -> None:
    orders = [1 + x / 10 for x in range(1, 100)] + [float(x) for x in range(12, 64)]
    curve = renyi_curve(2250 * ev.PoissonSampled(ev.GaussianNoise("1.5", 1), "0.04"), orders)
    assert renyi_epsilon(curve, "1e-5").value == pytest.approx(7.32911117143, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "batch", "sigma", "epochs", "delta", "published", "order"),
    [
        (60000, 150, "1.3", 15, "1e-5", 0.7242234026109595, 19),
        (100000, 100, "1.0", 30, "1e-7", 1.4154988495444845, 13),
        (100000000, 1024, "0.1", 10, "1e-7", 5907982.31138195, 1.25),
    ],
)
def test_published_tf_privacy_values(
    n: int, batch: int, sigma: str, epochs: int, delta: str, published: float, order: float
) -> None:
    orders = [1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 4.5, *range(5, 64), 128, 256, 512]
    steps = -(-epochs * n // batch)
    curve = renyi_curve(steps * ev.PoissonSampled(ev.GaussianNoise(sigma, 1), F(batch, n)), orders).curve
    value, best = min((improved_epsilon(a, z, delta), a) for a, z in curve)
    assert value == pytest.approx(published, rel=1e-9)
    assert best == order
    assert renyi_epsilon(curve, delta).value <= published * (1 + 1e-9)


def test_gaussians_on_one_sample_are_one_gaussian() -> None:
    together = ev.PoissonSampled(5 * ev.GaussianNoise(3, 1) + ev.GaussianNoise(3, 2), "0.1")
    alone = ev.PoissonSampled(ev.GaussianNoise(3, 3), "0.1")  # squares add: 5 + 4 = 9
    assert renyi(together, F(5, 2)) == renyi(alone, F(5, 2))


def test_a_sample_of_a_sample_is_a_sample() -> None:
    twice = ev.PoissonSampled(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.1"), "0.2")
    assert renyi(twice, 3) == renyi(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.02"), 3)


def test_extreme_rates_and_orders() -> None:
    noise = ev.GaussianNoise(1, 1)
    assert renyi(ev.PoissonSampled(noise, 0), 3) == 0.0
    assert renyi(ev.PoissonSampled(noise, 1), 3) == renyi(noise, 3)
    assert renyi(ev.PoissonSampled(ev.NOTHING, "0.1"), 3) == 0.0
    tiny = renyi(ev.PoissonSampled(noise, F(1, 10**30)), 2)
    assert tiny == pytest.approx((math.e - 1) * 1e-60, rel=1e-11)
    assert renyi(ev.PoissonSampled(noise, "0.1"), 10**9) <= renyi(noise, 10**9)


# ---- Laplace ---------------------------------------------------------------------------------------------------


def two_sided(losses: list[tuple[mp.mpf, mp.mpf]], q: mp.mpf, a: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """Both directions from atoms (mass without the unit, log ratio)."""
    mixed = [(m, 1 - q + q * mp.exp(loss)) for m, loss in losses]
    one = mp.log(mp.fsum(m * r**a for m, r in mixed)) / (a - 1)
    two = mp.log(mp.fsum(m * r ** (1 - a) for m, r in mixed)) / (a - 1)
    return one, two


@pytest.mark.parametrize("q", ["1/1000000", "1/100", "9/10"])
@pytest.mark.parametrize("epsilon", ["1/50", "1", "12"])
@pytest.mark.parametrize("alpha", ["11/10", "13/4", "60"])
def test_laplace_at_any_real_order(q: str, epsilon: str, alpha: str) -> None:
    with mp.workdps(45):
        rate, e, a = number(F(q)), number(F(epsilon)), number(F(alpha))

        def mixture(loss: mp.mpf) -> mp.mpf:
            return 1 - rate + rate * mp.exp(loss)

        corners = [-e + 2 * e * k / 8 for k in range(9)]
        middle = mp.quad(lambda x: mp.exp(-(x + e) / 2) / 4 * mixture(x) ** a, corners)
        ends = (mixture(-e) ** a + mp.exp(-e) * mixture(e) ** a) / 2
        true = mp.log(middle + ends) / (a - 1)
    assert_just_above(renyi(ev.PoissonSampled(ev.LaplaceNoise(1, epsilon), q), F(alpha)), true)


@settings(max_examples=40)
@given(st.fractions(F(1, 4), 6), st.integers(1, 12), st.fractions(F(1, 1000), F(99, 100)), st.fractions(F(11, 10), 30))
def test_discrete_laplace_is_its_definition(scale: Fraction, shift: int, q: Fraction, alpha: Fraction) -> None:
    with mp.workdps(50):
        b = number(scale)
        r = mp.exp(-1 / b)
        inside = [((1 - r) / (1 + r) * r**x, (2 * x - shift) / b) for x in range(1, shift)]
        atoms = [(1 / (1 + r), -shift / b), *inside, (r**shift / (1 + r), shift / b)]
        true, other = two_sided(atoms, number(q), number(alpha))
    assert other <= true
    assert_just_above(renyi(ev.PoissonSampled(ev.DiscreteLaplaceNoise(scale, shift), q), alpha), true)


def test_discrete_laplace_on_a_fine_grid_is_coarsened_upwards() -> None:
    fine = renyi(ev.PoissonSampled(ev.DiscreteLaplaceNoise(2**40, 2**40 + 7), "0.05"), 5)
    line = renyi(ev.PoissonSampled(ev.LaplaceNoise(1, 1), "0.05"), 5)
    assert line <= fine <= line * (1 + 1e-4)


@settings(max_examples=40)
@given(st.integers(2, 6), st.integers(1, 5), st.fractions(F(1, 2), 5), st.fractions(F(11, 10), 20))
def test_coarser_geometric_noise_is_easier_to_see(k: int, shift: int, scale: Fraction, alpha: Fraction) -> None:
    assert renyi(ev.DiscreteLaplaceNoise(k * scale, k * shift), alpha) <= renyi(
        ev.DiscreteLaplaceNoise(scale, shift), alpha
    ) * (1 + 1e-14)


# ---- what holds for any event ----------------------------------------------------------------------------------


@st.composite
def rows(draw: st.DrawFn, count: int) -> list[list[Fraction]]:
    weights = st.lists(st.integers(1, 12), min_size=3, max_size=3)
    return [[F(w, sum(row)) for w in row] for row in draw(st.lists(weights, min_size=count, max_size=count))]


def mix(q: Fraction, absent: list[Fraction], present: list[Fraction]) -> list[Fraction]:
    return [(1 - q) * a + q * b for a, b in zip(absent, present, strict=True)]


@settings(max_examples=40)
@given(rows(2), st.fractions(F(1, 100), F(99, 100)), st.integers(2, 6))
def test_the_general_binomial_bound_covers_both_directions(laws: list[list[Fraction]], q: Fraction, alpha: int) -> None:
    absent, present = laws
    whole = FiniteMechanism(laws)
    curve = {k: whole.renyi(k) for k in range(2, alpha + 1)}

    def bound(factor: int) -> float:  # the library's sum, fed with this mechanism's exact curve
        terms = [(1 - q) ** alpha + alpha * q * (1 - q) ** (alpha - 1)]
        terms += [
            math.comb(alpha, k) * q**k * (1 - q) ** (alpha - k) * F(math.exp((k - 1) * d)) * (factor if k > 2 else 1)
            for k, d in curve.items()
        ]
        return math.log(sum(terms)) / (alpha - 1)

    mixture = mix(q, absent, present)
    assert renyi_divergence(mixture, absent, alpha) <= bound(1) + 1e-15
    assert renyi_divergence(absent, mixture, alpha) <= bound(3) + 1e-15


@settings(max_examples=60)
@given(rows(2), st.fractions(F(1, 100), F(99, 100)), st.fractions(F(11, 10), 20))
def test_any_pure_event_stays_below_the_worst_one(laws: list[list[Fraction]], q: Fraction, alpha: Fraction) -> None:
    absent, present = laws
    pure = FiniteMechanism(laws).epsilon
    if pure == 0:
        return
    bound = renyi(ev.PoissonSampled(ev.PureLoss(pure), q), alpha)
    mixture = mix(q, absent, present)
    assert renyi_divergence(mixture, absent, alpha) <= bound * (1 + 1e-14)
    assert renyi_divergence(absent, mixture, alpha) <= bound * (1 + 1e-14)


def test_the_worst_pure_bound_is_attained() -> None:
    q, truth = F(1, 5), F(3, 4)
    absent, present = [truth, 1 - truth], [1 - truth, truth]
    true = renyi_divergence(mix(q, absent, present), absent, 6)
    event = ev.PoissonSampled(ev.RandomizedAnswer(2, truth, Neighbors.ADD_REMOVE), q)
    assert true <= renyi(event, 6) <= true * (1 + 1e-11)


@settings(max_examples=60)
@given(rows(3), st.fractions(F(1, 100), F(99, 100)), st.integers(2, 8))
def test_replace_neighbours_under_poisson_and_fixed_size_sampling(
    laws: list[list[Fraction]], q: Fraction, alpha: int
) -> None:
    absent, one, other = laws
    whole = FiniteMechanism(laws)  # under fixed-size sampling all three databases are one replacement apart
    if whole.epsilon == 0:
        return
    true = renyi_divergence(mix(q, absent, one), mix(q, absent, other), alpha)
    event = ev.PureLoss(whole.epsilon, REPLACE)
    assert true <= renyi(ev.PoissonSampled(event, q), alpha) * (1 + 1e-12)
    assert true <= renyi(ev.FixedSizeSampled(event, q.numerator, q.denominator), alpha) * (1 + 1e-12)

    def curve(k: int) -> float:
        return whole.renyi(k)

    total = 0.0  # [WBK19, Theorem 9] written out, fed with this mechanism's exact curve
    for k in range(2, alpha + 1):
        cap = math.exp((k - 1) * curve(k)) * min(2.0, math.expm1(whole.epsilon) ** k)
        if k == 2:
            cap = min(cap, 4 * math.expm1(curve(2)))
        total += float(q) ** k * math.comb(alpha, k) * cap
    assert true <= math.log1p(total) / (alpha - 1) * (1 + 1e-12)


def test_without_replacement_is_the_formula_of_its_theorem() -> None:
    event = ev.FixedSizeSampled(ev.ZCDPLoss("0.02", REPLACE), 1, 100)  # the curve of Gaussian noise, and no more

    def scaled(alpha: int) -> float:
        q, total = 0.01, 1.0
        for k in range(2, alpha + 1):
            d = k / 50
            cap = min(4 * math.expm1(d), 2 * math.exp(d)) if k == 2 else 2 * math.exp((k - 1) * d)
            total += q**k * math.comb(alpha, k) * cap
        return math.log(total)

    for alpha in (2, 3, 10):
        assert renyi(event, alpha) == pytest.approx(scaled(alpha) / (alpha - 1), rel=1e-11)
    assert renyi(event, F(7, 2)) == pytest.approx((scaled(3) + scaled(4)) / 2 / 2.5, rel=1e-11)  # Corollary 10
    assert renyi(event, F(3, 2)) == pytest.approx(scaled(2) / 2 / 0.5, rel=1e-11)
    assert renyi(event, F(3, 2)) <= renyi(event, 2) * (1 + 1e-11)


def test_sampling_never_costs_more_than_the_whole() -> None:
    for inner in (ev.GaussianNoise(1, 1), ev.ZCDPLoss(1), ev.ExponentialChoice(2), 2 * ev.LaplaceNoise(1, 1)):
        for alpha in (F(11, 10), 2, F(47, 3), 5000):
            assert renyi(ev.PoissonSampled(inner, "0.3"), alpha) <= renyi(inner, alpha)
    for inner in (ev.GaussianNoise(1, 1, REPLACE), ev.RandomizedAnswer(3, "0.5")):
        for alpha in (F(11, 10), 2, F(47, 3), 5000):
            assert renyi(ev.FixedSizeSampled(inner, 3, 10), alpha) <= renyi(inner, alpha)
            assert renyi(ev.FixedSizeSampled(inner, 10, 10), alpha) == renyi(inner, alpha)


def test_a_fixed_size_sample_under_add_remove_moves_by_two_units() -> None:
    event = ev.FixedSizeSampled(ev.GaussianNoise(1, 1), 1, 10)
    assert renyi(event, 2) == renyi(ev.PoissonSampled(ev.GaussianNoise(1, 2), "0.1"), 2)
    with pytest.raises(NotPromised, match="too few"):
        renyi(ev.FixedSizeSampled(ev.GaussianNoise(1, 1), 10, 10), 2)
    with pytest.raises(NotPromised, match="inside"):
        renyi(ev.FixedSizeSampled(ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.5"), 1, 10), 2)


@given(st.fractions(F(1, 100), 100), st.fractions(0, 1), st.fractions(F(11, 10), 20))
def test_the_inequality_behind_one_direction(ratio: Fraction, q: Fraction, alpha: Fraction) -> None:
    # [MTZ19, Theorem 5]: averaged over a swapping map, mixture-against-without exceeds the reverse point by point.
    r, rate, a = number(ratio), number(q), number(alpha)
    u, v = 1 - rate + rate * r, (1 - rate) * r + rate
    assert u ** (1 - a) + r**a * v ** (1 - a) <= (u**a + r ** (1 - a) * v**a) * (1 + mp.mpf(10) ** -12)


def test_the_moment_series_meets_its_direct_form() -> None:
    import numpy as np

    for power in (1e-9, 0.5, 3.0, 200.0):
        edge = 0.25 / (1 + power)
        y = np.array([edge * 0.999999, edge * 1.000001, -edge * 0.999999, -edge * 1.000001])
        y = y[y > -1]
        logs = sampled_renyi._log_g(y, np.log1p(y), power)
        with mp.workdps(40):
            true = [mp.log((1 + mp.mpf(x)) ** (1 + mp.mpf(power)) - 1 - (1 + mp.mpf(power)) * mp.mpf(x)) for x in y]
        assert logs == pytest.approx([float(t) for t in true], abs=1e-13)


def test_what_the_curve_of_a_sampled_gaussian_may_take_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise far below the sensitivity needs ever more nodes: beyond the limit another bound does."""
    nodes: list[int] = []
    real = sampled_renyi._from_moments

    def counted(log_weight: Any, loss: Any, q: Fraction, alpha: Fraction) -> float:
        nodes.append(log_weight.size)
        return real(log_weight, loss, q, alpha)

    monkeypatch.setattr(sampled_renyi, "_from_moments", counted)
    event = ev.PoissonSampled(ev.GaussianNoise(1, 64), "1e-98")
    assert all(renyi(event, a) <= renyi(event.event, a) for a in (2, 8, 32, 128))
    assert 0 < max(nodes) < 2**19


@pytest.mark.parametrize("rule", [Rule.PURE, Rule.APPROXIMATE, Rule.ZCDP])
def test_a_sample_of_everybody_is_no_bargain_where_units_may_join(rule: Rule) -> None:
    """Of eleven units ten are drawn: the eleventh takes another's place, which moves a sum by two."""
    everybody = ev.FixedSizeSampled(ev.LaplaceNoise(1, 1), 10, 10)
    with pytest.raises(NotPromised):
        cost(everybody, Currency(rule))
    replaced = ev.FixedSizeSampled(ev.LaplaceNoise(1, 1, REPLACE), 10, 10)
    assert cost(replaced, Currency(rule)) == cost(replaced.event, Currency(rule))
