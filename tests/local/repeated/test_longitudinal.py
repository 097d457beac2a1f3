"""Longitudinal collection: exact laws of whole sequences of reports, from devices that remember and that do not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from curador import accounting
from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import Device, Longitudinal, task_from_json
from curador.local.repeated import longitudinal
from curador.privacy import Neighbors
from tests.local.exact_law import Law, Tree, law, within, worst_ratio

History = tuple[int, ...]

KRR_MODULE = "curador.local.frequency.krr"
"""Where the keys are drawn."""


def kept_or_uniform(tree: Tree) -> Any:
    """One draw as a single branching; that the real one has this law is the first test's."""

    def draw(own: Any, keep: int, bits: int, size: int, entropy: Any) -> Any:
        c = Fraction(keep, 1 << bits)
        return np.array([tree.take([c * (v == x) + (1 - c) / size for v in range(size)]) for x in own.tolist()])

    return draw


def sequence_law(device: Any, history: History, see: Any = None) -> Law:
    """The probability of each sequence of reports on a history, or of what ``see`` makes of it and the last state."""
    tree, found = Tree(), dict[Any, Fraction]()
    with patch.object(longitudinal, "kept_or_uniform", kept_or_uniform(tree)):
        while True:
            tree.begin()
            state, reports = device, []
            for value in history:
                state, report = state.report(value)
                reports.append(report)
            seen = see(state) if see else tuple(reports)
            found[seen] = found.get(seen, Fraction(0)) + tree.chance
            if not tree.advance():
                return found


def slots(history: History, values: int) -> History:
    """Which of the permanent answers each report is made from, written independently of the device."""
    met: list[int] = []
    found: list[int] = []
    for value in history:
        if value not in met and len(met) < values:
            met.append(value)
        found.append(met.index(value) if value in met else found[-1])
    return tuple(found)


def by_changes(device: Any, times: int) -> dict[History, list[Law]]:
    """The laws of all histories, those with the same changes together."""
    found: dict[History, list[Law]] = {}
    for history in product(range(device.task.size), repeat=times):
        found.setdefault(slots(history, device.task.values), []).append(sequence_law(device, history))
    return found


def keeps_its_word(device: Any, times: int) -> bool:
    task = device.task
    groups = by_changes(device, times).values()
    assert all(sum(one.values()) == 1 for laws in groups for one in laws)
    ratios = [worst_ratio(laws) for laws in groups]
    return max(ratios) <= task.ratio and all(within(r, task.epsilon) for r in ratios if r != 1)


# ---- the law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [2, 3, 4])
def test_one_report_has_its_probability(keys: int) -> None:
    task = Longitudinal(keys, epsilon=3, values=2, first="1/2")
    for own in range(keys):
        assert law(task, own, KRR_MODULE) == {v: task.p if v == own else task.q for v in range(keys)}
        assert sequence_law(Device.of(task), (own,)) == {
            (v,): chance for v, chance in law(task, own, KRR_MODULE).items()
        }


@pytest.mark.parametrize(
    ("keys", "values", "times"),
    [(2, 1, 4), (2, 2, 4), (3, 1, 3), (3, 2, 3), pytest.param(3, 3, 3, marks=pytest.mark.slow), (2, 2, 5)],
)
@pytest.mark.parametrize(("epsilon", "first"), [(2, "1/2"), (1, "1/4"), (6, "9/5")])
def test_all_sequences_keep_epsilon(keys: int, values: int, times: int, epsilon: int, first: str) -> None:
    task = Longitudinal(keys, epsilon, values=values, first=first if values < 3 else "1/4")
    assert keeps_its_word(Device.of(task), times)


def test_permanent_answers_cost_all_that_is_charged() -> None:
    """So no smaller epsilon would do for unlimited reports."""
    task = Longitudinal(3, epsilon=2, values=2, first="1/2")
    seen = [sequence_law(Device.of(task), h, lambda d: d.answers) for h in permutations(range(3), 2)]
    assert worst_ratio(seen) == task.ratio
    assert within(task.ratio, task.epsilon)
    assert not within(task.ratio, task.epsilon * Fraction(99999, 100000))


def test_many_reports_come_close_to_what_is_charged_and_not_beyond() -> None:
    task = Longitudinal(2, epsilon=2, values=1, first=1)
    c = Fraction(task.again, 1 << task.bits)
    own = (1 + Fraction(task.keep, 1 << task.bits)) / 2
    many = ((1 + c) / (1 - c)) ** 40  # forty reports of 0: how much likelier under the permanent answer 0
    ratio = (own * many + 1 - own) / ((1 - own) * many + own)
    assert ratio < task.ratio < ratio * (1 + Fraction(1, 10**6))


def test_what_comes_after_the_protected_values_does_not_show() -> None:
    device = Device.of(Longitudinal(3, epsilon=2, values=1, first="1/2"))
    assert sequence_law(device, (0, 0, 0)) == sequence_law(device, (0, 1, 2)) == sequence_law(device, (0, 2, 0))


def test_that_something_changed_is_not_covered_and_said_so() -> None:
    """Reports 0, 1, 0, 1 ... are likelier of someone who alternates than epsilon allows; ``anything`` covers it."""
    task = Longitudinal(2, epsilon="1/2", values=2, first="0.24")
    steady, restless = ((0,) * 6, (0, 1) * 3)
    laws = [sequence_law(Device.of(task), h) for h in (steady, restless)]
    assert not within(worst_ratio(laws), task.epsilon)
    assert "changed" in (Longitudinal.__doc__ or "").split("Fails:")[1]


@pytest.mark.parametrize("first", ["1/4", "9/10"])
def test_anything_covers_any_two_histories(first: str) -> None:
    task = Longitudinal(2, epsilon=2, values=2, first=first)
    for times in (1, 2, 4):
        laws = [sequence_law(Device.of(task), h) for h in product(range(2), repeat=times)]
        assert within(worst_ratio(laws), task.anything(times).epsilon)
    exact = worst_ratio([law(task, 0, KRR_MODULE), law(task, 1, KRR_MODULE)])
    assert not within(exact, task.anything(1).epsilon * Fraction(999999, 1000000))


# ---- devices that break the promise ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forgets(Device):
    """Draws the permanent answer anew for every report."""

    def _after(self, own: int, entropy: Any) -> Device:
        fresh = super()._after(own, entropy) if own not in self.met else Device(self.task)._after(own, entropy)
        return Forgets(self.task, fresh.met[:1], fresh.answers[:1], 0)


@dataclass(frozen=True)
class FallsSilent(Device):
    """Refuses once the protected values are used up."""

    def report(self, value: Any, *, entropy: Any = None) -> Any:
        if value not in self.met and self.used == self.task.values:
            return self, None
        kept, report = super().report(value, entropy=entropy)
        return FallsSilent(kept.task, kept.met, kept.answers, kept.last), report


@dataclass(frozen=True)
class GoesOn(Device):
    """Makes room for a value beyond those that are protected by forgetting the old ones."""

    def _after(self, own: int, entropy: Any) -> Device:
        if own in self.met:
            return self
        fresh = Device(self.task)._after(own, entropy)
        return GoesOn(self.task, fresh.met, fresh.answers, fresh.last)


@pytest.mark.parametrize("broken", [Forgets, FallsSilent, GoesOn])
def test_a_broken_device_is_caught(broken: Any) -> None:
    task = Longitudinal(2, epsilon="1/2", values=1, first="0.45")
    assert keeps_its_word(Device.of(task), 3)
    assert not keeps_its_word(broken(task), 3)


# ---- thresholds, state, estimates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [2, 16, 1000])
@pytest.mark.parametrize("values", [1, 3])
def test_thresholds_are_the_largest(keys: int, values: int) -> None:
    task = Longitudinal(keys, epsilon=3, values=values, first="1/2")
    assert within(task.ratio, task.epsilon)
    assert task.one_report_keeps("1/2")
    more = {**task.to_json(), "keep": task.keep + 1}
    with pytest.raises(NotPromised):
        task_from_json(more)
    again = task_from_json({**task.to_json(), "again": task.again + 1})
    assert isinstance(again, Longitudinal)
    assert not again.one_report_keeps("1/2")


def test_state_goes_through_json() -> None:
    task = Longitudinal(["tea", "coffee", "water"], epsilon=4, values=2, first=1, rest="water")
    device = Device.of(task)
    for value in ("tea", "beer", "tea", "coffee", "water"):
        device, _ = device.report(value)
        assert Device.from_json(json.loads(json.dumps(device.to_json()))) == device
    assert device.met == (0, 2)
    assert device.used == 2


def test_the_permanent_answer_stays() -> None:
    task = Longitudinal(50, epsilon=8, values=2, first=1)
    device, _ = Device.of(task).report(7)
    start = device.answers
    for value in (7, 7, 9, 7, 11, 13):
        device, _ = device.report(value)
    assert device.answers[:1] == start
    assert device.met == (7, 9)


@pytest.mark.parametrize(
    "change",
    [
        {"met": [0, 0]},
        {"met": [0, 9]},
        {"answers": [1]},
        {"answers": [1, 7]},
        {"answers": [1, True]},
        {"last": 2},
        {"last": -1},
        {"met": [0, 1, 2], "answers": [0, 0, 0]},
        {"met": "01"},
        {"task": "krr"},
        {"more": 1},
    ],
)
def test_a_state_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    state = Device(Longitudinal(4, epsilon=4, values=2, first=1), (0, 1), (1, 1), 0).to_json()
    with pytest.raises(InvalidValue):
        Device.from_json({**state, **change})


def test_a_state_of_another_task_is_refused() -> None:
    from curador.local import KRR

    state = Device.of(Longitudinal(4, epsilon=4, values=2, first=1)).to_json()
    with pytest.raises(InvalidValue):
        Device.from_json({**state, "task": KRR(4, 1).to_json()})


@pytest.mark.parametrize(
    "wrong", [{}, {"first": 2}, {"first": 3}, {"first": 0}, {"first": 1, "values": 0}, {"first": 1, "values": 1.5}]
)
def test_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Longitudinal(4, epsilon=4, **{"values": 2, **wrong})


def test_an_unlisted_value_is_refused_without_a_state() -> None:
    with pytest.raises(InvalidValue):
        Device.of(Longitudinal(["a", "b"], epsilon=2, values=1, first=1)).report("c")


def test_estimates_are_of_both_draws() -> None:
    """Five deviations: a false alarm once in a million runs or so; the first draw's p and q alone would be far off."""
    task = Longitudinal(4, epsilon=4, values=1, first=1)
    values = np.repeat(np.arange(4), [8000, 6000, 4000, 2000])
    found = task.estimate(task.randomize(values))
    spread = np.sqrt([task.variance(20000, f) for f in (0.4, 0.3, 0.2, 0.1)])
    assert (np.abs(found.values - [0.4, 0.3, 0.2, 0.1]) < 5 * spread).all()
    half_read = (found.tally.support / 20000 - 0.25) / (task.keep / 2**32) + 0.25
    assert abs(half_read[0] - 0.4) > 5 * spread[0]


def test_the_whole_is_charged_up_front_where_it_covers_all() -> None:
    task = Longitudinal(4, epsilon=3, values=1, first=1)
    assert task.event == PureLoss(Fraction(3), Neighbors.REPLACE)
    assert accounting.epsilon(2 * task.event, 0).upper == pytest.approx(6)


def test_no_event_claims_that_changes_are_covered() -> None:
    """With two values a person who changes can be told from one who does not, whatever epsilon is (see above)."""
    task = Longitudinal(4, epsilon=3, values=2, first=1)
    with pytest.raises(NotPromised, match="no change"):
        _ = task.event
    assert task.anything(5).epsilon > task.anything(4).epsilon > 3
