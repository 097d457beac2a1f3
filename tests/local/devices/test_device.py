"""A device's own ledger: it spends no more than its limit, answers once, remembers what it must, and saves first."""

from __future__ import annotations

import json
import threading
import time
from fractions import Fraction
from hashlib import sha256
from typing import Any

import pytest

from curador.local import KRR, CountMean, Duchi, DuchiVector, HeavyHitters, Longitudinal, Rappor, Record
from curador.local.collect.wire import read_message
from curador.local.devices import curador_device as client
from curador.local.task.identity import canonical
from tests.local.devices.both import Scripted, document, in_node, or_refused, script_for, to_text

TEA = KRR(["tea", "water"], "1/2").named("tea")
AGE = Duchi(0, 100, "1/3").named("age")
AGAIN = Longitudinal(["a", "b", "c"], 2, values=1, first=1).named("again")
CHANGING = Longitudinal(["a", "b", "c", "d"], 2, values=2, first="1/2").named("changing")
PAGES = Rappor(1, bloom=16, hashes=2, cohorts=8).named("pages")
STEPS: list[tuple[Any, Any]] = [
    (TEA, "tea"),
    (TEA, "tea"),
    (CHANGING, float("nan")),
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


def answered(task: Any) -> dict[str, Any]:
    """What a state says of a task that was answered."""
    read = client.read_task(document(task))
    return {"task": read.series, "digest": read.digest, "epsilon": str(task.epsilon), "periods": []}


class NoBytes(client.Source):
    """A source from which nothing may be drawn."""

    def take(self, n: int) -> int:
        raise AssertionError("something was drawn")


def steps_for_node(steps: list[tuple[Any, Any]]) -> list[dict[str, Any]]:
    from tests.local.devices.both import for_node

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
    device = client.Device("23/6", nothing)
    sent = run(device, STEPS, client.Source())
    why = [answer.get("refused", "sent")[:22] for answer in sent]
    assert why == [
        "sent",
        "This task was answered",
        "Epsilon of this task d",
        "sent",
        "sent",
        "sent",
        "sent",
        "sent",
        "Epsilon of this task d",
        "sent",
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
    refused = run(device, [(TEA, "tea"), (CHANGING, "a"), (AGAIN, "a"), (PAGES, "x")], source)
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
    tasks = [KRR(2, 1).named("two"), KRR(3, 1).named("three")]
    [theirs] = in_node([{"do": "race", "limit": "1", "documents": [document(task) for task in tasks], "value": 0}])
    assert sorted(theirs) == ["This task costs 1, more than remains.", "sent"]
    device, sent = client.Device("1", nothing), list[Any]()

    def one(keys: int) -> None:
        body = {name: x for name, x in KRR(keys, 1).part_json().items() if name != "mechanism"}
        task = Slow(body)
        task.id = task.series = f"{keys:032x}"
        task.digest, task.period = f"{task.id}{task.id}", None
        sent.append(or_refused(lambda: device.message(task, 0)))

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
        self.digest = f"{id(self):032x}" * 2
        self.id = self.digest[:32]


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
        {**good, "kept": {}, "answered": [{**first, "task": "0" * 32}]},
        {**good, "kept": {}, "answered": [{**first, "digest": first["task"]}]},
        {**good, "kept": {}, "answered": [{**first, "digest": first["digest"].upper()}]},
        {**good, "kept": {}, "answered": [{**first, "digest": None}]},
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
            "answered": [answered(task)],
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


# ---- what a hostile collector, a slow disk or a broken source can do -------------------------------------------------


def test_saves_follow_each_other_and_the_newest_state_is_last() -> None:
    """The first takes longest, and the third fails; what it was to save is in the fourth."""
    tasks = [KRR(n, "1/2") for n in (2, 3, 4, 5)]
    job = {"do": "saves", "documents": [document(task) for task in tasks], "waits": [40, 1, 10, 1], "failing": 2}
    [found] = in_node([job])
    assert found["told"] == ["sent", "sent", "full", "sent"]
    assert found["at_once"] == 1
    assert [one["task"] for one in found["disk"]["answered"]] == [answered(task)["task"] for task in tasks]


def test_refusals_do_not_depend_on_the_value() -> None:
    """With too little left, on a task that was answered, and on one that is not answered at all."""
    values: list[Any] = ["tea", "beer", 1, None, True, float("nan"), [], {}]
    steps = [(TEA, "tea"), *((task, value) for task in (TEA, AGE, AGAIN, CHANGING) for value in values)]
    device = client.Device("1/2", nothing)
    mine = run(device, steps, client.Source())[1:]
    whys = [{answer["refused"] for answer in mine[i : i + len(values)]} for i in range(0, len(mine), len(values))]
    assert [len(why) for why in whys] == [1] * 4
    job = {"do": "device", "limit": "1/2", "changes": False, "steps": steps_for_node(steps)}
    [theirs] = in_node([{**job, "script": to_text(bytes(1024))}])
    assert theirs["sent"][1:] == mine


def test_a_device_answers_whatever_the_value_is() -> None:
    """Who has another value than a hostile task lists is not told by silence, and is charged like anyone."""
    sent = []
    for secret in ("tea", "beer"):
        device = client.Device("1/2", nothing)
        sent += [run(device, [(TEA, secret)], client.Source())[0]]
        assert device.spent == Fraction(1, 2)
    assert all("report" in answer for answer in sent)


def failing(n: int) -> bytes:
    raise OSError("no bytes yet")


def test_a_source_that_fails_costs_nothing() -> None:
    short = "The source did not give the bytes that it was asked for."
    for task, value in ((TEA, "tea"), (AGAIN, "a")):
        device, read = client.Device("2", nothing), client.read_task(document(task))
        for broken, why in ((failing, "no bytes yet"), (lambda n: b"", short), (lambda n: bytes(n + 1), short)):
            with pytest.raises((OSError, client.Refused), match=why):
                device.message(read, value, client.Source(broken))
        assert device.spent == 0
        assert device.to_json()["kept"] == {}
        device.message(read, value)
        [theirs] = in_node([{"do": "sources", "document": document(task), "value": value}])
        assert theirs["told"] == ["no bytes yet", short, short, short, "sent"]
        assert theirs["spent"] == ["0", "0", "0", "0", str(task.epsilon)]


def test_another_task_of_the_same_id_is_not_answered() -> None:
    """Half of a SHA-256 can be met on purpose in 2**64 tries; the whole is kept, and compared."""
    device = client.Device("9", nothing)
    run(device, [(AGAIN, "a")], client.Source())
    state = device.to_json()
    first = state["answered"][0]
    state["answered"] = [{**first, "digest": first["task"] + "0" * 32}]
    mine = run(client.Device.from_json(state, nothing), [(AGAIN, "a")], NoBytes())
    [theirs] = in_node([{"do": "device", "state": state, "steps": steps_for_node([(AGAIN, "a")]), "script": ""}])
    assert mine == theirs["sent"] == [{"refused": "This device answered another task of the same id."}]


def odd_epsilons(many: int) -> list[Fraction]:
    """Each a little below 1/100, with denominators of 39 digits that have nothing in common."""
    return [Fraction(10**36 + i, 10**38 + 2 * i + 1) for i in range(many)]


def test_what_was_spent_stays_short_and_is_rounded_up() -> None:
    epsilons = odd_epsilons(40)
    bodies = [{**TEA.to_json(), "epsilon": str(epsilon), "keep": 1 << 20} for epsilon in epsilons]
    documents = [{"curador": 1, "id": sha256(canonical(body)).hexdigest()[:32], "task": body} for body in bodies]
    device = client.Device("2", nothing)
    for one in documents:
        device.message(client.read_task(one), "tea")
    exact = sum(epsilons)
    assert exact <= device.spent <= exact + Fraction(len(epsilons), 1 << 64)
    assert device.spent.denominator <= 1 << 128 < exact.denominator
    again = client.Device.from_json(device.to_json(), nothing)
    assert (again.spent, again.remaining) == (device.spent, 2 - device.spent)
    assert [one["epsilon"] for one in again.to_json()["answered"]] == [str(epsilon) for epsilon in epsilons]
    steps = [{"document": one, "value": "tea"} for one in documents]
    job = {"do": "device", "limit": "2", "changes": False, "steps": steps, "script": to_text(bytes(1 << 14))}
    [theirs] = in_node([job])
    assert (theirs["spent"], theirs["remaining"]) == (str(device.spent), str(device.remaining))


def test_sums_that_fit_are_exact() -> None:
    assert client._sum(Fraction(1, 3), Fraction(2, 7)) == Fraction(13, 21)
    assert client._sum(Fraction(1, 3**80), Fraction(1, 5)) == Fraction((1 << 64) // 5 + 1, 1 << 64)


def test_save_must_be_done_when_it_returns() -> None:
    async def later(state: dict[str, Any]) -> None:
        """Saves when somebody waits for it, and nobody does."""

    device = client.Device("9", later)
    with pytest.raises(TypeError, match="asynchronous"):
        device.message(client.read_task(document(TEA)), "tea")
    assert device.spent == Fraction(1, 2)


def test_save_may_read_but_not_answer() -> None:
    """An answer inside of save would be saved first, and then the state before it."""
    seen: list[Any] = []

    def save(state: dict[str, Any]) -> None:
        seen.append((device.spent, device.to_json() == state))
        with pytest.raises(RuntimeError, match="must not answer"):
            device.message(client.read_task(document(AGE)), 3)

    device = client.Device("9", save)
    device.message(client.read_task(document(TEA)), "tea")
    assert seen == [(Fraction(1, 2), True)]
    assert device.spent == Fraction(1, 2)


def test_readers_wait_for_their_turn() -> None:
    """Else a dictionary would change while it is read."""
    begun, go, read = threading.Event(), threading.Event(), threading.Event()

    def save(state: dict[str, Any]) -> None:
        begun.set()
        go.wait(60)

    device = client.Device("9", save)
    task = client.read_task(document(TEA))
    writer = threading.Thread(target=lambda: device.message(task, "tea"))

    def look() -> None:
        device.to_json()
        read.set()

    reader = threading.Thread(target=look)
    writer.start()
    assert begun.wait(60)
    reader.start()
    assert not read.wait(0.05)
    go.set()
    assert read.wait(60)
    writer.join()
    reader.join()


def test_mistakes_of_a_programmer_are_no_refusals() -> None:
    nobody: Any = None
    with pytest.raises(TypeError):
        client.Device("9", nobody)
    with pytest.raises(TypeError, match="was read"):
        client.Device("9", nothing).message(document(TEA), "tea")  # type: ignore[arg-type]
    [theirs] = in_node([{"do": "mistakes", "document": document(TEA)}])
    assert theirs == ["TypeError: save is not a function.", "TypeError: This is not a task that was read."]


class Proxy:
    """As of wrapt or werkzeug: it says that it is of the class of what it stands for."""

    def __init__(self, held: Any) -> None:
        self.held = held

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(object.__getattribute__(self, "held"))

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "held"), name)


class Lazy(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise KeyError("not fetched")

    __getitem__ = get


class Lost(list[float]):
    def __getitem__(self, _: Any) -> Any:
        raise IndexError("not fetched")

    __iter__ = __len__ = None  # type: ignore[assignment]


class Touchy(str):
    def __eq__(self, _: object) -> bool:
        raise ValueError("not comparable")

    __hash__ = str.__hash__


ODD: list[Any] = [Proxy(x) for x in ("tea", 0.5, True, [1.0, 2.0], (1.0,), {"a": "tea"}, None)]
ODD += [{"a": Proxy("tea")}, [Proxy(0.5)] * 3, Lazy(a="tea"), Lost([1.0] * 3), {Touchy("a"): "tea"}, Touchy("tea")]


@pytest.mark.parametrize(
    "task",
    [
        KRR(["tea", "water"], 1),
        CountMean(1),
        Rappor(1),
        HeavyHitters(1),
        HeavyHitters(1, kind="integers"),
        Duchi(0, 1, 1),
        DuchiVector(0, 1, 1, 3),
        Record({"a": ["tea", "water"]}, 1),
    ],
    ids=lambda task: task.mechanism,
)
def test_what_lies_about_its_class_silences_no_device(task: Any) -> None:
    read = client.read_task(document(task))
    for value in ODD:
        device = client.Device("1", save=lambda state: None)
        assert set(device.message(read, value)) == {"task", "epsilon", "token", "report"}
        assert set(client.check(read, value)) == {"counts_as", "note"}
    if isinstance(task, Record):  # what it has, whatever it says
        assert client.check(read, Lazy(a="water"))["counts_as"] == {"a": {"counts_as": "water", "note": ""}}
    if isinstance(task, DuchiVector):
        assert client.check(read, Lost([1.0, 0.5, 1.0]))["counts_as"] == [1.0, 0.5, 1.0]


def test_what_a_prototype_says_is_no_option() -> None:
    names = ["changes", "limit", "answered", "kept", "curador"]
    states = in_node([{"do": "polluted", "names": names}])[0]
    assert states == [client.Device("9", lambda state: None).to_json()] * 2
