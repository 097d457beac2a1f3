"""The pieces that every bracket rests on, each against high precision or brute force, and each with a wrong twin."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from curador.accounting import events
from curador.accounting.pld import epsilon, sampled_normal
from curador.accounting.pld.cells import Atoms, Cells, connect, diluted, merge, mirrored, sampled, swapped
from curador.accounting.pld.noise_pairs import IntegerNormal, Normal, few_integer_masses, integer_masses, normal_masses
from curador.accounting.pld.pairs import Pair
from curador.accounting.pld.profile import Profile
from curador.accounting.pld.rules import orders
from curador.accounting.pld.sampled_normal import SampledNormal
from curador.accounting.pld.spectrum import CELL_ERROR, UNIT, Band, of_atoms, of_pair, transformed

ev: Any = events
MP = mpmath.mp.clone()
MP.dps = 40
Real = Any


# ---- masses ----------------------------------------------------------------------------------------------------


def close(got: float, exact: Real, error: float = CELL_ERROR) -> bool:
    return bool(abs(MP.mpf(got) - exact) <= error * exact)


def normal(a: float, b: float) -> Real:
    """The standard normal mass between two doubles, from the side on which nothing cancels."""
    if a > 0:
        a, b = -b, -a
    return MP.ncdf(MP.mpf(b)) - MP.ncdf(MP.mpf(a))


@given(st.floats(-36, 36), st.floats(-7, 1))
@settings(max_examples=60)
def test_normal_masses(start: float, log_width: float) -> None:
    x = np.array([start + i * 10**log_width for i in range(4)])
    for mass, a, b in zip(normal_masses(x)[1:-1].tolist(), x[:-1].tolist(), x[1:].tolist(), strict=True):
        assert close(mass, normal(a, b)) or normal(a, b) < 1e-290


def test_normal_tails_and_a_cell_across_zero() -> None:
    below, inside, above = normal_masses(np.array([-20.0, 1.5])).tolist()
    assert close(below, MP.ncdf(-20))
    assert close(inside, MP.ncdf(MP.mpf("1.5")) - MP.ncdf(-20))
    assert close(above, MP.ncdf(MP.mpf("-1.5")))


@pytest.mark.parametrize("first", [-30_000, -300, 5_000, 12_345])
def test_integer_masses_of_a_large_spread(first: int) -> None:
    spread = 2.0**20
    cuts = np.array([first, first + 1.0, first + 40, first + 41])
    total = MP.sqrt(2 * MP.pi * spread)  # up to exp(-2 pi**2 spread)
    got = integer_masses(cuts, spread)[1:-1].tolist()
    for mass, a, b in zip(got, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        exact = MP.fsum(MP.exp(-(MP.mpf(x) ** 2) / (2 * spread)) for x in range(int(a), int(b))) / total
        assert close(mass, exact)


@pytest.mark.parametrize("spread", [0.05, 1.0, 30.0])
def test_integer_masses_of_a_small_spread(spread: float) -> None:
    weights = {x: MP.exp(-(MP.mpf(x) ** 2) / (2 * spread)) for x in range(-400, 401)}
    total = MP.fsum(weights.values())
    cuts = [-3, -2, 0, 1, 2, 9]
    got = few_integer_masses(np.array(cuts, float), spread).tolist()
    edges = [-400, *cuts, 401]
    for mass, a, b in zip(got, edges[:-1], edges[1:], strict=True):
        assert close(mass, MP.fsum(weights[x] for x in range(a, b)) / total) or mass < 1e-300


@given(st.floats(-800, 800) | st.just(-math.inf), st.integers(1, 10**6 - 1))
def test_diluted_losses(loss: float, millionths: int) -> None:
    q = MP.mpf(millionths) / 10**6
    exact = MP.log(1 - q + q * MP.exp(loss))
    got = float(diluted(np.array([loss]), Fraction(millionths, 10**6))[0])
    assert abs(MP.mpf(got) - exact) <= 8 * UNIT * (1 + abs(exact))


# ---- cells -----------------------------------------------------------------------------------------------------


def profile_of(atoms: Atoms, epsilons: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    gains = atoms.masses[:, None] * -np.expm1(np.minimum(0.0, epsilons - atoms.losses[:, None]))
    return np.asarray(atoms.infinite + gains.sum(axis=0))


def squared(atoms: Atoms) -> Atoms:
    """The same law twice."""
    losses = np.add.outer(atoms.losses, atoms.losses).ravel()
    return Atoms(losses, np.multiply.outer(atoms.masses, atoms.masses).ravel(), 1 - (1 - atoms.infinite) ** 2)


def law(seed: int, atoms: int = 12) -> Atoms:
    """A made-up pair: losses in order, P-masses that sum to 1, Q-masses exp(-loss) P that sum to at most 1."""
    x = np.sin(np.arange(1, 2 * atoms + 1) * (seed + 1.618)) ** 2
    losses, p = np.sort(4 * x[:atoms] - 2), x[atoms:] + 1e-3
    p /= p.sum()
    excess = float((p * np.exp(-losses)).sum())
    return Atoms(losses + max(0.0, math.log(excess)), p, 0.0)


def in_cells(atoms: Atoms, size: int) -> Cells:
    blocks = [slice(i, i + size) for i in range(0, len(atoms.losses), size)]
    q = atoms.masses * np.exp(-atoms.losses)
    return Cells(
        np.array([atoms.losses[b][0] for b in blocks]),
        np.array([atoms.losses[b][-1] for b in blocks]),
        np.array([atoms.masses[b].sum() for b in blocks]),
        np.array([q[b].sum() for b in blocks]),
    )


def nearest(cells: Cells) -> Atoms:
    """Wrong: each cell's mass at the end nearer to its mean loss."""
    mean = np.log(cells.p / cells.q)
    where = np.where(mean - cells.low < cells.high - mean, cells.low, cells.high)
    return Atoms(where, cells.p, 0.0)


EPSILONS = np.linspace(-3, 5, 401)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]))
def test_connected_dots_are_above_and_merged_cells_below(seed: int, size: int) -> None:
    atoms = law(seed)
    above, below = connect(in_cells(atoms, size)), merge(in_cells(atoms, size))
    for form in (lambda x: x, squared):
        exact = profile_of(form(atoms), EPSILONS)
        assert np.all(profile_of(form(above), EPSILONS) >= exact - 1e-14)
        assert np.all(profile_of(form(below), EPSILONS) <= exact + 1e-14)


def test_other_ways_to_round_are_neither_above_nor_below() -> None:
    """Rounding losses to the nearest end, and using merged cells as an upper bound, both understate somewhere."""
    understated = {nearest: 0, merge: 0}
    for seed in range(20):
        atoms = law(seed)
        exact = profile_of(squared(atoms), EPSILONS)
        for wrong in understated:
            understated[wrong] += bool(np.any(profile_of(squared(wrong(in_cells(atoms, 4))), EPSILONS) < exact - 1e-6))
    assert min(understated.values()) > 15


def test_mirrored_cells_dominate_both_orders_of_a_sample() -> None:
    cells = sampled(Normal(1.3).cells(400, 1e-30), Fraction(1, 5))
    worst, epsilons = connect(mirrored(cells)), np.linspace(-4, 4, 201)
    for one in (cells, swapped(cells)):
        assert np.all(profile_of(worst, epsilons) >= profile_of(merge(one), epsilons) - 1e-13)


ALL_PAIRS: list[tuple[str, Any]] = [
    ("laplace", ev.LaplaceNoise(2, 1)),
    ("wide laplace", ev.LaplaceNoise(1, 7)),
    ("stairs", ev.DiscreteLaplaceNoise("2.5", 6)),
    ("few stairs", ev.DiscreteLaplaceNoise(1, 2)),
    ("no stairs", ev.DiscreteLaplaceNoise(3, 1)),
    ("long stairs", ev.DiscreteLaplaceNoise(2**40, 2**41 + 1)),
    ("truncated", ev.TruncatedLaplaceNoise(1, "0.5", 3)),
    ("barely overlapping", ev.TruncatedLaplaceNoise(1, 1, "0.7")),
    ("gaussian", ev.GaussianNoise(2, 3)),
    ("integer gaussian", ev.DiscreteGaussianNoise(2, 9)),
    ("wide integer gaussian", ev.DiscreteGaussianNoise(40, 4)),
    ("huge integer gaussian", ev.DiscreteGaussianNoise(2**50, 2**50)),
    ("exponential", ev.ExponentialChoice("1.5")),
    ("response", ev.RandomizedAnswer(4, "0.6")),
    ("wrong answers", ev.RandomizedAnswer(4, "0.1")),
    ("pure", ev.PureLoss(2)),
    ("approximate", ev.ApproxLoss(1, "0.01")),
]
SAMPLES = [(f"{rate} of {name}", ev.PoissonSampled(e, rate)) for name, e in ALL_PAIRS for rate in ("0.2", "0.999")]
REPLACED = [
    ("thinned", ev.PoissonSampled(ev.LaplaceNoise(1, 1, "replace"), "0.3")),
    ("fixed size", ev.FixedSizeSampled(ev.GaussianNoise(1, 1, "replace"), 3, 10)),
]


@pytest.mark.thin(18)
@pytest.mark.parametrize(("name", "event"), ALL_PAIRS + SAMPLES + REPLACED)
def test_cells_hold_all_of_both_laws_and_their_losses(name: str, event: Any) -> None:
    for above, below in orders(event):
        for pair in (above, below):
            for count in (2, 7, 300):
                c = pair.cells(count, 1e-30)
                assert float(c.p.sum()) == pytest.approx(1, abs=1e-12), name
                assert float(c.q.sum()) == pytest.approx(1, abs=1e-12), name
                some = (c.p > 1e-290) & (c.q > 1e-290)
                ratio = np.log(c.p[some]) - np.log(c.q[some])
                assert np.all(ratio >= c.low[some] - 1e-10), name
                assert np.all(ratio <= c.high[some] + 1e-10), name
                inside = (c.low < 0) & (c.high > 0) & (c.p > 0)
                assert not np.any(inside), name


@pytest.mark.parametrize(("name", "event"), ALL_PAIRS + REPLACED[:1])
def test_moments_by_formula_are_the_moments_of_fine_cells(name: str, event: Any) -> None:
    ((pair, _),) = orders(event)
    s = np.array([0.0, 0.3, 2.0, -0.7, 0.5 + 1j, 2 + 9j])
    logs = pair.log_moment(s.astype(np.complex128))
    if logs is None:
        assert not pair.closed
        return
    c = pair.cells(40_000, 1e-60)
    keep = (c.p > 0) & np.isfinite(c.low) & np.isfinite(c.high)
    middle = np.log(c.p[keep]) - np.log(np.where(c.q[keep] > 0, c.q[keep], 1.0))
    for z, got in zip(s, np.exp(logs), strict=True):
        assert abs(np.sum(c.p[keep] * np.exp(z * middle)) - got) <= 1e-6 * abs(np.exp(logs[0])) * math.exp(
            abs(z.real) * min(9.0, float(np.abs(middle).max()))
        )


def test_integer_gaussian_moments_repeat_like_those_of_a_lattice() -> None:
    pair = IntegerNormal(30.0, 2)
    period = 2 * math.pi * 30 / 2
    s = np.array([0.4 + 3j, 0.4 + 1j * (period + 3), 0.4 + 1j * (3 * period - 1), 0.4 + 0.5j * period])
    got = pair.log_moment(s)
    assert got is not None
    x = np.arange(-400.0, 401)
    p = np.exp(-(x**2) / 60)
    loss = (2 * x + 2) * 2 / 60
    for z, value in zip(s, np.exp(got), strict=True):
        assert abs(value - np.sum(p * np.exp(z * loss)) / p.sum()) < 1e-13


# ---- transforms ------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(33, 400), st.integers(2, 600), st.floats(-3, 2))
@settings(max_examples=25)
def test_the_transform_is_as_exact_as_it_says(seed: int, atoms: int, count: int, log_window: float) -> None:
    losses = 3 * np.sin(np.arange(atoms) * (1 + seed / 7))
    weights = np.cos(np.arange(atoms) * (2 + seed / 3)) ** 2
    weights /= weights.sum()
    band = Band(1.0, 10**log_window, count, 1.0, 1.0)
    got, error = transformed(losses, weights, band)
    wide = np.longdouble
    angle = np.outer(losses.astype(wide), np.arange(count).astype(wide) * (2 * wide(np.pi) / wide(10**log_window)))
    exact = weights.astype(wide) @ np.exp(1j * angle)
    drift = np.linalg.norm(8 * UNIT * (1 + 3 * band.omega))  # the losses times omega, and the value of pi
    assert np.linalg.norm((got - exact).astype(np.complex128)) <= error + drift
    assert error < 1e-9


def moment(pair: SampledNormal, s: complex, tail: float) -> complex:
    """E[exp(s L); the answer is no] by Gauss and Legendre's rule on many small panels, to fourteen digits."""
    x, w = np.polynomial.legendre.leggauss(30)
    edges = np.linspace(-1, 1, 601) * (pair._cut(tail) + 1)
    half = np.diff(edges) / 2
    z = (edges[:-1] + half)[:, None] + half[:, None] * x
    q, c, soft = float(pair.rate), pair._cut(tail), sampled_normal._SOFT
    log_a = np.log1p(q * np.expm1(pair.mu * z - pair.mu**2 / 2))
    f = np.exp(-z * z / 2 + (-s * log_a if pair.added else (1 + s) * log_a)) / math.sqrt(2 * math.pi)
    return complex(np.sum(f * ndtr((c - z) / soft) * ndtr((c + z) / soft) * w * half[:, None]))


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(("mu", "rate"), [(1.0, "0.01"), (0.25, "0.4"), (3.0, "0.002")])
def test_nodes_have_the_moments_of_the_law(added: bool, mu: float, rate: str) -> None:
    pair, tail = SampledNormal(mu, Fraction(rate), added), 1e-12
    tilts, omega = (4.0, 9.0, -3.0), 60.0
    atoms = pair.nodes(tilts, omega, tail)
    assert atoms is not None
    scale = {t: moment(pair, t, tail).real for t in tilts}
    for s in (4.0, 9.0, -3.0, 4 + 1j, 4 + 17j, 4 + 60j):
        got = np.sum(atoms.masses * np.exp(s * atoms.losses))
        assert abs(got - moment(pair, s, tail)) <= 1e-12 * scale[s.real]
    c, spread = pair._cut(tail), math.hypot(1, sampled_normal._SOFT)
    beyond = MP.mpf(rate) * MP.ncdf((mu - c) / spread) + (1 - MP.mpf(rate)) * MP.ncdf(-c / spread)
    assert atoms.infinite == pytest.approx(0 if added else float(beyond), rel=1e-9)
    total = float(atoms.masses.sum()) + atoms.infinite + atoms.lost
    assert total >= 1 - 1e-12  # nothing is forgotten


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(("mu", "rate", "theta"), [(1.0, "0.01", 3.0), (0.3, "0.3", 8.0), (2.0, "0.05", 2.0)])
def test_moments_fall_off_as_promised(added: bool, mu: float, rate: str, theta: float) -> None:
    pair, tail = SampledNormal(mu, Fraction(rate), added), 1e-14
    omegas = np.geomspace(10, 3000, 40)
    promised = pair.log_decay(theta, omegas, tail)
    atoms = pair.nodes((theta,), float(omegas[-1]), tail)
    assert atoms is not None
    weights = atoms.masses * np.exp(theta * atoms.losses)
    sizes = np.abs(weights / weights.sum() @ np.exp(1j * np.outer(atoms.losses, omegas)))
    assert np.all(np.log(sizes) <= promised + 1e-12)
    assert promised[-1] < -0.1  # and it is worth something


def test_laplace_moments_fall_off_as_promised() -> None:
    for event in (ev.LaplaceNoise(1, 1), ev.ExponentialChoice(1), ev.TruncatedLaplaceNoise(1, 1, 2)):
        pair = orders(event)[0][0]
        omegas = np.geomspace(1, 1000, 60)
        logs = pair.log_moment(np.append(2.0, 2 + 1j * omegas).astype(np.complex128))
        assert logs is not None
        assert np.all((logs[1:] - logs[0]).real <= pair.log_decay(2.0, omegas, 0.1) + 1e-12)


# ---- the normal loss that is added -------------------------------------------------------------------------------


@given(st.floats(-3, 0.5), st.floats(-9, 9))
def test_what_a_normal_loss_adds_to_delta(log_mu: float, deviations: float) -> None:
    """0 <= E(1 - exp(-t - U))+ - (1 - exp(-t))+ <= mu exp(-t/2) phi(t/mu), for U normal (mu**2/2, mu**2)."""
    mu = MP.mpf(10) ** log_mu
    t = deviations * mu
    added = MP.ncdf(t / mu + mu / 2) - MP.exp(-t) * MP.ncdf(t / mu - mu / 2) - max(MP.mpf(0), 1 - MP.exp(-t))
    bound = mu * MP.exp(-t / 2) * MP.npdf(t / mu)
    assert 0 <= added <= bound
    assert deviations == 0 or added <= bound / 2 * (1 + MP.mpf(3) * mu) or abs(deviations) < 1


def single(pair: Pair, band: Band) -> Any:
    return of_pair(pair, band, 100, 1e-20, connect)


def test_what_cannot_be_computed_is_never_a_small_delta() -> None:
    band = Band(2.0, 40.0, 200, 1.0, 1.0)
    good = single(Normal(1.0), band)
    assert 0 < Profile(band, good, good, 0.0).lower(1.0) <= Profile(band, good, good, 0.0).upper(1.0) < 0.2
    nan, inf = math.nan, math.inf
    broken = [
        {"phi": good.phi * nan},
        {"log_m": nan},
        {"log_m": inf},
        {"mass_error": nan},
        {"rounding": inf},
        {"rounding": 1e17},
        {"transform": nan},
        {"log_finite": nan},
        {"lost": nan},
        {"variance": 0.0},
        {"dropped": nan, "phi": good.phi[:5]},
    ]
    for change, count in itertools.product(broken, (1, 2)):
        fine, bad = good.times(count), replace(good, **change).times(count)
        profile = Profile(band, bad, bad, 0.0)
        assert profile.upper(1.0) >= Profile(band, fine, fine, 0.0).upper(1.0), change
        assert profile.lower(1.0) <= Profile(band, fine, fine, 0.0).lower(1.0), change


def test_without_nodes_cells_bound_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two spectra, not one, where the quadrature would need too many nodes."""
    exact = epsilon(3 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.05"), 1e-5, 1e-6)
    monkeypatch.setattr(sampled_normal, "_MOST", 10)
    rough = epsilon(3 * ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.05"), 1e-5, 1e-3)
    assert rough.lower < exact.lower <= exact.upper < rough.upper
    assert rough.width < 2e-3


def test_atoms_are_composed_as_they_are() -> None:
    """A spectrum turned back into delta: forty atoms, twice, against all pairs of them."""
    atoms = law(3, 40)
    band = Band(3.0, 40.0, 60_000, 2.0, 2.0)
    smooth = of_pair(Normal(2e-3), band, 2, 0.1, connect)
    both = of_atoms(atoms, band, 0.0).times(2) + smooth
    profile = Profile(band, both, both, 2e-3)
    for e in (0.0, 0.5, 1.7):
        exact = float(profile_of(squared(atoms), np.array([e]))[0])
        assert profile.lower(e) <= exact <= profile.upper(e) <= exact * 1.001
