"""Tasks and messages on their way: what is altered, mistaken or forged is refused, and by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CuradorError, InvalidParameter
from curador.local import KRR, OUE
from curador.local.task import Task
from curador.local.wire import (
    Refused,
    messages,
    publish_task,
    read_message,
    read_task,
    sound_reports,
    task_id,
)
from tests.local.every_task import EVERY_TASK

TASK = KRR(["a", "b", "c"], 1)


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_messages_carry_every_report(task: Any, values: Any) -> None:
    published = json.loads(json.dumps(publish_task(task)))
    assert read_task(published) == task
    reports = task.randomize(values)
    sent = [json.loads(json.dumps(one)) for one in messages(task, reports)]
    read = [read_message(task, one) for one in sent]
    assert len({one.token for one in read}) == len(read)
    rows = np.frombuffer(b"".join(one.report for one in read), np.uint8).reshape(len(read), -1)
    assert np.array_equal(task.from_bytes(rows), reports)
    assert sound_reports(task, rows).all()


def test_ids_tell_tasks_apart() -> None:
    ids = [task_id(task) for task, _ in EVERY_TASK]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "change",
    [
        {"curador": 2},
        {"id": "0" * 32},
        {"task": "krr"},
        {"more": 1},
        {"task": {**TASK.to_json(), "keep": 1 << 31}},
        {"task": {**TASK.to_json(), "epsilon": "2"}},
    ],
)
def test_an_altered_task_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CuradorError):
        read_task({**publish_task(TASK), **change})


def test_what_is_no_task_at_all() -> None:
    nothing: Any = []
    with pytest.raises(InvalidParameter):
        read_task(nothing)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"task": task_id(OUE(3, 1))}, "another task"),
        ({"epsilon": "2"}, "another epsilon"),
        ({"epsilon": 1}, "malformed"),
        ({"token": "00"}, "malformed"),
        ({"token": "A" * 32}, "malformed"),
        ({"token": "g" * 32}, "malformed"),
        ({"token": " " + "0" * 31}, "malformed"),
        ({"report": "AAA"}, "malformed"),
        ({"report": "A"}, "malformed"),
        ({"report": "A="}, "malformed"),
        ({"report": "AB"}, "malformed"),
        ({"report": "+w"}, "malformed"),
        ({"report": "é"}, "malformed"),
        ({"report": None}, "malformed"),
        ({"more": ""}, "malformed"),
    ],
)
def test_bad_messages_are_refused_by_name(change: dict[str, Any], reason: str) -> None:
    good = messages(TASK, TASK.randomize(["a"]))[0]
    with pytest.raises(Refused) as refusal:
        read_message(TASK, {**good, **change})
    assert refusal.value.reason == reason


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=3))
def test_anything_else_is_refused(message: Any) -> None:
    with pytest.raises(Refused):
        read_message(TASK, message)


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_bytes_that_are_no_report_are_found(task: Any, values: Any) -> None:
    rng = np.random.default_rng(1)
    rows = task.to_bytes(task.randomize(values))
    forged = rng.integers(0, 256, rows.shape, np.uint8)
    alone = np.array([sound_reports(task, forged[i : i + 1])[0] for i in range(len(forged))])
    mixed = np.concatenate([rows, forged])
    assert sound_reports(task, mixed).tolist() == [True] * len(rows) + alone.tolist()
    task.tally(task.from_bytes(mixed[sound_reports(task, mixed)]))
