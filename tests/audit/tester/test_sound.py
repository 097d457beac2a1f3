"""No mechanism, question, local task or device client of the house is refuted; the long run is `make audit`."""

from __future__ import annotations

import math
import shutil
from functools import partial
from typing import Any

import numpy as np
import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.audit import InputPair, audit_mechanism, compare, pairs_of, worst
from curador.audit.tester.neighbours import runs_of
from curador.audit.tester.search import promise
from curador.errors import InvalidParameter, NotPromised
from curador.local import KRR, OUE, Rappor
from curador.local.task.task import Task
from curador.mechanisms.base import KINDS
from curador.privacy import ApproxDP, PureDP
from tests.audit.tester.sound import (
    FAST,
    MECHANISMS,
    QUESTIONS,
    asked,
    drawn,
    in_javascript,
    in_library,
    on_device,
)
from tests.local.devices.both import plain
from tests.local.every_task import EVERY_TASK

SURE = 1 - 1e-7
FEW = 250
ROW = InputPair("a row added to none", [], [{"x": 10, "y": 5, "g": "b", "h": "p"}])


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_is_refuted(name: str) -> None:
    mechanism = MECHANISMS[name]
    if name.startswith(FAST):
        found = audit_mechanism(mechanism, n=10_000)
    else:
        pairs = pairs_of(mechanism)[:2]
        found = worst(partial(runs_of, mechanism), pairs, promise(mechanism), n=FEW, subject=name)
    assert not found.violated, found.sentence()


def test_every_kind_of_mechanism_is_tried() -> None:
    assert {mechanism.kind for mechanism in MECHANISMS.values()} == KINDS


@pytest.mark.parametrize("name", ["laplace", "integer laplace", "a coin", "answers"])
def test_the_floor_is_not_idle(name: str) -> None:
    """The same search refutes a claim of a third of the loss."""
    stated = audit_mechanism(MECHANISMS[name], n=600).claim
    assert isinstance(stated, PureDP | ApproxDP)
    third = type(stated)(**{**stated._numbers(), "epsilon": stated.epsilon / 3})
    assert audit_mechanism(MECHANISMS[name], third, n=6000).violated


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(NotPromised):
        pairs_of(object())  # type: ignore[arg-type]


# ---- questions


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_question_is_refuted(name: str) -> None:
    found = worst(partial(drawn, name), [ROW], QUESTIONS[name][1], n=FEW, subject=name)
    assert not found.violated, found.sentence()


def test_an_answer_that_states_a_tenth_is_refuted() -> None:
    """What is drawn here really is the answer: stated at less than it costs, it is found out."""
    assert worst(partial(drawn, "count"), [ROW], PureDP(0.1), n=1000).violated


@pytest.mark.slow
def test_pages_of_a_curator_are_not_refuted() -> None:
    assert not worst(partial(asked, "count"), [ROW], PureDP(1), n=400).violated
    assert worst(partial(asked, "count"), [ROW], PureDP(0.01), n=400, confidence=0.9).violated


# ---- local tasks, in the library and on devices


def ends(values: Any) -> tuple[Any, Any]:
    """The first value and the last."""
    given = plain(values)
    return given[0], given[-1]


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=lambda x: x.mechanism if isinstance(x, Task) else "")
def test_no_local_task_is_refuted(task: Any, values: Any) -> None:
    first, second = (in_library(task, value, 3000) for value in ends(values))
    found = compare(first, second, PureDP(float(pure_epsilon(task.event))), confidence=SURE)
    assert not found.violated
    assert found.floor <= float(task.epsilon)


@pytest.mark.parametrize("task", [KRR(3, 1), KRR(2, 2), OUE(2, 1)], ids=lambda task: f"{task.mechanism}{task.epsilon}")
def test_the_floor_of_reports_comes_near_the_truth(task: Any) -> None:
    stated = float(pure_epsilon(task.event))
    found = compare(in_library(task, 0, 100_000), in_library(task, 1, 100_000), PureDP(stated))
    assert 0.9 * stated < found.floor <= stated


def test_what_a_sound_rappor_remembers_is_not_refuted() -> None:
    task = Rappor(4, bloom=32, cohorts=1)
    one, two = (task.remember([key] * 20_000) for key in ("a", "b"))
    assert not compare(one, two, PureDP(float(pure_epsilon(task.event))), confidence=SURE).violated


def test_both_device_clients_are_judged_by_the_same_rule() -> None:
    assert shutil.which("node")
    task = KRR(3, 1).named("q")
    stated = PureDP(float(pure_epsilon(task.event)))
    for client in ("python", "javascript"):
        make = on_device if client == "python" else in_javascript
        one, two = (make(task, value, 10_000) for value in (0, 1))
        found = compare(one, two, stated)
        assert 0.7 < found.floor <= stated.epsilon, client
        assert compare(one, two, PureDP(0.5)).violated, client


def test_reports_that_are_not_alike_or_too_few() -> None:
    rows = np.zeros((300, 1), np.uint8)
    with pytest.raises(InvalidParameter):
        compare(rows[:10], rows, PureDP(1))
    assert compare(rows, np.zeros((300, 2), np.uint8), PureDP(1)).violated  # their length tells them apart
    assert compare(rows, rows, PureDP(1)).floor == 0
    assert math.isfinite(compare(rows, 1 - rows, PureDP(1)).floor)
