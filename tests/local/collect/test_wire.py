"""Tasks and messages on their way: what is altered, mistaken or forged is refused, and by name."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CuradorError, InvalidParameter, MessageRefused
from curador.local import KRR, OUE, Hybrid, Longitudinal, Range, Record, task_from_json
from curador.local.collect.wire import (
    messages,
    publish_task,
    read_message,
    read_task,
    reason_of,
    sound_reports,
)
from curador.local.task.task import Task
from tests.local.every_task import EVERY_TASK

TASK = KRR(["a", "b", "c"], 1).named("letters")


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
    ids = [task.id for task, _ in EVERY_TASK]
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
        ({"task": OUE(3, 1).id}, "another task"),
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
    with pytest.raises(MessageRefused) as refusal:
        read_message(TASK, {**good, **change})
    assert reason_of(refusal.value) == reason


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=3))
def test_anything_else_is_refused(message: Any) -> None:
    with pytest.raises(MessageRefused):
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


def test_forged_reports_are_looked_at_together_like_honest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Record({f"a{i}": Range(0, 1) for i in range(50)}, 1)
    honest = task.to_bytes(task.randomize({name: np.zeros(40) for name in task.names}))
    forged = np.zeros((64, task.layout.size), np.uint8)
    forged[:, 2:] = 255  # on the first attribute, a cell that does not exist
    forged[::2, :2] = 255  # on an attribute that does not exist
    rows = np.concatenate([forged[:32], honest, forged[32:]])
    read: list[int] = []
    real = Hybrid.from_bytes

    def counted(part: Hybrid, rows: Any) -> Any:
        read.append(len(rows))
        return real(part, rows)

    monkeypatch.setattr(Hybrid, "from_bytes", counted)
    assert sound_reports(task, rows).tolist() == [False] * 32 + [True] * 40 + [False] * 32
    drawn = {*honest[:, 1].tolist(), 0}
    assert len(read) == len(drawn)  # once for each attribute that a report is on, however many are forged
    assert sum(read) == 40 + 32


@pytest.mark.parametrize(
    "change",
    [{"bits": []}, {"bits": True}, {"rest": True}, {"keys": [1, 1.5]}, {"keep": 1.0}, {"epsilon": "0"}, {"keep": None}],
)
def test_odd_fields_are_refused_in_our_words(change: dict[str, Any]) -> None:
    with pytest.raises(CuradorError):
        task_from_json({**KRR(3, 1).to_json(), **change})


def test_what_would_take_for_ever_or_hide_costs_is_refused() -> None:
    many = Longitudinal(3, 2, values=2, first="1/2").to_json()
    with pytest.raises(InvalidParameter):
        task_from_json({**many, "values": 10**9})
    record = Record({"a": 3, "b": 3}, 4, sampled=1).to_json()
    with pytest.raises(InvalidParameter):  # it is answered many times, a record once
        task_from_json({**record, "parts": [many, many]})


@pytest.mark.parametrize("task", [KRR([1, 1 << 53], 1), KRR(3, Fraction(10**500 + 1, 10**500))])
def test_a_task_that_devices_cannot_read_is_not_published(task: Any) -> None:
    with pytest.raises(InvalidParameter, match="No device"):
        publish_task(task.named("q"))
