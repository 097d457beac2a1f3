"""What the processes of the tests do: plain functions, so that they can be started anywhere."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from curador.accounting.events import PureLoss
from curador.errors import BudgetExceeded
from curador.ledger.opening import open_ledger
from curador.ledger.stores import sql

THOUSANDTH = PureLoss(Fraction(1, 1000))


def forked(work: Callable[[], None]) -> int:
    """Run work in a child; its process id.

    What other tests of this process left (engines with threads of their own) must not be collected in the child, where
    those threads do not exist: it would crash there.
    """
    gc.collect()
    gc.freeze()
    pid = os.fork()
    if pid != 0:
        gc.unfreeze()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def buyer(address: dict[str, Any], scope: str, times: int, told: int) -> None:
    """Buy so many times, and tell each charge that was made on a pipe."""
    ledger = open_ledger(**address)
    for _ in range(times):
        with contextlib.suppress(BudgetExceeded):
            os.write(told, f"{ledger.reserve(scope, THOUSANDTH).id}\n".encode())
    ledger.close()


def waiter(address: dict[str, Any], times: int, told: int) -> None:
    """Buy so many times, and tell the number drawn in the queue and the charge bought with it."""
    ledger = open_ledger(**address)
    queue: Any = ledger._store._queue  # type: ignore[attr-defined]
    plain, drawn = queue.wait, [0]

    def watched() -> int:
        drawn[0] = plain()
        return drawn[0]

    queue.wait, queue.is_empty = watched, lambda: False  # as if there were always somebody
    for _ in range(times):
        charge = ledger.reserve("people", THOUSANDTH)
        os.write(told, f"{drawn[0]}:{charge.id}\n".encode())
    ledger.close()


def curator(address: dict[str, Any], told: int, seed: int) -> None:
    """Ask without end, as a curator does, each request once or more often, telling what it releases."""
    sql.WORTH_A_THREAD = seed % 2 * 1000.0  # half of them mark the anchor beside the commit, half before it
    ledger = open_ledger(**address)
    number = 0
    while True:
        number += 1
        key = f"{seed} {number}"
        for _ in range(1 + number % 3):
            charge = ledger.reserve("visits", THOUSANDTH, key=key, fingerprint=f"q {key}", receiver="ana")
            if charge.repeated:
                answer = ledger.answer(charge.id) or b""
            else:
                answer = ledger.settle(charge.id, f"noise {os.getpid()} {charge.id}".encode())
            os.write(told, f"{key}|{charge.id}|{answer.decode()}\n".encode())  # one write, so all or nothing of it
