"""The sparse vector technique: the exact law of the running program, all neighbours, and wrong variants caught."""

from __future__ import annotations

import copy
import itertools
import math
import threading
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.mechanisms import selection, sparse_vector
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.noise import SYSTEM
from curador.privacy import Neighbors
from tests.mechanisms.branches import law
from tests.mutants import sparse_vector as mutants

EPSILON = Fraction(3, 2)
REACH = 200
FAINT = 1e-12
SLACK = 1e-10
"""Noise beyond 200 steps, of scales up to 3, has a chance below 1e-16 of what is compared; floats lose little more."""


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step to a sensitivity, so that the noise can be enumerated."""
    monkeypatch.setattr(selection, "BITS", 0)


Asked = tuple[int, bool, int]
"""A value, the answer to it, and how often it was asked."""


def tail(scale: Fraction, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(X >= k) of integer Laplace noise; 1 minus it is the tail at 1 - k, so nothing cancels."""
    rate = float(1 / scale)
    q = math.exp(-rate)
    return np.where(k > 0, np.exp(-rate * np.abs(k)) / (1 + q), 1 - q * np.exp(-rate * np.abs(k)) / (1 + q))


def chance(mechanism: AboveThreshold, asked: Sequence[Asked], noisy: bool = True, reach: int = REACH) -> float:
    """The probability of these answers, by summing over the threshold's noise; values in steps."""
    r = np.arange(-reach, reach + 1)
    rate = float(1 / mechanism.threshold_scale)
    product = math.tanh(rate / 2) * np.exp(-rate * np.abs(r))
    at = mechanism.grid.floor(mechanism.threshold) + r
    for value, answer, times in asked:
        if noisy:
            one = tail(mechanism.question_scale, at - value if answer else 1 - at + value)
        else:
            one = ((value >= at) == answer).astype(np.float64)
        product = product * one**times
    return float(product.sum())


def possible(length: int, cutoff: int) -> Iterator[tuple[bool, ...]]:
    """All lists of answers to so many questions, each stopped where the cutoff is reached."""
    seen = set()
    for answers in itertools.product((False, True), repeat=length):
        ends = [i + 1 for i in range(length) if sum(answers[: i + 1]) == cutoff] or [length]
        seen.add(answers[: ends[0]])
    return iter(sorted(seen))


def log_ratio(p: float, q: float) -> float:
    if p < FAINT:  # what is left out of the sums might matter
        return -math.inf
    return math.log(p / q) if q > 0 else math.inf


def worst_of_few(mechanism: AboveThreshold, length: int, monotonic: bool) -> float:
    """The largest log ratio over all lists of answers to values that are 0 here and moved by at most 1 there."""
    found = -math.inf
    for answers in possible(length, mechanism.cutoff):
        for moves in itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=len(answers)):
            here = chance(mechanism, [(0, a, 1) for a in answers])
            there = chance(mechanism, [(m, a, 1) for m, a in zip(moves, answers, strict=True)])
            found = max(found, log_ratio(here, there), log_ratio(there, here))
    return found


def worst_of_many(mechanism: AboveThreshold, above: int, monotonic: bool, noisy: bool = True) -> float:
    """The largest log ratio where many values rise but are below, and ``above`` of them fall but are above.

    For monotonic values the latter stay.  Values lie anywhere near the threshold.
    """
    found = -math.inf
    for low, high in itertools.product(range(-8, 9), repeat=2):
        for times in (0, 1, 10, 100):
            here = chance(mechanism, [(low, False, times), (high, True, above)], noisy)
            there = chance(mechanism, [(low + 1, False, times), (high - (not monotonic), True, above)], noisy)
            found = max(found, log_ratio(here, there), log_ratio(there, here))
    return found


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.usefixtures("coarse")
def test_the_program_has_the_closed_law(cutoff: int) -> None:
    mechanism = AboveThreshold(1, 6, 1, cutoff=cutoff)
    values = [0, 2]
    found = law(lambda: tuple(mechanism.release(values)), sparse_vector, reach=8)
    missing = 1 - sum(found.values())
    assert 0 < missing < 0.02
    assert sorted(found) == list(possible(2, cutoff))
    for answers in found:
        wanted = chance(mechanism, [(v, a, 1) for v, a in zip(values, answers, strict=False)])
        assert wanted - missing <= found[answers] <= wanted + SLACK


@pytest.mark.parametrize("cutoff", [1, 2, 3])
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.usefixtures("coarse")
def test_epsilon_holds(cutoff: int, monotonic: bool) -> None:
    mechanism = AboveThreshold(0, EPSILON, 1, cutoff=cutoff, monotonic=monotonic)
    assert worst_of_few(mechanism, 3, monotonic) <= float(EPSILON) + SLACK
    many = worst_of_many(mechanism, cutoff, monotonic)
    assert float(EPSILON) * 0.8 < many <= float(EPSILON) + SLACK


@pytest.mark.usefixtures("coarse")
def test_monotonic_noise_is_too_little_for_others() -> None:
    assert worst_of_many(AboveThreshold(0, EPSILON, 1, cutoff=3, monotonic=True), 3, False) > float(EPSILON) * 1.3


@pytest.mark.parametrize(
    ("kind", "above", "noisy"),
    [(mutants.ForgottenCutoff, 3, True), (mutants.NoCutoff, 5, True), (mutants.NoQuestionNoise, 1, False)],
)
@pytest.mark.usefixtures("coarse")
def test_published_mistakes_are_caught(kind: type[AboveThreshold], above: int, noisy: bool) -> None:
    assert worst_of_many(kind(0, EPSILON, 1, cutoff=above), above, False, noisy) > float(EPSILON) * 1.3


@pytest.mark.usefixtures("coarse")
def test_a_free_refresh_is_caught() -> None:
    """A new threshold after each answer above makes independent parts, and each of them loses what one does."""
    wrong = mutants.RefreshedForFree(0, EPSILON, 1, cutoff=2)
    assert 2 * worst_of_many(wrong, 1, False) > float(EPSILON) * 1.5


def test_mutants_run() -> None:
    for kind in (mutants.ForgottenCutoff, mutants.NoCutoff, mutants.NoQuestionNoise, mutants.RefreshedForFree):
        assert kind(0, 1, 1, cutoff=2).release([-(10**6), 10**6, 10**6])[:3] == [False, True, True]
    endless = mutants.NoCutoff(0, 1, 1).open()
    assert [endless.ask(10**6) for _ in range(5)] == [True] * 5


# ---- parameters and scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("cutoff", [1, 5, 100])
def test_scales_add_up_to_epsilon_and_are_best(cutoff: int, monotonic: bool) -> None:
    mechanism = AboveThreshold(0, EPSILON, Fraction(3, 7), cutoff=cutoff, monotonic=monotonic)
    steps, moves = mechanism.grid.steps, cutoff * (1 if monotonic else 2)
    first, second = steps / mechanism.threshold_scale, moves * steps / mechanism.question_scale
    assert first + second == EPSILON
    noise = mechanism.threshold_scale**2 + mechanism.question_scale**2
    for nudge in (Fraction(99, 100), Fraction(101, 100)):
        other = first * nudge
        assert (steps / other) ** 2 + (moves * steps / (EPSILON - other)) ** 2 > noise


def test_event_and_neighbours() -> None:
    assert AboveThreshold(0, 2, 1, cutoff=7).event == PureLoss(2)  # type: ignore[arg-type]
    assert AboveThreshold(0, 2, 1, neighbors=Neighbors.REPLACE).event.neighbors is Neighbors.REPLACE


@pytest.mark.parametrize("count", [1, 50])
def test_error_covers(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(selection, "BITS", 5)
    mechanism = AboveThreshold(0, 2, 1, cutoff=count)
    far = math.ceil(mechanism.error(count, 0.9) / mechanism.grid.step)

    def missed(*asked: Asked) -> float:
        return 1 - chance(mechanism, asked, reach=20_000)

    # Values that are far below, far above, or half of each.
    assert missed((-far, False, count)) <= 0.1
    assert missed((far, True, count)) <= 0.1
    assert missed((-far, False, (count + 1) // 2), (far, True, count // 2)) <= 0.1
    assert missed((-far * 3 // 4, False, count)) > 0.1


# ---- use -----------------------------------------------------------------------------------------------------------


def test_it_stops_and_says_what_it_cost() -> None:
    watch = AboveThreshold(0, 1, 1, cutoff=2).open()
    assert [watch.ask(10**6), watch.ask(-(10**6)), watch.ask(10**6)] == [True, False, True]
    assert watch.left == 0
    for _ in range(2):
        with pytest.raises(NotPromised, match="nothing more was spent"):
            watch.ask(-(10**6))
    assert AboveThreshold(0, 1, 1).release([]) == []


def test_the_threshold_is_drawn_once_and_each_question_anew() -> None:
    class Counting:
        def __init__(self) -> None:
            self.calls = 0

        def words(self, n: int, dtype: Any) -> Any:
            raise AssertionError

        def bits(self, k: int) -> int:
            self.calls += 1
            return SYSTEM.bits(k)

    entropy = Counting()
    watch = AboveThreshold(10**9, 1, 1).open(entropy=entropy)
    drawn, against = entropy.calls, watch._against
    assert drawn > 0
    for _ in range(20):
        watch.ask(0)
        assert entropy.calls > drawn
        drawn = entropy.calls
    assert watch._against == against


def test_bad_values_draw_nothing_and_change_nothing() -> None:
    class Nothing:
        def words(self, n: int, dtype: Any) -> Any:
            raise AssertionError

        def bits(self, k: int) -> int:
            raise AssertionError

    mechanism = AboveThreshold(0, 1, 1)
    for bad in (math.nan, math.inf, "1", None, True, 1j, [1]):
        with pytest.raises(InvalidValue):
            mechanism.release([1, bad], entropy=Nothing())  # type: ignore[list-item]
        watch = mechanism.open()
        watch._entropy = Nothing()
        with pytest.raises(InvalidValue):
            watch.ask(bad)  # type: ignore[arg-type]
        assert watch.left == 1


@pytest.mark.parametrize(
    ("threshold", "epsilon", "sensitivity", "cutoff"),
    [
        (math.nan, 1, 1, 1),
        (0, 0, 1, 1),
        (0, -1, 1, 1),
        (0, math.inf, 1, 1),
        (0, 1, 0, 1),
        (0, 1, math.nan, 1),
        (0, 1, 1, 0),
        (0, 1, 1, 1.5),
        (0, 1, 1, True),
    ],
)
def test_bad_parameters(threshold: Any, epsilon: Any, sensitivity: Any, cutoff: Any) -> None:
    with pytest.raises(InvalidParameter):
        AboveThreshold(threshold, epsilon, sensitivity, cutoff=cutoff)


def test_threads_do_not_pass_the_cutoff() -> None:
    watch = AboveThreshold(0, 1, 1, cutoff=50).open()
    found: list[bool] = []

    def work() -> None:
        try:
            for _ in range(100):
                found.append(watch.ask(10**6))
        except NotPromised:
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == sum(found) == 50


def test_an_open_one_cannot_be_copied_or_read() -> None:
    """A copy would answer past the cutoff, and its printed form must not hold the noisy threshold."""
    watch = AboveThreshold(12345, 1, 1).open()
    with pytest.raises(TypeError):
        copy.deepcopy(watch)
    assert str(watch._against) not in repr(watch)


@pytest.mark.parametrize("value", [3, 0.5, None, np.float64(2), np.array(7)])
def test_values_that_are_no_list_are_refused_as_ours(value: Any) -> None:
    with pytest.raises(InvalidValue, match="one per question"):
        AboveThreshold(0, 1, 1).release(value)
