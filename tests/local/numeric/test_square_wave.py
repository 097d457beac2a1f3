"""The square wave: its exact law, and the two estimators against what defines them."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import KRR, SquareWave, Tally, task_from_json
from curador.local.frequency.estimates import on_simplex
from curador.local.numeric.unfold import unfolded
from curador.numbers import set_fields
from tests.local.exact_law import keeps_its_word, law, within, worst_ratio
from tests.mutants import local_further as mutants


def laws_of(task: Any, module: str = "") -> list[Any]:
    return [law(task, bucket + 0.5, module) for bucket in range(task.buckets)]


def matrix(task: SquareWave) -> Any:
    """The probability of each cell (row) from each bucket (column), as the collector takes it to be."""
    inside = [[i <= j < i + task.window for i in range(task.buckets)] for j in range(task.cells)]
    return np.where(inside, float(task.near), float(task.far))


@pytest.mark.parametrize(("buckets", "epsilon"), [(2, "1/2"), (3, 1), (8, 1), (9, 3), (9, "1/10"), (20, 6)])
def test_every_report_has_its_probability(buckets: int, epsilon: Any) -> None:
    task = SquareWave(0, buckets, epsilon, buckets=buckets)
    laws = laws_of(task)
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    for i, one in enumerate(laws):
        wanted = {j: task.near if i <= j < i + task.window else task.far for j in range(task.cells)}
        assert one == wanted


@pytest.mark.parametrize("epsilon", ["1/1000", "0.1", 1, 3, 10])
@pytest.mark.parametrize("buckets", [2, 17, 1024])
def test_the_threshold_is_the_largest_that_keeps_epsilon(epsilon: Any, buckets: int) -> None:
    task = SquareWave(0, 1, epsilon, buckets=buckets)
    assert within(task.ratio, task.epsilon)
    set_fields(task, inside=task.inside + 1)
    assert not within(task.ratio, task.epsilon)


def test_a_private_but_folded_wave_is_caught() -> None:
    """Folding is post-processing: it keeps the promise, and breaks what the collector assumes."""
    mutant = mutants.ClippedWave(0, 8, 1, buckets=8)
    laws = laws_of(mutant, "curador.local.numeric.square_wave")
    assert keeps_its_word(mutant, laws)
    assert laws != laws_of(SquareWave(0, 8, 1, buckets=8))


def test_a_wave_that_draws_the_window_twice_is_caught() -> None:
    assert not keeps_its_word(mutants.AnyCellElse(0, 8, 1, buckets=8), laws_of(mutants.AnyCellElse(0, 8, 1, buckets=8)))


def test_windows_of_the_literature() -> None:
    """The half widths b that [LWLSL20] derives, as shares of the range; near 0 it tends to a half."""
    for epsilon, b in ((0.5, 0.35816), (1, 0.25608), (2, 0.12934), (4, 0.03043)):
        assert SquareWave(0, 1, epsilon, buckets=1 << 16).window / 2**17 == pytest.approx(b, abs=1e-5)
    assert SquareWave(0, 1, "1/1000", buckets=1000).window == pytest.approx(1000, rel=2e-3)


def test_buckets() -> None:
    task = SquareWave(-10, 10, 1, buckets=4)
    assert task.bucket_of([-99, -10, -5.01, -5, 0, 4.9, 10, 99]).tolist() == [0, 0, 0, 1, 2, 2, 3, 3]
    assert task.edges.tolist() == [-10, -5, 0, 5, 10]


@pytest.mark.parametrize("epsilon", [1, 3])
def test_a_step_is_that_of_the_whole_matrix(epsilon: int) -> None:
    """Running sums do what the matrix does; one step, with and without smoothing, by loops."""
    task = SquareWave(0, 1, epsilon, buckets=7)
    counts = np.random.default_rng(1).integers(1, 50, task.cells)
    law = matrix(task)
    x = np.full(7, 1 / 7)
    x = x * (law.T @ (counts / (law @ x))) / counts.sum()
    found, steps = unfolded(counts, task.window, float(task.near), float(task.far), smooth=False, gain=math.inf)
    assert steps == 1
    assert np.allclose(found, x, rtol=1e-12, atol=0)
    after = [(x[max(i - 1, 0)] + 2 * x[i] + x[min(i + 1, 6)]) / 4 for i in range(7)]
    found, _ = unfolded(counts, task.window, float(task.near), float(task.far), smooth=True, gain=math.inf)
    assert np.allclose(found, after, rtol=1e-12, atol=0)


def test_without_smoothing_it_is_the_most_likely() -> None:
    """The likelihood is concave, so no frequencies beat these by more than max_i of the gradient less the users."""
    task = SquareWave(0, 1, 2, buckets=12)
    rng = np.random.default_rng(3)
    law = matrix(task)
    true = np.bincount(task.bucket_of(rng.beta(2, 5, 3000)), minlength=12) / 3000
    tally = Tally(3000, rng.multinomial(3000, law @ true))

    def gap(x: Any) -> float:
        return float((law.T @ (tally.support / (law @ x))).max() - tally.users)

    exact, _ = unfolded(tally.support, task.window, float(task.near), float(task.far), smooth=False, gain=1e-9)
    assert gap(exact) < 0.1
    assert gap(task.estimate(tally, smooth=False).values) < 20
    assert gap(task.estimate(tally).values) > 50  # smoothing gives likelihood away


def distance(found: Any, true: Any) -> float:
    """Wasserstein's, as a share of the range."""
    return float(np.abs(np.cumsum(found) - np.cumsum(true)).mean())


@pytest.mark.parametrize("shape", [(5, 2), (1, 1), (0.5, 0.5)])
def test_the_shape_is_found_better_than_by_categories(shape: tuple[float, float]) -> None:
    """At epsilon 1, against k-RR on as many buckets moved to the simplex; the mean of eight runs."""
    values = np.random.default_rng(7).beta(*shape, 20_000)
    task, krr = SquareWave(0, 1, 1, buckets=64), KRR(64, 1)
    own = task.bucket_of(values)
    true = np.bincount(own, minlength=64) / own.size
    smooth = np.mean([distance(task.estimate(task.randomize(values)).values, true) for _ in range(8)])
    categories = [distance(on_simplex(krr.estimate(krr.randomize(own)).values), true) for _ in range(8)]
    assert smooth < 0.022
    assert smooth < np.mean(categories)


def test_the_estimate_is_a_distribution_and_in_the_units_of_the_data() -> None:
    task = SquareWave(0, 100, 3, buckets=50)
    values = np.random.default_rng(1).normal(30, 5, 20_000)
    found = task.estimate(task.randomize(values))
    assert found.values.min() >= 0
    assert found.values.sum() == pytest.approx(1)
    assert found.mean == pytest.approx(30, abs=1.5)
    assert found.quantile(0.5) == pytest.approx(30, abs=2)
    assert found.quantile(0) == 0
    assert found.quantile(1) == pytest.approx(100)
    assert found.biased


def test_parts_add_up_and_a_task_is_a_small_document() -> None:
    task = SquareWave("1/3", 2, "1.5", buckets=16)
    again: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    assert again == task
    reports = task.randomize(np.linspace(0, 3, 300))
    both = again.tally(reports[:100]) + again.tally(reports[100:])
    assert both.support.tolist() == task.tally(reports).support.tolist()
    assert task.report_bits == (task.cells - 1).bit_length()
    assert task.event.epsilon == Fraction(3, 2)  # type: ignore[attr-defined]


def test_refusals() -> None:
    task = SquareWave(0, 1, 1, buckets=8)
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.9"})
    for name in ("buckets", "window", "inside"):
        for bad in (0, 1 << 32, -1, 0.5, True, "1", None):
            with pytest.raises(InvalidParameter):
                task_from_json({**task.to_json(), name: bad})
    with pytest.raises(InvalidParameter):  # truth rarer than a lie
        SquareWave(0, 1, 1, buckets=8, inside=5)
    with pytest.raises(InvalidParameter):
        SquareWave(0, 1, 1, buckets=1)
    with pytest.raises(InvalidParameter):
        SquareWave(1, 1, 1)
    values: list[Any] = [[math.nan], ["a"], [None]]
    for some in values:
        with pytest.raises(InvalidValue):
            task.randomize(some)
    for reports in ([task.cells], [-1], [0.5], [[1]]):
        with pytest.raises(InvalidValue):
            task.estimate(reports)
    with pytest.raises(InvalidParameter):
        task.estimate(task.randomize(np.zeros(0)))
    with pytest.raises(InvalidParameter):
        task.estimate(Tally(3, np.array([1, 2])))
    with pytest.raises(InvalidParameter):
        task.estimate([1]).quantile(1.5)
    with pytest.raises(InvalidParameter):
        unfolded(np.zeros(5, np.int64), 2, 0.4, 0.1)


def test_reports_as_expected_give_the_truth_back() -> None:
    """Without noise in the counts the most likely distribution is the true one; a smoothed one is only near."""
    task = SquareWave(0, 1, 3, buckets=10)
    true = np.array([0.05, 0.2, 0.25, 0.1, 0.02, 0.03, 0.05, 0.1, 0.15, 0.05])
    counts = np.rint(1e9 * matrix(task) @ true).astype(np.int64)
    law = (task.window, float(task.near), float(task.far))
    exact, _ = unfolded(counts, *law, smooth=False, gain=1e-3)
    assert np.abs(exact - true).max() < 1e-3
    smooth, _ = unfolded(counts, *law, smooth=True, gain=1e-3)
    assert 0.01 < np.abs(smooth - true).max() < 0.1
