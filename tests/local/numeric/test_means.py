"""The mean oracles: exact laws on small grids, unbiased to the last fraction, and as wrong as the formulas say."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from curador import accounting
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import Duchi, Hybrid, LocalLaplace, Mean, Piecewise, task_from_json
from curador.local.numeric.base import LEVELS
from curador.local.task.limits import bernstein
from curador.local.task.tally import Tally
from curador.numbers import set_fields
from tests.local.exact_law import MP, Law, keeps_its_word, level_law, within, worst_ratio
from tests.local.task.test_draw import Words
from tests.mechanisms.branches import laplace_pmf
from tests.mutants import local as mutants

MEANS: list[type[Any]] = [LocalLaplace, Duchi, Piecewise, Hybrid]
PARTS = ("curador.local.numeric.duchi", "curador.local.numeric.piecewise", "curador.local.numeric.hybrid")
SMALL = 8
"""Cells of a grid on which every way can be followed."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The piecewise mechanism on eight levels."""
    monkeypatch.setattr("curador.local.numeric.piecewise.LEVELS", SMALL)


def moments(task: Any, one: Law, gain: Fraction) -> tuple[Fraction, Fraction]:
    """Mean and variance of a decoded report, exactly; ``gain`` is what the decoder divides by."""
    shift = getattr(task, "cells", 2) - 1
    decoded = {report: (2 * report - shift) / gain for report in one}
    mean = sum((decoded[r] * p for r, p in one.items()), start=Fraction(0))
    return mean, sum((decoded[r] ** 2 * p for r, p in one.items()), start=Fraction(0)) - mean**2


@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", 1, 4, 8])
def test_duchi_is_unbiased_and_private_at_every_level(epsilon: Any) -> None:
    task = Duchi(-1, 1, epsilon)
    levels = [0, 1, 777, LEVELS // 2, LEVELS - 1, LEVELS]
    laws = [level_law(task, level) for level in levels]
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    for level, one in zip(levels, laws, strict=True):
        mean, variance = moments(task, one, task.lean)
        assert mean == Fraction(2 * level, LEVELS) - 1
        assert float(variance) == pytest.approx(task.unit_variance(float(mean)), rel=1e-12)
        # The law of Microsoft's one-bit mean: 1/(e+1) + x (e-1)/(e+1) for x in [0, 1] and e = e**epsilon.
        e = math.exp(Fraction(epsilon))
        wanted = 1 / (e + 1) + level / LEVELS * (e - 1) / (e + 1)
        assert float(one.get(1, 0)) == pytest.approx(wanted, abs=2**-16)
    assert not keeps_its_word(task, [level_law(mutants.TooSteep(-1, 1, epsilon), u, PARTS[0]) for u in levels])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("epsilon", ["1/2", 1, 2, 4])
def test_piecewise_is_unbiased_and_private_at_every_level(epsilon: Any) -> None:
    task = Piecewise(-1, 1, epsilon)
    laws = [level_law(task, level) for level in range(SMALL + 1)]
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    assert set(laws[0]) == set(range(task.cells))
    for level, one in enumerate(laws):
        mean, variance = moments(task, one, task.gain * SMALL)
        assert mean == Fraction(2 * level, SMALL) - 1
        assert float(variance) == pytest.approx(task.unit_variance(float(mean)), rel=1e-12)
        some = np.arange(task.cells)
        assert task._decoded(some) == pytest.approx(
            [float((2 * int(j) - task.cells + 1) / (task.gain * 8)) for j in some]
        )


@pytest.mark.usefixtures("small")
def test_a_broken_piecewise_is_caught() -> None:
    leaky = mutants.AnyCellElse(-1, 1, 1, window=2)
    assert not keeps_its_word(leaky, [level_law(leaky, u) for u in range(SMALL + 1)])
    stuck = mutants.StuckWindow(-1, 1, 1)
    top = level_law(stuck, SMALL, PARTS[1])
    assert moments(stuck, top, stuck.gain * SMALL)[0] != 1


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("epsilon", ["1/2", 1, 4])
def test_hybrid_mixes_the_two(epsilon: Any) -> None:
    """The cells are on eight levels; the coin sees the lowest levels of its own grid."""
    task = Hybrid(-1, 1, epsilon)
    e = math.exp(float(Fraction(epsilon)))
    star = math.log((-5 + 2 * np.cbrt(6353 - 405 * math.sqrt(241)) + 2 * np.cbrt(6353 + 405 * math.sqrt(241))) / 27)
    full = Hybrid(-1, 1, epsilon, mix=1 << 31)
    laws = [level_law(full, level, *PARTS) for level in range(SMALL + 1)]
    assert all(sum(one.values()) == 1 for one in laws)
    assert within(worst_ratio(laws), task.epsilon)
    half = Fraction(1, 2)
    for level, one in enumerate(laws):
        coin, cell = level_law(full.one, level), level_law(full.wide, level)
        wanted = {bit: half * p for bit, p in coin.items()} | {j + 2: half * p for j, p in cell.items()}
        assert one == wanted
    assert (Hybrid(-1, 1, epsilon).mix == 0) == (math.log(e) <= star)


def test_laplace_reports_keep_epsilon_in_the_tail_and_in_between() -> None:
    """Noise of scale LEVELS/epsilon: reports on the two ends differ most, by a factor of exactly e**epsilon."""
    task = LocalLaplace(0, 1, "3/2")
    for report in (-(10**6), -1, 0, 30_000, LEVELS, 10**6):
        ratio = laplace_pmf(task.scale, report) / laplace_pmf(task.scale, report - LEVELS)
        assert ratio <= MP.exp(MP.mpf(3) / 2) * (1 + MP.mpf(10) ** -40)
        assert 1 / ratio <= MP.exp(MP.mpf(3) / 2) * (1 + MP.mpf(10) ** -40)
    assert 0 <= float(task.ratio) - math.exp(1.5) < 1e-12
    noise = task.randomize(np.zeros(200_000)) / float(task.scale)
    # A Kolmogorov test accepts the law and rejects a scale a tenth off, at a false-alarm rate of 1e-10.
    far = math.sqrt(math.log(2e10) / (2 * noise.size))
    assert stats.kstest(noise, stats.laplace.cdf).statistic < far + 1 / float(task.scale)
    assert stats.kstest(noise / 0.9, stats.laplace.cdf).statistic > far
    assert stats.kstest(noise / 1.1, stats.laplace.cdf).statistic > far


def test_a_value_is_on_its_level_on_average_exactly() -> None:
    task = Duchi(10, 20, 1)
    for value, share in ((10.0, 0), (20.0, 1), (15.0, Fraction(1, 2)), (12.3, None), (-5.0, 0), (1e300, 1)):
        levels = task._levels(np.full(LEVELS, value), Words(np.arange(LEVELS)))
        fine = round((value - 10) / 10 * 2**32) if share is None else int(share * 2**32)
        assert int(levels.sum()) == fine
        assert levels.max() - levels.min() <= 1


@pytest.mark.parametrize("made", MEANS)
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("shape", ["gaussian", "uniform", "power law"])
def test_mean_squared_error_is_the_formulas(made: type[Any], epsilon: float, shape: str) -> None:
    """R means of n reports each, within 5 sqrt(2/R) of the closed form."""
    runs, users = 2000, 25
    rng = np.random.default_rng(7)
    values = {
        "gaussian": rng.normal(0.2, 0.4, users),
        "uniform": rng.uniform(-1, 1, users),
        "power law": 2 * rng.power(0.3, users) - 1,
    }[shape].clip(-1, 1)
    task = made(-1, 1, epsilon)
    decoded = task._decoded(task._checked(task.randomize(np.tile(values, runs)))).reshape(runs, users)
    errors = decoded.mean(axis=1) - values.mean()
    formula = np.mean([task.unit_variance(v) for v in values]) / users
    assert abs(np.mean(errors**2) / formula - 1) < 5 * math.sqrt(2 / runs)
    assert formula <= task.variance(users) * (1 + 1e-12)
    covered = np.mean(np.abs(errors) <= task.error(users, 0.95))
    assert covered >= 0.95


def test_constants_of_the_literature() -> None:
    """The worst variance of one report in closed form [WXYZ19], with z = e**(epsilon/2)."""
    for epsilon in (0.5, 1, 2, 4):
        e, z = math.exp(epsilon), math.exp(epsilon / 2)
        coin, cell = ((e + 1) / (e - 1)) ** 2, 4 * z / (3 * (z - 1) ** 2)
        mixed = (z + 3) / (3 * z * (z - 1)) + (e + 1) ** 2 / (z * (e - 1) ** 2)
        wanted = {LocalLaplace: 8 / epsilon**2, Duchi: coin, Piecewise: cell, Hybrid: min(coin, mixed)}
        for made, value in wanted.items():
            assert made(-1, 1, epsilon).variance(1) == pytest.approx(value, rel=1e-3)


def test_bernsteins_bound_covers_exactly_computed_tails() -> None:
    task = Duchi(-1, 1, 1)
    for users in (1, 3, 40):
        reach = task.error(users, 0.9)
        for level in (0, LEVELS // 3, LEVELS):
            unit = 2 * level / LEVELS - 1
            one = 0.5 + float(task.lean) * unit / 2
            yes = np.arange(users + 1)
            missed = np.abs((2 * yes / users - 1) / float(task.lean) - unit) > reach
            assert stats.binom.pmf(yes, users, one)[missed].sum() <= 0.1
    # Not vacuous: at most half as wide again as the normal law's, for many reports.
    assert bernstein(1.0, 1.0, 10**6, 0.05) < 1.5 * 1.96e-3


@pytest.mark.parametrize("users", [1, 7, 60, 1000])
def test_duchis_interval_is_that_of_coins_and_covers_exactly(users: int) -> None:
    """By the binomial law of people with one value, which is the worst: the interval of every count, summed."""
    task, yes = Duchi(-1, 1, 1), np.arange(users + 1)
    ends = [task.estimate(Tally(users, np.array([k]))).interval(0.9) for k in yes.tolist()]
    low, high = np.array(ends).T
    for unit in (-1.0, -0.4, 0.0, 0.77, 1.0):
        weight = stats.binom.pmf(yes, users, 0.5 + float(task.lean) * unit / 2)
        assert weight[(low <= unit) & (unit <= high)].sum() >= 0.9 - 1e-12
        assert weight[np.abs((2 * yes / users - 1) / float(task.lean) - unit) <= task.error(users, 0.9)].sum() >= 0.9


def test_duchi_needs_half_of_the_people_that_bernsteins_bound_asked_for() -> None:
    task = Duchi(-1, 1, 1)
    needed = task.users_needed("0.05")
    assert needed == 7282  # an outsider's table: 7,322 by Clopper and Pearson's interval, 13,976 by Bernstein's
    miss = 0.05
    assert bernstein(task.worst_variance, task.tail, 13_900, miss) > 0.05 > task.error(needed)
    assert Hybrid(-1, 1, "1/2").users_needed("0.1") == Duchi(-1, 1, "1/2").users_needed("0.1")  # mix is 0


def test_an_estimate_in_the_units_of_the_data() -> None:
    for made in MEANS:
        task = made(100, 300, 2)
        found = task.estimate(task.randomize(np.full(20_000, 150.0)))
        low, high = found.interval(1 - 1e-9)
        assert low <= 150 <= high
        assert found.users == 20_000
        assert found.variance == pytest.approx(task.variance(20_000))
        assert task.variance(20_000, 300) <= found.variance * (1 + 1e-9)


@pytest.mark.parametrize("made", MEANS)
def test_an_interval_beside_the_bounds_is_empty_not_inverted(made: type[Any]) -> None:
    task = made(0, 1, 1)
    assert Mean(50.0, 10**6, 0.0, task, sums=(10**6,)).interval() == (1.0, 1.0)
    assert Mean(-50.0, 10**6, 0.0, task, sums=(0,)).interval() == (0.0, 0.0)


@pytest.mark.parametrize("made", MEANS)
def test_a_task_is_a_small_document(made: type[Any]) -> None:
    task = made("0.5", 10, "1.25")
    again: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    assert again == task
    assert task.delivered <= 1.25
    assert accounting.epsilon(task.event, delta=0).upper <= 1.25 * (1 + 1e-9)
    if made is not LocalLaplace:  # whose scale is epsilon's
        with pytest.raises(NotPromised):
            task_from_json({**task.to_json(), "epsilon": "1"})
    for name in ("slope", "window", "inside", "mix"):
        if name in task.to_json():
            for bad in (-1, 1 << 32, 0.5, True, None):
                with pytest.raises(InvalidParameter):
                    task_from_json({**task.to_json(), name: bad})


def test_a_window_less_likely_than_the_rest_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        Piecewise(-1, 1, 1, inside=1000)
    set_fields(task := Piecewise(-1, 1, 1), inside=1000)
    assert task.gain < 0


@pytest.mark.parametrize("made", MEANS)
def test_refusals(made: type[Any]) -> None:
    for low, high, epsilon in ((1, 1, 1), (2, 1, 1), (0, math.inf, 1), (0, 1, 0), (0, 1, -1), (0, 1, math.nan)):
        with pytest.raises(InvalidParameter):
            made(low, high, epsilon)
    task = made(0, 1, 1)
    bad: list[Any] = [[math.nan], ["a"], [None], [True], [[1], [1, 2]], "1", [1j]]
    for values in bad:
        with pytest.raises(InvalidValue):
            task.randomize(values)
    wrong: list[Any] = [[0.5], ["a"], [[1]]] + ([] if made is LocalLaplace else [[-1], [1 << 20]])
    for reports in wrong:
        with pytest.raises(InvalidValue):
            task.estimate(reports)
    with pytest.raises(InvalidParameter):
        task.estimate(np.zeros(0, int))
    with pytest.raises(InvalidParameter):
        task.variance(10, value=2)


def test_means_beyond_doubles_are_held_at_the_largest() -> None:
    task = LocalLaplace(0, "1e307", 1)
    forged = np.full(200, (1 << 16) + 64 * (1 << 16), np.int64)  # as far as one that is accepted goes
    assert task.estimate(forged).value == sys.float_info.max
