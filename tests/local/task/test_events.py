"""Every local task is an event: a ledger charges it, in the currencies there are, and no more than it may."""

from __future__ import annotations

from typing import Any

import pytest

from curador import accounting
from curador.errors import BudgetExceeded, NotPromised
from curador.ledger.stores.memory import MemoryLedger
from curador.local import Longitudinal
from curador.local.task.task import Task
from curador.privacy import ZCDP, PureDP
from tests.local.every_task import EVERY_TASK


@pytest.mark.parametrize("task", [task for task, _ in EVERY_TASK], ids=lambda task: task.mechanism)
def test_a_report_is_charged_as_pure_loss(task: Task) -> None:
    ledger = MemoryLedger()
    ledger.open("my device", PureDP(float(task.epsilon)), neighbors="replace")
    charge = ledger.reserve("my device", task.event)
    ledger.settle(charge.id, b"")
    spent = ledger.balance("my device").spent
    assert isinstance(spent, PureDP)
    assert task.delivered * (1 - 1e-9) <= float(spent.epsilon) <= float(task.epsilon)
    with pytest.raises(BudgetExceeded):
        ledger.reserve("my device", task.event)


@pytest.mark.parametrize("task", [task for task, _ in EVERY_TASK], ids=lambda task: task.mechanism)
def test_a_report_is_charged_as_zcdp(task: Task) -> None:
    """An epsilon of pure loss is a rho of epsilon**2 / 2 at most [BS16]."""
    most = float(task.epsilon) ** 2 / 2
    ledger = MemoryLedger()
    ledger.open("my device", ZCDP(most * (1 + 1e-9)), neighbors="replace")
    ledger.settle(ledger.reserve("my device", task.event).id, b"")
    spent = ledger.balance("my device").spent
    assert isinstance(spent, ZCDP)
    assert 0 < float(spent.rho) <= most * (1 + 1e-9)
    again = 1 + int(most / float(spent.rho))
    with pytest.raises(BudgetExceeded):
        ledger.reserve("my device", again * task.event)


def test_what_covers_no_change_cannot_be_charged() -> None:
    task: Any = Longitudinal(4, epsilon=3, values=2, first=1)
    with pytest.raises(NotPromised):
        _ = task.event
    ledger = MemoryLedger()
    ledger.open("my device", PureDP(100), neighbors="replace")
    ledger.settle(ledger.reserve("my device", task.anything(5)).id, b"")
    assert float(ledger.balance("my device").spent.epsilon) > 3  # type: ignore[attr-defined]


def test_two_reports_are_two_events() -> None:
    task = next(task for task, _ in EVERY_TASK if task.mechanism == "oue")
    assert accounting.epsilon(2 * task.event, 0).upper == pytest.approx(2 * float(task.epsilon))
