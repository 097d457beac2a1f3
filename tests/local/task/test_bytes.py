"""Reports as bytes and tallies that add up: for every kind of task, the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue
from curador.local import Mean, Tally, task_from_json
from curador.local.task.layout import Layout
from curador.local.task.task import Task
from tests.local.every_task import EVERY_TASK


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_reports_survive_as_bytes(task: Any, values: Any) -> None:
    reports = task.randomize(values)
    rows = task.to_bytes(reports)
    assert rows.dtype == np.uint8
    assert rows.shape == (len(reports), task.layout.size)
    assert 8 * task.layout.size >= task.report_bits
    back = task.from_bytes(rows)
    assert np.array_equal(back, reports)
    for bad in (rows[:, 1:], rows.astype(np.int64), rows.reshape(-1)):
        with pytest.raises(InvalidValue):
            task.from_bytes(bad)


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_tallies_of_parts_add_up(task: Any, values: Any) -> None:
    reports = task.randomize(values)
    cut = len(reports) // 3
    whole = task.tally(reports)
    read: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    parts = [read.tally(some) for some in (reports[:cut], reports[cut:])]
    added = Tally.from_json(json.loads(json.dumps((parts[0] + parts[1]).to_json())))
    assert added.users == whole.users == len(reports)
    assert np.array_equal(added.support, whole.support)
    assert added.support.shape == whole.support.shape
    if isinstance(found := getattr(task, "_decoded", None) and task.estimate(added), Mean):
        decoded = float(task.low + task.half) + float(task.half) * task._decoded(task._checked(reports)).mean()
        assert found.value == pytest.approx(decoded, rel=1e-12)
    assert task.tally(reports[:0]).users == 0


def test_numbers_are_written_highest_byte_first() -> None:
    assert Layout(8, signed=True).pack(np.array([-2])).tolist() == [[255] * 7 + [254]]
    assert Layout(8, signed=True).unpack(np.array([[255] * 8], np.uint8)).tolist() == [-1]
    assert Layout(2, 2).pack(np.array([[1, 2], [3, 65535]])).tolist() == [[0, 1, 0, 2], [0, 3, 255, 255]]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"users": 1, "shape": [1], "support": [1], "more": 1},
        {"users": -1, "shape": [1], "support": [1]},
        {"users": True, "shape": [1], "support": [1]},
        {"users": 1, "shape": [2], "support": [1]},
        {"users": 1, "shape": [1], "support": [1.5]},
        {"users": 1, "shape": [1], "support": [1 << 64]},
        {"users": 1, "shape": "x", "support": [1]},
        {"users": 1, "shape": [1], "support": 5},
        [],
    ],
)
def test_what_is_no_tally(data: Any) -> None:
    with pytest.raises(InvalidValue):
        Tally.from_json(data)


def test_a_forged_report_cannot_wrap_a_sum() -> None:
    task = next(task for task, _ in EVERY_TASK if task.mechanism == "laplace")
    with pytest.raises(InvalidValue):
        task.tally(np.array([1 << 62]))
    with pytest.raises(InvalidParameter):
        task.estimate(Tally(1, np.array([1])))
