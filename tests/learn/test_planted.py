"""The classic mistakes of private learning: each is impossible or refused here, and planted, it is found.

Each has a check that the product passes and that the mistake, put in its place, does not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.accounting.calibration import keeps
from curador.accounting.events import PoissonSampled
from curador.errors import CuradorError, InvalidParameter
from curador.learn import AdditiveClassifier, GaussianNB, KMeans, LinearRegression, LinearSVC, LogisticRegression
from curador.learn.descent import sampled
from curador.learn.descent.sampled import PoissonDescent, sum_units
from curador.learn.descent.slopes import logistic_slopes
from curador.learn.descent.whitened import STEEPEST, lengths_cap, pulled
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import NumberFeature
from curador.mechanisms.gaussian import Gaussian
from curador.privacy import ApproxDP
from tests.curator.test_training import FEATURES, held, people
from tests.learn.rows.test_design import made

CLIP = Fraction(1, 4)


# ---- gradients that are not clipped one by one ---------------------------------------------------------------------


def longest(caps: Callable[[Design, int], Any]) -> float:
    """How far one row moves a sum, in clipping lengths, with such caps."""
    rows, labels, unit = made(200), np.arange(200, dtype=np.int32) % 2, sum_units(CLIP)
    weights, most = np.linspace(-5, 5, rows.encoding.width), caps(rows, unit)
    each = (pulled(rows.some(np.array([i])), labels[[i]], logistic_slopes, weights, most[[i]]) for i in range(200))
    return max(float(np.linalg.norm(one.astype(float))) for one in each) / unit


def test_every_row_is_clipped() -> None:
    assert longest(lengths_cap) <= 1
    assert longest(lambda rows, unit: np.full(len(rows), STEEPEST, np.int32)) > 1  # planted: no clip
    whole = lambda rows, unit: np.full(len(rows), int(lengths_cap(rows, unit).mean()), np.int32)  # noqa: E731
    assert longest(whole) > 1  # planted: one factor for the batch


@pytest.mark.parametrize("clip", [float("inf"), float("nan"), 0, -1, "none", 10**6])
def test_clipping_cannot_be_switched_off(clip: Any) -> None:
    for solver in ({}, {"solver": "sgd", "rows": 100}):
        model = LogisticRegression(1, 1e-5, bounds=(0, 1), classes=[0, 1], clip=clip, **solver)  # type: ignore[arg-type]
        with pytest.raises(CuradorError):
            model.fit([[0.5]], [1])


# ---- batches that are shuffled, and accounted as if each row had a coin ---------------------------------------------


def batches(monkeypatch: pytest.MonkeyPatch, draw: Any = None) -> np.ndarray:
    """Which rows were in which batch: one row for each step."""
    seen: list[np.ndarray] = []
    plain, n = Design.some, 60

    def watched(self: Design, chosen: np.ndarray) -> Design:
        seen.append(np.isin(np.arange(n), chosen))
        return plain(self, chosen)

    with monkeypatch.context() as patch:
        patch.setattr(Design, "some", watched)
        if draw is not None:
            patch.setattr(sampled, "bernoulli_array", draw)
        settings = PoissonDescent(Fraction(1), Fraction(1, 4), n, 800, Fraction(1), Fraction(1))
        settings.descend(made(n), np.zeros(n, np.int32), logistic_slopes, 1)
    return np.array(seen, float)


def are_coins(drawn: np.ndarray, q: float = 0.25) -> bool:
    """Whether sizes spread as coins do, rows are as often there, two rows are no more or less together, nor are steps.

    Of coins each of these is outside of its limits with a chance below 1e-7.
    """
    steps, n = drawn.shape
    spread = float(drawn.sum(axis=1).var() / (n * q * (1 - q)))
    away = (drawn.mean(axis=0) - q) / (q * (1 - q) / steps) ** 0.5
    rate = (drawn.mean() - q) / (q * (1 - q) / steps / n) ** 0.5
    pairs = np.corrcoef(drawn.T)[np.triu_indices(n, 1)].mean() * (n * (n - 1) / 2 * steps) ** 0.5
    after = float(((drawn[1:] - q) * (drawn[:-1] - q)).mean() / (q * (1 - q)) * (n * (steps - 1)) ** 0.5)
    scores = [*away, rate, pairs, after]
    return 0.7 < spread < 1.3 and max(map(abs, scores)) < 7


def shuffled() -> Callable[..., np.ndarray]:
    """Planted: batches of one size that go through a shuffled table, as data loaders do."""
    rng = np.random.default_rng(1)
    left: list[np.ndarray] = []

    def draw(p: Fraction, size: int, entropy: object) -> np.ndarray:
        if not left:
            left.extend(np.array_split(rng.permutation(size), int(1 / p)))
        return np.isin(np.arange(size), left.pop())

    return draw


def test_batches_are_drawn_by_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert are_coins(batches(monkeypatch))
    assert not are_coins(batches(monkeypatch, shuffled()))
    rng = np.random.default_rng(2)
    fixed = lambda p, size, entropy: np.isin(np.arange(size), rng.choice(size, int(p * size), replace=False))  # noqa: E731
    assert not are_coins(batches(monkeypatch, fixed))  # planted: a fixed number of rows in each
    seldom = lambda p, size, entropy: rng.random(size) < float(p) * 1.15  # noqa: E731
    assert not are_coins(batches(monkeypatch, seldom))  # planted: another rate than the one accounted


def test_the_event_is_that_of_the_coins_and_the_noise() -> None:
    made_ = PoissonDescent(Fraction(2), Fraction(1, 50), 1000, 30, CLIP, Fraction(1))
    assert made_.all_steps == PoissonSampled(made_.noise.event, Fraction(1, 50)) * 30
    assert made_.noise.sensitivity == sum_units(CLIP)
    assert made_.noise.sigma == 2 * sum_units(CLIP)
    less = Gaussian(sum_units(CLIP), sigma=made_.noise.sigma * Fraction(9, 10)).event
    cost = LogisticRegression(
        delta=1e-5, solver="sgd", noise_multiplier=2, sample_rate="1/50", steps=30, clip=CLIP, rows=1000
    )._settings(1, made_.neighbors, None, 10)[1]
    assert keeps(made_.all_steps, cost)
    assert not keeps(PoissonSampled(less, Fraction(1, 50)) * 30, cost)  # planted: a tenth less noise


# ---- scaling by the data -------------------------------------------------------------------------------------------


def of_the_row(encoded: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether every value is encoded alike alone and among others."""
    values = np.array([-3.0, 0.5, 2.0, 7.0, 40.0])
    return all(encoded(values[[i]])[0] == encoded(values)[i] for i in range(len(values)))


def test_scaling_is_by_declared_bounds() -> None:
    assert of_the_row(NumberFeature("x", 0, 10).encoded)
    by_range = lambda x: NumberFeature("x", float(x.min()), float(x.max()) + 1e-9).encoded(x)  # noqa: E731
    by_deviation = lambda x: np.rint(1024 * (x - x.mean()) / (x.std() + 1e-9))  # noqa: E731
    assert not of_the_row(by_range)
    assert not of_the_row(by_deviation)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(1, 1e-5, classes=[0, 1]),
        LinearSVC(1, 1e-5, classes=[0, 1]),
        AdditiveClassifier(1, 1e-5, classes=[0, 1]),
        GaussianNB(1, classes=[0, 1]),
        GaussianNB(1, bounds=(0, 1)),
        LinearRegression(1, 1e-5, label_bounds=(0, 1)),
        LinearRegression(1, 1e-5, bounds=(0, 1)),
        KMeans(2, epsilon=1),
    ],
    ids=str,
)
def test_what_is_not_declared_is_never_read_from_the_data(model: Any) -> None:
    with pytest.raises(InvalidParameter, match="declare"):
        model.fit([[0.0], [1.0]], [0, 1])


# ---- a number of rows that is read from the data -------------------------------------------------------------------


def test_the_number_of_rows_is_declared_or_not_used() -> None:
    """DP-SGD is refused without it; with it, it divides by the declared one, whatever the data has."""
    with pytest.raises(InvalidParameter, match="number of rows"):
        LogisticRegression(1, 1e-5, solver="sgd", bounds=(0, 1), classes=[0, 1]).fit([[0.5]], [1])
    curator = held()
    with pytest.raises(InvalidParameter, match="number of rows"):
        curator.fit(LogisticRegression(1, 1e-5, solver="sgd"), "people", features=FEATURES, label="rich")
    assert len(curator.history()) == 0


def divided_by(monkeypatch: pytest.MonkeyPatch, rows: int, descend: Any = PoissonDescent.descend) -> float:
    """How far a step of one fixed sum goes; the same for any number of rows, unless that is read."""
    settings = PoissonDescent(Fraction(1), Fraction(1, 2), 1000, 2, Fraction(1), Fraction(1))
    with monkeypatch.context() as patch:
        patch.setattr(Gaussian, "release", lambda self, value, **more: np.full(np.shape(value), 1e6))
        found, _ = descend(settings, made(rows), np.zeros(rows, np.int32), logistic_slopes, 1)
    return float(np.abs(found).sum())


def test_steps_do_not_depend_on_how_many_rows_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_data(self: PoissonDescent, rows: Design, *more: Any) -> Any:  # planted: n from the data
        from dataclasses import replace

        return PoissonDescent.descend(replace(self, rows=len(rows)), rows, *more)

    assert divided_by(monkeypatch, 100) == divided_by(monkeypatch, 101)
    assert divided_by(monkeypatch, 100, by_data) != divided_by(monkeypatch, 101, by_data)


def test_a_file_of_a_model_has_no_number_of_rows() -> None:
    from curador.learn.saved import to_json

    found = held(people(1237)).fit(LogisticRegression(1, 1e-5), "people", features=FEATURES, label="rich")
    assert "1237" not in str(to_json(found))
    assert found.privacy_.guarantee == ApproxDP(1, 1e-5)
