"""Two questions with equal answers and epsilons are two tasks: for devices, collectors and what is remembered."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curador.errors import CollectorFailed, InvalidParameter
from curador.local import KRR, CountMean, Device, HeavyHitters, Longitudinal, Rappor, task_from_json
from curador.local.collect.collector import Collector
from curador.local.collect.wire import messages, publish_task
from curador.local.devices import curador_device as client
from tests.local.devices.both import Scripted, document, in_node, or_refused, script_for, to_text

DRINK = KRR(["tea", "water"], 1)
SITES = ["duckduckgo.com", "example.org"]
DAILY = Longitudinal(SITES, 8, values=1, first=4)
PAGES = Rappor(8, bloom=32, hashes=1, cohorts=4)


def nothing(state: Any) -> None:
    """Saves nothing."""


def answers(device: client.Device, steps: list[tuple[Any, Any]], source: client.Source | None = None) -> list[Any]:
    return [or_refused(lambda t=t, v=v: device.message(client.read_task(document(t)), v, source)) for t, v in steps]


def test_a_name_a_period_and_a_segment_make_another_task() -> None:
    named = [DRINK.named("a"), DRINK.named("b"), DRINK.named("a", period="1"), DRINK.named("a", segment="1")]
    assert len({task.id for task in (DRINK, *named)}) == 5
    assert len({client.read_task(document(task)).id for task in named}) == 4
    for task in named:
        assert task_from_json(task.to_json()) == task
        assert client.read_task(document(task)).id == task.id
        assert (task.keys, task.keep, task.error(100)) == (DRINK.keys, DRINK.keep, DRINK.error(100))


def test_both_questions_are_answered_and_both_are_paid() -> None:
    device = client.Device("2", nothing)
    sent = answers(
        device, [(DRINK.named("morning"), "tea"), (DRINK.named("evening"), "tea"), (DRINK.named("x"), "tea")]
    )
    assert [set(one) == {"task", "epsilon", "token", "report"} for one in sent] == [True, True, False]
    assert sent[0]["task"] != sent[1]["task"]
    assert device.spent == 2
    assert sent[2] == {"refused": "This task costs 1, more than remains."}


def test_a_collector_refuses_the_other_questions_messages(tmp_path: Path) -> None:
    monday, tuesday = (DRINK.named("drink", period=day) for day in ("monday", "tuesday"))
    collector = Collector.create(tmp_path / "monday", monday)
    receipt = collector.collect([*messages(monday, [0, 1]), *messages(tuesday, [0, 1, 1])])
    assert (receipt.accepted, dict(receipt.refused)) == (2, {"another task": 3})
    with pytest.raises(CollectorFailed, match="another task"):
        Collector.open(tmp_path / "monday", tuesday)


@pytest.mark.parametrize("task", [DAILY, PAGES], ids=["longitudinal", "rappor"])
def test_a_permanent_answer_is_about_its_own_question(task: Any) -> None:
    """400 people say one thing to the first question and another to the second: so do the estimates."""
    first, second = task.named("first"), task.named("second")
    one, other = client.read_task(document(first)), client.read_task(document(second))
    asked = None if task is DAILY else SITES
    rows: list[list[bytes]] = [[], []]
    for _ in range(400):
        device = client.Device("16", nothing)
        for i, (read, value) in enumerate(((one, SITES[0]), (other, SITES[1]))):
            text = device.message(read, value)["report"]
            rows[i].append(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        assert device.spent == 16
    for i, asked_task in enumerate((first, second)):
        table = np.frombuffer(b"".join(rows[i]), np.uint8).reshape(400, -1)
        found = asked_task.estimate(asked_task.tally(asked_task.from_bytes(table)), asked)
        assert found.values[i] > 0.8 > 0.2 > found.values[1 - i]


@pytest.mark.parametrize("task", [DAILY, PAGES], ids=["longitudinal", "rappor"])
def test_periods_share_the_permanent_answer_and_its_epsilon_and_are_answered_once_each(task: Any) -> None:
    days = [task.named("site", period=day) for day in ("1", "2", "2", "3")]
    steps = [*((day, SITES[0]) for day in days), (task.named("site", period="1", segment="es"), SITES[0])]
    script = script_for({}, 20_000, 3)
    device = client.Device("16", nothing)
    mine = answers(device, steps, Scripted(script))
    assert [one.get("refused") for one in mine] == [None, None, "This task was answered.", None, None]
    assert len({one["task"] for one in mine if "task" in one}) == 4  # a folder for each
    state = device.to_json()
    assert device.spent == 16  # the periods once, and the segment once
    assert [one["periods"] for one in state["answered"]] == [["1", "2", "3"], ["1"]]
    assert set(state["kept"]) == {days[0].series, steps[-1][0].series}
    job = {"do": "device", "limit": "16", "changes": False, "script": to_text(script)}
    [theirs] = in_node([{**job, "steps": [{"document": document(t), "value": v} for t, v in steps]}])
    assert (theirs["sent"], theirs["state"]) == (mine, state)
    again = client.Device.from_json(state, nothing)
    assert answers(again, [(days[3], SITES[0])]) == [{"refused": "This task was answered."}]
    assert set(answers(again, [(task.named("site", period="4"), SITES[1])])[0]) == {
        "task",
        "epsilon",
        "token",
        "report",
    }
    assert again.spent == 16


def test_a_new_period_of_any_other_task_costs_anew() -> None:
    device = client.Device("2", nothing)
    sent = answers(device, [(DRINK.named("drink", period=str(i)), "tea") for i in range(3)])
    assert ["refused" in one for one in sent] == [False, False, True]
    assert device.spent == 2


def test_the_librarys_device_goes_on_in_the_next_period() -> None:
    november, december = (DAILY.named("site", period=month) for month in ("2026-11", "2026-12"))
    device, _ = Device.of(november).report(SITES[0])
    later, _ = device.asked(december).report(SITES[0])
    assert (later.answers, later.task) == (device.answers, december)
    with pytest.raises(InvalidParameter, match="another task"):
        device.asked(DAILY.named("other"))


def test_hash_functions_are_the_tasks_own() -> None:
    for task in (CountMean(4), HeavyHitters(4), PAGES):
        assert len({task.named(name).salt for name in "ab"} | {task.salt}) == 3
    same = {PAGES.named("a", period=period).salt for period in "12"}
    assert len(same) == 1  # or the permanent filter would not fit
    assert len({CountMean(4).named("a", period=period).salt for period in "12"}) == 2


def test_a_task_is_published_under_a_name() -> None:
    with pytest.raises(InvalidParameter, match="under a name"):
        publish_task(DRINK)
    for bad in ("", " a", "a\n", "x" * 257, "\ud800", 5, None):
        with pytest.raises(InvalidParameter):
            DRINK.named(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        DRINK.named("a", period="")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": ""}, "name is not a text of 1 to 256 bytes."),
        ({"name": None}, "name is not a text of 1 to 256 bytes."),
        ({"name": "é" * 129}, "name is not a text of 1 to 256 bytes."),
        ({"period": 5}, "period is not a text of 1 to 256 bytes."),
        ({"segment": ""}, "segment is not a text of 1 to 256 bytes."),
        ({"name": "other"}, "This task was altered after it was published."),
        ({"period": "2"}, "This task was altered after it was published."),
        ({"name": ...}, "This task's mechanism is not known here."),
    ],
)
def test_both_clients_check_the_labels(change: dict[str, Any], why: str) -> None:
    whole = document(DRINK.named("drink", period="1"))
    whole["task"] = {name: x for name, x in {**whole["task"], **change}.items() if x is not ...}
    told = or_refused(lambda: client.read_task(whole))["refused"]
    assert in_node([{"do": "read", "document": whole}]) == [{"refused": told}]
    assert told == why or "other fields" in told
