"""Noisy descent: what one row adds is within what is said, depends on that row alone, and the noise is the law told."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.accounting.calibration import keeps
from curador.accounting.events import Composed, GaussianNoise
from curador.errors import InvalidParameter
from curador.learn.descent.sampled import PoissonDescent, calibrated, sum_units
from curador.learn.descent.slopes import FARTHEST, PER_ONE, UNIT, hinge_slopes, logistic_slopes, softmax_slopes
from curador.learn.descent.whitened import (
    MAP_BITS,
    STEEPEST,
    Whitened,
    caps,
    clip_units,
    clipped,
    lengths_cap,
    moved_moments,
    noisy_moments,
    pulled,
    whitening,
)
from curador.learn.pricing import mu_of
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE
from curador.mechanisms.gaussian import Gaussian
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors
from curador.query.plan.identity import coded
from tests.learn.rows.test_design import ENCODING, dense, made

CLIP = clip_units(Fraction(3))


def some_map(seed: int, size: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.rint(rng.normal(0, size, (ENCODING.width, ENCODING.width))).astype(np.int64)


def exact_length_squared(made_: np.ndarray, row: np.ndarray) -> int:
    turned = made_.astype(object) @ row.astype(object)
    return int((turned * turned).sum())


@pytest.mark.parametrize("size", [1.0, 2.0**12, 2.0**20, 2.0**29])
def test_no_row_is_longer_than_the_clip(size: float) -> None:
    design, turn = made(300), some_map(7, size)
    most = caps(design, turn, CLIP)
    for cap, row in zip(most, dense(design), strict=True):
        assert int(cap) ** 2 * exact_length_squared(turn, row) <= CLIP**2
    wide = [cap for cap in most if cap > 1000]
    for cap, row in zip(most, dense(design), strict=True):
        if 1000 < cap < STEEPEST:  # and not needlessly short
            assert (1.01 * cap) ** 2 * exact_length_squared(turn, row) > CLIP**2
    assert wide or size > 2.0**12


def test_rows_as_they_are_encoded_are_no_longer_than_the_clip() -> None:
    design = made(300)
    for cap, row in zip(lengths_cap(design, sum_units(Fraction(1))), dense(design), strict=True):
        assert int(cap) ** 2 * int((row.astype(object) ** 2).sum()) <= sum_units(Fraction(1)) ** 2


def test_several_slopes_are_cut_together() -> None:
    rng = np.random.default_rng(2)
    slopes, most = rng.integers(-UNIT, UNIT, (500, 4)).astype(np.float64), rng.integers(0, 3000, 500).astype(np.int32)
    for row, cap in zip(clipped(slopes, most), most, strict=True):
        assert sum(int(x) ** 2 for x in row) <= int(cap) ** 2


def test_what_a_row_adds_depends_on_it_alone() -> None:
    """The pull of every row is the same alone, last, and among others: the sum moves by exactly that row."""
    design, turn = made(777), some_map(9, 2.0**14)
    rng = np.random.default_rng(4)
    weights = np.rint(rng.normal(0, 2.0**20, ENCODING.width))
    labels = rng.integers(0, 2, 777).astype(np.int32)

    def total(part: Design, of: np.ndarray) -> np.ndarray:
        pull = clipped(logistic_slopes(part.dot(weights) / 2**12, of), caps(part, turn, CLIP))
        return turn @ part.summed(pull)

    whole = total(design, labels)
    for gone in (0, 1, 300, 776):
        left = np.array([i for i in range(777) if i != gone])
        one = design.some(np.array([gone]))
        moved = whole - total(design.some(left), labels[left])
        assert (moved == total(one, labels[[gone]])).all()
        assert int((moved.astype(object) ** 2).sum()) <= CLIP**2


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("copies", [1, 3])
def test_moments_move_by_no_more_than_is_said(neighbors: Neighbors, copies: int) -> None:
    told = moved_moments(ENCODING.most, copies, neighbors)
    rng = np.random.default_rng(8)
    worst = Fraction(0)
    for trial in range(60):
        first, second = made(copies, 2 * trial), made(copies, 2 * trial + 1)
        if trial == 0:  # the longest rows, and at right angles
            ends = np.array([[SCALE, SCALE]] * copies, np.int16)
            first = Design(ENCODING, ends, np.zeros((copies, 1), np.int16))
            second = Design(ENCODING, -ends, np.full((copies, 1), 1, np.int16))
        moved = first.moments().astype(object)
        if neighbors is Neighbors.REPLACE:
            moved = moved - second.moments()
        worst = max(worst, Fraction(int((moved * moved).sum())) / told**2)
    del rng
    assert worst <= 1
    assert worst > Fraction(1, 4)  # a bound twice too small would be seen


@pytest.mark.parametrize("guarantee", [ApproxDP(1, 1e-5), ApproxDP(0.1, 1e-6), ApproxDP(8, 1e-5), ZCDP(0.1)])
@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("outputs", [1, 5])
def test_the_event_keeps_the_guarantee(guarantee: Guarantee, neighbors: Neighbors, outputs: int) -> None:
    given: list[dict[str, Any]] = [{}, {"steps": 16, "clip": Fraction(3)}]
    for chosen in given:
        settings = Whitened(mu_of(guarantee), copies=2, neighbors=neighbors, **chosen)
        assert keeps(settings.event(ENCODING, outputs), guarantee)
        less = replace(settings, mu=settings.mu * Fraction(101, 100))
        assert not keeps(less.event(ENCODING, outputs), guarantee)


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("guarantee", [ApproxDP(1, 1e-5), ApproxDP(0.01, 1e-9), ZCDP(100)])
def test_however_many_steps_there_are_they_cost_what_was_charged(guarantee: Guarantee, neighbors: Neighbors) -> None:
    """The squared ratios of all steps that may be chosen add up to no more than that of the one release charged."""
    settings, d = Whitened(mu_of(guarantee), copies=3, neighbors=neighbors), ENCODING.width
    event = settings.event(ENCODING, 1)
    assert isinstance(event, Composed)
    ((charged, times),) = (part for part in event.parts if part[0] != settings.moments(ENCODING).event)
    assert isinstance(charged, GaussianNoise)
    assert times == 1
    most = (charged.sensitivity / charged.sigma) ** 2
    for steps, clip in itertools.product((8, 9, 63, 128), (Fraction(1, 100), Fraction(7, 3), Fraction(1000))):
        one = settings.gradients(d, steps, clip)
        assert one.sensitivity >= 3 * clip_units(clip)
        assert steps * (one.event.sensitivity / one.event.sigma) ** 2 <= most
    planted = settings.gradients(d, 127, Fraction(1)).event
    assert 128 * (planted.sensitivity / planted.sigma) ** 2 > most  # one step more than the noise was for


def test_steps_and_clip_follow_the_budget() -> None:
    def chosen(mu: float, rows: float, columns: int, **more: Any) -> tuple[int, float]:
        steps, clip = Whitened(Fraction(mu), **more).chosen(rows, columns)
        return steps, float(clip)

    assert chosen(0.268, 26_049, 102) == (33, 4.65)
    assert chosen(2, 26_049, 102) == (90, 9.09)
    assert chosen(2, 10**9, 102) == (128, 10.1)
    assert chosen(0.0325, 300, 102) == (8, 0.63)
    assert chosen(0.0325, -(10.0**9), 102) == (8, 0.63)
    assert chosen(0.268, 26_049, 102, copies=2, neighbors=Neighbors.REPLACE) == chosen(0.268, 26_049 / 4, 102)
    assert chosen(2, 26_049, 102, steps=5) == (5, 9.09)
    assert chosen(2, 26_049, 102, clip=Fraction(3)) == (90, 3.0)


def test_settings_that_are_given_are_what_was_bought_by_them() -> None:
    """Plans of given steps and clip are what earlier versions sold: their code has not changed."""
    settings = Whitened(Fraction(1, 4), steps=16, clip=Fraction(3))
    told = {"mu": "1/4", "clip": "3", "learning_rate": "6", "share": "1/3", "damping": "3/10"}
    code = {name: {"fraction": x} for name, x in told.items()}
    assert coded(settings) == {**code, "steps": 16, "copies": 1, "neighbors": "add-remove"}
    event = settings.event(ENCODING, 1)
    assert isinstance(event, Composed)
    assert sorted(times for _, times in event.parts) == [1, 16]


def test_no_number_of_rows_makes_an_error() -> None:
    """A guarantee that is too small for the steps that may be chosen is refused before any row is read."""
    least = Fraction(1, 1 << 36)
    with pytest.raises(InvalidParameter, match="too small"):
        Whitened(least).event(ENCODING, 1)
    settings = Whitened(16 * least)
    settings.event(ENCODING, 1)
    settings.gradients(ENCODING.width, 128, Fraction(1))


def test_the_noise_is_what_the_event_says() -> None:
    """The spread of released moments and of a step's sum, against the deviations of the event."""
    settings = Whitened(mu_of(ApproxDP(1, 1e-5)))
    noise, design = settings.moments(ENCODING), made(50)
    exact = design.moments()
    drawn = np.array([noisy_moments(design, noise) - exact for _ in range(400)])
    d = ENCODING.width
    diagonal = drawn[:, range(d), range(d)].std() / float(noise.sigma)
    upper = np.triu_indices(d, 1)
    off = drawn[:, upper[0], upper[1]].std() / float(noise.sigma) * 2**0.5
    assert diagonal == pytest.approx(1, abs=0.05)
    assert off == pytest.approx(1, abs=0.05)
    assert (drawn == drawn.transpose(0, 2, 1)).all()


def test_the_steps_release_sums_with_their_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number that a descent takes from the rows passes a release of the noise that the event names."""
    released: list[tuple[Fraction, int]] = []
    plain: Any = Gaussian.release

    def watched(self: Gaussian, values: Any, **more: Any) -> Any:
        released.append((self.sigma, np.size(values)))
        return plain(self, values, **more)

    monkeypatch.setattr(Gaussian, "release", watched)
    settings, d = Whitened(mu_of(ApproxDP(1, 1e-5)), steps=3), ENCODING.width
    design = made(100)
    _, used = settings.descend(design, np.zeros(100, np.int32), logistic_slopes, 1)
    assert used.clip is not None
    assert released[0] == (settings.moments(ENCODING).sigma, d)
    assert released[1][1] == d * (d - 1) // 2
    assert released[1][0] * 2 ** Fraction(1, 2) >= float(released[0][0]) * (1 - 1e-12)
    assert released[2:] == [(settings.gradients(d, 3, used.clip).sigma, d)] * 3


def test_margins_have_the_slopes_of_their_losses() -> None:
    at = np.array([-30.0, -1.0, 0.0, 0.5, 1.0, 30.0])
    ones, none = np.ones(6, np.int32), np.zeros(6, np.int32)
    chance = 1 / (1 + np.exp(-np.clip(at, -FARTHEST, FARTHEST)))
    assert np.abs(logistic_slopes(at * PER_ONE, none) / UNIT - chance).max() < 2 / UNIT
    assert np.abs(logistic_slopes(at * PER_ONE, ones) / UNIT - chance + 1).max() < 2 / UNIT
    assert (hinge_slopes(at * PER_ONE, ones) / UNIT).tolist() == [-1, -1, -1, -0.5, 0, 0]
    three = softmax_slopes(np.stack([at, 0 * at, -at], axis=1) * PER_ONE, np.full(6, 1, np.int32)) / UNIT
    weights = np.exp(np.stack([at, 0 * at, -at], axis=1))
    assert np.abs(three - weights / weights.sum(axis=1, keepdims=True) + [0, 1, 0]).max() < 2 / UNIT


def test_a_map_is_made_of_any_noisy_moments() -> None:
    for noisy in (np.zeros((6, 6)), -1e18 * np.eye(6), 1e25 * np.ones((6, 6))):
        turn, rows = whitening(noisy, 1e9, 0.3)
        assert np.abs(turn).max() <= 1 << 30
        assert rows >= 1
    assert MAP_BITS + 30 < 53


class TestSampled:
    def test_the_noise_keeps_the_budget(self) -> None:
        made_, kept = calibrated(
            None, (1, 1e-5, None), sample_rate=Fraction(1, 50), rows=1000, steps=100, clip=Fraction(1), learning_rate=1
        )
        assert kept == ApproxDP(1, 1e-5)
        assert keeps(made_.all_steps, kept)

    @pytest.mark.parametrize(
        ("copies", "neighbors"), [(3, Neighbors.ADD_REMOVE), (3, Neighbors.REPLACE), (70, Neighbors.ADD_REMOVE)]
    )
    def test_units_of_several_rows_are_promised_it_too(self, copies: int, neighbors: Neighbors) -> None:
        settings: dict[str, Any] = {"sample_rate": Fraction(1, 50), "rows": 1000, "steps": 20, "clip": Fraction(1)}
        settings |= {"learning_rate": 1, "neighbors": neighbors}
        made_, kept = calibrated(2, (None, 1e-5, None), copies=copies, **settings)
        one, less = calibrated(2, (None, 1e-5, None), **settings)
        assert keeps(made_.all_steps, kept)
        assert keeps(one.all_steps, less)
        assert not keeps(replace(one, copies=copies).all_steps, less)  # what is promised to a row is less than that

    def test_what_a_unit_adds_is_within_a_step_for_each_of_its_rows(self) -> None:
        """Whichever rows of a unit are drawn, their part of the sum is at most so many clipping lengths."""
        design, labels = made(300), np.arange(300, dtype=np.int32) % 2
        clip = sum_units(Fraction(1, 8))
        most, weights = lengths_cap(design, clip), np.linspace(-3, 3, design.encoding.width)
        for size in (1, 2, 5):
            chosen = np.arange(size)
            total = pulled(design.some(chosen), labels[chosen], logistic_slopes, weights, most[chosen])
            assert np.linalg.norm(total.astype(float)) <= size * clip * (1 + 1e-12)
        free = np.full(300, 1 << 22, np.int32)  # planted: rows that are not clipped
        total = pulled(design.some(chosen), labels[chosen], logistic_slopes, weights, free[chosen])
        assert np.linalg.norm(total.astype(float)) > 5 * clip

    def test_a_given_noise_says_what_it_costs(self) -> None:
        made_, kept = calibrated(
            1,
            (None, 1e-5, None),
            sample_rate=Fraction(1, 127),
            rows=32561,
            steps=1270,
            clip=Fraction(1),
            learning_rate=1,
        )
        assert isinstance(kept, ApproxDP)
        assert 1.58 < kept.epsilon < 1.59  # the recipe of the course, ten passes in batches of 256
        assert made_.noise.sigma == sum_units(Fraction(1))

    def test_batches_are_poisson(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Sizes of batches spread as coins do, and a row's presence says nothing of another's."""
        seen: list[int] = []
        plain = Design.some

        def watched(self: Design, chosen: np.ndarray) -> Design:
            seen.append(len(chosen))
            return plain(self, chosen)

        monkeypatch.setattr(Design, "some", watched)
        q, n, steps = Fraction(1, 4), 400, 300
        settings = PoissonDescent(Fraction(1), q, n, steps, Fraction(1), Fraction(1))
        settings.descend(made(n), np.zeros(n, np.int32), logistic_slopes, 1)
        assert len(seen) == steps
        assert np.mean(seen) == pytest.approx(100, abs=3)
        assert np.var(seen) == pytest.approx(75, rel=0.35)  # a shuffled or fixed batch has none
