"""What reaches a device: read whole before anything is drawn, clamped, and refused in our words.

Found by attack: a refusal that came only to those who drew the attribute, one string taken for many people, infinities
that were refused where it said clamped, numbers that took for ever to write out, tallies that cannot be.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import CuradorError, InvalidParameter, InvalidValue
from curador.local import (
    KRR,
    OUE,
    Choice,
    CountMean,
    DBitFlip,
    Device,
    Duchi,
    DuchiVector,
    Frequencies,
    Hybrid,
    LocalLaplace,
    Piecewise,
    Range,
    Rappor,
    Record,
    SquareWave,
    Tally,
    task_from_json,
)
from curador.local.collect.wire import publish_task, read_task
from curador.local.numeric.base import Bounded
from curador.numbers import rational
from tests.local.every_task import EVERY_TASK

BEYOND: list[Any] = [math.inf, 10**400, Fraction(10**400), np.longdouble("1e4000"), 1e308, 2**64]


@pytest.mark.parametrize("made", [LocalLaplace, Duchi, Piecewise, Hybrid])
@pytest.mark.parametrize("sign", [1, -1])
def test_whatever_is_beyond_the_bounds_is_clamped(made: Any, sign: int) -> None:
    task = made(0, 1, 1)
    for value in BEYOND:
        assert task._levels(task.read([sign * value]), _Zero()).tolist() == [65536 if sign > 0 else 0]
        assert len(task.randomize([sign * value])) == 1
        assert SquareWave(0, 1, 1, buckets=4).bucket_of([sign * value]).tolist() == [3 if sign > 0 else 0]
        assert DuchiVector(0, 1, 1, 2).randomize([[sign * value, 0]]).shape == (1, 1)


class _Zero:
    def words(self, size: int, dtype: Any) -> Any:
        return np.zeros(size, dtype)


class _Quarter:
    """Coins of a chance above 1/4 fall, and others do not."""

    def words(self, size: int, dtype: Any) -> Any:
        return np.full(size, 1 << 8 * np.dtype(dtype).itemsize - 2, dtype)


BAD: list[dict[str, Any]] = [
    {"a": [math.nan], "b": ["x"]},
    {"a": [1], "b": ["unlisted"]},
    {"a": [True], "b": ["x"]},
]


@pytest.mark.parametrize("bad", BAD)
def test_a_record_is_refused_whatever_was_drawn(bad: dict[str, Any]) -> None:
    task = Record({"a": Range(0, 1), "b": ["x", "y"]}, 1)
    for _ in range(40):  # each attribute is drawn in half of them
        with pytest.raises(InvalidValue):
            task.randomize(bad)


def test_an_attribute_may_have_a_key_for_everything_else() -> None:
    task = Record({"b": Choice(["x", "y"], rest="y")}, 20)
    reports = task.randomize({"b": ["x", "?", None, math.nan, True, 5]}, entropy=_Quarter())  # type: ignore[arg-type]
    found = task.estimate(reports)["b"]
    assert isinstance(found, Frequencies)
    assert found.tally.support.tolist() == [1, 5]  # the own key's coin has a chance of 1/2, another's next to none


@pytest.mark.parametrize("keys", [3, ["a", "b", 1]])
def test_whatever_is_not_listed_goes_to_the_rest(keys: Any) -> None:
    rest = 2 if keys == 3 else "b"
    number = 2 if keys == 3 else 1
    odd = [None, "x", 1.5, math.nan, True, np.bool_(True), 10**400, -1, ("a",), b"a", 1j]
    assert KRR(keys, 1, rest=rest).read(odd).tolist() == [number] * len(odd)
    with pytest.raises(InvalidValue):
        KRR(keys, 1).read(odd)


@pytest.mark.parametrize("task", [task for task, _ in EVERY_TASK if task.mechanism not in ("record", "duchi-vector")])
@pytest.mark.parametrize("one", ["tea", b"tea", {"tea": 1}, 5, None])
def test_one_value_is_not_taken_for_many(task: Any, one: Any) -> None:
    numeric = isinstance(task, Bounded)
    if isinstance(one, int) and numeric:
        assert len(task.randomize(one)) == 1
        return
    with pytest.raises(CuradorError):
        task.randomize(one)


def test_candidates_are_a_list() -> None:
    task = CountMean(4, rows=4, places=4)
    with pytest.raises(InvalidValue):
        task.estimate(task.randomize(["a"]), "ab")
    with pytest.raises(InvalidValue):
        task.randomize([10**5000])


@pytest.mark.parametrize(
    "much", ["1e9999999", "1e-9999999", "1e5000", "1" * 2500, Fraction(10**5000), 10**5000], ids=range(6)
)
def test_numbers_that_take_for_ever_to_write_out_are_refused(much: Any) -> None:
    with pytest.raises(InvalidParameter):
        rational(much)
    with pytest.raises(InvalidParameter):
        KRR(3, much)
    assert rational("5e-324") > 0


@pytest.mark.parametrize("epsilon", [2000, "1/100000000000"])
def test_an_epsilon_of_no_use_is_refused(epsilon: Any) -> None:
    for make in (lambda: KRR(3, epsilon), lambda: LocalLaplace(0, 1, epsilon), lambda: Record({"a": 2}, epsilon)):
        with pytest.raises(InvalidParameter):
            make()


@pytest.mark.parametrize("bounds", [(0, "1e400"), (-1.7e308, 1.7e308), (0, "1e-400"), (2**60, 2**60 + 1)])
def test_bounds_that_doubles_cannot_tell_apart_are_refused(bounds: Any) -> None:
    with pytest.raises(InvalidParameter):
        Duchi(bounds[0], bounds[1], 1)


@pytest.mark.parametrize("document", [5, None, "x", [], {1: 2}])
def test_what_is_no_task_is_refused_in_our_words(document: Any) -> None:
    with pytest.raises(CuradorError):
        task_from_json(document)
    with pytest.raises(CuradorError):
        Device.from_json(document)
    with pytest.raises(CuradorError):
        read_task(document)


def test_odd_parts_and_states_are_refused_in_our_words() -> None:
    record = Record({"a": 2}, 1).to_json()
    deep: Any = record
    for _ in range(2000):
        deep = {**record, "parts": [deep]}
    for parts in ([5], ["a"], [None], [deep]):
        with pytest.raises(InvalidParameter):
            task_from_json({**record, "parts": parts})
    with pytest.raises(InvalidParameter):
        Record({1: 2}, 1)  # type: ignore[dict-item]
    with pytest.raises(InvalidParameter):
        read_task({**publish_task(KRR(2, 1)), "curador": True})


def test_a_sure_confidence_is_refused() -> None:
    task = Duchi(0, 1, 1)
    with pytest.raises(InvalidParameter, match="No double tells"):
        task.error(10, confidence=Fraction(10**30 - 1, 10**30))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "tally"),
    [
        (KRR(2, 1), Tally(3, np.array([-1, 2]))),
        (OUE(2, 1), Tally(3, np.array([4, 2]))),
        (DBitFlip(2, 1, 1), Tally(0, np.array([[1, 1], [0, 0]]))),
        (DBitFlip(2, 1, 1), Tally(5, np.array([[1, 1], [2, 0]]))),
        (DuchiVector(0, 1, 1, 2), Tally(1, np.array([2, 0]))),
        (KRR(2, 1), Tally(3, np.array([1, 1]))),
        (Duchi(0, 1, 1), Tally(3, np.array([4]))),
        (Piecewise(0, 1, 1), Tally(3, np.array([-500_000]))),
        (Hybrid(0, 1, 3), Tally(3, np.array([1, 4, 9]))),
        (Hybrid(0, 1, 3), Tally(3, np.array([3, 1, 9]))),
        (LocalLaplace(0, 1, 1), Tally(1, np.array([1 << 20, 0]))),
        (Record({"a": 2}, 1), Tally(3, np.array([2, 1, 1]))),
        (Record({"a": 2}, 1), Tally(3, np.array([3, 4, 1]))),
        (SquareWave(0, 1, 1, buckets=2), Tally(1, np.array([-1] * SquareWave(0, 1, 1, buckets=2).cells))),
    ],
)
def test_tallies_that_cannot_be_are_refused(task: Any, tally: Tally) -> None:
    with pytest.raises(CuradorError):
        task.estimate(tally)


def test_sums_do_not_wrap_unseen() -> None:
    huge = Tally(1, np.array([1 << 62]))
    with pytest.raises(InvalidValue, match="too large"):
        huge + huge
    task = LocalLaplace(0, 1, Fraction(1, 1 << 30))
    far = np.full(10_000, 65536 + task._beyond)
    assert task.estimate(far).value == pytest.approx(1 + task._beyond / 65536)


def test_the_variance_of_a_part_counts_who_was_drawn() -> None:
    """Sure coins: all that varies is which half of the people is asked."""
    users, runs = 400, 300
    task = Record({"a": 2, "b": 2}, 30, sampled=1)
    columns = {"a": [0, 1] * (users // 2), "b": [0] * users}
    found = [task.estimate(task.randomize(columns))["a"] for _ in range(runs)]
    spread = np.var([one.values[1] for one in found])  # type: ignore[union-attr]
    said = np.mean([one.variance[1] for one in found])  # type: ignore[index]
    assert abs(spread / said - 1) < 5 * math.sqrt(2 / runs)


def test_tables_of_counts_that_cannot_be_are_refused() -> None:
    sketch, filters = CountMean(4, rows=2, places=2), Rappor(4, bloom=2, cohorts=2)
    for task, support in (
        (sketch, [[3, 0], [0, 0]]),
        (sketch, [[-1, 0], [0, 0]]),
        (filters, [[1, 0, 0], [0, 0, 0]]),
        (filters, [[1, 2, 0], [1, 0, 0]]),
        (filters, [[3, 0, 0], [-1, 0, 0]]),
    ):
        with pytest.raises(InvalidValue):
            task.estimate(Tally(2, np.array(support)), ["a"])
