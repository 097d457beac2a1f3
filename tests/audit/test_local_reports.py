"""The floor under local reports: honest tasks stay above it, broken ones are caught, in the library and on devices."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.accounting.events import PureLoss
from curador.audit.local_reports import floor
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import KRR, OUE, Longitudinal, Rappor
from curador.local.collect.wire import publish_task
from curador.local.devices import curador_device
from curador.local.task.task import Task
from tests.local.every_task import EVERY_TASK
from tests.mutants import local as mutants
from tests.mutants import local_further as further

SURE = 1 - 1e-7


def two_of(task: Any, values: Any) -> tuple[Any, Any]:
    """The first value and the last."""
    if isinstance(values, dict):
        return ({name: [column[0]] for name, column in values.items()}, {n: [c[-1]] for n, c in values.items()})
    return values[:1], values[-1:]


def many(task: Any, one: Any, times: int) -> Any:
    if isinstance(one, dict):
        return task.to_bytes(task.randomize({name: column * times for name, column in one.items()}))
    return task.to_bytes(task.randomize(np.repeat(one, times, axis=0) if isinstance(one, np.ndarray) else one * times))


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_no_honest_task_is_refuted(task: Any, values: Any) -> None:
    first, second = two_of(task, values)
    found = floor(task.event, many(task, first, 3000), many(task, second, 3000), confidence=SURE)
    assert found.shown <= found.stated <= float(task.epsilon)


@pytest.mark.parametrize("task", [KRR(3, 1), KRR(2, 2), OUE(2, 1)], ids=lambda task: f"{task.mechanism}{task.epsilon}")
def test_the_floor_comes_near_the_truth(task: Any) -> None:
    found = floor(task.event, many(task, [0], 100_000), many(task, [1], 100_000))
    assert 0.9 * found.stated < found.shown <= found.stated


@pytest.mark.parametrize(
    ("task", "values"),
    [
        (mutants.NeverClears(4, 1), ([0], [1])),  # pure-ldp 1.2.0's
        (mutants.WholeEpsilonPerBit(4, 1), ([0], [1])),
        (mutants.HashOfItself(8, 1), ([1], [6])),
        (further.WholeEpsilonPerAnswer(2, 1, 2), ([0], [1])),
        (further.ColumnOfItself(1, rows=2, places=8), (["a"], ["b"])),
    ],
    ids=lambda x: type(x).__name__,
)
def test_broken_tasks_are_refuted(task: Any, values: Any) -> None:
    first, second = (many(task, value, 40_000) for value in values)
    assert floor(PureLoss(task.epsilon), first, second, confidence=SURE).broken


def test_what_a_broken_rappor_remembers_is_refuted() -> None:
    """pure-ldp 1.2.0's filter is never cleared; a second draw hides that from single reports, and not from many."""
    for task, broken in (
        (further.NeverClears(4, bloom=32, cohorts=1), True),
        (Rappor(4, bloom=32, cohorts=1), False),
    ):
        kept = (task.remember([key] * 40_000) for key in ("a", "b"))
        assert floor(task.event, *kept, confidence=SURE).broken is broken


def test_reports_of_a_device_are_judged_by_the_same_rule() -> None:
    task = KRR(3, 1).named("q")
    read = curador_device.read_task(publish_task(task))
    own, other = (
        np.frombuffer(b"".join(curador_device.report(read, value) for _ in range(20_000)), np.uint8).reshape(-1, 1)
        for value in (0, 1)
    )
    found = floor(task.event, own, other)
    assert 0.8 < found.shown <= found.stated
    assert floor(KRR(3, "1/2").event, own, other).broken  # had it stated less than it spends


def test_what_a_floor_is_not_asked() -> None:
    rows = np.zeros((300, 1), np.uint8)
    with pytest.raises(InvalidParameter):
        floor(PureLoss(Fraction(1)), rows[:10], rows)
    for bad in (rows.astype(int), rows[:, 0], rows[:, :0]):
        with pytest.raises(InvalidValue):
            floor(PureLoss(Fraction(1)), bad, rows)
    with pytest.raises(InvalidValue):
        floor(PureLoss(Fraction(1)), rows, np.zeros((300, 2), np.uint8))
    with pytest.raises(NotPromised):
        floor(Longitudinal(3, 2, values=2, first="1/2").event, rows, rows)
    assert floor(PureLoss(Fraction(1)), rows, rows).shown == 0.0
    assert math.isfinite(floor(Rappor(4).event, rows, 1 - rows).shown)
