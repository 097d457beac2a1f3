"""Messages for the collector's tests, and what they should come to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from curador.local import OUE
from curador.local.collect.wire import messages, read_message
from curador.local.task.tally import Tally

TASK = OUE(["a", "b", "c"], 1).named("letters")


def sent(n: int, task: Any = TASK) -> list[dict[str, str]]:
    return messages(task, task.randomize(["a", "b", "b"] * (n // 3) + ["c"] * (n % 3)))


def ndjson(some: list[dict[str, str]]) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in some]


def counted(task: Any, some: list[dict[str, str]]) -> Tally:
    """What the library counts of these messages, without a collector."""
    rows = np.frombuffer(b"".join(read_message(task, one).report for one in some), np.uint8)
    tally: Tally = task.tally(task.from_bytes(rows.reshape(len(some), -1)))
    return tally


def same(a: Tally, b: Tally) -> bool:
    return a.users == b.users and np.array_equal(a.support, b.support)
