"""The sparse vector technique: the exact law of the running program, all neighbours, and wrong variants caught."""

from __future__ import annotations

import copy
import itertools
import math
import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.mechanisms import scores, sparse_vector
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.noise import SYSTEM
from curador.privacy import Neighbors
from tests.mechanisms.branches import MP, TINY, Law, laplace_pmf, laplace_tail, law, real
from tests.mutants import sparse_vector as mutants

EPSILON = Fraction(3, 2)
REACH = 80


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step to a sensitivity, so that the noise can be enumerated."""
    monkeypatch.setattr(scores, "BITS", 0)


def answers_law(mechanism: AboveThreshold, values: Sequence[int], cutoff: int | None, noisy: bool = True) -> Law:
    """The law of the answers, by summing over the threshold's noise; cutoff None never stops."""
    out: Law = {}
    for r in range(-REACH, REACH + 1):
        at = mechanism.grid.floor(mechanism.threshold) + r
        start = laplace_pmf(mechanism.threshold_scale, r)
        runs = [((), start)]
        for v in values:
            if noisy:
                above = laplace_tail(mechanism.question_scale, at - v)
            else:
                above = MP.mpf(v >= at)
            going = [(a, p) for a, p in runs if cutoff is None or sum(a) < cutoff]
            done = [(a, p) for a, p in runs if cutoff is not None and sum(a) >= cutoff]
            runs = (
                done + [((*a, True), p * above) for a, p in going] + [((*a, False), p * (1 - above)) for a, p in going]
            )
        for answers, p in runs:
            out[answers] = out.get(answers, MP.mpf(0)) + p
    return out


def worst(mechanism: AboveThreshold, length: int, cutoff: int | None, monotonic: bool, noisy: bool = True) -> Any:
    """The largest log ratio over all pairs of value lists that are 0 here and moved by one there."""
    found = MP.mpf(0)
    here = answers_law(mechanism, [0] * length, cutoff, noisy)
    for moves in itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=length):
        there = answers_law(mechanism, moves, cutoff, noisy)
        for p, q in ((here, there), (there, here)):
            for answers in p:
                if p[answers] > TINY and q[answers] <= TINY:
                    return MP.inf
                if p[answers] > TINY:
                    found = max(found, MP.log(p[answers] / q[answers]))
    return found


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.usefixtures("coarse")
def test_the_program_has_the_closed_law(cutoff: int) -> None:
    mechanism = AboveThreshold(1, 6, 1, cutoff=cutoff)
    values = [0, 2]
    found = law(lambda: tuple(mechanism.release(values)), sparse_vector, reach=8)
    wanted = answers_law(mechanism, values, cutoff)
    missing = 1 - sum(found.values())
    assert 0 < missing < 0.02
    assert found.keys() == wanted.keys()
    assert all(wanted[a] - missing <= found[a] <= wanted[a] + TINY for a in wanted)


@pytest.mark.parametrize(("cutoff", "length"), [(1, 4), (2, 4), (3, 3)])
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.usefixtures("coarse")
def test_epsilon_holds(cutoff: int, length: int, monotonic: bool) -> None:
    mechanism = AboveThreshold(0, EPSILON, 1, cutoff=cutoff, monotonic=monotonic)
    slack = MP.mpf(10) ** -6  # the noise beyond 80 steps
    found = worst(mechanism, length, cutoff, monotonic)
    assert real(EPSILON) * 0.5 < found <= real(EPSILON) + slack
    if not monotonic:
        cheaper = AboveThreshold(0, EPSILON, 1, cutoff=cutoff, monotonic=True)
        assert worst(cheaper, length, cutoff, False) > found  # monotonic noise is less, and needs its assumption


@pytest.mark.usefixtures("coarse")
def test_monotonic_noise_is_too_little_for_others() -> None:
    cheaper = AboveThreshold(0, EPSILON, 1, cutoff=3, monotonic=True)
    assert worst(cheaper, 6, 3, False) > real(EPSILON) * 1.05


@pytest.mark.parametrize(
    ("kind", "length", "cutoff", "noisy"),
    [
        (mutants.ForgottenCutoff, 6, 3, True),
        (mutants.NoCutoff, 6, None, True),
        (mutants.NoQuestionNoise, 2, None, False),
    ],
)
@pytest.mark.usefixtures("coarse")
def test_published_mistakes_are_caught(
    kind: type[AboveThreshold], length: int, cutoff: int | None, noisy: bool
) -> None:
    wrong = kind(0, EPSILON, 1, cutoff=cutoff or 1)
    assert worst(wrong, length, cutoff, False, noisy) > real(EPSILON) * 1.1


@pytest.mark.usefixtures("coarse")
def test_a_free_refresh_is_caught() -> None:
    """With a new threshold after each answer above, lists split at those answers into independent parts."""
    wrong = mutants.RefreshedForFree(0, EPSILON, 1, cutoff=2)
    one = [answers_law(wrong, values, 1)[False, True] for values in ([0, 0], [1, -1])]
    ratio = 2 * MP.log(one[0] / one[1])  # the answers below, above, below, above
    assert ratio > real(EPSILON) * 1.05
    # And the running program does have that law.
    right = AboveThreshold(0, EPSILON, 1, cutoff=2)
    pair = [answers_law(right, values, 2)[False, True, False, True] for values in ([0, 0, 0, 0], [1, -1, 1, -1])]
    assert MP.log(pair[0] / pair[1]) <= real(EPSILON)


def test_mutants_run() -> None:
    for kind in (mutants.ForgottenCutoff, mutants.NoCutoff, mutants.NoQuestionNoise, mutants.RefreshedForFree):
        assert kind(0, 1, 1, cutoff=2).release([-(10**6), 10**6, 10**6])[:3] == [False, True, True]
    endless = mutants.NoCutoff(0, 1, 1).open()
    assert [endless.ask(10**6) for _ in range(5)] == [True] * 5


# ---- parameters and scales --------------------------------------------------------------------------------------------


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
@pytest.mark.usefixtures("coarse")
def test_error_covers(count: int) -> None:
    mechanism = AboveThreshold(0, 2, 1, cutoff=count)
    reach = mechanism.error(count, 0.9)
    far = math.ceil(reach)
    wrong = MP.mpf(0)  # some of `count` values that are far below is called above
    for r in range(-400, 401):
        calm = (1 - laplace_tail(mechanism.question_scale, r + far)) ** count
        wrong += laplace_pmf(mechanism.threshold_scale, r) * (1 - calm)
    assert 0.01 < wrong <= 0.1
    right = sum(  # and of as many that are far above, none is called below
        laplace_pmf(mechanism.threshold_scale, r) * laplace_tail(mechanism.question_scale, r - far) ** count
        for r in range(-400, 401)
    )
    assert right >= 0.9


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
