"""A device's own ledger: it spends no more than its limit, answers once, remembers what it must, and saves first."""

from __future__ import annotations

import json
import threading
import time
from fractions import Fraction
from typing import Any

import pytest

from curador.local import KRR, Duchi, Longitudinal, Rappor
from curador.local.clients import curador_device as client
from curador.local.wire import read_message
from tests.local.clients.both import Scripted, document, in_node, or_refused, script_for, to_text

TEA = KRR(["tea", "water"], "1/2")
AGE = Duchi(0, 100, "1/3")
AGAIN = Longitudinal(["a", "b", "c"], 2, values=1, first=1)
CHANGING = Longitudinal(["a", "b", "c", "d"], 2, values=2, first="1/2")
PAGES = Rappor(1, bloom=16, hashes=2, cohorts=8)
STEPS: list[tuple[Any, Any]] = [
    (TEA, "tea"),
    (TEA, "tea"),
    (AGE, float("nan")),
    (AGAIN, "b"),
    (AGAIN, "a"),
    (PAGES, "x.org"),
    (AGE, 33),
    (PAGES, "y.org"),
    (CHANGING, "a"),
    (AGAIN, "?"),
    (AGAIN, "c"),
    (AGE, 34),
]


def nothing(state: dict[str, Any]) -> None:
    """Saves nothing."""


class NoBytes(client.Source):
    """A source from which nothing may be drawn."""

    def take(self, n: int) -> int:
        raise AssertionError("something was drawn")


def steps_for_node(steps: list[tuple[Any, Any]]) -> list[dict[str, Any]]:
    from tests.local.clients.both import for_node

    return [{"document": document(task), "value": for_node(value)} for task, value in steps]


def run(device: client.Device, steps: list[tuple[Any, Any]], source: client.Source) -> list[Any]:
    read = {id(task): client.read_task(document(task)) for task, _ in steps}
    return [or_refused(lambda t=t, v=v: device.message(read[id(t)], v, source)) for t, v in steps]


LIMITS = [("4", False), ("23/6", True), ("35/6", True), ("1", False), ("0", False)]


def test_both_languages_keep_the_same_state() -> None:
    script = script_for({}, 100_000, 5)
    common = {"do": "device", "steps": steps_for_node(STEPS), "script": to_text(script)}
    answers = in_node([{**common, "limit": limit, "changes": changes} for limit, changes in LIMITS])
    for (limit, changes), theirs in zip(LIMITS, answers, strict=True):
        saved: list[Any] = []
        device = client.Device(limit, saved.append, changes=changes)
        assert theirs["sent"] == run(device, STEPS, Scripted(script))
        assert theirs["saved"] == saved
        assert theirs["state"] == device.to_json() == (saved[-1] if saved else device.to_json())
        assert (theirs["spent"], theirs["remaining"]) == (str(device.spent), str(device.remaining))
        assert device.spent <= Fraction(limit)


def test_what_is_sent_and_what_is_refused() -> None:
    device = client.Device("23/6", nothing, changes=True)
    sent = run(device, STEPS, client.Source())
    why = [answer.get("refused", "sent")[:22] for answer in sent]
    assert why == [
        "sent",
        "This task was answered",
        "The value is not a fin",
        "sent",
        "sent",
        "sent",
        "sent",
        "sent",
        "This task costs 2, mor",
        "The value is none of t",
        "sent",
        "This task was answered",
    ]
    assert device.remaining == 0
    for (task, _), answer in zip(STEPS, sent, strict=True):
        if "report" in answer:
            read_message(task, answer)


def test_a_state_goes_from_one_language_to_the_other() -> None:
    """Each goes on with the permanent answers that the other drew."""
    start = client.Device("9", nothing, changes=True)
    steps = [(CHANGING, "a"), (PAGES, "x"), (CHANGING, "b")]
    run(start, steps, client.Source())
    job = {
        "do": "device",
        "state": start.to_json(),
        "steps": steps_for_node([(CHANGING, "c"), (TEA, "tea"), (PAGES, "y"), (CHANGING, "a")]),
        "script": to_text(bytes(4096)),
    }
    [theirs] = in_node([job])
    before, after = start.to_json()["kept"], theirs["state"]["kept"]
    names = [client.read_task(document(task)).id for task in (CHANGING, PAGES)]
    assert after[names[1]] == before[names[1]]
    assert after[names[0]] == {**before[names[0]], "last": 0}
    back = client.Device.from_json(json.loads(json.dumps(theirs["state"])), nothing)
    assert back.spent == Fraction(7, 2)
    assert "refused" in run(back, [(TEA, "tea")], client.Source())[0]


def test_nothing_is_drawn_for_what_is_refused() -> None:
    source = NoBytes()
    device = client.Device("1/3", nothing)
    refused = run(device, [(TEA, "tea"), (CHANGING, "a"), (AGAIN, "a"), (AGE, "x")], source)
    assert all("refused" in answer for answer in refused)
    assert device.spent == 0
    with pytest.raises(AssertionError):
        run(device, [(AGE, 5)], source)


def test_a_change_of_value_is_covered_or_allowed() -> None:
    read = client.read_task(document(CHANGING))
    with pytest.raises(client.Refused, match="changed"):
        client.Device("9", nothing).message(read, "a")
    client.Device("9", nothing, changes=True).message(read, "a")


def test_it_is_saved_before_it_is_given() -> None:
    order: list[str] = []
    device = client.Device("9", lambda state: order.append(f"saved {len(state['answered'])}"))
    run(device, [(TEA, "tea")], client.Source())
    order.append("given")
    assert order == ["saved 1", "given"]


def test_what_cannot_be_saved_is_not_given_and_counts() -> None:
    def full(state: dict[str, Any]) -> None:
        raise OSError("full")

    device = client.Device("9", full)
    read = client.read_task(document(TEA))
    with pytest.raises(OSError, match="full"):
        device.message(read, "tea")
    with pytest.raises(client.Refused, match="answered"):
        device.message(read, "tea")
    assert device.spent == Fraction(1, 2)
    [theirs] = in_node([{"do": "unsaved", "document": document(TEA), "value": "tea"}])
    assert theirs == {"told": ["full", "This task was answered."], "spent": "1/2"}


def test_two_at_once_do_not_both_spend_what_is_left() -> None:
    tasks = [KRR(2, 1), KRR(3, 1)]
    [theirs] = in_node([{"do": "race", "limit": "1", "documents": [document(task) for task in tasks], "value": 0}])
    assert sorted(theirs) == ["This task costs 1, more than remains.", "sent"]
    device, sent = client.Device("1", nothing), list[Any]()

    def one(keys: int) -> None:
        body = {name: x for name, x in KRR(keys, 1).to_json().items() if name != "mechanism"}
        sent.append(or_refused(lambda: device.message(Slow(body), 0)))

    threads = [threading.Thread(target=one, args=(keys,)) for keys in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted("report" in answer for answer in sent) == [False, True]


class Slow(client.Krr):
    """A task whose epsilon takes its time whenever it is asked for, so that two threads meet after the check."""

    @property
    def epsilon(self) -> Fraction:
        time.sleep(0.02)
        return Fraction(1)

    @epsilon.setter
    def epsilon(self, epsilon: Fraction) -> None:
        self.id = f"{id(self):032x}"


def broken_states() -> list[Any]:
    device = client.Device("9", nothing)
    run(device, [(TEA, "tea"), (AGAIN, "a")], client.Source())
    good = device.to_json()
    first = good["answered"][0]
    return [
        None,
        [],
        {},
        {**good, "more": 1},
        {**good, "curador": 2},
        {**good, "curador": True},
        {**good, "limit": 9},
        {**good, "limit": "9.5"},
        {**good, "changes": 0},
        {**good, "answered": {}},
        {**good, "answered": [first, first]},
        {**good, "answered": [{**first, "epsilon": "0"}]},
        {**good, "answered": [{**first, "epsilon": "-1"}]},
        {**good, "answered": [{"task": first["task"]}]},
        {**good, "answered": ["x"]},
        {**good, "answered": [first]},  # a permanent answer on a task that was never charged
        {**good, "kept": []},
        {**good, "kept": {**good["kept"], "x": {}}},
    ]


def test_a_broken_state_is_refused_by_both() -> None:
    states = broken_states()
    theirs = in_node([{"do": "device", "state": state, "steps": [], "script": ""} for state in states if state])
    mine = [or_refused(lambda state=state: client.Device.from_json(state, nothing)) for state in states]
    assert [set(answer) for answer in mine] == [{"refused"}] * len(states)
    assert theirs == [answer for answer, state in zip(mine, states, strict=True) if state]


LOST: list[tuple[Any, Any]] = [
    (AGAIN, None),
    (AGAIN, {}),
    (AGAIN, {"met": [0], "answers": [1]}),
    (AGAIN, {"met": [0], "answers": [3], "last": 0}),
    (AGAIN, {"met": [0], "answers": [-1], "last": 0}),
    (AGAIN, {"met": [0], "answers": [1.5], "last": 0}),
    (AGAIN, {"met": [0], "answers": [True], "last": 0}),
    (AGAIN, {"met": [0, 1], "answers": [1, 1], "last": 0}),
    (AGAIN, {"met": [0], "answers": [1], "last": 1}),
    (AGAIN, {"met": [0], "answers": [1], "last": -1}),
    (AGAIN, {"met": [], "answers": [], "last": -1}),
    (AGAIN, {"met": "0", "answers": [1], "last": 0}),
    (AGAIN, {"row": "00"}),
    *((PAGES, {"row": row}) for row in ("", "zz", "0000" + "00" * 3, "0008" + "00" * 2, "0000" + "0F" * 2, 5, None)),
]
"""Of a task, what it cannot have kept."""


def test_permanent_answers_that_cannot_be_are_refused_not_drawn_anew() -> None:
    states = [
        {
            "curador": 1,
            "limit": "9",
            "changes": False,
            "answered": [{"task": client.read_task(document(task)).id, "epsilon": str(task.epsilon)}],
            "kept": {client.read_task(document(task)).id: kept},
        }
        for task, kept in LOST
    ]
    steps = [[(task, "a")] for task, _ in LOST]
    mine = [
        run(client.Device.from_json(state, nothing), some, NoBytes()) for state, some in zip(states, steps, strict=True)
    ]
    jobs = [
        {"do": "device", "state": state, "steps": steps_for_node(some), "script": ""}
        for state, some in zip(states, steps, strict=True)
    ]
    assert [one["sent"] for one in in_node(jobs)] == mine
    assert mine == [[{"refused": "What this device kept of the task is lost or broken."}]] * len(LOST)


def test_a_filter_has_no_bits_to_spare() -> None:
    read: Any = client.read_task(document(Rappor(1, bloom=4, hashes=1, cohorts=1)))
    assert read.is_kept({"row": "0000f0"})
    assert not read.is_kept({"row": "0000f1"})


def test_permanent_answers_stay() -> None:
    """However many reports are made, and whatever the value is after the first."""
    device = client.Device("9", nothing)
    run(device, [(PAGES, "x"), (AGAIN, "a")], client.Source())
    kept = device.to_json()["kept"]
    run(device, [(PAGES, "y"), (AGAIN, "b"), (PAGES, "x")] * 20, client.Source())
    assert device.to_json()["kept"] == kept
    assert device.spent == 3
