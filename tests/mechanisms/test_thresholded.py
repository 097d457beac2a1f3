"""Intervals of counts that were shown because their own noise reached a threshold: coverage worked out from the law."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.mechanisms.gaussian import IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.thresholded import Thresholded, ThresholdedGaussian, ThresholdedLaplace
from tests.steps import at_most

LAPLACE = ThresholdedLaplace(1, 1e-6)
LAWS: dict[str, Thresholded] = {
    "laplace": LAPLACE,
    "narrow laplace": ThresholdedLaplace(8, 1e-9),
    "wide laplace": ThresholdedLaplace("0.05", 1e-6, groups=2),
    "gaussian": ThresholdedGaussian(1e-6, sigma=4),
    "narrow gaussian": ThresholdedGaussian(1e-3, sigma="0.4"),
    "gaussian by sums": ThresholdedGaussian(1e-9, sigma=63),
    "gaussian by integrals": ThresholdedGaussian(1e-9, sigma=66),
}


def reach(law: Thresholded) -> int:
    """Beyond this the noise has less than 2**-60 of its mass."""
    return 60 * int(law.scale + 1) if isinstance(law, ThresholdedLaplace) else 10 * int(float(law.variance) ** 0.5 + 1)  # type: ignore[attr-defined]


def probabilities(law: Thresholded, most: int) -> dict[int, float]:
    """The law of the noise, to 30 digits before it is rounded."""
    with mpmath.workdps(30):
        if isinstance(law, ThresholdedLaplace):
            q = mpmath.exp(-1 / mpmath.mpf(law.scale.numerator) * law.scale.denominator)
            return {x: float((1 - q) / (1 + q) * q ** abs(x)) for x in range(-most, most + 1)}
        assert isinstance(law, ThresholdedGaussian)
        v = mpmath.mpf(law.variance.numerator) / law.variance.denominator
        weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * v)) for x in range(-most, most + 1)}
        whole = mpmath.fsum(weights.values())
        return {x: float(w / whole) for x, w in weights.items()}


class Shown:
    """The law of what is shown of a group, and whether an interval of it covers."""

    def __init__(self, law: Thresholded, confidence: float, corrected: bool = True) -> None:
        self.law, most = law, reach(law)
        self.noise = probabilities(law, most)
        self.shown = np.arange(law.threshold, law.threshold + 3 * most)
        if corrected:
            self.low, self.high = law.interval(self.shown, confidence)
        else:  # as if nothing had been chosen
            plain = (
                IntegerLaplace(1, scale=law.scale)
                if isinstance(law, ThresholdedLaplace)
                else IntegerGaussian(1, sigma=Fraction(float(law.variance) ** 0.5))  # type: ignore[attr-defined]
            )
            error = int(plain.error(confidence))
            self.low, self.high = self.shown - error, self.shown + error

    def chances(self, n: int) -> tuple[float, float]:
        """That a group of n units is shown, and that it is and its interval covers."""
        p = np.array([self.noise.get(int(y) - n, 0.0) for y in self.shown])
        return float(p.sum()), float(p[(self.low <= n) & (n <= self.high)].sum())

    def coverage(self, groups: dict[int, int]) -> float:
        """The expected part of the groups shown, so many of each size, that is covered."""
        found = {n: self.chances(n) for n in groups}
        return sum(k * found[n][1] for n, k in groups.items()) / sum(k * found[n][0] for n, k in groups.items())


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99999])
@pytest.mark.parametrize("name", LAWS)
def test_every_size_is_covered_given_that_it_is_shown(name: str, confidence: float) -> None:
    """Each count from 1 to far above the threshold, none by less than the confidence: the theorem, by enumeration."""
    law = LAWS[name]
    made, spread = Shown(law, confidence), reach(law) // 10
    sizes = {1, 2, 3, law.threshold - 1, law.threshold, law.threshold + 1}
    sizes |= {round(law.threshold * i / 7) for i in range(1, 7)} | {law.threshold + spread * i // 4 for i in range(8)}
    for n in sizes - {0}:
        shown, covered = made.chances(n)
        if shown > 1e-13:  # below, the tail that was left out counts
            assert covered >= confidence * shown * (1 - 1e-9), n
    assert (made.low <= made.shown).all()
    assert (made.shown <= made.high).all()
    assert (made.low >= 1).all()
    assert (np.diff(made.low) >= 0).all()
    assert (np.diff(made.high) >= 0).all()


@pytest.mark.parametrize(
    ("groups", "before"),
    [({10: 3000, 60: 20}, 0.57), ({12: 1000, 40: 20}, 0.76), ({8: 5000}, 0.0)],
)
def test_many_groups_below_the_threshold(groups: dict[int, int], before: float) -> None:
    """Measured from outside: most that is shown is there by its noise, and its interval covered half the time."""
    assert Shown(LAPLACE, 0.95, corrected=False).coverage(groups) <= before
    assert Shown(LAPLACE, 0.95).coverage(groups) >= 0.95


@pytest.mark.parametrize("name", ["laplace", "gaussian", "gaussian by sums", "gaussian by integrals"])
def test_far_above_the_threshold_nothing_is_lost(name: str) -> None:
    law = LAWS[name]
    plain, made = Shown(law, 0.95, corrected=False), Shown(law, 0.95)
    assert (made.shown - made.low)[-1] - (plain.shown - plain.low)[-1] in (0, 1)
    assert (made.high - made.shown)[-1] - (plain.high - plain.shown)[-1] in (0, 1)


def test_an_interval_one_shorter_does_not_cover() -> None:
    """The test above can fail: at some size each end is needed."""
    made = Shown(LAPLACE, 0.95)
    for low, high in ((1, 0), (0, 1)):
        worse = Shown(LAPLACE, 0.95)
        worse.low, worse.high = np.where(made.low > 1, made.low + low, 1), made.high - high
        assert any(c < 0.95 * p for p, c in map(worse.chances, range(1, 60)))


def test_integrals_enclose_sums() -> None:
    """Where tails are not summed: intervals at most a quarter of a deviation wider than sums would give."""
    law = LAWS["gaussian by integrals"]
    assert isinstance(law, ThresholdedGaussian)
    shown = np.arange(law.threshold, law.threshold + 600, 7)
    low, high = law.interval(shown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("curador.mechanisms.thresholded.SUMMED", 10**6)
        narrow_low, narrow_high = law.interval(shown)
    for wider in (narrow_low - low, high - narrow_high):
        assert ((wider >= 0) & (wider <= 16)).all()


def test_extremes() -> None:
    """A delta of 1e-300, where tails are below all doubles; noise of almost nothing; counts of 2**61."""
    for law in (
        ThresholdedGaussian(1e-300, sigma=10),
        ThresholdedGaussian(1e-300, sigma=1000),
        ThresholdedLaplace(1, 1e-300),
    ):
        low, high = law.interval([law.threshold, 10**6, 2**61])
        assert low[0] == 1
        assert (low[1:] > 10**5).all()
        assert (high >= [law.threshold, 10**6, 2**61]).all()
    assert [x.tolist() for x in ThresholdedLaplace(1000, 1e-6).interval([500])] == [[500], [500]]
    assert [x.tolist() for x in ThresholdedLaplace(50, 1e-6).interval([2, 3])] == [[1, 3], [2, 3]]
    assert [x.size for x in LAPLACE.interval([])] == [0, 0]


def test_a_delta_that_no_double_holds_is_refused() -> None:
    for delta in ("1e-330", "1e-900"):
        with pytest.raises(InvalidParameter, match="1e-323"):
            ThresholdedGaussian(delta, rho="0.1")
        with pytest.raises(InvalidParameter, match="1e-323"):
            ThresholdedLaplace(1, delta)
    with at_most(60_000):
        assert [ThresholdedGaussian("1e-320", rho=rho).threshold for rho in ("0.1", 1, 10)] == [87, 29, 10]


@pytest.mark.parametrize("sigma", ["1e-154", "1e-163", "1e-200", "1e-320"])
def test_noise_too_small_for_doubles_has_intervals_too(sigma: str) -> None:
    """Twice the variance became 0, and an interval an IndexError."""
    mechanism, larger = (ThresholdedGaussian("1e-6", sigma=x) for x in (sigma, "1e-100"))
    assert mechanism.threshold == larger.threshold == 2
    shown = [2, 3, 10**6]
    low, high = mechanism.interval(shown)
    assert (low <= shown).all()
    assert high.tolist() == shown
    assert [low.tolist(), high.tolist()] == [x.tolist() for x in larger.interval(shown)]
