"""Laplace and Gaussian mechanisms, real and integer: promise, event, error, refusals."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import curador as cu
from curador.accounting.rules.gaussian import classic_gaussian_sigma, discrete_gaussian_delta, gaussian_delta
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.mechanisms.base import LARGEST, AdditiveNoise
from curador.mechanisms.gaussian import classic_gaussian
from curador.noise import SYSTEM, grid_exponent
from curador.privacy import Neighbors


class Refuses:
    """Entropy that must not be touched."""

    def words(self, n: int, dtype: Any) -> NDArray[Any]:
        raise AssertionError("drew before checking")

    def bits(self, k: int) -> int:
        raise AssertionError("drew before checking")


REAL = [cu.Laplace(1, 1), cu.Gaussian(1, 1, 1e-6), cu.Laplace(2, scale=3), cu.Gaussian(2, sigma=3)]
INTEGER = [cu.IntegerLaplace(1, 1), cu.IntegerGaussian(1, 1, 1e-6, coordinates=4), cu.IntegerLaplace(2, scale="7/3")]

positive = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


# ---- the promise -------------------------------------------------------------------------------------------


@given(sensitivity=positive, epsilon=positive, coordinates=st.integers(1, 10**6))
def test_laplace_event_is_exactly_epsilon(sensitivity: Fraction, epsilon: Fraction, coordinates: int) -> None:
    mechanism = cu.Laplace(sensitivity, epsilon, coordinates=coordinates)
    assert mechanism.event.epsilon == epsilon
    # The grid's whole charge, every coordinate moved by a step, is in the event's sensitivity.
    assert mechanism.event.sensitivity == sensitivity + coordinates * Fraction(2) ** mechanism.grid
    assert mechanism.scale >= sensitivity / epsilon
    assert coordinates * Fraction(2) ** mechanism.grid <= coordinates * mechanism.scale * Fraction(1, 2**40)


@given(sensitivity=st.integers(1, 10**9), epsilon=positive)
def test_integer_laplace_event_is_exactly_epsilon(sensitivity: int, epsilon: Fraction) -> None:
    assert cu.IntegerLaplace(sensitivity, epsilon).event.epsilon == epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-5), (1, 1e-12), (4, 1e-6), (8, 1e-6)])
@pytest.mark.parametrize("sensitivity", [1, 0.01, 7])
def test_gaussian_is_calibrated_from_the_safe_side(epsilon: float, delta: float, sensitivity: float) -> None:
    mechanism = cu.Gaussian(sensitivity, epsilon, delta)
    event = mechanism.event
    assert gaussian_delta(event.sigma, event.sensitivity, epsilon) <= delta
    assert event.sensitivity > mechanism.sensitivity
    assert gaussian_delta(event.sigma * Fraction(9999, 10000), event.sensitivity, epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-5), (1, 1e-5), (8, 1e-6)])
def test_integer_gaussian_is_calibrated_by_its_own_profile(epsilon: float, delta: float) -> None:
    mechanism = cu.IntegerGaussian(1, epsilon, delta)
    assert profile_by_sum(mechanism.sigma_squared, 1, epsilon) <= delta
    continuous = cu.Gaussian(1, epsilon, delta).sigma ** 2
    overshoot = float(profile_by_sum(continuous, 1, epsilon)) / delta
    # The integer profile swings around the continuous one: here the continuous sigma would not do.
    if (epsilon, delta) == (1, 1e-5):
        assert overshoot == pytest.approx(1.035, abs=0.003)
    if (epsilon, delta) == (8, 1e-6):
        assert overshoot == pytest.approx(3, abs=0.4)


def profile_by_sum(variance: Fraction, shift: int, epsilon: float) -> Any:
    """delta(epsilon) of the integer Gaussian, summed in high precision from the definition."""
    with mpmath.workdps(60):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        reach = range(-400, 401)
        weight = {x: mpmath.exp(-(x * x) / (2 * v)) for x in range(-400 - shift, 401)}
        z = mpmath.fsum(weight.values())
        scale = mpmath.exp(epsilon)
        return mpmath.fsum(max(mpmath.mpf(0), weight[x] - scale * weight[x - shift]) for x in reach) / z


def test_integer_gaussian_vector_goes_by_concentrated_dp() -> None:
    one, many = cu.IntegerGaussian(1, 1, 1e-5), cu.IntegerGaussian(1, 1, 1e-5, coordinates=3)
    assert many.sigma_squared > one.sigma_squared
    assert many.event.dimension == 3
    assert (
        cu.IntegerGaussian(sensitivity_squared=2, epsilon=1, delta=1e-5, coordinates=2).event.sensitivity_squared == 2
    )
    # A single integer moves by whole steps: a squared sensitivity of 3 lets it move by 1 only.
    assert cu.IntegerGaussian(sensitivity_squared=3, sigma=1).event.sensitivity_squared == 1


@pytest.mark.parametrize("power", [4, 20, 33, 35])
def test_classic_noise_that_grows_onto_a_coarser_grid_pays_for_that_grid(power: int) -> None:
    """Sigma lies just below a power of two, and what the grid costs takes it beyond: the worst case."""
    delta = Fraction(1, 10**30)
    epsilon = classic_gaussian_sigma("0.5", delta, 1) / 2 / 2**power * (1 + Fraction(1, 2**36))
    sigma = classic_gaussian_sigma(epsilon, delta, 1)
    made = classic_gaussian(1, epsilon, delta)
    assert made.grid == grid_exponent(sigma) + 1
    assert sigma <= made.event.sigma / made.event.sensitivity


def test_gaussian_noise_too_large_for_its_grid_is_refused_before_it_is_charged() -> None:
    for make in (cu.Gaussian, classic_gaussian):
        with pytest.raises(InvalidParameter, match="grid"):  # once made, and refused at each release
            make(1, "1e-13", "1e-16")
    with pytest.raises(InvalidParameter, match="grid"):  # once released, with a delta of 1e-12 where 1e-30 was promised
        cu.gaussian_mechanism(0, 1, "1e-11", "1e-30", classic=True)


def test_classic_gaussian_is_refused_where_its_theorem_ends() -> None:
    assert isinstance(cu.gaussian_mechanism(1, 1, 0.9, 1e-5, classic=True), float)
    for epsilon in (1, 10):
        with pytest.raises(NotPromised):
            cu.gaussian_mechanism(1, 1, epsilon, 1e-5, classic=True)


def test_neighbours_reach_the_event() -> None:
    for make in (cu.Laplace, cu.IntegerLaplace):
        assert make(1, 1, neighbors=Neighbors.REPLACE).event.neighbors is Neighbors.REPLACE
    with pytest.raises(InvalidParameter):
        cu.Laplace(1, 1, neighbors="cousins")  # type: ignore[arg-type]


# ---- the error -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism", [*REAL, *INTEGER, cu.IntegerLaplace(1, scale="1/5"), cu.IntegerGaussian(1, sigma="1/3")]
)
def test_error_and_variance_describe_what_comes_out(mechanism: AdditiveNoise) -> None:
    # 2,000 releases at 90 %: the number inside is within 6 standard deviations of the truth's lower end.
    n, confidence = 2000, 0.9
    drawn = np.array([mechanism.release(0) for _ in range(n)], np.float64)
    inside = (np.abs(drawn) <= mechanism.error(confidence)).mean()
    slack = 6 * math.sqrt(confidence * (1 - confidence) / n)
    assert inside >= confidence - slack
    # Integer noise moves in steps, so only the next smaller reach must be too small.
    less = mechanism.error(confidence) - 1 if mechanism in INTEGER else 0.8 * mechanism.error(confidence)
    if mechanism in [*REAL, *INTEGER]:
        assert (np.abs(drawn) <= less).mean() < confidence + slack
    # Fourth moments of these laws are at most 30 times the squared variance.
    assert abs((drawn**2).mean() - mechanism.variance) <= 6 * math.sqrt(30 / n) * mechanism.variance + 0.05


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(7, 3), Fraction(40)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_integer_laplace_error_is_the_exact_quantile(scale: Fraction, confidence: float) -> None:
    q = math.exp(-float(1 / scale))
    reach = int(cu.IntegerLaplace(1, scale=scale).error(confidence))

    def beyond(k: int) -> float:
        return 2 * q ** (k + 1) / (1 + q) if k >= 0 else 1.0

    assert beyond(reach) <= (1 - confidence) * (1 + 1e-9)
    assert beyond(reach - 1) > (1 - confidence) * (1 - 1e-9)


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(30), Fraction(100)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_integer_gaussian_error_covers(sigma: Fraction, confidence: float) -> None:
    mechanism = cu.IntegerGaussian(1, sigma=sigma)
    x = np.arange(-3000, 3001)
    p = np.exp(-(x.astype(float) ** 2) / (2 * float(sigma) ** 2))
    p /= p.sum()
    reach = mechanism.error(confidence)
    assert p[np.abs(x) <= reach].sum() >= confidence - 1e-12
    assert p[np.abs(x) <= reach - 2].sum() < confidence
    assert mechanism.variance == pytest.approx((x**2 * p).sum(), rel=1e-9)


def test_interval_is_around_what_was_released() -> None:
    low, high = cu.Laplace(1, 0.5).interval(120.0)
    assert (low + high) / 2 == 120
    assert high - 120 == pytest.approx(2 * math.log(20), rel=1e-6)


# ---- shapes and sizes ------------------------------------------------------------------------------------------


def test_vectors_and_scalars() -> None:
    assert cu.Laplace(2, 1).release([120, 10]).shape == (2,)
    assert cu.Gaussian(1, 1, 1e-6).release(np.zeros((3, 4))).shape == (3, 4)
    assert cu.Laplace(1, 1).release(np.array([])).shape == (0,)
    assert isinstance(cu.Laplace(1, 1).release(np.array(3.0)), float)
    assert isinstance(cu.Laplace(1, 1).release(Fraction(1, 3)), float)
    assert isinstance(cu.IntegerLaplace(1, 1).release(np.int64(3)), int)
    assert cu.laplace_mechanism(np.zeros(5000), 1, 1).shape == (5000,)


def test_noise_is_independent_per_coordinate() -> None:
    for mechanism in REAL:
        drawn = mechanism.release(np.zeros(500))
        assert len(set(drawn.tolist())) == 500


def test_integers_of_any_size_stay_exact_and_arrays_never_wrap() -> None:
    big = 10**40
    assert abs(cu.IntegerLaplace(1, 1).release(big) - big) < 10**6
    edge = np.array([2**63 - 1, -(2**63), 0])
    for mechanism in (cu.IntegerLaplace(1, 1), cu.IntegerGaussian(1, sigma=1, coordinates=3)):
        out = mechanism.release(edge)
        assert (out[0] > LARGEST - 10**6) & (out[0] <= LARGEST)
        assert (out[1] < -LARGEST + 10**6) & (out[1] >= -LARGEST)
    assert cu.IntegerLaplace(1, 1).release(np.array([2**64 - 1], np.uint64))[0] <= LARGEST
    assert cu.IntegerLaplace(1, 1).release([10**30])[0] <= LARGEST


def test_extreme_scales_work_or_are_refused() -> None:
    assert math.isfinite(cu.Laplace(1e-200, 1).release(0.0))
    assert math.isfinite(cu.Laplace(1e200, 1).release(1e308))
    with pytest.raises(InvalidParameter):
        cu.Laplace(1e-300, 1)
    assert isinstance(cu.IntegerLaplace(1, 1e-30).release(0), int)
    with pytest.raises(InvalidParameter):
        cu.IntegerLaplace(1, 1e-30).release([0])


# ---- refusals, before anything is drawn ---------------------------------------------------------------------------

BAD_NUMBERS = [0, -1, math.nan, math.inf, -math.inf, "x", None, True, [1]]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_bad_parameters_are_refused(bad: Any) -> None:
    for make in (
        lambda: cu.Laplace(bad, 1),
        lambda: cu.Laplace(1, bad),
        lambda: cu.Laplace(1, scale=bad),
        lambda: cu.IntegerLaplace(bad, 1),
        lambda: cu.IntegerLaplace(1, bad),
        lambda: cu.Gaussian(bad, 1, 1e-6),
        lambda: cu.Gaussian(1, bad, 1e-6),
        lambda: cu.Gaussian(1, 1, bad),
        lambda: cu.Gaussian(1, sigma=bad),
        lambda: cu.IntegerGaussian(bad, 1, 1e-6),
        lambda: cu.IntegerGaussian(1, bad, 1e-6),
        lambda: cu.IntegerGaussian(1, 1, bad),
        lambda: cu.Laplace(1, 1, coordinates=bad) if bad is not True else cu.Laplace(bad, 1),
    ):
        with pytest.raises(InvalidParameter) as caught:
            make()
        assert "nothing was drawn" in str(caught.value)


def test_delta_outside_the_open_unit_interval_is_refused() -> None:
    for delta in (0, 1, 1.5, -1e-9):
        for make in (cu.Gaussian, cu.IntegerGaussian):
            with pytest.raises(InvalidParameter):
                make(1, 1, delta)


def test_half_given_and_doubly_given_parameters_are_refused() -> None:
    for arguments in ({}, {"epsilon": 1, "scale": 1}):
        with pytest.raises(InvalidParameter):
            cu.Laplace(1, **arguments)  # type: ignore[arg-type]
    halves: list[dict[str, Any]] = [
        {},
        {"epsilon": 1},
        {"epsilon": 1, "delta": 1e-6, "sigma": 1},
        {"sigma": 1, "delta": 1e-6},
    ]
    for half in halves:
        with pytest.raises(InvalidParameter):
            cu.Gaussian(1, **half)
    with pytest.raises(InvalidParameter):
        cu.IntegerLaplace(1.5, 1)
    with pytest.raises(InvalidParameter):
        cu.IntegerGaussian(sigma=1)


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, "x", None, True, [math.nan], [[1], [1, 2]], ["a"], {"a": 1}, [None]]
)
def test_bad_values_are_refused_before_drawing(bad: Any) -> None:
    for mechanism in [*REAL, *INTEGER]:
        with pytest.raises(InvalidValue) as caught:
            mechanism.release(bad, entropy=Refuses())
        assert "nothing was drawn" in str(caught.value)


@pytest.mark.parametrize("bad", [1.5, 2.0, [1.5], Fraction(1, 2)])
def test_integer_mechanisms_refuse_reals(bad: Any) -> None:
    for mechanism in INTEGER:
        with pytest.raises(InvalidValue):
            mechanism.release(bad, entropy=Refuses())


def test_more_coordinates_than_declared_are_refused() -> None:
    with pytest.raises(InvalidValue, match="coordinates=2000"):
        cu.Laplace(1, 1).release(np.zeros(2000), entropy=Refuses())
    with pytest.raises(InvalidValue, match="coordinates=2"):
        cu.IntegerGaussian(1, sigma=1).release([1, 2], entropy=Refuses())


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, math.nan, "x"])
def test_bad_confidence_is_refused(confidence: Any) -> None:
    for mechanism in [*REAL, *INTEGER]:
        with pytest.raises(InvalidParameter):
            mechanism.error(confidence)


def test_mechanisms_are_frozen_values() -> None:
    assert cu.Laplace(1, 0.5) == cu.Laplace(1, Fraction(1, 2))
    assert hash(cu.Gaussian(1, sigma=3)) == hash(cu.Gaussian(1, sigma=3))
    with pytest.raises(AttributeError):
        cu.Laplace(1, 1).scale = Fraction(1)  # type: ignore[misc]


def test_system_entropy_is_the_default() -> None:
    assert cu.Laplace(1, 1).release(0.0, entropy=SYSTEM) != cu.Laplace(1, 1).release(0.0)


def test_profile_by_sum_agrees_with_the_accountant() -> None:
    ours = discrete_gaussian_delta(Fraction(9), 1, 0.5)
    assert ours == pytest.approx(float(profile_by_sum(Fraction(9), 1, 0.5)), rel=1e-9)
    assert ours >= float(profile_by_sum(Fraction(9), 1, 0.5)) * (1 - 1e-15)


@pytest.mark.parametrize("value", [2**62 + 300, 4 * (2**53 + 1) + 2, -(2**70) - 3, 120])
def test_intervals_cover_values_between_doubles(value: int) -> None:
    """From 2**53 on doubles are further apart than the noise; the nearest one stands for all values around it."""
    law = cu.Laplace(1, 10)
    low, high = law.interval(float(value), 0.95)
    assert low <= value <= high
    assert Fraction(float(value)) - Fraction(low) >= Fraction(law.error(0.95))
    whole = cu.IntegerLaplace(1, 10)
    low, high = whole.interval(value, 0.95)
    assert low <= value - int(whole.error(0.95))
    assert high >= value + int(whole.error(0.95))
